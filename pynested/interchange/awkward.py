"""awkward arrays."""

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
from .receivers import AWKWARD, accepted_values, must_copy


@operator
def from_awkward(array: Any, *, copy: bool | None = None) -> NestedArray | Array:
    """What an awkward array holds, in the same memory: ``B * var * D * float`` is jagged ``(B, *, D)``.

    Parameters
    ----------
    array : awkward.Array
        Of numbers or bools. Lists that lie anywhere keep their places, as a jagged array with lengths. Lists within
        lists are a strided array, if every component is a rectangle. Without a list of variable length it is dense.
    copy : bool, optional
        None shares memory where it can, False refuses to copy, True copies always.

    Raises
    ------
    ExchangeError
        For a missing value, a record, a union or a string; and for ``copy=False`` where a copy is needed.
    StructureError
        For a component that is no rectangle.
    DTypeError
        For a dtype that pynested does not have.
    MissingDependency
        Where awkward is not installed.

    Examples
    --------
    >>> import awkward  # doctest: +SKIP
    >>> pn.from_awkward(awkward.Array([[1.0, 2.0], [3.0]]))  # doctest: +SKIP
    nested_array([
      array([1., 2.]),
      array([3.]),
    ], shape=(2, j1), layout=pn.jagged)
    """
    check_optional_flags("from_awkward", copy=copy)
    ak = library("from_awkward", "awkward")
    return array_of("from_awkward", _lists(ak, ak.to_layout(array), copy), copy)


def _lists(ak: Any, whole: Any, copy: bool | None) -> Lists:
    """The levels of a layout, from the outermost on; where lists within lists lie apart, those of a packed copy."""
    levels: list[Level | int] = []
    layout = whole
    while not layout.is_numpy:
        if layout.is_unknown:
            layout = layout.to_NumpyArray(np.float64)
        elif layout.is_option or layout.is_indexed:
            layout = _present(ak, layout, len(levels), copy)
        elif layout.parameter("__array__") is not None or not layout.is_list:
            what = layout.parameter("__array__") or type(layout).__name__.removesuffix("Array").lower()
            raise ExchangeError(f"from_awkward: a {what} holds no numbers. Take the field, or the part, that does.")
        elif layout.is_regular:
            levels.append(layout.size)
            layout = layout.content[: layout.length * layout.size]
        elif isinstance(layout, ak.contents.ListOffsetArray) and not _apart(levels):
            level, part = tight(layout.offsets.data)
            levels.append(level)
            layout = layout.content[part]
        elif not levels:
            levels.append(anywhere(layout.starts.data, layout.stops.data - layout.starts.data))
            layout = layout.content
        else:
            must_copy("from_awkward", copy, "lists within lists do not lie one after another")
            return _lists(ak, ak.to_packed(whole, highlevel=False), copy)
    return Lists(tuple(levels), np.asarray(layout.data), whole.length)


def _apart(levels: list[Level | int]) -> bool:
    """Whether the lists so far do not follow one another."""
    return any(isinstance(level, Level) and level.lengths is not None for level in levels)


def _present(ak: Any, layout: Any, depth: int, copy: bool | None) -> Any:
    """What an optional or indexed layout shows, if nothing is missing."""
    if layout.is_option:
        missing = np.flatnonzero(layout.mask_as_bool(valid_when=False))
        if missing.size:
            raise ExchangeError(
                f"from_awkward: entry {missing[0]} at depth {depth} is missing. Drop or fill it first: "
                "awkward.drop_none, awkward.fill_none."
            )
        if isinstance(layout, ak.contents.UnmaskedArray | ak.contents.ByteMaskedArray | ak.contents.BitMaskedArray):
            return layout.content[: layout.length]
    must_copy("from_awkward", copy, "entries are picked by an index")
    return layout.project()


@operator
def to_awkward(x: NestedArray | Array, *, copy: bool | None = None) -> Any:
    """An awkward array in the memory of ``x``: jagged ``(B, *, D)`` is ``B * var * D * float``, dense is regular.

    Parameters
    ----------
    x : NestedArray or Array
        Other than jagged along dimension 1, it is lists within lists up to its last irregular dimension.
    copy : bool, optional
        None shares memory where it can, False refuses to copy, True copies always.

    Raises
    ------
    GradientError
        For an array that requires grad; ``detach`` it.
    ExchangeError
        For ``copy=False`` where the elements of a component do not lie one after another.

    Examples
    --------
    >>> x = pn.nested_array([[1, 2], [3]], layout=pn.jagged)
    >>> pn.to_awkward(x)  # doctest: +SKIP
    <Array [[1, 2], [3]] type='2 * var * int64'>
    """
    check_optional_flags("to_awkward", copy=copy)
    ak = library("to_awkward", "awkward")
    if isinstance(x, Array):
        untracked("to_awkward", x)
        return ak.Array(ak.contents.NumpyArray(accepted_values(AWKWARD, x, copy)))
    lists = lists_of(AWKWARD, x, copy)
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
