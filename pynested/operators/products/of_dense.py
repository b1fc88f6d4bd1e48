"""Products of dense arrays: what all products of components come down to."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.canonical import together
from pynested.autograd.arguments.shapes import broadcast_shape, possible_shape
from pynested.autograd.rules import elementwise as of_elements
from pynested.autograd.rules import linalg as of_matrices
from pynested.autograd.rules import movement as moves
from pynested.autograd.rules.movement import to_dtype
from pynested.backends.dtypes import computing_dtype, is_float, is_half, promoted
from pynested.backends.errors import ShapeError
from pynested.backends.limits import MOST_ELEMENTS


def _promoted(a: Array, b: Array) -> tuple[Array, Array]:
    if a.dtype == b.dtype:
        return a, b
    dtype = promoted(a.dtype, b.dtype)
    return to_dtype(a, dtype), to_dtype(b, dtype)


def multiplied(self: Any, other: Any) -> Array:
    """The matrix product over the last two dimensions; those before broadcast, and a vector is a row or a column."""
    a, b = _promoted(*together("matmul", self, other))
    if not a.ndim or not b.ndim:
        raise ShapeError(f"matmul: shapes {a.shape} and {b.shape}: both operands need at least one dimension; use mul.")
    inner = b.shape[-2] if b.ndim > 1 else b.shape[0]
    if a.shape[-1] != inner:
        raise ShapeError(
            f"matmul: the last dimension of {a.shape} has size {a.shape[-1]} and the dimension of {b.shape} that it "
            f"meets has size {inner}; they must be equal."
        )
    return _product(a, b)


def _product(a: Array, b: Array) -> Array:
    """The product of operands of one dtype whose inner sizes are equal."""
    left = a if a.ndim > 1 else moves.reshape(a, (1, *a.shape))
    right = b if b.ndim > 1 else moves.reshape(b, (*b.shape, 1))
    lead = broadcast_shape("matmul", left.shape[:-2], right.shape[:-2])
    if not 0 < a.data.size * b.data.size <= MOST_ELEMENTS:
        possible_shape("matmul", (*lead, left.shape[-2], right.shape[-1]))
    product = of_matrices.matmul(left, right)
    if left is a and right is b:
        return product
    rows = () if a.ndim == 1 else (left.shape[-2],)
    cols = () if b.ndim == 1 else (right.shape[-1],)
    return moves.reshape(product, (*lead, *rows, *cols))


def _multiplied_in(x: np.dtype[Any], weight: np.dtype[Any], bias: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of the products of `linear`: that of the result, float32 for halves; integers keep their own."""
    kind = promoted(x, weight)
    return computing_dtype(promoted(kind, bias) if is_float(kind) else kind)


def transformed(x: Array, weight: Array, bias: Array | None) -> Array:
    """`linear` of arguments that fit."""
    if bias is not None and (is_half(bias.dtype) or not x.dtype == weight.dtype == bias.dtype):
        wide, kind = _multiplied_in(x.dtype, weight.dtype, bias.dtype), promoted(x.dtype, weight.dtype, bias.dtype)
        if wide != promoted(x.dtype, weight.dtype):  # added up so wide, and rounded once, bias included
            return to_dtype(transformed(to_dtype(x, wide), to_dtype(weight, wide), to_dtype(bias, wide)), kind)
    product = _product(*_promoted(x, of_matrices.swapped(weight)))
    return product if bias is None else of_elements.add(product, bias)


def check_linear(features: int | None, weight: Array, bias: Array | None) -> None:
    """A weight is (out, in), ``in`` is the input's last size, and a bias is (out,)."""
    if weight.ndim != 2 or features != weight.shape[1]:
        raise ShapeError(
            f"linear: the input's last dimension has size {features}; weight must have shape (out, {features}), not "
            f"{weight.shape}."
        )
    if bias is not None and bias.shape != weight.shape[:1]:
        raise ShapeError(f"linear: bias must have shape {weight.shape[:1]}, not {bias.shape}.")
