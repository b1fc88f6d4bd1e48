"""Only what was asked is claimed, and how much that was is said."""

from __future__ import annotations

from typing import Any

import pytest

from pynested.conformance import problems
from pynested.conformance.coverage import Coverage, coverage
from pynested.conformance.records import Run


def result(*findings: tuple[str, str, list[str]], **parts: str) -> dict[str, Any]:
    found = [{"part": part, "verdict": verdict, "placements": placed} for part, verdict, placed in findings]
    return {"parts": parts, "findings": found}


def test_checks_are_counted_by_what_they_came_to() -> None:
    rows = [
        result(forward="ok", gradient="ok"),
        result(("forward", "missing", ["transposed"]), forward="ok", gradient="missing"),
        result(("forward", "value", ["packed"]), forward="value", gradient="unreached"),
        result(("error", "unasked", ["packed"]), error="unasked"),
        result(error="adapter"),
    ]
    assert coverage(rows) == Coverage(total=8, agree=3, differ=1, missing=1, unasked=1, narrow=1)


@pytest.mark.parametrize(
    ("made", "total", "text"),
    [
        (273, 273, "273 of 273 checks (100 %)"),
        (272, 273, "272 of 273 checks (99 %)"),
        (54, 273, "54 of 273 checks (19 %)"),
        (0, 0, "0 of 0 checks (0 %)"),
    ],
)
def test_a_share_is_never_rounded_up(made: int, total: int, text: str) -> None:
    assert Coverage(total, made, 0, 0, 0, 0).share() == text


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [
        ([], problems.NOTHING),
        (["missing", "unasked", "unreached"], problems.NOTHING),
        (["missing", "ok"], problems.AGREES),
        (["missing", "value"], problems.DIFFERS),
        (["missing", "adapter"], problems.KIT),
    ],
)
def test_no_check_is_no_agreement(verdicts: list[str], code: int) -> None:
    assert Run({}, [result(forward=one) for one in verdicts], {}).exit_code == code
