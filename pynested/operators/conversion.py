"""Between nested and dense: padded arrays; and a nested array in another placement or layout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pynested import packing
from pynested.autograd import Array, dense
from pynested.autograd.dense.canonical import as_array, canonical_shape
from pynested.autograd.dense.comparison import scalar
from pynested.autograd.rules import elementwise as rules
from pynested.autograd.rules import movement as moves
from pynested.backends import get_backend, strided_index
from pynested.backends.errors import DeviceError, GradientError, ShapeError, StructureError
from pynested.layouts import canonical_layout
from pynested.nested_array import NestedArray
from pynested.packing import lead, packed, to_strided
from pynested.structure import Jagged, packed_strides


def to_padded_array(
    input: NestedArray, padding: Any, output_size: Sequence[int] | None = None, *, out: Array | None = None
) -> Array:
    """The components in the leading corners of a dense array, and ``padding`` everywhere else."""
    if type(input) is not NestedArray:
        raise StructureError(f"to_padded_array: the input must be nested, not {type(input).__name__}.")
    fill = scalar("to_padded_array", padding, input.dtype)
    sizes = input.component_sizes()
    needed = (len(input), *[int(sizes[:, k].max(initial=0)) for k in range(sizes.shape[1])])
    if not len(input):
        needed = (0, *[input.regular_size(dim) or 0 for dim in range(1, input.ndim)])
    shape = (
        needed
        if output_size is None
        else _checked_size(input, canonical_shape("to_padded_array", (output_size,)), needed)
    )
    padded = _padded(packed(input), shape, fill)
    return padded if out is None else _written(padded, out)


def _checked_size(x: NestedArray, shape: tuple[int, ...], needed: tuple[int, ...]) -> tuple[int, ...]:
    if len(shape) != len(needed):
        raise ShapeError(
            f"to_padded_array: output_size {shape} has {len(shape)} sizes and the nested array has {len(needed)} dimensions."
        )
    for dim, (size, least) in enumerate(zip(shape, needed, strict=True)):
        if size < least:
            raise ShapeError(
                "to_padded_array: Value in output_size is less than NestedArray padded size. Truncation is not "
                f"supported: dimension {dim} needs {least}, output_size {shape} has {size}. Slice the nested array first."
            )
    return shape


def _padded(x: NestedArray, shape: tuple[int, ...], fill: Any) -> Array:
    structure = x.structure
    if isinstance(structure, Jagged) and shape[0] == len(x):
        r = structure.ragged_dim
        rest = x.data.shape[: r - 1] + x.data.shape[r:]
        if rest == shape[1:r] + shape[r + 1 :]:
            rows = moves.transpose(x.data, lead(r - 1, x.data.ndim)) if r > 1 else x.data
            filled = _pad_rows(rows, structure, shape[r], fill)
            back = (0, *range(2, r + 1), 1, *range(r + 1, x.ndim))
            return filled if r == 1 else moves.transpose(filled, back)  # type: ignore[no-any-return]
    return _pad_places(to_strided(x), shape, fill)


def _pad_rows(rows: Array, structure: Jagged, length: int, fill: Any) -> Array:
    if fill == 0 or not rows.requires_grad:
        plain = get_backend(rows.device).pad(rows.data, structure.segments, length, fill) if fill != 0 else None
        return moves.pad(rows, structure.segments, length) if plain is None else Array(plain, rows.device)  # type: ignore[no-any-return]
    inside = np.arange(length) < structure.component_lengths[:, None]
    mask = inside.reshape(*inside.shape, *[1] * (rows.ndim - 1))
    return rules.where(moves.pad(rows, structure.segments, length), fill, mask)  # type: ignore[no-any-return]


def _pad_places(x: NestedArray, shape: tuple[int, ...], fill: Any) -> Array:
    """Any rank and any irregular dims: each element to its place in the flat dense array."""
    steps = packed_strides(np.array([shape], np.int64))[0]
    sizes = x.component_sizes()
    count = len(x)
    strides = np.broadcast_to(steps[1:], sizes.shape)
    places = strided_index(sizes, strides, np.arange(count) * steps[0])
    total = int(np.prod(shape, dtype=np.int64))
    source = np.full(total, places.size, np.int64)
    source[places] = np.arange(places.size)
    filler = Array(np.full(1, fill, x.dtype), x.device)
    flat = moves.concatenate([packing.gathered(x), filler], 0)
    return moves.reshape(moves.take_rows(flat, source), shape)  # type: ignore[no-any-return]


def _written(padded: Array, out: Array) -> Array:
    """``padded`` in the memory of ``out``."""
    target = as_array("to_padded_array", out)
    if target.shape != padded.shape or target.dtype != padded.dtype:
        raise ShapeError(
            f"to_padded_array: out has shape {target.shape} and dtype {target.dtype}; it must have shape {padded.shape} and "
            f"dtype {padded.dtype}."
        )
    if padded.requires_grad:
        raise GradientError("to_padded_array: out= cannot be used where a gradient is wanted; leave it out.")
    return target.copy_(padded)


def contiguous(self: Any) -> Any:
    """The array itself if its elements lie in order, else a copy that does."""
    return packing.contiguous(self) if type(self) is NestedArray else dense.contiguous(self)


def to(self: Any, *targets: Any, layout: Any = None) -> Any:
    """The array in another dtype, layout, or both."""
    if type(self) is not NestedArray:
        if layout is not None:
            raise StructureError(
                "to: a dense array has no nested layout; nest it first: pn.as_nested_array(x, layout=…)."
            )
        return dense.to(self, *targets)
    x = NestedArray(dense.to(self.data, *targets), self.structure)
    return x if layout is None else packing.in_layout(x, canonical_layout("to", layout))


def to_dense(self: NestedArray) -> Array:
    """The components, all of one shape, as a dense array."""
    return packing.as_dense("to_dense", self) if type(self) is NestedArray else self


def pin_memory(self: Any) -> Any:
    """The array in page-locked memory, which only a device can offer; the CPU has none."""
    raise DeviceError(
        f"pin_memory: an array on {self.device!r} cannot be pinned, as no accelerator is in use. Leave it out."
    )
