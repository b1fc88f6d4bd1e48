"""A compiled function returns what the function returns, bit for bit, with its gradients, and makes few graphs."""

from __future__ import annotations

import copy
import gc
import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.caching_allocator import counters
from pynested.backends.errors import ArgumentError, StructureError, TraceError

from ..crowd import together
from .arrays import assert_same, jagged
from .functions import FUNCTIONS, UNTRACKED


@pytest.mark.shows("COMPILE-1", "COMPILE-2", "COMPILE-3")
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_results_are_those_of_the_function_and_one_graph_serves_all_structures(function: Any) -> None:
    compiled = pn.compile(function)
    for x in (jagged(2, 3, 1), jagged(4, 1, 2), jagged(1, 7, 3), jagged(5, 1, 0), jagged(4, 1, 2)):
        assert_same(compiled(x), function(x))
    assert [graph.calls for graph in compiled.graphs] == [5]
    if function not in UNTRACKED:
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
    for args, kwargs in calls:
        assert_same(compiled(*args, **kwargs), function(*args, **kwargs))
    with pn.no_grad():
        compiled(x)
    assert len(compiled.graphs) == 10
    assert compiled.graphs[1].reason == "(2, j1, 2) float64 jagged, 2.0"
    assert compiled.graphs[-1].reason == "(2, j1, 2) float64 jagged, gradients off"


def test_a_branch_on_a_size_has_a_graph_for_each_answer() -> None:
    compiled = pn.compile(function := lambda x: x * 2 + 1 if x.shape[0] > 2 else x * 3 - 1)
    for lengths in ((1, 2), (1, 2, 3), (4,), (4, 5, 6, 7)):
        x = jagged(*lengths)
        assert_same(compiled(x), function(x))
    assert [graph.calls for graph in compiled.graphs] == [2, 2]
    assert "other sizes, on which the function branches" in compiled.explain()


def test_a_gradient_of_an_argument_can_be_missing() -> None:
    compiled, x = pn.compile(function := lambda x: x * 2 if x.grad is None else x * 3 + x.grad), jagged(1, 2)
    x.requires_grad_()
    for gradient in (None, x.detach() + 1, None, x.detach() * 5):
        x.grad = gradient
        assert_same(compiled(x), function(x))
    assert [graph.calls for graph in compiled.graphs] == [2, 2]


CAUGHT = {"a number": lambda x: float(x.sum()), "NumPy": lambda x: x.numpy(), "a size": lambda x: 1 / (x.shape[0] - 1)}


@pytest.mark.parametrize("fullgraph", [False, True])
@pytest.mark.parametrize("read", CAUGHT.values(), ids=CAUGHT)
def test_errors_that_the_function_catches_are_raised(read: Any, fullgraph: bool) -> None:
    def function(x: Any) -> Any:
        try:
            scale = read(x)
        except Exception:
            scale = 0.0
        return x * scale

    for compute in pn.compile(function, fullgraph=fullgraph), partial(pn.trace, function):
        with pytest.raises(TraceError, match="cannot be recorded"):
            compute(pn.array([3.0]))


def test_an_error_is_that_of_the_function_which_may_handle_it() -> None:
    def handling(x: Any, y: Any) -> Any:
        try:
            return (x + y) * 2
        except StructureError:
            return x

    compiled, plain, x = pn.compile(handling), pn.compile(lambda x, y: (x + y) * 2), jagged(2, 3)
    assert_same([compiled(x, x), plain(x, x), compiled(x, jagged(3, 2))], [x * 4, x * 4, x])
    with pytest.raises(StructureError) as caught:
        plain(x, jagged(2, 1))
    assert caught.value.__context__ is None and caught.value.__cause__ is None


def test_variables_are_read_anew() -> None:
    held: dict[str, Any] = {"w": pn.array(2.0), "p": 1.0}
    compiled, x, scale = pn.compile(function := lambda x: x * held["w"] * scale + held["p"]), jagged(2, 3), 3.0
    assert_same(compiled(x), function(x))
    scale, held["p"] = 4.0, 5.0
    assert_same(compiled(x), function(x))
    assert "another scale" in compiled.explain() and len(compiled.graphs) == 2  # numbers may come back
    held["w"] = pn.array(3.0, requires_grad=True)
    assert_same(pn.grad(compiled(x).sum(), held["w"]), pn.grad(function(x).sum(), held["w"]))
    held["w"].requires_grad = False
    held["w"].fill_(7.0)
    assert_same(compiled(x), function(x))
    assert [graph.calls for graph in compiled.graphs] == [2]  # those of the other arrays are gone
    del held["p"]
    with pytest.raises(KeyError):
        compiled(x)


