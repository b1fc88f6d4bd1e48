"""`pynested adapter smoke`: a few calls, and for what goes wrong a sentence that helps."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pynested.cli import main
from pynested.conformance.smoke import PROBES

Captured = pytest.CaptureFixture[str]
Command = Callable[[str], str]
Hostile = Callable[[str], list[str]]
PYNESTED = shlex.join([sys.executable, "-m", "pynested.conformance.adapters.pynested_adapter"])


def smoke(capsys: Captured, adapter: str, *more: str) -> tuple[int, list[str], str]:
    """The exit code, the states of the probes in their order, and all that was printed."""
    code = main(["adapter", "smoke", adapter, *more])
    text = capsys.readouterr().out
    states = [
        line.split()[0] for line in text.splitlines() if line[2:10].strip() in ("ok", "missing", "wrong", "skipped")
    ]
    return code, states, text


def test_a_good_adapter_is_told_to_go_on(capsys: Captured, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    code, states, text = smoke(capsys, PYNESTED, "--trace", str(trace), "--timeout", "20")
    assert code == 0 and states == ["ok"] * (len(PROBES) + 2), text
    assert "Next: pynested conform --adapter COMMAND" in text
    sent = [one["message"] for one in map(json.loads, trace.read_text().splitlines()) if one["from"] == "runner"]
    assert sent[0]["cmd"] == "start" and sent[-1]["cmd"] == "stop" and sent[-2]["op"] == "no_such_operator"
    assert [one["seq"] for one in sent[1:-1]] == list(range(1, len(PROBES) + 2))
    asked = {(one["layout"], one["placement"], "cotangent" in one) for one in sent[1:-2]}
    assert {("jagged", "packed", True), ("strided", "packed", False), ("jagged", "holes-nan", False)} <= asked


def test_an_adapter_that_sums_wrongly_is_told_where(capsys: Captured, command: Command, vectors: Path) -> None:
    code, states, text = smoke(capsys, command("DropsRow"))
    assert code == 1 and states[0] == "wrong" and "Next: a call" in text
    assert "pynested explain add/float32/ragged/1" in " ".join(text.split())


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("Garbage", "Write one JSON object a line"),
        ("Everything", "which is not a reply"),
        ("Silent", "flush stdout after each answer"),
        ("ClosesOutput", "flush stdout after each answer"),
        ("Exits", "The process ended"),
        ("LineWithoutEnd", "Write one JSON object a line"),
    ],
)
def test_no_reply_is_a_finding_with_advice(capsys: Captured, hostile: Hostile, name: str, says: str) -> None:
    code, states, text = smoke(capsys, shlex.join(hostile(name)), "--timeout", "0.5")
    assert code == 1 and states == ["wrong"] * 2 and says in text
    assert "Nothing more was asked" in text and text.replace("\n", "").isprintable()


def test_an_adapter_that_has_nothing_is_not_said_to_agree(capsys: Captured, command: Command) -> None:
    code, states, text = smoke(capsys, command("NotImplemented"))
    assert code == 4 and set(states) == {"missing", "ok"} and states[-2:] == ["ok", "ok"]
    assert "Next: answer one call with a value" in text


def test_an_adapter_that_does_not_stop_is_told(
    capsys: Captured, hostile: Hostile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pynested.conformance.process._POLITE", 0.2)
    code = """if True:
        import json, time
        for line in open(0):
            message = json.loads(line)
            if message["cmd"] == "stop":
                time.sleep(600)
            hello, reply = {"protocol": 2, "name": "x", "version": "0"}, {"seq": message.get("seq"), "missing": "x"}
            print(json.dumps(hello if message["cmd"] == "start" else reply), flush=True)
    """
    found, states, text = smoke(capsys, shlex.join([sys.executable, "-c", code]))
    assert found == 1 and states == ["missing"] * len(PROBES) + ["ok", "wrong"] and "End at `stop`" in text


@pytest.mark.parametrize("command", ["", "no-such-program", "'"])
def test_wrong_usage_is_one_line(capsys: Captured, command: str) -> None:
    assert main(["adapter", "smoke", command]) == 2
    shown = capsys.readouterr()
    assert shown.err.startswith("pynested adapter: ") and shown.err.count("\n") == 1 and not shown.out
