"""What goes between runner and adapter is kept in a file, and what the adapter says on stderr is shown."""

from __future__ import annotations

import io
import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pynested.cli import main
from pynested.conformance.records import read
from pynested.conformance.wire import listening

Captured = pytest.CaptureFixture[str]
Command = Callable[[str], str]


@pytest.fixture(autouse=True)
def _as_users_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)


def kept(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def conform(vectors: Path, adapter: str, trace: Path, *more: str) -> int:
    return main(["conform", "--vectors", str(vectors), "--adapter", adapter, "--trace", str(trace), *more])


def test_every_message_is_kept_in_its_order(vectors: Path, command: Command, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    assert conform(vectors, command("Right"), trace) == 0
    found = kept(trace)
    sent = [one["message"] for one in found if one["from"] == "runner"]
    heard = [one["message"] for one in found if one["from"] == "adapter"]
    assert [one["cmd"] for one in (sent[0], sent[1], sent[-1])] == ["start", "run", "stop"]
    assert heard[0]["name"] == "Right"
    assert [one["seq"] for one in heard[1:]] == [one["seq"] for one in sent[1:-1]] == list(range(1, 25))
    assert [one["from"] for one in (found[0], found[-1])] == ["kit", "kit"]


def test_an_adapter_in_this_process_is_heard_too(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    assert main(["conform", "--match", "neg/float32/ragged/1", "--layout", "jagged", "--trace", str(trace)]) == 0
    who = [one["from"] for one in kept(trace)]
    assert who[:4] == ["runner", "adapter"] * 2 and set(who) == {"runner", "adapter"}


def test_what_is_no_message_is_kept_as_it_came(
    vectors: Path, hostile: Callable[[str], list[str]], tmp_path: Path
) -> None:
    trace = tmp_path / "trace.jsonl"
    assert conform(vectors, shlex.join(hostile("Garbage")), trace, "--match", "*/ragged/2") == 1
    found = kept(trace)
    assert {one["text"] for one in found if one["from"] == "adapter" and "text" in one} == {"Welcome to Garbage!"}
    assert any(one["from"] == "kit" and "process 2" in one["text"] for one in found)


def test_stderr_is_shown_and_kept(vectors: Path, command: Command, tmp_path: Path, capsys: Captured) -> None:
    trace = tmp_path / "trace.jsonl"
    assert conform(vectors, command("Noisy"), trace, "--layout", "jagged") == 0
    shown = capsys.readouterr().err.splitlines()
    assert shown[:2] == ["adapter: a word on stdout", "adapter: " + ("a warning " * 50)[:299].rstrip() + "…"]
    said = [one["text"] for one in kept(trace) if one["from"] == "stderr"]
    assert len(said) == 2 * said.count("a word on stdout") >= 24


@pytest.mark.parametrize("name", ["SpeaksAndCrashes", "SpeaksOnStderrAndCrashes"])
def test_what_an_adapter_prints_before_it_crashes_is_told(
    vectors: Path, command: Command, tmp_path: Path, capsys: Captured, name: str
) -> None:
    kept_run = tmp_path / "run.jsonl"
    chosen = ["--match", "*/ragged/2", "--layout", "jagged", "--json", str(kept_run)]
    assert conform(vectors, command(name), tmp_path / "trace.jsonl", *chosen) == 1
    (result,) = read(kept_run).results
    assert result["findings"][0]["got"] == "SIGABRT: about to sum"
    assert "adapter: about to sum" in capsys.readouterr().err


def test_a_flood_on_stderr_is_cut(capsys: Captured) -> None:
    screen = io.StringIO()
    with listening(None, screen) as wire:
        wire.said(f"line {number}" for number in range(1000))
    lines = screen.getvalue().splitlines()
    assert lines[:40] == [f"adapter: line {number}" for number in range(40)]
    assert lines[40:] == ["adapter: more on stderr is not shown; --trace FILE keeps it"]


def test_what_every_new_process_says_is_shown_once() -> None:
    screen = io.StringIO()
    with listening(None, screen) as wire:
        for number in range(1, 4):
            wire.begins(f"process {number}")
            wire.said([f"W1122 14:00:0{number} {7000 + number} torch: experimental", "a word", "a word"])
            wire.said([f"process died of call {'abc'[number - 1]}"])
    assert screen.getvalue().splitlines() == [
        "adapter: W1122 14:00:01 7001 torch: experimental",
        "adapter: a word",
        "adapter: a word",  # of one process everything is shown
        *(f"adapter: process died of call {name}" for name in "abc"),
    ]


def test_a_terminal_is_not_commanded_by_stderr() -> None:
    screen = io.StringIO()
    with listening(None, screen) as wire:
        wire.said(["\x1b[2Jred \ud800"])
    assert screen.getvalue() == "adapter: \\x1b[2Jred \\ud800\n"


def test_a_screen_that_is_gone_stops_nothing() -> None:
    screen = io.StringIO()
    screen.close()
    with listening(None, screen) as wire:
        wire.said(["a word"])


def test_a_trace_that_cannot_be_written_is_said(vectors: Path, command: Command, capsys: Captured) -> None:
    assert conform(vectors, command("Right"), Path("no-such-folder/trace")) == 2
    assert "cannot write no-such-folder/trace" in capsys.readouterr().err
    if sys.platform == "linux":
        assert conform(vectors, command("Right"), Path("/dev/full")) == 3
        assert "cannot write /dev/full" in capsys.readouterr().err
