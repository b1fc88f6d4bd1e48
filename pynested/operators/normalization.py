"""Softmax, layer norm and dropout on nested and dense arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pynested.autograd import dense
from pynested.autograd.dense.entries import floating
from pynested.autograd.dense.normalization import norm_rows
from pynested.autograd.dense.shapes import canonical_shape
from pynested.autograd.numbers import canonical_real
from pynested.autograd.rules import movement as moves
from pynested.backends.errors import ShapeError, StructureError
from pynested.components.packing import contiguous, packed
from pynested.nested.array import NestedArray, around
from pynested.nested.operands import Dense, Kind

from .runwise import log_softmax, softmax, softmin

__all__ = ["dropout", "layer_norm", "log_softmax", "softmax", "softmin"]


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
    x = contiguous(self)  # so that every run is a row, whichever dimension is ragged
    return around(norm_rows(x.data, shape, weight, bias, eps), x.structure)


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
