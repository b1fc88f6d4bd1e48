"""Second opinions in Python loops, for what NumPy has no function for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

Position = tuple[int, ...]


def segments(components: Sequence[np.ndarray], dims: Sequence[int]) -> dict[Position, list[Position]]:
    """Return the elements that a reduction over ``dims`` combines, by their position in the result."""
    found: dict[Position, list[Position]] = {}
    for index in _elements(components):
        found.setdefault(tuple(k for d, k in enumerate(index) if d not in dims), []).append(index)
    return found


def ties(components: Sequence[np.ndarray], dims: Sequence[int]) -> dict[Position, tuple[Position, float]]:
    """Return for each element the position of its maximum over ``dims``, and its share of it: 1 / ties, or 0."""
    shares = {}
    for position, segment in segments(components, dims).items():
        numbers = [components[i][tuple(rest)] for i, *rest in segment]
        count = numbers.count(max(numbers))
        shares |= {i: (position, (n == max(numbers)) / count) for i, n in zip(segment, numbers, strict=True)}
    return shares


def variance(numbers: Sequence[Any], correction: float = 1) -> float:
    """Return the variance in exact fractions: NaN for 0 / 0, infinity for any other division by 0."""
    exact = [Fraction(float(x)) for x in numbers]
    mean = sum(exact) / max(len(exact), 1)
    squares, divisor = sum((x - mean) ** 2 for x in exact), max(len(exact) - Fraction(correction), 0)
    return float(squares / divisor) if divisor else float("inf") if squares else float("nan")


def _elements(components: Sequence[np.ndarray]) -> Iterator[Position]:
    for i, x in enumerate(components):
        yield from ((i, *position) for position in np.ndindex(x.shape))
