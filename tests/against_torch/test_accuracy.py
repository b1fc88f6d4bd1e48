"""Sums of float32 are at least as accurate as those of PyTorch."""

from __future__ import annotations

from typing import Any

import pytest

from ..backends.test_kernel_accuracy import ONE_COLUMN, TWO_COLUMNS, draws, median_error

torch = pytest.importorskip("torch")


def of_one(x: Any) -> float:
    return float(torch.sum(torch.from_numpy(x[:, 0].copy())).item())


def of_two(x: Any) -> float:
    return float(torch.sum(torch.from_numpy(x), 0)[0].item())


@pytest.mark.parametrize("n", [10**3, 10**5, pytest.param(10**6, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize(("theirs", "ways"), [(of_one, ONE_COLUMN), (of_two, TWO_COLUMNS)], ids=["1", "2"])
def test_sums(theirs: Any, ways: Any, n: int) -> None:
    arrays = draws(n)
    most = median_error(theirs, arrays)
    for way, add in ways.items():
        assert median_error(add, arrays) <= most, way
