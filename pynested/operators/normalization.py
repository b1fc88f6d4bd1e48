"""Softmax, layer norm and dropout on nested and dense arrays."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from pynested.autograd import dense
from pynested.autograd.dense.canonical import canonical_dim, canonical_shape
from pynested.autograd.dense.normalization import floating, norm_rows
from pynested.autograd.numbers import canonical_real
from pynested.autograd.rules import movement as moves
from pynested.autograd.rules import segment
from pynested.backends import Segments
from pynested.backends.errors import DimensionError, ShapeError, StructureError
from pynested.nested_array import NestedArray
from pynested.operands import Dense, DType, Kind
from pynested.operators.movement.axes import named_instead
from pynested.packing import as_rows, contiguous, from_rows, gathered, inverse, lead, packed
from pynested.structure import Jagged, Strided


def softmax(self: Kind, dim: int, *, dtype: DType | None = None) -> Kind:
    """``exp(x - max) / sum`` of each run along ``dim``: ``(B, *, D) -> (B, *, D)``.

    Parameters
    ----------
    self : NestedArray or Array
        Floats; the result has their dtype, and the layout.
    dim : int
        Any but the batch.
    dtype : dtype, optional
        Every element is converted to it, a floating one, first, and the result has it.

    Raises
    ------
    DimensionError
        For ``dim`` 0 of a nested array, and one out of range.
    DTypeError
        For bools and integers without a ``dtype``, and for a ``dtype`` that is not floating.

    Notes
    -----
    The shift keeps finite input finite: (1000, 1001) gives the numbers of (0, 1). An empty run stays empty. -inf beside
    finite elements becomes +0; a run that is all -inf, or holds NaN or +inf, becomes all NaN, and no other does.
    Gradient: ``y * (g - sum(y * g))`` with ``y`` the result.

    Clauses: SOFTMAX-1 to SOFTMAX-9. After `torch.nn.functional.softmax`.

    Examples
    --------
    >>> nt = pn.nested_array([[1000.0, 1000.0], [-np.inf, 3.0], []], layout=pn.jagged)
    >>> pn.softmax(nt, 1).unbind()
    (array([0.5, 0.5]), array([0., 1.]), array([]))
    """
    if not isinstance(self, NestedArray):
        return dense.softmax(self, dim, dtype=dtype)
    at = canonical_dim("softmax", dim, self.ndim)
    if not at:
        raise DimensionError(
            "softmax: dimension 0 is the batch dimension, along which components have nothing in common. "
            f"{named_instead(self.ndim)}"
        )
    x = packed(NestedArray(floating("softmax", self.data, dtype), self.structure))
    if isinstance(x.structure, Strided):
        lined_up = as_rows(x)
        if lined_up is None:
            return _softmax_strided(x, at - 1)
        return from_rows(softmax(lined_up, at).data, x.structure)
    if at != x.structure.ragged_dim:
        return NestedArray(dense.softmax(x.data, at - 1), x.structure)
    if at == 1:
        return NestedArray(segment.segment_softmax(x.data, x.structure.segments), x.structure)
    order = lead(at - 1, x.data.ndim)
    rows = segment.segment_softmax(moves.transpose(x.data, order), x.structure.segments)
    return NestedArray(moves.transpose(rows, inverse(order)), x.structure)


def _softmax_strided(x: NestedArray, axis: int) -> NestedArray:
    """The dimension brought last, every run is a segment of the flat buffer; then a copy puts it back in order."""
    sizes = x.component_sizes()
    order = [k for k in range(x.ndim - 1) if k != axis] + [axis]
    runs = np.where(sizes[:, axis] > 0, sizes[:, order[:-1]].prod(axis=1, dtype=np.int64), 0)
    segments = Segments.from_lengths(np.repeat(sizes[:, axis], runs))
    flat = segment.segment_softmax(gathered(x, order), segments)
    if order == list(range(x.ndim - 1)):
        return NestedArray(flat, Strided.of_packed(x.outline, len(x)))
    turned = Strided.of_packed(x.outline[:, order], len(x))
    strides = turned.strides[:, inverse(order)]
    back = Strided.derived(x.outline, strides, turned.offsets, turned.buffer_size)
    return contiguous(NestedArray(flat, back))


def _check_trailing(x: NestedArray, shape: tuple[int, ...]) -> None:
    """``shape`` is that of the last dimensions of the components, all of them regular."""
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
    if not isinstance(self, NestedArray):
        return dense.layer_norm(self, normalized_shape, weight, bias, eps)
    shape: tuple[int, ...] = canonical_shape("layer_norm", (normalized_shape,))
    floating("layer_norm", self.data)
    _check_trailing(self, shape)
    x = packed(self)
    if isinstance(x.structure, Jagged):
        return NestedArray(norm_rows(x.data, shape, weight, bias, eps), x.structure)
    flat = gathered(x)
    flat = moves.reshape(flat, (flat.numel() // max(prod(shape), 1), *shape))
    normed = norm_rows(flat, shape, weight, bias, eps)
    return NestedArray(moves.reshape(normed, (normed.numel(),)), x.structure.packed)


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
    if not isinstance(self, NestedArray):
        return dense.dropout(self, p, training, generator=generator)
    floating("dropout", self.data)
    share = canonical_real("dropout", "p", p, 0, 1)
    if not training or share == 0:
        return NestedArray(moves.alias(self.data), self.structure)
    x = packed(self)
    return NestedArray(dense.dropout(x.data, share, training, generator=generator), x.structure)
