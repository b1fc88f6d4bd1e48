"""Slopes: a chain of calls run on complex numbers, whose imaginary parts are the derivative along a direction.

Definitions are analytic but for a few, which have another form here: the specification's position at their kinks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from pynested.spec.components import Components, each, left_align
from pynested.spec.definitions import definition
from pynested.spec.functions import FUNCTIONS

from .values import Answer

STEP = 2.0**-100  # nothing cancels, so it can be as small as one likes


def _each(change: Callable[[Any], Any], value: Any) -> Any:
    if isinstance(value, Components | np.ndarray):
        return each(change, value)
    return [_each(change, one) for one in value] if isinstance(value, list) else value


def _on_reals(op: str) -> Callable[..., Any]:
    """What gives no floats: comparisons."""
    return lambda **given: definition(op)(**{name: _each(np.real, value) for name, value in given.items()})


def _constant(op: str) -> Callable[..., Any]:
    """What is copied without history: the slopes are 0."""

    def still(array: Any) -> Any:
        return array.real.astype(array.dtype) if array.dtype.kind == "c" else array

    return lambda **given: definition(op)(**{name: _each(still, value) for name, value in given.items()})


def _abs(self: list[Any]) -> list[Any]:
    return [x * np.sign(x.real) if x.dtype.kind == "c" else np.abs(x) for x in self]


def _sgn(self: list[Any]) -> list[Any]:
    return [np.sign(x.real) for x in self]


def _extreme(sign: int) -> Callable[..., Any]:
    """The mean of all elements that are equally great: the transpose of splitting a cotangent evenly between them."""

    def define(self: list[Any], dim: Any = None, keepdim: bool = False) -> Any:
        def one(x: Any, present: Any, axes: Any) -> Any:
            known = np.where(present, sign * x.real, -np.inf)
            chosen = present & (known == known.max(axis=axes, keepdims=True, initial=-np.inf))
            return (x * chosen).sum(axis=axes, keepdims=keepdim) / chosen.sum(axis=axes, keepdims=keepdim)

        if dim is not None and 0 not in dim:
            return [one(x, np.ones(x.shape, np.bool_), tuple(d - 1 for d in dim)) for x in self]
        return one(*left_align(self), dim)

    return define


def _extreme_of_two(sign: int) -> Callable[..., Any]:
    """The greater of two elements, or half of each."""

    def one(a: Any, b: Any) -> Any:
        more = sign * (np.real(a) - np.real(b))
        return np.where(more == 0, (a + b) / 2, np.where(more > 0, a, b))

    return lambda self, other: each(one, self, other)


SLOPES: dict[str, Callable[..., Any]] = {
    **{
        op: _on_reals(op)
        for op in (
            "eq",
            "ne",
            "lt",
            "le",
            "gt",
            "ge",
            "logical_not",
            "logical_and",
            "logical_or",
            "logical_xor",
            "equal",
            "allclose",
        )
    },
    **{op: _constant(op) for op in ("nested_array", "detach")},
    "abs": _abs,
    "sgn": _sgn,
    "amax": _extreme(1),
    "amin": _extreme(-1),
    "maximum": _extreme_of_two(1),
    "minimum": _extreme_of_two(-1),
}
KINKED = (
    *(name for name, one in FUNCTIONS.items() if one.is_step),
    "abs",
    "clamp",
    "sgn",
    "amax",
    "amin",
    "maximum",
    "minimum",
    "pow",
    "floor_divide",
    "remainder",
    "relu",
    "where",
    "masked_fill",
    "eq",
    "lt",
    "ne",
    "gt",
    "le",
    "ge",
    "cross_entropy",
)


@contextmanager
def sloped() -> Iterator[None]:
    """Inside, rules use definitions that carry slopes."""
    Answer.slopes = SLOPES
    try:
        yield
    finally:
        Answer.slopes = {}
