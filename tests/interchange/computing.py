"""Compute with exchanged arrays in another library: ``python -m tests.interchange.computing tensorflow``.

A process of its own, for a library may end it. Every dtype is exchanged at eight places in memory, in both directions,
and the other library doubles numbers, or inverts bools, which is exact. Prints how many results were compared.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
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
    "float32": [1e38, 16777215.0, 0.0, -1.0, 1.0, 7.0],
    "float64": [1e300, 1 / 3, 2.0**53 - 1, -1.0, 1.0, 7.0],
}
NUMBERS["float32"][0] = float(np.float32(1e38))
OFFSETS = [0, 2, 2, 6]
PLACES = range(0, 64, 8)
REFUSED = {
    "scipy.sparse": {"float16": r"x.to(pn.float32)"},
    "jax": {"int64": "jax_enable_x64", "float64": "x.to(pn.float32)"},
}


def placed(dtype: str, place: int, shift: int = 0) -> np.ndarray[Any, Any]:
    """The numbers of a dtype in memory at ``place`` bytes behind a multiple of 64; ``shift`` breaks the alignment."""
    numbers = np.array(NUMBERS[dtype], dtype)
    memory = np.empty(numbers.nbytes + 192, np.uint8)
    start = -memory.ctypes.data % 64 + place + shift
    found = memory[start : start + numbers.nbytes].view(dtype)
    found[...] = numbers
    assert found.ctypes.data % 64 == (place + shift) % 64
    return found


def expected(dtype: str) -> list[Any]:
    return [not one if dtype == "bool" else 2 * one for one in NUMBERS[dtype]]


def doubled(values: Any, invert: Callable[[Any], Any] = lambda x: ~x) -> Any:
    """What the library that ``values`` are of computes."""
    return invert(values) if "bool" in str(values.dtype) else values + values


class Library:
    """One way out and in; ``compute`` gives a flat list of the results."""

    def __init__(self, name: str) -> None:
        self.module = import_module(name)
        out_name = {"pyarrow": "arrow", "scipy.sparse": "csr"}.get(name, name)
        self.out, self.back = getattr(pn, f"to_{out_name}"), getattr(pn, f"from_{out_name}")
        self.compute, self.make = getattr(self, out_name), getattr(self, f"make_{out_name}")
        self.refused = REFUSED.get(name, {})
        if name == "jax" and self.module.config.jax_enable_x64:
            self.refused = {}

    def numpy(self, out: Any) -> Any:
        return [one for component in out for one in doubled(component).tolist()]

    def make_numpy(self, values: Any) -> Any:
        return values

    def torch(self, out: Any) -> Any:
        return doubled(out.values()).tolist()

    def make_torch(self, values: Any) -> Any:
        return self.module.nested.nested_tensor_from_jagged(self.module.from_numpy(values), self.module.tensor(OFFSETS))

    def awkward(self, out: Any) -> Any:
        flat = self.module.flatten(out)
        return (np.logical_not(flat) if "bool" in str(out.type) else flat + flat).to_list()

    def make_awkward(self, values: Any) -> Any:
        contents, index = self.module.contents, self.module.index
        return self.module.Array(
            contents.ListOffsetArray(index.Index64(np.array(OFFSETS)), contents.NumpyArray(values))
        )

    def arrow(self, out: Any) -> Any:
        compute, flat = import_module("pyarrow.compute"), out.values
        if flat.type == self.module.bool_():
            return compute.invert(flat).to_pylist()
        if flat.type == self.module.float16():  # in which Arrow does not add
            flat = flat.cast(self.module.float32())
        return compute.add(flat, flat).to_pylist()

    def make_arrow(self, values: Any) -> Any:
        return self.module.LargeListArray.from_arrays(self.module.array(OFFSETS), self.module.array(values))

    def pandas(self, out: Any) -> Any:
        flat = out.list.flatten()
        if "halffloat" in str(flat.dtype):
            flat = flat.astype("float32[pyarrow]")
        return (~flat if "bool" in str(flat.dtype) else flat + flat).tolist()

    def make_pandas(self, values: Any) -> Any:
        arrow = import_module("pyarrow")
        made = arrow.LargeListArray.from_arrays(arrow.array(OFFSETS), arrow.array(values))
        return self.module.Series(self.module.arrays.ArrowExtensionArray(made))

    def tensorflow(self, out: Any) -> Any:
        if out.dtype.is_bool:
            return self.module.logical_not(out).flat_values.numpy().tolist()
        total = self.module.reduce_sum(self.module.cast(out, "float64"), axis=1).numpy().tolist()
        numbers = out.flat_values.numpy().astype(float).tolist()
        assert total == [sum(numbers[:2]), 0.0, sum(numbers[2:])], total
        return (out + out).flat_values.numpy().tolist()

    def make_tensorflow(self, values: Any) -> Any:
        return self.module.RaggedTensor.from_row_splits(self.module.constant(values), OFFSETS)

    def jax(self, out: Any) -> Any:
        return doubled(out.values).tolist()

    def make_jax(self, values: Any) -> Any:
        return self.module.numpy.array(values)

    def csr(self, out: Any) -> Any:
        if out.dtype == bool:
            return (~out.toarray())[[0, 0, 2, 2, 2, 2], [0, 1, 0, 1, 2, 3]].tolist()
        return (out + out).toarray()[[0, 0, 2, 2, 2, 2], [0, 1, 0, 1, 2, 3]].tolist()

    def make_csr(self, values: Any) -> Any:
        return self.module.csr_array((values, [0, 1, 0, 1, 2, 3], OFFSETS))


def out_of_pynested(library: Library, dtype: str) -> int:
    """Every place, every ``copy``, and memory that is read-only, misaligned, and backwards."""
    compared = 0
    memories = [placed(dtype, place) for place in PLACES]
    memories += [placed(dtype, place, shift=1) for place in (0, 32)]
    read_only, backwards = placed(dtype, 0), placed(dtype, 0)
    backwards[...] = backwards[::-1].copy()
    read_only.flags.writeable = False
    for memory in [*memories, read_only, backwards[::-1]]:
        x = pn.nested_array_from_jagged(pn.from_numpy(memory), OFFSETS)
        for copy in (None, True, False):
            try:
                out = library.out(x, copy=copy)
            except DTypeError as error:
                assert library.refused[dtype] in str(error), error
                compared += 1
                continue
            except ExchangeError as error:
                assert copy is False and "copy=False" in str(error), error
                may_be_shared = memory.ctypes.data % 64 == 0 and memory.flags.c_contiguous and memory.flags.writeable
                assert not may_be_shared or "stores bool in another way" in str(error), error
                continue
            assert dtype not in library.refused
            found = library.compute(out)
            assert found == expected(dtype), (dtype, memory.ctypes.data % 64, copy, found, expected(dtype))
            compared += 1
        assert memory.tolist() == NUMBERS[dtype]
        if not memory.flags.writeable:
            assert not written_through(library, x, memory, dtype)
    return compared


def written_through(library: Library, x: Any, memory: Any, dtype: str) -> bool:
    """Whether the library can write to memory that pynested may not write to; only PyTorch writes."""
    if library.module.__name__ == "torch":
        library.out(x).values().zero_()
    return bool(memory.tolist() != NUMBERS[dtype])


def into_pynested(library: Library, dtype: str) -> int:
    """Every place, with the owner gone before the numbers are used."""
    compared = 0
    for place, copy in ((place, copy) for place in PLACES for copy in (None, True)):
        arguments = (OFFSETS,) if library.back is pn.from_jax else ()
        back = library.back(library.make(placed(dtype, place)), *arguments, copy=copy)
        assert str(back.dtype) == dtype
        if place == 0:
            gc.collect()
        other = [np.full(len(NUMBERS[dtype]), 77).astype(dtype) for _ in range(200)]  # where memory was given back
        flat = back.values() if isinstance(back, pn.NestedArray) else back
        found = (pn.logical_not(flat) if dtype == "bool" else flat + flat).tolist()
        assert found == expected(dtype), (dtype, place, copy, found, len(other))
        compared += 1
    return compared


def main(name: str) -> None:
    library = Library(name)
    compared = 0
    for dtype in NUMBERS:
        compared += out_of_pynested(library, dtype)
        if dtype not in library.refused:
            compared += into_pynested(library, dtype)
    print(compared)


if __name__ == "__main__":
    main(sys.argv[1])
