"""A run ends with its footer, whatever a target can do, wherever it differs and however it is lost."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pynested.cli import main
from pynested.conformance.adapters.base import PythonAdapter
from pynested.conformance.child import Child
from pynested.conformance.conform import conform
from pynested.conformance.corpus import Selection, load_corpus
from pynested.conformance.placements import LAYOUTS, PLACEMENTS
from pynested.conformance.records import Run, read
from pynested.conformance.session import InProcess

# What can be said of a target: nothing, one word of one list, or no gradients.
CAPABILITIES: list[dict[str, Any]] = [
    {},
    *({"placements": [one]} for one in PLACEMENTS),
    *({"layouts": [one], "placements": ["packed"]} for one in LAYOUTS),
    {"operators": []},
    {"dtypes": ["float64"]},
    {"gradients": False, "placements": ["packed"]},
]
WRONG = ("DropsRow", "AcceptsBad", "NoGradient", "RefusesGradient", "WrongKind", "Refuses", "BrokenAdapter")
CASES = ("*/ragged/1", "*/ragged/2", "*/error/*", "*")  # the last call is wrong, or the only one, or one before others


def starting(miniature: ModuleType, name: str, capabilities: dict[str, Any]) -> InProcess:
    """A session with a target that offers its dense operator too, so that two more questions follow a difference."""

    class Declares(PythonAdapter):
        def start(self, device: str) -> dict[str, Any]:
            return {**super().start(device), "dense": "the dense one", "capabilities": capabilities}

    target = getattr(miniature, name)
    return InProcess(Declares(target(), target()))


@pytest.mark.parametrize("capabilities", CAPABILITIES, ids=str)
@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_within_the_capabilities_is_found_by_a_whole_run(
    vectors: Path, miniature: ModuleType, name: str, capabilities: dict[str, Any]
) -> None:
    def held(match: str, capabilities: dict[str, Any]) -> Run:
        session = starting(miniature, name, capabilities)
        return conform(load_corpus(vectors), Selection(match=match), lambda: session, None, io.StringIO())

    for match in CASES:
        run = held(match, capabilities)
        assert run.footer is not None and len(run.results) == run.header["results"]
        # What is found in a placement does not depend on which others are declared.
        if set(capabilities) == {"placements"}:
            allowed = set(capabilities["placements"])
            assert _wrong_in(run, allowed) == _wrong_in(held(match, {}), allowed)


def _wrong_in(run: Run, placements: set[str]) -> set[tuple[str, ...]]:
    return {
        (one["id"], one["layout"], finding["part"], finding["verdict"], placement)
        for one in run.results
        for finding in one["findings"]
        for placement in finding["placements"]
        if placement in placements and finding["verdict"] != "missing"
    }


@pytest.mark.parametrize("processes", ["1", "2"])
def test_an_adapter_of_one_placement_is_wrong_in_its_last_call(
    command: Callable[[str], str], tmp_path: Path, processes: str
) -> None:
    kept = tmp_path / "run.jsonl"
    chosen = ["--op", "sum", "--op", "mean", "--match", "*/float32/vectors/1", "--layout", "jagged"]
    adapter = ["--adapter", command("PackedAndWrong"), "--processes", processes]
    assert main(["conform", *adapter, *chosen, "--json", str(kept)]) == 1
    run = read(kept)
    assert run.footer is not None and {one["op"] for one in run.results} == {"sum", "mean"}
    assert {one["parts"]["forward"] for one in run.results} == {"refused"}


@pytest.mark.parametrize("name", ["Silent", "StartOnce", "Garbage"])
def test_what_is_given_up_stays_so(
    hostile: Callable[[str], list[str]], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The runner goes on with the next operator, or asks once more, after nothing more is asked."""
    monkeypatch.setattr("pynested.conformance.child._LOST", 12)
    requests = [{"cmd": "run", "args": [number, "7f800000"], "kwargs": {}} for number in range(20)]
    with Child(hostile(name), timeout=0.05) as session:
        first = [one.outcome for one in session.answers(iter(requests))]
        assert len(first) == 20 and first[-1] == "unasked"
        assert [one.outcome for one in session.answers(iter(requests[:3]))] == ["unasked"] * 3
