"""Entries of functions: the formula in all kinds of numbers, its derivative, and its edges, each by another way."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pynested.spec.compare import compare
from pynested.spec.components import Components
from pynested.spec.corpus import load_vectors
from pynested.spec.function import Function
from pynested.spec.functions import FUNCTIONS
from pynested.spec.generator.exact import MP, Exact, lift, plain
from pynested.spec.table import load_table

POINTS = np.array([0.3, 1.7, -2.6])
SMOOTH = {name: one for name, one in FUNCTIONS.items() if not one.is_step}
STEPS = {name: one for name, one in FUNCTIONS.items() if one.is_step}


@pytest.fixture(params=FUNCTIONS.values(), ids=FUNCTIONS)
def function(request: pytest.FixtureRequest) -> Function:
    made: Function = request.param
    return made


def test_a_formula_is_the_same_in_floats_and_exact_numbers(function: Function) -> None:
    x = function.inside(POINTS)
    exact = np.array([float(number) for number in plain(function.of(lift(x)))])
    np.testing.assert_allclose(function.of(x), exact, rtol=1e-14)


@pytest.mark.parametrize("function", SMOOTH.values(), ids=SMOOTH)
def test_a_derivative_is_the_limit_of_differences(function: Function) -> None:
    """In exact numbers, with a step of another size, and by the complex step."""
    x = function.inside(POINTS)
    step = MP.mpf(2) ** -50
    for number, slope in zip(x.tolist(), plain(function.slope(lift(x))), strict=True):
        above, below = (Exact(MP.mpf(number) + sign * step).function(function).value for sign in (1, -1))
        assert abs(slope - (above - below) / (2 * step)) < 1e-24 * max(1, abs(slope))
    np.testing.assert_allclose(function.slope(x), [float(one) for one in plain(function.slope(lift(x)))], rtol=1e-13)


@pytest.mark.parametrize("function", STEPS.values(), ids=STEPS)
def test_a_step_is_flat_but_for_its_jumps(function: Function) -> None:
    for shift in (0.09, -0.09, 1e-9j):
        assert np.array_equal(function.of(POINTS + shift), function.of(POINTS))
    assert not function.slope(POINTS).any() and not function.slope(np.array([0.0, 2.5, np.nan, np.inf])).any()


def test_a_derivative_is_exact_for_numbers_of_every_size() -> None:
    for number in (1e-300, 1e30, 1e300):
        assert abs(Exact(number).slope(FUNCTIONS["log"]).value * MP.mpf(number) - 1) < MP.mpf(2) ** -140


@pytest.mark.parametrize(
    ("name", "x", "slope"),
    [
        ("expm1", -479.35, lambda x: MP.exp(x)), ("expm1", -744.0, lambda x: MP.exp(x)),
        ("sigmoid", 700.0, lambda x: MP.exp(-x) / (1 + MP.exp(-x)) ** 2), ("tanh", -200.0, lambda x: MP.sech(x) ** 2),
        ("erf", 17.5, lambda x: 2 / MP.sqrt(MP.pi) * MP.exp(-x * x)),
        ("erfc", -26.0, lambda x: -2 / MP.sqrt(MP.pi) * MP.exp(-x * x)),
    ],
)  # fmt: skip
def test_a_slope_has_all_its_digits_where_the_function_is_nearly_flat(name: str, x: float, slope: Any) -> None:
    found = Exact(x).slope(FUNCTIONS[name]).value
    assert abs(found / slope(MP.mpf(x)) - 1) < MP.mpf(2) ** -140


def test_edges_are_those_of_float64(function: Function) -> None:
    """float64 has its overflow elsewhere, so the edges that are about it are left out."""
    for number, value in function.special:
        if math.isfinite(number) and not abs(value) < 1e3:
            continue
        with np.errstate(all="ignore"):
            got = function.of(np.array(number))
            got = np.float32(got)
        assert np.array_equal(got, np.float32(value), equal_nan=True)
        assert math.isnan(value) or math.copysign(1, value) == math.copysign(1, got)


def test_the_integer_of_the_cases_has_an_exact_value(function: Function) -> None:
    value = float(plain(function.of(lift(np.array([float(function.integer)]))))[0])
    assert value == np.float16(value)


def test_ints_are_taken_as_float64_or_stay(function: Function) -> None:
    stays = {"wrap": np.int8, "stay": np.int8, "bool": np.bool_}
    with np.errstate(all="ignore"):  # 2 may be no number of its domain
        assert function.of(np.array([1, 2], np.int8)).dtype == stays.get(function.dtypes, np.float64)
    assert function.definition.__name__ == function.name


def test_the_square_of_an_int_wraps_and_a_step_leaves_it() -> None:
    ints = np.array([100, -128, 11], np.int8)
    assert FUNCTIONS["square"].of(ints).tolist() == [10000 - 39 * 256, 0, 121]
    for name in ("floor", "ceil", "round", "trunc"):
        beyond = np.array([2**53 + 1, -(2**63)])
        assert FUNCTIONS[name].of(beyond).tolist() == beyond.tolist()


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=lambda function: function.name)
def test_an_exact_infinity_has_the_value_that_the_edges_say(function: Function) -> None:
    edges = {x: value for x, value in function.special if math.isinf(x)}
    for x, value in edges.items():
        found = float(Exact(MP.mpf(x)).function(function))
        assert np.float32(found) == np.float32(value) or (math.isnan(found) and math.isnan(value))
    assert float(Exact(MP.inf).function(FUNCTIONS["atan"])) == math.pi / 2


@pytest.mark.parametrize("function", SMOOTH.values(), ids=SMOOTH)
def test_the_gradient_outside_the_domain_is_open(function: Function) -> None:
    """Where NumPy gives NaN for a number: a clause says so, and a vector that takes every gradient, as all may be."""
    numpy_names = {"acosh": "arccosh", "asin": "arcsin", "acos": "arccos", "atanh": "arctanh", "rsqrt": "sqrt"}
    ufunc = getattr(np, numpy_names.get(function.name, function.name), np.positive)
    with np.errstate(all="ignore"):
        limited = bool(np.isnan(ufunc(np.linspace(-3.0, 3.0, 25))).any())
    assert bool(function.outside) == limited
    if limited:
        (open_,) = [one for one in load_table()[function.name].clauses if one.kind_class == "unspecified"]
        (case,) = [one for one in load_vectors()[function.name] if open_.id in one["clauses"]]
        assert "gradient" in open_.text.lower()
        for gradient in ([0.0], [1.5], [math.nan]):
            given = Components([np.resize(np.float32(gradient), len(function.outside)), np.zeros(0, np.float32)])
            assert compare(given, case["gradient"][0]) is None


def test_a_retired_number_is_left_out(function: Function) -> None:
    numbers = [int(one.id.rpartition("-")[2]) for one in load_table()[function.name].clauses]
    retired = {old for old, _ in function.renumbered}
    assert numbers == [number for number in range(1, max(numbers) + 1) if number not in retired]
    assert {new for _, new in function.renumbered} <= set(numbers)


def test_two_clauses_of_one_number_are_refused() -> None:
    with pytest.raises(ValueError, match="atanh: two clauses have one number"):
        replace(FUNCTIONS["atanh"], renumbered=((4, 5),)).fields()
