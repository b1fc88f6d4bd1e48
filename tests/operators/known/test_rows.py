"""Reductions, `linear`, `layer_norm`, dropout and losses whose results are known: by arithmetic, and by statistics."""

from __future__ import annotations

import math
import shutil
from typing import Any

import numpy as np
import pytest

import pynested as pn

from ...nests import assert_same, nest


def test_dense_arrays_of_half_precision_are_added_up_wider() -> None:
    ones = pn.ones(70_000, dtype="float16")
    assert ones[:4000].sum().item() == 4000 and ones.mean().item() == 1
    assert pn.logsumexp(11 * ones[:3000]).item() == np.float16(11 + math.log(3000))
    running = pn.array(np.array([2048, 1, 1, 60000, 60000, -60000], np.float16)).cumsum(0)
    assert running.dtype == np.float16 and running.tolist() == [2048, 2048, 2050, 62048, math.inf, 62048]


def test_a_sum_of_dense_floats_in_integers_converts_every_element_first() -> None:
    cut = pn.array([-0.75, -100.25, -100.5])  # 0 - 100 - 100
    for kind, expected in ((np.int64, -200), (np.int8, 56), (np.bool_, True)):
        assert cut.sum(dtype=kind).item() == expected
    assert pn.array([0.5, 1.5, 127.0]).cumsum(0, dtype=pn.int8).tolist() == [0, 1, -128]


def test_a_wider_bias_widens_the_product(lay: Any) -> None:
    for narrow, wide in (("float32", np.float64), ("float16", np.float64), ("float16", np.float32)):
        x, weight, bias = np.array([[0.1, 0.3]], narrow), np.array([[0.7, 0.9]], narrow), np.array([0.1], wide)
        due = [float(x[0, 0]) * float(weight[0, 0]) + float(x[0, 1]) * float(weight[0, 1]) + float(bias[0])]
        for result in (pn.linear(lay([x]), weight, bias)[0], pn.linear(pn.array(x), weight, bias)):
            assert result.dtype == wide
            np.testing.assert_allclose(result.numpy()[0], due, 4 * float(np.finfo(wide).eps))


@pytest.mark.parametrize("count", [1, 8, 9, 20])
def test_many_components_without_a_last_size_in_a_small_buffer(count: int) -> None:
    for buffer in (np.zeros(0), np.zeros(1)):
        leaf = pn.array(buffer, requires_grad=True)
        x = pn.nested_array_from_strided(leaf, [[4, 0]] * count, [[1, 1]] * count, [0] * count)
        expected = [np.zeros((4, 0))] * count
        for result in (pn.exp(x), x + 1.0, x * x, x.contiguous(), pn.softmax(x, 2), x.clone(), pn.cat([x, x], 2), -x):
            assert_same(result, expected)
        assert_same(x.sum(2), [np.zeros(4)] * count)
        assert pn.to_padded_array(x, 1.0).shape == (count, 4, 0)
        (x * 2.0).sum().backward()
        assert leaf.grad.tolist() == np.zeros(buffer.shape).tolist()


DTYPES = pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64], ids=lambda dtype: dtype.__name__)
NO_COMPILER = pytest.mark.skipif(shutil.which("g++") is None, reason="the emulation needs g++")
ON_DEVICES = pytest.mark.parametrize("device", ["cpu", "plain", pytest.param("emulated", marks=NO_COMPILER)])


def read(x: Any) -> np.ndarray:
    """Return the rows of all components, on the CPU."""
    return np.concatenate([component.numpy() for component in x.detach().to(device="cpu").unbind()])


