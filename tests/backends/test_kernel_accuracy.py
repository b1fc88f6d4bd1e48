"""Sums are as accurate as those of PyTorch, which the bounds of the specification do not require.

The bounds hold for any order of additions, so they cannot notice that sums are no longer added pairwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn

# The median error of torch.sum of float32 on the CPU, for the draws below: of one column, and of the first of two.
PYTORCH = {10**3: (2.01e-6, 2.27e-6), 10**5: (2.50e-5, 3.50e-5), 10**6: (1.05e-4, 1.49e-4)}
DRAWS = 50
SHORT = 20  # segments of one row, beside the long one


def draws(n: int) -> list[np.ndarray[Any, Any]]:
    return [np.random.default_rng(seed).standard_normal((n, 2), np.float32) for seed in range(DRAWS)]


def median_error(add: Callable[[Any], float], arrays: list[np.ndarray[Any, Any]]) -> float:
    """Return the median of the absolute errors of the sum of the first column; float64 has 29 bits more."""
    return float(np.median([abs(add(x) - x[:, 0].sum(dtype=np.float64)) for x in arrays]))


def jagged(x: np.ndarray[Any, Any], short: int = 0) -> pn.NestedArray:
    values = np.concatenate([x, np.ones((short, *x.shape[1:]), np.float32)])
    return pn.nested_array_from_jagged(pn.array(values), pn.array([0, *range(len(x), len(x) + short + 1)]))


ONE_COLUMN: dict[str, Callable[[Any], float]] = {
    "of all elements": lambda x: pn.sum(pn.array(x[:, 0])).item(),
    "of rows": lambda x: pn.sum(pn.array(np.stack([x[:, 0], x[:, 1]])), 1)[0].item(),
    "of a segment": lambda x: pn.sum(jagged(x[:, 0]), 1)[0].item(),
    "of a segment among short ones": lambda x: pn.sum(jagged(x[:, 0], SHORT), 1)[0].item(),
}
TWO_COLUMNS: dict[str, Callable[[Any], float]] = {
    "over dimension 0": lambda x: pn.sum(pn.array(x), 0)[0].item(),
    "of a segment": lambda x: pn.sum(jagged(x), 1)[0, 0].item(),
    "of a segment among short ones": lambda x: pn.sum(jagged(x, SHORT), 1)[0, 0].item(),
}


@pytest.mark.parametrize("n", [10**3, 10**5, pytest.param(10**6, marks=pytest.mark.exhaustive)])
def test_sums_are_as_accurate_as_those_of_pytorch(n: int) -> None:
    arrays = draws(n)
    for most, ways in zip(PYTORCH[n], (ONE_COLUMN, TWO_COLUMNS), strict=True):
        for way, add in ways.items():
            assert median_error(add, arrays) <= most, way


def test_many_segments_of_a_thousand_rows() -> None:
    """Their rows are added by a sparse product, whose pieces are short."""
    arrays = draws(10**3)
    joined = pn.nested_array_from_jagged(pn.array(np.concatenate(arrays)), pn.array(np.arange(DRAWS + 1) * 10**3))
    sums = pn.sum(joined, 1).numpy()
    exact = [x[:, 0].sum(dtype=np.float64) for x in arrays]
    assert np.median(np.abs(sums[:, 0] - exact)) <= PYTORCH[10**3][1]


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize(("dtype", "term"), [(np.float32, 0.1), (np.float16, 0.0003)])
def test_a_hundred_thousand_equal_terms(dtype: Any, term: float, columns: int) -> None:
    """A sum that adds one term after the other in float32 is wrong by 1 in 1,000."""
    x = np.full((10**5, columns), term, dtype)
    nested = jagged(x).requires_grad_()
    sums = pn.cumsum(nested, 1)
    gradient = pn.grad(sums, nested, jagged(x))  # the sums from the other end
    table = pn.array(np.zeros((3, columns), dtype), requires_grad=True)
    of_index = pn.grad(table[pn.array(np.ones(len(x), np.int64))], table, pn.array(x))
    for longest in (sums.detach().values()[-1], gradient.values()[0], of_index[1]):
        np.testing.assert_allclose(longest.numpy(), 10**5 * term, rtol=5e-4)


def test_normalized_rows_beside_a_large_mean() -> None:
    signs = np.tile([-1, 1], 8)
    x = (np.arange(10007, 10057)[:, None] + 2 * signs).astype(np.float32)
    normalized = pn.layer_norm(jagged(x), 16, eps=0.0)[0].numpy()
    assert normalized.tolist() == [signs.tolist()] * len(x)
