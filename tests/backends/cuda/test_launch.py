"""Errors that a launch raises before anything runs: shapes beyond the limits, wrong arguments, unknown kernels."""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np
import pytest

from pynested.backends import Segments
from pynested.backends.cuda.emulated_launcher import Emulator, emulated_backend
from pynested.backends.cuda.launching_backend import checked_grid_and_block
from pynested.backends.errors import DeviceError, DTypeError

SPREAD = "spread<unsigned int, 32>"


@pytest.fixture
def device() -> Any:
    """Return a device whose launches raise an error."""
    launcher = Emulator()
    launcher.run = mock.Mock(side_effect=AssertionError("launched"))  # type: ignore[method-assign]
    return emulated_backend(launcher)


def good() -> list[Any]:
    x, offsets, out = np.zeros((1, 2), np.float32), np.array([0, 3]), np.zeros((3, 2), np.float32)
    return [x, offsets, np.int64(1), np.int64(2), np.int32(1), out]


@pytest.mark.parametrize(("grid", "block", "says"), [
    ((2**31,), (256,), r"the grid is \(2147483648,\)\. .* at least 1 and at most \(2147483647, 65535, "),
    ((-1,), (256,), r"the grid is \(-1,\)"), ((1, 65536), (256,), r"the grid is \(1, 65536\)"),
    ((), (1,), r"the grid is \(\)"), ((1, 1, 65536), (256,), r"the grid is \(1, 1, 65536\)"),
    ((1,), (0,), r"the block is \(0,\)"), ((1,), (1025,), r"the block is \(1025,\)"),
    ((1,), (32, 33), "1056 threads, more than 1024"), ((1,), (1, 1, 65), r"the block is \(1, 1, 65\)"),
    ((1,), (1, 1, 1, 1), r"the block is \(1, 1, 1, 1\)"),
])  # fmt: skip
def test_shapes_beyond_the_limits(device: Any, grid: Any, block: Any, says: str) -> None:
    with pytest.raises(DeviceError, match=says):
        device.launch("spread.cu", SPREAD, grid, block, good())


def test_shapes_at_the_limits(device: Any) -> None:
    device.launch("spread.cu", SPREAD, (1, 0), (256,), good())  # an empty grid launches nothing
    assert checked_grid_and_block("k", (1,), (1,)) == ((1, 1, 1), (1, 1, 1))
    limits = (2**31 - 1, 65535, 65535), (16, 1, 64)
    assert checked_grid_and_block("k", *limits) == limits


@pytest.mark.parametrize(
    ("number", "wrong", "error", "says"),
    [
        (0, [1.0, 2.0], DeviceError, "argument 0 must be a contiguous array of the device"),
        (0, np.zeros((2, 2), np.float32).T, DeviceError, "must be a contiguous array"),
        (0, np.zeros(3, np.uint8), DTypeError, "no whole words of 4 bytes"),
        (1, np.array([0, 3], np.int32), DTypeError, r"argument 1 must be an array for long long\*, not one of int32"),
        (2, 1.5, DTypeError, "argument 2 must be a NumPy scalar for long long, not 1.5"),
        (4, np.int64(1), DTypeError, "argument 4 must be a NumPy scalar for int"),
        (5, np.float32(1), DeviceError, "argument 5 must be a contiguous array of the device"),
    ],
)
def test_wrong_arguments(number: int, wrong: Any, error: type[Exception], says: str) -> None:
    device, args = emulated_backend(Emulator()), good()
    device.launch("spread.cu", SPREAD, (1,), (256,), args)
    device.launch("spread.cu", SPREAD, (1,), (256,), [*args[:2], 1, 2, *args[4:]])  # an int is a long long
    args[number] = wrong
    for name, arguments, kind, text in (
        (SPREAD, args, error, says),
        (SPREAD, args[1:], DeviceError, "takes 6 arguments, not 5"),
        ("spread<unsigned int, 64>", args, DeviceError, r"not in the catalogue of spread\.cu"),
    ):
        with pytest.raises(kind, match=text):
            device.launch("spread.cu", name, (1,), (256,), arguments)


def test_unsupported_dtypes_and_arrays_of_another_device(device: Any) -> None:
    segments, x = Segments(np.array([0, 2])), np.zeros((2, 1))
    elsewhere = type("Elsewhere", (), {"dtype": x.dtype, "shape": (2, 1), "__len__": lambda self: 2})()
    for kernel, *args in ((device.segment_max, x.astype(complex), segments), (device.relu, np.zeros(3, np.uint16))):
        with pytest.raises(DTypeError, match="kernels do not support the dtype"):
            kernel(*args)
    with pytest.raises(DeviceError, match="Elsewhere was given to .* 'emulated'.*Move all operands"):
        device.segment_sum(elsewhere, segments)
