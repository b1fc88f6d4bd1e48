"""Memory that other libraries hold too has one storage if it begins at the same address, or has the same owner."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pynested.backends import Storage, allocate, sharing
from pynested.backends.sharing import register_exported, storage_of_imported


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
        storage = storage_of_imported(memory[::-1], "cpu")
        assert storage_of_imported(memory[3:5], "cpu") is storage
        assert storage_of_imported(memory, "emulated") is not storage


@pytest.mark.shows("TAPE-18")
def test_foreign_memory_is_known_by_its_first_address() -> None:
    memory = np.zeros(8)
    storage = storage_of_imported(foreign(memory, 8, 16), "cpu")
    assert storage_of_imported(foreign(memory, 8, 24)[4:], "cpu") is storage
    assert storage_of_imported(foreign(memory, 9, 16), "cpu") is not storage


def test_memory_that_went_out_is_known_when_it_comes_back() -> None:
    memory = allocate("cpu", (8,), np.float64)  # begins behind the first byte of its owner
    ours = Storage(memory)
    assert storage_of_imported(memory, "cpu") is not ours
    gc.collect()
    register_exported(ours, memory)
    register_exported(ours, memory)
    assert storage_of_imported(foreign(memory, 0, 24), "cpu") is storage_of_imported(memory[2:], "cpu") is ours


def test_a_view_that_went_out_is_known_when_it_comes_back() -> None:
    memory = np.zeros(8)
    ours = Storage(memory)
    register_exported(ours, memory[3:])
    assert storage_of_imported(foreign(memory, 24, 32), "cpu") is ours


def test_no_elements_have_no_address_and_entries_are_gone_with_the_last_array() -> None:
    gc.collect()
    before = len(sharing._storages)
    assert storage_of_imported(np.zeros(0), "cpu") is not storage_of_imported(np.zeros(0), "cpu")
    register_exported(Storage(np.zeros(0)), np.zeros(0))
    storages = [storage_of_imported(np.zeros(3), "cpu") for _ in range(10)]
    assert len(sharing._storages) == before + len(storages)
    del storages
    assert len(sharing._storages) == before
