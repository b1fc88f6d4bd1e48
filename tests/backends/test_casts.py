"""Casts equal exact arithmetic bit by bit; devices with kernels round once and refuse what overflows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends import get_backend
from pynested.backends.dtypes import bfloat16
from pynested.backends.errors import DTypeError

from ..batches import nothing_warns
from ..conversions import converted
from .kernel_checks import ALL
from .kernel_checks_elements import cast as check_cast

HOSTS = pytest.mark.parametrize("host", ["cpu", "plain"])
LAYOUTS = pytest.mark.parametrize("layout", [None, pn.jagged, pn.strided], ids=str)


@HOSTS
@pytest.mark.parametrize("dtype", [name for name in ALL if name != "bfloat16"])
def test_every_pair_without_a_warning(dtype: str, host: str) -> None:
    with nothing_warns():
        check_cast(get_backend(host), dtype)


@HOSTS
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64"])
def test_a_number_out_of_range_changes_no_other(dtype: str, host: str) -> None:
    cast, target = get_backend(host).cast, np.dtype(dtype)
    for place, number, end in ((0, np.nan, 0), (31, 1e30, np.iinfo(dtype).max), (59, -np.inf, np.iinfo(dtype).min)):
        x = np.linspace(0, 100, 60).reshape(3, 20)
        expected = np.floor(x).astype(dtype)
        x.flat[place], expected.flat[place] = number, end
        np.testing.assert_array_equal(cast(x, target), expected)
        np.testing.assert_array_equal(cast(x.T, target), expected.T)
        assert cast(x.T, target).flags.c_contiguous
    assert cast(np.zeros((0, 3)), target).shape == (0, 3)
    np.testing.assert_array_equal(cast(np.array(np.nan), target), np.array(0, dtype), strict=True)


# ---- on devices with kernels ----------------------------------------------------------------------------------------


def of_layout(x: pn.Array, layout: Any) -> Any:
    return x if layout is None else pn.as_nested_array([x], layout=layout)


def numbers(x: Any) -> list[Any]:
    values = x.values() if x.is_nested else x
    return values.to("cpu", pn.float64).tolist()  # type: ignore[no-any-return]


@LAYOUTS
@pytest.mark.parametrize(
    ("dtype", "inside", "outside"),
    [("int8", [-128, 127], 128), ("uint8", [0, 255], -1), ("bool", [0, 1], 2), ("float16", [2049, -65504], 70000)],
)
def test_writes_refuse_numbers_out_of_range(dtype: str, inside: Any, outside: int, layout: Any, device: str) -> None:
    x = of_layout(pn.zeros(2, dtype=dtype, device=device), layout)
    wrong = pn.array([0, outside], device=device)
    for write in (x.copy_, *([x.add_] if dtype != "float16" else []), lambda values: x.__setitem__(..., wrong)):
        with pytest.raises(OverflowError, match=dtype):
            write(of_layout(wrong, layout))
        assert numbers(x) == [0, 0]
    assert numbers(x.copy_(of_layout(pn.array(inside, device=device), layout))) == converted(inside, np.dtype(dtype))
    if dtype != "float16":
        with pytest.raises(DTypeError, match=dtype):
            x.copy_(pn.array([0.5, 1.0], device=device))


OUT_OF_RANGE: dict[str, Callable[[str], Any]] = {
    "arange": lambda on: pn.arange(254, 258, dtype=pn.uint8, device=on),
    "randint": lambda on: pn.randint(300, (2,), dtype=pn.int8, device=on),
    "full": lambda on: pn.full((2,), 1e5, dtype=pn.float16, device=on),
    "full of bfloat16": lambda on: pn.full((2,), 1e300, dtype="bfloat16", device=on),
    "where": lambda on: pn.where(pn.ones(1, device=on) > 0, pn.ones(1, dtype=pn.int8, device=on), 300),
    "alpha": lambda on: pn.add(pn.ones(1, dtype=pn.int8, device=on), 1, alpha=300),
    "a list": lambda on: pn.array([300], dtype=pn.int8, device=on),
    "an array of NumPy": lambda on: pn.array(np.array([-1]), dtype=pn.uint8, device=on),
    "an array": lambda on: pn.array(pn.array([70000], device=on), dtype=pn.float16),
    "jagged": lambda on: pn.nested_array([[2]], dtype=pn.bool, layout=pn.jagged, device=on),
    "strided": lambda on: pn.nested_array([pn.array([300], device=on)], dtype=pn.int8, layout=pn.strided, device=on),
}


@pytest.mark.parametrize("name", OUT_OF_RANGE)
def test_new_arrays_refuse_numbers_out_of_range(name: str, device: str) -> None:
    with pytest.raises(OverflowError, match=r"u?int8|b?float16|bool"):
        OUT_OF_RANGE[name](device)


@LAYOUTS
@pytest.mark.parametrize("dtype", [np.dtype(np.float16), bfloat16()], ids=str)
def test_floats_are_rounded_once(dtype: Any, layout: Any, device: str) -> None:
    """By way of float32 these would be rounded twice, and to 1."""
    bits = {"float16": 10, "bfloat16": 7}[dtype.name]
    value, expected = 1 + 2.0 ** (-bits - 1) + 2.0**-40, 1 + 2.0**-bits
    on: dict[str, Any] = {"dtype": dtype, "device": device}
    host, there = np.array([value]), pn.array([value], device=device)
    if layout is None:
        made = [pn.array(host, **on), pn.array([value], **on), pn.array(there, dtype=dtype), there.to(dtype)]
        made += [pn.zeros(1, **on).copy_(there), pn.array(host).to(device, dtype)]
    else:
        made = [pn.nested_array(entries, layout=layout, **on) for entries in ([host], [there], [host, np.float32([1])])]
        made += [pn.as_nested_array([there], layout=layout, dtype=dtype)]
    for x in made:
        assert (x.dtype, x.device, numbers(x)[0]) == (dtype, device, expected)


def test_equality_is_exact(device: str) -> None:
    integers, floats = pn.array([2**53 + 1], device=device), pn.array([2.0**53], device=device)
    assert not pn.equal(integers, floats) and not pn.equal(floats, integers)
    assert pn.equal(pn.array([2**53], device=device), floats)
    for dtype in (pn.float64, pn.float32, "bfloat16"):
        assert not pn.equal(pn.array([2.0**63], device=device).to(dtype), pn.array([2**63 - 1], device=device))
