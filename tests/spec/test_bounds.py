"""Correct results in any order of evaluation are never rejected; results in too low a precision are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pynested.spec.bounds import BOUNDS, NO_TOLERANCE, tolerance, ulp
from pynested.spec.components import Components
from pynested.spec.definitions import definition
from pynested.spec.generator.exact import lift, plain
from pynested.spec.generator.nearest import split
from pynested.spec.overflow import overflowing
from pynested.spec.table import load_table

NDArray = np.ndarray
DTYPES = ("float16", "float32", "float64")
COMPUTING = {"float16": "float32", "float32": "float32", "float64": "float64"}
SEEDS = range(11, 15)


def sequential(x: NDArray) -> Any:
    total = x.dtype.type(0)
    for number in x:
        total = total + number
    return total


def backwards(x: NDArray) -> Any:
    return sequential(x[::-1])


def pairwise(x: NDArray) -> Any:
    return x[0] if len(x) == 1 else pairwise(x[: len(x) // 2]) + pairwise(x[len(x) // 2 :])


def blocked(x: NDArray) -> Any:
    return sequential(np.array([sequential(x[start : start + 8]) for start in range(0, len(x), 8)]))


ORDERS: list[Callable[[NDArray], Any]] = [sequential, backwards, pairwise, blocked]


def run_of(dtype: str, seed: int, length: int = 47, offset: float = 0.0) -> NDArray:
    draw = np.random.default_rng(seed)
    return (draw.normal(size=length) * 4.0 ** draw.integers(-3, 3, size=length) + offset).astype(dtype)


def rejected(op: str, arguments: dict[str, Any], got: NDArray, dtype: str) -> NDArray:
    """Say which elements of the only component of a result are outside the bound."""
    exact_arguments = {name: _exact(value) for name, value in arguments.items()}
    result = definition(op)(**exact_arguments)
    (allowed,) = tolerance(load_table()[op].precision, definition(op), exact_arguments, result, dtype)
    halves = [split(value) for value in plain(result[0]).ravel()]
    rounded = np.atleast_1d(np.asarray(got, dtype=dtype)).astype(np.float64).ravel()
    far = [abs((mine - hi) - lo) for mine, (hi, lo) in zip(rounded, halves, strict=True)]
    return ~(np.array(far) <= np.atleast_1d(allowed).ravel())


def _exact(value: Any) -> Any:
    if isinstance(value, Components):
        return Components([lift(one) for one in value])
    return lift(value) if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_order_of_a_sum_and_a_mean_is_accepted(dtype: str, order: Callable[[NDArray], Any]) -> None:
    for seed in SEEDS:
        x = run_of(dtype, seed)
        total = order(x.astype(COMPUTING[dtype]))
        assert not rejected("sum", {"self": Components([x]), "dim": 1}, total, dtype).any()
        assert not rejected("mean", {"self": Components([x]), "dim": 1}, total / total.dtype.type(len(x)), dtype).any()


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_order_of_a_product_is_accepted(dtype: str, order: Callable[[NDArray], Any]) -> None:
    for seed in SEEDS:
        x, w = run_of(dtype, seed), run_of(dtype, seed + 100)
        got = order(x.astype(COMPUTING[dtype]) * w.astype(COMPUTING[dtype]))
        assert not rejected("matmul", {"self": Components([x[None]]), "other": w[:, None]}, got, dtype).any()
        assert not rejected(
            "linear", {"self": Components([x[None]]), "weight": w[None], "bias": w[:1]}, got + w[0], dtype
        ).any()


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_order_of_a_softmax_is_accepted(dtype: str, order: Callable[[NDArray], Any]) -> None:
    for seed in SEEDS:
        x = run_of(dtype, seed)
        powers = np.exp(x.astype(COMPUTING[dtype]) - x.max().astype(COMPUTING[dtype]))
        assert not rejected("softmax", {"self": Components([x]), "dim": 1}, powers / order(powers), dtype).any()


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("offset", [0.0, 30.0])
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_order_of_a_layer_norm_is_accepted(dtype: str, offset: float, order: Callable[[NDArray], Any]) -> None:
    for seed in SEEDS:
        x = run_of(dtype, seed, offset=offset)
        wide = x.astype(COMPUTING[dtype])
        kind = wide.dtype.type
        centred = wide - order(wide) / kind(len(x))
        got = centred / np.sqrt(order(centred * centred) / kind(len(x)) + kind(1e-5))
        assert not rejected("layer_norm", {"self": Components([x]), "normalized_shape": (len(x),)}, got, dtype).any()


@pytest.mark.parametrize("op", ["exp", "sin", "tanh"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_functions_of_numpy_are_accepted(dtype: str, op: str) -> None:
    for seed in SEEDS:
        x = np.clip(run_of(dtype, seed, 200), -40, 11)
        assert not rejected(op, {"self": Components([x])}, getattr(np, op)(x.astype(COMPUTING[dtype])), dtype).any()


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_erf_within_two_roundoffs_is_accepted(dtype: str) -> None:
    """The bound of gelu admits the erf of a fast kernel, whose error is absolute."""
    define = definition("gelu")
    for seed in SEEDS:
        x = run_of(dtype, seed, 60)
        (best,) = define(Components([x]))
        for sign in (-1, 1):
            got = best + sign * x / 2 * (2.0**-23 if dtype != "float64" else 2.0**-52)
            assert not rejected("gelu", {"self": Components([x])}, got, dtype).any()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_silu_as_written_is_accepted(dtype: str) -> None:
    for seed in SEEDS:
        x = run_of(dtype, seed, 200)
        assert not rejected("silu", {"self": Components([x])}, x / (1 + np.exp(-x)), dtype).any()


LOWER = {"float16": "float16", "float64": "float32"}


@pytest.mark.parametrize("dtype", LOWER)
def test_a_sum_in_too_low_a_precision_is_rejected(dtype: str) -> None:
    for seed in SEEDS:
        x = np.abs(run_of(dtype, seed, 300))
        total = sequential(x.astype(LOWER[dtype]))
        assert rejected("sum", {"self": Components([x]), "dim": 1}, total, dtype).all()
        assert rejected(
            "matmul", {"self": Components([x[None]]), "other": np.ones((300, 1), dtype)}, total, dtype
        ).all()


def test_a_softmax_in_too_low_a_precision_is_rejected() -> None:
    x = run_of("float64", 11)
    powers = np.exp((x - x.max()).astype("float32"))
    assert rejected("softmax", {"self": Components([x]), "dim": 1}, powers / powers.sum(), "float64").any()


def test_a_variance_without_centring_is_rejected() -> None:
    x = run_of("float32", 11, offset=3000.0)
    variance = np.mean(x * x) - np.mean(x) ** 2
    got = (x - np.mean(x)) / np.sqrt(np.abs(variance) + np.float32(1e-5))
    assert rejected("layer_norm", {"self": Components([x]), "normalized_shape": (len(x),)}, got, "float32").any()


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_lost_element_is_rejected(dtype: str) -> None:
    x = np.abs(run_of(dtype, 12)) + 1
    total = pairwise(x[:-1].astype(COMPUTING[dtype]))
    assert rejected("sum", {"self": Components([x]), "dim": 1}, total, dtype).all()


@pytest.mark.parametrize("integers", ["int8", "int16", "int32", "int64"])
def test_the_least_integer_counts_with_its_magnitude(integers: str) -> None:
    least = np.iinfo(integers).min
    x, y = Components([np.array([[least, 1]], integers)]), Components([np.array([[0.1], [0.2]])])
    for op, given in (("matmul", {"self": x, "other": y}), ("sum", {"self": x, "dim": 2, "dtype": np.float64})):
        (allowed,) = tolerance(op, definition(op), given, definition(op)(**given), "float64")
        assert (allowed >= 2.0**-53 * 0.1 * -float(least)).all()


@pytest.mark.parametrize("op", ["sum", "nansum", "mean"])
def test_an_infinity_is_what_it_adds_up_to_unless_the_finite_numbers_beside_it_overflow(op: str) -> None:
    largest, inf = np.finfo("float32").max, np.inf
    for run, either in (((1, inf, 2), False), ((inf, largest / 4), False), ((inf, -largest, -largest, 1), True)):
        given = {"self": Components([np.array(run, "float32")]), "dim": 1}
        (found,) = overflowing(load_table()[op].precision, definition(op), given, None, "float32")
        assert bool(found) == either


def test_an_infinite_factor_is_one_in_any_order_of_the_products() -> None:
    x, y = Components([np.array([[np.inf, 1.0], [3e38, 3e38]], "float32")]), np.array([[1.0], [-1.0]], "float32")
    for op, other in (("matmul", {"other": y}), ("linear", {"weight": y.T})):
        (found,) = overflowing(op, definition(op), {"self": x, **other}, None, "float32")
        assert found.tolist() == [[False], [True]]


@pytest.mark.parametrize("dtype", DTYPES)
def test_ulp_is_the_spacing_of_numpy(dtype: str) -> None:
    numbers = np.array([1.0, 1.5, 2.0, 3e-3, 60000.0, 6e-8, 0.0], dtype=dtype)
    assert np.array_equal(ulp(numbers, dtype), np.spacing(numbers).astype(np.float64))


def test_every_bound_is_the_precision_of_an_operator() -> None:
    assert set(BOUNDS) == {operator.precision for operator in load_table().values()} - {"", *NO_TOLERANCE}
