"""A compiled function gives what the function gives, bit for bit, forwards and backwards, and makes few graphs."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError, StructureError, TraceError
from pynested.backends.memory import counters

from .arrays import assert_same, jagged
from .functions import FUNCTIONS, Layer


@pytest.mark.shows("COMPILE-1", "COMPILE-2", "COMPILE-3")
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_it_gives_what_the_function_gives_and_no_structure_asks_for_another_graph(function: Callable[..., Any]) -> None:
    compiled = pn.compile(function)
    for x in (jagged(2, 3, 1), jagged(4, 1, 2), jagged(1, 7, 3), jagged(5, 1, 0), jagged(4, 1, 2)):
        assert_same(compiled(x), function(x))
    assert [graph.calls for graph in compiled.graphs] == [5]
    if function not in (FUNCTIONS["facts"], FUNCTIONS["written"]):
        x = jagged(1, 2, 3).requires_grad_()
        assert_same(compiled(x), function(x))


@pytest.mark.shows("COMPILE-2")
def test_a_graph_for_each_signature() -> None:
    compiled = pn.compile(function := lambda x, scale=1.0, **named: {"y": (x * scale + 1) * 2} | named)
    x = jagged(2, 3)
    calls: list[Any] = [
        ((x,), {}), ((x, 2.0), {}), ((x, 2), {}), ((x, 0.0), {}), ((x, -0.0), {}), ((x,), {"scale": 2.0}),
        ((x.to(pn.float32),), {}), ((x.values(),), {}), ((x,), {"z": (x, "text")}),
    ]  # fmt: skip
    with pytest.warns(UserWarning, match="9 graphs were made"):
        for args, kwargs in calls:
            assert_same(compiled(*args, **kwargs), function(*args, **kwargs))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for args, kwargs in calls:
            assert_same(compiled(*args, **kwargs), function(*args, **kwargs))
        with pn.no_grad():
            compiled(x)
    assert len(compiled.graphs) == 10
    assert [compiled.graphs[0].why, compiled.graphs[-1].why] == [
        "jagged of 3 dimensions, the ragged one 1, float64 on cpu",
        "jagged of 3 dimensions, the ragged one 1, float64 on cpu; gradients off",
    ]


def test_a_branch_on_a_size_has_a_graph_for_each_answer() -> None:
    compiled = pn.compile(function := lambda x: x * 2 + 1 if x.shape[0] > 2 else x * 3 - 1)
    for lengths in ((1, 2), (1, 2, 3), (4,), (4, 5, 6, 7)):
        x = jagged(*lengths)
        assert_same(compiled(x), function(x))
    assert [graph.calls for graph in compiled.graphs] == [2, 2]
    assert "another answer to what the function asks of sizes" in compiled.explain()


def test_errors_that_the_function_handles_are_told() -> None:
    def function(x: Any, y: Any) -> Any:
        try:
            return (x + y) * 2
        except StructureError:
            return x * 3

    compiled = pn.compile(function)
    says = {
        (1, 2): "used 1 times",
        (2, 1): "    raised once StructureError: add: the operands differ at component 0: lengths 1 and 2 along",
        (1, 3): "    raised 2 times, at last StructureError: add: the operands differ at component 1: lengths 2 and 3",
    }
    for lengths, words in says.items():
        x, y = jagged(1, 2), jagged(*lengths)
        assert_same(compiled(x, y), function(x, y))
        assert words in compiled.explain() and ("raised" in compiled.explain()) == ("raised" in words)
    assert [graph.calls for graph in compiled.graphs] == [1]


def test_an_error_is_that_of_the_function_alone() -> None:
    compiled = pn.compile(lambda x, y: (x + y) * 2)
    compiled(jagged(1, 2), jagged(1, 2))
    for _ in range(2):
        with pytest.raises(StructureError) as caught:
            compiled(jagged(1, 2), jagged(2, 1))
        assert caught.value.__context__ is None and caught.value.__cause__ is None
    assert "raised" not in compiled.explain()


def test_a_branch_after_a_write_is_not_compiled() -> None:
    def function(x: Any) -> Any:
        x.add_(1)
        rows = x.values()[1:].shape[0]
        return x * 2 if rows > 3 else x * 3

    compiled = pn.compile(function)
    for lengths in ((1, 2), (4, 5), (1, 2)):
        x = jagged(*lengths)
        again = x.clone()
        assert_same((compiled(x), x), (function(again), again))
    assert compiled.graphs == [] and "test_compiling.py" in compiled.explain()


def test_variables_are_read_anew() -> None:
    held, layer, scale = {"w": pn.array(2.0), "p": 1.0}, Layer(), 3.0

    def function(x: Any) -> Any:
        return layer(x) * held["w"] * scale + held["p"]

    compiled, x = pn.compile(function), jagged(2, 3)
    assert_same(compiled(x), function(x))
    scale, held["p"] = 4.0, 5.0
    assert_same(compiled(x), function(x))
    layer.weight, held["w"] = layer.weight * 2, pn.array(3.0, requires_grad=True)
    assert_same(compiled(x), function(x))
    assert_same(pn.grad(compiled(x).sum(), held["w"]), pn.grad(function(x).sum(), held["w"]))


class Model:
    """What has a compiled method."""

    def __init__(self) -> None:
        self.weight, self.doubled = pn.array([1.0, -2.0]), False

    @pn.compile
    def forward(self, x: Any) -> Any:
        return ((x * self.weight).sin() + LATER) * (2 if self.doubled else 1)


LATER = 1.0


def test_a_method_reads_the_attributes_of_its_object_anew() -> None:
    global LATER
    one, two, x = Model(), Model(), jagged(2, 3)
    two.weight, two.doubled = pn.array([3.0, 4.0]), True
    for model in (one, two, one):
        expected = (x * model.weight).sin() + 1.0
        assert_same(model.forward(x), expected * (2 if model.doubled else 1))
    one.doubled, one.weight, LATER = True, pn.array([5.0, 6.0]), 2.0
    assert_same(one.forward(x), ((x * one.weight).sin() + 2.0) * 2)
    LATER = 1.0


def test_a_variable_that_begins_to_want_a_gradient_has_a_graph_of_its_own() -> None:
    held = {"w": pn.array(2.0)}

    def function(x: Any) -> Any:
        inner = x * held["w"]
        return inner, (inner * 3).sin()

    compiled, x = pn.compile(function), jagged(2, 3)
    assert_same(compiled(x), function(x))
    held["w"] = pn.array(2.0, requires_grad=True)
    slopes = [pn.grad(outer.sum(), inner) for inner, outer in (compiled(x), function(x))]
    assert_same(*slopes)
    assert len(compiled.graphs) == 2


def test_what_is_not_there_any_more_asks_for_another_graph() -> None:
    held = {"w": pn.array(2.0), "p": 1.0, "n": 0}
    compiled, x = pn.compile(lambda x: x * held["w"] + held["p"] if "w" in held else x), jagged(2)
    assert_same(compiled(x), x * 2.0 + 1.0)
    del held["p"], held["w"]
    assert_same(compiled(x), x)


def test_an_error_that_the_function_catches_is_caught() -> None:
    def function(x: Any, y: Any) -> Any:
        try:
            return (x + y) * 2
        except pn.errors.StructureError:
            return x

    compiled, x = pn.compile(function), jagged(2, 3)
    assert_same(compiled(x, x), x * 4)
    assert_same(compiled(x, jagged(3, 2)), x)


def test_a_question_that_a_graph_answers_otherwise_leaves_the_function_as_it_is() -> None:
    compiled = pn.compile(lambda x: x * 2 + 1 if x.is_leaf else x)
    made = jagged(2, 3).requires_grad_() * 2
    assert_same(compiled(made), made)
    assert compiled.graphs == [] and "another answer in a graph" in compiled.explain()


def test_an_error_of_arithmetic_comes_after_what_was_written_before() -> None:
    def function(x: Any, y: Any) -> Any:
        x.add_(1)
        return x * (6 // y.values().shape[0])

    compiled, y = pn.compile(function), jagged(2, 1)
    assert_same(compiled(x := jagged(1), y), x * 2)
    x = pn.nested_array([[[0.0, 0.0]]], layout=pn.jagged)
    with pytest.raises(ZeroDivisionError):
        compiled(x, jagged(0, 0))
    assert x.values().tolist() == [[1.0, 1.0]]


def test_refusals_are_those_of_a_trace_and_a_compiled_function_can_be_recorded() -> None:
    with pytest.raises(TraceError, match="a branch on data"):
        pn.compile(lambda x: x if x.sum() > 0 else -x)(jagged(2))
    with pytest.raises(ArgumentError, match="pn.compile"):
        pn.compile(3)  # type: ignore[arg-type]
    inner = pn.compile(lambda x: (x + 1) * 2)
    outer, x = pn.compile(lambda x: inner(x).sin()), jagged(2, 3)
    assert_same(outer(x), ((x + 1) * 2).sin())
    assert (
        "chain of add, mul, sin" in outer.explain() and pn.compile(inner).explain() == "no graph yet: call the function"
    )
    with pn.anomaly():
        assert_same(outer(x), ((x + 1) * 2).sin())


def test_devices_run_their_own_kernels() -> None:
    x = jagged(2, 3).to("emulated")
    compiled = pn.compile(lambda x: (x + 1) * 2)
    assert_same(compiled(x).to("cpu"), (x.to("cpu") + 1) * 2)
    assert compiled.graphs[0].notes == ["chains: 2 operators in 1"]
    assert "chain of add, mul(x)  # (2, j1, 2) float64 jagged on emulated" in compiled.explain()


def test_random_numbers_are_drawn_as_otherwise() -> None:
    compiled, x = pn.compile(function := lambda x: pn.dropout(x * 2 + 1, 0.5) * 3 - 1), jagged(4, 4)
    pn.manual_seed(1)
    found = [compiled(x), compiled(x)]
    pn.manual_seed(1)
    assert_same(found, [function(x), function(x)])


def test_numbers_are_not_mixed_up_with_those_that_equal_them() -> None:
    x = pn.array(np.array([1.0, -1.0]))
    for scale in (0.0, -0.0, 1, True, 1.0):
        compiled = pn.compile(lambda x, scale=scale: x * scale + -0.0 if scale is not True else x)
        assert_same(compiled(x), x * scale + -0.0 if scale is not True else x)


def test_memory_is_used_again_as_soon_as_nothing_reads_it() -> None:
    x = pn.nested_array_from_jagged(pn.randn(4000, 100, dtype=pn.float64), pn.array([0, 1500, 4000]))

    def function(x: Any) -> Any:
        a = pn.softmax(x, 2)
        b = pn.softmax(a, 2)
        c = pn.softmax(b, 2)
        return pn.softmax(c, 2)

    compiled = pn.compile(function)
    compiled(x)  # this one records
    peaks = []
    for call in (function, compiled):
        before = counters.peak = counters.in_use
        y = call(x)
        peaks.append((counters.peak - before) / (counters.in_use - before))
        del y
    assert peaks == [4, 2]  # arrays as large as the result: all of them, and one beside that which is made of it
