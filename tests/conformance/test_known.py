"""What is known is expected, what is new is not; and what was checked and is not any more is worse."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pynested.cli import main
from pynested.conformance.known import Check, changes, read
from pynested.conformance.problems import UsageError

Captured = pytest.CaptureFixture[str]
ONE: Check = ("sum/float32/ragged/1", "jagged", "forward")


@pytest.mark.parametrize(
    ("was", "now", "sort"),
    [
        ("ok", "value", "worse"),
        ("ok", "missing", "worse"),
        ("ok", "unasked", "worse"),
        ("ok", None, "worse"),
        ("convention", "dtype", "worse"),
        ("value", "missing", "worse"),
        ("value", None, "worse"),
        ("missing", "crashed", "worse"),
        ("value", "ok", "better"),
        ("missing", "ok", "better"),
        ("refused", "convention", "better"),
        ("refused", "value", "other"),
        ("missing", None, "other"),
        ("ok", "convention", ""),
        ("ok", "ok", ""),
        ("value", "value", ""),
    ],
)
def test_what_is_worse_and_what_is_better(was: str, now: str | None, sort: str) -> None:
    found = changes({ONE: was}, {} if now is None else {ONE: now})
    assert [name for name in ("worse", "better", "other") if ONE in getattr(found, name)] == ([sort] if sort else [])


def test_a_case_that_is_new_is_no_change() -> None:
    assert list(changes({}, {ONE: "value"}).lines()) == [
        "0 checks are worse.",
        "0 checks are otherwise wrong.",
        "0 checks are better.",
    ]


@pytest.fixture
def held(vectors: Path, command: Callable[[str], str]) -> Callable[..., int]:
    return lambda name, *more: main(["conform", "--vectors", str(vectors), "--adapter", command(name), *map(str, more)])


def test_known_failures_are_expected_and_others_are_not(
    held: Callable[..., int], tmp_path: Path, capsys: Captured
) -> None:
    kept = tmp_path / "known.txt"
    assert held("DropsRow", "--write-expect", kept) == 1
    assert "sum/float32/ragged/1 jagged forward value\n" in kept.read_text()
    assert held("DropsRow", "--expect", kept) == 0
    capsys.readouterr()
    assert held("Right", "--expect", kept) == 0
    assert "4 checks are better:" in capsys.readouterr().out
    assert held("AcceptsBad", "--expect", kept) == 1
    shown = capsys.readouterr().out
    assert "2 checks are worse:\n  sum/float32/error/3 jagged error: ok, now accepted" in shown
    assert held("WrongShape", "--expect", kept) == 1, "another way to be wrong is not the one that is known"
    assert held("NotImplemented", "--expect", kept) == 4, "nothing is known of a target that answers nothing"


def test_a_run_that_checks_less_is_worse_than_the_one_before(
    held: Callable[..., int], tmp_path: Path, capsys: Captured
) -> None:
    before, after, less = (tmp_path / name for name in ("before", "after", "less"))
    held("DropsRow", "--json", before)
    held("Right", "--json", after)
    held("NotImplemented", "--json", less)
    capsys.readouterr()
    assert main(["diff", str(before), str(after)]) == 0
    assert "0 checks are worse." in capsys.readouterr().out
    assert main(["diff", str(after), str(before)]) == 1
    assert main(["diff", str(after), str(less)]) == 1
    assert main(["diff", str(before), str(less)]) == 1
    assert "sum/float32/ragged/1 jagged forward: value, now missing" in capsys.readouterr().out


def test_a_file_may_have_remarks_and_says_where_it_is_wrong(tmp_path: Path) -> None:
    kept = tmp_path / "known.txt"
    kept.write_text("# all\n\nsum/float32/ragged/1  jagged forward value  # until 3.0\n")
    assert read(kept) == {ONE: "value"}
    for text in ("a b forward\n", "a b nowhere value\n"):
        kept.write_text(text)
        with pytest.raises(UsageError, match="line 1: expected case, layout, part and verdict"):
            read(kept)
    with pytest.raises(UsageError, match="cannot read"):
        read(tmp_path / "none")


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["--exclude", "sum/float32/ragged/*"], 0, "1 cases, 4 calls"),
        (["--placement", "packed"], 0, "Placements: packed 6. "),
        (["--placement", "packed", "--placement", "transposed"], 0, "Placements: packed 6, transposed 5. "),
        (["--dtype", "float32", "--top", "0"], 0, "3 cases, 24 calls"),
        (["--dtype", "int8"], 2, "no case is selected"),
    ],
)
def test_a_run_of_less(held: Callable[..., int], arguments: list[str], code: int, text: str, capsys: Captured) -> None:
    assert held("Right", *arguments) == code
    shown = capsys.readouterr()
    assert text in " ".join((shown.out + shown.err).split())
