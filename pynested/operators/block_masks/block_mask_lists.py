"""Conversion of block masks from and to PyTorch's list form. The state of a block is empty, partial or full.

A row is a block of queries, a column a block of keys. PyTorch has two arrays for the partial blocks, and two for the
full ones: ``num_blocks`` (H, rows) and ``indices`` (H, rows, columns). The first ``num_blocks`` of the indices of a row
are the columns of its listed blocks; the other indices are ignored.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pynested.backends.errors import ArgumentError, IndexOutOfRange, ShapeError
from pynested.nested.nested_array import NestedArray
from pynested.structure import Ints
from pynested.structure.validation import as_integers

Bools = NDArray[np.bool_]
States = NDArray[np.int8]
EMPTY, PARTIAL, FULL = 0, 1, 2
CALLER = "from_kv_blocks"  # for error messages
NAMES = ("kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices")


def lists_of_blocks(is_listed: Bools) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return ``num_blocks`` and ``indices``: all columns of each row, those of listed blocks first."""
    return is_listed.sum(axis=2, dtype=np.int32), np.argsort(~is_listed, axis=2, kind="stable").astype(np.int32)


def states_of_lists(*lists: Any) -> tuple[list[States], bool]:
    """Return the states of the blocks of each component, and whether the lists are nested.

    The lists are ``num_blocks`` and ``indices`` of the partial blocks, and of the full ones, which can both be None.
    """
    if (lists[2] is None) != (lists[3] is None):
        raise ArgumentError(f"{CALLER}: {NAMES[2]} and {NAMES[3]} must be given together, or not at all.")
    lists = lists[:2] if lists[3] is None else lists
    are_nested = {type(x) is NestedArray for x in lists}
    if len(are_nested) > 1:
        raise ArgumentError(f"{CALLER}: {' and '.join(NAMES[: len(lists)])} must all be nested, or all be dense.")
    blocks = []
    arrays_by_list = [_component_arrays(name, x) for name, x in zip(NAMES, lists, strict=False)]
    for component, arrays in enumerate(zip_longest(*arrays_by_list)):
        shapes = [None if x is None else x.shape for x in arrays]
        shape = shapes[1] or ()
        if shapes != [shape[:-1], shape] * (len(arrays) // 2):
            texts = [f"{name}: {shape or 'missing'}" for name, shape in zip(NAMES, shapes, strict=False)]
            raise ShapeError(
                f"{CALLER}: component {component} has lists that do not fit, {', '.join(texts)}. The shapes must be "
                "(heads, rows) and (heads, rows, columns)."
            )
        counts = [_times_listed(component, NAMES[i : i + 2], *arrays[i : i + 2]) for i in range(0, len(arrays), 2)]
        repeated = np.argwhere(sum(counts) > 1)
        if len(repeated):
            head, row, column = repeated[0]
            raise ArgumentError(
                f"{CALLER}: component {component}, head {head}, row {row} lists column {column} more than once."
            )
        states = sum(state * count for state, count in zip((PARTIAL, FULL), counts, strict=False))
        blocks.append(np.asarray(states, np.int8))
    return blocks, are_nested.pop()


def _component_arrays(name: str, x: Any) -> list[Ints]:
    """Return integers (H, rows) or (H, rows, columns) for each component; in a dense ``x``, B and H can be left out."""
    ndim = 3 if name.endswith("indices") else 2
    if type(x) is NestedArray:
        return [as_integers(CALLER, name, component, ndim) for component in x.unbind()]
    integers = as_integers(CALLER, name, x)
    if not ndim - 1 <= integers.ndim <= ndim + 1:
        raise ShapeError(
            f"{CALLER}: {name} has shape {integers.shape}; it must be (B, H, rows{', columns' * (ndim == 3)})."
        )
    return [*integers.reshape((1,) * (ndim + 1 - integers.ndim) + integers.shape)]


def _times_listed(component: int, names: tuple[str, ...], num_blocks: Ints, indices: Ints) -> Ints:
    """Return the number of times that each block of a component is listed, (H, rows, columns)."""
    columns = indices.shape[2]
    is_listed = np.arange(columns) < num_blocks[..., None]
    wrong_numbers = num_blocks[(num_blocks < 0) | (num_blocks > columns)]
    wrong_indices = indices[is_listed & ((indices < 0) | (indices >= columns))]
    for name, wrong in zip(names, (wrong_numbers, wrong_indices), strict=True):
        if wrong.size:
            raise IndexOutOfRange(f"{CALLER}: {name} has {wrong[0]} in component {component}, of {columns} columns.")
    counts = np.zeros(indices.shape, np.int64)
    heads, rows, _ = is_listed.nonzero()
    np.add.at(counts, (heads, rows, indices[is_listed]), 1)
    return counts
