"""Large blocks of memory are used again once no array refers to them."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from functools import partial
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends import caching_allocator

from ..crowd import together

SHAPE = (600, 500)  # of float32: a little more than LARGE


@pytest.fixture(autouse=True)
def nothing_kept() -> Any:
    caching_allocator.kept_blocks.clear()
    yield
    caching_allocator.kept_blocks.clear()


def address(array: np.ndarray) -> int:
    return array.ctypes.data


def test_memory_comes_back_with_the_last_view() -> None:
    first = caching_allocator.empty(SHAPE, np.float32)
    place, view = address(first), first[3:5].T
    del first
    assert caching_allocator.kept_bytes() == 0
    assert address(caching_allocator.empty(SHAPE, np.float32)) != place
    del view
    sizes = caching_allocator.kept_bytes()
    assert sizes >= 2 * 4 * SHAPE[0] * SHAPE[1]
    again = caching_allocator.empty(SHAPE, np.float32)
    assert caching_allocator.kept_bytes() == sizes // 2
    assert again.shape == SHAPE and again.flags.writeable and again.flags.c_contiguous


def test_arrays_in_use_never_share_memory() -> None:
    kept = [caching_allocator.empty((n, 500), np.float64) for n in (600, 601, 640, 600)]
    for number, array in enumerate(kept):
        array[...] = number
    del kept[1]
    kept.extend(caching_allocator.empty((n, 500), np.float64) for n in (602, 600))
    for array in kept[3:]:
        array[...] = -1
    assert [array.min() for array in kept] == [0, 2, 3, -1, -1]
    assert [array.max() for array in kept] == [0, 2, 3, -1, -1]
    pairs = [(a, b) for a in kept for b in kept if a is not b]
    assert not any(np.shares_memory(a, b) for a, b in pairs)


def test_similar_sizes_share_pieces_and_others_do_not() -> None:
    place = address(caching_allocator.empty((1000, 1000), np.float32))
    assert address(caching_allocator.empty((1000, 1001), np.float32)) == place
    assert address(caching_allocator.empty((1000, 1300), np.float32)) != place


def test_fresh_reused_and_kept_pieces_are_counted() -> None:
    gc.collect()  # arrays of other tests
    start = pn.memory()
    for reused in (0, 1):
        x = pn.empty(caching_allocator.LARGE)
        held = pn.memory()
        size = held.in_use - start.in_use
        assert size >= 8 * caching_allocator.LARGE and held.peak >= held.in_use and held.kept == 0
        assert (held.fresh - start.fresh, held.reused - start.reused) == (1, reused)
        del x
        assert (pn.memory().in_use, pn.memory().kept) == (start.in_use, size)


def test_no_more_is_kept_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caching_allocator, "MOST_KEPT", 5 * 1024 * 1024)
    several = [caching_allocator.empty(SHAPE, np.float32) for _ in range(9)]
    assert caching_allocator.kept_bytes() == 0
    several.clear()
    assert 0 < caching_allocator.kept_bytes() <= caching_allocator.MOST_KEPT
    caching_allocator.empty((3000, 3000), np.float32)
    assert 0 < caching_allocator.kept_bytes() <= caching_allocator.MOST_KEPT
    monkeypatch.setattr(caching_allocator, "MOST_KEPT", 0)
    caching_allocator.kept_blocks.clear()
    caching_allocator.empty(SHAPE, np.float32)
    assert caching_allocator.kept_bytes() == 0


def test_garbage_may_come_back_at_any_moment_of_an_allocation() -> None:
    thresholds, kept = gc.get_threshold(), set()
    gc.collect()
    gc.freeze()  # so that a collection looks at nothing older than this test
    for moment in range(40):
        caching_allocator.kept_blocks.clear()
        cycle: list[Any] = [caching_allocator.empty(SHAPE, np.float32)]
        cycle.append(cycle)
        caching_allocator.empty(SHAPE, np.float32)  # a block that is used again
        del cycle
        gc.set_threshold(gc.get_count()[0] + moment)
        array = caching_allocator.empty(SHAPE, np.float32)
        gc.set_threshold(10**9)
        gc.collect()
        kept.add(caching_allocator.kept_bytes())
        arrays = [array, caching_allocator.empty(SHAPE, np.float32), caching_allocator.empty(SHAPE, np.float32)]
        assert len(set(map(address, arrays))) == 3
    gc.set_threshold(*thresholds)
    assert kept == {array.base.nbytes}


def test_threads_never_hold_the_same_memory() -> None:
    def work(number: int) -> None:
        for _ in range(60):
            mine = caching_allocator.empty(SHAPE, np.float32)
            mine.fill(number)
            assert mine.min() == mine.max() == number

    together([partial(work, number) for number in range(4)])
    assert 0 < caching_allocator.kept_bytes() <= 2 * 4 * caching_allocator.empty(SHAPE, np.float32).base.nbytes


def test_kept_memory_is_released_when_memory_is_short_and_an_array_that_does_not_fit_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    caching_allocator.empty(SHAPE, np.float32)
    assert caching_allocator.kept_bytes() > 0
    plain = np.empty

    def short(size: Any, dtype: Any) -> Any:
        if caching_allocator.kept_bytes():
            raise MemoryError
        return plain(size, dtype)

    monkeypatch.setattr(np, "empty", short)
    assert caching_allocator.empty((3000, 3000), np.float32).shape == (3000, 3000)
    with pytest.raises(MemoryError, match=r"shape \(2, 17592186044416\) and dtype float32 takes 140,737,488,355,328"):
        caching_allocator.empty((2, 2**44), np.float32)


def test_the_environment_limits_what_is_kept() -> None:
    text = "from pynested.backends import caching_allocator; print(caching_allocator.MOST_KEPT >> 20)"
    environment = {**os.environ, "PYNESTED_KEPT_MIB": "7"}
    assert subprocess.check_output([sys.executable, "-c", text], env=environment, text=True) == "7\n"
