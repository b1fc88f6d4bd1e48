"""A stored run that does not add up is no record of a run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pynested.conformance.problems import UsageError
from pynested.conformance.records import Run, read
from pynested.conformance.report import Report

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


BROKEN: dict[str, tuple[Callable[[Lines], list[Any]], str]] = {
    "no footer": (lambda lines: lines[:-1], "has no footer"),
    "no header": (lambda lines: lines[1:], "does not begin with a header"),
    "nothing": (lambda lines: [], "does not begin with a header"),
    "another format": (lambda lines: [{**lines[0], "format": "x/9"}, *lines[1:]], "does not begin with a header"),
    "a result is lost": (lambda lines: [*lines[:2], *lines[3:]], "promise"),
    "a result is doubled": (twice, "are there twice"),
    "a strange record": (lambda lines: [lines[0], {"record": "remark"}, *lines[2:]], "unknown records"),
    "wrong counts": (lambda lines: [*lines[:-1], {**lines[-1], "counts": {}}], "the counts of the footer"),
    "half a line": (lambda lines: [*lines[:-1], "{"], "cut short"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_stream_that_does_not_add_up(kept: Path, name: str) -> None:
    change, text = BROKEN[name]
    lines = [json.loads(line) for line in kept.read_text().splitlines()]
    kept.write_text("".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in change(lines)))
    with pytest.raises(UsageError, match=text):
        read(kept)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        read(tmp_path / "nothing.ndjson")
