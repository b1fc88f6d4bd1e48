"""An adapter in a child process may print, die, hang or write garbage; the run goes on and says which call it was."""

from __future__ import annotations

import io
import shlex
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pynested.conformance.child import Child
from pynested.conformance.conform import conform
from pynested.conformance.corpus import Selection, load_corpus
from pynested.conformance.problems import UsageError
from pynested.conformance.process import Process
from pynested.conformance.records import Run
from pynested.conformance.report import Report
from pynested.conformance.started import Spawned

from .conftest import is_gone
from .hostile import NO_REPLIES

Command = Callable[[str], str]
JAGGED = Selection(layouts=("jagged",))
ONE_CASE = Selection(layouts=("jagged",), match="*/ragged/2")


@pytest.fixture
def in_child(vectors: Path) -> Callable[..., tuple[Run, Child]]:
    def run(command: list[str], timeout: float = 20.0, selection: Selection = JAGGED) -> tuple[Run, Child]:
        session = Child(command, timeout=timeout)
        return conform(load_corpus(vectors), selection, lambda: session, None, io.StringIO()), session

    return run


InChild = Callable[..., tuple[Run, Child]]
Hostile = Callable[[str], list[str]]


def verdicts(run: Run) -> set[tuple[str, str, str]]:
    return {(one["id"], part, verdict) for one in run.results for part, verdict in one["parts"].items()}


ELSEWHERE = "the call crashed in another placement"


def bad(run: Run) -> set[tuple[str, str, str]]:
    return {one for one in verdicts(run) if one[2] not in ("ok", "missing", "unreached")}


def got(run: Run) -> list[str]:
    return [finding["got"] for one in run.results for finding in one["findings"]]


def test_noise_is_not_penalised(in_child: InChild, command: Command) -> None:
    run, session = in_child(shlex.split(command("Noisy")))
    assert run.exit_code == 0 and session.starts == 1 and len(run.results) == 3


def test_a_crash_is_put_on_the_call_that_caused_it(in_child: InChild, hostile: Hostile) -> None:
    run, session = in_child(hostile("Crashes"))
    assert bad(run) == {("sum/float32/ragged/1", "forward", "crashed")}
    assert run.exit_code == 1 and session.starts > 1
    finding = run.results[0]["findings"][0]
    assert finding["got"] == "SIGABRT: about to die"
    assert finding["placements"] == ["packed"]  # a crash is paid for once
    assert {one["got"] for one in run.results[0]["findings"][1:]} <= {ELSEWHERE}


@pytest.mark.parametrize(("name", "verdict"), [("CrashesBackwards", "crashed"), ("HangsBackwards", "hung")])
def test_a_loss_in_the_backward_pass_is_one_of_the_gradient(
    in_child: InChild, hostile: Hostile, name: str, verdict: str
) -> None:
    only = Selection(layouts=("jagged",), match="*/ragged/1")
    run, _ = in_child(hostile(name), timeout=0.5, selection=only)
    assert run.results[0]["parts"] == {"forward": "ok", "gradient": verdict}
    first = run.results[0]["findings"][0]
    assert (first["part"], first["verdict"], first["placements"]) == ("gradient", verdict, ["packed"])
    assert "print(gradients[0])" in first["snippet"] and run.exit_code == 1
    assert ("    process.start()" in first["snippet"]) is (verdict == "crashed")  # damaged memory ends it or not


def test_what_a_sanitizer_found_is_said(in_child: InChild, hostile: Hostile) -> None:
    run, _ = in_child(hostile("Found"), selection=ONE_CASE)
    assert [text for text in got(run) if text != ELSEWHERE] == ["exit code 1: SUMMARY: ASan: overflow sum.c:12 in sum"]


@pytest.mark.parametrize("words", ["", "free(): invalid pointer"])
def test_what_a_library_logs_is_not_what_a_process_died_of(words: str) -> None:
    logged = "W1122 13:43:00.648000 2531 torch/fx.py:56] is_fx_tracing will\n2026-11-22 13:43:00.6: I tensorflow/a.cc\n"
    code = f"import os, sys; sys.stderr.write({f'{words}{chr(10)}{logged}'!r}); sys.stderr.flush(); os.abort()"
    process = Process(lambda: Spawned([sys.executable, "-c", code], None))
    assert process.read(20) is None and process.gone()
    assert process.last_words() == f"SIGABRT: {words}".removesuffix(": ")


