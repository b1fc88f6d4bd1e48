"""Variances and their roots against exact fractions: corrections, runs of one element, equal elements, large means."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError

from ..nests import nest

ROOTS = {"var": lambda square: square, "std": math.sqrt}
SPREADS = [name for name in ROOTS if hasattr(pn, name)]


@pytest.mark.parametrize("name", SPREADS)
def test_a_correction_is_a_number_of_0_or_more(name: str) -> None:
    for x in (nest([np.ones(3)], pn.jagged), pn.ones(3)):
        for wrong in (-1, math.nan, True, "unbiased", None):
            with pytest.raises(ArgumentError, match=f"^{name}: correction"):
                getattr(pn, name)(x, correction=wrong)
        assert math.isnan(getattr(pn, name)(x, correction=math.inf))
