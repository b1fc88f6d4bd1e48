"""A run that cannot be finished: what was found until then is shown and kept, and the exit code is that of the kit."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pynested.cli import main
from pynested.conformance import arranging, asking, runner
from pynested.conformance.adapters.base import PythonAdapter
from pynested.conformance.conform import BrokenOff, conform
from pynested.conformance.corpus import Selection, load_corpus
from pynested.conformance.judge import Finding, judge
from pynested.conformance.problems import KitError, UsageError
from pynested.conformance.records import Run, read
from pynested.conformance.session import Identity, InProcess, Session

Captured = pytest.CaptureFixture[str]


def failing(after: int) -> Callable[..., list[Finding]]:
    """A judge with an error of its own, after so many replies."""
    left = iter(range(after))

    def judge_or_fail(*given: Any) -> list[Finding]:
        if next(left, None) is None:
            raise ZeroDivisionError("a bug\nof the kit")
        return judge(*given)

    return judge_or_fail


def test_an_error_of_the_kit_leaves_what_was_found(
    vectors: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setattr(asking, "judged", failing(after=2))
    kept = tmp_path / "run.ndjson"
    assert main(["conform", "--vectors", str(vectors), "--json", str(kept)]) == 3
    shown = capsys.readouterr()
    assert "This run broke off: it has 2 of 6 results. The last is sum/float32/ragged/1, strided." in shown.out
    assert "agrees with the specification in all 4 checks until the run broke off." in shown.out
    last = "pynested conform: an error in the kit itself: ZeroDivisionError: a bug\\nof the kit"
    assert shown.err.startswith("Traceback") and shown.err.endswith(f"{last}; the run broke off after 2 results\n")
    assert [one["id"] for one in read(kept).results] == ["sum/float32/ragged/1"] * 2
    assert main(["report", str(kept)]) == 3
    assert capsys.readouterr().out == shown.out


@pytest.mark.parametrize("command", [["explain", "SUM-1"], ["report", "x"], ["conform"]])
def test_an_error_that_nobody_foresaw_is_3_and_a_sentence(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    def fail(*given: Any) -> Any:
        raise RecursionError("too deep")

    for name in ("explain", "read", "load_corpus"):
        monkeypatch.setattr(f"pynested.cli.{name}", fail)
    assert main(command) == 3
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("Traceback")
    assert said[-1] == f"pynested {command[0]}: an error in the kit itself: RecursionError: too deep"


def test_a_result_too_few_is_an_inconsistent_kit(
    vectors: Path, miniature: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pynested.conformance.conform.results", lambda *given: iter(()))
    with pytest.raises(BrokenOff) as broken:
        conform(load_corpus(vectors), Selection(), lambda: InProcess(PythonAdapter(miniature.Right())), None, None)
    assert isinstance(broken.value.__cause__, KitError) and broken.value.run.results == []


def test_nothing_is_started_before_the_plan_is_known_to_be_right(
    vectors: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never() -> Session:
        raise AssertionError("an adapter was started")

    monkeypatch.setattr(arranging, "placements_for", lambda case: ())
    with pytest.raises(KitError, match="can lie in none of its placements"):
        conform(load_corpus(vectors), Selection(), never, None, None)


def test_an_explanation_that_fails_does_not_cost_the_difference(
    run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: Any, **options: Any) -> str:
        raise IndexError("list index out of range")

    monkeypatch.setattr(runner, "snippet", fail)
    found = run("DropsRow")
    assert found.exit_code == 1
    texts = {finding["snippet"] for one in found.results for finding in one["findings"]}
    assert texts == {"# the kit cannot write this call down: IndexError: list index out of range"}


class Raises(PythonAdapter):
    """An adapter in this process that does not keep its word."""

    def run(self, message: Any) -> Any:
        raise ZeroDivisionError("in the adapter")


class GivesNothing(PythonAdapter):
    def run(self, message: Any) -> Any:
        return None


@pytest.mark.parametrize(
    ("kind", "verdict", "says"), [(Raises, "adapter", "in the adapter"), (GivesNothing, "garbled", "gave None")]
)
def test_an_adapter_in_this_process_cannot_end_a_run_either(
    vectors: Path, miniature: ModuleType, kind: type[PythonAdapter], verdict: str, says: str
) -> None:
    run = conform(load_corpus(vectors), Selection(), lambda: InProcess(kind(miniature.Right())), None, io.StringIO())
    assert {one["parts"].get("forward", one["parts"].get("error")) for one in run.results} == {verdict}
    assert all(says in finding["got"] for one in run.results for finding in one["findings"])


GOOD = {"protocol": 2, "name": "x", "version": "0"}


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (None, "expected a JSON object"),
        ({**GOOD, "protocol": 1}, "protocol: expected 2, got 1"),
        ({**GOOD, "protocol": True}, "protocol: expected an integer, got True"),
        ({**GOOD, "name": None}, "name: expected text, got None"),
        ({**GOOD, "version": 2.13}, "version: expected text, got 2.13"),
        ({**GOOD, "errors": "some"}, "errors: expected one of any, builtin, kind, none"),
        ({**GOOD, "capabilities": ["sum"]}, "capabilities: expected an object"),
        ({**GOOD, "capabilities": {"layouts": ["padded"]}}, r"capabilities.layouts\[0\]: expected one of"),
        ({**GOOD, "capabilities": {"layout": ["jagged"]}}, "capabilities: has no field .layout.; it has operators"),
        ({**GOOD, "device": 0}, "device: expected text"),
        ({"protocol": 2, "unavailable": None}, "unavailable: expected text"),
        ({"protocol": 2, "unavailable": "\x1b[2Jno"}, r"\\x1b\[2Jno"),
    ],
)
def test_an_adapter_that_does_not_say_who_it_is_is_wrong_usage(reply: Any, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        Identity.from_reply(reply)


def test_an_adapter_may_say_more_than_is_asked() -> None:
    more = {"protocol": 2, "name": "x\ud800", "version": "0", "homepage": ["..."], "errors": "builtin"}
    assert Identity.from_reply(more) == Identity(r"x\ud800", "0", errors="builtin")
