"""Nested arrays from lists, buffers, padded arrays and masks.

What a caller hands over is checked here, once: offsets, lengths, sizes and strides are copied and frozen, and every
component lies inside its buffer.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.create import array
from pynested.autograd.dense.canonical import as_array, canonical_dtype, canonical_int
from pynested.autograd.dense.reduction import to_dtype
from pynested.autograd.rules import movement as moves
from pynested.backends import get_backend
from pynested.backends.errors import (
    ArgumentError,
    DeviceError,
    DimensionError,
    DTypeError,
    StructureError,
)

from . import packing
from .layouts import Layout, canonical_layout, jagged
from .nested_array import NestedArray
from .structure import Ints, Jagged, Strided, frozen


def _components(name: str, given: Any) -> list[Any]:
    """The entries of a list (or of a dense array, along its first dimension), as bare arrays of the array module."""
    if type(given) is NestedArray:
        raise ArgumentError(f"{name}: the input is nested already; use pn.as_nested_array, .to(layout=…) or .clone().")
    if isinstance(given, Array | np.ndarray):
        values = as_array(name, given)
        if values.ndim < 2:
            raise StructureError(
                f"{name}: a dense array needs 2 dimensions or more to be a batch, this one has {values.ndim}."
            )
        return list(values.data)
    if isinstance(given, str | bytes | dict) or not hasattr(given, "__iter__"):
        raise ArgumentError(f"{name}: a list of arrays makes a nested array, not {type(given).__name__}.")
    return [x.data if type(x) is Array else _as_numpy(name, i, x) for i, x in enumerate(given)]


def _as_numpy(name: str, i: int, value: Any) -> np.ndarray[Any, Any]:
    if type(value) is np.ndarray:
        return value
    if type(value) is NestedArray:
        raise StructureError(f"{name}: entry {i} is nested; there is one level of nesting only.")
    try:
        return np.asarray(value)
    except ValueError as error:
        raise ArgumentError(f"{name}: entry {i} is no array: {error}.") from None


def _checked_list(name: str, arrays: list[Any]) -> None:
    """All of one rank."""
    ranks = {x.ndim for x in arrays}
    if len(ranks) > 1:
        i = next(i for i, x in enumerate(arrays) if x.ndim != arrays[0].ndim)
        raise StructureError(
            f"{name}: all arrays must have the same dimension. Found dimension {arrays[i].ndim} for the array at index {i} "
            f"and dimension {arrays[0].ndim} for the array at index 0."
        )


def _list_dtype(name: str, arrays: list[Any], dtype: Any) -> np.dtype[Any]:
    """The dtype asked for, else that of the first array, into which all others fit without loss."""
    kinds = {x.dtype for x in arrays}
    for kind in kinds:
        canonical_dtype(kind)
    wanted = canonical_dtype(arrays[0].dtype if dtype is None else dtype)
    for kind in kinds:
        fits = np.can_cast(kind, wanted, "safe" if dtype is None else "same_kind")
        if not fits:
            i = next(i for i, x in enumerate(arrays) if x.dtype == kind)
            raise DTypeError(
                f"{name}: array {i} has dtype {kind}, which {wanted} cannot hold without loss. Give dtype=, or convert it."
            )
    return wanted


def nested_array(
    tensor_list: Any,
    *,
    dtype: Any = None,
    layout: Layout | None = None,
    device: str | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> NestedArray:
    """A nested array without history: the components are copied into one buffer."""
    chosen = canonical_layout("nested_array", layout)
    where = _device("nested_array", device)
    if pin_memory:
        raise DeviceError("nested_array: pin_memory=True needs an accelerator, and none is in use. Leave it out.")
    arrays = _components("nested_array", tensor_list)
    if not arrays:
        return _of_nothing(chosen, dtype, where, requires_grad)
    _checked_list("nested_array", arrays)
    kind = _list_dtype("nested_array", arrays, dtype)
    made = _packed_list(arrays, kind, chosen, where)
    return made.requires_grad_() if requires_grad else made


def _device(name: str, device: str | None) -> str:
    where = device or "cpu"
    get_backend(where)
    return where


def _of_nothing(layout: Layout, dtype: Any, device: str, requires_grad: bool) -> NestedArray:
    if layout is jagged:
        raise StructureError(
            "nested_array: an empty list says nothing of the components' dimensions; use "
            "pn.nested_array_from_jagged(values, offsets=[0]) for a jagged array without components."
        )
    values = array(np.zeros(0), dtype=dtype or np.float64, device=device, requires_grad=requires_grad)
    return NestedArray(values, Strided.of_packed(np.zeros((0, 0), np.int64)))


def _packed_list(arrays: list[Any], dtype: np.dtype[Any], layout: Layout, device: str) -> NestedArray:
    """One copy of everything; shapes are looked at as sets first, as most lists are uniform but for one dimension."""
    rank = arrays[0].ndim
    if layout is jagged and not rank:
        raise StructureError(
            "nested_array: the jagged layout needs components of one dimension or more. Use layout=pn.strided."
        )
    if layout is jagged and len({x.shape[1:] for x in arrays}) == 1:
        rows, lengths = get_backend(device).pack_list(arrays)
        offsets = np.zeros(len(arrays) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        return NestedArray(Array(rows.astype(dtype, copy=False), device), Jagged(frozen(offsets)))
    sizes = np.array([x.shape for x in arrays], np.int64).reshape(len(arrays), rank)
    if layout is jagged:
        at = packing.irregular_dim(sizes, rank + 1)
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes[:, at - 1])])
        values = np.concatenate(arrays, axis=at - 1).astype(dtype, copy=False)
        return NestedArray(Array(values, device), Jagged(frozen(offsets), None, at))
    flat = np.concatenate(arrays, axis=None).astype(dtype, copy=False)
    return NestedArray(Array(flat, device), Strided.of_packed(sizes))


def as_nested_array(ts: Any, dtype: Any = None, device: str | None = None, layout: Layout | None = None) -> NestedArray:
    """A nested array that keeps the history of its components: gradients flow back to each of them."""
    where = _device("as_nested_array", device)
    if type(ts) is NestedArray:
        x = ts if dtype is None else NestedArray(to_dtype(ts.data, canonical_dtype(dtype)), ts.structure)
        return x if layout is None else packing.in_layout(x, canonical_layout("as_nested_array", layout))
    chosen = canonical_layout("as_nested_array", layout)
    if isinstance(ts, Array | np.ndarray):
        return _of_dense(as_array("as_nested_array", ts), dtype, chosen)
    _components("as_nested_array", ts)
    given = [x if type(x) is Array else array(x, device=where) for x in ts]
    if not given:
        return _of_nothing(chosen, dtype, where, False)
    _checked_list("as_nested_array", given)
    kind = _list_dtype("as_nested_array", given, dtype)
    devices = {x.device for x in given}
    if len(devices) > 1:
        raise DeviceError(f"as_nested_array: the arrays lie on different devices: {', '.join(sorted(devices))}.")
    return packing.nest([to_dtype(x, kind) for x in given], chosen)


def _of_dense(x: Array, dtype: Any, layout: Layout) -> NestedArray:
    """The batch of equal components that a dense array is: a view where its memory is in order."""
    if x.ndim < 2:
        raise StructureError(
            f"as_nested_array: a dense array needs 2 dimensions or more to be a batch, this one has {x.ndim}."
        )
    x = x if dtype is None else to_dtype(x, canonical_dtype(dtype))
    if layout is jagged:
        offsets = frozen(np.arange(x.shape[0] + 1) * x.shape[1])
        return NestedArray(moves.reshape(x, (x.shape[0] * x.shape[1], *x.shape[2:])), Jagged(offsets))
    sizes = np.tile(np.array(x.shape[1:], np.int64), (x.shape[0], 1))
    return NestedArray(moves.reshape(x, (x.numel(),)), Strided.of_packed(sizes))


def integers(name: str, what: str, value: Any, ndim: int) -> Ints:
    """``value`` as a frozen int64 array of ``ndim`` dimensions; anything but integers is refused."""
    given = np.asarray(value.data if type(value) is Array else value)
    if given.dtype.kind not in "iu" and given.size:
        raise DTypeError(f"{name}: {what} must be integers, these are {given.dtype}.")
    if given.ndim != ndim:
        raise StructureError(f"{name}: {what} must have {ndim} dimension{'s' if ndim > 1 else ''}, not {given.ndim}.")
    if given.dtype == np.uint64 and given.size and int(given.max()) > np.iinfo(np.int64).max:
        raise StructureError(f"{name}: {what} holds {given.max()}, which is beyond int64.")
    return frozen(given.astype(np.int64, copy=False))


def nested_array_from_jagged(
    values: Any,
    offsets: Any = None,
    lengths: Any = None,
    jagged_dim: int | None = None,
    min_seqlen: int | None = None,
    max_seqlen: int | None = None,
) -> NestedArray:
    """A jagged view of ``values``: component ``i`` is rows ``offsets[i]`` to ``offsets[i + 1]``, or ``lengths[i]`` of them."""
    name = "nested_array_from_jagged"
    if type(values) is NestedArray:
        raise ArgumentError(f"{name}: values must be dense, this array is nested.")
    data = as_array(name, values)
    if offsets is None and lengths is None:
        raise StructureError(f"{name}: At least one of offsets or lengths is required.")
    at = 1 if jagged_dim is None else canonical_int(name, "jagged_dim", jagged_dim)
    if at < 1 or at > data.ndim:
        raise DimensionError(
            f"{name}: Expected jagged_dim >=1, but got {at}: it counts the batch as dimension 0, and values of "
            f"{data.ndim} dimensions allow 1..{data.ndim}."
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
            f"{name}: component {i} begins at {starts[i]} and has length {lengths[i]}, which leaves the {rows} rows of values."
        )


def _check_limits(name: str, structure: Jagged, shortest: Any, longest: Any) -> None:
    """What a caller says of the shortest and longest component must hold."""
    lengths = structure.component_lengths
    for what, said, wrong in (
        ("min_seqlen", shortest, lambda said: lengths.size and said > lengths.min()),
        ("max_seqlen", longest, lambda said: lengths.size and said < lengths.max()),
    ):
        if said is not None and wrong(canonical_int(name, what, said)):
            raise StructureError(
                f"{name}: {what}={said} does not hold: lengths are {lengths.min()} to {lengths.max()}."
            )


def nested_array_from_strided(buffer: Any, sizes: Any, strides: Any = None, offsets: Any = None) -> NestedArray:
    """A strided view of a flat buffer: component ``i`` has ``sizes[i]`` and ``strides[i]`` and begins at ``offsets[i]``."""
    name = "nested_array_from_strided"
    data = as_array(name, buffer)
    if data.ndim != 1 or not data.is_contiguous():
        raise StructureError(f"{name}: the buffer must be flat and contiguous, this one has shape {data.shape}.")
    shape = integers(name, "sizes", sizes, 2)
    negative = np.argwhere(shape < 0)
    if negative.size:
        raise StructureError(f"{name}: component {negative[0][0]} has the negative size {shape[tuple(negative[0])]}.")
    packed = Strided.of_packed(shape)
    steps = packed.strides if strides is None else integers(name, "strides", strides, 2)
    starts = packed.offsets if offsets is None else integers(name, "offsets", offsets, 1)
    if steps.shape != shape.shape or starts.shape != shape.shape[:1]:
        raise StructureError(
            f"{name}: sizes {shape.shape}, strides {steps.shape} and offsets {starts.shape} must be (B, d), (B, d) and (B,)."
        )
    _check_strided(name, shape, steps, starts, data.numel())
    starts = frozen(np.where(shape.prod(axis=1) > 0, starts, 0))
    return NestedArray(moves.alias(data), Strided(shape, steps, starts, data.numel()))


def _check_strided(name: str, sizes: Ints, strides: Ints, offsets: Ints, size: int) -> None:
    live = sizes.prod(axis=1) > 0
    offsets = np.where(live, offsets, 0)  # an empty component lies nowhere
    last = offsets + ((sizes - 1) * strides).sum(axis=1)
    wrong = np.flatnonzero((strides < 0).any(axis=1) | (offsets < 0) | (live & (last >= size)) | (offsets > size))
    if wrong.size:
        i = int(wrong[0])
        raise StructureError(
            f"{name}: component {i} of sizes {sizes[i].tolist()}, strides {strides[i].tolist()} and offset {offsets[i]} "
            f"leaves the buffer of {size} elements; strides and offsets are 0 or more, and its last element is at {last[i]}."
        )
