"""Numbers of one dtype in another, bit by bit as exact arithmetic has them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from pynested.backends import get_backend

from ..conversions import converted, telling

DEVICES = pytest.mark.parametrize("device", ["cpu", "plain"])
DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64")


@DEVICES
@pytest.mark.parametrize("target", DTYPES)
@pytest.mark.parametrize("source", DTYPES)
def test_every_pair(source: str, target: str, device: str) -> None:
    x, dtype = telling(np.dtype(source)), np.dtype(target)
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        result = get_backend(device).cast(x, dtype)
    with np.errstate(all="ignore"):
        expected = np.array(converted(x.tolist(), dtype), dtype)
    assert result.dtype == dtype
    np.testing.assert_array_equal(result, expected)
    if dtype.kind == "f":
        assert (np.signbit(result) == np.signbit(expected))[~np.isnan(expected)].all()


@DEVICES
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64"])
def test_what_is_out_of_range_changes_nothing_else(dtype: str, device: str) -> None:
    inside = np.linspace(0, 100, 60).reshape(3, 20)
    expected = np.floor(inside)
    for place, number, end in ((0, np.nan, 0), (31, 1e30, np.iinfo(dtype).max), (59, -np.inf, np.iinfo(dtype).min)):
        x, wanted = inside.copy(), expected.astype(dtype)
        x.flat[place], wanted.flat[place] = number, end
        np.testing.assert_array_equal(get_backend(device).cast(x, np.dtype(dtype)), wanted)
        turned = get_backend(device).cast(x.T, np.dtype(dtype))
        np.testing.assert_array_equal(turned, wanted.T)
        assert turned.flags.c_contiguous


@DEVICES
def test_shapes_without_elements_or_dimensions(device: str) -> None:
    assert get_backend(device).cast(np.zeros((0, 3)), np.dtype("int8")).shape == (0, 3)
    single = get_backend(device).cast(np.array(np.nan), np.dtype("int32"))
    assert (single.shape, single.dtype, single.item()) == ((), np.int32, 0)
