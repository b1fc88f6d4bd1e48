"""Sample arguments for the rules: what every rule is checked on, edges included.

A sample is the tuple of arguments of one call, arrays first. Arrays are float64; the checks cast them. Values are short
decimals, so that a failure can be read, and stay away from kinks, whose gradients are tested by value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.random import Generator

Samples = Callable[[Generator], Iterable[tuple[Any, ...]]]
SHAPES: tuple[tuple[int, ...], ...] = ((), (1,), (5,), (0,), (2, 3), (3, 0, 2), (2, 1, 4))
PAIRS: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((), ()), ((3,), (3,)), ((2, 3), (3,)), ((3,), (2, 3)), ((2, 1, 4), (3, 1)), ((), (2, 2)), ((0, 3), (3,)),
    ((1,), (4,)),
)  # fmt: skip


def numbers(generator: Generator, shape: tuple[int, ...], low: float = -2.0, high: float = 2.0) -> np.ndarray[Any, Any]:
    """Two-digit decimals between ``low`` and ``high``, none of them within 0.05 of zero."""
    values = np.asarray(generator.integers(round(low * 100), round(high * 100), shape) / 100)
    return np.where(np.abs(values) < 0.05, values + 0.11, values)


def reals(generator: Generator) -> Iterable[tuple[Any, ...]]:
    """One array of any sign."""
    return [(numbers(generator, shape),) for shape in SHAPES]


def positives(generator: Generator) -> Iterable[tuple[Any, ...]]:
    """One array of positive numbers."""
    return [(numbers(generator, shape, 0.3, 3.0),) for shape in SHAPES]


def above_one(generator: Generator) -> Iterable[tuple[Any, ...]]:
    """One array of numbers above 1."""
    return [(numbers(generator, shape, 1.3, 4.0),) for shape in SHAPES]


def fractions(generator: Generator) -> Iterable[tuple[Any, ...]]:
    """One array of numbers between -0.8 and 0.8."""
    return [(numbers(generator, shape, -0.8, 0.8),) for shape in SHAPES]


def pairs(generator: Generator) -> Iterable[tuple[Any, ...]]:
    """Two arrays that broadcast."""
    return [(numbers(generator, a), numbers(generator, b)) for a, b in PAIRS]


def positive_pairs(generator: Generator) -> Iterable[tuple[Any, ...]]:
    """Two arrays that broadcast, the first of positive numbers."""
    return [(numbers(generator, a, 0.3, 3.0), numbers(generator, b)) for a, b in PAIRS]


def quotients(generator: Generator) -> Iterable[tuple[Any, ...]]:
    """Two arrays that broadcast, whose quotients are no integers, nor near one."""

    def of(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> tuple[Any, ...]:
        a, b = shapes
        return generator.integers(-4, 4, a) + 0.5, generator.choice([-2.0, -1.0, 1.0, 2.0], b)

    return [of(shapes) for shapes in PAIRS]


def with_static(*cases: tuple[Any, ...]) -> Samples:
    """One array of the shape that begins each case, and the arguments that follow it."""

    def samples(generator: Generator) -> Iterable[tuple[Any, ...]]:
        return [(numbers(generator, shape), *static) for shape, *static in cases]

    return samples


def arrays(*cases: tuple[Any, ...]) -> Samples:
    """For each case a list of shapes, one an array, and then the arguments that follow."""

    def samples(generator: Generator) -> Iterable[tuple[Any, ...]]:
        return [(*[numbers(generator, shape) for shape in shapes], *static) for shapes, *static in cases]

    return samples
