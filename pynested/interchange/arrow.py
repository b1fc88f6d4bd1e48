"""Exchange with Arrow arrays of pyarrow, which are also the columns of Parquet and IPC files and of pandas."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.call_errors import check_optional_flags
from pynested.autograd.decorators import operator
from pynested.backends.errors import ExchangeError, named_type
from pynested.nested.nested_array import NestedArray
from pynested.structure import Jagged

from .exchange_checks import TO_ARROW, check_exportable, check_may_copy, import_optional, values_for_export
from .list_arrays import NestedLists, from_lists, level_from_offsets, level_from_starts, to_lists


@operator
def from_arrow(array: Any, *, copy: bool | None = None) -> NestedArray | Array:
    """Convert an Arrow array to a nested array in its memory, read-only: ``list<float>`` becomes jagged ``(B, *)``.

    Lists, large lists and list views of numbers are accepted, and any object with ``__arrow_c_array__``. Lists of a
    fixed size, and tensors of a fixed shape, become regular dimensions. Lists within lists become a strided array; each
    component must be regular, with lists of one length at each depth. Several chunks are copied. Bools are copied, too,
    as Arrow packs their bits. ExchangeError for values that are not numbers, and for a null, with its position.

    >>> import pyarrow  # doctest: +SKIP
    >>> pn.from_arrow(pyarrow.array([[1.0, 2.0], [3.0]])).offsets()  # doctest: +SKIP
    array([0, 2, 3])
    """
    check_optional_flags("from_arrow", copy=copy)
    pa = import_optional("from_arrow", "pyarrow")
    if isinstance(array, pa.ChunkedArray):
        if array.num_chunks != 1:
            check_may_copy("from_arrow", copy, f"there are {array.num_chunks} chunks")
        array = array.combine_chunks() if array.num_chunks != 1 else array.chunk(0)
    elif not isinstance(array, pa.Array):
        if not (isinstance(array, np.ndarray) or hasattr(array, "__arrow_c_array__")):
            check_may_copy("from_arrow", copy, f"{named_type(array)} is no array of Arrow")
        try:
            array = pa.array(array)
        except (pa.ArrowException, TypeError) as error:
            raise ExchangeError(
                f"from_arrow: {named_type(array)} is no array of Arrow, or lists of numbers."
            ) from error
    return from_lists("from_arrow", _to_nested_lists(pa, array, copy), copy)


def _to_nested_lists(pa: Any, outer: Any, copy: bool | None) -> NestedLists:
    """Return the levels of an Arrow array, outermost first, and the numbers inside."""
    levels: list[Jagged | int] = []  # for each level: a Jagged, or an int if all its lists have that length
    shape: tuple[int, ...] | None = None
    array = outer
    while True:
        _check_no_nulls(array, len(levels))
        arrow_type = array.type
        if isinstance(arrow_type, pa.FixedShapeTensorType):
            shape, array = _tensor_shape(arrow_type), array.storage
        elif pa.types.is_fixed_size_list(arrow_type):
            levels.append(arrow_type.list_size)
            array = array.flatten()
        elif _is_list(pa, arrow_type):
            level, listed = level_from_offsets(array.offsets.to_numpy())
            levels.append(level)
            array = array.values[listed]
        elif _is_list_view(pa, arrow_type):
            inner = arrow_type.value_type
            if levels or _is_list(pa, inner) or _is_list_view(pa, inner) or array.values.null_count:
                check_may_copy("from_arrow", copy, "lists within lists, or of nulls, are views")
                levels.append(level_from_offsets(np.append(0, np.cumsum(array.sizes.to_numpy())))[0])
                array = array.flatten()
            else:
                levels.append(level_from_starts(array.offsets.to_numpy(), array.sizes.to_numpy()))
                array = array.values
        else:
            if shape is not None:
                levels[-1:] = shape  # tensors are stored as lists, whose length is the product of the sizes
            return NestedLists(tuple(levels), _numbers(pa, array, copy), len(outer))


def _is_list(pa: Any, arrow_type: Any) -> bool:
    return bool(pa.types.is_list(arrow_type) or pa.types.is_large_list(arrow_type))


def _is_list_view(pa: Any, arrow_type: Any) -> bool:
    return bool(pa.types.is_list_view(arrow_type) or pa.types.is_large_list_view(arrow_type))


def _tensor_shape(tensor_type: Any) -> tuple[int, ...]:
    """Return the shape of row-major tensors of a fixed shape."""
    order = tensor_type.permutation
    if order is not None and list(order) != sorted(order):
        raise ExchangeError(f"from_arrow: tensors with dimensions in the order {list(order)} are not supported.")
    return tuple(tensor_type.shape)


def _check_no_nulls(array: Any, depth: int) -> None:
    """Raise ExchangeError for the first null; ``depth`` counts the lists around the array."""
    if array.null_count:
        position = int(np.flatnonzero(array.is_null().to_numpy(zero_copy_only=False))[0])
        entry = f"entry {position} of all entries at depth {depth}" if depth else f"entry {position}"
        raise ExchangeError(f"from_arrow: {entry} is null. Drop or fill it first: drop_null, fill_null.")


def _numbers(pa: Any, array: Any, copy: bool | None) -> Any:
    """Return an Arrow array of numbers as a NumPy array; raise ExchangeError for a type that is not a number."""
    arrow_type = array.type
    if pa.types.is_null(arrow_type):  # of empty lists alone
        return np.zeros(0)
    is_bool = pa.types.is_boolean(arrow_type)
    if not (is_bool or pa.types.is_integer(arrow_type) or pa.types.is_floating(arrow_type)):
        raise ExchangeError(f"from_arrow: {arrow_type} holds no numbers. Select a field of numbers.")
    if is_bool:
        check_may_copy("from_arrow", copy, "Arrow packs the bits of bools")
    return array.to_numpy(zero_copy_only=False)


@operator
def to_arrow(x: NestedArray | Array, *, copy: bool | None = None) -> Any:
    """Convert to an Arrow array: jagged ``(B, *, D)`` becomes ``large_list<fixed_size_list<float>[D]>``.

    An array with gaps becomes a list view. A dense array becomes tensors of a fixed shape, or numbers if it has one
    dimension. Offsets have 64 bits, as in pynested. Parquet and IPC files store these types unchanged:
    ``pyarrow.parquet.write_table(pyarrow.table({"x": pn.to_arrow(x)}), path)``. Bools, and values that are not in C
    order, are copied. ExchangeError for a dense array without dimensions.

    >>> x = pn.nested_array([[1, 2], [3]], layout=pn.jagged)
    >>> pn.to_arrow(x).type  # doctest: +SKIP
    LargeListType(large_list<item: int64>)
    """
    check_exportable("to_arrow", x, copy)
    pa = import_optional("to_arrow", "pyarrow")
    if isinstance(x, Array):
        return _dense_to_arrow(pa, values_for_export(TO_ARROW, x, copy))
    lists = to_lists(TO_ARROW, x, copy)
    result, shape = pa.array(lists.content.reshape(-1)), lists.content.shape
    for dim in range(len(shape) - 1, 0, -1):
        result = _fixed_size_lists(pa, result, shape[dim], math.prod(shape[:dim]))
    for level, count in zip(reversed(lists.levels), reversed(_list_counts(lists)), strict=True):
        if isinstance(level, int):
            result = _fixed_size_lists(pa, result, level, count)
        elif level.lengths is None:
            result = pa.LargeListArray.from_arrays(pa.array(level.offsets), result)
        else:
            result = pa.LargeListViewArray.from_arrays(pa.array(level.offsets[:-1]), pa.array(level.lengths), result)
    return result


def _list_counts(lists: NestedLists) -> list[int]:
    """Return the number of lists of each level."""
    counts = [lists.count]
    for level in lists.levels[:-1]:
        counts.append(counts[-1] * level if isinstance(level, int) else int(level.component_lengths.sum()))
    return counts


def _fixed_size_lists(pa: Any, values: Any, size: int, count: int) -> Any:
    """Return ``count`` lists of equal size, which can be 0."""
    return pa.Array.from_buffers(pa.list_(values.type, size), count, [None], children=[values])


def _dense_to_arrow(pa: Any, values: Any) -> Any:
    if not values.ndim:
        raise ExchangeError("to_arrow: an array without dimensions is not a column. Reshape it: x.reshape(1).")
    flat = pa.array(values.reshape(-1))
    if values.ndim == 1:
        return flat
    tensor_type = pa.fixed_shape_tensor(flat.type, values.shape[1:])
    storage = _fixed_size_lists(pa, flat, int(np.prod(values.shape[1:])), len(values))
    return pa.ExtensionArray.from_storage(tensor_type, storage)
