"""An adapter in a child process may print, die, hang or write garbage; the run goes on and says which call it was."""

from __future__ import annotations

import io
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from pynested.conformance.child import Child
from pynested.conformance.conform import conform
from pynested.conformance.corpus import Selection, load_corpus
from pynested.conformance.problems import UsageError
from pynested.conformance.records import Run

Command = Callable[[str], str]
JAGGED = Selection(layouts=("jagged",))
ONE_CASE = Selection(layouts=("jagged",), match="*/ragged/2")


@pytest.fixture
def in_child(vectors: Path, command: Command) -> Callable[..., tuple[Run, Child]]:
    def run(name: str, timeout: float = 20.0, selection: Selection = JAGGED) -> tuple[Run, Child]:
        session = Child(shlex.split(command(name)), timeout=timeout)
        try:
            return conform(load_corpus(vectors), selection, session, None, io.StringIO()), session
        finally:
            session.close()

    return run


InChild = Callable[..., tuple[Run, Child]]


def verdicts(run: Run) -> set[tuple[str, str, str]]:
    return {(one["id"], part, verdict) for one in run.results for part, verdict in one["parts"].items()}


def bad(run: Run) -> set[tuple[str, str, str]]:
    return {one for one in verdicts(run) if one[2] not in ("ok", "unreached")}


def test_noise_is_not_penalised(in_child: InChild) -> None:
    run, session = in_child("Noisy")
    assert run.exit_code == 0 and session.restarts == 0 and len(run.results) == 3


def test_a_crash_is_put_on_the_call_that_caused_it(in_child: InChild) -> None:
    run, session = in_child("Crashes")
    assert bad(run) == {("sum/float32/ragged/1", "forward", "crashed")}
    assert run.exit_code == 1 and session.restarts > 0
    finding = run.results[0]["findings"][0]
    assert "SIGABRT" in finding["got"] and "about to die" in finding["got"]
    assert finding["placements"] == ["packed", "holes-nan", "holes-max", "transposed"]


def test_what_a_sanitizer_found_is_said(in_child: InChild) -> None:
    run, _ = in_child("Found", selection=ONE_CASE)
    assert run.results[0]["findings"][0]["got"] == "exit code 1: SUMMARY: ASan: overflow sum.c:12 in sum"


def test_a_call_that_hangs_is_given_up(in_child: InChild) -> None:
    run, _ = in_child("Hangs", timeout=0.3)
    assert bad(run) == {("sum/float32/ragged/1", "forward", "hung")}
    assert "no answer within 0.3 s" in run.results[0]["findings"][0]["got"]


def test_a_process_that_dies_of_an_earlier_call_is_said_to(in_child: InChild) -> None:
    run, _ = in_child("CrashesLater")
    texts = {finding["got"] for one in run.results for finding in one["findings"]}
    assert run.exit_code == 1
    assert any("alone in a fresh process it is answered" in text for text in texts)


@pytest.mark.parametrize("name", ["Garbage", "WrongSeq"])
def test_what_is_not_a_reply_is_reported_as_that(in_child: InChild, name: str) -> None:
    run, _ = in_child(name, selection=ONE_CASE)
    assert {verdict for _, _, verdict in verdicts(run)} == {"garbled"}
    assert "which is not a reply" in run.results[0]["findings"][0]["got"]


@pytest.mark.parametrize(
    ("name", "text"),
    [("Absent", "there is no Absent here"), ("DiesAtStart", "cannot find my library")],
)
def test_a_target_that_does_not_start_is_wrong_usage(command: Command, name: str, text: str) -> None:
    with pytest.raises(UsageError, match=text):
        Child(shlex.split(command(name)))


def test_a_program_that_does_not_exist_is_wrong_usage() -> None:
    with pytest.raises(UsageError, match="cannot start the adapter 'no-such-program'"):
        Child(["no-such-program"])
