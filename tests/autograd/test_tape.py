"""Graphs of any depth and shape, that leave nothing behind, in any number of threads."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.autograd import Array, Function, backward, checkpoint, grad, hessian, hvp, jvp, no_grad, vjp
from pynested.autograd.tape import Line

ALL_OF_THEM = pytest.param(1_000_000, marks=pytest.mark.exhaustive)


@pytest.fixture
def without_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def alive() -> int:
    return sum(type(one) in (Line, Array) for one in gc.get_objects())


@pytest.mark.parametrize("lines", [100_000, ALL_OF_THEM])
def test_a_million_lines_both_ways_and_away(lines: int, without_collector: None) -> None:
    before = alive()
    x = pn.array(1.0, requires_grad=True)
    y = x
    for _ in range(lines // 2):
        y = y * 1.0 + 0.0
    y.backward(retain_graph=True)
    assert x.grad is not None
    assert x.grad.item() == 1

    def long(x: Array) -> Array:
        for _ in range(lines // 20):
            x = x * 1.0 + 0.0
        return x

    assert jvp(long, (pn.array(1.0),), (pn.array(3.0),))[1].item() == 3
    del x, y
    assert alive() == before


def test_sixty_fold_reuse_is_instant() -> None:
    x = pn.array(1.0, requires_grad=True)
    y = x
    for _ in range(60):
        y = y + y
    assert grad(y, x).item() == 2.0**60
    assert jvp(lambda x: _doubled(x, 60), (pn.array(1.0),), (pn.array(1.0),))[1].item() == 2.0**60


def _doubled(x: Array, times: int) -> Array:
    for _ in range(times):
        x = x + x
    return x


class Cube(Function):
    @staticmethod
    def forward(context: Any, x: Any) -> Any:
        y = x * x * x
        context.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(context: Any, cotangent: Any) -> Any:
        x, y = context.saved
        return 3 * y / x * cotangent


def loss(x: Array) -> Array:
    first, second, _ = ((x * x).tanh() * x + x.gelu()).unbind()
    return (first * second.softmax(0)).sum() + x.layer_norm(2).amax()


def forward_only(x: Array) -> None:
    loss(x)


def backward_pass(x: Array) -> None:
    loss(x).backward()


def recorded_pass(x: Array) -> None:
    loss(x).backward(create_graph=True)
    assert x.grad is not None
    x.grad.sum().backward(create_graph=True)


def failing_pass(x: Array) -> None:
    y = loss(x)
    y.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        y.backward()


WAYS: dict[str, Callable[[Array], Any]] = {
    "forward only": forward_only,
    "backward": backward_pass,
    "create_graph": recorded_pass,
    "grad of grad": lambda x: grad(grad(loss(x), x, create_graph=True).sum(), x),
    "vjp": lambda x: vjp(loss, x)[1](pn.array(1.0)),
    "hvp": lambda x: hvp(loss, x, x.detach()),
    "hessian": lambda x: hessian(loss, x),
    "function": lambda x: Cube.apply(x).sum().backward(create_graph=True),
    "checkpoint": lambda x: checkpoint(loss, x).backward(create_graph=True),
    "an error in the middle": failing_pass,
}


@pytest.mark.parametrize("way", WAYS)
def test_nothing_stays_alive(way: str, without_collector: None) -> None:
    before = alive()
    WAYS[way](pn.array(np.arange(1.0, 7.0).reshape(3, 2), requires_grad=True))
    assert alive() == before


def test_saved_values_are_freed_line_by_line() -> None:
    """The greatest number of living intermediate arrays falls while the pass goes on."""
    x = pn.array(np.ones(4), requires_grad=True)
    y = x
    lines = []
    for _ in range(5):
        y = y.tanh()
        lines.append(y.line)
    kept: list[list[bool]] = []
    lines[2].hooks = {0: lambda g: kept.append([line.output is not None for line in lines])}
    y.sum().backward()
    assert kept == [[True, True, True, False, False]]


def test_twelve_thousand_nested_gradients_in_threads() -> None:
    """None wrong, while yet another thread turns recording off and on all the time."""
    wrong: list[Any] = []
    stop = threading.Event()

    def second_derivative(value: float) -> float:
        x = pn.array(value, requires_grad=True)
        return float(grad(grad(x * x * x, x, create_graph=True), x))

    def work(start: int) -> None:
        for i in range(start, start + 1500):
            found = second_derivative(float(i))
            if found != 6.0 * i:
                wrong.append((i, found))

    def disturb() -> None:
        while not stop.is_set():
            with no_grad():
                pn.array(1.0, requires_grad=True) * 2.0

    others = [threading.Thread(target=work, args=(1500 * i,)) for i in range(8)]
    disturber = threading.Thread(target=disturb)
    for thread in (disturber, *others):
        thread.start()
    for thread in others:
        thread.join()
    stop.set()
    disturber.join()
    assert wrong == []


def test_one_graph_read_by_many_threads() -> None:
    x = pn.array(np.arange(1.0, 9.0), requires_grad=True)
    y = (x.tanh() * x).softmax(0)
    expected = [grad(y[i], x, retain_graph=True).tolist() for i in range(8)]
    found: list[Any] = [None] * 8

    def work(i: int) -> None:
        for _ in range(50):
            found[i] = grad(y.select(0, i), x, retain_graph=True).tolist()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected


def test_one_leaf_used_by_many_threads() -> None:
    x = pn.array(np.zeros(1000), requires_grad=True)
    start = threading.Barrier(8)

    def work() -> None:
        start.wait()
        for _ in range(100):
            (x * 2.0).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert x.grad is not None
    np.testing.assert_array_equal(x.grad.numpy(), 1600)


def test_a_leaf_that_is_gone_gets_nothing() -> None:
    def make() -> Array:
        return (pn.array([1.0, 2.0], requires_grad=True) * 3).sum()

    backward(make())


def test_gradient_rules_are_checked_at_run_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the operator, the argument and both signatures."""
    from pynested.autograd.rules import movement
    from pynested.backends.errors import GradientError

    x = pn.array([[1.0, 2.0, 3.0]], dtype=pn.float32, requires_grad=True)
    rule = movement.reshape
    monkeypatch.setattr(rule, "adjoint", lambda g, shapes, shape: g)
    with pytest.raises(GradientError, match=r"reshape: .*shape \(3,\) for argument 0, which has shape \(1, 3\)"):
        pn.reshape(x, 3).sum().backward()
    monkeypatch.setattr(rule, "adjoint", lambda g, shapes, shape: g.reshape(shapes[0]).astype(np.float64))
    with pytest.raises(GradientError, match=r"reshape: .*float64 for argument 0, which has dtype float32"):
        pn.reshape(x, 3).sum().backward()
