"""Storage, the allocators, and which backend computes for what."""

from __future__ import annotations

import gc
import inspect
import weakref
from typing import Any

import numpy as np
import pytest

from pynested.backends import Backend, Storage, allocate, allocator, get_backend, register_allocator
from pynested.backends import numpy as cpu
from pynested.backends.allocator import _allocators
from pynested.backends.errors import DeviceError
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


def test_unknown_devices_are_refused_in_one_line() -> None:
    for refuse in (allocator, get_backend):
        with pytest.raises(DeviceError, match=r"device 'tpu'.*cpu") as error:
            refuse("tpu")
        assert "\n" not in str(error.value)


def test_a_registered_allocator_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(_allocators, "elsewhere", None)
    register_allocator("elsewhere", lambda shape, dtype: ("memory", shape, dtype))
    assert allocate("elsewhere", (2,), np.int8) == ("memory", (2,), np.int8)


def test_storage_keeps_the_owner_of_borrowed_memory_alive() -> None:
    class Owner:
        def __init__(self, memory: np.ndarray[Any, Any]) -> None:
            self.__array_interface__ = memory.__array_interface__
            self.memory = memory

    owner = Owner(np.zeros(3))
    seen = weakref.ref(owner)
    storage = Storage(np.asarray(owner))
    del owner
    gc.collect()
    assert seen() is not None
    del storage
    gc.collect()
    assert seen() is None


def test_storage_counts_writes() -> None:
    storage = Storage(np.zeros(3))
    assert (storage.version, storage.device) == (0, "cpu")
    storage.wrote()
    assert storage.version == 1
    assert repr(storage) == "Storage(device='cpu', version=1, data=ndarray)"
    with pytest.raises(AttributeError):
        storage.colour = "red"  # type: ignore[attr-defined]


def test_the_backend_of_the_cpu_is_a_module() -> None:
    assert get_backend("cpu") is cpu
    assert (cpu.device, cpu.xp) == ("cpu", np)


def test_every_verb_is_there_documented_and_takes_what_the_interface_says() -> None:
    verbs = [name for name, value in vars(Backend).items() if inspect.isfunction(value) and name[0] != "_"]
    assert len(verbs) > 25
    for name in verbs:
        verb, said = getattr(cpu, name), getattr(Backend, name)
        assert verb.__doc__ and said.__doc__
        expected = [(p.name, p.default) for p in inspect.signature(said).parameters.values()][1:]
        assert [(p.name, p.default) for p in inspect.signature(verb).parameters.values()] == expected, name


def test_other_names_are_numpys() -> None:
    assert cpu.reshape is np.reshape
    assert cpu.float32 is np.float32
    assert cpu.add(1, 2) == 3
    assert cpu.add is cpu.add
    with pytest.raises(AttributeError, match="no_such_function"):
        _ = cpu.no_such_function
