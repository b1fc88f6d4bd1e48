"""Rows of a table by number, and the cross entropy of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError, DTypeError, IndexOutOfRange

from ..nests import assert_same, batch, distinct, nest

TABLE = distinct((4, 3))
INDICES = [np.array([3, 0]), np.array([], np.int64), np.array([1, 1, 2])]
SCORES = batch([(2, 3), (0, 3), (3, 3)])
TARGETS = [np.array([0, 2]), np.array([], np.int64), np.array([1, -100, 1])]
WEIGHT = np.array([0.5, 2.0, 3.0])


class TestEmbedding:
    @pytest.mark.parametrize("row", range(-4, 4))
    def test_the_padding_row_has_no_gradient(self, lay: Any, layout: Any, row: int) -> None:
        cotangent = [g.copy() for g in batch([(2, 3), (0, 3), (3, 3)], 4)]
        expected = np.zeros((4, 3))
        for index, g in zip(INDICES, cotangent, strict=True):
            for number, one in zip(index, g, strict=True):
                expected[number] += one if number != row % 4 else 0
                one += np.nan if number == row % 4 else 0  # which must not reach the row
        table = pn.array(TABLE, requires_grad=True)
        result = pn.embedding(lay(INDICES), table, row)
        assert_same(result, [TABLE[i] for i in INDICES])
        result.backward(nest(cotangent, layout))
        assert table.grad.tolist() == expected.tolist()
        for index, g in zip(INDICES, cotangent, strict=True):  # of dense indices too
            own = pn.array(TABLE, requires_grad=True)
            pn.embedding(pn.array(index), own, padding_idx=row).backward(pn.array(g))
            assert not own.grad.numpy()[row].any() and np.isfinite(own.grad.numpy()).all()

    def test_gradients_of_gradients_leave_the_padding_row_out(self, lay: Any) -> None:
        def squares(table: Any) -> Any:
            return (pn.embedding(lay(INDICES), table, 1) ** 2).sum()

        table = pn.array(TABLE, requires_grad=True)
        (first,) = pn.grad(squares(table), [table], create_graph=True)
        (second,) = pn.grad(first.sum(), [table])
        counts = np.bincount(np.concatenate(INDICES), minlength=4) * (np.arange(4) != 1)
        assert first.tolist() == (2 * counts[:, None] * TABLE).tolist()
        assert second.tolist() == np.broadcast_to(2.0 * counts[:, None], TABLE.shape).tolist()

    @pytest.mark.parametrize("row", [4, -5, 2**40, -(2**40)])
    def test_a_padding_row_out_of_range_is_refused(self, lay: Any, row: int) -> None:
        for indices in (lay(INDICES), lay(INDICES)[:0], pn.array(INDICES[0])):
            limits = "is not one of the 4 rows of weight. Give an integer from -4 to 3, or None"
            with pytest.raises(IndexOutOfRange, match=rf"^embedding: padding_idx {row} {limits}"):
                pn.embedding(indices, TABLE, row)
        with pytest.raises(IndexOutOfRange, match="padding_idx 0 is not one of the 0 rows of weight. Give None."):
            pn.embedding(lay([np.zeros(0, np.int64)]), np.zeros((0, 3)), 0)

    @pytest.mark.parametrize("row", [1.0, True, "1", [1], np.nan])
    def test_a_padding_row_that_is_no_integer_is_refused(self, lay: Any, row: Any) -> None:
        for indices in (lay(INDICES), pn.array(INDICES[0])):
            with pytest.raises(ArgumentError, match="^embedding: padding_idx must be an integer"):
                pn.embedding(indices, TABLE, row)


class TestCrossEntropy:
    def test_dtypes(self, lay: Any, layout: Any) -> None:
        targets = nest(TARGETS, layout)
        for kind in (np.float16, np.float32):
            scores = lay([x.astype(kind) for x in SCORES])
            for reduction in ("none", "sum", "mean"):
                assert pn.cross_entropy(scores, targets, reduction=reduction, weight=WEIGHT).dtype == kind
        for kind in (np.int64, np.bool_):
            with pytest.raises(DTypeError, match=np.dtype(kind).name):
                pn.cross_entropy(lay([x.astype(kind) for x in SCORES]), targets)
            wrong = np.bool_ if kind is np.bool_ else np.float64
            with pytest.raises(DTypeError, match=np.dtype(wrong).name):
                pn.cross_entropy(lay(SCORES), nest([y.astype(wrong) for y in TARGETS], layout))
