"""An operand is built anew for each call, and a call is made only if the adapter holds the operands that were sent."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from pynested.conformance.adapters import TARGETS, open_session
from pynested.conformance.adapters.base import CANNOT_HOLD, PythonAdapter
from pynested.conformance.adapters.values import is_read_as
from pynested.conformance.conform import conform
from pynested.conformance.corpus import Selection, load_corpus
from pynested.conformance.programs import judged
from pynested.conformance.records import Run
from pynested.conformance.report import Report
from pynested.conformance.runner import plan
from pynested.conformance.session import InProcess
from pynested.spec.components import Components

# Calls with gradients whose first operand is dense, or nested, or a list, in all dtypes of floats.
OPERATORS = ("add", "embedding", "stack", "sum", "where")


@pytest.mark.parametrize("target", TARGETS)
def test_no_answer_depends_on_the_calls_before_it(target: str) -> None:
    if target in ("torch", "awkward", "tensorflow") and find_spec(target) is None:
        pytest.skip(f"{target} is not installed here")
    corpus = load_corpus()
    jobs = plan(corpus, Selection(ops=OPERATORS, layouts=("jagged",), match="*/float32/*[a-z]/1"))
    with open_session(target) as session:

        def answered(chosen: list[Any]) -> list[Any]:
            replies = session.answers([job.request(job.placements[0]) for job in chosen])
            found = [judged(job.case, job.layout, reply) for job, reply in zip(chosen, replies, strict=True)]
            # Messages of PyTorch number the structures of the process: j16.
            return [[(one.part, one.verdict, re.sub(r"\bj\d+", "j", one.got)) for one in each] for each in found]

        first, backwards = answered(jobs), answered(jobs[::-1])[::-1]
    assert len(jobs) > 50 and any(len(findings) > 1 for findings in first)
    assert first == backwards


def held(miniature: ModuleType, vectors: Path, name: str = "CannotHold") -> Run:
    """The run of an adapter that holds no empty components, over a target that sums wrongly."""
    session = InProcess(PythonAdapter(getattr(miniature, name)()))
    return conform(load_corpus(vectors), Selection(), lambda: session, None, io.StringIO())


@pytest.mark.parametrize("name", ["CannotHold", "CannotRead"])
def test_what_an_adapter_cannot_hold_is_not_held_against_the_target(
    miniature: ModuleType, vectors: Path, name: str
) -> None:
    run = held(miniature, vectors, name)
    parts = {(one["id"], part): verdict for one in run.results for part, verdict in one["parts"].items()}
    assert parts["sum/float32/ragged/1", "forward"] == "unasked"  # which has an empty component
    assert parts["sum/float32/ragged/1", "gradient"] == "unreached"
    assert parts["sum/float32/ragged/2", "forward"] == "value"
    assert f"the first of sum/float32/ragged/1, jagged; {CANNOT_HOLD}" in " ".join(Report(run).text().split())


def test_a_refusal_is_not_credited_to_what_was_never_called(
    miniature: ModuleType, rewrite: Callable[..., Path]
) -> None:
    """The call beside it was made, so that the target has the operator; the bad one has an operand that is not held."""

    def empty(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [*cases[:2], {**cases[2], "args": [cases[0]["args"][0], *cases[2]["args"][1:]]}]

    run = held(miniature, rewrite(empty))
    assert {one["parts"]["error"] for one in run.results if "error" in one["parts"]} == {"unasked"}


ROWS = Components([np.float32([[1, 2]]), np.zeros((0, 2), np.float32)])


@pytest.mark.parametrize(
    ("found", "value", "equal"),
    [
        (ROWS, ROWS, True),
        (np.float32([[1, 2]]), Components([np.float32([1, 2])]), True),  # a dense one of the same components
        (Components(ROWS[::-1]), ROWS, False),
        (Components([ROWS[0], np.zeros((0, 3), np.float32)]), ROWS, False),
        (Components([one.astype("f8") for one in ROWS]), ROWS, False),
        (Components([], (0, 2, 3, None), "f4"), Components([], (0, 2, 3, None), "f4"), True),
        (Components([], (0, 2, None, None), "f4"), Components([], (0, 2, 3, None), "f4"), True),  # it may be 3
        (Components([], (0, 2, 0, None), "f4"), Components([], (0, 2, 3, None), "f4"), False),
        (Components([], (0, 2), "f4"), Components([], (0, 2, None), "f4"), False),
        (np.array(1, "f4"), np.array(1, "f4"), True),
        (np.array(1, "f4"), np.array(2, "f4"), False),
        (np.float32([np.nan]), np.float32([np.nan]), True),
        (np.float32([1]), np.float32([2]), False),
        ("text", ROWS, False),
    ],
)
def test_what_is_read_of_an_operand_is_its_value_or_not(found: Any, value: Any, equal: bool) -> None:
    assert is_read_as(found, value) is equal
