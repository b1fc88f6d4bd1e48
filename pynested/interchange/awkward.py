"""Exchange with awkward arrays. A *layout* here is awkward's own: a tree of lists around an array of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.call_errors import check_optional_flags
from pynested.autograd.decorators import operator
from pynested.backends.errors import ExchangeError, named_type
from pynested.nested.nested_array import NestedArray
from pynested.structure import Jagged

from .exchange_checks import TO_AWKWARD, check_exportable, check_may_copy, import_optional, values_for_export
from .list_arrays import NestedLists, from_lists, level_from_offsets, level_from_starts, to_lists


@operator
def from_awkward(array: Any, *, copy: bool | None = None) -> NestedArray | Array:
    """Convert an awkward array, in shared memory: ``B * var * D * float`` becomes jagged ``(B, *, D)``.

    The array holds numbers or bools. Lists with gaps between them keep their positions, in a jagged array with lengths.
    Lists within lists become a strided array; each component must be regular, with lists of one length at each depth.
    Without a list of variable length the result is dense. ExchangeError for a missing value, a record, a union or a
    string.

    >>> import awkward  # doctest: +SKIP
    >>> pn.from_awkward(awkward.Array([[1.0, 2.0], [3.0]]))  # doctest: +SKIP
    nested_array([
      array([1., 2.]),
      array([3.]),
    ], shape=(2, j1), layout=pn.jagged)
    """
    check_optional_flags("from_awkward", copy=copy)
    ak = import_optional("from_awkward", "awkward")
    if not isinstance(array, ak.Array | ak.contents.Content | np.ndarray):
        check_may_copy("from_awkward", copy, f"{named_type(array)} is no array of awkward")
    try:
        layout = ak.to_layout(array, allow_record=False)
    except (TypeError, ValueError):
        raise ExchangeError(f"from_awkward: takes an array of awkward, or lists, not {named_type(array)}.") from None
    return from_lists("from_awkward", _to_nested_lists(ak, layout, copy), copy)


def _to_nested_lists(ak: Any, outer: Any, copy: bool | None) -> NestedLists:
    """Return the levels of a layout, outermost first, and the numbers inside.

    Only the outermost lists of a nested array can have gaps. If inner lists have gaps, the layout is packed first.
    """
    levels: list[Jagged | int] = []  # for each level: a Jagged, or an int if all its lists have that length
    layout, has_gaps = outer, False
    while not layout.is_numpy or layout.parameter("__array__") is not None:  # strings are arrays of "char"
        if layout.is_unknown:
            layout = layout.to_NumpyArray(np.float64)
        elif layout.is_option or layout.is_indexed:
            layout = _without_index_or_mask(ak, layout, len(levels), copy)
        elif layout.parameter("__array__") is not None or not layout.is_list:
            type_name = layout.parameter("__array__") or type(layout).__name__.removesuffix("Array").lower()
            raise ExchangeError(f"from_awkward: a {type_name} holds no numbers. Select a field of numbers.")
        elif layout.is_regular:
            levels.append(layout.size)
            layout = layout.content[: layout.length * layout.size]
        elif isinstance(layout, ak.contents.ListOffsetArray) and not has_gaps:
            level, listed = level_from_offsets(layout.offsets.data)
            levels.append(level)
            layout = layout.content[listed]
        elif not levels and not (layout.content.is_option and layout.content.mask_as_bool(valid_when=False).any()):
            levels.append(level_from_starts(layout.starts.data, layout.stops.data - layout.starts.data))
            layout, has_gaps = layout.content, True
        else:
            check_may_copy("from_awkward", copy, "lists within lists, or of options, do not lie one after another")
            return _to_nested_lists(ak, ak.to_packed(outer, highlevel=False), copy)
    return NestedLists(tuple(levels), np.asarray(layout.data), outer.length)


def _without_index_or_mask(ak: Any, layout: Any, depth: int, copy: bool | None) -> Any:
    """Return the content of a layout with an index or a mask of missing entries; raise for a missing entry."""
    if layout.is_option:
        missing = np.flatnonzero(layout.mask_as_bool(valid_when=False))
        if missing.size:
            raise ExchangeError(
                f"from_awkward: entry {missing[0]} at depth {depth} is missing. Drop or fill it first: "
                "awkward.drop_none, awkward.fill_none."
            )
        if isinstance(layout, ak.contents.UnmaskedArray | ak.contents.ByteMaskedArray | ak.contents.BitMaskedArray):
            return layout.content[: layout.length]
    check_may_copy("from_awkward", copy, "entries are picked by an index")
    return layout.project()


@operator
def to_awkward(x: NestedArray | Array, *, copy: bool | None = None) -> Any:
    """Convert to an awkward array, in shared memory: jagged ``(B, *, D)`` becomes ``B * var * D * float``.

    An array that is not jagged along dimension 1 becomes lists within lists; the lists behind its last irregular
    dimension are regular. A dense array becomes a regular awkward array. Components that are not contiguous are copied.

    >>> x = pn.nested_array([[1, 2], [3]], layout=pn.jagged)
    >>> pn.to_awkward(x)  # doctest: +SKIP
    <Array [[1, 2], [3]] type='2 * var * int64'>
    """
    check_exportable("to_awkward", x, copy)
    ak = import_optional("to_awkward", "awkward")
    if isinstance(x, Array):
        if not x.ndim:
            raise ExchangeError("to_awkward: awkward has no array without dimensions. Reshape it: x.reshape(1).")
        return ak.Array(ak.contents.NumpyArray(values_for_export(TO_AWKWARD, x, copy)))
    lists = to_lists(TO_AWKWARD, x, copy)
    layout = ak.contents.NumpyArray(lists.content)
    for level in reversed(lists.levels):
        if isinstance(level, int):
            layout = ak.contents.RegularArray(layout, level)
        elif level.lengths is None:
            layout = ak.contents.ListOffsetArray(ak.index.Index64(level.offsets), layout)
        else:
            starts = level.offsets[:-1]
            layout = ak.contents.ListArray(ak.index.Index64(starts), ak.index.Index64(starts + level.lengths), layout)
    return ak.Array(layout)