class TestLayerNorm:
    @ON_DEVICES
    @DTYPES
    def test_the_gradient_is_right_at_every_magnitude(self, layout: Any, dtype: Any, device: str) -> None:
        """With eps = 0 the gradient of a row times a power of two is divided by that power."""
        row, g = np.array([1.0, -0.75, 0.25], dtype), np.array([[1.0, 2.0, -3.0]], dtype)
        centred = row.astype(np.float64) - row.mean(dtype=np.float64)
        normal = centred / np.sqrt((centred**2).mean())
        due = (g[0] - g.mean() - normal * (g[0] * normal).mean()) / np.sqrt((centred**2).mean())
        least, most = np.finfo(dtype).minexp, np.finfo(dtype).maxexp
        for exponent in (least + 4, least // 2 - 3, -9, 0, 9, most // 2 + 3, most - 1):
            x = nest([np.ldexp(row, exponent, dtype=dtype)[None]], layout).to(device=device).requires_grad_()
            direction, norm = nest([g], layout).to(device=device), lambda x: pn.layer_norm(x, 3, eps=0.0)
            derivatives = [pn.grad(norm(x), (x,), direction, create_graph=recorded)[0] for recorded in (False, True)]
            derivatives.append(pn.jvp(norm, (x.detach(),), (direction,))[1])
            for derivative in derivatives:
                got = np.ldexp(read(derivative)[0].astype(np.float64), exponent)
                far = 2.0 ** (exponent + np.finfo(dtype).minexp - 2)  # of a number that is less than the least
                np.testing.assert_allclose(got, due, rtol=32 * float(np.finfo(dtype).eps), atol=far)

    @ON_DEVICES
    def test_eps_need_not_be_a_number_of_float32(self, layout: Any, device: str) -> None:
        x = nest([np.full((1, 2), 3, np.float32)], layout).to(device=device).requires_grad_()
        g = nest([np.array([[1, 3]], np.float32)], layout).to(device=device)
        for recorded in (False, True):
            gradient = pn.grad(pn.layer_norm(x, 2, eps=1e-60), (x,), g, create_graph=recorded)[0]
            np.testing.assert_allclose(read(gradient), np.array([[-1, 1]]) * 1e30, rtol=1e-6)


@pytest.mark.parametrize("width", [2, 4, 64])
def test_gradients_of_weight_and_bias_lose_no_digits_to_many_rows(width: int) -> None:
    """Rows of 1 and -1 are normalized already, so that all summands of a gradient are 0.1 or -0.1."""
    x = np.tile(np.array([1.0, -1.0], np.float32), (2**16, width // 2))
    parameters = [pn.full((width,), value, dtype=pn.float32, requires_grad=True) for value in (1.0, 0.0)]
    y = pn.layer_norm(pn.array(x), width, *parameters, eps=0.0)
    gradients = pn.grad(y, parameters, pn.full(x.shape, 0.1, dtype=pn.float32))
    for gradient, signs in zip(gradients, (x[0], np.ones(width)), strict=True):
        np.testing.assert_allclose(gradient.numpy(), 2**16 * float(np.float32(0.1)) * signs, rtol=4e-6)


def test_dropout_drops_elements_and_divides_kept_ones(lay: Any) -> None:
    x = [np.full((50, 2), -3.0), np.full((50, 2), np.inf), np.full((50, 2), np.nan)]
    result = pn.dropout(lay(x), 0.25, generator=np.random.default_rng(0))
    first, second, third = (component.numpy() for component in result)
    assert set(first.ravel().tolist()) == {0.0, -4.0} and 0.6 < np.mean(first != 0) < 0.9
    assert (np.isnan(second) | (second == np.inf)).all() and 0.6 < np.mean(second == np.inf) < 0.9
    assert np.isnan(third).all()
    kept = pn.ones(10_000, dtype="float32").dropout(0.1, generator=np.random.default_rng(0)).numpy()
    assert set(kept.tolist()) == {0.0, float(np.float32(1 / 0.9))} and 8800 < np.count_nonzero(kept) < 9200


def test_half_precision_losses_are_rounded_once_after_the_mean(lay: Any, layout: Any) -> None:
    scores, targets = np.zeros((100_000, 2), np.float16), np.zeros(100_000, np.int64)  # 69,315 is no float16
    for x, y in ((lay([scores]), nest([targets], layout)), (pn.array(scores), pn.array(targets))):
        loss = pn.cross_entropy(x, y)
        assert loss.dtype == np.float16 and loss.item() == np.float16(math.log(2))
