"""The templates as pages, and the folder that the pages are written to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pynested._version import __version__
from pynested.spec.table import load_table

from ..differences import memory, where
from ..kinds import KINDS
from ..printable import printable
from ..problems import OutputError, UsageError
from ..records import Run
from ..report import LAW
from .columns import columns
from .page_data import front_page, operator_page, target_page, verdict_sentence
from .page_index import Index

if TYPE_CHECKING:
    from jinja2 import Environment

MARK = "pynested-site"  # the generator of a front page, by which a folder is known to hold a site
_FOLDERS = ("targets", "operators")


def pages(runs: Iterable[Run]) -> Iterator[tuple[str, str]]:
    """Yield the path of each page in the folder of the site, and its text."""
    environment = _environment()
    shown = columns(runs)
    index = Index(load_table(), [name for column in shown for name in column.operators])
    yield "index.html", environment.get_template("front.html.j2").render(front_page(shown, index))
    for column in shown:
        yield column.page, environment.get_template("target.html.j2").render(target_page(column, index))
    for name in index.names:
        data = operator_page(name, shown, index)
        yield index.page(name), environment.get_template("operator.html.j2").render(data)


def _environment() -> Environment:
    """Return the templates with the functions that they call; everything that they print is printable and escaped."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
        from markupsafe import Markup
    except ImportError as error:
        raise UsageError("`site` needs jinja2, which is not installed: pip install 'pynested[report]'") from error

    def printable_lines(value: Any) -> Any:
        if isinstance(value, Markup):
            return value
        return "\n".join(printable(line) for line in str(value).expandtabs().split("\n"))

    def prose(text: str) -> Markup:
        """Return a sentence in which the words between backticks are code."""
        parts = [Markup("{}").format(printable_lines(part)) for part in text.split("`")]
        code = Markup("<code>{}</code>")
        return Markup("").join(
            code.format(part) if number % 2 and number < len(parts) - 1 else part for number, part in enumerate(parts)
        )

    environment = Environment(
        autoescape=True,
        finalize=printable_lines,
        loader=PackageLoader(__package__),
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters.update(memory=memory, prose=prose, thousands="{:,}".format)
    environment.globals.update(
        generator=f"{MARK} {__version__}",
        kinds=KINDS,
        law=LAW,
        verdict_sentence=verdict_sentence,
        where=where,
    )
    return environment


def write_site(runs: Sequence[Run], out: Path) -> int:
    """Write the pages of a site and return their number; a folder with any other file is left as it is."""
    made = list(pages(runs))
    try:
        _clear(out)
        for name in _FOLDERS:
            (out / name).mkdir(parents=True, exist_ok=True)
        for path, text in made:
            (out / path).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise OutputError(f"cannot write the site to {out}: {error.strerror}") from error
    return len(made)


def _clear(out: Path) -> None:
    """Remove the pages of an earlier site, which may have had other targets."""
    inside = {path.name for path in out.iterdir()} if out.exists() else set()
    if not inside:
        return
    front = out / "index.html"
    if inside - {front.name, *_FOLDERS} or not front.is_file() or MARK not in front.read_text("utf-8", "replace"):
        raise UsageError(f"{out} holds other things than a site of pynested; give a new folder")
    for old in (front, *(page for name in _FOLDERS for page in (out / name).glob("*.html"))):
        old.unlink()
