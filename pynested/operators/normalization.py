"""Softmax, layer norm and dropout on nested and dense arrays."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from pynested.autograd import Array, random
from pynested.autograd.arguments.canonical import as_array, together
from pynested.autograd.arguments.shapes import canonical_shape, several
from pynested.autograd.array import raw
from pynested.autograd.call_errors import check_flags
from pynested.autograd.dispatch import operator
from pynested.autograd.numbers import canonical_real
from pynested.autograd.rules import elementwise as of_elements
from pynested.autograd.rules import movement as moves
from pynested.autograd.rules import rows as of_rows
from pynested.autograd.rules.movement import to_dtype
from pynested.autograd.rules.segment import segment_softmax
from pynested.backends import get_backend
from pynested.backends.errors import ShapeError, StructureError
from pynested.backends.host import from_host
from pynested.components.packing import contiguous, packed
from pynested.nested.array import NestedArray, around
from pynested.nested.operands import Dense, DType, Kind
from pynested.structure.sizes import RaggedSize
from pynested.tables.dtypes import composed, floating, normalized

from .dimensions import either_dim
from .segmentwise import along_dim, log_softmax_of_axis, log_softmax_of_rows, softmax_of_axis

__all__ = ["dropout", "layer_norm", "log_softmax", "softmax", "softmin"]


@operator
def softmax(self: Kind, dim: int | None = None, *, dtype: DType | None = None, axis: int | None = None) -> Kind:
    """Return ``exp(x - max) / sum`` along ``dim``: ``(B, *, D) -> (B, *, D)``.

    Parameters
    ----------
    self : NestedArray or Array
        Floats; the result has their dtype, and the layout.
    dim : int
        Any but the batch.
    dtype : optional
        Every element is converted to it first, as `to` does, and the result has it.
    axis
        NumPy's name of dim.

    Raises
    ------
    DimensionError
        For ``dim`` 0 of a nested array, and one out of range.
    DTypeError
        For bools and integers without a ``dtype``, and for a ``dtype`` that is not floating.

    Notes
    -----
    The shift keeps finite input finite: (1000, 1001) gives the numbers of (0, 1). An empty segment stays empty. -inf
    beside finite elements becomes +0; a segment that is all -inf, or holds NaN or +inf, becomes all NaN, and no other
    does. Gradient: ``y * (g - sum(y * g))`` with ``y`` the result.

    Clauses: SOFTMAX-1 to SOFTMAX-9. After `torch.nn.functional.softmax`.

    Examples
    --------
    >>> nt = pn.nested_array([[1000.0, 1000.0], [-np.inf, 3.0], []], layout=pn.jagged)
    >>> pn.softmax(nt, 1).unbind()
    (array([0.5, 0.5]), array([0., 1.]), array([]))
    """
    return along_dim(
        "softmax", self, either_dim("softmax", dim, axis), dtype, normalized, segment_softmax, softmax_of_axis
    )


@operator
def log_softmax(self: Kind, dim: int | None = None, *, dtype: DType | None = None, axis: int | None = None) -> Kind:
    """Return the logarithm of the softmax along ``dim``: ``(B, *, D) -> (B, *, D)``.

    Parameters
    ----------
    self : NestedArray or Array
        Floats; the result has their dtype, and the layout.
    dim : int
        Any but the batch.
    dtype : optional
        Every element is converted to it first, as `to` does, and the result has it.
    axis
        NumPy's name of dim.

    Raises
    ------
    DimensionError
        For ``dim`` 0 of a nested array, and one out of range.
    DTypeError
        For bools and integers without a ``dtype``, and for a ``dtype`` that is not floating.

    Notes
    -----
    What is far below the maximum keeps its logarithm, though its softmax is 0. An empty segment stays empty. -inf
    beside finite elements stays; a segment that is all -inf, or holds NaN or +inf, becomes all NaN, and no other does.
    Gradient: ``g - softmax * sum(g)``.

    Clauses: LOG_SOFTMAX-1 to LOG_SOFTMAX-9. After `torch.nn.functional.log_softmax`.

    Examples
    --------
    >>> nt = pn.nested_array([[1000.0, 1000.0], [-np.inf, 3.0], []], layout=pn.jagged)
    >>> pn.log_softmax(nt, 1).unbind()
    (array([-0.69314718, -0.69314718]), array([-inf,   0.]), array([]))
    """
    return along_dim(
        "log_softmax", self, either_dim("log_softmax", dim, axis), dtype, composed, log_softmax_of_rows,
        log_softmax_of_axis,
    )  # fmt: skip


@operator
def softmin(self: Kind, dim: int | None = None, *, dtype: DType | None = None, axis: int | None = None) -> Kind:
    """Return the softmax of ``-x`` along ``dim``: ``(B, *, D) -> (B, *, D)``.

    Parameters
    ----------
    self : NestedArray or Array
        Floats; the result has their dtype, and the layout.
    dim : int
        Any but the batch.
    dtype : optional
        Every element is converted to it first, as `to` does, and the result has it.
    axis
        NumPy's name of dim.

    Raises
    ------
    DimensionError
        For ``dim`` 0 of a nested array, and one out of range.
    DTypeError
        For bools and integers without a ``dtype``, and for a ``dtype`` that is not floating.

    Notes
    -----
    Most of it goes to what is least. An empty segment stays empty. +inf beside finite elements becomes +0; a segment
    that is all +inf, or holds NaN or -inf, becomes all NaN, and no other does. Gradient: ``-y * (g - sum(y * g))`` with
    ``y`` the result.

    Clauses: SOFTMIN-1 to SOFTMIN-9. After `torch.nn.functional.softmin`.

    Examples
    --------
    >>> pn.softmin(pn.nested_array([[1000.0, 1000.0], [np.inf, 3.0], []], layout=pn.jagged), 1).unbind()
    (array([0.5, 0.5]), array([0., 1.]), array([]))
    """
    return along_dim(
        "softmin", self, either_dim("softmin", dim, axis), dtype, normalized,
        lambda rows, segments: segment_softmax(-rows, segments), lambda x, axis: softmax_of_axis(-x, axis),
    )  # fmt: skip


def _regular_shape(normalized_shape: Any) -> tuple[int, ...]:
    """Return ``normalized_shape`` as integers; the size of an irregular dimension is refused."""
    sizes = tuple(normalized_shape) if several(normalized_shape) else (normalized_shape,)
    if any(isinstance(size, RaggedSize) for size in sizes):
        raise StructureError(
            f"layer_norm: normalized_shape {sizes} reaches into an irregular dimension, of which each component has "
            "its own size. Give the sizes of the regular dimensions behind it."
        )
    return canonical_shape("layer_norm", (sizes,))


def _check_trailing(x: NestedArray, shape: tuple[int, ...]) -> None:
    """``shape`` is that of the last dimensions of the components, all of them regular."""
    if 0 < len(shape) < x.ndim and x.regular[-len(shape) :] == shape:
        return
    if not shape or len(shape) >= x.ndim:
        raise StructureError(
            f"layer_norm: normalized_shape {shape} must be the last sizes of the components, which have {x.ndim - 1} "
            "dimensions; the batch is not one of them."
        )
    for dim, size in zip(range(x.ndim - len(shape), x.ndim), shape, strict=True):
        found = x.regular_size(dim)
        if found is None:
            raise StructureError(f"layer_norm: normalized_shape {shape} has {size} where dimension {dim} is irregular.")
        if found != size:
            raise ShapeError(f"layer_norm: normalized_shape {shape} has {size} where dimension {dim} has size {found}.")


def _ending_in(shape: tuple[int, ...], x: Array) -> Array:
    """``x``, whose last sizes are ``shape``, and which is floating point."""
    if not shape or x.shape[max(x.ndim - len(shape), 0) :] != shape:
        raise ShapeError(f"layer_norm: normalized_shape {shape} must be the last sizes of an array of shape {x.shape}.")
    return floating("layer_norm", x)


def _normalized(x: Array, shape: tuple[int, ...], weight: Any, bias: Any, eps: float) -> Array:
    """`layer_norm` of values whose last sizes are ``shape``."""
    eps = canonical_real("layer_norm", "eps", eps, 0)
    size = prod(shape)
    x, weight, bias = together("layer_norm", x, weight, bias, optional=2)
    scale, shift = _parameter("weight", weight, shape, x.dtype), _parameter("bias", bias, shape, x.dtype)
    rows = _in_shape(x, (x.numel() // max(size, 1), size))  # rows without elements are none, however many
    saved = get_backend(x.device).layer_norm(rows.data, raw(scale), raw(shift), eps)
    return _in_shape(of_rows.layer_norm(rows, scale, shift, eps, saved), x.shape)


def _in_shape(x: Array, shape: tuple[int, ...]) -> Array:
    """``x`` in a shape that it mostly has already; then there is no line to write."""
    return x if x.shape == shape else moves.reshape(x, shape)


def _parameter(name: str, given: Array | None, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array | None:
    """A weight or a bias, if there is one, in ``dtype`` and without dimensions but one."""
    if given is None:
        return None
    if given.shape != shape:
        raise ShapeError(f"layer_norm: {name} must have shape {shape}, not {given.shape}.")
    return _in_shape(to_dtype(floating("layer_norm", given), dtype), (prod(shape),))


@operator
def layer_norm(
    self: Kind,
    normalized_shape: int | Sequence[int],
    weight: Dense | None = None,
    bias: Dense | None = None,
    eps: float = 1e-5,
) -> Kind:
    """``(x - mean) / sqrt(variance + eps) * weight + bias`` of each trailing block: ``(B, *, D) -> (B, *, D)``.

    Parameters
    ----------
    self : NestedArray or Array
        Floats; the result has their shape, layout and dtype.
    normalized_shape : int or sequence of int
        The last sizes of the components, all regular; mean and variance (divisor n) are taken over these dimensions.
    weight, bias : Array, optional
        Dense, of shape ``normalized_shape``.
    eps : float
        0 or more; keeps the divisor of equal elements above 0.

    Raises
    ------
    StructureError
        For a ``normalized_shape`` that reaches into an irregular dimension, or the batch.
    ShapeError
        For one that differs from the last sizes, and a ``weight`` or ``bias`` of another shape.
    DTypeError
        For bools and integers.

    Notes
    -----
    A run of equal elements becomes ``bias``, or +0; an empty component stays empty. A NaN or an infinity makes its own
    run NaN and no other. Gradient: that of the formula, and +0 for equal elements where ``eps`` is 0; those of
    ``weight`` and ``bias`` are sums over all runs of all components, +0 where there are none.

    Clauses: LAYER_NORM-1 to LAYER_NORM-11. After `torch.nn.functional.layer_norm`.

    Examples
    --------
    >>> nt = pn.nested_array([[[1.0, 3.0]], [[5.0, 5.0]]], layout=pn.jagged)
    >>> pn.layer_norm(nt, 2, eps=1e-12).unbind()
    (array([[-1.,  1.]]), array([[0., 0.]]))
    """
    shape = _regular_shape(normalized_shape)
    if not isinstance(self, NestedArray):
        return _normalized(_ending_in(shape, as_array("layer_norm", self)), shape, weight, bias, eps)
    floating("layer_norm", self.data)
    _check_trailing(self, shape)
    x = contiguous(self)  # so that every run is a row, whichever dimension is ragged
    return around(_normalized(x.data, shape, weight, bias, eps), x.structure)


@operator
def dropout(self: Kind, p: float = 0.5, training: bool = True, *, generator: np.random.Generator | None = None) -> Kind:
    """Each element is dropped with probability ``p``, or else divided by ``1 - p``: ``(B, *, D) -> (B, *, D)``.

    Parameters
    ----------
    self : NestedArray or Array
        Floats; the result has their shape, layout and dtype.
    p : float
        From 0, which keeps every element, to 1, which drops every one.
    training : bool
        False gives ``self``, whatever ``p`` is.
    generator : numpy.random.Generator, optional
        Which elements are kept follows from its state; by default the one of `manual_seed`.

    Raises
    ------
    ArgumentError
        For ``p`` below 0, above 1 or NaN.
    DTypeError
        For bools and integers.

    Notes
    -----
    A dropped element is multiplied by 0, so that NaN and infinities do not vanish: they become NaN. Which elements are
    kept is not specified; each is kept independently of the others. Gradient: the same choice, ``g / (1 - p)`` where
    kept, ``0 * g`` where dropped.

    Clauses: DROPOUT-1, DROPOUT-3 to DROPOUT-6, DROPOUT-8 to DROPOUT-10. After `torch.nn.functional.dropout`.

    Examples
    --------
    >>> nt = pn.nested_array([[1.0, np.nan], [3.0]], layout=pn.jagged)
    >>> pn.dropout(nt, 1.0).unbind()
    (array([ 0., nan]), array([0.]))
    """
    check_flags("dropout", training=training)
    share = canonical_real("dropout", "p", p, 0, 1) * bool(training)
    if not isinstance(self, NestedArray):
        return _dropped(as_array("dropout", self), share, generator)
    x = packed(self) if share else self  # a view where nothing is dropped
    return NestedArray(_dropped(x.data, share, generator), x.structure)


def _dropped(x: Array, share: float, generator: np.random.Generator | None) -> Array:
    floating("dropout", x)
    if not share:
        return moves.alias(x)
    mask = from_host(random.default(generator).random(x.shape) >= share, x.device)
    return of_elements.dropout(x, mask, share)
