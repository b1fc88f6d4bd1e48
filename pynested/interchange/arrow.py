"""Arrow arrays, of pyarrow: in memory, in Parquet and IPC files, and as columns of pandas."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.call_errors import check_optional_flags
from pynested.autograd.dispatch import operator
from pynested.backends.errors import ExchangeError
from pynested.nested.nested_array import NestedArray

from .levels import array_of, lists_of
from .lists import Level, Lists, anywhere, library, tight, untracked
from .receivers import ARROW, accepted_values, must_copy


@operator
def from_arrow(array: Any, *, copy: bool | None = None) -> NestedArray | Array:
    """What an Arrow array holds, in the same memory, which is read-only: ``list<float>`` is jagged ``(B, *)``.

    Parameters
    ----------
    array : pyarrow.Array or pyarrow.ChunkedArray
        Lists, large lists or list views of numbers; lists of a fixed size, and tensors of a fixed shape, are regular
        dimensions. Lists within lists are a strided array, if every component is a rectangle. What implements
        ``__arrow_c_array__`` is taken too. Several chunks, and bools, whose bits Arrow packs, are copied.
    copy : bool, optional
        None shares memory where it can, False refuses to copy, True copies always.

    Raises
    ------
    ExchangeError
        For a null, naming it, a type that holds no numbers, and ``copy=False`` where a copy is needed.
    StructureError
        For a component that is no rectangle.
    DTypeError
        For a dtype that pynested does not have.
    MissingDependency
        Where pyarrow is not installed.

    Examples
    --------
    >>> import pyarrow  # doctest: +SKIP
    >>> pn.from_arrow(pyarrow.array([[1.0, 2.0], [3.0]])).offsets()  # doctest: +SKIP
    array([0, 2, 3])
    """
    check_optional_flags("from_arrow", copy=copy)
    pa = library("from_arrow", "pyarrow")
    if isinstance(array, pa.ChunkedArray):
        if array.num_chunks != 1:
            must_copy("from_arrow", copy, f"there are {array.num_chunks} chunks")
        array = array.combine_chunks() if array.num_chunks != 1 else array.chunk(0)
    elif not isinstance(array, pa.Array):
        array = pa.array(array)
    return array_of("from_arrow", _lists(pa, array, copy), copy)


def _lists(pa: Any, whole: Any, copy: bool | None) -> Lists:
    levels: list[Level | int] = []
    shape: tuple[int, ...] = ()
    array = whole
    while True:
        _check_present(array, len(levels))
        kind = array.type
        if isinstance(kind, pa.FixedShapeTensorType):
            shape, array = _tensors(kind), array.storage
        elif pa.types.is_fixed_size_list(kind):
            levels.append(kind.list_size)
            array = array.flatten()
        elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
            level, part = tight(array.offsets.to_numpy())
            levels.append(level)
            array = array.values[part]
        elif pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
            if levels or _is_list(pa, kind.value_type):
                must_copy("from_arrow", copy, "lists within lists are views")
                levels.append(tight(np.append(0, np.cumsum(array.sizes.to_numpy())))[0])
                array = array.flatten()
            else:
                levels.append(anywhere(array.offsets.to_numpy(), array.sizes.to_numpy()))
                array = array.values
        else:
            if shape:
                levels[-1:] = shape  # where the innermost lists are tensors, their sizes instead of one length
            return Lists(tuple(levels), _numbers(pa, array, copy), len(whole))


def _is_list(pa: Any, kind: Any) -> bool:
    types = pa.types
    views = types.is_list_view(kind) or types.is_large_list_view(kind)
    return bool(views or types.is_list(kind) or types.is_large_list(kind))


def _tensors(kind: Any) -> tuple[int, ...]:
    """The sizes of tensors of a fixed shape, row-major."""
    order = kind.permutation
    if order is not None and list(order) != sorted(order):
        raise ExchangeError(f"from_arrow: tensors whose dimensions are stored in the order {list(order)} are not read.")
    return tuple(kind.shape)


def _check_present(array: Any, depth: int) -> None:
    if array.null_count:
        at = int(np.flatnonzero(array.is_null().to_numpy(zero_copy_only=False))[0])
        where = f"entry {at}" if not depth else f"an entry at depth {depth}, number {at} there,"
        raise ExchangeError(f"from_arrow: {where} is null. Drop or fill it first: drop_null, fill_null.")


def _numbers(pa: Any, array: Any, copy: bool | None) -> Any:
    kind = array.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        raise ExchangeError(f"from_arrow: {kind} holds no numbers. Take the field, or convert, before it is exchanged.")
    if pa.types.is_boolean(kind):
        must_copy("from_arrow", copy, "Arrow packs the bits of bools")
    return array.to_numpy(zero_copy_only=False)


@operator
def to_arrow(x: NestedArray | Array, *, copy: bool | None = None) -> Any:
    """An Arrow array in the memory of ``x``: jagged ``(B, *, D)`` is ``large_list<fixed_size_list<float>[D]>``.

    Parameters
    ----------
    x : NestedArray or Array
        With holes it is a list view. A dense array is tensors of a fixed shape, one with one dimension plain numbers.
    copy : bool, optional
        None shares memory where it can, False refuses to copy, True copies always.

    Raises
    ------
    GradientError
        For an array that requires grad; ``detach`` it.
    ExchangeError
        For ``copy=False`` where values are bools, or not in C order. For a dense array without dimensions.

    Notes
    -----
    Offsets are 64 bits wide, as those of pynested. Parquet and IPC files hold these types as they are:
    ``pyarrow.parquet.write_table(pyarrow.table({"x": pn.to_arrow(x)}), path)``.

    Examples
    --------
    >>> x = pn.nested_array([[1, 2], [3]], layout=pn.jagged)
    >>> pn.to_arrow(x).type  # doctest: +SKIP
    LargeListType(large_list<item: int64>)
    """
    check_optional_flags("to_arrow", copy=copy)
    name = "to_arrow"
    pa = library(name, "pyarrow")
    if isinstance(x, Array):
        untracked(name, x)
        return _of_dense(pa, name, accepted_values(ARROW, x, copy))
    lists = lists_of(ARROW, x, copy)
    made = pa.array(lists.content.reshape(-1))
    rows = list(np.cumprod(lists.content.shape))
    for size in reversed(lists.content.shape[1:]):
        rows.pop()
        made = _of_size(pa, made, size, int(rows[-1]))
    for level, count in zip(reversed(lists.levels), reversed(_counts(lists)), strict=True):
        if isinstance(level, int):
            made = _of_size(pa, made, level, count)
        elif level.lengths is None:
            made = pa.LargeListArray.from_arrays(pa.array(level.offsets), made)
        else:
            made = pa.LargeListViewArray.from_arrays(pa.array(level.offsets[:-1]), pa.array(level.lengths), made)
    return made


def _counts(lists: Lists) -> list[int]:
    """How many lists there are on each level."""
    counts = [lists.count]
    for level in lists.levels[:-1]:
        counts.append(counts[-1] * level if isinstance(level, int) else int(level.counted.sum()))
    return counts


def _of_size(pa: Any, values: Any, size: int, count: int) -> Any:
    """``count`` lists of one size, which may be 0."""
    return pa.Array.from_buffers(pa.list_(values.type, size), count, [None], children=[values])


def _of_dense(pa: Any, name: str, values: Any) -> Any:
    if not values.ndim:
        raise ExchangeError(f"{name}: an array without dimensions is no column. Make it one: x.reshape(1).")
    flat = pa.array(values.reshape(-1))
    if values.ndim == 1:
        return flat
    kind = pa.fixed_shape_tensor(flat.type, values.shape[1:])
    lists = _of_size(pa, flat, int(np.prod(values.shape[1:])), len(values))
    return pa.ExtensionArray.from_storage(kind, lists)
