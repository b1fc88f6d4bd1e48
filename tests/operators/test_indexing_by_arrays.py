"""`x[[0, 2]]`, `x[vector]` and `x[mask]`: components that are named, and elements that are chosen."""

from __future__ import annotations

import shutil
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pynested as pn
from pynested.backends.errors import (
    DeviceError,
    IndexOutOfRange,
    StructureError,
)

from ..nests import LAYOUTS, PLACEMENTS, assert_same, batch, distinct, nest, place

ALL = slice(None)
X = batch([(2, 3), (0, 3), (4, 3)])
HOLDS = [x > 0.05 for x in X]
PICKS: list[Any] = [[0, 2], [2, 0, 0], [-1, -3], [], np.array([1, 1]), np.array([2, 0], np.int8), pn.array([0, 1])]


def numbers(picks: Any) -> list[int]:
    """What an index names, as NumPy counts it."""
    return [int(i) for i in np.arange(len(X))[np.asarray(picks, None if len(picks) else np.int64)]]


class TestComponents:
    def test_by_integers_in_every_placement(self, layout: Any) -> None:
        for placement in PLACEMENTS:
            for picks in PICKS:
                result = nest(X, layout, placement)[picks]
                assert_same(result, [X[i] for i in numbers(picks)])
                assert (result.layout, result.ndim) == (layout, 3)

    def test_by_a_bool_for_each(self, lay: Any) -> None:
        for holds in ([True, False, True], np.array([False, False, True]), pn.array([False] * 3)):
            assert_same(lay(X)[holds], [x for x, one in zip(X, np.asarray(holds), strict=True) if one])

    def test_then_each_is_indexed(self, lay: Any) -> None:
        assert_same(lay(X)[[2, 0], 1:, ::-1], [X[i][1:, ::-1] for i in (2, 0)])
        assert_same(lay(X)[[2, 0], ..., 1], [X[i][:, 1] for i in (2, 0)])
        assert_same(lay(X)[[2, 0], None], [X[i][None] for i in (2, 0)])
        assert_same(lay(X)[[0, 2, 0], 1], [X[i][1] for i in (0, 2, 0)])

    def test_the_result_is_a_copy(self, lay: Any) -> None:
        for picks in ([0, 1, 2], [0], [True] * 3):
            x = lay(X)
            x[picks].fill_(7.0)
            assert_same(x, X)

    def test_two_irregular_dimensions(self) -> None:
        both = batch([(2, 1), (0, 3), (3, 2)])
        for placement in PLACEMENTS:
            assert_same(nest(both, pn.strided, placement)[[2, 1, 2]], [both[2], both[1], both[2]])

    def test_what_is_picked_twice_receives_the_sum(self, layout: Any, placement: str) -> None:
        made = place(X, layout, placement, grad=True)
        (made.array[[2, 0, 2]] * 3.0).sum().backward()
        assert_same(made.gradient(), [np.full(x.shape, 3.0 * n) for x, n in zip(X, (1, 0, 2), strict=True)])


class TestPlacesOfSeveralDimensions:
    """A dense array by integers in an array of any shape, as in NumPy; components are named by vectors only."""

    @pytest.mark.parametrize("shape", [(2, 3), (1, 2, 1, 3), (0, 2), (2, 0)])
    def test_each_names_an_entry(self, shape: tuple[int, ...]) -> None:
        x, at = distinct((4, 2, 3)), np.arange(np.prod(shape, dtype=int)).reshape(shape) % 4 - 2
        given = pn.array(x, requires_grad=True)
        np.testing.assert_array_equal(given[at].detach().numpy(), x[at])
        np.testing.assert_array_equal(given[pn.array(at), 1:].detach().numpy(), np.take(x, at % 4, 0)[..., 1:, :])
        np.testing.assert_array_equal(given[at.tolist()].detach().numpy(), x[np.array(at.tolist(), np.int64)])
        given[at].sum().backward()
        due = np.bincount(at.ravel() % 4, minlength=4)[:, None, None] * np.ones(x.shape)
        np.testing.assert_array_equal(given.grad.numpy(), due)


