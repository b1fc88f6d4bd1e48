"""The device "plain": its arrays, and rows at the ends of the dtype, by arithmetic written out."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import pynested as pn
from pynested.backends import plain
from pynested.backends.errors import DeviceError, DTypeError
from pynested.backends.interface import Backend
from pynested.timelines.dispatch import choice

KERNELS = [name for name, one in vars(Backend).items() if inspect.isfunction(one) and not name.startswith("_")]


def test_the_device_computes_every_kernel_itself_and_leaves_the_rest_to_numpy() -> None:
    assert {name for name in KERNELS if not choice(name, "plain").file.startswith("backends/plain/")} == set()
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
