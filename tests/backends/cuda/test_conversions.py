"""Numbers of one dtype in another on devices with kernels: the same bits and refusals, and a cast waits for nobody."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import DTypeError

from ...conversions import converted, telling

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64", BFLOAT16)
LAYOUTS = (None, pn.jagged, pn.strided)
ON = pytest.mark.parametrize("device", ["emulated", "cuda"])


def numbers(x: Any) -> list[Any]:
    values = x.values() if x.is_nested else x
    wide = values.to("cpu", pn.float64) if values.dtype.kind in "fV" else values.to("cpu")
    return wide.tolist()  # type: ignore[no-any-return]


def of_layout(x: pn.Array, layout: Any) -> Any:
    return x if layout is None else pn.as_nested_array([x], layout=layout)


@ON
@pytest.mark.parametrize("source", DTYPES, ids=str)
def test_every_pair(source: Any, device: str, cupy: ModuleType) -> None:
    given = telling(np.dtype(source))
    wide = given.astype(np.float64) if given.dtype.kind in "fV" else given
    given_arrays = [of_layout(pn.array(given, device=device), layout) for layout in LAYOUTS]
    for name in DTYPES:
        target = np.dtype(name)
        expected = converted(wide.tolist(), target)
        cupy.synchronized.clear()
        made = [x.to(target) for x in given_arrays]
        assert +cupy.synchronized == {}
        for one in made:
            assert (one.dtype, one.device) == (target, device)
            np.testing.assert_array_equal(numbers(one), np.array(expected, np.array(numbers(one)).dtype))


@ON
@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_what_is_written_fits(layout: Any, device: str, cupy: ModuleType) -> None:
    cases: dict[Any, tuple[list[Any], list[Any]]] = {
        "int8": ([-128, 127], [0, 128]),
        "uint8": ([0, 255], [-1, 0]),
        "bool": ([0, 1], [0, 2]),
        "float16": ([2049, -65504], [0, 70000]),
    }
    for dtype, (inside, outside) in cases.items():
        fits, wrong = (pn.array(one, device=device) for one in (inside, outside))
        x = of_layout(pn.zeros(2, dtype=dtype, device=device), layout)
        for write in ("copy_", "add_") if dtype != "float16" else ("copy_",):
            with pytest.raises(OverflowError, match=dtype):
                getattr(x, write)(of_layout(wrong, layout))
            assert numbers(x) == [0, 0]
        with pytest.raises(OverflowError, match=dtype):
            x[...] = wrong
        assert numbers(x.copy_(of_layout(fits, layout))) == converted(inside, np.dtype(dtype))
        if dtype != "float16":
            with pytest.raises(DTypeError, match=dtype):
                x.copy_(pn.array([0.5, 1.0], device=device))


@ON
def test_what_arrays_are_made_of_fits(device: str, cupy: ModuleType) -> None:
    on: dict[str, Any] = {"device": device}
    for values, dtype in (([300], "int8"), (np.array([-1]), "uint8"), ([2], "bool"), ([70000], "float16")):
        for given in (values, pn.array(values, device=device)):
            with pytest.raises(OverflowError, match=dtype):
                pn.array(given, dtype=dtype, **on)
            for layout in LAYOUTS[1:]:
                with pytest.raises(OverflowError, match=dtype):
                    pn.nested_array([given], dtype=dtype, layout=layout, **on)
    for call in (
        lambda: pn.arange(254, 258, dtype=pn.uint8, **on),
        lambda: pn.randint(300, (2,), dtype=pn.int8, **on),
        lambda: pn.full((2,), 1e5, dtype=pn.float16, **on),
        lambda: pn.where(pn.ones(1, **on) > 0, pn.ones(1, dtype=pn.int8, **on), 300),
        lambda: pn.add(pn.ones(1, dtype=pn.int8, **on), 1, alpha=300),
    ):
        with pytest.raises(OverflowError, match="int8|float16"):
            call()
    wide = pn.add(pn.zeros(1, dtype=pn.int64, **on), pn.full((1,), 100, dtype=pn.int8, **on), alpha=2)
    assert numbers(wide) == [200]


@ON
def test_floats_are_rounded_once_wherever_they_come_from(device: str, cupy: ModuleType) -> None:
    """By way of float32 all of these would be rounded twice, and to 1."""
    for dtype, bits in ((np.float16, 10), (BFLOAT16, 7)):
        value, expected = 1 + 2.0 ** (-bits - 1) + 2.0**-40, 1 + 2.0**-bits
        host, there = np.array([value]), pn.array([value], device=device)
        options: dict[str, Any] = {"dtype": dtype, "device": device}
        made = [pn.array(host, **options), pn.array([value], **options), pn.array(there, dtype=dtype), there.to(dtype)]
        made += [pn.zeros(1, **options).copy_(there), pn.array(host).to(device, dtype)]
        for layout in LAYOUTS[1:]:
            made += [
                pn.nested_array([host], layout=layout, **options),
                pn.nested_array([there], layout=layout, **options),
            ]
            made += [pn.nested_array([host, np.float32([1])], layout=layout, **options)[:1]]
            made += [pn.as_nested_array([there], layout=layout, dtype=dtype)]
        for one in made:
            assert one.dtype == dtype and one.device == device
            assert numbers(one)[0] == expected
    halved = pn.array([value], dtype=pn.float32, device=device)
    assert numbers(pn.dropout(halved, 0.0)) == numbers(halved)


@ON
def test_equality_is_exact(device: str, cupy: ModuleType) -> None:
    integers, floats = pn.array([2**53 + 1], device=device), pn.array([2.0**53], device=device)
    assert not pn.equal(integers, floats) and not pn.equal(floats, integers)
    assert pn.equal(pn.array([2**53], device=device), floats)
    greatest = pn.array([2**63 - 1], device=device)
    for dtype in (pn.float64, pn.float32, BFLOAT16):
        assert not pn.equal(pn.array([2.0**63], device=device).to(dtype), greatest)
