"""What is recorded where, and what anomaly mode finds."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.autograd import anomaly, enable_grad, grad, is_grad_enabled, no_grad
from pynested.backends.errors import GradientError

X = pn.array([1.0, 2.0], requires_grad=True)


def test_modes_nest_and_come_back() -> None:
    assert is_grad_enabled()
    with no_grad():
        assert not is_grad_enabled()
        assert not (X * 2).requires_grad
        with enable_grad():
            assert (X * 2).requires_grad
            with no_grad(), anomaly():
                assert is_grad_enabled()
        assert not is_grad_enabled()
    assert is_grad_enabled()


def test_an_exception_puts_the_mode_back() -> None:
    with pytest.raises(ZeroDivisionError), no_grad():
        1 / 0  # noqa: B018
    assert is_grad_enabled()


def test_as_a_decorator_also_inside_itself() -> None:
    @no_grad()
    def count(depth: int) -> list[bool]:
        return [is_grad_enabled(), *(count(depth - 1) if depth else [])]

    assert count(3) == [False] * 4
    assert is_grad_enabled()


def test_one_object_in_two_threads() -> None:
    mode = no_grad()
    inside, outside = threading.Event(), threading.Event()
    seen: list[bool] = []

    def other() -> None:
        with mode:
            inside.set()
            outside.wait()
        seen.append(is_grad_enabled())

    thread = threading.Thread(target=other)
    thread.start()
    inside.wait()
    with enable_grad(), mode:
        seen.append(is_grad_enabled())
    seen.append(is_grad_enabled())
    outside.set()
    thread.join()
    assert seen == [False, True, True]


def test_recording_is_off_in_a_pass_and_on_in_a_recorded_one() -> None:
    seen: list[bool] = []
    y = X * 2
    y.register_hook(lambda g: seen.append(is_grad_enabled()))
    z = y.sum()
    grad(z, X)
    with no_grad():
        grad(z, X, create_graph=True)
    assert seen == [False, True]


def test_anomaly_names_the_line_of_an_error(root: Path) -> None:
    with anomaly():
        y = X * 2  # the line to be named
    y.register_hook(lambda g: 1 / 0)
    z = (y + 1).sum()
    with pytest.raises(ZeroDivisionError):
        z.backward()
    with anomaly():
        y = (X * X).sum()  # this one too
    y.backward()
    with pytest.raises(GradientError, match="freed") as caught:
        y.backward()
    assert "this one too" in caught.value.__notes__[0]
    assert str(root / "autograd") not in caught.value.__notes__[0]


def test_a_nan_that_came_in_is_nobodys_fault() -> None:
    with anomaly():
        x = pn.array([1.0, 2.0], requires_grad=True)
        (x * x).backward(pn.array([float("nan"), 1.0]))
    assert np.isnan(x.grad.numpy()).tolist() == [True, False]


def test_infinite_gradients_are_no_anomaly() -> None:
    with anomaly():
        x = pn.array([0.0], requires_grad=True)
        x.sqrt().sum().backward()
    assert x.grad.tolist() == [float("inf")]


def test_nan_from_one_of_several_outputs() -> None:
    with anomaly():
        x = pn.array([[0.0, 1.0], [1.0, 2.0]], requires_grad=True)
        first, _ = (x * 0.0).log().unbind()
        with pytest.raises(GradientError, match="log: the gradient of its argument 0 holds NaN"):
            (first * 0.0).sum().backward()


def test_a_write_behind_our_back_is_seen() -> None:
    values = np.array([3.0, 4.0])
    factor = pn.array(values, copy=False)
    with anomaly():
        y = (X * factor).sum()
    values[0] = 100
    with pytest.raises(GradientError, match=r"mul: a value saved for the gradient was changed .*through NumPy"):
        y.backward()
    y = (X * factor).sum()
    values[0] = 3
    assert grad(y, X).tolist() == [3, 4]  # outside anomaly nobody notices


@pytest.mark.parametrize("what", ["output", "static"])
def test_outputs_and_other_arguments_are_seen_too(what: str) -> None:
    with anomaly():
        y: Any = X.exp()
        line = y.line
        if what == "static":
            y = y.masked_fill(pn.array([True, False]), 0.0)
            line = y.line
    changed = line.output.data if what == "output" else line.static[0]
    changed[...] = 1 - changed
    with pytest.raises(GradientError, match="changed after it was used"):
        y.sum().backward()


def test_no_grad_decorates_without_parentheses() -> None:
    @pn.no_grad
    def doubled(x: Any) -> Any:
        return x * 2

    nested = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged, requires_grad=True)
    assert not doubled(nested).requires_grad
