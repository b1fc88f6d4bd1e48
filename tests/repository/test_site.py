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
from docs import pages, plots, printed, site
from pynested.spec.table import load_table

PRINTED = """\
pynested 0.1.0; a line that is no table

tiny: 4 components, forward
                      pynested   our strided         numpy
add                    2.24 µs          3.01          0.15
softmax ragged        13.23 µs          1.43             -
"""

TAPE = """\

999 operations on 8 float64, forwards and backwards
                                 NumPy by hand              pynested      ... create_graph
chain                          1186.6 us   1.0x       7603.6 us   6.2x      14621.3 us  12.4x
x + x                             3.2 us   1.0x         37.8 us   8.0x                      -

1,000,000 lines: made in 4.8 s, backward 1.6 s
"""
COMPILED = """\
(x + y) * x, float32, forward                                       4,910 µs      3,038 µs compiled   1.62 times  2.7 times one pass
(x + y) * x, float32, forward and backward                         15,473 µs      9,873 µs compiled   0.98 times
ten tiny operators                                                     21 µs         10 µs compiled   2.14 times
"""  # noqa: E501


def test_every_operator_has_its_definition() -> None:
    for name, operator in load_table().items():
        assert bool(pages.definition(name)) is not operator.is_idea, name
    assert pages.definition("exp").startswith('Function("exp"')
    assert "def " in pages.definition("transpose")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder that Sphinx builds the site from: docs/ and the pages that are written."""
    folder = Path(shutil.copytree(site.DOCS, tmp_path_factory.mktemp("site") / "docs"))
    pages.write_pages(folder, pages.ROOT / "notebooks")
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


def test_tables_of_operators_are_read() -> None:
    (table,) = printed.tables(PRINTED)
    assert table.title == "tiny: 4 components, forward" and table.contenders == ["our strided", "numpy"]
    assert table.rows == [
        printed.Row("add", "2.24 µs", {"our strided": 3.01, "numpy": 0.15}),
        printed.Row("softmax ragged", "13.23 µs", {"our strided": 1.43}),
    ]


def test_tables_of_the_tape_are_ratios_to_pynested() -> None:
    """They are printed as ratios to NumPy: 12.4 times NumPy is twice as long as 6.2 times NumPy."""
    (chain,) = printed.tables(TAPE)
    assert chain.contenders == ["NumPy by hand", "... create_graph"]
    assert [(row.name, row.ours) for row in chain.rows] == [("chain", "7603.6 µs"), ("x + x", "37.8 µs")]
    assert chain.rows[0].ratios == {"NumPy by hand": 1 / 6.2, "... create_graph": 2.0}
    assert chain.rows[1].ratios == {"NumPy by hand": 1 / 8.0}


def test_lines_of_compiled_functions_are_read() -> None:
    (table,) = printed.tables(COMPILED)
    assert table.ours == "compiled" and table.rows == [
        printed.Row("(x + y) * x, float32", "3,038 µs", {"forward": 1.62, "forward and backward": 0.98}),
        printed.Row("ten tiny operators", "10 µs", {"forward": 2.14}),
    ]


def test_output_without_ratios_is_shown_as_it_was_printed() -> None:
    text = "softmax(x, 1)               40 forward    69 backward"
    assert not [*printed.tables(text)]
    parts = plots.section("calls", text)
    assert "Number of functions below" in parts[2] and text in parts
    assert not any("<details>" in part for part in parts)


def grid_of(drawn: str) -> list[str]:
    """Return the places of the vertical lines of a plot, the last of which is our time."""
    return re.findall(r'd="M([\d.]+) [\d.]+V', drawn.split(">pynested<")[0])


def test_plots_put_what_is_slower_to_the_right() -> None:
    (table,) = printed.tables(PRINTED)
    drawn = plots.plot(table, plots.ends([table]))
    marks = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="10" height="10"', drawn)
    (strided, row), (numpy, same) = ((float(x), float(y)) for x, y in marks[:2])
    assert row == same and numpy + 5 < float(grid_of(drawn)[-1]) < strided + 5


def test_plots_of_one_benchmark_share_an_axis() -> None:
    near, far = (printed.Table("", ["a"], [printed.Row("x", "1 µs", {"a": ratio})]) for ratio in (1.0, 8.0))
    grids = [grid_of(plots.plot(table, plots.ends([near, far]))) for table in (near, far)]
    assert grids[0] == grids[1] != []


@pytest.mark.parametrize("path", sorted((plots.BENCHMARKS.parent / "docs" / "benchmarks").glob("*.txt")), ids=str)
def test_every_kept_benchmark_is_plotted(path: Path) -> None:
    parts = plots.section(path.stem, path.read_text(encoding="utf-8"))
    assert path.stem == "calls" or any(part.startswith("<svg") for part in parts)


@pytest.mark.parametrize(
    ("link", "says"),
    [
        ("other.html", None),
        ("other.html#there", None),
        ("#here", None),
        ("https://example.org/none", None),
        ("none.html", "a.html: none.html leads to no file"),
        ("other.html#none", "a.html: other.html#none leads to no place in that page"),
        ("#none", "a.html: #none leads to no place in that page"),
    ],
)
def test_dead_links_are_found(link: str, says: str | None, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(f'<p id="here"><a href="{link}">x</a>', encoding="utf-8")
    (tmp_path / "other.html").write_text('<p id="there">', encoding="utf-8")
    assert list(site.dead_links(tmp_path)) == ([] if says is None else [says])
