"""Where the pages go: a folder that is new, empty, or of an earlier site."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..problems import OutputError, UsageError
from ..records import Run
from .frame import MARK
from .pages import pages

_FOLDERS = ("targets", "operators")


def write_site(runs: Sequence[Run], out: Path) -> int:
    """Write the pages of a site and return how many there are; a folder with anything else in it is left alone."""
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
    """Remove the pages of an earlier site, which may have targets that this one has not."""
    inside = {one.name for one in out.iterdir()} if out.exists() else set()
    if not inside:
        return
    front = out / "index.html"
    if inside - {front.name, *_FOLDERS} or not front.is_file() or MARK not in front.read_text("utf-8", "replace"):
        raise UsageError(f"{out} holds other things than a site of pynested; give a new folder")
    for old in (front, *(one for name in _FOLDERS for one in (out / name).glob("*.html"))):
        old.unlink()
