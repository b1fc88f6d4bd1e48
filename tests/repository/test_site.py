"""Pages that the site adds to Sphinx: chapters with definitions, functions in groups, plots; and dead links."""

from __future__ import annotations

import inspect
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import pynested as pn
from benchmarks.harness import Case, read_times
from docs import pages, plots, site
from pynested.spec.table import load_table

TIMES = {
    Case("add", "nested", "tiny", "forward", "pynested"): 2e-6,
    Case("add", "nested", "tiny", "forward", "our strided"): 6e-6,
    Case("add", "nested", "tiny", "forward", "numpy"): 1e-6,
    Case("unbind", "nested", "tiny", "forward", "pynested"): 3e-6,  # alone, so it is not plotted
    Case("chain", "float32", "long", "forward", "compiled"): 3e-3,
    Case("chain", "float32", "long", "forward", "eager"): 6e-3,
}


def test_every_operator_has_its_definition() -> None:
    for name, operator in load_table().items():
        assert bool(pages.defined(name)) is not operator.is_idea, name
    assert 'Function("exp"' in pages.defined("exp")
    assert "def transpose(" in pages.defined("transpose")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder that Sphinx builds the site from: docs/ and the pages that are written."""
    pytest.importorskip("matplotlib")
    folder = Path(shutil.copytree(site.DOCS, tmp_path_factory.mktemp("site") / "docs"))
    pages.write_pages(folder)
    return folder


def text_of(folder: Path) -> str:
    return "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.md"))


def links_to_no_file(text: str, folder: Path) -> Iterator[str]:
    """Yield the relative links of a page in Markdown that lead from its folder to no file."""
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        parts = urlsplit(link)
        if not parts.scheme and not (folder / unquote(parts.path)).exists():
            yield link


def test_links_lead_to_files(source: Path, root: Path) -> None:
    top = source / "readme" / "top.md"  # a part of the first page
    pages_of_site = [path for path in source.rglob("*") if path.suffix in (".md", ".ipynb")]
    folders = ("spec", "notebooks", "benchmarks", "backends", "autograd")
    others = [*root.glob("*.md"), *(path for folder in folders for path in (root / folder).rglob("*.md"))]
    dead = {
        path: [*links_to_no_file(path.read_text(encoding="utf-8"), source if path == top else path.parent)]
        for path in (*pages_of_site, *others)
    }
    assert {path: links for path, links in dead.items() if links} == {}


def test_every_clause_is_a_place(source: Path) -> None:
    text = text_of(source / "specification")
    for operator in load_table().values():
        for clause in operator.clauses:
            assert text.count(f'<span id="{clause.id}"></span>') == 1, clause.id


def test_everything_public_is_on_one_page(source: Path) -> None:
    shown = re.findall(r"^\.\. auto\w+:: (\S+)", text_of(source / "functions"), re.MULTILINE)
    assert len(set(shown)) == len(shown)
    wanted = {f"pynested.{name}" for name in pn.__all__ if inspect.isroutine(getattr(pn, name))}
    wanted |= {f"pynested.training.{name}" for name in pn.training.__all__}
    assert wanted <= set(shown)


def test_clauses_in_docstrings_lead_to_their_chapter() -> None:
    lines = ["Clauses: ALL-1 to ALL-3, and SHA-256.", ""]
    pages.link_clauses(lines)
    first, last = (f"`ALL-{k} <../specification/12-reduction.html#ALL-{k}>`__" for k in (1, 3))
    assert lines == [f"Clauses: {first} to {last}, and SHA-256.", ""]
    known = {clause.id for operator in load_table().values() for clause in operator.clauses}
    assert pages.chapters_of_clauses().keys() == known


def test_the_matrix_leads_back(tmp_path: Path) -> None:
    page = tmp_path / "index.html"
    page.write_text("<html><body><main>matrix", encoding="utf-8")
    site.lead_back(page)
    assert '<body><nav><a href="../index.html">pynested</a></nav><main>' in page.read_text(encoding="utf-8")
    page.write_text("<html>", encoding="utf-8")
    with pytest.raises(SystemExit, match="no place for a link back"):
        site.lead_back(page)


def test_links_lead_to_pages_or_are_text() -> None:
    text = "[a](spec/README.md) [b](docs/fuzzing.md#top) [c](backends/) [d](https://x.org) [e](#here)"
    assert pages.outside_links(text, pages.ROOT) == (
        "[a](../specification/reading.md) [b](../fuzzing.md) c [d](https://x.org) [e](#here)"
    )


def test_times_become_tables_of_ratios() -> None:
    assert plots.tables(TIMES) == [
        plots.Table("tiny, nested, forward", "pynested", [
            plots.Row("add", "2.00 µs", {"our strided": pytest.approx(3.0), "numpy": pytest.approx(0.5)}),
        ]),
        plots.Table("long, float32, forward", "compiled", [
            plots.Row("chain", "3.00 ms", {"eager": pytest.approx(2.0)}),
        ]),
    ]  # fmt: skip


def test_a_mark_stands_at_its_ratio_on_an_axis_that_shows_all_ratios(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    both = plots.tables(TIMES)
    (axes,) = plots.draw(both[0], plots.limits(both)).axes
    marks = {line.get_label(): (list(line.get_xdata()), list(line.get_ydata())) for line in axes.lines[:2]}
    assert marks == {"our strided": ([pytest.approx(3.0)], [0]), "numpy": ([pytest.approx(0.5)], [0])}
    assert [label.get_text() for label in axes.get_yticklabels()] == ["add   2.00 µs"]
    low, high = axes.get_xlim()
    assert axes.get_xscale() == "log" and low < 0.5 < 3.0 < high


@pytest.mark.parametrize("path", sorted((plots.BENCHMARKS.parent / "docs" / "benchmarks").glob("*.json")), ids=str)
def test_kept_times_are_plotted(path: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    text = "\n".join(plots.write_section(path.stem, read_times(path), tmp_path))
    files = re.findall(r"\]\((\S+\.svg)\)", text)
    assert files and {file.name for file in tmp_path.iterdir()} == set(files)


def test_dead_links_are_found(tmp_path: Path) -> None:
    right = ("other.html", "other.html#there", "#here", "https://example.org/none")
    wrong = ("none.html", "other.html#none", "#none")
    text = "".join(f'<a href="{link}">x</a>' for link in (*right, *wrong))
    (tmp_path / "a.html").write_text(f'<p id="here">{text}', encoding="utf-8")
    (tmp_path / "other.html").write_text('<p id="there">', encoding="utf-8")
    assert list(site.dead_links(tmp_path)) == [
        "a.html: none.html leads to no file",
        "a.html: other.html#none leads to no place in that page",
        "a.html: #none leads to no place in that page",
    ]
