"""Softmax and layer_norm of runs, and dropout of elements."""

from __future__ import annotations

import math
import re
import shutil
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import DTypeError, StructureError

from ..nests import assert_same, batch, distinct, nest, place

DEVICES = [
    "cpu",
    "plain",
    pytest.param("emulated", marks=pytest.mark.skipif(shutil.which("g++") is None, reason="the emulation needs g++")),
]
SHAPES = [(2, 3), (0, 3), (4, 3)]
X = batch(SHAPES)
TURNED = [x.T for x in X]


def layer_norm(x: Any, axes: Any, eps: float = 1e-5) -> Any:
    if not x.size:
        return x
    centred = x - x.mean(axes, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(axes, keepdims=True) + eps)


class TestSoftmax:
    def test_large_numbers_are_shifted(self, lay: Any) -> None:
        result = pn.softmax(lay([np.array([1000.0, 1001.0]), np.array([-1e300])]), 1)
        assert_same(result, [np.array([1 / (1 + math.e), math.e / (1 + math.e)]), np.array([1.0])], 1e-15)

    def test_infinities_and_nan_stay_in_their_run(self, lay: Any) -> None:
        x = [
            np.array([-np.inf, 0.0]),
            np.array([-np.inf, -np.inf]),
            np.array([np.inf, 0.0]),
            np.array([np.nan]),
            np.zeros(2),
        ]
        got = [one.tolist() for one in pn.softmax(lay(x), 1).unbind()]
        assert got[0] == [0.0, 1.0] and got[4] == [0.5, 0.5]
        assert all(np.isnan(one).all() for one in got[1:4])

    def test_dtypes(self, lay: Any) -> None:
        half = lay([np.array([1, 2], np.float16)])
        assert pn.softmax(half, 1).dtype == np.float16
        assert pn.softmax(half, 1, dtype=pn.float64).dtype == np.float64
        whole = lay([np.array([0, 0])])
        assert_same(pn.softmax(whole, 1, dtype=pn.float32), [np.array([0.5, 0.5], np.float32)])
        for call in (lambda: pn.softmax(whole, 1), lambda: pn.softmax(half, 1, dtype=pn.int64)):
            with pytest.raises(DTypeError, match="int64"):
                call()

    def test_nothing(self, lay: Any) -> None:
        assert_same(pn.softmax(lay([np.zeros((0, 3))] * 2), 1), [np.zeros((0, 3))] * 2)
        assert len(pn.softmax(lay(X)[:0], 1)) == 0

    def test_a_nan_stays_in_its_component(self, layout: Any, placement: str) -> None:
        made = place([np.array([np.nan, 1.0]), np.array([0.0, 0.0])], layout, placement, grad=True)
        result = pn.softmax(made.array, 1)
        result.backward(nest([np.ones(2), np.array([1.0, 0.0])], layout))
        assert_same(made.gradient()[1:], [np.array([0.25, -0.25])])