class TestMasks:
    def test_each_component_by_its_own_mask(self, layout: Any) -> None:
        for placement in PLACEMENTS:
            for mask_layout in LAYOUTS:
                result = nest(X, layout, placement)[nest(HOLDS, mask_layout, placement)]
                assert_same(result, [x[one] for x, one in zip(X, HOLDS, strict=True)])
                assert result.layout is layout

    def test_a_mask_of_rows(self, lay: Any, layout: Any) -> None:
        rows = [one[:, 0] for one in HOLDS]
        result = lay(X)[nest(rows, layout)]
        assert_same(result, [x[one] for x, one in zip(X, rows, strict=True)])
        assert result.layout is layout

    def test_a_ragged_dimension_that_is_left(self) -> None:
        turned = [x.T for x in X]
        holds = [np.array([True, False, True]), np.array([False] * 3), np.array([True] * 3)]
        result = nest(turned, pn.jagged, "holes", 2)[nest(holds, pn.strided)]
        assert_same(result, [x[one] for x, one in zip(turned, holds, strict=True)])
        assert result.layout is pn.strided
        turned_mask = nest([one.T for one in HOLDS], pn.jagged, "packed", 2)
        assert_same(nest(turned, pn.jagged, "holes", 2)[turned_mask],
                    [x[one.T] for x, one in zip(turned, HOLDS, strict=True)])  # fmt: skip

    def test_dtypes_and_payloads(self, lay: Any) -> None:
        signed = [np.array([-0.0, np.nan, 1.0]), np.array([np.inf])]
        mask = [np.array([True, True, False]), np.array([False])]
        assert_same(lay(signed)[nest(mask)], [signed[0][:2], signed[1][:0]])

    def test_the_gradient_is_plus_0_elsewhere(self, layout: Any, placement: str) -> None:
        made = place(X, layout, placement, grad=True)
        made.array[nest(HOLDS)].backward(nest([np.full(int(one.sum()), np.nan) for one in HOLDS], layout))
        assert_same(made.gradient(), [np.where(one, np.nan, 0.0) for one in HOLDS])

    def test_nothing(self, lay: Any, layout: Any) -> None:
        nothing = lay(X)[:0]
        chosen = nothing[nothing > 0]
        assert (len(chosen), chosen.ndim, chosen.layout) == (0, 2, layout)
        assert_same(lay(X)[lay(X) > 99], [np.zeros(0)] * 3)


class TestDense:
    def test_by_integers_and_masks(self) -> None:
        d = np.arange(12.0).reshape(3, 4)
        x = pn.array(d)
        for index in ([2, 0, 0], [True, False, True], np.array([-1]), d > 4, np.array([[True] * 4] * 3), [],
                      ([2, 0], 1), ([2, 0], slice(1, 3)), ([0], ..., None)):  # fmt: skip
            assert_same([x[index]], [d[index]])

    def test_gradient(self) -> None:
        x = pn.array(np.arange(3.0), requires_grad=True)
        (x[[2, 0, 2]] * pn.array([1.0, 2.0, 4.0])).sum().backward()
        assert x.grad is not None and x.grad.tolist() == [2.0, 0.0, 5.0]

    def test_assignment(self) -> None:
        for index in ([2, 0], [True, False, True], np.arange(12).reshape(3, 4) % 2 == 0, ([1], slice(2))):
            d = np.arange(12.0).reshape(3, 4)
            x = pn.array(d)
            x[index] = -1.0
            d[index] = -1.0
            assert_same([x], [d])
        x = pn.array(np.arange(3.0))
        x[[2, 0]] = [5.0, 6.0]
        assert x.tolist() == [6.0, 1.0, 5.0]


@pytest.mark.skipif(shutil.which("g++") is None, reason="the emulation needs g++")
def test_devices() -> None:
    there = pn.nested_array(X, device="emulated")
    assert_same(there[pn.array([2, 0], device="emulated")].to("cpu"), [X[2], X[0]])
    assert_same(there[[2, 0]][:, 1:].to("cpu"), [X[2][1:], X[0][1:]])
    assert_same(there[there > 0.05].to("cpu"), [x[one] for x, one in zip(X, HOLDS, strict=True)])
    there[there > 0.05] = 1.0
    assert_same(there.to("cpu"), [np.where(one, 1.0, x) for x, one in zip(X, HOLDS, strict=True)])
    for elsewhere in (pn.array([2, 0]), nest(HOLDS)):
        with pytest.raises(DeviceError, match="index"):
            there[elsewhere]


def test_assignment_writes_what_is_named(layout: Any) -> None:
    for placement in PLACEMENTS:
        x, expected = nest(X, layout, placement), [x.copy() for x in X]
        x[[2, 0]] = 7.0
        expected[0][:] = expected[2][:] = 7.0
        assert_same(x, expected)
        x[[True, False, False], 1:] = 5.0
        expected[0][1:] = 5.0
        assert_same(x, expected)
        x[nest(HOLDS)] = -1.0
        for one, holds in zip(expected, HOLDS, strict=True):
            one[holds] = -1.0
        assert_same(x, expected)
        x[nest(HOLDS)] = nest([np.full(int(one.sum()), 2.0) for one in HOLDS], layout)
        for one, holds in zip(expected, HOLDS, strict=True):
            one[holds] = 2.0
        assert_same(x, expected)
        before = x.data.storage.version
        x[[0]] = 1.0
        assert x.data.storage.version > before
        with pytest.raises(StructureError, match="names it twice"):
            x[[0, 0]] = 1.0


@given(
    lengths=st.lists(st.integers(0, 4), min_size=1, max_size=4),
    picks=st.lists(st.integers(-(2**70), 2**70) | st.integers(-5, 4), max_size=4),
    layout=st.sampled_from(LAYOUTS),
    placement=st.sampled_from(PLACEMENTS),
)
def test_any_list(lengths: list[int], picks: list[int], layout: Any, placement: str) -> None:
    components = [distinct((length, 3), i) for i, length in enumerate(lengths)]
    x = nest(components, layout, placement)
    if any(not -len(lengths) <= i < len(lengths) for i in picks):
        for one in (x, pn.array(np.zeros(len(lengths)))):
            with pytest.raises(IndexOutOfRange):
                one[picks]
        return
    assert_same(x[picks], [components[i] for i in picks])
