"""Sums, means and maxima: over the ragged dimension, regular ones, the batch, several of them, and all."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import DTypeError, EmptyReductionError

from ..nests import assert_same, batch, nest

SHAPES = [(2, 2), (0, 2), (3, 2)]
X = batch(SHAPES)
CHOOSING = ("amax", "amin")
NAMES = ("sum", "mean", "prod", *CHOOSING)
REDUCE = {
    "sum": np.sum,
    "mean": lambda x, axis, keepdims=False: np.sum(x, axis, keepdims=keepdims) / _count(x, axis),
    "prod": np.prod,
    "amax": np.max,
    "amin": np.min,
}


def _count(x: Any, axis: Any) -> Any:
    count = np.prod([x.shape[a] for a in np.atleast_1d(axis)])
    return count if count else np.nan


def at_places(name: str, components: list[Any], dims: tuple[int, ...]) -> Any:
    """What components hold at each place of the kept dimensions, reduced; written with loops."""
    kept = [d for d in (1, 2) if d not in dims]
    found: dict[tuple[int, ...], list[float]] = {}
    for x in components:
        for index in np.ndindex(x.shape):
            found.setdefault(tuple(index[d - 1] for d in kept), []).append(float(x[index]))
    sizes = [max(x.shape[d - 1] for x in components) for d in kept]
    result = np.empty(sizes)
    for place_ in itertools.product(*map(range, sizes)):
        result[place_] = REDUCE[name](np.array(found.get(place_, [])), 0)
    return result


class TestDtypes:
    def test_sums(self, lay: Any) -> None:
        for kind in (np.bool_, np.int8, np.uint8, np.int32, np.int64):
            x = lay([np.array([1, 1, 1]).astype(kind), np.array([], kind)])
            assert_same(pn.sum(x, 1), [np.int64(3), np.int64(0)])
            assert pn.sum(x).dtype == np.int64
            assert pn.sum(x, 1, dtype=np.float32).dtype == np.float32
        for kind in (np.float16, np.float32, np.float64):
            assert pn.sum(lay([np.ones(3, kind)]), 1).dtype == kind
        assert_same(pn.sum(lay([np.array([200, 100], np.uint8)]), 1, dtype=pn.uint8), [np.uint8(44)])
        with pytest.raises(DTypeError):
            pn.sum(lay([np.ones(3)]), 1, dtype=np.complex128)
        cut = [np.array([0.5, 1.5]), np.array([-0.75, -100.25, -100.5])]  # each element first: 0 + 1, 0 - 100 - 100
        for kind, expected in ((np.int64, [1, -200]), (np.int8, [1, 56]), (np.bool_, [True, True])):
            assert_same(pn.sum(lay(cut), 1, dtype=kind), [np.array(one, kind) for one in expected])


class TestEmpty:
    def test_a_maximum_of_nothing_names_the_component(self, lay: Any) -> None:
        for dim in (1, (1, 2)):
            with pytest.raises(EmptyReductionError, match=re.escape("component 1, of shape (0, 2)")):
                pn.amax(lay(X), dim)
        assert_same(pn.amax(lay(X), 2), [x.max(1) for x in X])
        assert_same(pn.amax(lay(X), 0), at_places("amax", X, (0,)))
        with pytest.raises(EmptyReductionError, match="no elements"):
            pn.amax(lay([np.zeros((0, 2))]))
        with pytest.raises(EmptyReductionError):
            pn.amax(lay([np.zeros((2, 0)), np.zeros((1, 0))]), 2)
        assert (
            pn.amax(lay([np.zeros((2, 0)), np.zeros((0, 0))]), 1).shape == (2, 0)
            if lay(X).layout is pn.jagged
            else True
        )
        ragged = nest(batch([(2, 1), (1, 2)]), pn.strided)
        with pytest.raises(EmptyReductionError, match=re.escape("(1, 1)")):
            pn.amax(ragged, 0)

    def test_a_run_of_minus_infinity(self, lay: Any) -> None:
        assert_same(pn.amax(lay([np.array([-np.inf]), np.array([1.0, 2.0])]), 1), [np.float64(-np.inf), np.float64(2)])
