"""Spellings of arguments that are taken: bare primals, modes without parentheses, arrays of NumPy on the left."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

import pynested as pn

X = pn.array([1.0, 2.0])
N = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged, requires_grad=True)


def test_a_bare_primal_stands_for_itself() -> None:
    value, slope = pn.jvp(lambda x: x * x, N.detach(), pn.ones_like(N.detach()))
    assert value.values().tolist() == [1.0, 4.0, 9.0] and slope.values().tolist() == [2.0, 4.0, 6.0]
    assert pn.gradcheck(lambda x: x * x, (X,))


def test_one_element_is_formatted_and_rounded_as_a_number() -> None:
    loss = pn.array(1.2345, requires_grad=True) * 1
    assert f"{loss:.3f}" == "1.234" and round(loss, 2) == 1.23
    assert type(round(loss)) is int and round(pn.array([0.5, 1.5])).tolist() == [0.0, 2.0]


def test_modes_decorate_without_parentheses() -> None:
    @pn.no_grad
    def doubled(x: Any) -> Any:
        return x * 2

    assert not doubled(N).requires_grad


def test_numpy_on_the_left() -> None:
    assert (np.ones((2, 2)) @ X).tolist() == [3.0, 3.0]
    assert (np.ones(2) < X).tolist() == [False, True] == np.greater(X, np.ones(2)).tolist()


def test_a_shallow_copy_shares_the_memory() -> None:
    x = pn.zeros(2)
    copy.copy(x)[0] = 5.0
    assert x.tolist() == [5.0, 0.0]


def test_forward_may_return_what_numpy_computes() -> None:
    class Twice(pn.Function):
        @staticmethod
        def forward(context: Any, x: Any) -> Any:
            return x.detach().numpy() * 2

        @staticmethod
        def backward(context: Any, cotangent: Any) -> Any:
            return cotangent * 2

    x = pn.array([1.0, 2.0], requires_grad=True)
    assert pn.grad(Twice.apply(x).sum(), x).tolist() == [2.0, 2.0]
