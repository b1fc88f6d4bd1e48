"""The checks of kernels of single elements, and of casts; entered beside the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import ml_dtypes
import mpmath
import numpy as np

from pynested.backends.dtypes import is_float

from ..conversions import converted, telling
from .kernel_checks import ALL, CHECKS, FLOATS, Array, agree, check, drawn, plain, poisoned

EDGES = (0.0, -0.0, np.inf, -np.inf, np.nan, 1e-4, -90.0, 200.0, -700.5, 6.0, -6.0, 1e30, -1e30)
TAIL = np.concatenate([np.linspace(-28, 28, 400), [-87.5, -95, -103, -700, -704, 80, 1e-30, -1e-12, 1e-6, 0.0]])


def elements(dtype: str) -> Iterator[tuple[Array, Array]]:
    """Yield operands and cotangents: few and many, of all shapes, with the edge values and extremes of the dtype."""
    rng = np.random.default_rng(12)
    for shape in ((), (0,), (1,), (300,), (5000,), (2 * 4096 + 3,), (0, 3), (5, 0), (3, 4))[dtype == "bool" :]:
        x, g = drawn(rng, shape, dtype), drawn(rng, shape, dtype)
        if dtype not in FLOATS and dtype != "bool":
            x.reshape(-1)[:2] = np.array([np.iinfo(dtype).min, np.iinfo(dtype).max])[: x.size]
        elif dtype in FLOATS and x.size > len(EDGES):
            most = 65504 if dtype == "float16" else 3e38
            with np.errstate(over="ignore"):
                x[: len(EDGES) + 2] = np.array([*EDGES, most, -most], dtype)
        yield x, g
    yield x.T, g.T
    yield poisoned(np.full(4098, np.nan if dtype in FLOATS else 1, dtype)), drawn(rng, 4098, dtype)


def accurate(backend: Any, name: str, x: Array, *rest: Any, error: Callable[[Array, Array], Any]) -> None:
    """Assert ``error(x, y)`` roundoffs of the computation at most, one of the result, and two subnormal numbers."""
    kind = ml_dtypes.finfo(x.dtype)  # type: ignore[no-untyped-call]
    computing = min(float(kind.eps), 2.0**-23) / 2
    wide, got = x.astype(np.float64), getattr(backend, name)(x, *rest).astype(np.float64)
    expected = getattr(plain, name)(wide, *rest)
    with np.errstate(over="ignore"):
        allowed = computing * error(abs(wide), abs(expected)) + float(kind.eps) * abs(expected)
    wrong = ~(abs(got - expected) <= allowed + 2 * float(kind.smallest_subnormal))
    assert not wrong.any(), (name, x[wrong], got[wrong], expected[wrong])


def check_floats(name: str, error: Callable[[Array, Array], Any], *rest: Any) -> None:
    """Enter the check of a function of floats; ``error`` is in roundoffs, of abs(x) and abs(y)."""

    def check_function(backend: Any, dtype: str) -> None:
        for x, _ in elements(dtype):
            agree(backend, name, x, *rest)
        accurate(backend, name, poisoned(TAIL.astype(dtype)), *rest, error=error)

    enter(name, check_function)


def check_adjoint(name: str, *rest: Any) -> None:
    def check_function(backend: Any, dtype: str) -> None:
        for x, g in elements(dtype):
            agree(backend, name, g, x, *rest, terms=4)

    enter(name, check_function)


def check_derivative(name: str, derivative: Callable[[Any], Any], *rest: Any) -> None:
    """Enter the check of an adjoint of float64: the cotangent times a derivative of mpmath's, at TAIL."""

    def check_function(backend: Any, dtype: str) -> None:
        if dtype == "float64":
            x = TAIL[np.abs(TAIL) < 700]
            with mpmath.workdps(40):
                due = np.array([float(derivative(mpmath.mpf(number))) for number in x.tolist()])
            g = poisoned(np.where(np.arange(x.size) % 2, 2.0, -0.5))
            np.testing.assert_allclose(getattr(backend, name)(g, poisoned(x), *rest), g * due, 1e-13, 1e-14)

    enter(name, check_function)


