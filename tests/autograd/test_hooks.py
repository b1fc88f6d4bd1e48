"""Hooks and retained gradients."""

from __future__ import annotations

from typing import Any

import pytest

import pynested as pn
from pynested.autograd import grad
from pynested.backends.errors import GradientError


def test_hooks_replace_and_look() -> None:
    x = pn.array([1.0, 2.0], requires_grad=True)
    y = x * 3
    seen: list[Any] = []
    y.register_hook(lambda g: seen.append(g.tolist()))
    y.register_hook(lambda g: g * 2)
    remove = x.register_hook(lambda g: g + 1)
    y.sum().backward()
    assert seen == [[1, 1]]
    assert x.grad.tolist() == [7, 7]
    assert grad((x * 1).sum(), x).tolist() == [2, 2]
    remove()
    remove()
    x.grad = None
    x.sum().backward()
    assert x.grad.tolist() == [1, 1]


@pytest.mark.parametrize("answer", [pn.array([1.0]), pn.array([1, 2]), 3.0])
def test_hooks_that_answer_wrongly(answer: Any) -> None:
    x = pn.array([1.0, 2.0], requires_grad=True)
    x.register_hook(lambda g: answer)
    with pytest.raises(GradientError, match="hook '<lambda>' returned"):
        x.sum().backward()


def test_hooks_and_retain_need_gradients() -> None:
    with pytest.raises(GradientError, match="register_hook"):
        pn.array(1.0).register_hook(lambda g: g)
    with pytest.raises(GradientError, match="retain_grad"):
        pn.array(1.0).retain_grad()


def test_hooks_in_a_recorded_pass_are_differentiated() -> None:
    x = pn.array([3.0], requires_grad=True)
    y = x * 1.0
    remove = y.register_hook(lambda g: g * x)
    slope = grad((y * y).sum(), x, create_graph=True)
    remove()
    assert slope.tolist() == [18]
    assert grad(slope.sum(), x).tolist() == [12]
