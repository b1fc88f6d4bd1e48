"""Storage, the interface of backends, the device "plain", allocators, and segments, which nobody can write."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends import (
    Backend,
    PlainBackend,
    Segments,
    allocator,
    get_backend,
    register_allocator,
    register_backend,
    registry,
)
from pynested.backends.caching_allocator import ALIGNMENT
from pynested.backends.errors import ArgumentError, DeviceError, DTypeError, named_type
from pynested.backends.interface import ALLOCATORS

from .kernel_checks import KERNELS


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (300_000,)], ids=str)
def test_cpu_memory_is_aligned_and_writable(shape: tuple[int, ...]) -> None:
    arrays = [allocator("cpu")(shape, dtype) for dtype in ("bool", "int8", "float16", "float64") * 2]
    for number, array in enumerate(arrays):
        assert array.ctypes.data % ALIGNMENT == 0
        assert (array.shape, array.flags.c_contiguous) == (shape, True)
        array[...] = number % 2
    assert all((array == number % 2).all() for number, array in enumerate(arrays))


def test_offsets_of_segments_are_kept_and_nothing_can_be_written() -> None:
    offsets = np.array([0, 2, 2, 5])
    segments = Segments(offsets)
    assert segments.offsets is offsets
    assert repr(segments) == "Segments(count=3, rows=5)"
    assert (segments.longest, Segments(offsets[:1]).longest) == (3, 0)
    for array in (segments.offsets, segments.lengths, segments.segment_of_row):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_a_storage_counts_writes_and_has_an_address() -> None:
    x = pn.array([1.0, 2.0, 3.0])
    view, storage = x[1:], x.storage
    assert repr(storage) == "Storage(device='cpu', version=0, data=ndarray)"
    assert storage.data_ptr == x.data.ctypes.data == view.data.ctypes.data - 8
    view.mul_(2.0)
    storage.count_write()
    assert storage.version == 2
    with pytest.raises(AttributeError):
        storage.colour = "red"  # type: ignore[attr-defined]


@pytest.mark.parametrize("device", ["cpu", "plain"])
def test_a_backend_has_the_kernels_of_the_interface_and_the_functions_of_numpy(device: str) -> None:
    backend: Any = get_backend(device)
    for name in KERNELS:
        kernel, declared = getattr(backend, name), getattr(PlainBackend, name)
        assert kernel.__doc__ and declared.__doc__
        expected = [(p.name, p.default) for p in inspect.signature(declared).parameters.values()]
        parameters = inspect.signature(kernel).parameters.values()
        # Kernels of the CPU that compute block by block also take the memory of the result.
        assert [(p.name, p.default) for p in parameters if p.kind != p.KEYWORD_ONLY] == expected, name
    assert (backend.device, backend.float32, backend.add(1, 2)) == (device, np.float32, 3)
    with pytest.raises(AttributeError, match="no_such_function"):
        _ = backend.no_such_function


def test_a_backend_without_an_array_module_has_no_functions() -> None:
    for name in ("xp", "add", "_private"):
        with pytest.raises(AttributeError, match="xp|_private"):
            getattr(Backend(), name)


@pytest.mark.parametrize(
    "text",
    [
        "an Array", "an int", "an object", "an ndarray", "an NDArray", "a list", "a NoneType", "a NestedArray",
        "a ufunc", "a uint8", "a UserDict",
    ],
)  # fmt: skip
def test_messages_name_types_with_the_right_article(text: str) -> None:
    _, _, name = text.partition(" ")
    assert named_type(type(name, (), {})()) == text


def test_devices_and_dtypes_of_devices_that_do_not_exist_are_refused() -> None:
    with pytest.raises(DTypeError, match="bfloat16 is computed on the devices 'cuda' and 'emulated'"):
        pn.ones(1, device="plain").to("bfloat16")
    with pytest.raises(DeviceError, match="the devices are cpu, cuda, emulated, plain"):
        pn.zeros(1, device="tpu")


class OnesBackend(PlainBackend):
    """A backend of a device of its own, with another `relu`."""

    device = "ones:0"
    relu = staticmethod(np.ones_like)


def test_a_replaced_kernel_stays_replaced_in_a_backend_that_is_registered_later() -> None:
    register_backend(OnesBackend())
    try:
        assert pn.relu(pn.array([5.0], device="ones")).tolist() == [1]
        pn.kernel("relu", device="ones")(lambda x, /: x + 1)
        register_backend(OnesBackend())
        assert pn.relu(pn.array([5.0], device="ones:0")).tolist() == [6]
    finally:
        registry._made.pop("ones")
        registry.REPLACEMENT_KERNELS.pop("ones", None)


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_new_memory_is_filled_for_kernels_too(device: str) -> None:
    with pn.allocators.filled(0xFF, device):
        assert np.isnan(pn.empty(4, device=device).tolist()).all()
        with pn.allocators.filled(0, device):
            assert pn.empty(4, device=device).tolist() == [0.0] * 4
        assert np.isnan(allocator(device)((2,), np.float32)).all()
    for error, says, arguments in ((DeviceError, "no backend", (0, "tpu")), (ArgumentError, "0 to 255", (256,))):
        with pytest.raises(error, match=says), pn.allocators.filled(*arguments):
            pass


def test_an_allocator_is_registered_for_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ALLOCATORS, "plain", None)
    register_allocator("plain", lambda shape, dtype: ("memory", shape, dtype))
    assert allocator("plain")((2,), np.int8) == ("memory", (2,), np.int8)
    with pytest.raises(ArgumentError, match="`allocate` must be a function, not an int"):
        register_allocator("plain", 3)  # type: ignore[arg-type]
    for device in ("nonsense", "cpu:1", 3):
        with pytest.raises(DeviceError, match="no backend for device 'nonsense'|only number 0|no backend for device 3"):
            register_allocator(device, np.empty)  # type: ignore[arg-type]


def test_devices_of_allocators_and_kernels_can_have_the_number_0(monkeypatch: pytest.MonkeyPatch) -> None:
    """``"cpu:0"`` is ``"cpu"`` there, as it is for arrays."""
    with pn.allocators.filled(0xFF, "cpu:0"):
        assert np.isnan(pn.empty(4).tolist()).all()
        assert np.isnan(allocator("cpu:0")((2,), np.float32)).all()
    monkeypatch.setitem(ALLOCATORS, "plain", None)
    register_allocator("plain:0", lambda shape, dtype: np.full(shape, 3, dtype))
    assert pn.empty(2, device="plain").tolist() == [3, 3]
    relu = get_backend("plain").relu
    pn.kernel("relu", device="plain:0")(lambda x: x + 1)
    assert pn.relu(pn.array([1.0], device="plain")).tolist() == [2]
    pn.kernel("relu", device="plain")(relu)
    with pytest.raises(DeviceError, match="only number 0"):
        pn.kernel("relu", device="cpu:1")(relu)
