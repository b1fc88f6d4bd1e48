"""Storage, the interface of backends, and allocators."""

from __future__ import annotations

import gc
import inspect
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends import Backend, Storage, allocate, get_backend, register_allocator
from pynested.backends.allocator import _allocators
from pynested.backends.errors import ArgumentError, DeviceError
from pynested.backends.memory import ALIGNMENT


@pytest.mark.parametrize("shape", [(), (0,), (3,), (5, 7), (2, 0, 3), (300_000,)], ids=str)
@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "float64"])
def test_cpu_memory_is_aligned_and_writable(shape: tuple[int, ...], dtype: str) -> None:
    arrays = [allocate("cpu", shape, dtype) for _ in range(8)]
    for array in arrays:
        assert array.ctypes.data % ALIGNMENT == 0
        assert (array.shape, array.dtype, array.flags.c_contiguous) == (shape, np.dtype(dtype), True)
    for number, array in enumerate(arrays):
        array[...] = number % 2
    assert all((array == number % 2).all() for number, array in enumerate(arrays))


def test_storage_keeps_the_owner_of_borrowed_memory_alive() -> None:
    class Owner:
        def __init__(self, memory: np.ndarray[Any, Any]) -> None:
            self.__array_interface__ = memory.__array_interface__
            self.memory = memory

    owner = Owner(np.zeros(3))
    alive = weakref.ref(owner)
    storage = Storage(np.asarray(owner))
    del owner
    gc.collect()
    assert alive() is not None
    del storage
    gc.collect()
    assert alive() is None


def test_storage_counts_writes() -> None:
    storage = Storage(np.zeros(3))
    assert (storage.version, storage.device) == (0, "cpu")
    storage.wrote()
    assert storage.version == 1
    assert repr(storage) == "Storage(device='cpu', version=1, data=ndarray)"
    with pytest.raises(AttributeError):
        storage.colour = "red"  # type: ignore[attr-defined]


def test_a_storage_has_an_address_and_holders() -> None:
    x = pn.array([1.0, 2.0, 3.0])
    view = x[1:]
    storage = x.storage
    assert storage.data_ptr == x.data.ctypes.data == view.data.ctypes.data - 8
    assert {id(one) for one in storage.holders()} == {id(x), id(view)}
    version = storage.version
    view.mul_(2.0)
    assert storage.version > version and storage in Storage.living()


@pytest.mark.parametrize("device", ["cpu", "plain"])
def test_a_backend_has_the_kernels_of_the_interface_and_the_functions_of_numpy(device: str) -> None:
    backend: Any = get_backend(device)
    for name, said in vars(Backend).items():
        if inspect.isfunction(said) and not name.startswith("_"):
            kernel = getattr(backend, name)
            assert kernel.__doc__ and said.__doc__
            expected = [(p.name, p.default) for p in inspect.signature(said).parameters.values()][1:]
            assert [(p.name, p.default) for p in inspect.signature(kernel).parameters.values()] == expected, name
    assert (backend.device, backend.float32, backend.add(1, 2)) == (device, np.float32, 3)
    with pytest.raises(AttributeError, match="no_such_function"):
        _ = backend.no_such_function


# ---- allocators -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_new_memory_is_filled_for_kernels_too(device: str) -> None:
    with pn.allocators.filled(0xFF, device):
        assert np.isnan(pn.empty(4, device=device).tolist()).all()
        with pn.allocators.filled(0, device):
            assert pn.empty(4, device=device).tolist() == [0.0] * 4
        assert np.isnan(allocate(device, (2,), np.float32)).all()
    with pytest.raises(DeviceError, match="no allocator"), pn.allocators.filled(0, "tpu"):
        pass
    with pytest.raises(ArgumentError, match="0 to 255"), pn.allocators.filled(256):
        pass


def test_an_allocator_is_registered_for_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(_allocators, "elsewhere", None)
    register_allocator("elsewhere", lambda shape, dtype: ("memory", shape, dtype))
    assert allocate("elsewhere", (2,), np.int8) == ("memory", (2,), np.int8)


OPERATORS: list[Callable[[Any], Any]] = [
    lambda x: x.softmax(-1), lambda x: x.sum(1), lambda x: x.cumsum(1), lambda x: x + x, lambda x: pn.relu(x),
    lambda x: pn.layer_norm(x.unsqueeze(-1), (1,)), lambda x: pn.to_padded_array(x, 0.0), lambda x: x.amax(1),
    lambda x: pn.gelu(x), lambda x: x.contiguous(), lambda x: x.logsumexp(1),
]  # fmt: skip


@pytest.mark.parametrize("layout", [pn.jagged, pn.strided])
def test_no_result_depends_on_uninitialised_memory(layout: pn.Layout) -> None:
    """On devices with kernels new arrays hold NaN in all tests."""
    x = pn.nested_array([[1.0, 2.0], [3.0], [4.0, 5.0, 6.0]], layout=layout)[::2]
    for operator in OPERATORS:
        results = []
        for byte in (0x00, 0xFF):
            with pn.allocators.filled(byte):
                result = operator(x)
            results.append(result.values() if result.is_nested else result)
        assert results[0].tolist() == results[1].tolist()
