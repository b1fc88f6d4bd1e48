"""Objects that are called as functions, and what `fullgraph` refuses."""

from __future__ import annotations

from typing import Any

import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError, TraceError


class _Layer:
    """An object that is called as a function, with arrays in its attributes, in slots and in its class."""

    __slots__ = ("__dict__", "weight")
    bias = pn.array([10.0, 20.0])

    def __init__(self, scale: float) -> None:
        self.weight = pn.array([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        self.scale = scale

    def __call__(self, x: Any) -> Any:
        return (x @ self.weight + self.bias) * self.scale


@pytest.mark.shows("COMPILE-5")
def test_an_object_that_is_called_is_compiled_and_its_attributes_are_read_anew() -> None:
    layer, x = _Layer(2.0), pn.nested_array([[[1.0, 0.0]], [[0.0, 1.0], [1.0, 1.0]]], layout=pn.jagged)
    compiled = pn.compile(layer, fullgraph=True)
    assert compiled(x).tolist() == [[[22.0, 44.0]], [[26.0, 48.0], [28.0, 52.0]]]
    compiled(x).sum().backward()
    assert layer.weight.grad is not None and layer.weight.grad.tolist() == [[4.0, 4.0], [4.0, 4.0]]
    layer.scale, layer.weight = 1.0, pn.zeros(2, 2)
    assert compiled(x).tolist() == [[[10.0, 20.0]], [[10.0, 20.0], [10.0, 20.0]]]
    assert pn.compile(layer.__call__)(x).tolist() == pn.trace(layer, x)(x).tolist() == compiled(x).tolist()


def test_functions_of_a_namespace_without_a_name_are_compiled() -> None:
    space: dict[str, Any] = {"pn": pn}
    exec("w = pn.array([2.0])\nclass Layer:\n    def __call__(self, x):\n        return x * self.w * w", space)
    layer = space["Layer"]()
    layer.w = pn.array([3.0])
    assert pn.compile(layer)(pn.array([1.0, 2.0])).tolist() == [6.0, 12.0]


@pytest.mark.shows("COMPILE-4")
def test_fullgraph_refuses_where_the_function_itself_would_be_called() -> None:
    def f(x: Any) -> Any:
        x.mul_(2)
        return x.unbind()[1]  # as many as there are now, which a graph can find out after the write only

    x = pn.nested_array([[1.0], [2.0, 3.0]], layout=pn.jagged)
    assert pn.compile(f)(x).tolist() == [4.0, 6.0]
    with pytest.raises(TraceError, match="compile: no graph holds the function: .* Leave fullgraph out"):
        pn.compile(f, fullgraph=True)(x)
    with pytest.raises(ArgumentError, match="'fullgraph' must be True or False, not 'yes'"):
        pn.compile(f, fullgraph="yes")  # type: ignore[arg-type]
