"""The checker is checked: wrong versions of right rules, all of which it must reject."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.autograd import Array, Function, gradcheck
from pynested.autograd.array import raw
from pynested.autograd.rules import elementwise, segment
from pynested.backends import Segments
from pynested.backends.errors import GradientError

X = np.array([[0.3, -1.2, 0.7, 1.1], [2.0, 0.4, -0.6, -1.7]])
SEGMENTS = Segments(np.array([0, 1, 4]))
Mutant = Callable[[Any, Any], Any]  # (cotangent that came in, cotangent that the right rule sends on)


def like(values: Any, other: Any) -> Any:
    """``values`` as the kind of array that ``other`` is."""
    return Array(np.asarray(values)) if type(other) is Array else np.asarray(values)


def permuted(g: Any, right: Any) -> Any:
    return like(raw(right)[::-1].copy(), right)


def one_sign(g: Any, right: Any) -> Any:
    signs = np.ones(right.shape)
    signs[1, 1] = -1
    return right * like(signs.astype(right.dtype), right)


def mutating(g: Any, right: Any) -> Any:
    values = raw(g)
    values *= 1
    return right


calls = {"count": 0}


def forgetful(g: Any, right: Any) -> Any:
    """Right every other time."""
    calls["count"] += 1
    return right * (1.0 + 1e-3 * (calls["count"] % 2))


MUTANTS: dict[str, Mutant] = {
    "scaled by 1 + 1e-2": lambda g, right: right * (1 + 1e-2),
    "scaled by 1 + 1e-4": lambda g, right: right * (1 + 1e-4),
    "scaled by 1 + 1e-6": lambda g, right: right * (1 + 1e-6),
    "adds 1e-6": lambda g, right: right + 1e-6,
    "sign flipped": lambda g, right: -right,
    "one element's sign flipped": one_sign,
    "permuted": permuted,
    "ignores the cotangent": lambda g, right: like(np.ones(right.shape, right.dtype), right),
    "cubic in the cotangent": lambda g, right: right * g * g,
    "square of the cotangent": lambda g, right: right * g,
    "absolute value of the cotangent": lambda g, right: like(np.abs(raw(right)), right),
    "returns zero": lambda g, right: right * 0.0,
    "returns nothing": lambda g, right: None,
    "detached for the second order": lambda g, right: right.detach() if type(right) is Array else right,
    "another function for the second order": lambda g, right: right * 2.0 if type(right) is Array else right,
    "mutates the cotangent": mutating,
    "shape (1, ...)": lambda g, right: right.reshape((1, *right.shape)),
    "summed": lambda g, right: like(raw(right).sum(axis=0, keepdims=True), right),
    "float32 for float64": lambda g, right: like(raw(right).astype(np.float32), right),
    "float64 for float32": lambda g, right: like(raw(right).astype(np.float64), right),
    "rounded to float32": lambda g, right: like(raw(right).astype(np.float32).astype(right.dtype), right),
    "different each time": forgetful,
}


def square(x: Array) -> Array:
    return elementwise.mul(x, x)


def softmax(x: Array) -> Array:
    return segment.segment_softmax(x.reshape((4, 2)), SEGMENTS).reshape((2, 4))


SUBJECTS: dict[str, tuple[Any, Callable[[Array], Array], tuple[int, ...]]] = {
    "tanh": (elementwise.tanh, lambda x: elementwise.tanh(x), (2, 4)),
    "sin": (elementwise.sin, lambda x: elementwise.sin(x), (2, 4)),
    "mul": (elementwise.mul, square, (2, 4)),
    "gelu": (elementwise.gelu, lambda x: elementwise.gelu(x), (2, 4)),
    "segment_softmax": (segment.segment_softmax, lambda x: segment.segment_softmax(x, SEGMENTS), (4, 2)),
}


@pytest.mark.parametrize("subject", SUBJECTS)
def test_the_right_rule_passes(subject: str) -> None:
    _, function, shape = SUBJECTS[subject]
    assert gradcheck(function, Array(X.reshape(shape)))


@pytest.mark.parametrize("subject", SUBJECTS)
@pytest.mark.parametrize("mutant", MUTANTS)
def test_pull_mutants_are_killed(monkeypatch: pytest.MonkeyPatch, subject: str, mutant: str) -> None:
    rule, function, shape = SUBJECTS[subject]
    right = rule.cotangents

    def wrong(line: Any, cotangent: Any, inputs: Any, output: Any, needed: Any) -> Any:
        pulled = right(line, cotangent, inputs, output, needed)
        return [None if one is None else MUTANTS[mutant](cotangent, one) for one in pulled]

    monkeypatch.setattr(rule, "cotangents", wrong)
    with pytest.raises(GradientError):
        gradcheck(function, Array(X.reshape(shape)))


PUSH_MUTANTS: dict[str, Callable[[Any], Any]] = {
    "scaled": lambda pushed: pushed * (1 + 1e-9),
    "sign flipped": lambda pushed: -pushed,
    "zero": lambda pushed: pushed * 0.0,
    "nothing": lambda pushed: None,
    "shape": lambda pushed: pushed.reshape((1, *pushed.shape)),
    "dtype": lambda pushed: pushed.to(pn.float32),
}


@pytest.mark.parametrize("mutant", PUSH_MUTANTS)
@pytest.mark.parametrize("subject", SUBJECTS)
def test_push_mutants_are_killed(monkeypatch: pytest.MonkeyPatch, subject: str, mutant: str) -> None:
    rule, function, shape = SUBJECTS[subject]
    right = rule.push
    monkeypatch.setattr(rule, "push", lambda line, tangents: PUSH_MUTANTS[mutant](right(line, tangents)))
    with pytest.raises(GradientError):
        gradcheck(function, Array(X.reshape(shape)))


def test_a_wrong_value_is_killed() -> None:
    """Right derivatives of another function."""

    class Off(Function):
        @staticmethod
        def forward(context: Any, x: Any) -> Any:
            context.save_for_backward(x)
            return x.sin() + 1e-5 * x

        @staticmethod
        def backward(context: Any, cotangent: Any) -> Any:
            return context.saved[0].cos() * cotangent

    with pytest.raises(GradientError, match="differences"):
        gradcheck(lambda x: Off.apply(x), Array(X))


def test_there_are_at_least_sixteen() -> None:
    assert len(MUTANTS) + len(PUSH_MUTANTS) >= 16
