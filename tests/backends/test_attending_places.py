"""Copies of equally strided arrays of a flat buffer, element by element."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pynested.backends.numpy.attending_places import PIECE, Place


def drawn(rng: np.random.Generator, unit: int) -> tuple[Place, np.ndarray[Any, Any]]:
    """Arrays whose axes lie in any order, perhaps with gaps; and where each of their elements is, (K, ...)."""
    shape = tuple(rng.integers(0 if rng.random() < 0.1 else 1, 4, 3).tolist())
    steps, apart = [0, 0, 0], unit
    for axis in rng.permutation(3).tolist():
        steps[axis] = apart
        apart *= max(shape[axis], 1) + int(rng.random() < 0.3)
    starts = rng.permutation(7)[: int(rng.integers(2, 5))] * apart
    place = Place(starts, (*shape, unit), (*steps, 1))
    inner = np.indices((*shape, unit)).reshape(4, *shape, unit)
    offsets = sum(index * step for index, step in zip(inner, (*steps, 1), strict=True))
    return place, starts.reshape(-1, 1, 1, 1, 1) + np.asarray(offsets)


@pytest.mark.parametrize("unit", [1, 3, PIECE, 12])
def test_copies_hold_what_is_there_and_go_back(unit: int) -> None:
    rng = np.random.default_rng(unit)
    for _ in range(60):
        place, where = drawn(rng, unit)
        buffer = rng.standard_normal(int(where.max(initial=0)) + 1 + int(rng.integers(3)))
        copies = place.copy(buffer, "here")
        np.testing.assert_array_equal(copies, buffer[where])
        other, due = rng.standard_normal(buffer.size), buffer.copy()
        room = place.room(buffer.dtype, "there")
        room[...] = other[where]
        place.put(room, buffer)
        due[where] = other[where]
        np.testing.assert_array_equal(buffer, due)


def test_a_single_array_is_a_view() -> None:
    buffer = np.arange(20.0)
    view = Place(3, (2, 3), (1, 5)).view(buffer)
    assert view.tolist() == [[[3, 8, 13], [4, 9, 14]]]
    assert np.shares_memory(view, buffer)
    assert Place(40, (0, 3), (3, 1)).view(buffer).shape == (1, 0, 3)
