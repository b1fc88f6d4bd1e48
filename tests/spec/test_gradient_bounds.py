"""Backward formulas as people write them, in the dtype itself, stay within the bounds of gradients."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pynested.spec.bounds import allow
from pynested.spec.encoding import Components
from pynested.spec.generator.build import definition
from pynested.spec.generator.exact import MP, exactly, lift, slopes_of
from pynested.spec.gradient_bounds import GRADIENT_BOUNDS
from pynested.spec.numerics import erf

NDArray = np.ndarray
SEEDS = range(21, 26)
DTYPES = ("float16", "float32", "float64")


def softmax(x: NDArray, g: NDArray) -> Any:
    powers = np.exp(x - x.max())
    y = powers / powers.sum()
    return y * (g - (y * g).sum())


def layer_norm(x: NDArray, g: NDArray) -> Any:
    kind = x.dtype.type
    centred = x - x.mean()
    s = np.sqrt((centred * centred).mean() + kind(1e-5))
    y = centred / s
    return (g - g.mean() - y * (g * y).mean()) / s


def tanh(x: NDArray, g: NDArray) -> Any:
    y = np.tanh(x)
    return g * (1 - y * y)


def sin(x: NDArray, g: NDArray) -> Any:
    return g * np.cos(x)


def silu(x: NDArray, g: NDArray) -> Any:
    s = 1 / (1 + np.exp(-x))
    return g * (s * (1 + x * (1 - s)))


def gelu(x: NDArray, g: NDArray) -> Any:
    kind = x.dtype.type
    below = (1 + erf(x / kind(math.sqrt(2))).astype(x.dtype)) / 2
    return g * (below + x * np.exp(-x * x / 2) * kind(1 / math.sqrt(2 * math.pi)))


def cross_entropy(x: NDArray, g: NDArray) -> Any:
    powers = np.exp(x - x.max())
    p = powers / powers.sum()
    p[0] -= 1
    return g * p


Formula = tuple[Callable[[NDArray, NDArray], Any], dict[str, Any]]
FORMULAS: dict[str, Formula] = {
    "softmax": (softmax, {"dim": 1}),
    "layer_norm": (layer_norm, {"normalized_shape": (23,)}),
    "tanh": (tanh, {}),
    "sin": (sin, {}),
    "silu": (silu, {}),
    "gelu": (gelu, {}),
}


def draw(dtype: str, seed: int) -> tuple[NDArray, NDArray]:
    generator = np.random.default_rng(seed)
    return (2 * generator.normal(size=23)).astype(dtype), generator.integers(-4, 5, size=23).astype(dtype)


def rejected(op: str, arguments: dict[str, Any], got: NDArray, cotangent: Any, dtype: str) -> Any:
    """Say which elements of the gradient of the only component are outside the bound."""
    (x,) = arguments["self"]
    result = definition(op)(**{**arguments, "self": Components([lift(x, 0)])})
    numbers = [number for array in (result if isinstance(result, list) else [result]) for number in np.ravel(array)]
    exact = [MP.mpf(0) for _ in range(x.size)]
    for number, weight in zip(numbers, np.ravel(cotangent), strict=True):
        for key, slope in slopes_of(number).items():
            exact[key] += slope * MP.mpf(float(weight))
    values = np.array([float(value) for value in exact])
    terms = GRADIENT_BOUNDS[op](exactly(arguments), Components([cotangent]) if isinstance(result, list) else cotangent)
    allowed = allow(terms["self"][0].ravel(), values, dtype, dtype)
    return ~(np.abs(got.astype(np.float64).ravel() - values) <= allowed)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", FORMULAS)
def test_a_formula_in_the_dtype_is_accepted(op: str, dtype: str) -> None:
    formula, options = FORMULAS[op]
    for seed in SEEDS:
        x, g = draw(dtype, seed)
        assert not rejected(op, {"self": Components([x]), **options}, formula(x, g), g, dtype).any()


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_formula_of_cross_entropy_is_accepted(dtype: str) -> None:
    for seed in SEEDS:
        x, _ = draw(dtype, seed)
        arguments = {"self": Components([x[None]]), "target": Components([np.array([0])])}
        weight = np.array(3.0, dtype)
        assert not rejected("cross_entropy", arguments, cross_entropy(x, weight), weight, dtype).any()


@pytest.mark.parametrize("op", FORMULAS)
def test_a_formula_in_float32_is_no_float64(op: str) -> None:
    formula, options = FORMULAS[op]
    x, g = draw("float64", 21)
    got = formula(x.astype("float32"), g.astype("float32"))
    assert rejected(op, {"self": Components([x]), **options}, got, g, "float64").any()


@pytest.mark.parametrize("op", FORMULAS)
def test_a_neighbouring_cotangent_is_rejected(op: str) -> None:
    formula, options = FORMULAS[op]
    x, g = draw("float32", 22)
    assert rejected(op, {"self": Components([x]), **options}, formula(x, np.roll(g, 1)), g, "float32").any()
