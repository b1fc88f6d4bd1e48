"""Two arrays over one memory: a write through one is noticed if it would make a gradient of the other wrong.

`tests/operators/test_in_place.py` checks every way to write.
"""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends import Storage, allocator
from pynested.backends.errors import GradientError
from pynested.backends.storage import _storages, register_exported, storage_of_imported

Maker = Callable[[np.ndarray[Any, Any]], Any]


class Foreign:
    """The memory of an array as another library holds it: NumPy cannot tell that two such arrays have one owner."""

    def __init__(self, memory: np.ndarray[Any, Any]) -> None:
        self.memory, self.__array_interface__ = memory, memory.__array_interface__


def foreign(memory: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.asarray(Foreign(memory))


def pickled(x: Any) -> Any:
    """Return an array in the same memory, by a pickle with buffers outside of it."""
    buffers: list[Any] = []
    data = pickle.dumps(x, protocol=5, buffer_callback=buffers.append)
    return pickle.loads(data, buffers=buffers)


def windows(c: Any) -> Any:
    """Return all stretches of three numbers, which overlap, so only parts of them can be written."""
    return pn.array(c, copy=False).as_strided((4, 3), (1, 1))


def strided(c: Any) -> Any:
    return pn.nested_array_from_strided(c, [[4], [1]])


# Every way in: arrays of the six numbers of a NumPy array, in the same memory.
WAYS_IN: dict[str, Maker] = {
    "array": lambda c: pn.array(c, copy=False),
    "array of a part": lambda c: pn.array(c[1:5], copy=False),
    "array of bytes": lambda c: pn.array(np.frombuffer(memoryview(c).cast("B"), np.float64), copy=False),
    "memory of another library": lambda c: pn.array(foreign(c), copy=False),
    "a part of such memory": lambda c: pn.array(foreign(c)[2:], copy=False),
    "from_dlpack": lambda c: pn.from_dlpack(c),
    "from_dlpack of a part": lambda c: pn.from_dlpack(c[:3]),
    "array of an array's values": lambda c: pn.array(pn.array(c, copy=False).numpy(), copy=False),
    "a pickle with buffers": lambda c: pickled(pn.array(c, copy=False)),
    "a shallow copy": lambda c: copy.copy(pn.from_dlpack(c)),
    "an operator": lambda c: pn.reshape(c, (3, 2)),
    "jagged with holes": lambda c: pn.nested_array_from_jagged(c, [0, 3, 6], [2, 1]),
    "jagged around an array": lambda c: pn.nested_array_from_jagged(pn.from_dlpack(c), [0, 6]),
    "strided": strided,
    "as_nested_array": lambda c: pn.as_nested_array(c.reshape(2, 3)),
    "narrow": lambda c: pn.narrow(c.reshape(2, 3), 1, 0, [1, 2], layout=pn.jagged),
    "a part of windows": lambda c: windows(c)[:, 1],
    "a part of windows that come back": lambda c: pn.array(windows(c).numpy()[1:, 0], copy=False),
    "a nested pickle with buffers": lambda c: pickled(pn.nested_array_from_jagged(c, [0, 2, 6])),
}


def check_noticed(saved: Any, write: Callable[[], Any]) -> None:
    """Check that ``write`` makes a gradient that needs ``saved`` an error, or that the tape has a copy."""
    x = pn.ones_like(saved).requires_grad_()
    needed = saved.clone() if isinstance(saved, pn.Array | pn.NestedArray) else pn.array(saved)
    y = (x * saved).sum()
    write()
    try:
        gradient = pn.grad(y, x)
    except GradientError as error:
        assert "overwritten in place" in str(error)
    else:
        assert pn.equal(gradient, needed)
        assert needed.is_nested
        assert not saved.structure.is_packed


@pytest.mark.parametrize("other", ["array", "from_dlpack of a part", "jagged with holes"])
@pytest.mark.parametrize("way", WAYS_IN)
def test_two_ways_into_one_memory(way: str, other: str) -> None:
    for first, second in ((way, other), (other, way)):
        numbers = np.arange(1.0, 7.0)
        saved, written = WAYS_IN[first](numbers), WAYS_IN[second](numbers)
        buffers = [x.data.data if x.is_nested else x.data for x in (saved, written)]
        assert np.shares_memory(*buffers) or "part" in first + second
        check_noticed(saved, lambda written=written: written.mul_(100))
        assert 100 in numbers / np.arange(1.0, 7.0)


def test_operands_of_numpy_and_results_that_are_filled() -> None:
    numbers = np.ones((2, 2))
    check_noticed(numbers, lambda: pn.from_dlpack(numbers).mul_(2))
    nested = strided(np.ones(5))[:, :2]
    check_noticed(numbers, lambda: pn.to_padded_array(nested, 0.0, (2, 2), pn.from_dlpack(numbers)))


OURS: dict[str, Callable[[], Any]] = {
    "dense": lambda: pn.array([1.0, 2.0, 3.0]),
    "jagged": lambda: pn.nested_array([[1.0], [2.0, 3.0]], layout=pn.jagged),
    "strided": lambda: pn.nested_array([[1.0], [2.0, 3.0]], layout=pn.strided),
}
WAYS_OUT: dict[str, Maker] = {
    "from_dlpack": lambda x: pn.from_dlpack(x.data if x.is_nested else x),
    "memory of another library": lambda x: pn.array(foreign((x.data if x.is_nested else x).numpy()), copy=False),
    "numpy": lambda x: pn.array((x.data if x.is_nested else x).numpy(), copy=False, device="cpu"),
    "a pickle with buffers": pickled,
}


@pytest.mark.parametrize("way", WAYS_OUT)
@pytest.mark.parametrize("name", OURS)
def test_memory_of_ours_that_goes_out_and_comes_back(name: str, way: str) -> None:
    ours = OURS[name]()
    back = WAYS_OUT[way](ours)
    assert back.device == "cpu"
    check_noticed(ours, lambda: back.mul_(2))
    check_noticed(back, lambda: ours.mul_(2))
    values = back.data if back.is_nested else back
    assert values.tolist() == [4, 8, 12]


@pytest.mark.shows("TAPE-18")
def test_foreign_memory_is_known_by_its_first_address() -> None:
    memory = allocator("cpu")((8,), np.float64)  # begins behind the first byte of its owner
    storage = storage_of_imported(foreign(memory[1:2]), "cpu")
    assert storage_of_imported(foreign(memory[1:])[4:], "cpu") is storage
    for data, device in ((memory, "cpu"), (memory[1:2], "emulated")):
        assert storage_of_imported(foreign(data), device) is not storage
    gc.collect()
    ours = Storage(memory)
    register_exported(ours, memory[3:])
    for data in (memory[3:4], memory[:2]):
        assert storage_of_imported(foreign(data), "cpu") is ours


def test_memory_that_is_known_is_not_allocated_again() -> None:
    memory = np.zeros(8)
    first = pn.from_numpy(memory)
    with pn.timeline() as events:
        views = pn.from_numpy(memory), pn.from_numpy(memory[2:])
    assert all(view.storage is first.storage for view in views)
    assert [event.kind for event in events.events] == ["call", "call"]


def test_no_elements_have_no_address_and_entries_are_gone_with_the_last_array() -> None:
    gc.collect()
    before, nothing = len(_storages), np.zeros(0)
    first, second = (storage_of_imported(nothing, "cpu") for _ in range(2))
    register_exported(first, nothing)
    assert first is not second and len(_storages) == before
    storages = [storage_of_imported(np.zeros(3), "cpu") for _ in range(10)]
    assert len(_storages) == before + len(storages)
    del storages
    assert len(_storages) == before
