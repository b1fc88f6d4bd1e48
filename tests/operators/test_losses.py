"""Rows of a table by number, and the cross entropy of rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import DTypeError

from ..nests import PLACEMENTS, assert_same, batch, distinct, nest, place

TABLE = distinct((4, 3))
INDICES = [np.array([3, 0]), np.array([], np.int64), np.array([1, 1, 2])]
SCORES = batch([(2, 3), (0, 3), (3, 3)])
TARGETS = [np.array([0, 2]), np.array([], np.int64), np.array([1, -100, 1])]
WEIGHT = np.array([0.5, 2.0, 3.0])


class TestEmbedding:
    def test_more_dimensions(self, lay: Any) -> None:
        deep = [np.array([[0, 1], [2, 3]]), np.zeros((0, 2), np.int64), np.array([[3, 3]])]
        assert_same(pn.embedding(lay(deep), TABLE), [TABLE[i] for i in deep])
        assert_same(pn.embedding(lay([i.T for i in deep], 2), TABLE), [TABLE[i.T] for i in deep])

    def test_nothing(self, lay: Any) -> None:
        empty = [np.array([], np.int64)] * 2
        assert_same(pn.embedding(lay(empty), np.zeros((0, 3))), [np.zeros((0, 3))] * 2)
        assert len(pn.embedding(lay(INDICES)[:0], TABLE)) == 0

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


def losses(
    scores: Any, targets: Any, weight: Any = None, ignore: int = -100, smoothing: float = 0.0
) -> tuple[list[Any], float]:
    """The loss of each target, written out with a loop; and the sum of the weights that count."""
    made, total = [], 0.0
    for x, y in zip(scores, targets, strict=True):
        row_losses = []
        for row, label in zip(x.reshape(-1, x.shape[-1]), y.ravel(), strict=True):
            heavy = np.ones(len(row)) if weight is None else weight
            surprise = (
                heavy * (math.log(sum(math.exp(v - max(row)) for v in row)) + max(row) - row)
                if label != ignore
                else None
            )
            if surprise is None:
                row_losses.append(0.0)
                continue
            row_losses.append((1 - smoothing) * surprise[label] + smoothing * surprise.mean())
            total += heavy[label]
        made.append(np.array(row_losses).reshape(y.shape))
    return made, total


class TestCrossEntropy:
    @pytest.mark.parametrize("weight", [None, WEIGHT], ids=["even", "weighted"])
    @pytest.mark.parametrize("smoothing", [0.0, 0.25, 1.0])
    @pytest.mark.parametrize("ignore", [-100, 1, 2])
    def test_values(self, layout: Any, weight: Any, smoothing: float, ignore: int) -> None:
        targets = [np.where(y == -100, ignore, y) for y in TARGETS]
        expected, total = losses(SCORES, targets, weight, ignore, smoothing)
        for placement in PLACEMENTS:
            options = {"weight": weight, "ignore_index": ignore, "label_smoothing": smoothing}
            x, y = nest(SCORES, layout, placement), nest(targets, layout, placement)
            result = pn.cross_entropy(x, y, reduction="none", **options)
            assert_same(result, expected, 1e-14)
            assert result.layout is layout
            whole = sum(float(one.sum()) for one in expected)
            assert pn.cross_entropy(x, y, reduction="sum", **options).item() == pytest.approx(whole, rel=1e-14)
            assert pn.cross_entropy(x, y, **options).item() == pytest.approx(whole / total, rel=1e-14)

    def test_more_dimensions(self, lay: Any, layout: Any) -> None:
        scores = batch([(2, 2, 3), (0, 2, 3), (1, 2, 3)])
        targets = [np.array([[0, 1], [2, 0]]), np.zeros((0, 2), np.int64), np.array([[1, 1]])]
        expected, total = losses(scores, targets)
        assert_same(pn.cross_entropy(lay(scores), nest(targets, layout), reduction="none"), expected, 1e-14)
        moved = [x.transpose(1, 0, 2) for x in scores], [y.T for y in targets]
        result = pn.cross_entropy(lay(moved[0], 2), nest(moved[1], layout, "holes", 2), reduction="none")
        assert_same(result, [one.T for one in expected], 1e-14)
        assert result.layout is layout
        whole = sum(float(one.sum()) for one in expected)
        assert pn.cross_entropy(lay(scores), nest(targets, layout)).item() == pytest.approx(whole / total, rel=1e-14)

    def test_every_target_counts_once(self, lay: Any, layout: Any) -> None:
        scores = [np.array([[0.0, 0.0]]), np.array([[0.0, 0.0, 0.0][:2]] * 3) + np.array([math.log(3), 0])]
        result = pn.cross_entropy(lay(scores), nest([np.array([0]), np.array([0, 0, 0])], layout))
        assert result.item() == pytest.approx((math.log(2) + 3 * math.log(4 / 3)) / 4)

    def test_large_scores_are_shifted(self, lay: Any, layout: Any) -> None:
        result = pn.cross_entropy(lay([np.array([[1000.0, 0.0]])]), nest([np.array([1])], layout))
        assert result.item() == 1000.0

    def test_an_ignored_target_does_not_count_whatever_its_row_holds(self, lay: Any, layout: Any) -> None:
        scores = [np.array([[np.nan, np.inf, 0.0], [0.0, 0.0, 0.0]]), np.array([[-np.inf] * 3])]
        targets = nest([np.array([-100, 1]), np.array([-100])], layout)
        assert pn.cross_entropy(lay(scores), targets).item() == pytest.approx(math.log(3))
        assert pn.cross_entropy(lay(scores), targets, reduction="none").unbind()[1].tolist() == [0.0]

    def test_nothing_to_average(self, lay: Any, layout: Any) -> None:
        ignored = nest([np.full(len(y), -100) for y in TARGETS], layout)
        empty = lay([np.zeros((0, 3))]), nest([np.zeros(0, np.int64)], layout)
        for x, y in ((lay(SCORES), ignored), empty):
            assert np.isnan(pn.cross_entropy(x, y).item())
            assert pn.cross_entropy(x, y, reduction="sum").item() == 0.0
        nothing = lay(SCORES)[:0], nest(TARGETS, layout)[:0]
        assert pn.cross_entropy(*nothing, weight=WEIGHT, reduction="sum").item() == 0.0
        assert len(pn.cross_entropy(*nothing, reduction="none")) == 0
        zero = nest([np.zeros(len(y), np.int64) for y in TARGETS], layout)
        assert np.isnan(pn.cross_entropy(lay(SCORES), zero, weight=np.array([0.0, 1.0, 1.0])).item())

    def test_halves_are_rounded_once_after_the_mean(self, lay: Any, layout: Any) -> None:
        scores, targets = np.zeros((100_000, 2), np.float16), np.zeros(100_000, np.int64)  # 69,315 is no float16
        for given in ((lay([scores]), nest([targets], layout)), (pn.array(scores), pn.array(targets))):
            found = pn.cross_entropy(*given)
            assert found.dtype == np.float16 and found.item() == np.float16(math.log(2))

    def test_weights_that_add_up_to_no_number_give_no_number(self, lay: Any, layout: Any) -> None:
        scores = lay([10 * np.eye(2)]).requires_grad_()  # small losses, whose sum is a number: 9e303
        found = pn.cross_entropy(scores, nest([np.array([0, 1])], layout), weight=np.full(2, 1e308))
        found.backward()
        assert np.isnan(found.item()) and np.isnan(np.asarray(scores.grad.unbind()[0])).all()

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

    def test_the_row_of_an_ignored_target_receives_plus_0(self, layout: Any, placement: str) -> None:
        scores = [np.array([[np.nan, 0.0], [1.0, 1.0]]), np.array([[np.inf, 0.0]])]
        made = place(scores, layout, placement, grad=True)
        pn.cross_entropy(made.array, nest([np.array([-100, 0]), np.array([-100])], layout)).backward()
        assert_same(made.gradient(), [np.array([[0.0, 0.0], [-0.5, 0.5]]), np.zeros((1, 2))])
        made.buffer.grad = None
        pn.cross_entropy(made.array, nest([np.array([-100, -100]), np.array([-100])], layout)).backward()
        assert_same(made.gradient(), [np.zeros((2, 2)), np.zeros((1, 2))])
