"""A run that forks of this process share is the run of one process: the same records, errors and last words."""

from __future__ import annotations

import io
import multiprocessing
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from pynested.cli import main
from pynested.conformance import forks
from pynested.conformance.adapters.base import PythonAdapter
from pynested.conformance.adapters.pynested_adapter import PynestedTarget
from pynested.conformance.child import Child
from pynested.conformance.conform import BrokenOff, conform
from pynested.conformance.corpus import Corpus, Selection
from pynested.conformance.problems import KitError, UsageError
from pynested.conformance.records import Run
from pynested.conformance.runner import plan
from pynested.conformance.session import InProcess

from .conftest import is_gone

pytestmark = pytest.mark.skipif(not forks.POSSIBLE, reason="a process cannot be forked here")

Change = Callable[[str, Any], Any]
OPS = "relu", "neg", "sum", "softmax"


class Changed(PynestedTarget):
    """pynested, but for what ``change(op, result)`` makes of a result."""

    def __init__(self, change: Change) -> None:
        super().__init__()
        self._change = change

    def call(self, op: str, layout: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        return self._change(op, super().call(op, layout, args, kwargs))


def run(corpus: Corpus, change: Change, number: int) -> Run:
    chosen = Selection(ops=OPS, quick=True)
    return conform(corpus, chosen, lambda: InProcess(PythonAdapter(Changed(change))), None, io.StringIO(), number)


@pytest.mark.parametrize("number", [2, 3, 9])
def test_the_records_are_those_of_one_process(some_operators: Corpus, number: int) -> None:
    def doubled(op: str, result: Any) -> Any:
        return result * 2 if op in ("neg", "sum") else result

    alone, together = run(some_operators, doubled, 1), run(some_operators, doubled, number)
    assert together.results == alone.results and together.header == alone.header
    assert {one["op"] for one in together.results} == set(OPS)
    assert alone.exit_code == together.exit_code == 1


def test_an_error_of_the_kit_comes_in_its_turn(some_operators: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    def explained(case: Any) -> Any:
        raise ZeroDivisionError("a bug of the kit")

    monkeypatch.setattr("pynested.conformance.runner.kind_of", lambda *given: explained(given))
    runs = []
    for number in (1, 2):
        with pytest.raises(BrokenOff) as broken:
            run(some_operators, lambda op, result: result * 2 if op == "sum" else result, number)
        runs.append(broken.value.run.results)
    assert runs[0] == runs[1] and runs[0]
    cause = broken.value.__cause__
    assert isinstance(cause, ZeroDivisionError) and "in explained" in cause.__notes__[0]


def test_a_fork_that_is_lost_is_named_by_what_it_was_asked(some_operators: Corpus) -> None:
    def die(op: str, result: Any) -> Any:
        if op == "neg":
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    with pytest.raises(BrokenOff) as broken:
        run(some_operators, die, 2)
    assert isinstance(broken.value.__cause__, KitError)
    assert "a process that asked about neg was ended by SIGKILL; ask it alone: --op neg" in str(broken.value.__cause__)


def test_no_fork_is_left_when_nobody_asks_for_the_rest(some_operators: Corpus) -> None:
    def nobody_calls(op: str, result: Any) -> Any:
        assert os.getpid() != here
        return result

    here = os.getpid()
    jobs = plan(some_operators, Selection(ops=OPS, quick=True))
    records = forks.shared(jobs, lambda: InProcess(PythonAdapter(Changed(nobody_calls))), some_operators, 2)
    assert next(records)["parts"]["forward"] == "ok"
    before = multiprocessing.active_children()
    records.close()
    assert before and not any(one.is_alive() for one in before)


def test_what_a_fork_has_started_ends_with_it(
    some_operators: Corpus, hostile: Callable[[str], list[str]], lock: Path
) -> None:
    jobs = plan(some_operators, Selection(ops=OPS, quick=True))
    records = forks.shared(jobs, lambda: Child(hostile("Right")), some_operators, 2)
    next(records)
    records.close()
    assert is_gone(lock)


def test_an_adapter_that_starts_once_only_is_told(some_operators: Corpus) -> None:
    """Each fork starts its own: one that cannot is an error of the run."""

    def start() -> Any:
        raise UsageError("the adapter did not start")

    jobs = plan(some_operators, Selection(ops=OPS, quick=True))
    with pytest.raises(UsageError, match="did not start"):
        list(forks.shared(jobs, start, some_operators, 2))


@pytest.mark.parametrize(
    ("options", "says"),
    [(["--trace", "t", "--processes", "2"], "--processes 1"), (["--processes", "0"], "give 1 or more")],
)
def test_what_is_no_number_of_processes(options: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conform", "--op", "relu", *options]) == 2
    assert says in capsys.readouterr().err
