"""Sums and maxima of runs against loops over components, on every small layout and every path."""

from __future__ import annotations

from itertools import product
from math import fsum, prod
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pynested.backends import Segments
from pynested.backends import numpy as cpu

LAYOUTS = [list(product(range(4), repeat=count)) for count in range(4)]
FLOATS = ["float16", "float32", "float64"]
INTEGERS = ["bool", "uint8", "int8", "int16", "int32", "int64"]
ROUNDOFF = {"float16": 2.0**-24, "float32": 2.0**-24, "float64": 2.0**-53}

pytestmark = pytest.mark.usefixtures("path")


def runs_of(lengths: Any) -> Segments:
    return Segments.from_lengths(np.array(lengths, np.int64))


def small_integers(rows: int, inner: tuple[int, ...], dtype: str) -> np.ndarray:
    low, high = (0, 2) if dtype == "bool" else (0, 9) if dtype == "uint8" else (-9, 9)
    return np.random.default_rng(rows).integers(low, high, (rows, *inner)).astype(dtype)


@pytest.mark.parametrize("layouts", LAYOUTS, ids=len)
@pytest.mark.parametrize("inner", [(), (1,), (3,), (2, 2), (0,)], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_small_layouts(layouts: list[tuple[int, ...]], inner: tuple[int, ...], dtype: str) -> None:
    for lengths in layouts:
        segments = runs_of(lengths)
        x = small_integers(segments.rows, inner, dtype)
        sums, maxima = cpu.segment_sum(x, segments), cpu.segment_max(x, segments)
        assert sums.shape == maxima.shape == (len(lengths), *inner)
        assert sums.dtype == ("float32" if dtype == "float32" else "int64") and maxima.dtype == x.dtype
        least = -np.inf if dtype == "float32" else -128
        for place, (start, stop) in enumerate(segments.pairs):
            for index in np.ndindex(inner):
                column = [x[(row, *index)].item() for row in range(start, stop)]
                assert sums[(place, *index)] == sum(column)
                assert maxima[(place, *index)] == max(column, default=least)
        assert not np.signbit(sums[[length == 0 for length in lengths]]).any()
        np.testing.assert_array_equal(cpu.spread(sums, segments), sums[segments.row_component])


@pytest.mark.parametrize("layouts", LAYOUTS, ids=len)
@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
def test_products(layouts: list[tuple[int, ...]], dtype: str) -> None:
    for lengths, inner in product(layouts, [(), (3,), (0,), (2, 2)]):
        segments = runs_of(lengths)
        x = small_integers(segments.rows, inner, dtype)
        products = cpu.segment_prod(x, segments)
        assert products.shape == (len(lengths), *inner)
        assert products.dtype == (dtype if dtype in FLOATS else "int64")
        for place, (start, stop) in enumerate(segments.pairs):
            for index in np.ndindex(inner):
                assert products[(place, *index)] == prod(x[(row, *index)].item() for row in range(start, stop))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("inner", [(), (5,)], ids=str)
@pytest.mark.parametrize("lengths", [(3000,), (1, 2500, 0, 1024, 7), (2,) * 40 + (0,) * 9 + (300,) * 3], ids=len)
def test_sums_are_within_their_bound(dtype: str, inner: tuple[int, ...], lengths: tuple[int, ...]) -> None:
    segments = runs_of(lengths)
    x = np.random.default_rng(0).normal(3, 10, (segments.rows, *inner)).astype(dtype)
    sums = cpu.segment_sum(x, segments)
    for place, (start, stop) in enumerate(segments.pairs):
        for index in np.ndindex(inner):
            column = list(map(float, x[(slice(start, stop), *index)].ravel()))
            error = abs(fsum([*column, -float(sums[(place, *index)])]))  # an exact sum, rounded once
            terms = len(column) * ROUNDOFF[dtype] * fsum(map(abs, column))
            assert error <= terms + abs(fsum(column)) * float(np.finfo(dtype).eps)


def test_float16_accumulates_wide() -> None:
    segments = runs_of([4096, 0, 3])
    assert cpu.segment_sum(np.ones((4099, 2), np.float16), segments).tolist() == [[4096] * 2, [0] * 2, [3] * 2]
    big = np.array([60000, 60000, -60000], np.float16)
    assert cpu.segment_sum(big, runs_of([3, 0])).tolist() == [60000, 0]
    assert cpu.segment_sum(big[:2], runs_of([2])).tolist() == [np.inf]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_are_exact_to_the_extremes(dtype: str) -> None:
    low, high = (False, True) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    segments = runs_of([2, 0, 3, 1])
    x = np.array([[low, high], [high, high], [low, low], [high, low], [low, low], [high, low]], dtype)
    sums, maxima = cpu.segment_sum(x, segments), cpu.segment_max(x, segments)
    assert sums.dtype == np.int64 and maxima.dtype == x.dtype
    wrap = [[int(low) + high, 2 * high], [0, 0], [2 * int(low) + high, 3 * int(low)], [high, low]]
    assert sums.tolist() == [[(value + 2**63) % 2**64 - 2**63 for value in map(int, row)] for row in wrap]
    assert maxima.tolist() == [[high, high], [low, low], [high, low], [high, low]]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("inner", [(), (3,)], ids=str)
@pytest.mark.parametrize("poison", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("lengths", [(2, 0, 2, 0, 2), (0, 3, 2, 1, 0), (1, 1, 1, 1, 1)], ids=str)
def test_nothing_leaks_into_neighbours(dtype: str, inner: tuple[int, ...], poison: float, lengths: Any) -> None:
    segments = runs_of(lengths)
    clean = small_integers(segments.rows, inner, dtype)
    for victim in range(len(lengths)):
        x = clean.copy()
        x[segments.offsets[victim] : segments.offsets[victim + 1]] = poison
        others = np.arange(len(lengths)) != victim
        for verb in (cpu.segment_sum, cpu.segment_max):
            np.testing.assert_array_equal(verb(x, segments)[others], verb(clean, segments)[others])
            if lengths[victim]:
                np.testing.assert_array_equal(verb(x, segments)[victim], np.full(inner, poison, dtype))
    if inner:
        x = clean.copy()
        x[:, 1] = poison
        for verb in (cpu.segment_sum, cpu.segment_max):
            np.testing.assert_array_equal(verb(x, segments)[:, [0, 2]], verb(clean, segments)[:, [0, 2]])


@pytest.mark.parametrize("dtype", FLOATS)
def test_minima_are_maxima_of_the_negatives(dtype: str) -> None:
    for lengths in ((2, 0, 3, 40), (1,) * 9, (300, 0), ()):
        segments = runs_of(lengths)
        for inner in ((), (1,), (3,), (0,)):
            x = small_integers(segments.rows, inner, dtype)
            x[np.random.default_rng(2).random(x.shape) < 0.1] = np.nan
            np.testing.assert_array_equal(cpu.segment_min(x, segments), -cpu.segment_max(-x, segments))


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int64"])
def test_minima_of_integers(dtype: str) -> None:
    low, high = (False, True) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    x = np.array([[low, high], [high, high], [high, low]], dtype)
    assert cpu.segment_min(x, runs_of([2, 0, 1])).tolist() == [[low, high], [high, high], [high, low]]


@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_wins_a_maximum_wherever_it_is(dtype: str) -> None:
    for length in (1, 2, 3, 5, 17, 40):
        for place in range(length):
            x = np.arange(2 * length, dtype=dtype).reshape(length, 2)
            x[place, 0] = np.nan
            np.testing.assert_array_equal(cpu.segment_max(x, runs_of([length, 0]))[0], [np.nan, 2 * length - 1])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(0, 20), max_size=30), st.sampled_from([(), (2,)]), st.integers(0, 2**32))
