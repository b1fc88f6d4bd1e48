"""Memory that other libraries hold too has one storage if it begins at the same address, or has the same owner."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pynested.backends import Storage, allocate, sharing
from pynested.backends.sharing import came_in, went_out


class Foreign:
    """Bytes of another library: NumPy cannot tell that two such arrays have one owner."""

    def __init__(self, memory: np.ndarray[Any, Any], start: int, stop: int) -> None:
        self.memory = memory
        place = memory.__array_interface__["data"][0] + start
        self.__array_interface__ = {"version": 3, "typestr": "|u1", "shape": (stop - start,), "data": (place, False)}


def foreign(memory: np.ndarray[Any, Any], start: int, stop: int) -> np.ndarray[Any, Any]:
    return np.asarray(Foreign(memory, start, stop))


def test_views_of_one_array_and_of_one_file_have_one_storage(tmp_path: Path) -> None:
    for memory in (np.zeros(10), np.memmap(tmp_path / "file", np.float64, "w+", shape=(10,))):
        storage = came_in(memory[::-1], "cpu")
        assert came_in(memory[3:5], "cpu") is storage
        assert came_in(memory, "emulated") is not storage


@pytest.mark.shows("TAPE-18")
def test_foreign_memory_is_known_by_its_first_address() -> None:
    memory = np.zeros(8)
    storage = came_in(foreign(memory, 8, 16), "cpu")
    assert came_in(foreign(memory, 8, 24)[4:], "cpu") is storage
    assert came_in(foreign(memory, 9, 16), "cpu") is not storage


def test_memory_that_went_out_is_known_when_it_comes_back() -> None:
    memory = allocate("cpu", (8,), np.float64)  # begins behind the first byte of its owner
    ours = Storage(memory)
    assert came_in(memory, "cpu") is not ours
    gc.collect()
    went_out(ours)
    went_out(ours)
    assert came_in(foreign(memory, 0, 24), "cpu") is came_in(memory[2:], "cpu") is ours


def test_no_elements_have_no_address_and_entries_are_gone_with_the_last_array() -> None:
    gc.collect()
    before = len(sharing._storages)
    assert came_in(np.zeros(0), "cpu") is not came_in(np.zeros(0), "cpu")
    went_out(Storage(np.zeros(0)))
    storages = [came_in(np.zeros(3), "cpu") for _ in range(10)]
    assert len(sharing._storages) == before + len(storages)
    del storages
    assert len(sharing._storages) == before