def test_a_process_that_dies_of_an_earlier_call_is_said_to(in_child: InChild, hostile: Hostile) -> None:
    run, _ = in_child(hostile("CrashesLater"))
    assert run.exit_code == 1
    lost = [one for result in run.results for one in result["findings"] if "alone in a fresh process" in one["got"]]
    assert lost and {(one["verdict"], one["kind"]) for one in lost} == {("crashed", "unsteady")}
    assert all(one["snippet"].endswith(f"\n# seen: {one['got']}") for one in lost)
    assert all("for number in range(21):" in one["snippet"] for one in lost)


def test_a_signal_without_a_name_is_a_crash_like_others(in_child: InChild, hostile: Hostile, lock: Path) -> None:
    run, _ = in_child(hostile("RealTimeSignal"), selection=ONE_CASE)
    assert bad(run) == {("sum/float32/ragged/2", "forward", "crashed")}
    assert [text for text in got(run) if text != ELSEWHERE] == [f"signal {signal.SIGRTMIN + 6}"] and is_gone(lock)


def test_a_call_that_hangs_is_paid_for_once(in_child: InChild, hostile: Hostile, lock: Path) -> None:
    """Its value is asked for alone, its other placements are not asked, and the calls after it are."""
    run, session = in_child(hostile("Hangs"), timeout=1)
    assert bad(run) == {("sum/float32/ragged/1", "forward", "hung")} and session.starts == 3
    hung, unasked = run.results[0]["findings"]
    assert (hung["got"], hung["placements"]) == ("no answer within 1 s", ["packed"])
    assert hung["snippet"].endswith("\n# no answer within 1 s")
    assert (unasked["verdict"], unasked["placements"]) == (
        "unasked",
        ["holes-nan", "holes-max", "transposed", "reversed"],
    )
    assert {one["parts"].get("forward", one["parts"].get("error")) for one in run.results[1:]} == {"missing"}
    assert is_gone(lock)


@pytest.mark.parametrize("name", ["Stopped", "ClosesOutput"])
def test_silence_of_any_kind_is_a_hang(in_child: InChild, hostile: Hostile, lock: Path, name: str) -> None:
    run, _ = in_child(hostile(name), timeout=0.3, selection=ONE_CASE)
    assert bad(run) == {("sum/float32/ragged/2", "forward", "hung")} and is_gone(lock)


def test_a_target_that_never_answers_is_given_up(in_child: InChild, hostile: Hostile, lock: Path) -> None:
    run, session = in_child(hostile("Silent"), timeout=0.05, selection=Selection())
    assert [one["parts"].get("forward") or one["parts"]["error"] for one in run.results] == ["hung"] * 5 + ["unasked"]
    assert session.starts == 7 and lock.read_text().count("start") == 7 and is_gone(lock)  # two ask for a gradient
    text = " ".join(Report(run).text().split())
    assert run.exit_code == 1 and "3 cases, 5 calls in" in text and "Silent differs in 5 of 5 checks" in text
    assert (
        "Not asked: 2 calls, the first of sum/float32/error/3, strided; given up, since 5 calls in a row hung" in text
    )


