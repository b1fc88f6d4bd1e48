"""Large memory is used again, and only once nobody can see it any more."""

from __future__ import annotations

import gc
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from pynested.backends import memory
from pynested.backends import numpy as cpu

THRESHOLDS = gc.get_threshold()
SHAPE = (600, 500)  # of float32: a little more than LARGE


@pytest.fixture(autouse=True)
def nothing_kept() -> Any:
    memory.forget_kept()
    yield
    memory.forget_kept()


def address(array: np.ndarray) -> int:
    return array.ctypes.data


def test_memory_comes_back_with_the_last_view() -> None:
    first = memory.empty(SHAPE, np.float32)
    place, view = address(first), first[3:5].T
    del first
    assert memory.kept_bytes() == 0
    assert address(memory.empty(SHAPE, np.float32)) != place
    del view
    sizes = memory.kept_bytes()
    assert sizes >= 2 * 4 * SHAPE[0] * SHAPE[1]
    again = memory.empty(SHAPE, np.float32)
    assert memory.kept_bytes() == sizes // 2
    assert again.shape == SHAPE and again.flags.writeable and again.flags.c_contiguous


def test_arrays_in_use_never_share_memory() -> None:
    kept = [memory.empty((n, 500), np.float64) for n in (600, 601, 640, 600)]
    for number, array in enumerate(kept):
        array[...] = number
    del kept[1]
    kept.extend(memory.empty((n, 500), np.float64) for n in (602, 600))
    for array in kept[3:]:
        array[...] = -1
    assert [array.min() for array in kept] == [0, 2, 3, -1, -1]
    assert [array.max() for array in kept] == [0, 2, 3, -1, -1]
    pairs = [(a, b) for a in kept for b in kept if a is not b]
    assert not any(np.shares_memory(a, b) for a, b in pairs)


def test_similar_sizes_share_pieces_and_others_do_not() -> None:
    place = address(memory.empty((1000, 1000), np.float32))
    assert address(memory.empty((1000, 1001), np.float32)) == place
    assert address(memory.empty((1000, 1300), np.float32)) != place


def test_a_result_in_used_memory_shows_nothing_of_it() -> None:
    x = np.linspace(0, 9, 300_000)
    for function, expected in ((cpu.negative, -x), (cpu.exp, np.exp(x)), (cpu.copy, x), (cpu.relu, x)):
        memory.empty(x.shape, x.dtype).fill(np.nan)
        np.testing.assert_allclose(function(x), expected, rtol=1e-14)


def test_no_more_is_kept_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "MOST_KEPT", 5 * 1024 * 1024)
    several = [memory.empty(SHAPE, np.float32) for _ in range(9)]
    assert memory.kept_bytes() == 0
    several.clear()
    assert 0 < memory.kept_bytes() <= memory.MOST_KEPT
    memory.empty((3000, 3000), np.float32)
    assert 0 < memory.kept_bytes() <= memory.MOST_KEPT
    monkeypatch.setattr(memory, "MOST_KEPT", 0)
    memory.forget_kept()
    memory.empty(SHAPE, np.float32)
    assert memory.kept_bytes() == 0


def test_garbage_may_come_back_at_any_moment() -> None:
    for moment in range(1, 61):
        memory.forget_kept()
        waiting = [memory.Piece(np.empty(100 + size, np.uint8)) for size in range(60)]
        waiting.clear()
        gc.disable()
        gc.collect()
        for size in range(12):
            cycle: list[Any] = [memory.Piece(np.empty(1000 + size, np.uint8))]
            cycle.append(cycle)
            del cycle
        gc.set_threshold(gc.get_count()[0] + moment)
        gc.enable()
        memory.kept_bytes()
        memory.empty(SHAPE, np.float32)
        gc.set_threshold(*THRESHOLDS)
    gc.collect()
    assert memory.kept_bytes() == sum(size * len(pieces) for size, pieces in memory._waiting.items())


def test_what_is_kept_is_given_up_where_memory_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    memory.empty(SHAPE, np.float32)
    assert memory.kept_bytes() > 0
    plain = np.empty

    def short(size: Any, dtype: Any) -> Any:
        if memory.kept_bytes():
            raise MemoryError
        return plain(size, dtype)

    monkeypatch.setattr(np, "empty", short)
    assert memory.empty((3000, 3000), np.float32).shape == (3000, 3000)


@pytest.mark.parametrize(("asked", "mib"), [("7", 7), ("²", 512), ("0", 0), ("", 512), ("much", 512)])
def test_what_the_environment_asks(asked: str, mib: int) -> None:
    text = "from pynested.backends import memory; print(memory.MOST_KEPT >> 20)"
    done = subprocess.run(
        [sys.executable, "-c", text], env={"PYNESTED_KEPT_MIB": asked, "PYTHONPATH": ":".join(sys.path)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert int(done.stdout) == mib
