"""Bounds that follow from a definition: every rule by hand, beside bounds by hand, and against float32."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pynested.spec.bounds import allow
from pynested.spec.generator.exact import lift, plain, slopes_of
from pynested.spec.numerics import sum_along
from pynested.spec.reductions import REDUCTIONS
from pynested.spec.rounding import RunBound, derived
from pynested.spec.run_bounds import RUN_BOUNDS, softmax_factor
from pynested.spec.runwise import RUNWISE

U = 2.0**-24
SEEDS = range(6)


def off(formula: Callable[[Any], Any], *run: float) -> float:
    return float(derived(formula).error(np.array(run)))


class TestRules:
    """Of numbers that are exact, of which the first operation is off by an ulp, 2u, and a function by four."""

    def test_operations(self) -> None:
        assert off(lambda x: x[0] + x[1], 3, 4) == 14
        assert off(lambda x: x[0] - x[1], 3, 4) == 2
        assert off(lambda x: x[0] * x[1], 3, -4) == 24
        assert off(lambda x: x[0] / x[1], 3, -4) == 1.5
        assert off(lambda x: 12 / x[0], 4) == 6
        assert off(lambda x: -x[0] * 1.0, 5) == 0

    def test_errors_go_on(self) -> None:
        assert off(lambda x: (x[0] + x[1]) * x[2], 3, 4, 10) == 14 * 10 + 140
        assert off(lambda x: (x[0] - x[1]) / x[2], 3, 1, 4) == 4 / 4 + 1
        assert off(lambda x: x[2] / (x[0] + x[1]), 3, 1, 8) == 2 * 8 / 4 + 4
        assert off(lambda x: (x[0] - x[1]) * (x[0] - x[1]), 3, 1) == 2 * 2 * 4 + U * 16 + 8

    def test_functions(self) -> None:
        assert off(lambda x: np.exp(x)[0], 0) == 8
        assert off(lambda x: np.exp(x[0] - x[1]), 3, 3) == 8
        assert math.isclose(off(lambda x: np.exp(x[0] - x[1]), 1, 3), math.exp(-2) * (4 + 8))
        assert math.isclose(off(lambda x: np.log(x[0] + x[1]), 3, 4), 14 / 7 + 8 * math.log(7))
        assert off(lambda x: np.sqrt(x[0] + x[1]), 9, 7) == 32 / 4 + 8

    def test_the_root_of_a_difference_that_may_be_nothing(self) -> None:
        """Of (3 - 1)² - 4, which is 0 but for its errors, of 24u and a little."""
        error = off(lambda x: np.sqrt((x[0] - x[1]) * (x[0] - x[1]) - x[2]), 3, 1, 4)
        assert math.isclose(error, math.sqrt((24 + U * 16) / U))

    def test_a_sum_in_any_order(self) -> None:
        assert off(lambda x: sum_along(x, 0)[()], 1, -2, 3) == 3 * 6
        assert off(lambda x: sum_along(x, 0)[()], 7) == 0

    def test_what_vanishes_and_what_is_large(self) -> None:
        bound = derived(lambda x: x[0] * x[1] * x[2])
        run = np.array([1e-20, 1e-20, 1e30])
        assert bound.lost(run) == 1e30  # a floor of the first product, enlarged
        assert bound.added(run[::-1]) == 1e30

    def test_cotangents_go_back_through_the_same_steps(self) -> None:
        bound = derived(lambda x: x[0] * x[1] + x[0])
        x, y = bound.gradient(np.array([3.0, 4.0]), 5.0)
        assert (x, y) == (2 * 20 + 2 * (20 + 5), 2 * 15)  # 5 * 4, to which 5 is added; 5 * 3


def formula_of(name: str) -> tuple[RunBound, bool]:
    if name in RUNWISE:
        return derived(RUNWISE[name].of_run, keeps=True), True
    return derived(REDUCTIONS[name].of_run), False


def by_hand(name: str, run: Any, g: Any) -> tuple[Any, Any]:
    if name != "softmax":
        return RUN_BOUNDS[name].error(run), RUN_BOUNDS[name].gradient(run, g)
    p, factor = softmax_factor(run, 0)
    return p * factor, (2 * factor.max() + run.size + 4) * p * (abs(g) + (p * abs(g)).sum())


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp", "prod", "var"])
@pytest.mark.parametrize("scale", [1e-2, 1.0, 30.0])
def test_it_is_no_looser_than_twice_one_by_hand(name: str, scale: float) -> None:
    bound, keeps = formula_of(name)
    for seed in SEEDS:
        draw = np.random.default_rng(seed)
        run = scale * (draw.normal(size=int(draw.integers(2, 20))) + draw.choice([0, 8]))
        g = draw.normal(size=run.shape) if keeps else draw.normal()
        error, gradient = by_hand(name, run, g)
        assert (bound.error(run) <= 2 * error * (1 + 1e-9)).all()
        assert (bound.gradient(run, g) <= 2 * gradient * (1 + 1e-9)).all()


def log_softmax(x: Any, g: Any) -> tuple[Any, Any]:
    below = x - x.max()
    y = below - np.log(np.exp(below).sum())
    return y, g - np.exp(y) * g.sum()


def softmax(x: Any, g: Any) -> tuple[Any, Any]:
    powers = np.exp(x - x.max())
    y = powers / powers.sum()
    return y, y * (g - (y * g).sum())


def logsumexp(x: Any, g: Any) -> tuple[Any, Any]:
    powers = np.exp(x - x.max())
    return x.max() + np.log(powers.sum()), g * (powers / powers.sum())


@pytest.mark.parametrize("formula", [softmax, log_softmax, logsumexp], ids=lambda one: one.__name__)
@pytest.mark.parametrize("scale", [0.1, 3.0, 40.0])
def test_float32_stays_within_it(formula: Any, scale: float) -> None:
    bound, keeps = formula_of(formula.__name__)
    define = RUNWISE[formula.__name__].of_run if keeps else REDUCTIONS[formula.__name__].of_run
    for seed in SEEDS:
        draw = np.random.default_rng(seed)
        x = (scale * draw.normal(size=24)).astype("float32")
        g = draw.normal(size=24 if keeps else ()).astype("float32")
        exact = np.atleast_1d(np.asarray(define(lift(x, 0)), object))
        found, slope = formula(x, g)
        errors = bound.error(lift(x)), bound.gradient(lift(x), lift(g) if keeps else lift(g)[()])
        weighted = list(zip(exact, np.atleast_1d(g).tolist(), strict=True))
        slopes = [sum(slopes_of(one).get(i, 0) * c for one, c in weighted) for i in range(24)]
        for own, wanted, error in ((found, plain(exact), errors[0]), (slope, np.array(slopes), errors[1])):
            wanted = wanted.astype(np.float64)
            assert (abs(np.atleast_1d(own) - wanted) <= allow(error, wanted, "float32", "float32")).all()
