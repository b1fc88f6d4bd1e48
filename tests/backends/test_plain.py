"""The quick verbs of NumPy against the plain ones, on every path; the kernels are held to the same."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pynested.backends import get_backend
from pynested.backends.interface import Backend
from pynested.backends.numpy import plain

from .cuda import agreement_more  # noqa: F401  enters its checks
from .cuda.agreement import ALL, CHECKS, layouts, same

ELSEWHERE = {"beyond_32_bits", "cast"}  # of kernels alone, or compared with nothing here
CASES = [
    (verb, dtype)
    for verb, (dtypes, _) in CHECKS.items()
    for dtype in dtypes
    if verb not in ELSEWHERE and dtype != "bfloat16"
]


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize(("verb", "dtype"), CASES)
def test_agrees(verb: str, dtype: str) -> None:
    CHECKS[verb][1](get_backend("cpu"), dtype)


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("dtype", [dtype for dtype in ALL if dtype != "bfloat16"])
def test_what_the_kernels_are_not_held_to(dtype: str) -> None:
    """Their checks hold these verbs to loops of their own."""
    cpu = get_backend("cpu")
    for _, segments, x in layouts(dtype):
        for name in ("segment_min", "segment_argmax", "segment_argmin"):
            same(getattr(cpu, name)(x, segments), getattr(plain, name)(x, segments))
        factors = np.where(x > 0, 1.0625, -0.9375).astype(dtype) if x.dtype.kind == "f" else np.minimum(x, 1)
        with np.errstate(over="ignore"):
            expected = plain.segment_prod(factors, segments)
        np.testing.assert_allclose(
            cpu.segment_prod(factors, segments), expected, rtol=1e-3 if dtype != "float64" else 1e-12
        )
        whole = np.rint(x).astype(dtype)  # so that sums are exact
        same(cpu.sum_last(whole), plain.sum_last(whole))
        for got, expected in zip(cpu.pack_list([x, x[:1], x[:0]]), plain.pack_list([x, x[:1], x[:0]]), strict=True):
            same(got, expected)
        if x.dtype.kind == "f":
            same(cpu.relu_backward(x[::-1], x), plain.relu_backward(x[::-1], x))
            y = plain.softmax_last(x)
            got, expected = cpu.softmax_last_backward(x, y), plain.softmax_last_backward(x, y)
            np.testing.assert_allclose(got, expected, atol=1e-12 if dtype == "float64" else 1e-5, rtol=1e-2)


def test_every_verb_is_there_and_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """But for a copy, which is NumPy's, and a cast, which `test_casting.py` tells in integers."""
    verbs = {name for name, one in vars(Backend).items() if inspect.isfunction(one) and not name.startswith("_")}
    compared: set[str] = set()

    def recording(name: str, verb: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any) -> Any:
            compared.add(name)
            return verb(*given)

        return call

    for name in verbs & set(vars(plain)):
        monkeypatch.setattr(plain, name, recording(name, getattr(plain, name)))
    for verb, dtype in dict(CASES).items():
        CHECKS[verb][1](get_backend("cpu"), dtype)
    test_what_the_kernels_are_not_held_to("float32")
    assert verbs - compared == {"cast", "copy"}
