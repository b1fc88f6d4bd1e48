"""A stored run that broke off can be shown; one that does not add up is no record of a run."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pynested.cli import main
from pynested.conformance.problems import UsageError
from pynested.conformance.records import Run, read
from pynested.conformance.report import Report

from .mutations import mutated, torn

Lines = list[dict[str, Any]]


@pytest.fixture
def kept(run: Callable[..., Run], tmp_path: Path) -> Path:
    run("DropsRow", keep=tmp_path / "run.ndjson")
    return tmp_path / "run.ndjson"


def test_a_stored_run_shows_the_same_report(run: Callable[..., Run], kept: Path) -> None:
    stored, fresh = read(kept), run("DropsRow")
    assert stored.exit_code == fresh.exit_code == 1
    assert stored.header["target"]["name"] == "DropsRow" and len(stored.header["vectors"]) == 64
    for verbose in (0, 1):
        seconds = [f"calls in {one.footer['seconds']:.1f} s" for one in (stored, fresh)]
        texts = [Report(one).text(verbose).replace(s, "") for one, s in zip((stored, fresh), seconds, strict=True)]
        assert texts[0] == texts[1]


def twice(lines: Lines) -> Lines:
    return [*lines[:2], lines[1], *lines[3:]]


def with_finding(**changes: Any) -> Callable[[Lines], Lines]:
    """Return a change of the first finding."""

    def change(lines: Lines) -> Lines:
        first, *others = lines[1]["findings"]
        return [lines[0], {**lines[1], "findings": [{**first, **changes}, *others]}, *lines[2:]]

    return change


BROKEN: dict[str, tuple[Callable[[Lines], list[Any]], str]] = {
    "no header": (lambda lines: lines[1:], "does not begin with a header"),
    "nothing": (lambda lines: [], "does not begin with a header"),
    "another format": (
        lambda lines: [{**lines[0], "format": "x/9"}, *lines[1:]],
        "line 1: format: expected pynested-rec",
    ),
    "a result is lost": (lambda lines: [*lines[:2], *lines[3:]], "promise"),
    "a result is doubled": (twice, "are there twice"),
    "a strange record": (lambda lines: [lines[0], {"record": "remark"}, *lines[2:]], "line 2: record: expected one of"),
    "a footer too many": (lambda lines: [*lines[:2], lines[-1], *lines[2:]], "records that are no results"),
    "a header too many": (lambda lines: [*lines[:2], lines[0], *lines[2:]], "records that are no results"),
    "more than were promised": (lambda lines: [{**lines[0], "results": 1}, *lines[1:-1]], "promise 1 results"),
    "a field is lost": (lambda lines: [lines[0], {"record": "result"}, *lines[2:]], "line 2: has no id, op"),
    "a verdict of another day": (with_finding(verdict="maybe"), r"line 2: findings\[0\].verdict: expected one of"),
    "a difference without a call": (with_finding(call=None), r"line 2: findings\[0\].call: expected text, got None"),
    "a deep line": (
        lambda lines: [lines[0], "[" * 100_000, *lines[2:]],
        "line 2: lists or objects are nested too deep",
    ),
    "wrong counts": (lambda lines: [*lines[:-1], {**lines[-1], "counts": {}}], "the counts of the footer"),
    "half a line": (lambda lines: [*lines[:3], "{", *lines[3:]], "line 4: "),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_stream_that_does_not_add_up(kept: Path, name: str) -> None:
    change, text = BROKEN[name]
    lines = [json.loads(line) for line in kept.read_text().splitlines()]
    kept.write_text("".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in change(lines)))
    with pytest.raises(UsageError, match=text):
        read(kept)


@pytest.mark.parametrize("cut", [1, 40])
def test_a_run_that_broke_off_can_be_shown(kept: Path, cut: int) -> None:
    """Its footer is missing, and its last record may be cut in the middle."""
    *lines, footer = kept.read_text().splitlines(keepends=True)
    kept.write_text("".join(lines)[:-cut])
    run = read(kept)
    assert run.footer is None and run.exit_code == 3 and len(run.results) == (6 if cut == 1 else 5)
    last = run.results[-1]
    said = f"it has {len(run.results)} of 6 results. The last is {last['id']}, {last['layout']}."
    assert f"This run broke off: {said}" in Report(run).text()
    kept.write_text(lines[0])
    assert "This run broke off: it has 0 of 6 results." in Report(read(kept)).text(verbose=1)
    kept.write_text("".join([*lines, footer[:-3]]))
    assert len(read(kept).results) == 6 and read(kept).exit_code == 3


def test_a_run_that_agrees_until_it_broke_off_is_not_said_to_agree(run: Callable[..., Run]) -> None:
    whole = run("Right")
    part = Run(whole.header, whole.results[:2])
    assert part.exit_code == 3 and "in all 4 checks until the run broke off." in Report(part).text()


def test_damaged_records_are_refused_or_shown(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever is in a file: no traceback, and the exit code of a difference for none that is broken off."""
    dice = random.Random(3)
    lines = [json.loads(line) for line in kept.read_text().splitlines()]
    whole, codes = kept.read_bytes(), set()
    for number in range(150):
        text = "".join(json.dumps(line) + "\n" for line in mutated(lines, dice)).encode()
        tears = whole[: -1 - number // 10] if number % 10 == 0 else torn(whole, dice)  # the first end in the footer
        kept.write_bytes(tears if number % 3 == 0 else text)
        codes.add(main(["report", "-v", str(kept)]))
        assert "Traceback" not in capsys.readouterr().err
    assert {1, 2} <= codes <= {1, 2, 3}


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        read(tmp_path / "nothing.ndjson")
