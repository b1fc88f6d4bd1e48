"""The site: `python -m docs.site OUT` builds all of it, without a network, and names dead links.

    pip install -e '.[site]'
    python -m docs.site _site/html
    python -m docs.site _site/html --run torch.jsonl     with a run of `pynested conform --json` in the matrix

Sphinx makes the pages. `pynested site` makes the matrix of targets, of the given runs and of quick runs of pynested and
of the definitions, if they are not among the given ones.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from .pages import write_pages

DOCS = Path(__file__).parent
QUICK = ("pynested", "law")  # targets that need nothing else


class _Page(HTMLParser):
    """The links of a page, and its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the target of a link, and the names of an anchor."""
        attributes = dict(attrs)
        self.places.update(filter(None, (attributes.get("id"), attributes.get("name"))))
        link = attributes.get("href") or attributes.get("src")
        if link:
            self.links.append(link)


def dead_links(folder: Path) -> Iterator[str]:
    """Yield a line for each link inside the site that leads to no file, or to no anchor."""
    pages = {path.resolve(): _Page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            place = unquote(parts.fragment)
            if not target.exists():
                yield f"{path.relative_to(folder.resolve())}: {link} leads to no file"
            elif place and target in pages and place not in pages[target].places:
                yield f"{path.relative_to(folder.resolve())}: {link} leads to no place in that page"


def target_of(run: Path) -> str:
    """Return the name of the target of a run."""
    with run.open(encoding="utf-8") as lines:
        return str(json.loads(next(lines))["target"]["name"])


def run_of(target: str, folder: Path) -> Path:
    """Return the records of a quick run of a target."""
    path = folder / f"{target}.jsonl"
    command = [sys.executable, "-m", "pynested", "conform", "--target", target, "--quick", "--json", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"site: {' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return path


def lead_back(page: Path) -> None:
    """Put a link to the first page of the site on the matrix, whose pages know no other pages."""
    text = page.read_text(encoding="utf-8")
    if text.count("<body>") != 1:
        raise SystemExit(f"site: {page} has no place for a link back")
    page.write_text(text.replace("<body>", '<body><nav><a href="../index.html">pynested</a></nav>'), encoding="utf-8")


def build(out: Path, runs: list[Path]) -> None:
    """Build the pages, and the matrix beside them; every warning of Sphinx is an error."""
    shutil.rmtree(out, ignore_errors=True)
    with tempfile.TemporaryDirectory() as made:
        source = shutil.copytree(DOCS, Path(made) / "docs", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
        shutil.copy(DOCS / "conf.py", source)
        write_pages(source)
        sphinx = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", str(source), str(out)]
        subprocess.run(sphinx, check=True)
        targets = {target_of(run) for run in runs}
        given = [*runs, *(run_of(target, Path(made)) for target in QUICK if target not in targets)]
        subprocess.run([sys.executable, "-m", "pynested", "site", str(out / "targets"), *map(str, given)], check=True)
        lead_back(out / "targets" / "index.html")


def main() -> int:
    """Build and check the site; return 1 if a link is dead."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("out", type=Path)
    options.add_argument("--run", type=Path, action="append", default=[], help="records of a target; may be repeated")
    arguments = options.parse_args()
    out = arguments.out
    build(out, arguments.run)
    dead = list(dead_links(out))
    print("\n".join(dead) or f"{len(list(out.rglob('*.html')))} pages, no dead link: {out / 'index.html'}")
    return int(bool(dead))


if __name__ == "__main__":
    raise SystemExit(main())
