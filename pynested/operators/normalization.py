"""Softmax, layer norm and dropout on nested and dense arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pynested.autograd import dense
from pynested.autograd.dense.canonical import canonical_dim, canonical_shape
from pynested.autograd.dense.normalization import check_probability, floating, norm_rows
from pynested.autograd.rules import movement as moves
from pynested.autograd.rules import segment
from pynested.backends import Segments
from pynested.backends.errors import DimensionError, ShapeError, StructureError
from pynested.nested_array import NestedArray
from pynested.packing import as_rows, from_rows, gathered, inverse, lead, packed
from pynested.structure import Jagged, Strided, frozen, packed_strides


def softmax(self: Any, dim: int, *, dtype: Any = None) -> Any:
    """exp(x - max) / sum along ``dim`` of each component."""
    if type(self) is not NestedArray:
        return dense.softmax(self, dim, dtype=dtype)
    at = canonical_dim("softmax", dim, self.ndim)
    if not at:
        raise DimensionError(
            "softmax: dimension 0 is the batch dimension, along which components have nothing in common. Name one of "
            f"1..{self.ndim - 1}."
        )
    x = packed(NestedArray(floating("softmax", self.data, dtype), self.structure))
    if isinstance(x.structure, Strided):
        rows = as_rows(x)
        if rows is None:
            return _softmax_strided(x, at - 1)
        return from_rows(softmax(rows, at).data, x.structure)
    if at != x.structure.ragged_dim:
        return NestedArray(dense.softmax(x.data, at - 1), x.structure)
    if at == 1:
        return NestedArray(segment.segment_softmax(x.data, x.structure.segments), x.structure)
    order = lead(at - 1, x.data.ndim)
    rows = segment.segment_softmax(moves.transpose(x.data, order), x.structure.segments)
    return NestedArray(moves.transpose(rows, inverse(order)), x.structure)


def _softmax_strided(x: NestedArray, axis: int) -> NestedArray:
    """The dimension brought last, every run is a segment of the flat buffer; the result is a view put back in order."""
    sizes = x.component_sizes()
    order = [k for k in range(x.ndim - 1) if k != axis] + [axis]
    runs = sizes[:, order[:-1]].prod(axis=1, dtype=np.int64)
    segments = Segments.from_lengths(np.repeat(sizes[:, axis], runs))
    flat = segment.segment_softmax(gathered(x, order), segments)
    if order == list(range(x.ndim - 1)):
        return NestedArray(flat, Strided.of_packed(sizes))
    turned = Strided.of_packed(sizes[:, order])
    strides = packed_strides(turned.sizes)[:, inverse(order)]
    return packed_rows(NestedArray(flat, Strided(sizes, frozen(strides), turned.offsets, turned.buffer_size)))


def packed_rows(x: NestedArray) -> NestedArray:
    """A strided array row-major and in order."""
    return NestedArray(gathered(x), Strided.of_packed(x.component_sizes()))


def layer_norm(
    self: Any, normalized_shape: Sequence[int] | int, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:
    """Each trailing block less its mean, by its standard deviation, times weight, plus bias."""
    if type(self) is not NestedArray:
        return dense.layer_norm(self, normalized_shape, weight, bias, eps)
    given = (normalized_shape,) if isinstance(normalized_shape, int) else normalized_shape
    shape = canonical_shape("layer_norm", (given,))
    floating("layer_norm", self.data)
    if not shape or len(shape) >= self.ndim:
        raise StructureError(
            f"layer_norm: normalized_shape {shape} must be the last sizes of the components, which have {self.ndim - 1} "
            "dimensions; the batch is not one of them."
        )
    for back, size in enumerate(reversed(shape)):
        dim = self.ndim - 1 - back
        found = self.regular_size(dim)
        if found != size and len(self):
            what = "is irregular" if found is None else f"has size {found}"
            kind = StructureError if found is None else ShapeError
            raise kind(f"layer_norm: normalized_shape {shape} has {size} where dimension {dim} {what}.")
    x = packed(self)
    if isinstance(x.structure, Jagged):
        return NestedArray(norm_rows(x.data, shape, weight, bias, eps), x.structure)
    rows = int(x.component_sizes()[:, : -len(shape)].prod(axis=1).sum())
    flat = moves.reshape(gathered(x), (rows, *shape))
    normed = norm_rows(flat, shape, weight, bias, eps)
    return NestedArray(moves.reshape(normed, (normed.numel(),)), x.structure.packed)


def dropout(self: Any, p: float = 0.5, training: bool = True, *, generator: Any = None) -> Any:
    """Each element zeroed with probability ``p``, and the others scaled by 1 / (1 - p)."""
    if type(self) is not NestedArray:
        return dense.dropout(self, p, training, generator=generator)
    floating("dropout", self.data)
    check_probability(p)
    if not training or p == 0:
        return NestedArray(moves.alias(self.data), self.structure)
    x = packed(self)
    return NestedArray(dense.dropout(x.data, p, training, generator=generator), x.structure)
