"""What a list of components is made of: its entries as bare arrays, of one rank and one dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.canonical import as_array, canonical_dtype, numpy_array
from pynested.autograd.default_device import chosen_device
from pynested.autograd.default_dtype import dtype_of_python
from pynested.autograd.numbers import check_fits
from pynested.backends.dtypes import is_bfloat16
from pynested.backends.errors import ArgumentError, DTypeError, PynestedError, StructureError
from pynested.nested.nested_array import NestedArray


def entries_of(name: str, given: Any, device: str | None) -> list[Any]:
    """The entries of a list, or the bare slices of a dense array along its first dimension."""
    if type(given) is NestedArray:
        raise ArgumentError(f"{name}: the input is nested already; use pn.as_nested_array, .to(layout=…) or .clone().")
    if isinstance(given, Array | np.ndarray):
        values = as_array(name, given, chosen_device(device, (given,)))
        if values.ndim < 2:
            raise StructureError(
                f"{name}: a dense array needs 2 dimensions or more to be a batch, this one has {values.ndim}."
            )
        return list(values.data)
    if isinstance(given, str | bytes | dict) or not hasattr(given, "__iter__"):
        raise ArgumentError(f"{name}: a list of arrays makes a nested array, not {type(given).__name__}.")
    return list(given)


def bare_arrays(name: str, entries: list[Any], dtype: Any, device: str) -> list[Any]:
    """The entries, of what will lie on ``device``, as bare arrays of their devices' array modules."""
    if set(map(type, entries)) == {np.ndarray}:
        return entries
    arrays = [x.data if type(x) is Array else _as_numpy(name, i, x) for i, x in enumerate(entries)]
    return _typed(arrays, entries, dtype, device)


def _typed(arrays: list[Any], entries: list[Any], dtype: Any, device: str) -> list[Any]:
    """Lists without elements, which NumPy makes float64, in the dtype that is asked for, or that the others have."""
    blank = [type(x) in (list, tuple) and not array.size for x, array in zip(entries, arrays, strict=True)]
    if True not in blank or (dtype is None and all(blank)):
        return arrays
    kind = canonical_dtype(arrays[blank.index(False)].dtype if dtype is None else dtype, device)
    return [array.astype(kind) if empty else array for array, empty in zip(arrays, blank, strict=True)]


def _as_numpy(name: str, i: int, value: Any) -> np.ndarray[Any, Any]:
    if type(value) is NestedArray:
        raise StructureError(f"{name}: entry {i} is nested; there is one level of nesting only.")
    try:
        made = numpy_array(f"{name}: entry {i}", value)
        return made.astype(dtype_of_python(value, made.dtype), copy=False)
    except PynestedError:
        raise
    except (ValueError, TypeError) as error:  # ragged lists, and memory that NumPy cannot reach
        levels = " There is one level of nesting; the parts of a component have one length." * isinstance(value, list)
        raise ArgumentError(f"{name}: entry {i} is no array: {str(error).rstrip('.')}.{levels}") from None


def check_ranks(name: str, arrays: list[Any]) -> None:
    """All of one rank."""
    ranks = {x.ndim for x in arrays}
    if len(ranks) > 1:
        i = next(i for i, x in enumerate(arrays) if x.ndim != arrays[0].ndim)
        raise StructureError(
            f"{name}: all arrays must have the same dimension. Found dimension {arrays[i].ndim} for the array at index "
            f"{i} and dimension {arrays[0].ndim} for the array at index 0."
        )


def common_dtype(name: str, arrays: list[Any], dtype: Any, device: str) -> tuple[np.dtype[Any], bool]:
    """The dtype asked for, if it can hold the values, else that of the first array, if it holds all other dtypes.

    And whether the arrays have several dtypes, which may have nothing in common: they are converted one by one.
    """
    kinds = {x.dtype for x in arrays}
    for kind in kinds:
        if dtype is None or (kind.kind not in "biufc" and not is_bfloat16(kind)):
            canonical_dtype(kind, device)
    wanted = canonical_dtype(arrays[0].dtype if dtype is None else dtype, device)
    for kind in kinds:
        if np.can_cast(kind, wanted):
            continue
        if dtype is None:
            i = next(i for i, x in enumerate(arrays) if x.dtype == kind)
            raise DTypeError(
                f"{name}: array {i} has dtype {kind}, which {wanted} cannot hold without loss. Give dtype=, or convert "
                "it."
            )
        for i, x in enumerate(arrays):
            if x.dtype == kind:
                check_fits(f"{name}: array {i}", x.data if type(x) is Array else x, wanted)
    return wanted, len(kinds) > 1