class Slotted:
    """An object that is called as a function, with arrays in its attributes, in slots and in its class."""

    __slots__ = ("__dict__", "weight")
    bias = pn.array([10.0, 20.0])

    def __init__(self, scale: float) -> None:
        self.weight = pn.array([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        self.scale = scale

    def __call__(self, x: Any) -> Any:
        return (x @ self.weight + self.bias) * self.scale

    @pn.compile
    def method(self, x: Any) -> Any:
        return x @ self.weight * self.scale


@pytest.mark.shows("COMPILE-5")
def test_an_object_that_is_called_is_compiled_and_its_attributes_are_read_anew() -> None:
    layer, x = Slotted(2.0), pn.nested_array([[[1.0, 0.0]], [[0.0, 1.0], [1.0, 1.0]]], layout=pn.jagged)
    compiled = pn.compile(layer, fullgraph=True)
    assert compiled(x).tolist() == [[[22.0, 44.0]], [[26.0, 48.0], [28.0, 52.0]]]
    compiled(x).sum().backward()
    assert layer.weight.grad is not None and layer.weight.grad.tolist() == [[4.0, 4.0], [4.0, 4.0]]
    layer.scale, layer.weight = 1.0, pn.zeros(2, 2)
    assert compiled(x).tolist() == [[[10.0, 20.0]], [[10.0, 20.0], [10.0, 20.0]]]
    assert layer.method(x).tolist() == [[[0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]]
    assert Slotted(3.0).method(x).tolist() == [[[3.0, 6.0]], [[9.0, 12.0], [12.0, 18.0]]]
    assert pn.compile(layer.__call__)(x).tolist() == pn.trace(layer, x)(x).tolist() == compiled(x).tolist()


@pn.compile
def doubled(x: Any) -> Any:
    return x * 2


def test_a_compiled_function_can_be_copied_and_pickled() -> None:
    assert copy.deepcopy(doubled) is pickle.loads(pickle.dumps(doubled)) is doubled
    layer, x = Slotted(2.0), pn.nested_array([[[1.0, 0.0]], [[0.0, 1.0]]], layout=pn.jagged)
    compiled = pn.compile(layer, fullgraph=True)
    for made in (copy.deepcopy(compiled), copy.copy(compiled), pickle.loads(pickle.dumps(compiled))):
        assert_same(made(x), compiled(x))
        assert made.fullgraph and [graph.calls for graph in made.graphs] == [1]
    assert copy.deepcopy(compiled).function.weight is not layer.weight


def drawn_then_counted(x: Any) -> Any:
    return pn.dropout(x, 0.5).unbind()[1]  # as many as there are now, which a graph finds out after it has drawn only


@pytest.mark.shows("COMPILE-4")
def test_fullgraph_refuses_where_the_function_itself_would_be_called() -> None:
    compiled, x = pn.compile(drawn_then_counted), jagged(2, 3)
    for lengths in ((2, 3), (1, 4, 2), (2, 3)):
        pn.manual_seed(4)
        result = compiled(x := jagged(*lengths))
        pn.manual_seed(4)
        assert_same(result, drawn_then_counted(x))
    assert compiled.graphs == [] and "test_compiling.py" in compiled.explain()
    with pytest.raises(TraceError, match="compile: the function has no graph: .* Leave fullgraph out"):
        pn.compile(drawn_then_counted, fullgraph=True)(x)
    with pytest.raises(ArgumentError, match="'fullgraph' must be True or False, not 'yes'"):
        pn.compile(drawn_then_counted, fullgraph="yes")  # type: ignore[arg-type]


def test_refusals_are_those_of_a_trace_and_a_compiled_function_can_be_recorded() -> None:
    with pytest.raises(TraceError, match="a branch on data"):
        pn.compile(lambda x: x if x.sum() > 0 else -x)(jagged(2))
    with pytest.raises(ArgumentError, match="pn.compile"):
        pn.compile(3)  # type: ignore[arg-type]
    inner = pn.compile(lambda x: x.exp() * 2)
    outer, x = pn.compile(lambda x: inner(x) + 1), jagged(2, 3)
    assert_same(outer(x), inner(x) + 1)
    graph = pn.trace(outer, x)
    assert [node.name for node in pn.trace(lambda x: graph(x).sum(), x).nodes] == ["exp", "mul", "add", "sum"]


def test_memory_is_used_again_as_soon_as_nothing_reads_it() -> None:
    x = pn.nested_array_from_jagged(pn.randn(4000, 100, dtype=pn.float64), pn.array([0, 1500, 4000]))
    compiled = pn.compile(lambda x: pn.softmax(pn.softmax(pn.softmax(x, 2), 2), 2))
    compiled(x)  # this one records
    gc.collect()  # arrays of other tests
    before = counters.peak = counters.in_use
    y = compiled(x)
    assert y.is_nested and (counters.peak - before) / (counters.in_use - before) == 2


def test_threads_that_call_a_function_for_the_first_time_at_once_record_it_once() -> None:
    for _ in range(10):
        compiled = pn.compile(function := lambda x: ((x + x.values().shape[0]).sin() * x).sum(dim=1))
        arrays = [jagged(i + 1, 2) for i in range(4)]
        assert_same(together([partial(compiled, x) for x in arrays]), [function(x) for x in arrays])
        assert len(compiled.graphs) == 1


def shared_twice(x: Any) -> Any:
    memory = np.zeros(2)
    pn.from_numpy(memory).add_(x)
    return pn.from_numpy(memory) * 1


def written_by_numpy(x: Any) -> Any:
    numbers = np.ones(2)
    y = x * numbers
    numbers *= 10
    return y * numbers


MEMORY_OF_NUMPY: dict[str, tuple[Any, list[float]]] = {  # the results for (1, 2)
    "from_numpy": (lambda x: pn.from_numpy(np.zeros(2)).add_(x), [1, 2]),
    "from_dlpack": (lambda x: pn.from_dlpack(np.zeros(2)).add_(x), [1, 2]),
    "nested": (lambda x: pn.nested_array_from_jagged(np.zeros(2), [0, 1, 2]).add_(1).values() * x, [1, 2]),
    "shared twice": (shared_twice, [1, 2]),
    "written by NumPy": (written_by_numpy, [10, 20]),
    "a result": (lambda x: pn.from_numpy(np.array([3.0, 4.0])), [3, 4]),
}


@pytest.mark.parametrize(("function", "expected"), MEMORY_OF_NUMPY.values(), ids=MEMORY_OF_NUMPY)
def test_memory_of_numpy_that_the_function_makes_is_new_in_each_replay(function: Any, expected: Any) -> None:
    x = pn.array([1.0, 2.0])
    for call in (pn.compile(function), pn.trace(function, x)):
        for _ in range(3):
            y = call(x)
            assert y.tolist() == expected
            y.fill_(100.0)
        assert call(x * 0).tolist() == function(x * 0).tolist()


def test_numbers_of_numpy_are_told_apart_by_their_bits() -> None:
    compiled = pn.compile(lambda x, number: x * number)
    for kind in (np.float64, np.float32):
        for number in (0.0, -0.0, float("nan"), float("nan")):
            result = compiled(pn.ones(1), kind(number))
            assert np.signbit(result.item()) == np.signbit(number) and np.isnan(result.item()) == np.isnan(number)
    assert len(compiled.graphs) == 6  # 0.0, -0.0 and NaN of two classes


def test_new_arrays_have_the_defaults_of_the_call() -> None:
    compiled, x = pn.compile(lambda: (pn.ones(2) * 3 + 1).exp()), np.exp(np.float32(4))
    assert compiled().dtype == np.float64
    with pn.set_default_dtype(np.float32):
        assert (result := compiled()).dtype == np.float32 and np.allclose(result, x)
    with pn.set_default_device("plain"):
        assert compiled().device == "plain"
    assert compiled().dtype == np.float64 and compiled().device == "cpu" and len(compiled.graphs) == 3
