"""The report is a page that can be read: narrow, the worst first, and short unless more is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pynested.conformance.differences import WIDTH, causes
from pynested.conformance.records import Record, Run, counts
from pynested.conformance.report import Report

TEXT = "Each run of a component is summed on its own, and nothing that lies between the components takes part in it."


def finding(verdict: str, clause: str, part: str = "forward", **more: Any) -> Record:
    fields = {
        "part": part,
        "verdict": verdict,
        "clause": clause,
        "placements": ["packed"],
        "text": TEXT,
        "call": "f(x)",
    }
    return {
        **fields,
        "want": "1.0 (3f800000)  at component 0 [0]",
        "got": "2.0 (40000000)",
        "snippet": "print(1)",
        "kind": "differs",
        **more,
    }


def result(number: int, *findings: Record, op: str = "sum", layout: str = "jagged", **parts: str) -> Record:
    found = {one["part"]: one["verdict"] for one in findings}
    return {
        "record": "result",
        "id": f"{op}/float32/ragged/{number}",
        "op": op,
        "chapter": "reduction",
        "layout": layout,
        "clauses": ["SUM-1"],
        "dtypes": ["float32"],
        "placements": ["packed"],
        "parts": {**parts, **found},
        "findings": list(findings),
        "notes": [],
        "ms": 1.0,
    }


def made(*results: Record) -> Run:
    header = {
        "spec": "0.1",
        "vectors": "0123456789abcdef",
        "target": {"name": "torch", "version": "2.13.0", "device": "cpu", "runtime": ""},
        "selection": {"layout": ["jagged", "strided"]},
        "machine": {"python": "3.11", "numpy": "2.4", "system": "Linux", "processor": "x86_64", "cores": 2},
    }
    return Run(header, results, {"results": len(results), "counts": counts(results), "seconds": 1.25})


def test_a_clean_run() -> None:
    text = Report(made(result(1, forward="ok", gradient="ok"), result(2, error="ok"))).text()
    row = next(line for line in text.splitlines() if line.startswith("  sum"))
    assert row.split() == ["sum", "1", "1", "1", "·", "·", "·"]
    assert "torch agrees with the specification in all 3 checks." in text
    assert "2 cases, 2 calls in 1.2 s" in text


def test_cells_count_agreement_and_what_is_missing() -> None:
    rows = [result(number, forward="ok") for number in range(3)]
    rows += [result(4, finding("value", "SUM-1")), result(5, forward="missing")]
    rows += [result(6, op="mean", layout="strided", forward="missing")]
    text = Report(made(*rows)).text()
    assert "3/4+1 " in text and "none" in text
    assert "not implemented, jagged: sum (in part)\nnot implemented, strided: mean" in text
    assert "torch differs in 1 of 4 checks, about 1 clause. It was held to 4 of 6 checks (66 %). 2 need" in text


def test_a_cell_says_when_only_the_placement_matters() -> None:
    placed = finding("refused", "SUM-1", placements=["holes-nan", "holes-max"])
    text = Report(made(result(1, forward="ok"), result(2, placed))).text()
    assert "1/2p" in text and "1 of them only where components are not packed" in " ".join(text.split())
    assert "1/2p" not in Report(made(result(1, finding("value", "SUM-2")), result(2, placed))).text()


def test_the_most_telling_difference_comes_first() -> None:
    run = made(
        result(1, finding("error-kind", "SUM-9", part="error")),
        result(2, finding("refused", "SUM-3", kind="limit")),
        result(3, finding("value", "SUM-2", part="gradient")),
        result(4, finding("value", "SUM-1")),
        result(5, finding("value", "SUM-7")),
        result(6, finding("value", "SUM-7")),
        result(7, finding("crashed", "SUM-8", kind="crash")),
        result(8, finding("accepted", "SUM-6", part="error")),
    )
    order = [cause.clause for cause in causes(run)]
    assert order == ["SUM-2", "SUM-7", "SUM-1", "SUM-6", "SUM-9", "SUM-3", "SUM-8"]


@pytest.fixture
def many() -> Run:
    long = finding("value", "SUM-1", call="f(x) " * 60, got="2.0 " * 60)
    return made(*(result(number, {**long, "clause": f"SUM-{number}"}) for number in range(90)))


def test_differences_fit_a_screen_unless_more_is_asked_for(many: Run) -> None:
    short, full = Report(many).text(), Report(many).text(verbose=1)
    assert len(short.splitlines()) < 130 and "and 61 more" in short
    assert full.count("  expected  ") == 90 and "more" not in full.split("clauses.")[1]


@pytest.mark.parametrize("verbose", [0, 1])
def test_no_line_is_too_wide(many: Run, verbose: int) -> None:
    assert max(map(len, Report(many).text(verbose).splitlines())) <= WIDTH


def test_what_was_not_asked_is_counted() -> None:
    hung = finding("hung", "SUM-1", got="no answer within 20 s")
    left = {
        "part": "forward",
        "verdict": "unasked",
        "placements": ["packed", "transposed"],
        "got": "given up, since ...",
    }
    rows = [result(1, hung), *({**result(number, left), "placements": left["placements"]} for number in (2, 3))]
    rows += [{**result(4, left, op="mean", layout="strided"), "placements": left["placements"]}]
    text = Report(made(*rows)).text()
    assert "Not asked: 6 calls, the first of sum/float32/ragged/2, jagged; given up, since ..." in text
    assert "differs in 1 of 1 checks, about 1 clause. It was held to 1 of 4 checks (25 %). Not asked: 3." in text
    assert "4 cases, 1 calls in" in text
    row = next(line for line in text.splitlines() if line.startswith("  mean"))
    assert row.split()[4:] == ["unasked", "·", "·"] and "unasked  not asked" in text


def test_remarks_are_for_those_who_ask(run: Callable[..., Run]) -> None:
    one = result(1, error="ok")
    one["notes"] = ["TypeError where the specification has IndexError"]
    assert "TypeError" not in Report(made(one)).text()
    assert "1  TypeError where the specification has IndexError" in Report(made(one)).text(verbose=1)
