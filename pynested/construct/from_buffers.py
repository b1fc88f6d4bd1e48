"""Nested arrays as views of existing buffers.

Offsets, lengths, sizes and strides are copied, validated once, and made read-only. Every component must lie inside the
buffer, so that no kernel can read outside the buffer. The values share the memory of the buffer, so a write into either
changes both. A NumPy buffer is shared if the device of `set_default_device` is the CPU; otherwise it is copied to that
device.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.autograd.arguments.operands import as_device_array
from pynested.autograd.arguments.shapes import canonical_int
from pynested.autograd.decorators import operator
from pynested.autograd.primitives import movement
from pynested.backends.errors import ArgumentError, DimensionError, StructureError
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import Dense, IntsLike
from pynested.structure import Jagged, Strided
from pynested.structure.validation import as_integers, check_lengths


@operator
def nested_array_from_jagged(
    values: Dense,
    offsets: IntsLike | None = None,
    lengths: IntsLike | None = None,
    jagged_dim: int | None = None,
    min_seqlen: int | None = None,
    max_seqlen: int | None = None,
) -> NestedArray:
    """View ``values`` as jagged, split along its dimension ``jagged_dim - 1``: ``(N, D) -> (B, *, D)``.

    The result shares the memory of ``values``. A write through NumPy is not detected, even if a gradient needs the old
    values. Two equal offsets in a row make an empty component; the offsets [0] make a batch of no components. Gradient:
    an element of ``values`` gets the sum of its cotangents over all components that contain it, +0 in a gap. Clauses:
    NESTED_ARRAY_FROM_JAGGED-1 to NESTED_ARRAY_FROM_JAGGED-13. After `torch.nested.nested_tensor_from_jagged`.

    Parameters
    ----------
    offsets : int array (B + 1,), optional
        Component ``i`` begins at ``offsets[i]`` and, without lengths, ends before ``offsets[i + 1]``.
    lengths : int array (B,), optional
        With offsets, component ``i`` has ``lengths[i]`` elements; gaps, overlaps and any order are allowed. Without
        offsets, the components follow each other from 0, and the rest of ``values`` is a gap.
    jagged_dim : int, optional
        The ragged dimension of the result, which counts the batch as dimension 0; 1 by default.
    min_seqlen, max_seqlen : int, optional
        Bounds of the lengths, which are checked and not used otherwise.

    Raises
    ------
    StructureError
        Without lengths, for offsets that do not begin at 0, decrease, or do not end at the size of ``values``. With
        lengths, for a component outside ``values``. If offsets and lengths are both missing, have more than one
        dimension, or differ in their number of components. For lengths outside the bounds, and for values that have the
        largest possible number of dimensions already.
    DimensionError
        For a ``jagged_dim`` below 1 or above the number of dimensions of ``values``.
    DTypeError
        For offsets or lengths that are not integers.

    Examples
    --------
    >>> values = pn.array([1, 2, 3, 4])
    >>> pn.nested_array_from_jagged(values, offsets=[0, 1, 1, 4]).unbind()
    (array([1]), array([], dtype=int64), array([2, 3, 4]))
    """
    name = "nested_array_from_jagged"
    if isinstance(values, NestedArray):
        raise ArgumentError(f"{name}: values must be dense, this array is nested.")
    buffer = as_device_array(name, values)
    if offsets is None and lengths is None:
        raise StructureError(f"{name}: At least one of offsets or lengths is required.")
    ragged_dim = 1 if jagged_dim is None else canonical_int(name, "jagged_dim", jagged_dim)
    if not buffer.ndim:
        raise DimensionError(f"{name}: values without dimensions have no rows. Give them one: values.reshape(1).")
    if ragged_dim < 1 or ragged_dim > buffer.ndim:
        raise DimensionError(
            f"{name}: Expected jagged_dim >=1 and <={buffer.ndim}, but got {ragged_dim}: it counts the batch as "
            f"dimension 0, and values of shape {buffer.shape} make a nested array of {buffer.ndim + 1} dimensions."
        )
    if offsets is None:
        structure = _consecutive_components(name, lengths, ragged_dim, buffer.shape[ragged_dim - 1])
    else:
        structure = Jagged(offsets, lengths, ragged_dim, name=name)
    if not structure.fits(buffer.data):
        raise structure.misfit_error(name, buffer)
    _check_length_bounds(name, structure, min_seqlen, max_seqlen)
    return NestedArray(movement.alias(buffer), structure)


def _consecutive_components(name: str, lengths: Any, ragged_dim: int, rows: int) -> Jagged:
    """Return the structure of components that follow each other from row 0; the rows after the last one are a gap."""
    checked_lengths = as_integers(name, "lengths", lengths, 1)
    check_lengths(name, checked_lengths)
    packed = Jagged.from_lengths(checked_lengths, ragged_dim)
    if packed.rows > rows:
        raise StructureError(
            f"{name}: lengths add up to {packed.rows}, and values have {rows} rows. If components overlap, give "
            "offsets too."
        )
    return packed if packed.rows == rows else Jagged.from_validated(packed.offsets, checked_lengths, ragged_dim)


def _check_length_bounds(name: str, structure: Jagged, min_seqlen: Any, max_seqlen: Any) -> None:
    """Raise StructureError unless all lengths are between the bounds that the caller gave."""
    lengths = structure.component_lengths
    shortest, longest = int(lengths.min(initial=np.iinfo(np.int64).max)), int(lengths.max(initial=0))
    lower = shortest if min_seqlen is None else canonical_int(name, "min_seqlen", min_seqlen)
    upper = longest if max_seqlen is None else canonical_int(name, "max_seqlen", max_seqlen)
    if lengths.size and (lower > shortest or upper < longest):
        bound = f"min_seqlen={lower}" if lower > shortest else f"max_seqlen={upper}"
        raise StructureError(f"{name}: {bound} does not hold: lengths are {shortest} to {longest}.")


@operator
def nested_array_from_strided(
    values: Dense, sizes: IntsLike, strides: IntsLike | None = None, offsets: IntsLike | None = None
) -> NestedArray:
    """View the flat ``values`` as strided, one dimension for each column of ``sizes``: ``(N,) -> (B, *, *)``.

    Element ``k`` of component ``i`` is ``values[offsets[i] + sum(k * strides[i])]``. The result shares the memory of
    ``values``. The offset of a component without elements and the stride of a dimension of size 0 or 1 are not used,
    and can have any value. A component has at most 2**59 - 1 elements, a size of 0 counted as 1. Gradient: an element
    of ``values`` gets the sum of the cotangents of all component elements that alias it, +0 in a gap. Clauses:
    NESTED_ARRAY_FROM_STRIDED-1 to NESTED_ARRAY_FROM_STRIDED-7. After `torch._nested_view_from_buffer`.

    Parameters
    ----------
    sizes : int array (B, d)
        The shape of each component.
    strides : int array (B, d), optional
        The strides in elements, 0 or more; by default the strides of C order.
    offsets : int array (B,), optional
        The position of the first element of each component; by default components follow each other from 0. Gaps and
        overlaps are allowed.

    Raises
    ------
    StructureError
        For a component that reaches below 0 or beyond ``values``, naming it; for ``values`` that are not flat; for
        negative sizes or strides; for sizes, strides and offsets of other shapes.
    DTypeError
        For sizes, strides or offsets that are not integers.

    Examples
    --------
    >>> pn.nested_array_from_strided(pn.arange(6), [[2, 2], [2, 1]], strides=[[1, 2], [1, 1]], offsets=[0, 4]).unbind()
    (array([[0, 2],
           [1, 3]]), array([[4],
           [5]]))
    """
    name = "nested_array_from_strided"
    buffer = as_device_array(name, values)
    if buffer.ndim != 1 or not buffer.is_contiguous():
        raise StructureError(
            f"{name}: the buffer must be flat and contiguous; this one has shape {buffer.shape} and strides "
            f"{buffer.stride()}. Copy it first: values.contiguous().flatten()."
        )
    structure = Strided(sizes, strides, offsets, buffer.numel(), name=name)
    return NestedArray(movement.alias(buffer), structure)
