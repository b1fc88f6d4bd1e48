"""The best of each row, against a search written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pynested.backends.numpy.extremes import best_last

NUMBERS = [0.0, -1.5, 3.0, 3.0, float("inf"), float("-inf"), float("nan")]


def best(row: list[float], greatest: bool) -> float:
    found = row[0]
    for number in row[1:]:
        better = number > found if greatest else number < found
        found = number if number != number or (better and found == found) else found
    return found


def lying(x: Any) -> list[Any]:
    """The same numbers in a row, with steps, and backwards."""
    apart = np.full((*x.shape[:-1], 2 * x.shape[-1]), 77, x.dtype)
    apart[..., ::2] = x
    return [x, apart[..., ::2], np.asfortranarray(x), np.ascontiguousarray(x[..., ::-1])[..., ::-1]]


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int64", "uint8", "bool"])
@pytest.mark.parametrize("shape", [(5, 1), (40, 2), (3, 7, 3), (9,), (0, 4), (2, 65)], ids=str)
def test_the_best_of_rows(dtype: str, shape: tuple[int, ...]) -> None:
    chance = np.random.default_rng(shape[-1])
    numbers = chance.choice(NUMBERS if "float" in dtype else [0, 1, 1, 100], shape).astype(dtype)
    for x in lying(numbers):
        rows = x.reshape(-1, shape[-1]).tolist()
        for better in (np.maximum, np.minimum):
            found = best_last(better, x)
            assert (found.shape, found.dtype) == (shape[:-1], x.dtype)
            due = np.array([best(row, better is np.maximum) for row in rows], dtype).reshape(shape[:-1])
            np.testing.assert_array_equal(found, due)
