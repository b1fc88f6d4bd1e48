"""Variances and their roots against exact fractions: corrections, runs of one element, equal elements, large means."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError

from ..nests import nest

ROOTS = {"var": lambda square: square, "std": math.sqrt}
SPREADS = [name for name in ROOTS if hasattr(pn, name)]


def exact(run: Any, correction: float = 1) -> float:
    """The variance of a run, in fractions; NaN where nothing is divided by nothing."""
    numbers = [Fraction(float(x)) for x in run]
    mean = sum(numbers) / max(len(numbers), 1)
    squares, divisor = sum((x - mean) ** 2 for x in numbers), max(len(numbers) - Fraction(correction), 0)
    return float(squares / divisor) if divisor else math.inf if squares else math.nan


@pytest.mark.parametrize("correction", [0, 1, 0.5, 2, 3])
@pytest.mark.parametrize("layout", [pn.jagged, pn.strided], ids=str)
@pytest.mark.parametrize("name", SPREADS)
def test_values(name: str, layout: Any, correction: float) -> None:
    runs = [np.array(run) for run in ([1.0, 4.0, 6.0], [], [7.0], [1e8, 1e8 + 1, 1e8 + 2], [0.1, 0.1, 0.1], [2.0, 5.0])]
    for x in (nest(runs, layout), nest(runs, layout, "holes")):
        got = getattr(pn, name)(x, 1, correction=correction).numpy()
        np.testing.assert_allclose(got, [ROOTS[name](exact(run, correction)) for run in runs], rtol=1e-15)
        own = getattr(np, name)(x, axis=1, ddof=correction)
        np.testing.assert_array_equal(own.numpy(), got)
    for run in runs:
        dense = getattr(pn, name)(pn.array(run), correction=correction)
        np.testing.assert_allclose(dense.numpy(), ROOTS[name](exact(run, correction)), rtol=1e-15)
        np.testing.assert_array_equal(getattr(np, name)(pn.array(run), ddof=correction).numpy(), dense.numpy())


@pytest.mark.parametrize("name", SPREADS)
def test_equal_elements_have_no_spread_and_no_slope(name: str) -> None:
    for number in (0.1, 1e300, -1e-300, 3.0):
        x = nest([np.full(7, number), np.full(2, number)], pn.jagged).requires_grad_()
        spread = getattr(pn, name)(x, 1)
        assert spread.tolist() == [0, 0]
        assert not np.any(pn.grad(spread.sum(), [x])[0].values().numpy())


@pytest.mark.parametrize("name", SPREADS)
def test_a_correction_is_a_number_of_0_or_more(name: str) -> None:
    for x in (nest([np.ones(3)], pn.jagged), pn.ones(3)):
        for wrong in (-1, math.nan, True, "unbiased", None):
            with pytest.raises(ArgumentError, match=f"^{name}: correction"):
                getattr(pn, name)(x, correction=wrong)
        assert math.isnan(getattr(pn, name)(x, correction=math.inf))