class TestLayerNorm:
    def test_several_dimensions(self, lay: Any) -> None:
        deep = batch([(2, 2, 3), (0, 2, 3), (1, 2, 3)])
        weight = distinct((2, 3))
        assert_same(pn.layer_norm(lay(deep), (2, 3), weight), [layer_norm(x, (-2, -1)) * weight for x in deep], 1e-14)
        assert_same(pn.layer_norm(lay([x.transpose(1, 0, 2) for x in deep], 2), 3), [
            layer_norm(x.transpose(1, 0, 2), -1) for x in deep
        ], 1e-14)  # fmt: skip

    @pytest.mark.parametrize("device", DEVICES)
    @pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64], ids=lambda dtype: dtype.__name__)
    def test_every_way_to_a_gradient_is_right_at_every_magnitude(self, layout: Any, dtype: Any, device: str) -> None:
        """Of rows that are one row times a power of two, with eps = 0: the gradient is divided by that power."""
        row, g = np.array([1.0, -0.75, 0.25], dtype), np.array([[1.0, 2.0, -3.0]], dtype)
        centred = row.astype(np.float64) - row.mean(dtype=np.float64)
        normal = centred / np.sqrt((centred**2).mean())
        due = (g[0] - g.mean() - normal * (g[0] * normal).mean()) / np.sqrt((centred**2).mean())
        least, most = np.finfo(dtype).minexp, np.finfo(dtype).maxexp
        for exponent in (least + 4, least // 2 - 3, -9, 0, 9, most // 2 + 3, most - 1):
            x = nest([np.ldexp(row, exponent, dtype=dtype)[None]], layout).to(device=device).requires_grad_()
            direction, norm = nest([g], layout).to(device=device), lambda x: pn.layer_norm(x, 3, eps=0.0)
            found = [pn.grad(norm(x), (x,), direction, create_graph=recorded)[0] for recorded in (False, True)]
            found.append(pn.jvp(norm, (x.detach(),), (direction,))[1])
            for one in found:
                got = np.ldexp(one.detach().to(device="cpu")[0].numpy()[0].astype(np.float64), exponent)
                far = 2.0 ** (exponent + np.finfo(dtype).minexp - 2)  # of a number that is less than the least
                np.testing.assert_allclose(got, due, rtol=32 * float(np.finfo(dtype).eps), atol=far)

    def test_equal_elements_become_bias(self, lay: Any) -> None:
        for number in (0.1, 12345.678, 1e200):
            x = lay([np.full((2, 3), number), np.full((1, 3), -number)])
            assert_same(pn.layer_norm(x, 3), [np.zeros((2, 3)), np.zeros((1, 3))])
        flat = lay([np.full((2, 3), 7.0), np.zeros((0, 3))])
        assert_same(pn.layer_norm(flat, 3), [np.zeros((2, 3)), np.zeros((0, 3))])
        assert_same(pn.layer_norm(flat, 3, None, np.arange(3.0)), [np.tile(np.arange(3.0), (2, 1)), np.zeros((0, 3))])

    def test_a_nan_stays_in_its_run(self, lay: Any) -> None:
        x = [np.array([[np.nan, 1, 2], [1, 2, 3]]), np.array([[np.inf, 0, 0], [3, 2, 1.0]])]
        first, second = (one.numpy() for one in pn.layer_norm(lay(x), 3).unbind())
        assert np.isnan(first[0]).all() and np.isnan(second[0]).all()
        np.testing.assert_allclose([first[1], -second[1]], [layer_norm(np.array([1.0, 2, 3]), -1)] * 2)

    def test_dtypes(self, lay: Any) -> None:
        single = lay([x.astype(np.float32) for x in X])
        assert pn.layer_norm(single, 3, distinct((3,)), distinct((3,))).dtype == np.float32
        for kind in (np.int64, np.bool_):
            with pytest.raises(DTypeError, match=np.dtype(kind).name):
                pn.layer_norm(lay([x.astype(kind) for x in X]), 3)

    def test_parameters_without_runs_receive_zero(self, layout: Any) -> None:
        weight, bias = (pn.array(np.ones(3), requires_grad=True) for _ in range(2))
        pn.layer_norm(nest([np.zeros((0, 3))] * 2, layout), 3, weight, bias).sum().backward()
        assert weight.grad.tolist() == bias.grad.tolist() == [0.0] * 3


@pytest.mark.parametrize("ragged", [1, 2])
def test_sizes_of_a_shape_are_taken_or_refused(lay: Any, ragged: int) -> None:
    """`x.shape` holds an object for an irregular dimension: a size of `reshape` and `view`, none of `layer_norm`."""
    given = X if ragged == 1 else TURNED
    x = lay(given, ragged)
    for function in (pn.reshape, pn.view) if x.is_contiguous() else (pn.reshape,):
        for shape in (x.shape, [-1, *x.shape[1:]]):
            assert_same(function(x, shape), given)
        assert_same(function(x, (*x.shape, 1)), [one[..., None] for one in given])
    for shape in (x.shape[1:], list(x.shape[1:]), x.shape[ragged], x.shape[ragged:]):
        with pytest.raises(StructureError, match=re.escape("layer_norm: normalized_shape (")):
            pn.layer_norm(x, shape)
    if ragged == 1:
        assert_same(pn.layer_norm(x, x.shape[2:]), [layer_norm(one, -1) for one in X], 1e-12)


class TestDropout:
    def test_nothing_is_dropped(self, lay: Any) -> None:
        for result in (
            pn.dropout(lay(X), 0.0),
            pn.dropout(lay(X), 0.7, False),
            pn.dropout(lay(X), 1.0, training=False),
        ):
            assert_same(result, X)

    def test_everything_is_dropped(self, lay: Any) -> None:
        x = [np.array([np.nan, np.inf, 0.0]), np.array([3.0]), np.array([])]
        assert_same(pn.dropout(lay(x), 1.0), [np.array([np.nan, np.nan, 0.0]), np.zeros(1), np.zeros(0)])

    def test_a_dropped_element_is_multiplied_by_0_and_a_kept_one_is_divided(self, lay: Any) -> None:
        x = [np.full((50, 2), -3.0), np.full((50, 2), np.inf), np.full((50, 2), np.nan)]
        result = pn.dropout(lay(x), 0.25, generator=np.random.default_rng(0))
        first, second, third = (one.numpy() for one in result.unbind())
        assert set(first.ravel().tolist()) == {0.0, -4.0} and 0.6 < np.mean(first != 0) < 0.9
        assert (np.isnan(second) | (second == np.inf)).all() and 0.6 < np.mean(second == np.inf) < 0.9
        assert np.isnan(third).all()

    def test_what_grows_beyond_the_largest_number_is_dropped_all_the_same(self, lay: Any) -> None:
        found = np.asarray(pn.dropout(lay([np.full(100, 60000, np.float16)]), 0.5).unbind()[0])
        assert set(found.tolist()) == {0.0, np.inf}

    def test_the_choice_is_the_same_forwards_and_backwards(self, layout: Any, placement: str) -> None:
        made = place([np.ones((20, 2)), np.ones((9, 2))], layout, placement, grad=True)
        result = pn.dropout(made.array, 0.5)
        result.backward(nest([np.full((20, 2), 3.0), np.full((9, 2), 3.0)], layout))
        assert_same(made.gradient(), [3 * one.detach().numpy() for one in result.unbind()])

    def test_the_cotangent_of_the_dropped_is_multiplied_by_0(self, layout: Any) -> None:
        made = place([np.ones(3), np.ones(1)], layout, grad=True)
        pn.dropout(made.array, 1.0).backward(nest([np.array([np.nan, 2.0, np.inf]), np.array([3.0])], layout))
        assert_same(made.gradient(), [np.array([np.nan, 0.0, np.nan]), np.zeros(1)])

    def test_generators(self, lay: Any) -> None:
        def once(seed: int) -> list[Any]:
            return [one.tolist() for one in pn.dropout(lay(X), 0.5, generator=np.random.default_rng(seed)).unbind()]

        assert once(3) == once(3)
        assert once(3) != once(4) or once(3) != once(5)
        pn.manual_seed(7)
        first = [one.tolist() for one in pn.dropout(lay(X), 0.5).unbind()]
        pn.manual_seed(7)
        assert first == [one.tolist() for one in pn.dropout(lay(X), 0.5).unbind()]


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("eps", [1e-5, 0.25, 1e-60])
def test_derivatives_of_equal_elements(device: str, eps: float) -> None:
    """With n = (x - mean) / sqrt(eps) to first order, of one row of equal elements; once more by the weight."""
    a = pn.array(np.array([[2.0, 2.0, 2.0]]), requires_grad=True, device=device)
    weight = pn.array(np.array([0.5, -1.0, 3.0]), requires_grad=True, device=device)
    direction = np.array([1.0, 4.0, -2.0])
    x = pn.nested_array_from_jagged(a, [0, 1])
    (slope,) = pn.grad(pn.layer_norm(x, (3,), weight, eps=eps).sum(), (weight,), create_graph=True)
    centred = (direction - direction.mean()) / np.sqrt(eps)
    mixed = pn.grad((slope * pn.array(direction, device=device)).sum(), a)
    np.testing.assert_allclose(mixed.to("cpu").numpy(), [centred], atol=1e-14 * np.abs(centred).max(), rtol=1e-12)
    tangent = pn.array(direction[None], device=device)
    pushed = pn.jvp(lambda a: pn.layer_norm(a, (3,), eps=eps), (a.detach(),), (tangent,))[1]
    np.testing.assert_allclose(pushed.to("cpu").numpy(), [centred], atol=1e-14 * np.abs(centred).max(), rtol=1e-12)
