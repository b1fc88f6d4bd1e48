"""What a launch refuses before anything runs, and that nothing empty is launched."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pynested.backends import Heads, Segments, get_backend
from pynested.backends.cuda.checks import check_arguments, checked_shape
from pynested.backends.cuda.emulated import Emulator, emulated_backend
from pynested.backends.cuda.report import listing
from pynested.backends.cuda.signatures import KERNELS, signature
from pynested.backends.errors import DeviceError, DTypeError

SPREAD = "spread<unsigned int, 32>"


class Refusing(Emulator):
    """Says that it would have run."""

    def run(self, *args: Any) -> None:
        raise AssertionError("launched")


@pytest.fixture
def device() -> Any:
    return emulated_backend(Refusing())


def good() -> list[Any]:
    x, offsets, out = np.zeros((1, 2), np.float32), np.array([0, 3]), np.zeros((3, 2), np.float32)
    return [x, offsets, np.int64(1), np.int64(2), np.int32(1), out]


@pytest.mark.parametrize(
    ("grid", "block", "shared", "says"),
    [
        ((0,), (256,), 0, "grid is 0 along x"),
        ((2**31,), (256,), 0, "grid is 2147483648 along x"),
        ((1, 65536), (256,), 0, "grid is 65536 along y"),
        ((1, 1, 65536), (256,), 0, "grid is 65536 along z"),
        ((1,), (0,), 0, "block is 0 along x"),
        ((1,), (1025,), 0, "block is 1025 along x"),
        ((1,), (32, 33), 0, "1056 threads, more than 1024"),
        ((1,), (1, 1, 65), 0, "block is 65 along z"),
        ((1,), (1, 1, 1, 1), 0, "1 to 3 dimensions, not 4"),
        ((), (1,), 0, "1 to 3 dimensions, not 0"),
        ((1,), (256,), 227 * 1024 + 1, "bytes of shared memory"),
        ((1,), (256,), -1, "bytes of shared memory"),
    ],
)
def test_shapes_beyond_the_limits(device: Any, grid: Any, block: Any, shared: int, says: str) -> None:
    with pytest.raises(DeviceError, match=says):
        device.launch("spread.cu", SPREAD, grid, block, good(), shared)


def test_shapes_at_the_limits() -> None:
    limits = (2**31 - 1, 65535, 65535), (16, 1, 64)
    assert checked_shape("k", *limits, 227 * 1024) == limits


def test_the_good_arguments_are_good(device: Any) -> None:
    with pytest.raises(AssertionError, match="launched"):
        device.launch("spread.cu", SPREAD, (1,), (256,), good())


@pytest.mark.parametrize(
    ("place", "wrong", "error", "says"),
    [
        (0, [1.0, 2.0], DeviceError, "argument 0 .entries. must lie on the device"),
        (0, np.zeros((2, 2), np.float32).T, DeviceError, "must be contiguous"),
        (0, np.zeros(3, np.uint8), DTypeError, "no whole words of 4 bytes"),
        (1, np.array([0, 3], np.int32), DTypeError, "argument 1 .offsets. must have the dtype int64, not int32"),
        (2, 1, DTypeError, "argument 2 .count. must be a NumPy scalar of int64"),
        (4, np.int64(1), DTypeError, "argument 4 .lg. must be a NumPy scalar of int32"),
        (5, np.float32(1), DeviceError, "argument 5 .out. must lie on the device"),
    ],
)
def test_wrong_arguments(device: Any, place: int, wrong: Any, error: type[Exception], says: str) -> None:
    args = good()
    args[place] = wrong
    with pytest.raises(error, match=says):
        device.launch("spread.cu", SPREAD, (1,), (256,), args)


def test_wrong_numbers_of_arguments_and_unknown_kernels(device: Any) -> None:
    with pytest.raises(DeviceError, match="takes 6 arguments, not 5"):
        device.launch("spread.cu", SPREAD, (1,), (256,), good()[1:])
    with pytest.raises(DeviceError, match=r"spread\.cu has no kernel 'sprad'"):
        device.launch("spread.cu", "sprad<float>", (1,), (256,), good())
    with pytest.raises(DeviceError, match="template arguments"):
        device.launch("spread.cu", "spread<float>", (1,), (256,), good())


def test_a_kernel_outside_the_catalogue_is_not_compiled() -> None:
    with pytest.raises(DeviceError, match=r"not in the catalogue of spread\.cu"):
        emulated_backend(Emulator()).launch("spread.cu", "spread<unsigned int, 64>", (1,), (256,), good())


def test_signatures_are_read_with_their_types() -> None:
    parameters = signature(KERNELS, "layer_norm.cu", "layer_norm<__half, 32>")
    assert [p.name for p in parameters] == ["x", "weight", "bias", "eps", "rows", "columns", "y", "mean", "std"]
    assert [p.code for p in parameters] == list("PPPdqqPPP")
    assert [str(p.dtype) for p in parameters if p.pointer] == ["float16", *["float32"] * 2, "float16", *["float32"] * 2]
    fills = signature(KERNELS, "pad.cu", "pad<ulonglong2>")[4:6]
    check_arguments("pad", fills, [np.uint64(1), np.uint64(2)], np.ndarray)


def test_unsupported_dtypes(device: Any) -> None:
    runs = Segments(np.array([0, 2]))
    with pytest.raises(DTypeError, match="kernels know no dtype"):
        device.segment_max(np.zeros((2, 1), np.complex64), runs)
    with pytest.raises(DTypeError, match="kernels know no dtype"):
        device.relu(np.zeros(3, np.uint16))
    with pytest.raises(DTypeError, match=r"argument 1 \(y\) must have the dtype float64"):
        device.segment_softmax_backward(np.zeros((2, 1)), np.zeros((2, 1), np.float32), runs)


def test_arrays_of_another_device(device: Any) -> None:
    class Elsewhere:
        dtype, shape = np.dtype(np.float32), (2, 1)

        def __len__(self) -> int:
            return 2

    with pytest.raises(DeviceError, match=r"Elsewhere was given to the device 'emulated'.*Move all operands"):
        device.segment_sum(Elsewhere(), Segments(np.array([0, 2])))


def none(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return np.zeros(shape, dtype)


NOTHING, EMPTY = Segments(np.array([0])), Segments(np.array([0, 0, 0]))
NO_SIZES = none(0, 2, dtype=np.int64), none(0, 2, dtype=np.int64), none(0, dtype=np.int64)
NO_HEADS = Heads(*[none(0, size, dtype=np.int64) for size in (4, 3, 3, 3, 3)], None, 2, 2, 1.0, False)


@pytest.mark.parametrize(
    ("verb", "args"),
    [
        ("segment_sum", (none(0, 3), NOTHING)),
        ("segment_max", (none(5, 0), Segments(np.array([0, 5])))),
        ("segment_argmax", (none(0, 3), NOTHING)),
        ("segment_max_backward", (none(2, 3), none(0, 3), none(2, 3), EMPTY)),
        ("segment_softmax", (none(0, 3), EMPTY)),
        ("segment_softmax_backward", (none(0, 3), none(0, 3), EMPTY)),
        ("softmax_last", (none(4, 0),)),
        ("spread", (none(2, 3), EMPTY)),
        ("spread", (none(0, 3), NOTHING)),
        ("pad", (none(0, 3), EMPTY, 0, 0)),
        ("pad", (none(0, 3), NOTHING, 4, 0)),
        ("unpad", (none(2, 0, 3), EMPTY)),
        ("take_rows", (none(0, 3), none(0, dtype=np.int64))),
        ("add_rows", (none(0, 3), none(0, dtype=np.int64), 0)),
        ("gather_components", (none(0), *NO_SIZES)),
        ("scatter_components", (none(0), *NO_SIZES, 7)),
        ("layer_norm", (none(0, 3), None, None, 1e-5)),
        ("layer_norm", (none(3, 0), None, None, 1e-5)),
        ("layer_norm_backward", (none(0, 3), none(0, 3), none(3), none(0), none(0))),
        ("cross_entropy", (none(0, 3), none(0, dtype=np.int64), None, -100, 0.0)),
        ("cross_entropy_backward", (none(0), none(0, 3), none(0, dtype=np.int64), None, -100, 0.0, none(2, 0))),
        ("gelu", (none(0, 3),)),
        ("silu_backward", (none(0), none(0))),
        ("attention", (*[none(0)] * 3, None, NO_HEADS, False)),
        ("attention_backward", (*[none(0)] * 4, None, none(0), none(2, 0), NO_HEADS, False)),
    ],
)
def test_empty_operands_launch_nothing(device: Any, verb: str, args: tuple[Any, ...]) -> None:
    got = getattr(device, verb)(*args)
    if hasattr(get_backend("cpu"), verb):
        expected = getattr(get_backend("cpu"), verb)(*args)
        for one, other in zip(*((x if isinstance(x, tuple) else (x,)) for x in (got, expected)), strict=True):
            np.testing.assert_array_equal(one, other)


def test_the_listing_names_every_kernel() -> None:
    text = listing()
    for word in ("segment_reduce.cu", "gather_transposed", "in all", 'device "emulated"', 'device "cuda"', "NVRTC"):
        assert word in text
    assert checked_shape("k", (1,), (1,), 0) == ((1, 1, 1), (1, 1, 1))
