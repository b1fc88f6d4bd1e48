"""Compute with exchanged arrays in another library: ``python -m tests.interchange.computing tensorflow``.

A process of its own, for a library may end it. Every dtype is exchanged at eight places in memory, in both directions,
and the other library doubles numbers, or inverts bools, which is exact. Prints the number of results.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

import pynested as pn
from pynested.backends.errors import DTypeError, ExchangeError

# Six numbers of each dtype whose doubles it has too; the first ones are lost in any narrower dtype.
NUMBERS: dict[str, list[Any]] = {
    "bool": [True, False, False, True, True, False],
    "int8": [-64, 63, 0, 1, -1, 7],
    "int16": [-(2**14), 2**14 - 1, 0, 1, -1, 7],
    "int32": [-(2**30), 2**30 - 1, 0, 1, -1, 7],
    "int64": [-(2**62), 2**53 + 1, 2**40, 1, -1, 7],
    "uint8": [127, 126, 0, 1, 2, 7],
    "float16": [30000.0, 0.0999755859375, 0.0, -1.0, 1.0, 7.0],
    "float32": [float(np.float32(1e38)), 16777215.0, 0.0, -1.0, 1.0, 7.0],
    "float64": [1e300, 1 / 3, 2.0**53 - 1, -1.0, 1.0, 7.0],
}
OFFSETS = [0, 2, 2, 6]
ROWS, COLUMNS = [0, 0, 2, 2, 2, 2], [0, 1, 0, 1, 2, 3]  # of the numbers in a matrix
PLACES = range(0, 64, 8)


def placed(dtype: str, place: int, shift: int = 0) -> np.ndarray[Any, Any]:
    """Return the numbers at ``place`` bytes behind a multiple of 64 of memory; ``shift`` breaks the alignment."""
    numbers = np.array(NUMBERS[dtype], dtype)
    memory = np.empty(numbers.nbytes + 192, np.uint8)
    start = -memory.ctypes.data % 64 + place + shift
    found = memory[start : start + numbers.nbytes].view(dtype)
    found[...] = numbers
    assert found.ctypes.data % 64 == (place + shift) % 64
    return found


def expected(dtype: str) -> list[Any]:
    return [not one if dtype == "bool" else 2 * one for one in NUMBERS[dtype]]


# ---- libraries -------------------------------------------------------------------------------------------------------


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


@dataclass(frozen=True)
class Library:
    """A way out and a way in; the functions take the module of the library first."""

    out: Callable[..., Any]
    back: Callable[..., Any]
    doubled: Callable[[Any, Any, str], Any]  # the flat results for an array that went out, of a dtype
    make: Callable[[Any, Any], Any]  # its array of the numbers


LIBRARIES = {
    "numpy": Library(
        pn.to_numpy, pn.from_numpy, lambda m, out, dtype: doubled(m.concatenate(list(out)), dtype), lambda m, x: x),
    "torch": Library(
        pn.to_torch, pn.from_torch, lambda m, out, dtype: doubled(out.values(), dtype),
        lambda m, x: m.nested.nested_tensor_from_jagged(m.from_numpy(x), m.tensor(OFFSETS))),
    "awkward": Library(
        pn.to_awkward, pn.from_awkward, lambda m, out, dtype: doubled(m.flatten(out), dtype), lists_of_awkward),
    "pyarrow": Library(pn.to_arrow, pn.from_arrow, doubled_by_arrow, lambda m, x: lists_of_arrow(x)),
    "pandas": Library(
        pn.to_pandas, pn.from_pandas, doubled_by_pandas,
        lambda m, x: m.Series(m.arrays.ArrowExtensionArray(lists_of_arrow(x)))),
    "tensorflow": Library(
        pn.to_tensorflow, pn.from_tensorflow, doubled_by_tensorflow,
        lambda m, x: m.RaggedTensor.from_row_splits(m.constant(x), OFFSETS)),
    "jax": Library(
        pn.to_jax, lambda x, copy: pn.from_jax(x, OFFSETS, copy=copy),
        lambda m, out, dtype: doubled(out.values, dtype), lambda m, x: m.numpy.array(x)),
    "scipy.sparse": Library(
        pn.to_csr, pn.from_csr,
        lambda m, out, dtype: (~out.toarray() if dtype == "bool" else (out + out).toarray())[ROWS, COLUMNS],
        lambda m, x: m.csr_array((x, COLUMNS, OFFSETS))),
}  # fmt: skip


def refused(name: str, module: Any) -> dict[str, str]:
    """Return the dtypes that a library lacks, each with what its refusal says."""
    if name == "scipy.sparse":
        return {"float16": "x.to(pn.float32)"}
    narrow = name == "jax" and not module.config.jax_enable_x64
    return {"int64": "jax_enable_x64", "float64": "x.to(pn.float32)"} if narrow else {}


# ---- both ways -------------------------------------------------------------------------------------------------------


def out_of_pynested(name: str, module: Any, dtype: str) -> int:
    """Exchange from every place, with every ``copy``, and memory that is read-only, misaligned, and backwards."""
    library, lacking, compared = LIBRARIES[name], refused(name, module), 0
    memories = [placed(dtype, place) for place in PLACES] + [placed(dtype, place, shift=1) for place in (0, 32)]
    read_only, backwards = placed(dtype, 0), placed(dtype, 0)
    backwards[...] = backwards[::-1].copy()
    read_only.flags.writeable = False
    for memory in [*memories, read_only, backwards[::-1]]:
        x = pn.nested_array_from_jagged(pn.from_numpy(memory), OFFSETS)
        for copy in (None, True, False):
            try:
                out = library.out(x, copy=copy)
            except DTypeError as error:
                assert lacking[dtype] in str(error), error
                compared += 1
                continue
            except ExchangeError as error:
                assert copy is False and "copy=False" in str(error), error
                may_be_shared = memory.ctypes.data % 64 == 0 and memory.flags.c_contiguous and memory.flags.writeable
                assert not may_be_shared or "stores bool in a format of its own" in str(error), error
                continue
            assert dtype not in lacking
            found = library.doubled(module, out, dtype)
            found = found if isinstance(found, list) else found.tolist()
            assert found == expected(dtype), (dtype, memory.ctypes.data % 64, copy, found, expected(dtype))
            compared += 1
        assert memory.tolist() == NUMBERS[dtype]
        if name == "torch" and memory is read_only:  # only PyTorch writes
            library.out(x).values().zero_()
            assert memory.tolist() == NUMBERS[dtype]
    return compared


def into_pynested(name: str, module: Any, dtype: str) -> int:
    """Exchange from every place; the owner is deleted before the numbers are used."""
    library, compared = LIBRARIES[name], 0
    for place, copy in ((place, copy) for place in PLACES for copy in (None, True)):
        back = library.back(library.make(module, placed(dtype, place)), copy=copy)
        assert str(back.dtype) == dtype
        if place == 0:
            gc.collect()
        other = [np.full(len(NUMBERS[dtype]), 77).astype(dtype) for _ in range(200)]  # in memory that was freed
        flat = back.values() if isinstance(back, pn.NestedArray) else back
        found = (pn.logical_not(flat) if dtype == "bool" else flat + flat).tolist()
        assert found == expected(dtype), (dtype, place, copy, found, len(other))
        compared += 1
    return compared


def main(name: str) -> None:
    module = import_module(name)
    print(
        sum(out_of_pynested(name, module, dtype) for dtype in NUMBERS)
        + sum(into_pynested(name, module, dtype) for dtype in NUMBERS if dtype not in refused(name, module))
    )


if __name__ == "__main__":
    main(sys.argv[1])
