"""Reductions of the table that have no exact sums to be compared with, and what all of them promise."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError, EmptyReductionError


class TestPlaceAmongAllElements:
    """`argmax` and `argmin` without a dimension."""

    @pytest.mark.parametrize("name", ["argmax", "argmin"])
    @pytest.mark.parametrize("shape", [(), (1,), (5,), (2, 3), (3, 1, 4), (2, 2, 2, 3)])
    @pytest.mark.parametrize("kind", [np.bool_, np.int8, np.uint8, np.int64, np.float16, np.float64])
    def test_is_that_of_numpy(self, name: str, shape: tuple[int, ...], kind: Any) -> None:
        count = int(np.prod(shape))
        for step in range(3):
            numbers = ((np.arange(count) * 7 + step) % 5).astype(kind).reshape(shape)  # with ties
            for values in (numbers, numbers.T):  # in C order, whatever the memory
                x = pn.array(values)
                for found in (getattr(pn, name)(x), getattr(x, name)(None), getattr(np, name)(x, axis=None)):
                    assert (found.shape, found.dtype) == ((), np.int64)
                    assert found.item() == getattr(np, name)(values)
                kept = getattr(pn, name)(x, keepdim=True)
                assert kept.shape == (1,) * len(shape) and kept.item() == getattr(np, name)(values)

    @pytest.mark.parametrize("name", ["argmax", "argmin"])
    def test_is_the_first_nan(self, name: str) -> None:
        assert getattr(pn, name)(pn.array([[1.0, np.inf], [np.nan, -np.inf], [np.nan, 2.0]])).item() == 2

    @pytest.mark.parametrize("name", ["argmax", "argmin"])
    @pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 3), (1, 0, 2)])
    def test_of_no_elements_is_refused(self, name: str, shape: tuple[int, ...]) -> None:
        with pytest.raises(EmptyReductionError, match=rf"^{name}: an array of shape {re.escape(str(shape))} has no"):
            getattr(pn, name)(pn.zeros(shape))

    @pytest.mark.parametrize("name", ["argmax", "argmin"])
    def test_of_a_nested_array_is_refused(self, lay: Any, name: str) -> None:
        for components in ([np.ones((2, 3)), np.ones((1, 3))], [np.ones((0, 3))], [np.ones(1), np.ones(2)]):
            x = lay(components)
            for given in ({}, {"dim": None}, {"axis": None}):
                with pytest.raises(ArgumentError, match=rf"^{name}: .* nested .* dim=0 to dim={x.ndim - 1}\.$"):
                    getattr(pn, name)(x, **given)

    @pytest.mark.parametrize("name", ["argmax", "argmin"])
    def test_several_dimensions_are_refused(self, lay: Any, name: str) -> None:
        for x in (pn.ones(2, 3), lay([np.ones((2, 3)), np.ones((1, 3))])):
            for dims in ((0, 1), (1,), ()):
                with pytest.raises(ArgumentError, match=rf"^{name}: dim must be an integer"):
                    getattr(pn, name)(x, dims)
