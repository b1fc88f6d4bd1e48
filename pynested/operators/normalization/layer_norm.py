"""Layer norm of the last dimensions of nested and dense arrays."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.operands import as_array, as_arrays_on_one_device
from pynested.autograd.arguments.scalars import canonical_real
from pynested.autograd.arguments.shapes import canonical_shape, is_sequence
from pynested.autograd.dispatch import operator
from pynested.autograd.primitives import movement
from pynested.autograd.primitives import rows as row_primitives
from pynested.backends.errors import ShapeError, StructureError
from pynested.lifting.result_dtypes import check_float
from pynested.nested.layout_conversion import contiguous
from pynested.nested.nested_array import NestedArray, wrap_unchecked
from pynested.nested.operands import ArrayT, Dense
from pynested.structure.ragged_size import RaggedSize


@operator
def layer_norm(
    self: ArrayT,
    normalized_shape: int | Sequence[int],
    weight: Dense | None = None,
    bias: Dense | None = None,
    eps: float = 1e-5,
) -> ArrayT:
    """Compute ``(x - mean) / sqrt(variance + eps) * weight + bias`` of each block: ``(B, *, D) -> (B, *, D)``.

    A block is one slice along the last dimensions, of shape ``normalized_shape``. The shape, the layout and the dtype
    stay. ``weight`` and ``bias`` are dense, with the shape of a block. A block of equal elements becomes ``bias``, or
    +0; an empty component stays empty. A NaN or an infinity makes only its own block NaN. Gradient: the derivative of
    the formula, and +0 for equal elements if ``eps`` is 0; ``weight`` and ``bias`` get the sums over all blocks, +0
    without blocks. Clauses: LAYER_NORM-1 to LAYER_NORM-11. After `torch.nn.functional.layer_norm`.

    Parameters
    ----------
    normalized_shape : int or sequence of int
        The last sizes of the components, all regular: the shape of a block. The variance is the mean of the squared
        deviations of a block.
    eps : float
        A number of 0 or more, which keeps the divisor of equal elements above 0.

    Raises
    ------
    StructureError
        For a ``normalized_shape`` that includes an irregular dimension, or the batch.
    ShapeError
        For a ``normalized_shape`` that differs from the last sizes, and for a ``weight`` or ``bias`` that does not have
        this shape.
    DTypeError
        For bools and integers.

    Examples
    --------
    >>> nt = pn.nested_array([[[1.0, 3.0]], [[5.0, 5.0]]], layout=pn.jagged)
    >>> pn.layer_norm(nt, 2, eps=1e-12).unbind()
    (array([[-1.,  1.]]), array([[0., 0.]]))
    """
    shape = _regular_shape(normalized_shape)
    if not isinstance(self, NestedArray):
        x = as_array("layer_norm", self)
        _check_trailing_dense(x, shape)
        return _normalize(check_float("layer_norm", x), shape, weight, bias, eps)
    check_float("layer_norm", self.data)
    _check_trailing(self, shape)
    packed = contiguous(self)  # every block is contiguous, whichever dimension is ragged
    return wrap_unchecked(_normalize(packed.data, shape, weight, bias, eps), packed.structure)


def _regular_shape(normalized_shape: Any) -> tuple[int, ...]:
    """Return ``normalized_shape`` as integers; raise StructureError for the size of an irregular dimension."""
    sizes = tuple(normalized_shape) if is_sequence(normalized_shape) else (normalized_shape,)
    if any(isinstance(size, RaggedSize) for size in sizes):
        raise StructureError(
            f"layer_norm: normalized_shape {sizes} includes an irregular dimension, along which components differ in "
            "size. Give the sizes of the regular dimensions behind it."
        )
    return canonical_shape("layer_norm", (sizes,))


def _check_trailing(x: NestedArray, shape: tuple[int, ...]) -> None:
    """Check that the last dimensions of the components are regular and have the sizes ``shape``."""
    if 0 < len(shape) < x.ndim and x.regular[-len(shape) :] == shape:
        return
    if not shape or len(shape) >= x.ndim:
        raise StructureError(
            f"layer_norm: normalized_shape {shape} must be the last sizes of the components, which have {x.ndim - 1} "
            "dimensions without the batch."
        )
    for dim, size in zip(range(x.ndim - len(shape), x.ndim), shape, strict=True):
        regular_size = x.regular_size(dim)
        if regular_size is None:
            raise StructureError(
                f"layer_norm: normalized_shape {shape} has size {size} for dimension {dim}, which is irregular."
            )
        if regular_size != size:
            raise ShapeError(
                f"layer_norm: normalized_shape {shape} has size {size} for dimension {dim} of size {regular_size}."
            )


def _check_trailing_dense(x: Array, shape: tuple[int, ...]) -> None:
    """Check that the last sizes of a dense array are ``shape``."""
    if not shape or x.shape[max(x.ndim - len(shape), 0) :] != shape:
        raise ShapeError(f"layer_norm: normalized_shape {shape} must be the last sizes of an array of shape {x.shape}.")


def _normalize(x: Array, shape: tuple[int, ...], weight: Any, bias: Any, eps: float) -> Array:
    """Normalize values whose last sizes are ``shape``, as rows of a matrix."""
    eps = canonical_real("layer_norm", "eps", eps, 0)
    size = prod(shape)
    x, weight, bias = as_arrays_on_one_device("layer_norm", x, weight, bias, optional=2)
    scale, shift = _as_row("weight", weight, shape, x.dtype), _as_row("bias", bias, shape, x.dtype)
    rows = _reshape(x, (x.numel() // max(size, 1), size))  # no rows if a row would have no elements
    return _reshape(row_primitives.layer_norm(rows, scale, shift, eps), x.shape)


def _reshape(x: Array, shape: tuple[int, ...]) -> Array:
    """Return ``x`` in a new shape, or ``x`` itself, without a node of the tape, if it has that shape already."""
    return x if x.shape == shape else movement.reshape(x, shape)


def _as_row(name: str, value: Array | None, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array | None:
    """Return a weight or a bias as a row of ``dtype``, or None."""
    if value is None:
        return None
    if value.shape != shape:
        raise ShapeError(f"layer_norm: {name} must have shape {shape}, not {value.shape}.")
    return _reshape(movement.to_dtype(check_float("layer_norm", value), dtype), (prod(shape),))