def gelu_slope(x: Any) -> Any:
    """Return Phi(x) + x phi(x), the derivative of x Phi(x)."""
    return mpmath.ncdf(x) + x * mpmath.npdf(x)


def gelu_tanh_slope(x: Any) -> Any:
    """Return the derivative of x (1 + tanh(u)) / 2, where u = sqrt(2 / pi) (x + 0.044715 x**3)."""
    root, cubic = mpmath.sqrt(2 / mpmath.pi), mpmath.mpf("0.044715")
    u = root * (x + cubic * x**3)
    return (1 + mpmath.tanh(u)) / 2 + x * mpmath.sech(u) ** 2 * root * (1 + 3 * cubic * x**2) / 2


def silu_slope(x: Any) -> Any:
    """Return s (1 + x (1 - s)), where s = 1 / (1 + exp(-x)) and silu(x) = x s."""
    s = 1 / (1 + mpmath.exp(-x))
    return s * (1 + x * (1 - s))


def enter(name: str, function: Callable[[Any, str], None]) -> None:
    """Enter a check of floats; one kernel may have several, one for each option."""
    others = CHECKS[name][1] if name in CHECKS else lambda backend, dtype: None

    def check_all(backend: Any, dtype: str) -> None:
        others(backend, dtype)
        function(backend, dtype)

    CHECKS[name] = FLOATS, check_all


check_floats("erf", lambda x, y: 8 * y)
check_floats("erfc", lambda x, y: 10 * y)
check_floats("gelu", lambda x, y: 4 * x + 4 * y)
check_floats("gelu", lambda x, y: 8 * x + 4 * y, "tanh")
check_floats("silu", lambda x, y: 12 * y)
check_adjoint("gelu_backward")
check_adjoint("gelu_backward", "tanh")
check_adjoint("silu_backward")
check_derivative("gelu_backward", gelu_slope)
check_derivative("gelu_backward", gelu_tanh_slope, "tanh")
check_derivative("silu_backward", silu_slope)


@check(*ALL)
def relu(backend: Any, dtype: str) -> None:
    for x, _ in elements(dtype):
        agree(backend, "relu", x, exact=True)


@check(*ALL)
def sgn(backend: Any, dtype: str) -> None:
    for x, _ in elements(dtype):
        agree(backend, "sgn", x, exact=True)


@check(*FLOATS)
def relu_backward(backend: Any, dtype: str) -> None:
    for x, g in elements(dtype):
        agree(backend, "relu_backward", g, x, exact=True)


@check(*ALL)
def cast(backend: Any, dtype: str) -> None:
    x = poisoned(np.tile(telling(np.dtype(dtype)), 40))  # more than a block has threads
    for name in ALL if backend.device in ("emulated", "cuda") else [name for name in ALL if name != "bfloat16"]:
        got, target = backend.cast(x, np.dtype(name)), np.dtype(name)
        assert got.dtype == target
        expected = np.tile(exactly(dtype, name), 40)
        shown = got.astype(np.float64) if is_float(target) else got
        np.testing.assert_array_equal(shown, expected, f"to {name}")
        if is_float(target):
            assert (np.signbit(shown) == np.signbit(expected))[~np.isnan(shown)].all(), name


@cache
def exactly(source: str, target: str) -> Array:
    """Return the telling numbers of a dtype in another, by exact arithmetic; floats as float64, which has all."""
    numbers = telling(np.dtype(source))
    wide = numbers.astype(np.float64) if is_float(numbers.dtype) else numbers
    kind = np.dtype(target)
    return np.array(converted(wide.tolist(), kind), np.float64 if is_float(kind) else kind)
