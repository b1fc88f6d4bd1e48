"""How far the gradients of `pow` and `logaddexp` may be off.

Those of `pow` are b * a**(b - 1) times a cotangent, and a**b * log(a) times one:

b - 1 is rounded, which the power enlarges by log(a); a power and a logarithm are within 4 ulp. What meets an element
that was broadcast is added up. Those of `logaddexp` are g / (1 + e**(b - a)), where b - a is rounded, and its like.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .bounds import Arguments, Nested
from .components import Components, matched
from .numerics import NDArray, wide

__all__ = ["logaddexp_error", "pow_added", "pow_error", "pow_lost"]

Terms = tuple[Any, Any]

# The C library's: NumPy's has another last bit on processors with AVX-512, and the vectors hold these numbers.
_exp = np.vectorize(math.exp, otypes=[np.float64])


def pow_error(arguments: Arguments, cotangent: Nested) -> dict[str, Nested]:
    """Return E of the gradient of each operand."""
    count = sum(np.size(g) for g in _parts(cotangent))

    def terms(a: Any, b: Any, g: Any, log: Any) -> Terms:
        of_base = np.abs(b) * (a + (b == 0)) ** (b - 1) * g
        return (20 + count + np.abs(b - 1) * log) * of_base, (20 + count) * a**b * log * g

    return _of_operands(terms, arguments, cotangent)


def logaddexp_error(arguments: Arguments, cotangent: Nested) -> dict[str, Nested]:
    """Return E of the gradient of each operand."""
    count = sum(np.size(g) for g in _parts(cotangent))

    def terms(a: Any, b: Any, g: Any) -> Terms:
        apart = np.clip(a.astype(np.float64) - b.astype(np.float64), -700, 700)  # farther apart one of them gets 0
        size = (20 + count + np.abs(apart)) * g.astype(np.float64)
        return size / (1 + _exp(-apart)), size / (1 + _exp(apart))

    return _of_met(terms, arguments, cotangent)


def pow_lost(arguments: Arguments, cotangent: Nested) -> dict[str, Nested]:
    """Return the floors that products lose of which a factor may have vanished."""
    return _of_operands(lambda a, b, g, log: ((1 + np.abs(b) + log) * (1 + g),) * 2, arguments, cotangent)


def pow_added(arguments: Arguments, cotangent: Nested) -> dict[str, Nested]:
    """Return the most that factors and products may be, in whatever order."""

    def terms(a: Any, b: Any, g: Any, log: Any) -> Terms:
        of_base = (1 + np.abs(b)) * (a + (b == 0)) ** (b - 1) * (1 + g)
        return np.where(b == 0, 0 * g, of_base), a**b * (1 + log) * (1 + g)

    return _of_operands(terms, arguments, cotangent)


def _of_operands(terms: Callable[..., Terms], arguments: Arguments, cotangent: Nested) -> dict[str, Nested]:
    """Return the sums of the terms of pow, which look at the size of a and at its logarithm."""

    def of_size(a: Any, b: Any, g: Any) -> Terms:
        size = np.abs(a)
        return terms(size, b, g, np.abs(np.log(size + (size == 0))))

    return _of_met(of_size, arguments, cotangent)


def _of_met(terms: Callable[..., Terms], arguments: Arguments, cotangent: Nested) -> dict[str, Nested]:
    """Return, for each operand that is no number, the sums of its terms."""
    operands = arguments["self"], arguments["other"]
    met = matched(*operands, cotangent) if isinstance(cotangent, Components) else [(*operands, cotangent)]
    found: list[Terms] = []
    for group in met:
        a, b, g = (np.atleast_1d(wide(one)) for one in group)  # exact numbers without dimensions would be no arrays
        found.append(terms(a, b, np.abs(g)))
    return {
        name: _summed_to(operand, [pair[number] for pair in found])
        for number, (name, operand) in enumerate(zip(("self", "other"), operands, strict=True))
        if isinstance(operand, (Components, np.ndarray))
    }


def _parts(cotangent: Nested) -> list[NDArray]:
    return cotangent if isinstance(cotangent, Components) else [cotangent]


def _summed_to(operand: Any, terms: list[NDArray]) -> Nested:
    """Return the sums of the terms, one array for each component, that meet an element of an operand."""
    if isinstance(operand, Components):
        return [_shrunk(*pair) for pair in zip(terms, operand, strict=True)]
    if terms and operand.ndim > terms[0].ndim:
        parts = [_shrunk(one, operand[k if len(operand) > 1 else 0]) for k, one in enumerate(terms)]
        return np.stack(parts) if len(operand) > 1 else np.asarray(sum(parts))[None]
    added = sum((_shrunk(one, operand).ravel() for one in terms), start=np.zeros(operand.size))
    return np.asarray(added).reshape(operand.shape)


def _shrunk(terms: NDArray, like: NDArray) -> NDArray:
    shape = (1,) * (terms.ndim - like.ndim) + like.shape
    axes = tuple(k for k, size in enumerate(shape) if size == 1)
    return np.asarray(terms.sum(axis=axes, keepdims=True)).reshape(like.shape)
