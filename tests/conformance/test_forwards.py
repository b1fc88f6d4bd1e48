"""Forward mode in programs: asked by making the calls again, missing where a target has none, and shown as code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pynested.conformance.adapters.base import PythonAdapter
from pynested.conformance.adapters.pynested_adapter import PynestedTarget
from pynested.conformance.adapters.values import Place
from pynested.conformance.corpus import Program, program_of
from pynested.conformance.messages import run
from pynested.conformance.program_snippets import program_snippet
from pynested.spec.components import Components
from pynested.spec.corpus import load_programs
from pynested.spec.encoding import decode_value


@pytest.fixture(scope="module")
def forwards() -> list[Program]:
    """The programs that ask for it."""
    cases = [program_of("tape", one) for one in load_programs()["tape"]]
    return [case for case in cases if any(step["op"] == "jvp" for step in case.steps)]


class WithoutForwardMode(PynestedTarget):
    """pynested, but it has none."""

    def push(self, call: Any, array: Any, tangent: Any) -> Any:
        return super(PynestedTarget, self).push(call, array, tangent)


def test_a_target_without_it_cannot_and_is_not_blamed(forwards: list[Program]) -> None:
    for target, outcome in ((PynestedTarget(), "answers"), (WithoutForwardMode(), "missing")):
        replies = [PythonAdapter(target).run(run(case, "jagged", "packed", [])) for case in forwards]
        assert [outcome in reply for reply in replies] == [True] * len(forwards)
    assert len(forwards) > 4 and "no forward mode" in replies[0]["missing"]


def test_it_is_asked_of_the_calls_that_were_made_and_of_nothing_else() -> None:
    target = PynestedTarget()
    x, v = (Components([np.float64(one) for one in given]) for given in ([[1, 2], [3]], [[5, 7], [11]]))
    built = target.program("jagged", {"x": (x, Place("jagged", "packed")), "v": (v, Place("jagged", "packed"))}, ["x"])

    def step(op: str, *names: str, out: Any = None) -> None:
        built.step({"op": op, "args": [{"name": name} for name in names]} | ({"out": out} if out else {}))

    step("mul", "x", "x", out="y")
    step("unbind", "y", out=["a", "b"])
    step("backward", "y", "v")
    step("jvp", "a", "x", "v", out="t")
    step("jvp", "y", "x", "v", out="u")
    assert built.names["t"].tolist() == [2 * 1 * 5, 2 * 2 * 7]
    assert [one.tolist() for one in built.names["u"]] == [[10, 28], [2 * 3 * 11]]
    assert [one.tolist() for one in built.names["x"].grad] == [[10, 28], [66]]  # of the pass, and of it alone


def test_a_list_of_one_name_is_for_a_list_of_one_result() -> None:
    target = PynestedTarget()
    built = target.program("jagged", {"x": (Components([np.float64([1, 2])]), Place("jagged", "packed"))}, [])
    built.step({"op": "unbind", "args": [{"name": "x"}], "out": ["a"]})
    assert built.names["a"].tolist() == [1, 2]


@pytest.mark.parametrize("layout", ["jagged", "strided"])
def test_its_code_gives_what_is_due(layout: str, forwards: list[Program]) -> None:
    for case in forwards:
        names: dict[str, Any] = {}
        exec(program_snippet(case, layout, "holes-nan", "pynested", len(case.steps) - 1), names)
        (name, due), *_ = [(step["args"][0]["name"], step["expect"]) for step in case.steps if step["op"] == "value"]
        ((form, fields),) = due.items()
        found = names[name].unbind() if form == "nested" else [names[name]]
        bits = fields["bits"] if form == "nested" else [fields["bits"]]
        shapes = fields["shapes"] if form == "nested" else [fields["shape"]]
        for one, words, shape in zip(found, bits, shapes, strict=True):
            plain = words.replace("z", "0")
            due_numbers = decode_value({"dense": {"dtype": "float32", "shape": shape, "bits": plain}})
            assert np.array_equal(one.detach().numpy(), due_numbers)
