"""What an index is made of, and what each entry comes to: as in ``x[None, ..., 0, 1:, [2, 3]]``."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.backends.errors import named_type
from pynested.nested.array import NestedArray
from pynested.operators.index_arrays import is_array


def classified(x: Any, index: Any) -> list[str]:
    """Each entry of ``index``, its kind, and the operator that it comes to, with the dimension that it begins at."""
    entries = list(index) if isinstance(index, tuple) else [index]
    found, dim = [], 0
    for i, entry in enumerate(entries):
        kind, operator, dims = _kind(entry)
        if entry is Ellipsis:
            dims = x.ndim - dim - sum(_kind(one)[2] for one in entries[i + 1 :])
        place = "" if entry is Ellipsis and len(entries) == 1 else f" at dimension {dim}"
        batch = " of the batch" if isinstance(x, NestedArray) and not dim and dims else ""
        found.append(f"{kind} -> {operator}{place}{batch}")
        dim += dims
    return found


def _kind(entry: Any) -> tuple[str, str, int]:
    """The kind of an entry, what it comes to, and how many dimensions it stands for; ``...`` for what is left."""
    if entry is None:
        return "None", "unsqueeze", 0
    if entry is Ellipsis:
        return "...", "alias", 0
    if isinstance(entry, slice):
        return "slice", "slice", 1
    if isinstance(entry, NestedArray):
        return "a nested mask", "masked_select", entry.ndim
    if is_array(entry):
        is_mask, dims = _mask(entry)
        kind = "a mask" if is_mask else "a list" if isinstance(entry, list) else "an array"
        return kind, "take_rows of the places where it is true" if is_mask else "take_rows", dims if is_mask else 1
    if isinstance(entry, bool) or not hasattr(entry, "__index__"):
        return named_type(entry), "an error", 1
    return "int", "select", 1


def _mask(entry: Any) -> tuple[bool, int]:
    """Whether a list or an array in an index holds bools, and how many dimensions it has."""
    if hasattr(entry, "dtype"):
        return entry.dtype == np.bool_, entry.ndim
    dims = 0
    while isinstance(entry, list | tuple) and entry:
        entry, dims = entry[0], dims + 1
    return isinstance(entry, bool | np.bool_), max(dims, 1)
