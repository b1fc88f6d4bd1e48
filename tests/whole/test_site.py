"""What the site adds to Sphinx: chapters with places and definitions, functions in groups, plots, and dead links."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import pynested as pn
from docs import pages, plots, site
from pynested.spec.table import load_table

PRINTED = """\
pynested 0.1.0; a line that is no table

tiny: 4 components, forward
                      pynested   our strided         numpy
add                    2.24 µs          3.01          0.15
softmax ragged        13.23 µs          1.43             -
"""


def test_every_operator_has_its_definition() -> None:
    for name, operator in load_table().items():
        assert bool(pages.definition(name)) is not operator.is_idea, name
    assert pages.definition("exp").startswith('Function("exp"')
    assert "def " in pages.definition("transpose")


def test_every_clause_is_a_place(tmp_path: Path) -> None:
    pages.write_specification(tmp_path)
    text = "".join(path.read_text(encoding="utf-8") for path in tmp_path.glob("*.md"))
    for operator in load_table().values():
        for clause in operator.clauses:
            assert text.count(f'<span id="{clause.id}"></span>') == 1, clause.id


def test_everything_public_is_on_one_page(tmp_path: Path) -> None:
    pages.write_functions(tmp_path)
    text = "".join(path.read_text(encoding="utf-8") for path in tmp_path.glob("*.md"))
    shown = re.findall(r"^\.\. auto\w+:: (\S+)", text, re.MULTILINE)
    assert len(set(shown)) == len(shown)
    wanted = {f"pynested.{name}" for name in pn.__all__ if inspect.isroutine(getattr(pn, name))}
    wanted |= {f"pynested.training.{name}" for name in pn.training.__all__}
    assert wanted <= set(shown)


def test_links_lead_to_pages_or_are_text() -> None:
    text = "[a](spec/README.md) [b](docs/fuzzing.md#top) [c](backends/) [d](https://x.org) [e](#here)"
    assert pages.outside_links(text, pages.ROOT) == (
        "[a](../specification/reading.md) [b](../fuzzing.md) c [d](https://x.org) [e](#here)"
    )


def test_tables_of_benchmarks_are_read() -> None:
    (table,) = plots.tables(PRINTED)
    assert table.title == "tiny: 4 components, forward" and table.contenders == ["our strided", "numpy"]
    assert table.rows == [
        plots.Row("add", "2.24 µs", {"our strided": 3.01, "numpy": 0.15}),
        plots.Row("softmax ragged", "13.23 µs", {"our strided": 1.43}),
    ]


def test_plots_put_what_is_slower_to_the_right() -> None:
    (table,) = plots.tables(PRINTED)
    marks = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="10" height="10"', plots.plot(table))
    (strided, row), (numpy, same) = ((float(x), float(y)) for x, y in marks[2:4])
    line = float(re.findall(r'd="M([\d.]+) [\d.]+V', plots.plot(table).split(">pynested<")[0])[-1])
    assert row == same and numpy + 5 < line < strided + 5


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
