"""Softmax, its logarithm and softmin; layer norm; and dropout: the chapter *normalization* of the specification.

In `softmax`, `log_softmax` and `softmin`, ``dim`` is any dimension but the batch; ``axis`` is NumPy's name of ``dim``.
If a ``dtype`` is given, every element is first converted as `to` does, and the result has this dtype; otherwise the
dtype stays. The layout stays. DimensionError for ``dim`` 0 of a nested array, and for a ``dim`` that is out of range.
DTypeError for bools and integers without a ``dtype``, and for a ``dtype`` that is not floating.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from pynested.autograd import Array, random
from pynested.autograd.arguments.operands import as_array, as_arrays_on_one_device
from pynested.autograd.arguments.scalars import canonical_real
from pynested.autograd.arguments.shapes import canonical_shape, is_sequence
from pynested.autograd.call_errors import check_flags
from pynested.autograd.decorators import operator
from pynested.autograd.primitives import binary, movement, unary
from pynested.autograd.primitives import normalization as primitives
from pynested.autograd.primitives.segment import segment_softmax, softmax_last
from pynested.backends.errors import ShapeError, StructureError
from pynested.backends.host import from_host
from pynested.lifting.along_dim import along_dim, swap_axes
from pynested.lifting.reducers import AxisReducer, Reducer, SegmentReducer
from pynested.lifting.result_dtypes import check_float, convert_to_float, convert_to_wide_float
from pynested.nested.layout_conversion import contiguous, packed
from pynested.nested.nested_array import NestedArray, wrap_unchecked
from pynested.nested.operands import ArrayT, Dense, DType
from pynested.structure.ragged_size import RaggedSize

from .dim_parameters import dim_or_axis

__all__ = ["dropout", "layer_norm", "log_softmax", "softmax", "softmin"]


@operator
def softmax(self: ArrayT, dim: int | None = None, *, dtype: DType | None = None, axis: int | None = None) -> ArrayT:
    """Return ``exp(x - max) / sum`` along ``dim``: ``(B, *, D) -> (B, *, D)``.

    The shift keeps finite input finite: (1000, 1001) and (0, 1) give the same result. An empty component stays empty.
    -inf beside finite elements becomes +0. A NaN or +inf, or nothing but -inf, makes every element along ``dim`` NaN,
    and no element elsewhere. Gradient: ``y * (g - sum(y * g))`` with ``y`` the result. Clauses: SOFTMAX-1 to SOFTMAX-9.
    After `torch.nn.functional.softmax`.

    >>> nt = pn.nested_array([[1000.0, 1000.0], [-np.inf, 3.0], []], layout=pn.jagged)
    >>> pn.softmax(nt, 1).unbind()
    (array([0.5, 0.5]), array([0., 1.]), array([]))
    """
    chosen_dim = dim_or_axis("softmax", dim, axis)
    return along_dim("softmax", self, chosen_dim, segment_softmax, _softmax_of_axis, convert_to_float, dtype)


def _softmax_of_axis(x: Array, axis: int) -> Array:
    last = x.ndim - 1
    return swap_axes(softmax_last(swap_axes(x, axis, last)), axis, last).contiguous()


@operator
def log_softmax(self: ArrayT, dim: int | None = None, *, dtype: DType | None = None, axis: int | None = None) -> ArrayT:
    """Return the logarithm of the softmax along ``dim``: ``(B, *, D) -> (B, *, D)``.

    An element far below the maximum keeps its logarithm, though its softmax is 0. An empty component stays empty. -inf
    beside finite elements stays. The elements along ``dim`` become all NaN if one of them is NaN or +inf, or all are
    -inf; no others do. Gradient: ``g - softmax * sum(g)``. Clauses: LOG_SOFTMAX-1 to LOG_SOFTMAX-9. After
    `torch.nn.functional.log_softmax`.

    >>> nt = pn.nested_array([[1000.0, 1000.0], [-np.inf, 3.0], []], layout=pn.jagged)
    >>> pn.log_softmax(nt, 1).unbind()
    (array([-0.69314718, -0.69314718]), array([-inf,   0.]), array([]))
    """
    chosen_dim = dim_or_axis("log_softmax", dim, axis)
    return along_dim(
        "log_softmax", self, chosen_dim, lambda rows, segments: _log_softmax(SegmentReducer(segments), rows),
        lambda x, axis: _log_softmax(AxisReducer((axis,)), x), convert_to_wide_float, dtype,
    )  # fmt: skip


def _log_softmax(reducer: Reducer, x: Array) -> Array:
    difference = x - reducer.spread(reducer.amax(x.detach()), x)
    return difference - reducer.spread(unary.log(reducer.sum(unary.exp(difference))), x)


@operator
def softmin(self: ArrayT, dim: int | None = None, *, dtype: DType | None = None, axis: int | None = None) -> ArrayT:
    """Return the softmax of ``-x`` along ``dim``: ``(B, *, D) -> (B, *, D)``.

    The least element gets the largest share. An empty component stays empty. +inf beside finite elements becomes +0.
    The elements along ``dim`` become all NaN if one of them is NaN or -inf, or all are +inf; no others do. Gradient:
    ``-y * (g - sum(y * g))`` with ``y`` the result. Clauses: SOFTMIN-1 to SOFTMIN-9. After
    `torch.nn.functional.softmin`.

    >>> pn.softmin(pn.nested_array([[1000.0, 1000.0], [np.inf, 3.0], []], layout=pn.jagged), 1).unbind()
    (array([0.5, 0.5]), array([0., 1.]), array([]))
    """
    chosen_dim = dim_or_axis("softmin", dim, axis)
    return along_dim(
        "softmin", self, chosen_dim, lambda rows, segments: segment_softmax(-rows, segments),
        lambda x, axis: _softmax_of_axis(-x, axis), convert_to_float, dtype,
    )  # fmt: skip


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
    stay. ``weight`` and ``bias`` are dense, with the shape of a block; they are rounded to the dtype of ``self``. A
    block of equal elements becomes ``bias``, or +0; an empty component stays empty. A NaN or an infinity makes only its
    own block NaN. Gradient: the derivative of the formula, and +0 for equal elements if ``eps`` is 0; ``weight`` and
    ``bias`` get the sums over all blocks, +0 without blocks. Clauses: LAYER_NORM-1 to LAYER_NORM-11. After
    `torch.nn.functional.layer_norm`.

    Parameters
    ----------
    normalized_shape : int or sequence of int
        The last sizes of the components, all regular: the shape of a block. The variance is the mean of the squared
        deviations of a block.
    eps : float
        A number of 0 or more. A positive ``eps`` keeps the divisor positive in a block of equal elements.

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
    x = self if isinstance(self, NestedArray) else as_array("layer_norm", self)
    _check_trailing(x, shape)
    if isinstance(x, Array):
        return _normalize(x, shape, weight, bias, eps)
    x = contiguous(x)  # every block is contiguous, whichever dimension is ragged
    return wrap_unchecked(_normalize(x.data, shape, weight, bias, eps), x.structure)


def _regular_shape(normalized_shape: Any) -> tuple[int, ...]:
    """Return ``normalized_shape`` as integers; raise StructureError for the size of an irregular dimension."""
    sizes = tuple(normalized_shape) if is_sequence(normalized_shape) else (normalized_shape,)
    if any(isinstance(size, RaggedSize) for size in sizes):
        raise StructureError(
            f"layer_norm: normalized_shape {sizes} includes an irregular dimension, along which components differ in "
            "size. Give the sizes of the regular dimensions behind it."
        )
    return canonical_shape("layer_norm", (sizes,))


def _check_trailing(x: NestedArray | Array, shape: tuple[int, ...]) -> None:
    """Check that the last sizes of a dense array, or of all components, are ``shape``."""
    sizes = x.regular_sizes if isinstance(x, NestedArray) else x.shape
    if shape and sizes[max(len(sizes) - len(shape), 0) :] == shape:
        return
    if not isinstance(x, NestedArray):
        raise ShapeError(f"layer_norm: normalized_shape {shape} must be the last sizes of an array of shape {x.shape}.")
    if not shape or len(shape) > len(sizes):
        raise StructureError(
            f"layer_norm: normalized_shape {shape} must be the last sizes of the components, which have {len(sizes)} "
            "dimensions without the batch."
        )
    for dim, size in enumerate(shape, x.ndim - len(shape)):
        problem = f"layer_norm: normalized_shape {shape} has size {size} for dimension {dim}"
        if sizes[dim - 1] is None:
            raise StructureError(f"{problem}, which is irregular.")
        if sizes[dim - 1] != size:
            raise ShapeError(f"{problem} of size {sizes[dim - 1]}.")


def _normalize(x: Array, shape: tuple[int, ...], weight: Any, bias: Any, eps: float) -> Array:
    """Normalize values whose last sizes are ``shape``, as rows of a matrix."""
    eps = canonical_real("layer_norm", "eps", eps, 0)
    size = prod(shape)
    x, weight, bias = as_arrays_on_one_device("layer_norm", x, weight, bias, optional=2)
    rows = _reshape(check_float("layer_norm", x), (x.numel() // max(size, 1), size))  # no rows for a size of 0
    scale, shift = _as_row("weight", weight, shape, x.dtype), _as_row("bias", bias, shape, x.dtype)
    return _reshape(primitives.layer_norm(rows, scale, shift, eps), x.shape)


def _reshape(x: Array, shape: tuple[int, ...]) -> Array:
    """Return ``x`` in a new shape, or ``x`` itself, without a node of the tape, if it has that shape already."""
    return x if x.shape == shape else movement.reshape(x, shape)


def _as_row(name: str, value: Array | None, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array | None:
    """Return a weight or a bias as a row of ``dtype``, or None."""
    if value is None:
        return None
    if value.shape != shape:
        raise ShapeError(f"layer_norm: {name} must have shape {shape}, not {value.shape}.")
    return _reshape(movement.to_dtype(check_float(f"layer_norm: {name}", value), dtype), (prod(shape),))


@operator
def dropout(
    self: ArrayT, p: float = 0.5, training: bool = True, *, generator: np.random.Generator | None = None
) -> ArrayT:
    """Drop each element with probability ``p``, and divide the others by ``1 - p``: ``(B, *, D) -> (B, *, D)``.

    The shape, the layout and the dtype stay. A dropped element is multiplied by 0, so NaN and infinities become NaN.
    Each element is kept or dropped independently. Gradient: ``g / (1 - p)`` for a kept element, ``0 * g`` for a dropped
    one. Clauses: DROPOUT-1, DROPOUT-3 to DROPOUT-6, DROPOUT-8 to DROPOUT-10. After `torch.nn.functional.dropout`.

    Parameters
    ----------
    p : float
        From 0, which keeps every element, to 1, which drops every element.
    training : bool
        False returns a view of ``self``, whatever ``p`` is.
    generator : numpy.random.Generator, optional
        The source of the random draws, by default that of `manual_seed`. Which elements are kept for a given seed is
        not specified.

    Raises
    ------
    ArgumentError
        For ``p`` below 0, above 1 or NaN.
    DTypeError
        For bools and integers.

    Examples
    --------
    >>> nt = pn.nested_array([[1.0, np.nan], [3.0]], layout=pn.jagged)
    >>> pn.dropout(nt, 1.0).unbind()
    (array([ 0., nan]), array([0.]))
    """
    check_flags("dropout", training=training)
    generator = random.canonical_generator("dropout", generator)
    probability = canonical_real("dropout", "p", p, 0, 1) * bool(training)
    if not isinstance(self, NestedArray):
        return _drop(as_array("dropout", self), probability, generator)
    x = packed(self) if probability else self  # without drops the result is a view
    return NestedArray(_drop(x.data, probability, generator), x.structure)


def _drop(x: Array, probability: float, generator: np.random.Generator) -> Array:
    check_float("dropout", x)
    if not probability:
        return movement.alias(x)
    is_kept = from_host(generator.random(x.shape) >= probability, x.device)
    return binary.dropout(x, is_kept, probability)
