from __future__ import annotations

from pathlib import Path

import pytest

from pynested.spec.render import main, rendered, section, stale_chapters, write
from pynested.spec.table import load_table

CHAPTER = "# Softmax\n\n<!-- clauses: softmax -->\n<!-- end -->\n\nMore.\n"


def test_chapters_are_up_to_date() -> None:
    assert stale_chapters() == []
    assert main(["--check"]) == 0


def test_a_block_is_filled_and_stays_as_it_is() -> None:
    once = rendered(CHAPTER, load_table())
    assert "**SOFTMAX-4** (error: DimensionError)" in once
    assert once.startswith("# Softmax\n")
    assert once.endswith("<!-- end -->\n\nMore.\n")
    assert rendered(once, load_table()) == once


def test_an_idea_has_no_signature() -> None:
    assert section(load_table()["values"]).startswith("- **VALUES-1** (value)")
    assert section(load_table()["softmax"]).startswith("```python\nsoftmax(")


@pytest.mark.parametrize("operator", list(load_table().values()), ids=lambda one: one.name)
def test_lines_are_not_too_long(operator: object) -> None:
    assert max(map(len, section(load_table()[operator.name]).splitlines())) <= 120  # type: ignore[attr-defined]


def test_an_unknown_table_is_refused() -> None:
    with pytest.raises(KeyError, match="soft_max"):
        rendered(CHAPTER.replace("clauses: softmax", "clauses: soft_max"), load_table())


def test_a_stale_chapter_is_found_and_written(tmp_path: Path) -> None:
    chapter = tmp_path / "13-normalization.md"
    chapter.write_text(CHAPTER, encoding="utf-8")
    problems = stale_chapters(tmp_path)
    assert "13-normalization.md: stale, run python -m pynested.spec.render" in problems
    assert "sum: no chapter has its clauses" in problems
    assert write(tmp_path) == [chapter]
    assert write(tmp_path) == []
