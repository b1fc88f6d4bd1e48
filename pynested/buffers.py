"""Nested arrays as views of buffers that are there already.

What a caller hands over is checked here, once: offsets, lengths, sizes and strides are copied and frozen, and every
component lies inside its buffer, so that no kernel can read outside. The memory is shared: a write into it is seen. A
buffer of NumPy goes to the device of `set_default_device`, and its memory is shared if that is the CPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.default_device import placed
from pynested.autograd.dense.canonical import canonical_int
from pynested.autograd.rules import movement as moves
from pynested.backends.errors import (
    ArgumentError,
    DimensionError,
    DTypeError,
    StructureError,
)
from pynested.backends.host import to_host

from .nested_array import NestedArray
from .operands import Dense, IntsLike
from .structure import Ints, Jagged, Strided, frozen


def plain(name: str, what: str, value: Any) -> Any:
    """``value`` as a NumPy array; lists whose entries differ in length are refused."""
    try:
        return np.asarray(to_host(value.data) if type(value) is Array else value)
    except ValueError:
        raise StructureError(f"{name}: {what} must be an array of integers; the entries differ in length.") from None


def integers(name: str, what: str, value: Any, ndim: int) -> Ints:
    """``value`` as a frozen int64 array of ``ndim`` dimensions; anything but integers is refused."""
    given = plain(name, what, value)
    if given.dtype.kind not in "iu" and given.size:
        raise DTypeError(f"{name}: {what} must be integers, these are {given.dtype}.")
    if given.ndim != ndim:
        raise StructureError(f"{name}: {what} must have {ndim} dimension{'s' if ndim > 1 else ''}, not {given.ndim}.")
    if given.dtype == np.uint64 and given.size and int(given.max()) > np.iinfo(np.int64).max:
        raise StructureError(f"{name}: {what} holds {given.max()}, which is beyond int64.")
    return frozen(given.astype(np.int64, copy=False)[...])  # a view, so copied: the caller may unfreeze his own


def nested_array_from_jagged(
    values: Dense,
    offsets: IntsLike | None = None,
    lengths: IntsLike | None = None,
    jagged_dim: int | None = None,
    min_seqlen: int | None = None,
    max_seqlen: int | None = None,
) -> NestedArray:
    """A jagged view of ``values``, cut along dimension ``jagged_dim - 1``: ``(N, D) -> (B, *, D)``.

    Parameters
    ----------
    values : Array
        Of any dtype; the memory is shared. NumPy's own writes into it are not noticed where a gradient needs it.
    offsets : int array (B + 1,), optional
        Component ``i`` begins at ``offsets[i]`` and, without lengths, ends before ``offsets[i + 1]``.
    lengths : int array (B,), optional
        With offsets, component ``i`` has ``lengths[i]`` elements; holes, overlaps and any order are allowed. Alone, the
        components follow each other from 0.
    jagged_dim : int, optional
        Counts the batch as dimension 0; 1 by default.
    min_seqlen, max_seqlen : int, optional
        Bounds that the lengths must keep; nothing else depends on them.

    Raises
    ------
    StructureError
        Without lengths, for offsets that do not begin at 0, decrease, or do not end at the size of ``values``. With
        them, for a component that is not inside ``values``. For neither of the two, other than one dimension, numbers
        of them that do not fit, and bounds that do not hold.
    DimensionError
        For a ``jagged_dim`` below 1 or above the number of dimensions of ``values``.
    DTypeError
        For offsets or lengths that are not integers.

    Notes
    -----
    Equal neighbouring offsets make an empty component, the offsets [0] no components. Gradient: an element of
    ``values`` gets the sum of the cotangents of every component that holds it, +0 in a hole.

    Clauses: NESTED_ARRAY_FROM_JAGGED-1 to NESTED_ARRAY_FROM_JAGGED-11. After `torch.nested.nested_tensor_from_jagged`.

    Examples
    --------
    >>> values = pn.array([1, 2, 3, 4])
    >>> pn.nested_array_from_jagged(values, offsets=[0, 1, 1, 4]).unbind()
    (array([1]), array([]), array([2, 3, 4]))
    """
    name = "nested_array_from_jagged"
    if isinstance(values, NestedArray):
        raise ArgumentError(f"{name}: values must be dense, this array is nested.")
    data = placed(name, values)
    if offsets is None and lengths is None:
        raise StructureError(f"{name}: At least one of offsets or lengths is required.")
    at = 1 if jagged_dim is None else canonical_int(name, "jagged_dim", jagged_dim)
    if at < 1 or at > data.ndim:
        raise DimensionError(
            f"{name}: Expected jagged_dim >=1 and <={data.ndim}, but got {at}: it counts the batch as dimension 0, and "
            f"values with {data.ndim} dimension{'s' if data.ndim > 1 else ''} make a nested array with {data.ndim + 1}."
        )
    rows = data.shape[at - 1]
    if offsets is None:
        counted = integers(name, "lengths", lengths, 1)
        _check_lengths(name, counted)
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counted)])
        structure = Jagged(frozen(starts), None, at)
    else:
        structure = Jagged(
            integers(name, "offsets", offsets, 1),
            None if lengths is None else integers(name, "lengths", lengths, 1),
            at,
        )
    _check_jagged(name, structure, rows)
    _check_limits(name, structure, min_seqlen, max_seqlen)
    return NestedArray(moves.alias(data), structure)


def _check_lengths(name: str, lengths: Ints) -> None:
    negative = np.flatnonzero(lengths < 0)
    if negative.size:
        raise StructureError(
            f"{name}: component {negative[0]} has length {lengths[negative[0]]}; no length is below 0."
        )


def _check_jagged(name: str, structure: Jagged, rows: int) -> None:
    offsets, lengths = structure.offsets, structure.lengths
    if not offsets.size:
        raise StructureError(f"{name}: offsets are empty; they have one entry more than there are components.")
    if lengths is None:
        down = np.flatnonzero(offsets[1:] < offsets[:-1])
        if down.size:
            i = int(down[0])
            raise StructureError(f"{name}: offsets decrease at component {i}: {offsets[i]} to {offsets[i + 1]}.")
        if offsets[0] != 0 or offsets[-1] != rows:
            raise StructureError(
                f"{name}: offsets run from {offsets[0]} to {offsets[-1]}; without lengths they must run from 0 to the "
                f"{rows} rows of values. Slice the values, or give lengths."
            )
        return
    if lengths.size != offsets.size - 1:
        raise StructureError(
            f"{name}: offsets and lengths batch sizes must match: offsets.shape[0] - 1 = {offsets.size - 1}, "
            f"lengths.shape[0] = {lengths.size}."
        )
    _check_lengths(name, lengths)
    starts = offsets[:-1]
    outside = np.flatnonzero((starts < 0) | (starts > rows) | (lengths > rows - starts))
    if outside.size:
        i = int(outside[0])
        raise StructureError(
            f"{name}: component {i} begins at {starts[i]} and has length {lengths[i]}, which leaves the {rows} rows of "
            "values."
        )


def _check_limits(name: str, structure: Jagged, shortest: Any, longest: Any) -> None:
    """What a caller says of the shortest and longest component must hold."""
    lengths = structure.component_lengths
    least, most = int(lengths.min(initial=np.iinfo(np.int64).max)), int(lengths.max(initial=0))
    low = least if shortest is None else canonical_int(name, "min_seqlen", shortest)
    high = most if longest is None else canonical_int(name, "max_seqlen", longest)
    if lengths.size and (low > least or high < most):
        what = f"min_seqlen={low}" if low > least else f"max_seqlen={high}"
        raise StructureError(f"{name}: {what} does not hold: lengths are {least} to {most}.")


def nested_array_from_strided(
    values: Dense, sizes: IntsLike, strides: IntsLike | None = None, offsets: IntsLike | None = None
) -> NestedArray:
    """A strided view of the flat ``values``: ``(N,) -> (B, *, *)``, one dimension for each column of ``sizes``.

    Element ``k`` of component ``i`` is ``values[offsets[i] + sum(k * strides[i])]``.

    Parameters
    ----------
    values : Array
        One-dimensional, of any dtype; the memory is shared.
    sizes : int array (B, d)
        The shape of each component.
    strides : int array (B, d), optional
        In elements, 0 or more; by default those of C order.
    offsets : int array (B,), optional
        Where each component begins; by default they follow each other from 0. Gaps and overlaps are allowed.

    Raises
    ------
    StructureError
        For a component that reaches below 0 or beyond ``values``, naming it; ``values`` of more dimensions; negative
        sizes or strides; and other shapes of sizes, strides and offsets.
    DTypeError
        For sizes, strides or offsets that are not integers.

    Notes
    -----
    A component without elements reaches nowhere. Gradient: an element of ``values`` gets the sum of the cotangents of
    every place that shows it, +0 where none does.

    Clauses: NESTED_ARRAY_FROM_STRIDED-1 to NESTED_ARRAY_FROM_STRIDED-7. After `torch._nested_view_from_buffer`.

    Examples
    --------
    >>> pn.nested_array_from_strided(pn.arange(6), [[2, 2], [2, 1]], strides=[[1, 2], [1, 1]], offsets=[0, 4]).unbind()
    (array([[0, 2],
           [1, 3]]), array([[4],
           [5]]))
    """
    name = "nested_array_from_strided"
    data = placed(name, values)
    if data.ndim != 1 or not data.is_contiguous():
        raise StructureError(f"{name}: the buffer must be flat and contiguous, this one has shape {data.shape}.")
    shape = integers(name, "sizes", sizes, 2)
    negative = np.argwhere(shape < 0)
    if negative.size:
        raise StructureError(f"{name}: component {negative[0][0]} has the negative size {shape[tuple(negative[0])]}.")
    _check_counts(name, shape)
    packed = Strided.of_packed(shape)
    steps = packed.strides if strides is None else integers(name, "strides", strides, 2)
    starts = packed.offsets if offsets is None else integers(name, "offsets", offsets, 1)
    if steps.shape != shape.shape or starts.shape != shape.shape[:1]:
        raise StructureError(
            f"{name}: sizes {shape.shape}, strides {steps.shape} and offsets {starts.shape} must be (B, d), (B, d) and "
            "(B,)."
        )
    live = (shape > 0).all(axis=1)
    starts = frozen(np.where(live, starts, np.clip(starts, 0, data.numel())))  # an empty component lies nowhere
    _check_strided(name, shape[live], steps[live], starts[live], data.numel(), np.flatnonzero(live))
    return NestedArray(moves.alias(data), Strided(shape, steps, starts, data.numel()))


# What float64 says is below this fits into int64, so that integer arithmetic may be trusted.
_COUNTABLE = 2.0**62


def _check_counts(name: str, sizes: Ints) -> None:
    """No component has more elements than int64 can count, which strides of 0 would allow; nor have all together."""
    counts = np.where((sizes > 0).all(axis=1), sizes.prod(axis=1, dtype=np.float64), 0.0)
    if counts.sum() >= _COUNTABLE:
        i = int(counts.argmax())
        raise StructureError(f"{name}: component {i} of sizes {sizes[i].tolist()} has too many elements to be counted.")


def _check_strided(name: str, sizes: Ints, strides: Ints, offsets: Ints, size: int, numbers: Ints) -> None:
    """The first and the last element of each component (component ``numbers[i]``, not empty) are in the buffer."""
    reach = ((sizes - 1.0) * strides).sum(axis=1) + offsets
    last = offsets + ((sizes - 1) * strides).sum(axis=1)
    wrong = np.flatnonzero((strides < 0).any(axis=1) | (offsets < 0) | (reach >= _COUNTABLE) | (last >= size))
    if wrong.size:
        i = int(wrong[0])
        raise StructureError(
            f"{name}: component {numbers[i]} of sizes {sizes[i].tolist()}, strides {strides[i].tolist()} and offset "
            f"{offsets[i]} leaves the buffer of {size} elements; strides and offsets are 0 or more, and its last "
            "element "
            f"is at {reach[i]:.0f}."
        )
