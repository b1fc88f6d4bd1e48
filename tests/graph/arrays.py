"""Nested arrays of random numbers, functions that are compiled and called twice, gradients, and equality of results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import pynested as pn
from pynested.autograd import flatten
from pynested.backends.dtypes import is_float
from pynested.backends.host import to_host

CHANCE = np.random.default_rng(8)
BIAS = pn.array([0.25, -0.5])


def jagged(*lengths: int, layout: Any = pn.jagged) -> pn.NestedArray:
    return pn.nested_array([CHANCE.normal(size=(length, 2)) for length in lengths], layout=layout)


def holed(*lengths: int) -> pn.NestedArray:
    offsets = pn.array([2 * i for i in range(len(lengths) + 1)])
    return pn.nested_array_from_jagged(pn.array(CHANCE.normal(size=(20, 2))), offsets, pn.array(lengths))


class Replayed:
    """A compiled function that runs twice at each call, as the first call of a signature only records a graph."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.compiled = pn.compile(function)

    def __call__(self, *operands: Any) -> Any:
        self.compiled(*operands)
        return self.compiled(*operands)

    @property
    def graphs(self) -> Any:
        return self.compiled.graphs

    @property
    def has_chains(self) -> bool:
        """Return whether every graph has a chain and was replayed, so that the function itself was not called."""
        return all(graph.calls > 1 and graph.chains for graph in self.graphs)


def gradients(function: Callable[..., Any], *operands: Any) -> list[Any]:
    """Return the gradients by the operands of floats: of the sum of all results, and with a cotangent for each element.

    The cotangent of a sum is one element that is repeated, which blocks and kernels read differently.
    """
    operands = tuple(x.detach().requires_grad_(is_float(x.dtype)) for x in operands)
    results = [y for y in flatten(function(*operands))[0] if y.requires_grad]
    leaves = [x for x in operands if x.requires_grad]
    pn.manual_seed(0)
    cotangents = [pn.randn_like(y).detach() for y in results]
    of_elements = pn.grad(results, leaves, cotangents, allow_unused=True, retain_graph=True) if results else ()
    of_sums = pn.grad([y.sum() for y in results], leaves, allow_unused=True) if results else ()
    return [*of_elements, *of_sums]


def assert_same_with_gradients(compiled: Callable[..., Any], function: Callable[..., Any], *operands: Any) -> None:
    assert_same(compiled(*operands), function(*operands))
    assert_same(gradients(compiled, *operands), gradients(function, *operands))


def assert_same(a: Any, b: Any) -> None:
    """Assert that two trees of arrays have the same bits, layouts and flags; NaN has one sign."""
    assert type(a) is type(b)
    if isinstance(a, tuple | list):
        assert len(a) == len(b)
        list(map(assert_same, a, b))
    elif isinstance(a, dict):
        assert_same([*a.items()], [*b.items()])
    elif isinstance(a, pn.NestedArray):
        assert a.layout is b.layout and a.requires_grad == b.requires_grad
        list(map(assert_same, a.unbind(), b.unbind()))
    elif isinstance(a, pn.Array):
        assert (a.dtype, a.shape, a.requires_grad) == (b.dtype, b.shape, b.requires_grad)
        assert bits(a) == bits(b)
    else:
        assert a == b


def bits(x: pn.Array) -> bytes:
    """Return the elements bit by bit; NumPy's loops take the sign of a NaN from one operand or the other."""
    values = to_host(x.detach().data)
    return np.where(np.isnan(values), np.nan, values).tobytes() if is_float(values.dtype) else values.tobytes()