def test_any_partition(lengths: list[int], inner: tuple[int, ...], seed: int) -> None:
    segments = runs_of(lengths)
    x = np.random.default_rng(seed).integers(-999, 999, (segments.rows, *inner)).astype(np.float32)
    sums, maxima = cpu.segment_sum(x, segments), cpu.segment_max(x, segments)
    for place, (start, stop) in enumerate(segments.pairs):
        np.testing.assert_array_equal(sums[place], x[start:stop].sum(axis=0))
        np.testing.assert_array_equal(maxima[place], x[start:stop].max(axis=0, initial=-np.inf))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("layouts", LAYOUTS, ids=len)
def test_the_cotangent_of_a_maximum_is_shared_by_ties(dtype: str, layouts: list[tuple[int, ...]]) -> None:
    for lengths in layouts:
        segments = runs_of(lengths)
        x = np.random.default_rng(5).integers(0, 2, (segments.rows, 2)).astype(dtype)
        maximum = cpu.segment_max(x, segments)
        g = np.random.default_rng(6).integers(-9, 9, maximum.shape).astype(dtype)
        result = cpu.segment_max_backward(g, x, maximum, segments)
        assert (result.shape, result.dtype) == (x.shape, x.dtype)
        for (place, (start, stop)), column in product(enumerate(segments.pairs), range(2)):
            run = x[start:stop, column].tolist()
            share = [g[place, column] / run.count(max(run)) if value == max(run) else 0 for value in run]
            np.testing.assert_allclose(result[start:stop, column], share, rtol=2 * float(np.finfo(dtype).eps))


def test_the_cotangent_of_a_nan_maximum_is_nan_in_its_own_column_only() -> None:
    x = np.array([[1, np.nan], [2, 3], [4, 5]])
    segments = runs_of([2, 0, 1])
    result = cpu.segment_max_backward(np.ones((3, 2)), x, cpu.segment_max(x, segments), segments)
    np.testing.assert_array_equal(result, [[0, np.nan], [1, np.nan], [1, 1]])


def test_views_that_are_not_contiguous() -> None:
    x = np.arange(24.0).reshape(4, 6).T
    segments = runs_of([2, 0, 4])
    np.testing.assert_array_equal(cpu.segment_sum(x, segments), [x[:2].sum(0), np.zeros(4), x[2:].sum(0)])
    np.testing.assert_array_equal(cpu.segment_max(x, segments)[[0, 2]], [x[1], x[5]])
    np.testing.assert_array_equal(cpu.segment_sum(x[:, 0], segments), [1, 0, 14])
