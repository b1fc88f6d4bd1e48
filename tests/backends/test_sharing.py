"""Storages that overlap count writes together, against arithmetic on addresses."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import pytest

from pynested.backends import Storage, allocate, sharing
from pynested.backends.sharing import addresses, came_in, went_out, whole

SIZE = 200


class Foreign:
    """Bytes of another library: NumPy cannot tell that two such arrays have one owner."""

    def __init__(self, memory: np.ndarray[Any, Any], start: int, stop: int) -> None:
        self.memory = memory
        place = memory.__array_interface__["data"][0] + start
        self.__array_interface__ = {"version": 3, "typestr": "|u1", "shape": (stop - start,), "data": (place, False)}


def foreign(memory: np.ndarray[Any, Any], start: int, stop: int) -> np.ndarray[Any, Any]:
    return np.asarray(Foreign(memory, start, stop))


@pytest.fixture(autouse=True, params=["owners", "addresses"])
def book(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return an empty book of storages, which goes by owners as long as it can, or by addresses from the beginning."""
    monkeypatch.setattr(sharing, "_book", sharing._Book())
    if request.param == "addresses":
        sharing._book.look_at_addresses()
    yield sharing._book


def test_a_write_is_counted_by_every_storage_that_it_reaches_and_by_no_other() -> None:
    memory = np.zeros(SIZE, np.uint8)
    draw = np.random.default_rng(0)
    living: list[tuple[int, int, str, Storage]] = []
    for _ in range(1500):
        start, stop = sorted(draw.integers(0, SIZE, 2).tolist())
        stop = min(stop, start + int(draw.choice([1, 5, 30, SIZE]))) + 1
        device = str(draw.choice(["cpu", "emulated"]))
        storage = came_in(foreign(memory, start, stop), device)
        around = [s for a, b, d, s in living if a <= start and stop <= b and d == device]
        assert storage in around if around else all(storage is not s for *_, s in living)
        if not around:
            living.append((start, stop, device, storage))
        first, last, _, storage = living[draw.integers(len(living))]
        before = [s.version for *_, s in living]
        storage.wrote()
        counted = [s.version - n for n, (*_, s) in zip(before, living, strict=True)]
        assert counted == [int(a < last and first < b) for a, b, _, _ in living]
        while len(living) > 12 or draw.random() < 0.2 < len(living):
            del living[draw.integers(len(living))]
        del around, storage
    assert sharing._book.starts == sorted(sharing._book.starts)


def test_one_file_and_one_buffer_are_one_memory(tmp_path: Path) -> None:
    mapped = np.memmap(tmp_path / "file", np.float64, "w+", shape=(10,))
    assert came_in(np.asarray(mapped), "cpu") is came_in(mapped[3:5], "cpu")
    buffer = bytearray(80)
    storage = came_in(np.frombuffer(buffer, np.float64), "cpu")
    assert came_in(np.frombuffer(buffer, np.int8, 4, 16), "cpu") is storage


def test_memory_that_went_out_is_known_when_it_comes_back() -> None:
    memory = np.zeros(8)
    ours = Storage(memory)
    assert came_in(foreign(memory, 8, 16), "cpu") is not ours
    went_out(ours)
    went_out(ours)
    back = came_in(foreign(memory, 8, 24), "cpu")
    assert back is ours
    elsewhere = came_in(foreign(memory, 8, 24), "emulated")
    assert elsewhere is not ours
    elsewhere.wrote()
    assert (ours.version, elsewhere.version) == (1, 1)
    ours.wrote()
    assert (ours.version, elsewhere.version) == (2, 2)


def test_nothing_has_an_address_and_no_neighbours() -> None:
    assert addresses(np.zeros((3, 0))) == (0, 0)
    assert came_in(np.zeros(0), "cpu") is not came_in(np.zeros(0), "cpu")
    empty = Storage(np.zeros(0))
    went_out(empty)
    assert empty.linked == ()


def test_addresses_are_those_from_the_first_byte_to_the_last() -> None:
    memory = np.zeros(40, np.uint8)
    start = memory.__array_interface__["data"][0]
    inner = foreign(memory, 4, 36).view(np.int16)  # 16 numbers
    assert addresses(inner) == addresses(whole(inner[::-3])) == (start + 4, start + 36)

    class Apart:
        """Every third of them, from the last backwards, and nothing else."""

        def __init__(self) -> None:
            self.__array_interface__ = {**inner[::-3].__array_interface__}

    assert addresses(np.asarray(Apart())) == (start + 4, start + 36)


def test_storages_and_entries_are_gone_with_the_last_array(book: Any) -> None:
    kept = [came_in(np.zeros(3), "cpu") for _ in range(10)]
    arrays = [np.zeros(3) for _ in range(5000)]  # no two in the same place
    for array in arrays:
        came_in(array, "cpu")
    gc.collect()
    assert book.count <= 2 * sharing.FEW
    assert all(storage.linked == () for storage in kept)
    assert len(book.regions) == len(book.starts) == len(book.stops)


def test_addresses_are_compared_once_foreign_memory_comes_in(book: Any) -> None:
    """Memory that came in before belongs to the same storage as views of it that come in after."""
    by_owners = book.owned is not None
    small, large = np.zeros(8), allocate("cpu", (200_000,), np.float64)
    storages = [came_in(small, "cpu"), came_in(large, "cpu")]
    assert [came_in(memory[2:4], "cpu") for memory in (small, large)] == storages
    assert (book.owned is not None) == by_owners
    for memory, storage in zip((small, large), storages, strict=True):
        assert came_in(foreign(memory, 8, 16), "cpu") is storage
        assert came_in(foreign(memory, 8, 16), "emulated") is not storage
    assert book.owned is None


def test_threads_find_one_storage() -> None:
    buffers = [np.zeros(5) for _ in range(50)]
    barrier = Barrier(4)

    def enter() -> list[Storage]:
        barrier.wait()
        return [came_in(buffer[i % 3 :], "cpu") for i, buffer in enumerate(buffers)]

    with ThreadPoolExecutor(4) as pool:
        results = [future.result() for future in [pool.submit(enter) for _ in range(4)]]
    for storages in zip(*results, strict=True):
        assert len(set(map(id, storages))) == 1
