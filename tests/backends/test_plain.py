"""The quick verbs of NumPy against the plain ones, on every path; the kernels are held to the same."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends import get_backend, plain
from pynested.backends.errors import DeviceError, DTypeError
from pynested.backends.interface import Backend
from pynested.timelines.dispatch import choice

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


VERBS = [name for name, one in vars(Backend).items() if inspect.isfunction(one) and not name.startswith("_")]


@pytest.mark.parametrize("verb", VERBS)
def test_the_device_computes_every_verb_itself(verb: str) -> None:
    assert choice(verb, "plain").file.startswith("backends/plain/")
    assert (
        inspect.signature(getattr(plain, verb)).parameters.keys()
        == inspect.signature(getattr(get_backend("cpu"), verb)).parameters.keys()
    )


def test_everything_else_is_that_of_numpy() -> None:
    assert choice("arctan2", "plain").by == "numpy.arctan2"
    with np.errstate(all="raise"):
        assert plain.divide(np.array([1.0, 0.0]), 0.0).tolist() == [np.inf, pytest.approx(np.nan, nan_ok=True)]


def test_arrays_of_the_device() -> None:
    with pn.set_default_device("plain"):
        x = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged, requires_grad=True)
    y = (x * pn.softmax(x, 1)).sum()
    y.backward()
    assert x.device == y.device == x.grad.device == "plain"
    p = np.exp([1.0, 2.0]) / np.exp([1.0, 2.0]).sum()
    np.testing.assert_allclose(y.detach().to("cpu").numpy(), p @ [1, 2] + 3, rtol=1e-15)
    with pytest.raises(DeviceError, match="different devices: cpu, plain"):
        x + pn.array([1.0])
    with pytest.raises(DTypeError, match="bfloat16 is computed on the devices 'cuda' and 'emulated'"):
        x.to("bfloat16")
    with pytest.raises(DeviceError, match="devices with one are cpu, cuda, emulated, plain"):
        pn.zeros(1, device="tpu")


@pytest.mark.parametrize("far", [1e200, 1e308, 1e-200, 1e-300])
def test_squares_of_a_row_neither_overflow_nor_vanish(far: float) -> None:
    x = np.array([[far, -far, -far], [far, far, far]])
    n = np.array([2.0, -1.0, -1.0]) / 2**0.5  # the mean of (1, -1, -1) is -1/3, the variance 8/9
    y, mean, std = plain.layer_norm(x, None, None, 0.0)
    np.testing.assert_allclose(y, [n, [0, 0, 0]], rtol=1e-15)
    np.testing.assert_allclose(mean, [-far / 3, far], rtol=1e-15)
    np.testing.assert_allclose(std, [far * (8**0.5 / 3), np.inf], rtol=1e-15)
    g = np.array([[1.0, 3.0, 1.0]] * 2)
    of_x, _, _ = plain.layer_norm_backward(g, x, None, mean, std)  # (h - mean(h) - n mean(h n)) / std
    np.testing.assert_allclose(of_x * far, np.array([[0, 1, -1], [0, 0, 0]]) * 3 / 8**0.5, atol=1e-14)


def test_eps_counts_beside_large_and_small_rows() -> None:
    x = np.array([[1e200, -1e200], [1e-200, -1e-200], [3e-3, -3e-3]])
    y, _, std = plain.layer_norm(x, None, None, 16e-6)
    np.testing.assert_allclose(std, [1e200, 4e-3, 5e-3], rtol=1e-15)
    np.testing.assert_allclose(y[:, 0], [1, 2.5e-198, 0.6], rtol=1e-15)


def test_a_class_without_probability_has_no_loss_of_others() -> None:
    x, target = np.array([[0.0, -np.inf], [0.0, -np.inf], [1e8, 0.0]]), np.array([0, 1, 0])
    assert plain.cross_entropy(x, target, None, -100, 0.0)[0].tolist() == [0.0, np.inf, 0.0]
    assert plain.cross_entropy(x, target, None, -100, 0.5)[0].tolist() == [np.inf, np.inf, 0.25e8]
