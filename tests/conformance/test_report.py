"""The report is a page that can be read: narrow, the worst first, and short unless more is asked for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from pynested.conformance.differences import ENTRIES, WIDTH, causes, folded
from pynested.conformance.records import Record, Run, counts
from pynested.conformance.report import Report


def sentence(clause: str) -> str:
    """A text for a clause that shares no word with that of any other, and is too long for a line."""
    word = "".join("abcdefghij"[int(digit)] * 4 for digit in clause.partition("-")[2])
    return " ".join(f"{word}{ending}" for ending in ["ing", "ed", "er", "est", "ly", "ness", "less", "able", "ful"])


def finding(verdict: str, clause: str, part: str = "forward", **more: Any) -> Record:
    fields = {
        "part": part,
        "verdict": verdict,
        "clause": clause,
        "placements": ["packed"],
        "text": sentence(clause),
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
    long = {"call": "f(x) " * 60, "got": "2.0 " * 60}  # more than a line
    return made(*(result(number, finding("value", f"SUM-{number}", **long)) for number in range(90)))


def entries(report: str) -> list[int]:
    """Return the numbers of the entries that a report tells in short."""
    return [int(found) for found in re.findall(r"^ ?(\d+)  SUM-\d+  sum: ", report, re.MULTILINE)]


def test_differences_fit_a_screen_unless_more_is_asked_for(many: Run) -> None:
    short, full = Report(many).text(), Report(many).text(verbose=1)
    assert len(short.splitlines()) < 280 and "differs: 10 more entries of 10 cases, folded" in short
    assert "differs      90 in  90 entries  differs from the specification, 10 of them folded" in short
    assert len(entries(short)) == 80 and short.count("differs: differs from the specification") == 1
    assert short.count("  expected  ") == 5 and full.count("  expected  ") == 90 and "folded" not in full


def test_nothing_is_folded_where_all_is_asked_for(many: Run) -> None:
    every = Report(many).text(every=True)
    assert "folded" not in every and len(entries(every)) == 90
    assert (
        Report(many)
        .text()
        .rstrip()
        .endswith("--top N shows more in full; --all unfolds; -v everything, with examples to paste")
    )
    assert Report(many).text(top=85).count("  expected  ") == 85


def test_rare_limits_are_folded_before_anything_else() -> None:
    rows = [result(number, finding("value", f"SUM-{number}")) for number in range(10, 50)]
    rows += [
        result(number, finding("refused", "SUM-1", kind="limit", got=f"E: {sentence(f'S-{number}')}"))
        for number in range(50, 100)
    ]
    told, rest = folded(
        causes(made(*rows, result(100, finding("refused", "SUM-1", kind="limit", got="E: " + sentence("S-50")))))
    )
    assert len(told) == ENTRIES and {one.kind for one in rest} == {"limit"} and len(rest) == 10
    assert "nested" not in {one.kind for one in rest} and max(len(one.members) for one in rest) == 1
    assert {len(one.members) for one in told if one.kind == "limit"} == {1, 2}


def test_the_worst_comes_before_the_table(many: Run) -> None:
    lines = Report(many).text().splitlines()
    table = next(number for number, line in enumerate(lines) if line.startswith("operator  "))
    worst = lines.index("The worst of it:")
    assert worst < 12 < table and lines[worst + 1].startswith(" 1  SUM-") and lines[worst + 9].startswith(" 5  SUM-")


def test_roundings_come_after_numbers_that_are_wrong() -> None:
    off = finding("value", "NUMERICS-4", kind="nested")
    wrong = finding("value", "SUM-1", kind="nested")
    run = made(result(1, off), result(2, off), result(3, wrong), result(4, finding("dtype", "SUM-5", kind="nested")))
    assert [cause.clause for cause in causes(run)] == ["SUM-1", "NUMERICS-4", "SUM-5"]


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
    assert "1 cases, 1 calls in" in text
    row = next(line for line in text.splitlines() if line.startswith("  mean"))
    assert row.split()[4:] == ["unasked", "·", "·"] and "unasked  not asked" in text


def test_remarks_are_for_those_who_ask(run: Callable[..., Run]) -> None:
    one = result(1, error="ok")
    one["notes"] = ["TypeError where the specification has IndexError"]
    assert "TypeError" not in Report(made(one)).text()
    assert "1  TypeError where the specification has IndexError" in Report(made(one)).text(verbose=1)


def test_an_entry_shows_the_case_that_tells_most() -> None:
    def one(number: int, call: str, code: str, **more: Any) -> Record:
        op = "mean" if number == 1 else "sum"
        return result(number, finding("value", "SUM-1", call=call, snippet=code, **more), op=op)

    shortest = one(1, "mean(x); x: nested float32, (2) (1)", "1")  # of an operator that is hardly concerned
    nothing = [
        one(2, "sum(x); x: nested float32, (2, 0) (1, 4)", "12"),
        one(3, "sum(x); x: no components, (0, *)", "1"),
    ]
    placed = one(4, "sum(x, dim=(1, 0)); x: nested float32, (2) (1)", "12", placements=["bare"])
    plain = one(5, "sum(x, dim=(1, 0)); x: nested float32, (2) (1)", "123")
    assert causes(made(shortest, *nothing, placed, plain))[0].example[0]["id"] == plain["id"]
    assert causes(made(shortest, *nothing, placed))[0].example[0]["id"] == placed["id"]


def test_a_placement_is_explained_where_it_matters() -> None:
    text = Report(made(result(1, finding("value", "SUM-1", placements=["bare"])))).text()
    assert "  memory    bare: packed, and built without optional arguments" in text
    for placements in (["packed", "bare"], ["holes-nan"]):
        assert "  memory  " not in Report(made(result(1, finding("value", "SUM-1", placements=placements)))).text()


def test_who_knows_nothing_of_the_specification_is_told_how_to_read() -> None:
    text = " ".join(Report(made(result(1, finding("value", "SUM-3")))).text().split())
    assert "the specification is that of pynested" in text and "`pynested explain SUM-3`" in text
    assert "How to read" not in Report(made(result(1, forward="ok"))).text()


def test_refusals_are_folded_before_what_is_wrong_without_a_word() -> None:
    rows = [result(number, finding("value", f"SUM-{number}", kind="nested")) for number in range(10, 50)]
    rows += [
        result(number, finding("refused", "SUM-1", kind=kind, got=f"E: {sentence(f'S-{number}')}"))
        for number, kind in enumerate(["internal"] * 30 + ["dense"] * 10 + ["limit"] * 10, 50)
    ]
    told, rest = folded(causes(made(*rows)), most=60)
    assert Counter(one.kind for one in told) == {"nested": 40, "internal": 20}
    assert Counter(one.kind for one in rest) == {"internal": 10, "dense": 10, "limit": 10}
