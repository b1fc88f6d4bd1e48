"""Graphs of any depth and shape: recursion limits, reference cycles, memory that is freed, and threads."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested import NestedArray
from pynested.autograd import Array, checkpoint, grad, hessian, hvp, jvp, vjp
from pynested.autograd.primitives.primitive import PRIMITIVES, Primitive
from pynested.autograd.tape import Node
from pynested.backends.errors import ArgumentError, GradientError
from pynested.backends.storage import Storage
from tests.mutation.plant import planted

from ..crowd import together
from .test_function import Exp, ProductAndSum

DEEP = pytest.param(200_000, marks=pytest.mark.exhaustive)


@pytest.fixture
def without_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def count_alive() -> int:
    return sum(type(thing) in (Node, Array, NestedArray, Storage) for thing in gc.get_objects())


@pytest.mark.parametrize("nodes", [20_000, DEEP])
def test_a_deep_graph_is_differentiated_and_freed(nodes: int, without_collector: None) -> None:
    before = count_alive()
    x = pn.array(1.0, requires_grad=True)
    y = x
    for _ in range(nodes // 2):
        y = y * 1.0 + 0.0
    y.backward(retain_graph=True)
    assert x.grad is not None and x.grad.item() == 1

    def deep(x: Array) -> Array:
        for _ in range(nodes // 20):
            x = x * 1.0 + 0.0
        return x

    assert jvp(deep, (pn.array(1.0),), (pn.array(3.0),))[1].item() == 3
    del x, y
    assert count_alive() == before


def test_each_node_is_visited_once() -> None:
    """60 doublings have 2 ** 60 paths."""

    def doubled(x: Array) -> Array:
        for _ in range(60):
            x = x + x
        return x

    x = pn.array(1.0, requires_grad=True)
    assert grad(doubled(x), x).item() == jvp(doubled, (x.detach(),), (pn.array(1.0),))[1].item() == 2.0**60


def loss(x: Array) -> Array:
    first, second, _ = ((x * x).tanh() * x + x.gelu()).unbind()
    return (first * second.softmax(0)).sum() + x.layer_norm(2).amax()


def recorded_pass(x: Array) -> None:
    loss(x).backward(create_graph=True)
    assert x.grad is not None
    x.grad.sum().backward(create_graph=True)


def hooked(x: Array) -> NestedArray:
    """Return a nested array with hooks, on itself and on what it is made of; two are removed."""
    y = x * 1
    nested = pn.nested_array_from_jagged(y, [0, 1, 3])
    for array in (x, y, nested):
        array.register_hook(lambda g: g * 2)
        array.register_hook(lambda g: None)
    for array in (x, nested):
        array.register_hook(lambda g: None)()
    return nested


def hooked_pass(x: Array) -> None:
    y = hooked(x)
    (y * y).sum().backward()


def failing_pass(x: Array) -> None:
    y = loss(x)
    y.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        y.backward()


PASSES: dict[str, Callable[[Array], Any]] = {
    "forward only": loss,
    "nested": lambda x: (pn.nested_array_from_jagged(x, [0, 1, 3]).softmax(1) * x[0]).sum().backward(),
    "on a device": lambda x: loss(x.to("emulated")).backward(),
    "backward": lambda x: loss(x).backward(),
    "create_graph": recorded_pass,
    "grad of grad": lambda x: grad(grad(loss(x), x, create_graph=True).sum(), x),
    "vjp": lambda x: vjp(loss, x)[1](pn.array(1.0)),
    "hvp": lambda x: hvp(loss, x, x.detach()),
    "hessian": lambda x: hessian(loss, x),
    "function": lambda x: ProductAndSum.apply(Exp.apply(x), x)[0].sum().backward(create_graph=True),
    "hooks": hooked_pass,
    "hooks without a pass": hooked,
    "checkpoint": lambda x: checkpoint(loss, x).backward(create_graph=True),
    "a leaf that is freed": lambda x: (pn.ones(2, requires_grad=True) * 3).sum().backward(),
    "an error in the middle": failing_pass,
}


@pytest.mark.parametrize("differentiate", PASSES.values(), ids=PASSES)
def test_nothing_stays_alive(differentiate: Callable[[Array], Any], without_collector: None) -> None:
    before = count_alive()
    differentiate(pn.array(np.arange(1.0, 7.0).reshape(3, 2), requires_grad=True))
    assert count_alive() == before


def test_saved_values_are_freed_node_by_node() -> None:
    """At the third of five results, a pass has freed the fourth and the fifth."""
    x = pn.array(np.ones(4), requires_grad=True)
    y, results, alive = x, [], []
    for i in range(5):
        y = y.tanh()
        results.append(weakref.ref(y.data))
        if i == 2:
            y.register_hook(lambda g: alive.append([result() is not None for result in results]))
    y = y.sum()
    y.backward()
    assert alive == [[True, True, True, False, False]]


def test_one_graph_is_read_by_many_threads() -> None:
    x = pn.array(np.arange(1.0, 9.0), requires_grad=True)
    y = (x.tanh() * x).softmax(0)

    def gradient_of(i: int) -> Any:
        return grad(y.select(0, i), x, retain_graph=True).tolist()

    expected = [gradient_of(i) for i in range(8)]
    assert together([lambda i=i: [gradient_of(i) for _ in range(20)] for i in range(8)]) == [[e] * 20 for e in expected]


def test_many_threads_accumulate_into_one_leaf() -> None:
    x = pn.array(np.zeros(1000), requires_grad=True)
    together([lambda: [(x * 2.0).sum().backward() for _ in range(50)]] * 8)
    assert x.grad is not None
    np.testing.assert_array_equal(x.grad.numpy(), 800)


@pytest.mark.parametrize(("primitive", "function"), [
    ("reshape", lambda x: x.reshape(3)),
    ("unbind", lambda x: x.unbind()[0]),  # a list of outputs
])  # fmt: skip
@pytest.mark.parametrize(("vjp", "text"), [
    ("lambda g, right: right.reshape(-1)", r"shape \(3,\) .* for an array of shape \(1, 3\)"),
    ("lambda g, right: right.astype('float64')", "float64 for an array .* dtype float32"),
])  # fmt: skip
def test_the_shape_and_dtype_of_a_vjp_are_checked(
    primitive: str, function: Callable[[Array], Array], vjp: str, text: str
) -> None:
    x = pn.array([[1.0, 2.0, 3.0]], dtype=pn.float32, requires_grad=True)
    y = function(x).sum()
    with planted({"primitive": primitive, "vjp": vjp}), pytest.raises(GradientError, match=rf"{primitive}: .*{text}"):
        y.backward()


def test_one_function_of_all_cotangents_is_not_taken_as_the_jvp() -> None:
    with pytest.raises(ArgumentError, match="twice: `vjps` is one function, .* Pass `jvps`"):
        Primitive("twice", lambda k, x: k.add(x, x), lambda g, y, x: [2 * g], saves=["x"])
    assert "twice" not in PRIMITIVES
