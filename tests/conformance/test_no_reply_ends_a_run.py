"""Whatever an adapter writes or does, `pynested conform` goes on to the end, says what it was, and ends with 1."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from pynested.cli import main
from pynested.conformance.records import read

from .hostile import NO_REPLIES

Captured = pytest.CaptureFixture[str]
Hostile = Callable[[str], list[str]]

# What adapters write while they are being written: fields of another kind, lost ones, words that do not fit.
MALFORMED = (
    "a word",
    "no seq",
    "another seq",
    "NaN",
    "nothing",
    "value list",
    "nested as numbers",
    "no dtype",
    "shape huge",
    "bits number",
    "bits upper-case",
    "error as text",
    "error without kind",
    "gradient list",
    "gradient too short",
)
# What adapters do that are broken, or mean harm; and the verdict.
HARM = {
    "Garbage": "garbled",
    "LineWithoutEnd": "garbled",
    "brackets": "garbled",
    "a number without end": "garbled",
    "lists without end": "garbled",
    "Exits": "crashed",
    "RealTimeSignal": "crashed",
    "Silent": "hung",
    "ClosesOutput": "hung",
    "StderrWithoutEnd": "hung",
}


def ran(vectors: Path, adapter: list[str], kept: Path) -> int:
    chosen = ["--vectors", str(vectors), "--match", "*/ragged/2", "--layout", "jagged", "--timeout", "2"]
    return main(["conform", "--adapter", shlex.join(adapter), "--json", str(kept), *chosen])


@pytest.mark.parametrize(("name", "verdict"), [*dict.fromkeys(MALFORMED, "garbled").items(), *HARM.items()])
def test_no_reply_ends_a_run(
    vectors: Path, hostile: Hostile, tmp_path: Path, capsys: Captured, name: str, verdict: str
) -> None:
    kept = tmp_path / "run.ndjson"
    assert ran(vectors, hostile(name), kept) == 1
    shown, run = capsys.readouterr(), read(kept)
    assert run.footer is not None and len(run.results) == 1
    assert run.results[0]["parts"]["forward"] == verdict
    assert "Traceback" not in shown.err + shown.out
    assert "differs in" in shown.out and "sum/float32/ragged/2" in shown.out
    if name in NO_REPLIES:
        assert NO_REPLIES[name][1] in run.results[0]["findings"][0]["got"]
