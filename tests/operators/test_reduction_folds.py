"""Reductions of the table that have no exact sums to be compared with, and what all of them promise."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError, EmptyReductionError
from pynested.tables.entries import Reduction
from pynested.tables.reductions import REDUCTIONS as TABLE

from ..nests import assert_same, nest, place


@pytest.mark.parametrize("how", TABLE.values(), ids=list(TABLE))
class TestTable:
    """What an entry says of a run without elements holds for axes and for segments."""

    def test_over_no_dimension_holes_have_no_influence(self, how: Reduction, layout: Any) -> None:
        if how.is_place or how.option == "correction":  # which is nothing of one element
            return
        made = place([np.array([0.5, 2.0]), np.zeros(0), np.array([3.0])], layout, "holes", grad=True)
        result = getattr(pn, how.name)(made.array, dim=())
        if result.requires_grad:
            (result * 2.0).sum().backward()
            assert_same(made.gradient(), [np.array([2.0, 2.0]), np.zeros(0), np.array([2.0])])

    def test_of_nothing(self, how: Reduction, lay: Any) -> None:
        def ours(*arguments: Any) -> Any:
            return getattr(pn, how.name)(*arguments)

        calls = [
            lambda: how(pn.zeros(0), 0),
            lambda: how(pn.zeros(2, 0), 1),
            lambda: ours(lay([np.ones(2), np.ones(0)]), 1)[1],
            lambda: ours(lay([np.zeros((0, 2)), np.zeros((0, 2))]), 1)[0],
        ]
        if not how.is_place:
            calls += [
                lambda: ours(lay([np.zeros((0, 2)), np.zeros((0, 2))])),
                lambda: ours(lay([np.zeros((0, 2)), np.zeros((2, 2))]), (1, 2))[0],
            ]
        for call in calls:
            if how.refuses:
                with pytest.raises(EmptyReductionError, match=f"^{how.name}: "):
                    call()
                continue
            np.testing.assert_array_equal(call().numpy(), np.full(call().shape, how.empty))

    def test_where_no_result_is_left_nothing_is_refused(self, how: Reduction, layout: Any) -> None:
        assert how(pn.zeros(0, 0), 1).shape == (0,)
        assert how(pn.zeros(0, 0, 3), (0, 1), True).shape == (1, 1, 3) if not how.refuses else True
        nothing = nest([np.zeros((0, 0)), np.zeros((1, 0))], layout)
        assert getattr(pn, how.name)(nothing, 1, True).numel() == 0


def test_logsumexp_overflows_only_where_the_result_does(lay: Any) -> None:
    x = [np.array([1000.0, 1000.0]), np.array([-1000.0]), np.array([], np.float64), np.array([-np.inf, -np.inf])]
    expected = [np.float64(1000 + math.log(2)), np.float64(-1000), np.float64(-np.inf), np.float64(-np.inf)]
    assert_same(pn.logsumexp(lay(x), 1), expected, 1e-15)
    assert pn.logsumexp(pn.array([1e308, 1e308])).item() == 1e308
    half = pn.logsumexp(pn.array(np.full(3000, 11, np.float16)))
    assert half.dtype == np.float16 and half.item() == np.float16(11 + math.log(3000))


def test_the_gradient_of_logsumexp_is_a_softmax(lay: Any) -> None:
    x = pn.array([1.0, 2.0, 4.0], requires_grad=True)
    weights = [math.exp(v) / (math.exp(1) + math.exp(2) + math.exp(4)) for v in (1, 2, 4)]
    np.testing.assert_allclose(pn.grad(pn.logsumexp(x), [x])[0].numpy(), weights, rtol=1e-14)


def test_the_least_elements_share_a_cotangent(layout: Any, placement: str) -> None:
    made = place([np.array([3.0, 1.0, 1.0]), np.array([2.0]), np.array([5.0] * 4)], layout, placement, grad=True)
    pn.amin(made.array, 1).sum().backward()
    assert_same(made.gradient(), [np.array([0, 0.5, 0.5]), np.array([1.0]), np.full(4, 0.25)])
    dense_leaf = pn.array([[2.0, 1.0, 1.0], [4.0, 1.0, 5.0]], requires_grad=True)
    pn.amin(dense_leaf).backward()
    assert dense_leaf.grad.tolist() == [[0, 1 / 3, 1 / 3], [0, 1 / 3, 0]]


@pytest.mark.parametrize("kind", [np.bool_, np.int8, np.float16, np.float64])
def test_any_and_all_are_those_of_python(lay: Any, kind: Any) -> None:
    lists: list[list[int]] = [[0, 1], [1, 1], [0, 0], [], [0], [1]]
    x = lay([np.array(one, kind) for one in lists])
    assert pn.any(x, 1).tolist() == [any(one) for one in lists] and pn.any(x).item() is True
    assert pn.all(x, 1).tolist() == [all(one) for one in lists] and pn.all(x).item() is False
    assert pn.any(x, 0).tolist() == [True, True] and pn.all(x, 0).tolist() == [False, False]
    assert pn.any(pn.array([np.nan, 0.0])).item() is True and pn.all(pn.array([np.nan, -0.0])).item() is False


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_places_are_counted_within_components(lay: Any, name: str) -> None:
    rows: list[Any] = [[[1, 5], [4, 5]], [[7, np.nan]], [[2, 0], [9, -1], [9, -1]]]
    x = [np.array(one, np.float64) for one in rows]
    of_numpy, of_ours = getattr(np, name), getattr(pn, name)
    for dim in (1, 2):
        assert_same(of_ours(lay(x), dim), [of_numpy(one, dim - 1) for one in x])
        assert_same(of_ours(lay(x), dim, True), [of_numpy(one, dim - 1, keepdims=True) for one in x])
        assert of_ours(pn.array(x[2]), dim - 1).tolist() == of_numpy(x[2], dim - 1).tolist()
    first, second, third = (np.array([one[row] for one in x if row < len(one)]) for row in range(3))
    present = [(first, [0, 1, 2]), (second, [0, 2]), (third, [2])]
    expected = [[numbers[k] for k in of_numpy(some, 0)] for some, numbers in present]
    assert of_ours(lay(x), 0).tolist() == expected


class TestPlaceAmongAllElements:
    """`argmax` and `argmin` without a dimension."""

    @pytest.mark.parametrize("name", ["argmax", "argmin"])
    @pytest.mark.parametrize("shape", [(), (1,), (5,), (2, 3), (3, 1, 4), (2, 2, 2, 3)])
    @pytest.mark.parametrize("kind", [np.bool_, np.int8, np.uint8, np.int64, np.float16, np.float64])
    def test_is_that_of_numpy(self, name: str, shape: tuple[int, ...], kind: Any) -> None:
        count = int(np.prod(shape))
        for step in range(3):
            numbers = ((np.arange(count) * 7 + step) % 5).astype(kind).reshape(shape)  # with ties
            for values in (numbers, numbers.T):  # in C order, whatever the memory
                x = pn.array(values)
                for found in (getattr(pn, name)(x), getattr(x, name)(None), getattr(np, name)(x, axis=None)):
                    assert (found.shape, found.dtype) == ((), np.int64)
                    assert found.item() == getattr(np, name)(values)
                kept = getattr(pn, name)(x, keepdim=True)
                assert kept.shape == (1,) * len(shape) and kept.item() == getattr(np, name)(values)

    @pytest.mark.parametrize("name", ["argmax", "argmin"])
    def test_is_the_first_nan(self, name: str) -> None:
        assert getattr(pn, name)(pn.array([[1.0, np.inf], [np.nan, -np.inf], [np.nan, 2.0]])).item() == 2

    @pytest.mark.parametrize("name", ["argmax", "argmin"])
    @pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 3), (1, 0, 2)])
    def test_of_no_elements_is_refused(self, name: str, shape: tuple[int, ...]) -> None:
        with pytest.raises(EmptyReductionError, match=rf"^{name}: an array of shape {re.escape(str(shape))} has no"):
            getattr(pn, name)(pn.zeros(shape))

    @pytest.mark.parametrize("name", ["argmax", "argmin"])
    def test_of_a_nested_array_is_refused(self, lay: Any, name: str) -> None:
        for components in ([np.ones((2, 3)), np.ones((1, 3))], [np.ones((0, 3))], [np.ones(1), np.ones(2)]):
            x = lay(components)
            for given in ({}, {"dim": None}, {"axis": None}):
                with pytest.raises(ArgumentError, match=rf"^{name}: .* nested .* dim=0 to dim={x.ndim - 1}\.$"):
                    getattr(pn, name)(x, **given)

    @pytest.mark.parametrize("name", ["argmax", "argmin"])
    def test_several_dimensions_are_refused(self, lay: Any, name: str) -> None:
        for x in (pn.ones(2, 3), lay([np.ones((2, 3)), np.ones((1, 3))])):
            for dims in ((0, 1), (1,), ()):
                with pytest.raises(ArgumentError, match=rf"^{name}: dim must be an integer"):
                    getattr(pn, name)(x, dims)
