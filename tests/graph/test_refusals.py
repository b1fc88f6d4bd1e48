"""What a graph cannot hold is refused at its line; what was asked of sizes is asked again at each replay."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import TraceError

from .arrays import assert_same, jagged


class Holding:
    """An object in which a function puts an array, and a function that looks there."""

    def __init__(self, x: Any) -> None:
        self.parts = {"x": x}

    def method(self, component: Any) -> Any:
        return component + self.parts["x"].sum()


def caught(x: Any) -> Any:
    try:
        return x + x[:0]
    except pn.errors.StructureError:
        return x


REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "item": (lambda x: x * x.sum().item(), "x.item"),
    "if": (lambda x: x if x.sum() > 0 else -x, "a branch on data"),
    "float": (lambda x: x * float(x.sum()), "float"),
    "tolist": (lambda x: x * x.offsets().tolist()[1], "tolist"),
    "numpy": (lambda x: x * x.values().numpy().sum(), "numpy"),
    "asarray": (lambda x: x * np.asarray(x.values()), "asarray"),
    "data": (lambda x: x * x.values().data.max(), "data"),
    "lengths_along": (lambda x: x * int(x.lengths_along(1).max()), "lengths_along"),
    "structure": (lambda x: x * x.structure.count, "structure"),
    "lengths of a size": (lambda x: x * int(x.shape[1].lengths[0]), "lengths"),
    "equal": (lambda x: x if pn.equal(x, x) else -x, "pn.equal"),
    "in": (lambda x: x if 0.0 in x else -x, "value in x"),
    "print": (lambda x: [print(x), x][1], "repr"),
    "an index": (lambda x: [1.0, 2.0][x.offsets()[0]] * x, "index"),
    "range": (lambda x: sum(x[i] for i in range(x.offsets()[1])), "index"),
    "a class": (lambda x: x * pn.Array(np.ones(2)), "an array"),
    "Python's chance": (lambda x: x * random.random(), "ran a second time"),
    "a generator": (lambda x: x * pn.rand(2, generator=np.random.default_rng(3)), "ran a second time"),
    "a graph in it": (lambda x: pn.trace(pn.exp, x), "pn.trace"),
    "a result of another class": (lambda x: slice if x is None else iter([x]), "a result of the class"),
    "an object that holds a result": (lambda x: pn.map_components(Holding(x * 2).method, x), "an object"),
    "a mask's inside": (lambda x: pn.create_block_mask(lambda b, h, q, k: q >= k, 1, 1, 4, 4).shape, "attribute"),
}  # fmt: skip


@pytest.mark.parametrize(("function", "says"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_recorded_is_refused_where_it_is_written(function: Callable[[Any], Any], says: str) -> None:
    with pytest.raises(TraceError) as caught:
        pn.trace(function, jagged(2, 3))
    lines = str(caught.value).splitlines()
    assert says in lines[0] and f"test_refusals.py:{function.__code__.co_firstlineno}" in lines[0]
    assert "lambda x:" in lines[1] and lines[2].endswith(".")


def test_an_error_that_the_function_catches_is_refused() -> None:
    with pytest.raises(TraceError, match=r"an error of add, which the function catches, .*\n *return x \+ x\[:0\]"):
        pn.trace(caught, jagged(2, 3))


COUNTED = 0


def counted(x: Any) -> Any:
    global COUNTED
    COUNTED += 1
    return x.exp().sin() if COUNTED % 2 else x.exp()


def test_a_function_that_does_something_else_each_time_is_refused() -> None:
    with pytest.raises(TraceError, match="a second time"):
        pn.trace(counted, jagged(2))


GUARDED: dict[str, tuple[Callable[[Any], Any], list[tuple[int, ...]], list[tuple[int, ...]]]] = {
    "compared": (lambda x: x * 2 if x.shape[0] > 2 else x * 3, [(4,), (1, 5)], [(1, 2, 3)]),
    "len": (lambda x: x * len(x), [(4, 1)], [(1,), (1, 2, 3)]),
    "range": (lambda x: [x[i] for i in range(x.size(0))], [(4, 1)], [(4,)]),
    "a loop": (lambda x: [c.sum() for c in x], [(4, 1)], [(4,)]),
    "as text": (lambda x: {f"{x.values().shape[0]} rows": x}, [(4, 1)], [(4, 4)]),
    "NumPy's size": (lambda x: x.values() * np.arange(x.values().shape[0])[:, None], [(4, 1)], [(4, 4)]),
    "ragged sizes": (lambda x: x if x.shape[1] == x[:, :2].shape[1] else x + 1, [(3, 7)], [(1, 2), (2, 2)]),
    "bool of a size": (lambda x: x + 1 if x.values().shape[0] else x, [(4,)], [(0, 0)]),
}


@pytest.mark.parametrize(("function", "fit", "others"), GUARDED.values(), ids=GUARDED)
def test_a_branch_on_a_size_holds_for_what_goes_the_same_way(function: Any, fit: Any, others: Any) -> None:
    graph = pn.trace(function, jagged(2, 3))
    for lengths in fit:
        assert_same(graph(x := jagged(*lengths)), function(x))
    for lengths in others:
        with pytest.raises(TraceError, match="test_refusals.py"):
            graph(jagged(*lengths))
