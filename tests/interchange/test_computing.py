"""Results that other libraries compute with exchanged arrays of every dtype, at eight places in memory.

The other library doubles numbers, or inverts bools, which is exact.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import DTypeError, ExchangeError

from .libraries import LIBRARIES, OFFSETS, Library

pytestmark = pytest.mark.filterwarnings("ignore")

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
PLACES = range(0, 64, 8)
NAMES = [*LIBRARIES, "jax of 64 bits"]


def placed(dtype: str, place: int, shift: int = 0) -> np.ndarray[Any, Any]:
    """Return the numbers at ``place`` bytes behind a multiple of 64 of memory; ``shift`` breaks the alignment."""
    numbers = np.array(NUMBERS[dtype], dtype)
    memory = np.empty(numbers.nbytes + 192, np.uint8)
    start = -memory.ctypes.data % 64 + place + shift
    part = memory[start : start + numbers.nbytes].view(dtype)
    part[...] = numbers
    assert part.ctypes.data % 64 == (place + shift) % 64
    return part


def expected(dtype: str) -> list[Any]:
    return [not number if dtype == "bool" else 2 * number for number in NUMBERS[dtype]]


# The dtypes that a library lacks, each with the text of the refusal.
LACKING: dict[str, dict[str, str]] = {
    "scipy.sparse": {"float16": "x.to(pn.float32)"},
    "jax": {"int64": "jax_enable_x64", "float64": "x.to(pn.float32)"},
}


@pytest.fixture(params=NAMES)
def exchange(request: pytest.FixtureRequest) -> Iterator[tuple[str, Any, Library]]:
    """Return the name, the module, and the ways of a library; of JAX also with 64 bits."""
    name, _, has_64_bits = request.param.partition(" of ")
    module = pytest.importorskip(name)
    if has_64_bits:
        module.config.update("jax_enable_x64", True)
    yield request.param, module, LIBRARIES[name]
    if has_64_bits:
        module.config.update("jax_enable_x64", False)


def test_arrays_of_ours_at_every_place(exchange: tuple[str, Any, Library]) -> None:
    """Exchange from every place, with every ``copy``, and memory that is read-only, misaligned, and backwards."""
    name, module, library = exchange
    for dtype in NUMBERS:
        read_only, backwards = placed(dtype, 0), placed(dtype, 0)
        backwards[...] = backwards[::-1].copy()
        read_only.flags.writeable = False
        misaligned = [placed(dtype, place, shift=1) for place in (0, 32)]
        for memory in (*(placed(dtype, place) for place in PLACES), *misaligned, read_only, backwards[::-1]):
            x = pn.nested_array_from_jagged(pn.from_numpy(memory), OFFSETS)
            for copy in (None, True, False):
                check_out(library, module, x, copy, LACKING.get(name, {}).get(dtype))
            assert memory.tolist() == NUMBERS[dtype]
            if name == "torch" and memory is read_only:  # only PyTorch writes
                library.out(x).values().zero_()
                assert memory.tolist() == NUMBERS[dtype]


def check_out(library: Library, module: Any, x: Any, copy: bool | None, refusal: str | None) -> None:
    """Check the results of a library, or that an array is refused for its dtype or because it must be copied."""
    memory, dtype = x.data.data, str(x.dtype)
    try:
        out = library.out(x, copy=copy)
    except DTypeError as error:
        assert refusal is not None and refusal in str(error), error
    except ExchangeError as error:
        assert copy is False and "copy=False" in str(error), error
        may_be_shared = memory.ctypes.data % 64 == 0 and memory.flags.c_contiguous and memory.flags.writeable
        assert not may_be_shared or "stores bool in a format of its own" in str(error), error
    else:
        assert refusal is None
        assert list(library.double(module, out, dtype)) == expected(dtype), (dtype, copy)


def test_arrays_of_theirs_at_every_place(exchange: tuple[str, Any, Library]) -> None:
    """Exchange from every place; the owner is deleted before the numbers are used."""
    name, module, library = exchange
    for dtype in NUMBERS.keys() - LACKING.get(name, {}):
        for place, copy in ((place, copy) for place in PLACES for copy in (None, True)):
            back = library.back(library.make(module, placed(dtype, place)), copy=copy)
            assert str(back.dtype) == dtype
            if (place, copy) == (0, None):
                gc.collect()
            # Overwrite memory that was freed.
            others = [np.full(len(NUMBERS[dtype]), 77).astype(dtype) for _ in range(200)]
            flat = back.values() if isinstance(back, pn.NestedArray) else back
            result = pn.logical_not(flat) if dtype == "bool" else flat + flat
            assert result.tolist() == expected(dtype), (dtype, place, copy, len(others))


def test_offsets_that_jax_would_narrow_are_refused() -> None:
    pytest.importorskip("jax")
    values = pn.from_numpy(np.broadcast_to(np.int8(1), 2**31 + 8))
    x = pn.nested_array_from_jagged(values, [2**31, 2**31 + 3, 2**31 + 6], [3, 3])
    with pytest.raises(DTypeError, match="offset 2147483654 is beyond int32"):
        pn.to_jax(x)
