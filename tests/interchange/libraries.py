"""The libraries that arrays are exchanged with: ways out and back, and what each library computes and supports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

import pynested as pn

from .drawn import Drawn

OFFSETS = [0, 2, 2, 6]
ROWS, COLUMNS = [0, 0, 2, 2, 2, 2], [0, 1, 0, 1, 2, 3]  # of six elements with these offsets in a matrix


def doubled(values: Any, dtype: str) -> Any:
    """Double numbers, or invert bools, by the operators of Python."""
    return ~values if dtype == "bool" else values + values


def doubled_by_arrow(m: Any, out: Any, dtype: str) -> Any:
    compute, flat = import_module("pyarrow.compute"), out.values
    if dtype == "float16":  # in which Arrow does not add
        flat = flat.cast(m.float32())
    return (compute.invert(flat) if dtype == "bool" else compute.add(flat, flat)).to_pylist()


def doubled_by_tensorflow(m: Any, out: Any, dtype: str) -> Any:
    if dtype == "bool":
        return m.logical_not(out).flat_values.numpy().tolist()
    numbers = out.flat_values.numpy().astype(float).tolist()
    assert m.reduce_sum(m.cast(out, "float64"), axis=1).numpy().tolist() == [sum(numbers[:2]), 0.0, sum(numbers[2:])]
    return (out + out).flat_values.numpy().tolist()


def doubled_by_pandas(m: Any, out: Any, dtype: str) -> Any:
    flat = out.list.flatten()
    return doubled(flat.astype("float32[pyarrow]") if dtype == "float16" else flat, dtype)


def lists_of_arrow(values: Any) -> Any:
    pa = import_module("pyarrow")
    return pa.LargeListArray.from_arrays(pa.array(OFFSETS), pa.array(values))


def lists_of_awkward(m: Any, values: Any) -> Any:
    offsets = m.index.Index64(np.array(OFFSETS))
    return m.Array(m.contents.ListOffsetArray(offsets, m.contents.NumpyArray(values)))


# ---- what a library supports ----------------------------------------------------------------------------------------


def leading(drawn: Drawn) -> bool:
    """Return whether an array is jagged along dimension 1, or its elements lie one after another."""
    structure = drawn.array.structure
    if drawn.array.layout == pn.jagged:
        return structure.ragged_dim == 1  # type: ignore[union-attr]
    return drawn.placement == "packed"


def without_bools(drawn: Drawn) -> bool:
    return leading(drawn) and drawn.array.dtype != np.bool_


def packed_and_aligned(drawn: Drawn) -> bool:
    return leading(drawn) and drawn.placement == "packed" and drawn.array.data.data.ctypes.data % 64 == 0


def jagged_first(drawn: Drawn) -> bool:
    return drawn.array.layout == pn.jagged and leading(drawn)


@dataclass(frozen=True)
class Library:
    """Ways to a library and back; functions of the library take its module first.

    Attributes
    ----------
    double : the flat results, doubled or inverted, of an array that went out, for a dtype
    make : an array of the library, of six elements with the offsets `OFFSETS`
    shares : whether an array keeps its memory both ways
    takes : whether the library has such an array
    has_lists : whether arrays are lists within lists, so that a list of no lists does not say how long these would be
    """

    out: Callable[..., Any]
    back: Callable[..., Any]
    double: Callable[[Any, Any, str], Any]
    make: Callable[[Any, Any], Any]
    shares: Callable[[Drawn], bool] = lambda drawn: False
    takes: Callable[[Drawn], bool] = lambda drawn: True
    has_lists: bool = False


LIBRARIES = {
    "numpy": Library(
        pn.to_numpy, pn.from_numpy, lambda m, out, dtype: doubled(m.concatenate(list(out)), dtype), lambda m, x: x,
        takes=lambda drawn: len(drawn.array) > 0),
    "torch": Library(
        pn.to_torch, pn.from_torch, lambda m, out, dtype: doubled(out.values(), dtype),
        lambda m, x: m.nested.nested_tensor_from_jagged(m.from_numpy(x), m.tensor(OFFSETS)),
        shares=lambda drawn: True, takes=lambda drawn: drawn.array.layout == pn.jagged or len(drawn.array) > 0),
    "awkward": Library(
        pn.to_awkward, pn.from_awkward, lambda m, out, dtype: doubled(m.flatten(out), dtype), lists_of_awkward,
        shares=leading, has_lists=True),
    "pyarrow": Library(
        pn.to_arrow, pn.from_arrow, doubled_by_arrow, lambda m, x: lists_of_arrow(x),
        shares=without_bools, has_lists=True),
    "pandas": Library(
        pn.to_pandas, pn.from_pandas, doubled_by_pandas,
        lambda m, x: m.Series(m.arrays.ArrowExtensionArray(lists_of_arrow(x))), shares=without_bools, has_lists=True),
    "tensorflow": Library(
        pn.to_tensorflow, pn.from_tensorflow, doubled_by_tensorflow,
        lambda m, x: m.RaggedTensor.from_row_splits(m.constant(x), OFFSETS),
        shares=packed_and_aligned, has_lists=True),
    "jax": Library(
        pn.to_jax, lambda parts, copy=None: pn.from_jax(*parts, copy=copy),
        lambda m, out, dtype: doubled(out.values, dtype), lambda m, x: (m.numpy.array(x), OFFSETS),
        takes=lambda drawn: jagged_first(drawn) and drawn.array.dtype.itemsize < 8),  # more bits only with an option
    "scipy.sparse": Library(
        pn.to_csr, pn.from_csr,
        lambda m, out, dtype: (~out.toarray() if dtype == "bool" else (out + out).toarray())[ROWS, COLUMNS],
        lambda m, x: m.csr_array((x, COLUMNS, OFFSETS)),
        takes=lambda drawn: jagged_first(drawn) and drawn.array.ndim == 2 and drawn.array.dtype != np.float16),
}  # fmt: skip
