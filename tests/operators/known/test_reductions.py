"""Reductions, running sums and products whose results are known: wide sums, one rounding, many components."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pynested as pn

from ...nests import assert_same, batch, nest


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


def test_an_infinite_correction_leaves_no_divisor(lay: Any) -> None:
    for function in (pn.var, pn.std):
        assert_same(function(lay([np.array([1.0, 4.0]), np.array([0.1, 0.1])]), 1, correction=np.inf), [np.inf, np.nan])


def test_a_wider_bias_widens_the_product(lay: Any) -> None:
    for narrow, wide in (("float32", np.float64), ("float16", np.float64), ("float16", np.float32)):
        x, weight, bias = np.array([[0.1, 0.3]], narrow), np.array([[0.7, 0.9]], narrow), np.array([0.1], wide)
        due = [float(x[0, 0]) * float(weight[0, 0]) + float(x[0, 1]) * float(weight[0, 1]) + float(bias[0])]
        for result in (pn.linear(lay([x]), weight, bias)[0], pn.linear(pn.array(x), weight, bias)):
            assert result.dtype == wide
            np.testing.assert_allclose(result.numpy()[0], due, 4 * float(np.finfo(wide).eps))


def test_products_of_many_components(layout: Any) -> None:
    lengths = np.random.default_rng(0).integers(0, 5, 60)
    a, b = batch([(n, 3) for n in lengths]), batch([(3, n) for n in lengths], 1)
    assert_same(nest(a, layout) @ nest(b, layout, "packed", 2), [x @ y for x, y in zip(a, b, strict=True)])
    assert_same(nest(b, layout, "packed", 2) @ nest(a, layout), [y @ x for x, y in zip(a, b, strict=True)], 1e-14)


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
