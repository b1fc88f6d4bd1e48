"""Running sums of runs against `np.cumsum` of each, bit for bit, on every small layout and every path."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from pynested.backends import Segments
from pynested.backends import numpy as cpu
from pynested.backends.numpy import scan

LAYOUTS = [lengths for count in range(4) for lengths in product((0, 1, 2, 5), repeat=count)]


def plain(x: np.ndarray, segments: Segments, backwards: bool) -> np.ndarray:
    """A call for each run: float16 in float32, rounded once, whole numbers in int64."""
    wide = np.dtype(np.float32) if x.dtype == np.float16 else x.dtype if x.dtype.kind == "f" else np.dtype(np.int64)
    sums, turn = np.empty(x.shape, wide), slice(None, None, -1 if backwards else 1)
    for start, stop in segments.pairs:
        sums[start:stop] = np.cumsum(x[start:stop][turn], axis=0, dtype=wide)[turn]
    return sums.astype(x.dtype if x.dtype.kind == "f" else wide)


@pytest.mark.parametrize("step", [1, 6, 2048])  # all runs together, the long ones alone, each alone
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "bool", "int8", "uint8", "int64"])
def test_every_path_gives_the_bits_of_the_plain_one(monkeypatch: Any, dtype: str, step: int) -> None:
    monkeypatch.setattr(scan, "STEP_ELEMENTS", step)
    for lengths, inner, backwards in product(LAYOUTS, [(), (3,), (2, 2), (0,)], [False, True]):
        segments = Segments.from_lengths(np.array(lengths, np.int64))
        x = np.random.default_rng(len(lengths)).normal(0, 30, (segments.rows, *inner)).astype(dtype)
        got = cpu.segment_cumsum(x, segments, backwards)
        np.testing.assert_array_equal(got, plain(x, segments, backwards), strict=True)
        assert got.flags.c_contiguous and not np.shares_memory(got, x)


def test_infinities_and_nan_stay_in_their_run() -> None:
    segments = Segments(np.array([0, 2, 3, 5]))
    x = np.array([1, np.nan, np.inf, 1, 2])
    assert cpu.segment_cumsum(x, segments)[[0, 2, 3, 4]].tolist() == [1, np.inf, 1, 3]
    assert cpu.segment_cumsum(x, segments, True)[2:].tolist() == [np.inf, 3, 2]
