"""Memory shared with NumPy: both ways, proven by writing; and what is refused."""

from __future__ import annotations

import shutil
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError, DeviceError, DTypeError, ExchangeError, GradientError

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="the emulation needs g++")

DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64")


class Foreign:
    """An array of some other library: only what the protocol asks for."""

    def __init__(self, data: Any, device: int = 1) -> None:
        self._data, self._device = data, device

    def __dlpack__(self, **options: Any) -> Any:
        return self._data.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device, 0


def check_shared(ours: pn.Array, theirs: Any) -> None:
    """A write on either side is seen on the other."""
    ours[...] = 1
    assert np.asarray(theirs).all()
    theirs[...] = 0
    assert not ours.numpy().any()


# ---- in -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_memory_comes_in(dtype: str, shape: tuple[int, ...]) -> None:
    theirs = np.zeros(shape, dtype)
    ours = pn.from_dlpack(theirs)
    assert (ours.dtype, ours.shape, ours.device, ours.is_leaf, ours.requires_grad) == (dtype, shape, "cpu", True, False)
    check_shared(ours, theirs)


def test_strides_stay_as_they_are() -> None:
    whole = np.arange(24.0).reshape(4, 6)
    for theirs in (whole.T, whole[::2, 1:4], whole[::-1, ::-2], whole[:, 2], whole[:0], np.zeros((0, 3))):
        ours = pn.from_dlpack(theirs)
        assert ours.data.__array_interface__["data"] == theirs.__array_interface__["data"]
        assert (ours.data.strides, ours.tolist()) == (theirs.strides, theirs.tolist())
        assert (ours * 2).tolist() == (theirs * 2).tolist()


def test_anything_that_speaks_the_protocol() -> None:
    theirs = np.zeros(3)
    for device in (1, 3):  # 3 is memory of the host that is pinned for a GPU
        check_shared(pn.from_dlpack(Foreign(theirs, device)), theirs)
    ours = pn.from_dlpack(pn.array(theirs, copy=False))
    check_shared(ours, theirs)


def test_the_memory_outlives_its_owner() -> None:
    ours = pn.from_dlpack(np.arange(1000.0))
    assert ours.sum().item() == 499500


def test_it_can_be_differentiated() -> None:
    theirs = np.array([1.0, 2.0])
    x = pn.from_dlpack(theirs).requires_grad_()
    (x * x).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2, 4]


@needs_compiler
def test_copies() -> None:
    theirs = np.zeros(3)
    for options in ({"copy": True}, {"device": "emulated"}, {"device": "emulated", "copy": True}):
        ours = pn.from_dlpack(theirs, **options)  # type: ignore[arg-type]
        assert ours.device == options.get("device", "cpu")
        ours.data[...] = 7
        assert not theirs.any()
    for options in ({"copy": False}, {"device": "cpu"}, {"device": "cpu", "copy": False}):
        check_shared(pn.from_dlpack(theirs, **options), theirs)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="'cpu'; copy=False keeps it there, device='emulated' does not"):
        pn.from_dlpack(theirs, device="emulated", copy=False)


def test_read_only_memory_is_not_written_to() -> None:
    theirs = np.arange(3.0)
    theirs.flags.writeable = False
    ours = pn.from_dlpack(theirs)
    for write in (lambda: ours.mul_(2), lambda: ours.__setitem__(0, 1.0)):
        with pytest.raises(GradientError, match="read-only"):
            write()
    assert (ours + 1).tolist() == [1, 2, 3]


def test_nested_arrays_around_shared_memory() -> None:
    theirs, offsets = np.zeros((4, 2)), np.array([0, 1, 4])
    jagged = pn.nested_array_from_jagged(pn.from_dlpack(theirs), pn.from_dlpack(offsets))
    strided = pn.nested_array_from_strided(pn.from_dlpack(theirs.reshape(-1)), [[1, 2], [3, 2]])
    theirs[...] = 1
    assert jagged.sum().item() == strided.sum().item() == 8
    jagged.mul_(2)
    strided.values().mul_(3)
    assert (theirs == 6).all()
    offsets[...] = 0  # is copied, so that nobody can put a component outside
    assert jagged.offsets().tolist() == [0, 1, 4]


REFUSED: dict[str, tuple[Any, type[Exception], str]] = {
    "complex": (np.zeros(2, np.complex128), DTypeError, "complex128 is not supported"),
    "uint16": (np.zeros(2, np.uint16), DTypeError, "uint16 is not supported"),
    "part of a record": (np.zeros(2, "i1,f8")["f1"], ExchangeError, "from_dlpack: .*multiple of itemsize"),
    "another byte order": (np.zeros(2, ">f8"), ExchangeError, "native byte order"),
    "text": (np.array(["a"]), ExchangeError, "from_dlpack: "),
    "another device": (Foreign(np.zeros(2), 8), DeviceError, "DLPack's type 8"),
    "gradients": (pn.array([1.0], requires_grad=True), ExchangeError, "detach"),
    "nested": (pn.nested_array([[1.0]]), ArgumentError, r"values\(\)"),
    "a list": ([1.0], ArgumentError, "list has neither"),
    "a number": (3, ArgumentError, r"pn\.array\(x\)"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    given, kind, says = REFUSED[name]
    with pytest.raises(kind, match=says) as caught:
        pn.from_dlpack(given)
    assert "\n" not in str(caught.value)


# ---- out ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_memory_goes_out(dtype: str) -> None:
    for ours in (pn.zeros(2, 3, dtype=dtype), pn.zeros((), dtype=dtype), pn.zeros(4, 6, dtype=dtype)[::2, 1:4]):
        check_shared(ours, np.from_dlpack(ours))
    assert np.from_dlpack(pn.zeros(0, 3, dtype=dtype)).shape == (0, 3)


@needs_compiler
def test_emulated_memory_goes_out_as_that_of_the_cpu() -> None:
    ours = pn.zeros(3, device="emulated")
    assert ours.__dlpack_device__() == (1, 0)
    check_shared(ours, np.from_dlpack(ours))
    assert pn.from_dlpack(ours).device == "cpu"
    assert not hasattr(ours, "__cuda_array_interface__")


def test_arrays_that_require_grad_do_not_go_out() -> None:
    for x in (pn.array([1.0], requires_grad=True), pn.array([1.0], requires_grad=True) * 2):
        with pytest.raises(ExchangeError, match=r"x\.detach\(\)"):
            np.from_dlpack(x)
        with pytest.raises(BufferError):
            x.__dlpack__()
        assert np.from_dlpack(x.detach()).shape == (1,)


def test_negative_strides_go_out_as_a_copy_only() -> None:
    x = pn.arange(6).reshape(2, 3)
    for backwards in (x[::-1], x[:, ::-1]):
        with pytest.raises(ExchangeError, match=r"negative stride, .* x\.contiguous\(\)"):
            np.from_dlpack(backwards)
        assert np.from_dlpack(backwards.contiguous()).tolist() == backwards.tolist()
        assert np.from_dlpack(backwards, copy=True).tolist() == backwards.tolist()


def test_only_arrays_on_a_gpu_have_the_interface_of_cuda() -> None:
    assert not hasattr(pn.zeros(2), "__cuda_array_interface__")
