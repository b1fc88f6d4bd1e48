"""Nested arrays of random numbers, and what it means that two results are the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import pynested as pn

CHANCE = np.random.default_rng(8)


def jagged(*lengths: int, layout: Any = pn.jagged) -> pn.NestedArray:
    return pn.nested_array([CHANCE.normal(size=(length, 2)) for length in lengths], layout=layout)


def holed(*lengths: int) -> pn.NestedArray:
    return pn.nested_array_from_jagged(
        pn.array(CHANCE.normal(size=(20, 2))), pn.array([2 * i for i in range(len(lengths) + 1)]), pn.array(lengths)
    )


class Replayed:
    """A compiled function, each call of which runs twice: the first call of a signature only records a graph."""

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
        """Whether every graph has a chain and was replayed, and none was given up for the function itself."""
        return all(graph.calls > 1 and graph.chains for graph in self.graphs)


def assert_same(a: Any, b: Any) -> None:
    assert type(a) is type(b)
    if isinstance(a, tuple | list):
        assert len(a) == len(b)
        list(map(assert_same, a, b))
    elif isinstance(a, dict):
        assert list(a) == list(b)
        list(map(assert_same, a.values(), b.values()))
    elif isinstance(a, pn.NestedArray):
        assert a.layout is b.layout and a.requires_grad == b.requires_grad
        list(map(assert_same, a.unbind(), b.unbind()))
    elif isinstance(a, pn.Array):
        assert a.dtype == b.dtype and a.detach().numpy().tobytes() == b.detach().numpy().tobytes()
        assert a.shape == b.shape and a.requires_grad == b.requires_grad
    else:
        assert a == b
