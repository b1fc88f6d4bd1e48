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