def test_a_target_without_a_single_reply_is_given_up(
    in_child: InChild, hostile: Hostile, lock: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pynested.conformance.child._LOST", 6)
    run, session = in_child(hostile("Garbage"))
    assert session.starts == 6 and lock.read_text().count("start") == 6
    assert [one["parts"].get("forward") or one["parts"]["error"] for one in run.results] == ["garbled"] * 2 + [
        "unasked"
    ]
    assert "given up, since 6 times in a row" in Report(run).text()


def test_an_adapter_that_cannot_be_started_again_ends_nothing(in_child: InChild, hostile: Hostile) -> None:
    run, _ = in_child(hostile("StartOnce"))
    first, *others = run.results
    assert first["parts"]["forward"] == "crashed" and "exit code 7" in got(run)
    assert {one["parts"].get("forward") or one["parts"]["error"] for one in others} == {"unasked"}
    assert got(run)[-1].endswith("did not start: exit code 1: only once") and run.exit_code == 1


def test_what_is_no_reply_ends_nothing(in_child: InChild, hostile: Hostile) -> None:
    """Every kind of it comes once, each to a process of its own."""
    everything = Selection()
    run, session = in_child(hostile("Everything"), selection=everything)
    assert {verdict for _, _, verdict in verdicts(run)} == {"garbled", "unreached"}
    assert session.starts == 25 and len(NO_REPLIES) > 24


@pytest.mark.parametrize("name", ["LineWithoutEnd", "Chatters", "StderrWithoutEnd"])
def test_output_without_end_is_cut(in_child: InChild, hostile: Hostile, lock: Path, name: str) -> None:
    run, _ = in_child(hostile(name), timeout=0.3 if name == "StderrWithoutEnd" else 60, selection=ONE_CASE)
    says = {
        "LineWithoutEnd": "wrote more than 8,388,608 bytes without the end of a line",
        "Chatters": "seq: expected",
        "StderrWithoutEnd": "no answer within 0.3 s",
    }
    assert says[name] in got(run)[0] and is_gone(lock)


@pytest.mark.parametrize("name", ["Holds", "GetsAway"])
def test_nobody_waits_for_processes_that_an_adapter_leaves(
    in_child: InChild, hostile: Hostile, lock: Path, name: str
) -> None:
    """They hold its pipes open."""
    run, _ = in_child(hostile(name), selection=ONE_CASE)
    assert run.exit_code == 0 and [one["parts"] for one in run.results] == [{"forward": "ok"}]
    assert is_gone(lock) or (name == "GetsAway" and sys.platform != "linux")
    lock.unlink()  # which ends a process that got away


def test_a_crash_is_seen_though_the_pipes_stay_open(
    hostile: Hostile, lock: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pynested.conformance.process._LINGER", 0.1)
    with Child(hostile("GetsAwayAndDies"), timeout=10) as session:
        (reply,) = session.answers([{"cmd": "run", "args": [], "kwargs": {}}])
        assert (reply.outcome, reply.text) == ("crashed", "exit code 7")
    assert is_gone(lock) or sys.platform != "linux"
    lock.unlink()  # which ends the processes that got away


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("StartAbsent", "there is no StartAbsent here"),
        ("StartDies", "exit code 1: cannot find my library"),
        ("StartDeep", "nested too deep"),
        ("StartWithoutEnd", "wrote more than 8,388,608 bytes"),
        ("StartSilent", "did not answer start within 0.3 s"),
    ],
)
def test_a_target_that_does_not_start_is_wrong_usage(hostile: Hostile, lock: Path, name: str, text: str) -> None:
    with pytest.raises(UsageError, match=text):
        Child(hostile(name), patience=0.3 if name == "StartSilent" else 20)
    assert is_gone(lock)


def test_a_program_that_does_not_exist_is_wrong_usage() -> None:
    with pytest.raises(UsageError, match="cannot start the adapter 'no-such-program'"):
        Child(["no-such-program"])


def test_an_error_of_the_kit_leaves_no_adapter(hostile: Hostile, lock: Path) -> None:
    with pytest.raises(ZeroDivisionError), Child(hostile("Right")) as session:
        next(session.answers([{"cmd": "run", "args": [], "kwargs": {}}]))
        1 / 0  # noqa: B018
    assert is_gone(lock) and "stop" not in lock.read_text()  # which would take its time


@pytest.mark.parametrize("name", ["Escapes", "Surrogate", "Exits"])
def test_a_terminal_is_not_commanded(in_child: InChild, hostile: Hostile, name: str) -> None:
    run, _ = in_child(hostile(name), selection=ONE_CASE)
    lines = Report(run).text(verbose=1).splitlines()
    assert all(map(str.isprintable, lines)) and "OK, all agree" not in {line.strip() for line in lines}
    strange = {"Escapes": r"\x1b[2JValueError: \x1b]0;owned\x07 \u202e gpj.exe\nOK", "Surrogate": r"half \ud800 a pair"}
    assert strange.get(name, r"exit code 1: \x1b[31mred\x1b[0m") in got(run)[0]
