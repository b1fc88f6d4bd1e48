"""`no_grad` and `enable_grad` switch recording off and on; `anomaly` finds NaN and names the lines of the user."""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.autograd import anomaly, enable_grad, grad, is_grad_enabled, no_grad
from pynested.backends.errors import ArgumentError, GradientError

X = pn.array([1.0, 2.0], requires_grad=True)


def test_modes_nest_and_are_restored() -> None:
    assert is_grad_enabled()
    with no_grad():
        assert not is_grad_enabled() and not (X * 2).requires_grad
        with enable_grad():
            assert (X * 2).requires_grad
            with no_grad(), anomaly():
                assert is_grad_enabled()
        assert not is_grad_enabled()
    with pytest.raises(RuntimeError, match="inside"), no_grad():
        raise RuntimeError("inside")
    assert is_grad_enabled()


def test_a_decorated_function_can_call_itself() -> None:
    @no_grad()
    def modes(depth: int) -> list[bool]:
        return [is_grad_enabled(), *(modes(depth - 1) if depth else [])]

    @no_grad
    def without_parentheses(x: Any) -> Any:
        return x * 2

    assert modes(3) == [False] * 4
    assert is_grad_enabled() and not without_parentheses(X).requires_grad


def test_a_mode_decorates_functions_that_are_neither_generators_nor_coroutines() -> None:
    async def coroutine() -> None: ...

    async def asynchronous_generator() -> Any:
        yield

    for function in (lambda: (yield), coroutine, asynchronous_generator, partial(coroutine)):
        with pytest.raises(ArgumentError, match="generator or a coroutine.*Write `with pn.no_grad.*without a yield"):
            no_grad(function)
    for mode, name in ((no_grad, "no_grad"), (enable_grad, "enable_grad"), (anomaly, "anomaly")):
        with pytest.raises(ArgumentError, match=f"{name}: a bool is no function. Write `with pn.{name}"):
            mode(True)  # type: ignore[call-overload]


def test_one_object_in_two_threads() -> None:
    mode = no_grad()
    inside, outside = threading.Event(), threading.Event()
    modes: list[bool] = []

    def work() -> None:
        with mode:
            inside.set()
            outside.wait()
        modes.append(is_grad_enabled())

    thread = threading.Thread(target=work)
    thread.start()
    inside.wait()
    with enable_grad(), mode:
        modes.append(is_grad_enabled())
    modes.append(is_grad_enabled())
    outside.set()
    thread.join()
    assert modes == [False, True, True]


def test_a_pass_is_recorded_with_create_graph_only() -> None:
    modes: list[bool] = []
    y = X * 2
    y.register_hook(lambda g: modes.append(is_grad_enabled()))
    z = y.sum()
    grad(z, X)
    with no_grad():
        grad(z, X, create_graph=True)
    assert modes == [False, True]


def test_anomaly_names_the_line_of_the_user(root: Path) -> None:
    with anomaly():
        y = (X * X).sum()  # the line to be named
    y.backward()
    with pytest.raises(GradientError, match="freed") as caught:
        y.backward()
    assert "the line to be named" in caught.value.__notes__[0]
    assert str(root / "autograd") not in caught.value.__notes__[0]


def test_anomaly_names_the_operator_and_every_argument_of_a_nan() -> None:
    with anomaly():
        x, rows = pn.array(0.0, requires_grad=True), pn.array([[0.0, 1.0], [1.0, 2.0]], requires_grad=True)
        first, _ = (rows * 0.0).log().unbind()
        for y, operator, arguments in ((first.sum(), "log", "0"), (x / x, "div", "0 or 1"), (x * 2 / x, "div", "0")):
            with pytest.raises(GradientError, match=f"{operator}: the gradient of its argument {arguments} holds NaN"):
                y.backward(pn.array(0.0))


def test_other_modes_keep_the_anomaly_around_them() -> None:
    x = pn.array(0.0, requires_grad=True)
    with anomaly(), no_grad(), enable_grad():
        y = x.log() * 0.0
    with pytest.raises(GradientError, match="log: the gradient of its argument 0 holds NaN"):
        y.backward()
    with enable_grad():
        y = x.log() * 0.0
    assert np.isnan(grad(y, x).item())


def test_a_nan_in_the_cotangent_and_an_infinite_gradient_are_no_anomaly() -> None:
    x = pn.array([0.0, 1.0], requires_grad=True)
    with anomaly():
        assert np.isnan(grad(x * x, x, pn.array([np.nan, 1.0])).numpy()).tolist() == [True, False]
        assert grad(x.sqrt().sum(), x).tolist() == [np.inf, 0.5]
