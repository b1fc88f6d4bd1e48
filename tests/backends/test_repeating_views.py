"""Arrays that hold a place twice, found by arithmetic, and parts of them that can be written."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

from pynested.backends import dtypes
from pynested.backends.repeating_views import (
    has_repeated_places,
    is_writable,
    repeating_components,
    view_with_base,
    writable_view,
)


def has_repeats(sizes: Any, strides: Any) -> bool:
    """Return whether a place comes twice, counted with loops."""
    places = [sum(k * s for k, s in zip(index, strides, strict=True)) for index in product(*map(range, sizes))]
    return len(set(places)) < len(places)


@pytest.mark.parametrize(("dims", "draws"), [(0, 1), (1, 50), (2, 400), (3, 150), (4, 100)])
def test_repeated_places(dims: int, draws: int) -> None:
    generator = np.random.default_rng(dims)
    count = 0
    for _ in range(draws):
        sizes = generator.integers(0, 7 if dims == 2 else 5, (3, dims))
        strides = generator.integers(0, 9, (3, dims))
        expected = [i for i in range(3) if has_repeats(sizes[i].tolist(), strides[i].tolist())]
        assert repeating_components(sizes, strides) == expected, (sizes, strides)
        for i in range(3):
            assert repeating_components(sizes[i : i + 1], strides[i : i + 1]) == [0] * (i in expected)
        count += len(expected)
    assert bool(count) == bool(dims)


@pytest.mark.parametrize(("sizes", "strides", "expected"), [
    ([2**40], [0], True), ([2**40, 3], [1, 2**40 - 1], True), ([2**20, 2**20], [1, 2**20], False),
    ([2**20, 2**20], [2**20, 1], False), ([2**30, 2**30], [3, 2], True), ([2**30, 2], [2, 1], False),
    ([2**30, 2**28, 2], [0, 0, 1], True), ([2**30, 2**30, 0], [0, 0, 1], False),
    ([2**20, 2**20, 2, 2], [2**21, 2, 1, 2**50], False),
])  # fmt: skip
def test_huge_views_take_no_memory(sizes: Any, strides: Any, expected: bool) -> None:
    assert bool(repeating_components(np.array([sizes]), np.array([strides]))) is expected


def view(memory: Any, sizes: Any, strides: Any, offset: int = 0) -> Any:
    steps = tuple(s * memory.strides[0] for s in strides)
    return view_with_base(as_strided(memory[offset:], tuple(sizes), steps), memory, is_read_only=True)


@pytest.mark.parametrize("step", [1, -2])
@pytest.mark.parametrize("dtype", [np.float64, np.int8, "bfloat16"])
def test_a_part_in_which_no_place_repeats_can_be_written(dtype: Any, step: int) -> None:
    kind = dtypes.bfloat16() if dtype == "bfloat16" else np.dtype(dtype)
    memory = np.zeros(6 * abs(step), kind)[::step]
    windows = view(memory, (3, 2, 2), (1, 2, 0), 1)
    assert windows.dtype == kind and has_repeated_places(windows)
    assert not is_writable(windows) and writable_view(windows) is None
    for index, places in (
        ((0, 1, 1), [3]),
        ((slice(None, None, -2), 0, 0), [3, 1]),
        ((slice(0, 2), slice(None), 1), [1, 3, 2, 4]),
    ):
        memory[:] = 0
        part = windows[(*index, ...)]
        assert not is_writable(part)
        writable_view(part)[...] = np.arange(1, len(places) + 1, dtype=kind).reshape(part.shape)
        assert memory[places].tolist() == list(range(1, len(places) + 1))
        assert np.count_nonzero(memory) == len(places)
    assert writable_view(windows[0]) is None and writable_view(windows[:, :, 0]) is None
    assert writable_view(windows[3:]).shape == (0, 2, 2)


def test_memory_that_is_read_only_stays_so() -> None:
    memory = np.zeros(6)
    memory.setflags(write=False)
    assert writable_view(memory[1:]) is None
    assert writable_view(view(memory, (3, 2), (1, 0))[0, :1]) is None
    broadcast = np.broadcast_to(np.zeros(3), (2, 3))
    assert writable_view(broadcast) is None and writable_view(broadcast[0]) is None
