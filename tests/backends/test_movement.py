"""Rows moved about, against Python loops."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from pynested.backends import Segments
from pynested.backends import numpy as cpu

LAYOUTS = [list(product(range(4), repeat=count)) for count in range(4)]
DTYPES = ["bool", "int8", "int64", "float16", "float32", "float64"]

pytestmark = pytest.mark.usefixtures("path")


@pytest.mark.parametrize("layouts", LAYOUTS, ids=len)
@pytest.mark.parametrize("inner", [(), (3,), (2, 2), (0,)], ids=str)
def test_pad_and_unpad(layouts: list[tuple[int, ...]], inner: tuple[int, ...]) -> None:
    for lengths, extra in product(layouts, range(2)):
        segments = Segments.from_lengths(np.array(lengths, np.int64))
        length = segments.longest + extra
        x = np.random.default_rng(0).normal(size=(segments.rows, *inner))
        padded = cpu.pad(x, segments, length, -7)
        assert padded.shape == (len(lengths), length, *inner)
        for component, (start, stop) in zip(padded, segments.pairs, strict=True):
            np.testing.assert_array_equal(component[: stop - start], x[start:stop])
            assert (component[stop - start :] == -7).all()
        np.testing.assert_array_equal(cpu.unpad(padded, segments), x)
        np.testing.assert_array_equal(cpu.unpad(np.asfortranarray(padded), segments), x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_padding_keeps_the_dtype_and_takes_its_extremes(dtype: str) -> None:
    segments = Segments.from_lengths(np.array([1, 0, 2]))
    fill = False if dtype == "bool" else np.inf if dtype[0] == "f" else np.iinfo(dtype).min
    padded = cpu.pad(np.ones(3, dtype), segments, 2, fill)
    assert padded.dtype == dtype
    assert padded.tolist() == [[1, fill], [fill, fill], [1, 1]]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("inner", [(), (1,), (3,), (0,), (2, 2)], ids=str)
@pytest.mark.parametrize("index", [[], [0], [2, 2, 2], [3, 0, 1, 0], [4] * 300], ids=len)
def test_take_rows_and_add_rows(dtype: str, inner: tuple[int, ...], index: list[int]) -> None:
    where = np.array(index, np.int64)
    x = np.random.default_rng(1).integers(0, 5, (5, *inner)).astype(dtype)
    taken = cpu.take_rows(x, where)
    assert (taken.dtype, taken.shape) == (x.dtype, (len(index), *inner))
    np.testing.assert_array_equal(taken, x[where])
    if dtype == "bool":
        return
    g = np.random.default_rng(2).integers(-3, 4, taken.shape).astype(dtype)
    expected = np.zeros((5, *inner), np.int64)
    for place, row in enumerate(index):
        expected[row] += g[place].astype(np.int64)
    added = cpu.add_rows(g, where, 5)
    assert added.dtype == x.dtype
    np.testing.assert_array_equal(added, expected.astype(np.int8) if dtype == "int8" else expected)


@pytest.mark.parametrize("inner", [(), (2,)], ids=str)
def test_adding_rows_is_accurate_and_leaks_nothing(inner: tuple[int, ...]) -> None:
    ones = cpu.add_rows(np.ones((4096, *inner), np.float16), np.zeros(4096, np.int64), 2)
    np.testing.assert_array_equal(ones, np.stack([np.full(inner, 4096), np.zeros(inner)]))
    g = np.ones((3, *inner), np.float32)
    g[1] = np.nan
    np.testing.assert_array_equal(cpu.add_rows(g, np.array([2, 1, 2]), 4)[[0, 2, 3], ...].sum(), 2 * np.prod(inner))
    big = np.full((2, *inner), 2**62, np.int64)
    assert (cpu.add_rows(big - 1, np.zeros(2, np.int64), 1) == 2**63 - 2).all()


def test_pack_list() -> None:
    arrays = [np.ones((2, 3), np.float32), np.zeros((0, 3), np.float32), np.full((1, 3), 5, np.float32)]
    rows, lengths = cpu.pack_list(arrays)
    assert (rows.dtype, lengths.dtype, lengths.tolist()) == (np.float32, np.int64, [2, 0, 1])
    np.testing.assert_array_equal(rows, [[1] * 3, [1] * 3, [5] * 3])


def test_copy_is_contiguous_and_apart() -> None:
    x = np.arange(6.0).reshape(2, 3).T
    copied = cpu.copy(x)
    assert copied.flags.c_contiguous and not np.shares_memory(x, copied)
    np.testing.assert_array_equal(copied, x)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_concatenate_is_numpys(axis: int) -> None:
    x, y = np.arange(12.0).reshape(4, 3), np.arange(12, dtype=np.float32).reshape(4, 3)
    for arrays in ([x, y], [x], [x[:0], y[:0]], [y, x.T.copy().T, y]):
        np.testing.assert_array_equal(cpu.concatenate(arrays, axis), np.concatenate(arrays, axis), strict=True)
    with pytest.raises(ValueError, match="must match exactly"):
        cpu.concatenate([x, y[1:, 1:]], axis)
    np.testing.assert_array_equal(cpu.concatenate([x[0], y[1]], -1), np.concatenate([x[0], y[1]]), strict=True)
