"""Lists within lists, which are the arrays of Arrow, awkward and TensorFlow; and their conversion to nested arrays.

`NestedLists` is the common form of these arrays. `to_lists` converts a nested array to `NestedLists`, `from_lists`
converts `NestedLists` to an array. The module of each library only translates `NestedLists` from and to its classes. A
dimension is *regular* if all components have the same size along it, else *irregular*.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pynested.autograd import Array
from pynested.backends.errors import ExchangeError, StructureError
from pynested.construct.from_buffers import nested_array_from_jagged, nested_array_from_strided
from pynested.nested.layout_conversion import elements
from pynested.nested.nested_array import NestedArray
from pynested.structure import Ints, Jagged

from .exchange_checks import Receiver, check_may_copy, values_for_export, values_for_import


@dataclass(frozen=True)
class NestedLists:
    """An array as lists within lists.

    Attributes
    ----------
    levels : tuple of Jagged or int
        From the outermost lists inwards. Component i of a `Jagged` is list i of its level. Its rows are lists of the
        next level; at the last level, rows of ``content``. An integer is the length of all lists of its level.
    content : ndarray
        The rows of the innermost lists.
    count : int
        The number of outermost lists.
    """

    levels: tuple[Jagged | int, ...]
    content: NDArray[Any]
    count: int


def level_from_offsets(offsets: Any) -> tuple[Jagged, slice]:
    """Return the level with offsets that begin at 0, and the part of the content that its lists use."""
    absolute = np.asarray(offsets).astype(np.int64)
    if not absolute.size:
        absolute = np.zeros(1, np.int64)
    return Jagged.from_validated(absolute - absolute[0]), slice(int(absolute[0]), int(absolute[-1]))


def level_from_starts(starts: Any, lengths: Any) -> Jagged:
    """Return the level of lists with these starts and lengths, in any order and with gaps."""
    list_lengths = np.asarray(lengths).astype(np.int64)
    offsets = np.where(list_lengths > 0, np.asarray(starts), 0).astype(np.int64)
    return Jagged.from_validated(np.append(offsets, 0), list_lengths)


# ---- nested arrays to lists -----------------------------------------------------------------------------------------


def to_lists(receiver: Receiver, x: NestedArray, copy: bool | None) -> NestedLists:
    """Return a nested array as lists, in memory that the receiver accepts.

    An array that is jagged along dimension 1 becomes one level over its values, gaps included. Any other array becomes
    one level for each dimension up to the last irregular dimension, over its elements in C order.
    """
    structure = x.structure
    if x.ndim == 1:
        raise ExchangeError(f"{receiver.function}: each component is one number, no list. Use nt.values().")
    if isinstance(structure, Jagged) and structure.ragged_dim == 1:
        return NestedLists((structure,), values_for_export(receiver, x.data, copy), len(x))
    if isinstance(structure, Jagged) or not structure.is_contiguous:
        check_may_copy(receiver.function, copy, "the elements of a component do not lie one after another")
    return _lists_over_elements(x, values_for_export(receiver, elements(x), copy))


def _lists_over_elements(x: NestedArray, flat: NDArray[Any]) -> NestedLists:
    """Return lists over ``flat``, the elements of all components in order."""
    sizes, regular = x.component_sizes(), x.regular_sizes
    last_irregular = max((dim for dim, size in enumerate(regular) if size is None), default=0)
    levels: list[Jagged | int] = [Jagged.from_lengths(sizes[:, 0])]
    lists_per_component = sizes[:, 0]
    for dim in range(1, last_irregular + 1):
        size = regular[dim]
        levels.append(Jagged.from_lengths(np.repeat(sizes[:, dim], lists_per_component)) if size is None else size)
        lists_per_component = lists_per_component * sizes[:, dim]
    row_shape = [size or 0 for size in regular[last_irregular + 1 :]]
    return NestedLists(tuple(levels), flat.reshape(int(lists_per_component.sum()), *row_shape), len(x))


# ---- lists to arrays ------------------------------------------------------------------------------------------------


def from_lists(name: str, lists: NestedLists, copy: bool | None) -> NestedArray | Array:
    """Return lists as an array.

    It is dense if no level is a `Jagged`, jagged if only the outermost level is, and strided otherwise.
    """
    content, levels = values_for_import(name, lists.content, copy), lists.levels
    outermost, inner_sizes = levels[0] if levels else 0, [level for level in levels[1:] if isinstance(level, int)]
    if len(inner_sizes) < len(levels) - 1:
        return _strided_from_lists(name, lists, content, copy)
    if isinstance(outermost, int):
        return Array.from_memory(content.reshape(lists.count, *levels, *content.shape[1:]))
    num_rows = len(content) // math.prod(inner_sizes) if 0 not in inner_sizes else outermost.rows
    values = content.reshape(num_rows, *inner_sizes, *content.shape[1:])
    return nested_array_from_jagged(Array.from_memory(values), outermost.offsets, outermost.lengths)


def _strided_from_lists(name: str, lists: NestedLists, content: NDArray[Any], copy: bool | None) -> NestedArray:
    """Return a strided array of lists of several levels; every component must be a rectangle."""
    sizes_along_dims, component_of_list = [], np.arange(lists.count)
    for dim, level in enumerate(lists.levels, 1):
        lengths = np.full(len(component_of_list), level) if isinstance(level, int) else level.component_lengths
        sizes_along_dims.append(_component_lengths(name, dim, component_of_list, lengths, lists.count, level))
        component_of_list = np.repeat(component_of_list, lengths)
    row_sizes = [np.full(lists.count, size, np.int64) for size in content.shape[1:]]
    sizes = np.stack([*sizes_along_dims, *row_sizes], axis=1)
    if not content.flags.c_contiguous:
        check_may_copy(name, copy, f"values of strides {content.strides} are not in C order")
    return nested_array_from_strided(Array.from_memory(np.ascontiguousarray(content).reshape(-1)), sizes)


def _component_lengths(
    name: str, dim: int, component_of_list: Ints, lengths: Ints, count: int, level: Jagged | int
) -> Ints:
    """Return the length of the lists of each component; raise an error about a component with different lengths."""
    longest = np.full(count, level if isinstance(level, int) else 0, np.int64)
    np.maximum.at(longest, component_of_list, lengths)
    wrong = np.flatnonzero(lengths != longest[component_of_list])
    if wrong.size:
        component = component_of_list[wrong[0]]
        raise StructureError(
            f"{name}: component {component} is not a rectangle: along dimension {dim} it has lists of length "
            f"{lengths[wrong[0]]} and of length {longest[component]}. A component has one size along each dimension. "
            "Nest one level less, or pad."
        )
    return longest
