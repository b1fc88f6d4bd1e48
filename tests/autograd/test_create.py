"""New arrays: what is converted, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.autograd import manual_seed
from pynested.backends.errors import ArgumentError, DeviceError, DTypeError

DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64")


def test_from_data() -> None:
    assert pn.array([[1, 2], [3, 4]]).dtype == np.int64
    assert pn.array([1.0]).dtype == np.float64
    assert pn.array([True]).dtype == np.bool_
    assert pn.array([]).dtype == np.float64
    assert pn.array(3).shape == ()
    values = np.arange(4.0)
    assert not np.shares_memory(pn.array(values).numpy(), values)
    assert pn.array(values, copy=False).numpy() is values
    x = pn.array([1.0], requires_grad=True)
    assert pn.array(x * 2).is_leaf
    assert pn.array(values).numpy().ctypes.data % 64 == 0


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(dtype: str) -> None:
    assert pn.array([0, 1], dtype=dtype).dtype == dtype
    assert pn.zeros(2, dtype=dtype).tolist() == [0, 0]
    assert pn.ones((2,), dtype=dtype).tolist() == [1, 1]
    assert pn.full((2,), 1, dtype=dtype).dtype == dtype
    assert pn.empty(2, 0, dtype=dtype).shape == (2, 0)


@pytest.mark.parametrize(
    ("data", "dtype", "kind"),
    [
        ([1.5], "int64", DTypeError),
        ([300], "int8", OverflowError),
        ([-1], "uint8", OverflowError),
        ([2], "bool", OverflowError),
        ([0.0], "bool", DTypeError),
        ([1j], None, DTypeError),
        ([1.0], "complex128", DTypeError),
        ([1], "uint16", DTypeError),
        (["a"], None, DTypeError),
        ([None], None, DTypeError),
        ([2**70], None, OverflowError),
        (np.zeros(2, np.uint32), None, DTypeError),
    ],
)
def test_what_cannot_be_held_is_refused(data: Any, dtype: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        pn.array(data, dtype=dtype)


def test_narrower_floats_round_and_overflow_to_infinity() -> None:
    assert pn.array([1e300, 0.1], dtype="float32").tolist() == [float("inf"), float(np.float32(0.1))]


def test_ragged_data_says_what_to_do() -> None:
    with pytest.raises(ArgumentError, match="nested_array"):
        pn.array([[1, 2], [3]])


def test_devices() -> None:
    with pytest.raises(DeviceError):
        pn.array([1.0], device="nowhere")
    with pytest.raises(DeviceError):
        pn.zeros(2, device="nowhere")


def test_filled() -> None:
    assert pn.full(3, 7).tolist() == [7, 7, 7]
    assert pn.full((1, 2), 0.5, requires_grad=True).requires_grad
    assert pn.full((), True).dtype == np.bool_
    with pytest.raises(DTypeError):
        pn.full((2,), 1.5, dtype="int64")
    with pytest.raises(ArgumentError, match="negative"):
        pn.zeros(2, -1)
    with pytest.raises(ArgumentError, match="integer"):
        pn.zeros(2.5)


def test_counted() -> None:
    assert pn.arange(3).tolist() == [0, 1, 2]
    assert pn.arange(1, 2, 0.25, requires_grad=True).tolist() == [1, 1.25, 1.5, 1.75]
    with pytest.raises(DTypeError):
        pn.arange(3, requires_grad=True)


def test_random() -> None:
    manual_seed(1)
    first = [pn.rand(2).tolist(), pn.randn(2).tolist(), pn.randint(5, size=3).tolist()]
    manual_seed(1)
    assert first == [pn.rand(2).tolist(), pn.randn(2).tolist(), pn.randint(5, size=3).tolist()]
    own = np.random.default_rng(2)
    assert pn.rand(3, generator=own).tolist() == np.random.default_rng(2).random(3).tolist()
    assert pn.rand(()).shape == pn.randn(()).shape == ()
    drawn = pn.randint(-2, 3, (100,), dtype="int8")
    assert drawn.dtype == np.int8
    assert set(drawn.tolist()) == {-2, -1, 0, 1, 2}
    with pytest.raises(DTypeError):
        pn.rand(2, dtype="int64")
    with pytest.raises(ArgumentError, match="default_rng"):
        pn.rand(2, generator=3)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_random_numbers_stay_below_one(dtype: str) -> None:
    class Almost(np.random.Generator):
        def random(self, size: Any = None, out: Any = None) -> Any:  # type: ignore[override]
            out = np.empty(size) if out is None else out
            out[...] = 1 - 2.0**-53
            return out

    x = pn.rand(4, dtype=dtype, generator=Almost(np.random.PCG64()))
    assert x.dtype == dtype
    assert (x < 1.0).tolist() == [True] * 4


@pytest.mark.parametrize(
    ("args", "kwargs", "numbers"),
    [
        ((3,), {}, [0, 1, 2]),
        ((1, 4), {}, [1, 2, 3]),
        ((5, 0, -2), {}, [5, 3, 1]),
        ((), {"start": 2, "stop": 9, "step": 3}, [2, 5, 8]),
        ((2,), {"stop": 4}, [2, 3]),
        ((5,), {"step": 2}, [0, 2, 4]),
        ((1, 2), {"step": 0.25}, [1.0, 1.25, 1.5, 1.75]),
        ((), {"start": 2}, [0, 1]),
    ],
)
def test_arange_takes_its_limits_by_name(args: Any, kwargs: Any, numbers: Any) -> None:
    assert pn.arange(*args, **kwargs).tolist() == numbers
    with pytest.raises(ArgumentError, match="arange: 'start' is not given"):
        pn.arange(stop=3)  # type: ignore[call-arg]
