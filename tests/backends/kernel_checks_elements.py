"""Checks of the kernels of single elements, and of casts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from ml_dtypes import finfo

from pynested.backends.dtypes import is_float

from ..conversions import converted, telling
from .kernel_checks import ALL, CHECKS, FLOATS, Array, agree, check, drawn, like, plain, poisoned

Bound = Callable[[Array, Array], Any]
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


def accurate(backend: Any, name: str, x: Array, *rest: Any, error: Bound) -> None:
    """Assert ``error(x, y)`` roundoffs of the computation at most, one of the result, and two subnormal numbers."""
    kind = finfo(x.dtype)
    computing = min(float(kind.eps), 2.0**-23) / 2
    wide, got = x.astype(np.float64), getattr(backend, name)(x, *rest).astype(np.float64)
    expected = getattr(plain, name)(wide, *rest)
    with np.errstate(over="ignore"):
        allowed = computing * error(abs(wide), abs(expected)) + float(kind.eps) * abs(expected)
    wrong = ~(abs(got - expected) <= allowed + 2 * float(kind.smallest_subnormal))
    assert not wrong.any(), (name, x[wrong], got[wrong], expected[wrong])


def check_elements(
    name: str, *rest: Any, dtypes: tuple[str, ...] = FLOATS, error: Bound | None = None, exact: bool = False
) -> None:
    """Enter the check of a kernel of single elements; one kernel may have several, one for each option.

    ``error`` bounds that of a function in roundoffs, of abs(x) and abs(y).
    """
    others = CHECKS[name][1] if name in CHECKS else lambda backend, dtype: None
    is_adjoint = name.endswith("_backward")

    @check(*dtypes, name=name)
    def check_all(backend: Any, dtype: str) -> None:
        others(backend, dtype)
        tail = poisoned(TAIL.astype(dtype))
        for x, g in (*elements(dtype), *([(tail, like(tail, tail.shape))] if dtype in FLOATS else [])):
            agree(backend, name, *[g, x][not is_adjoint :], *rest, terms=4 if is_adjoint else 1, exact=exact)
        if error is not None:
            accurate(backend, name, tail, *rest, error=error)


check_elements("relu", dtypes=ALL, exact=True)
check_elements("sgn", dtypes=ALL, exact=True)
check_elements("relu_backward", exact=True)
check_elements("erf", error=lambda x, y: 8 * y)
check_elements("erfc", error=lambda x, y: 10 * y)
check_elements("gelu", error=lambda x, y: 4 * x + 4 * y)
check_elements("gelu", "tanh", error=lambda x, y: 8 * x + 4 * y)
check_elements("silu", error=lambda x, y: 12 * y)
check_elements("gelu_backward")
check_elements("gelu_backward", "tanh")
check_elements("silu_backward")


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
