"""Matrix products of components: nested with nested, with one matrix for all, and with a matrix for each."""

from __future__ import annotations

from typing import Any

import numpy as np

import pynested as pn

from ..nests import (
    assert_same,
    batch,
    distinct,
    nest,
)

ROWS = batch([(2, 3), (0, 3), (4, 3)])  # (B, *, D)
COLUMNS = batch([(3, 2), (3, 0), (3, 4)], 1)  # (B, D, *)


class TestNestedNested:
    def test_one_ragged_dimension_is_left(self, lay: Any, layout: Any) -> None:
        square = batch([(3, 3)] * 3, 4)
        result = pn.matmul(lay(ROWS), nest(square, layout, "packed", 2))
        assert_same(result, [a @ b for a, b in zip(ROWS, square, strict=True)])
        result = pn.matmul(nest(square, layout), lay(COLUMNS, 2))
        assert_same(result, [a @ b for a, b in zip(square, COLUMNS, strict=True)])

    def test_more_dimensions(self, layout: Any) -> None:
        left, right = batch([(2, 2, 3), (1, 2, 3)]), batch([(2, 3, 2), (1, 3, 2)], 1)
        assert_same(nest(left, layout) @ nest(right, layout), [a @ b for a, b in zip(left, right, strict=True)])
        left, right = batch([(2, 2, 3), (2, 1, 3)]), batch([(2, 3, 2), (2, 3, 1)], 1)
        result = nest(left, layout, "holes", 2) @ nest(right, layout, "holes", 3)
        assert_same(result, [a @ b for a, b in zip(left, right, strict=True)])

    def test_many_components(self, layout: Any) -> None:
        lengths = np.random.default_rng(0).integers(0, 5, 60)
        a, b = batch([(n, 3) for n in lengths]), batch([(3, n) for n in lengths], 1)
        assert_same(nest(a, layout) @ nest(b, layout, "packed", 2), [x @ y for x, y in zip(a, b, strict=True)])
        assert_same(nest(b, layout, "packed", 2) @ nest(a, layout), [y @ x for x, y in zip(a, b, strict=True)], 1e-14)


class TestNestedDense:
    def test_more_dimensions(self, lay: Any) -> None:
        deep = batch([(2, 4, 3), (0, 4, 3), (1, 4, 3)])
        matrix, each = distinct((3, 2)), distinct((3, 1, 3, 2))
        assert_same(lay(deep) @ matrix, [x @ matrix for x in deep])
        assert_same(lay(deep) @ distinct((3,)), [x @ distinct((3,)) for x in deep])
        assert_same(lay(deep) @ each, [x @ m for x, m in zip(deep, each, strict=True)])
        assert_same(lay(deep) @ distinct((1, 3, 2)), [x @ distinct((1, 3, 2)) for x in deep])
        moved = [x.transpose(1, 0, 2) for x in deep]
        assert_same(lay(moved, 2) @ matrix, [x @ matrix for x in moved])


def test_dtypes(lay: Any) -> None:
    ints = [np.array([[100, 1]], np.int8), np.array([[2, 3]], np.int8)]
    assert_same(lay(ints) @ np.array([[2], [1]], np.int8), [np.array([[-55]], np.int8), np.array([[7]], np.int8)])
    assert (lay(ints) @ np.array([[2], [1]], np.float16)).dtype == np.float16
    assert (lay(ints) @ np.array([[2], [1]], np.int64)).dtype == np.int64
    assert (lay([x.astype(np.float32) for x in ROWS]) @ distinct((3, 2))).dtype == np.float64
    flags = lay([x > 0 for x in ROWS])
    assert_same(flags @ (distinct((3, 2)) > 0), [(x > 0) @ (distinct((3, 2)) > 0) for x in ROWS])


def test_sums_over_nothing(lay: Any, layout: Any) -> None:
    wide = [np.zeros((2, 0)), np.zeros((1, 0))]
    assert_same(pn.matmul(lay(wide), np.zeros((0, 3))), [np.zeros((2, 3)), np.zeros((1, 3))])
    columns = nest([np.zeros((3, 0)), np.ones((3, 2))], layout, "holes", 2)
    assert_same(pn.matmul(columns, lay([np.zeros((0, 2)), np.ones((2, 2))])), [np.zeros((3, 2)), np.full((3, 2), 2.0)])
    assert len(pn.matmul(lay(ROWS)[:0], distinct((3, 2)))) == 0
    assert len(pn.matmul(lay(ROWS)[:0], lay(COLUMNS, 2)[:0])) == 0


class TestLinear:
    def test_values(self, lay: Any, layout: Any) -> None:
        weight, bias = distinct((2, 3)), distinct((2,), 1)
        for given in (weight, pn.array(weight)):
            assert_same(pn.linear(lay(ROWS), given, bias), [x @ weight.T + bias for x in ROWS])
        assert_same(lay(ROWS).linear(weight), [x @ weight.T for x in ROWS])
        assert pn.linear(lay(ROWS), weight, bias).layout is layout
        deep = batch([(2, 4, 3), (1, 4, 3)])
        assert_same(pn.linear(lay(deep), weight, bias), [x @ weight.T + bias for x in deep])
        assert_same(pn.linear(lay([np.zeros((2, 0)), np.zeros((1, 0))]), np.zeros((2, 0)), bias), [
            np.tile(bias, (2, 1)), bias[None]
        ])  # fmt: skip
        moved = [x.transpose(1, 0, 2) for x in deep]
        assert_same(pn.linear(lay(moved, 2), weight, bias), [x @ weight.T + bias for x in moved])

    def test_halves_are_rounded_once_with_their_bias(self, lay: Any) -> None:
        half = np.float16
        x, weight, bias = np.array([[2048, 1]], half), np.array([[1, 1]], half), np.array([1], half)
        for found in (pn.linear(lay([x]), weight, bias).unbind()[0], pn.linear(pn.array(x), weight, bias)):
            assert found.dtype == half and found.tolist() == [[2050.0]]  # not 2048 + 1, which is between two halves
        for found in (pn.linear(lay([x]), weight, bias.astype(np.float32)), pn.linear(x, weight, np.ones(1, "f"))):
            assert found.dtype == np.float32

    def test_products_are_as_wide_as_the_result(self, lay: Any) -> None:
        for narrow, wide in (("float32", np.float64), ("float16", np.float64), ("float16", np.float32)):
            x, weight, bias = np.array([[0.1, 0.3]], narrow), np.array([[0.7, 0.9]], narrow), np.array([0.1], wide)
            due = [float(x[0, 0]) * float(weight[0, 0]) + float(x[0, 1]) * float(weight[0, 1]) + float(bias[0])]
            for found in (pn.linear(lay([x]), weight, bias).unbind()[0], pn.linear(pn.array(x), weight, bias)):
                assert found.dtype == wide
                np.testing.assert_allclose(found.numpy()[0], due, 4 * float(np.finfo(wide).eps))

    def test_without_runs_the_parameters_receive_zero(self, layout: Any) -> None:
        weight, bias = pn.array(np.ones((2, 3)), requires_grad=True), pn.array(np.ones(2), requires_grad=True)
        pn.linear(nest([np.zeros((0, 3))] * 2, layout), weight, bias).sum().backward()
        assert weight.grad.tolist() == [[0.0] * 3] * 2 and bias.grad.tolist() == [0.0, 0.0]
