"""Every public call passes by those who watch, whichever way it is written, and gives what it gives otherwise."""

from __future__ import annotations

import inspect
import operator
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested import exp as imported_long_ago
from pynested.autograd.arguments.shapes import canonical_dim
from pynested.surface.passing import FUNCTION, PUBLIC, STEP, Call, own_code, step, watching

X = pn.array([0.5])


class Seen(list[str]):
    """The names of what passed by; ``kinds`` are those it notes."""

    def __init__(self, *kinds: str, watched: bool = True) -> None:
        super().__init__()
        self.kinds, self.watched = kinds or (FUNCTION,), watched

    def __call__(self, call: Call) -> Any:
        if call.kind in self.kinds:
            self.append(call.name)
        return call.run(watched=self.watched)


def jagged() -> pn.NestedArray:
    return pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged)


WAYS: dict[str, Callable[[Any], Any]] = {
    "function": pn.exp, "imported long ago": imported_long_ago, "NumPy's": np.exp, "method": lambda x: x.exp(),
    "of the class": lambda x: type(x).exp(x), "called by name": operator.methodcaller("exp"),
    "in place": lambda x: x.exp_(),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_every_spelling_passes(way: Callable[[Any], Any]) -> None:
    for x in (jagged(), pn.array([1.0, 2.0])):
        plain = way(x.clone())
        copied = x.clone()
        with watching(seen := Seen()):
            watched = way(copied)
        assert seen[-1] == "exp" and len(seen) == 1 + (
            seen[0] == "detach"
        )  # in place, what is written is computed first
        assert pn.equal(watched, plain)


def test_what_a_function_calls_passes_too_unless_it_is_asked_not_to() -> None:
    x = pn.array([[1.0, 2.0]])
    with watching(deep := Seen()):
        pn.log_softmax(pn.deg2rad(x) + 1, 1)
        pn.allclose(x, x)
    with watching(outer := Seen(watched=False)):
        pn.log_softmax(pn.deg2rad(x) + 1, 1)
        pn.allclose(x, x)
    assert outer == ["deg2rad", "add", "log_softmax", "allclose"]
    assert deep[0] == "deg2rad" and set(outer) < set(deep) and deep.count("abs") > 1


def test_the_last_who_came_is_asked_first_and_their_own_calls_do_not_pass() -> None:
    order: list[str] = []

    def watcher(name: str) -> Callable[[Call], Any]:
        def watch(call: Call) -> Any:
            if call.kind != FUNCTION:
                return call.run()
            order.append(f"{name} {call.name}")
            pn.zeros(3).sum()
            made = call.run()
            order.append(f"{name} is done")
            return made

        return watch

    with watching(watcher("outer")), watching(watcher("inner")):
        pn.sin(X)
    assert order == ["inner sin", "outer sin", "outer is done", "inner is done"]


def test_a_watcher_may_exchange_arguments_and_the_result() -> None:
    def doubled(call: Call) -> Any:
        if call.name == "exp":
            call.args = (pn.array([0.0]),)
            return call.run() * 2
        return call.run()

    with watching(doubled):
        assert pn.exp(X).tolist() == [2.0]


def refusal(call: Callable[[], Any]) -> str:
    with pytest.raises((TypeError, ValueError, AttributeError)) as caught:
        call()
    return str(caught.value)


def test_errors_are_the_same_and_the_gates_go() -> None:
    codes = {name: one.__code__ for name, one in PUBLIC.items()}
    signatures = {name: inspect.signature(one) for name, one in PUBLIC.items()}
    wrong: list[Callable[[], Any]] = [lambda: pn.sum(), lambda: pn.exp(X, 3), lambda: X.view(7), lambda: X.missing]  # type: ignore[call-overload, call-arg]
    texts = [refusal(one) for one in wrong]
    with watching(Seen()):
        assert [refusal(one) for one in wrong] == texts
        assert {name: inspect.signature(one) for name, one in PUBLIC.items()} == signatures
    with pytest.raises(ZeroDivisionError), watching(Seen()):
        raise ZeroDivisionError
    assert {name: one.__code__ for name, one in PUBLIC.items()} == codes
    assert pn.Array.shape.fget(X) == (1,)  # type: ignore[attr-defined]


def test_other_threads_are_not_watched() -> None:
    found: list[Any] = []
    with watching(seen := Seen()):
        thread = threading.Thread(target=lambda: found.append(pn.exp(pn.array([0.0])).tolist()))
        thread.start()
        thread.join()
        pn.sin(X)
    assert found == [[1.0]] and seen == ["sin"]


def test_steps_pass_by_those_only_who_asked_for_them() -> None:
    asked, told = Seen(STEP), Seen(STEP, FUNCTION)
    steps = [step("place", canonical_dim)]
    with watching(asked, steps), watching(told):
        pn.sum(pn.array([[1.0, 2.0]]), -1)
    assert asked == ["place"] and told == ["array", "sum"]
    with watching(told := Seen(STEP)), watching(asked := Seen(STEP, FUNCTION), steps):
        pn.sum(X, 0)
    assert asked == ["sum", "place"] and told == []
    code = canonical_dim.__code__
    assert own_code(canonical_dim) is code and code.co_name == "canonical_dim" and "point" not in code.co_varnames
    with watching(Seen(STEP), steps):
        assert canonical_dim.__code__ is not code and own_code(canonical_dim) is code


def test_what_is_public_passes() -> None:
    assert len(PUBLIC) > 150
    for name, function in PUBLIC.items():
        plain = function.__code__
        with watching(Seen()):
            assert function.__code__ is not plain, name
            assert function.__code__.co_freevars == plain.co_freevars


@pytest.mark.parametrize("gated", [False, True])
def test_the_lines_of_what_is_written_for_a_function_end_where_its_code_ends(gated: bool) -> None:
    """Where a tracer looks at lines, Python 3.11 writes a number for each word of the table into memory of the code."""
    with watching(lambda call: call.run()) if gated else nullcontext():
        codes = [function.__code__ for function in PUBLIC.values()]
    assert codes
    for code in codes:
        spans = [(start, end) for start, end, _ in code.co_lines()]
        assert spans[0][0] == 0 and spans[-1][1] == len(code.co_code), code
        assert len([*code.co_positions()]) == len(code.co_code) // 2


def test_a_tracer_sees_a_timeline_a_graph_and_a_compiled_function() -> None:
    """Debuggers and what measures coverage are tracers; a crash would end the process, so it has one of its own."""
    program = (
        "import sys, pynested as pn\n"
        "sys.settrace(tracer := lambda frame, event, arg: tracer)\n"
        "x = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged)\n"
        "for _ in range(20):\n"
        "    with pn.timeline():\n"
        "        (x * 2 + 1).exp()\n"
        "    pn.trace(lambda x: (x * 2 + 1).exp().tanh(), x)\n"
        "    assert pn.equal(pn.compile(lambda x: x.exp() - x)(x), x.exp() - x)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
