"""Sums, means and maxima: over the ragged dimension, regular ones, the batch, several of them, and all."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError, DimensionError, DTypeError, EmptyReductionError

from ..nests import assert_same, batch, nest, place

SHAPES = [(2, 2), (0, 2), (3, 2)]
X = batch(SHAPES)
FULL = batch([(2, 2), (1, 2), (3, 2)], 3)
CHOOSING = ("amax", "amin")
NAMES = ("sum", "mean", "prod", *CHOOSING)
REDUCE = {
    "sum": np.sum,
    "mean": lambda x, axis, keepdims=False: np.sum(x, axis, keepdims=keepdims) / _count(x, axis),
    "prod": np.prod,
    "amax": np.max,
    "amin": np.min,
}
DIMS: list[Any] = [1, 2, (1, 2), (2, 1), -1, -2, (-1, 1)]


def _count(x: Any, axis: Any) -> Any:
    count = np.prod([x.shape[a] for a in np.atleast_1d(axis)])
    return count if count else np.nan


def axes(dim: Any) -> tuple[int, ...]:
    return tuple(d % 3 - 1 for d in (dim if isinstance(dim, tuple) else (dim,)))


def at_places(name: str, components: list[Any], dims: tuple[int, ...]) -> Any:
    """What components hold at each place of the kept dimensions, reduced; written with loops."""
    kept = [d for d in (1, 2) if d not in dims]
    found: dict[tuple[int, ...], list[float]] = {}
    for x in components:
        for index in np.ndindex(x.shape):
            found.setdefault(tuple(index[d - 1] for d in kept), []).append(float(x[index]))
    sizes = [max(x.shape[d - 1] for x in components) for d in kept]
    result = np.empty(sizes)
    for place_ in itertools.product(*map(range, sizes)):
        result[place_] = REDUCE[name](np.array(found.get(place_, [])), 0)
    return result


@pytest.mark.parametrize("name", NAMES)
class TestValues:
    @pytest.mark.parametrize("dim", DIMS, ids=str)
    def test_along_dimensions_of_components(self, lay: Any, name: str, dim: Any) -> None:
        for components, ragged in ((FULL, 1), ([x.T for x in FULL], 2)):
            for keepdim in (False, True):
                expected = [REDUCE[name](x, axes(dim), keepdims=keepdim) for x in components]
                assert_same(getattr(pn, name)(lay(components, ragged), dim, keepdim), expected)
                assert_same(getattr(lay(components, ragged), name)(dim=dim, keepdim=keepdim), expected)

    @pytest.mark.parametrize("dims", [(0,), (0, 1), (0, 2), (2, 0)], ids=str)
    def test_across_the_batch(self, lay: Any, name: str, dims: tuple[int, ...]) -> None:
        for components, ragged in ((FULL, 1), ([x.T for x in FULL], 2)):
            expected = at_places(name, components, dims)
            assert_same(getattr(pn, name)(lay(components, ragged), dims), expected)
            shape = [
                1 if d in dims else n for d, n in enumerate((0, *[max(x.shape[k] for x in components) for k in (0, 1)]))
            ]
            assert_same(getattr(pn, name)(lay(components, ragged), dims, True), expected.reshape(shape))

    def test_of_everything(self, lay: Any, name: str) -> None:
        numbers = np.concatenate([x.ravel() for x in FULL])
        for dim in (None, (0, 1, 2), (-1, 1, 0)):
            assert getattr(pn, name)(lay(FULL), dim).item() == REDUCE[name](numbers, 0)
            assert getattr(pn, name)(lay(FULL), dim, keepdim=True).tolist() == [[[REDUCE[name](numbers, 0)]]]
        assert isinstance(getattr(pn, name)(lay(FULL)), pn.Array)

    def test_no_neighbour_is_seen(self, lay: Any, name: str) -> None:
        x = [np.array([[np.nan, 1.0], [2.0, 3.0]]), np.array([[4.0, 5.0]])]
        result = getattr(pn, name)(lay(x), 1)
        assert np.isnan(result[0].tolist()[0]) and result[1].tolist() == [4.0, 5.0]
        assert result[0].tolist()[1] == REDUCE[name](x[0], 0)[1]
        places = getattr(pn, name)(lay(x), 0)
        assert (
            np.isnan(places.tolist()[0][0])
            and not np.isnan(places.numpy()[np.array([[0, 1], [1, 1]]).astype(bool)]).any()
        )

    def test_refused_dimensions(self, lay: Any, name: str) -> None:
        for dim in (3, -4, (1, 5)):
            with pytest.raises(DimensionError, match=re.escape("[-3, 2]")):
                getattr(pn, name)(lay(FULL), dim)
        for dim in ((1, 1), (1, -2)):
            with pytest.raises(DimensionError, match="twice"):
                getattr(pn, name)(lay(FULL), dim)
        for dim in (1.0, True, "1"):
            with pytest.raises(ArgumentError, match="dim"):
                getattr(pn, name)(lay(FULL), dim)

    def test_rank_2_and_4(self, lay: Any, name: str) -> None:
        flat = batch([(2,), (1,), (3,)])
        assert_same(getattr(pn, name)(lay(flat), 1), [REDUCE[name](x, 0) for x in flat])
        deep = batch([(2, 2, 2), (1, 2, 2), (3, 2, 2)])
        for dim in (1, 2, 3, (1, 3), (2, 3), (1, 2, 3)):
            expected = [REDUCE[name](x, tuple(d - 1 for d in np.atleast_1d(dim))) for x in deep]
            assert_same(getattr(pn, name)(lay(deep), dim), expected)
            moved = [x.transpose(1, 0, 2) for x in deep]
            expected = [REDUCE[name](x, tuple(d - 1 for d in np.atleast_1d(dim))) for x in moved]
            assert_same(getattr(pn, name)(lay(moved, 2), dim), expected)

    def test_the_order_of_components_is_kept(self, lay: Any, name: str) -> None:
        for order in itertools.permutations(range(3)):
            components = [FULL[i] for i in order]
            assert_same(getattr(pn, name)(lay(components), 1), [REDUCE[name](x, 0) for x in components])

    def test_long_runs_are_within_the_bound(self, layout: Any, name: str) -> None:
        components = [
            np.random.default_rng(i).standard_normal((n, 2)).astype(np.float32) for i, n in enumerate((5000, 0, 3))
        ]
        if name in CHOOSING:
            components.pop(1)
        for x, got in zip(components, getattr(pn, name)(nest(components, layout), 1).unbind(), strict=True):
            wide = x.astype(np.float64)
            exact = REDUCE[name](wide, 0)
            bound = len(x) * 2.0**-24 * np.abs(wide).sum(0) if name not in CHOOSING else np.zeros(2)
            assert got.dtype == np.float32 and ((np.abs(got.numpy() - exact) <= bound) | np.isnan(exact)).all()


class TestKinds:
    """What is dense, jagged or strided follows from layout and dims, never from the lengths."""

    @pytest.mark.parametrize("components", [FULL, batch([(2, 2)] * 3)], ids=["ragged", "equal"])
    @pytest.mark.parametrize("name", NAMES)
    def test_jagged(self, components: list[Any], name: str) -> None:
        for ragged in (1, 2):
            x = nest([c if ragged == 1 else c.T for c in components], pn.jagged, "packed", ragged)
            for dim in (ragged, (1, 2), 0, (0, 1), None):
                for keepdim in (False, True):
                    assert isinstance(getattr(pn, name)(x, dim, keepdim), pn.Array)
            for keepdim in (False, True):
                result = getattr(pn, name)(x, 3 - ragged, keepdim)
                assert result.layout is pn.jagged
                assert result.structure.ragged_dim == (ragged if keepdim else 1)

    @pytest.mark.parametrize("components", [FULL, batch([(2, 2)] * 3)], ids=["ragged", "equal"])
    @pytest.mark.parametrize("name", NAMES)
    def test_strided(self, components: list[Any], name: str) -> None:
        x = nest(components, pn.strided)
        for dim in (0, (0, 1), None, (1, 2)):
            assert isinstance(getattr(pn, name)(x, dim), pn.Array)
        for dim in (1, 2):
            for keepdim in (False, True):
                assert getattr(pn, name)(x, dim, keepdim).layout is pn.strided
        assert isinstance(getattr(pn, name)(nest([c[:, 0] for c in components], pn.strided), 1), pn.Array)


class TestDtypes:
    def test_sums(self, lay: Any) -> None:
        for kind in (np.bool_, np.int8, np.uint8, np.int32, np.int64):
            x = lay([np.array([1, 1, 1]).astype(kind), np.array([], kind)])
            assert_same(pn.sum(x, 1), [np.int64(3), np.int64(0)])
            assert pn.sum(x).dtype == np.int64
            assert pn.sum(x, 1, dtype=np.float32).dtype == np.float32
        for kind in (np.float16, np.float32, np.float64):
            assert pn.sum(lay([np.ones(3, kind)]), 1).dtype == kind
        assert_same(pn.sum(lay([np.array([200, 100], np.uint8)]), 1, dtype=pn.uint8), [np.uint8(44)])
        with pytest.raises(DTypeError):
            pn.sum(lay([np.ones(3)]), 1, dtype=np.complex128)
        cut = [np.array([0.5, 1.5]), np.array([-0.75, -100.25, -100.5])]  # each element first: 0 + 1, 0 - 100 - 100
        for kind, expected in ((np.int64, [1, -200]), (np.int8, [1, 56]), (np.bool_, [True, True])):
            assert_same(pn.sum(lay(cut), 1, dtype=kind), [np.array(one, kind) for one in expected])

    def test_means(self, lay: Any) -> None:
        for kind in (np.bool_, np.int8, np.int64):
            assert_same(pn.mean(lay([np.array([1, 0]).astype(kind)]), 1), [np.float64(0.5)])
        assert pn.mean(lay([np.ones(3, np.float16)]), 1).dtype == np.float16
        assert pn.mean(lay([np.ones(3, np.float32)]), 1, dtype=pn.float64).dtype == np.float64
        with pytest.raises(DTypeError, match="int64"):
            pn.mean(lay([np.ones(3)]), 1, dtype=pn.int64)

    def test_maxima(self, lay: Any) -> None:
        for kind in (np.bool_, np.int8, np.uint8, np.int64, np.float16, np.float32):
            x = [np.array([[0, 1], [1, 0]]).astype(kind), np.array([[0, 0]]).astype(kind)]
            for dim in (1, 2, (1, 2)):
                assert_same(pn.amax(lay(x), dim), [one.max(axes(dim)) for one in x])
            assert pn.amax(lay(x), 0).tolist() == [[0, 1], [1, 0]]
            assert pn.amax(lay(x)).dtype == kind
        assert_same(pn.amax(lay([np.array([-3, -7], np.int8)]), 1), [np.int8(-3)])

    def test_half_precision_is_added_up_wider(self, lay: Any) -> None:
        x = lay([np.array([60000, 60000, -60000], np.float16), np.ones(4000, np.float16)])
        assert pn.sum(x, 1).tolist() == [60000.0, 4000.0]
        assert pn.mean(x, 1).tolist() == [20000.0, 1.0]
        assert pn.sum(lay([np.array([60000, 60000, -60000], np.float16)])).item() == 60000.0
        square = lay([np.array([[60000, 60000], [-60000, -60000]], np.float16)])
        assert pn.sum(square, (1, 2)).tolist() == [0.0] and pn.sum(square, (0, 1, 2)).item() == 0.0
        assert pn.sum(lay([np.array([x], np.float16) for x in (60000, 60000, -60000)]), 0).tolist() == [60000.0]


class TestEmpty:
    def test_sums_and_means(self, lay: Any) -> None:
        assert_same(pn.sum(lay(X), 1), [x.sum(0) for x in X])
        assert_same(pn.mean(lay(X), 1), [X[0].sum(0) / 2, np.full(2, np.nan), X[2].sum(0) / 3], 1e-15)
        assert_same(pn.sum(lay(X), 2), [x.sum(1) for x in X])
        assert_same(pn.mean(lay(X), (1, 2)), [X[0].sum() / 4, np.float64(np.nan), X[2].sum() / 6], 1e-15)
        nothing = lay([np.zeros((0, 2)), np.zeros((0, 2))])
        assert_same(pn.sum(nothing, 1), [np.zeros(2), np.zeros(2)])
        assert pn.sum(nothing).item() == 0 and np.isnan(pn.mean(nothing).item())
        assert pn.sum(nothing, 0).shape == (0, 2)
        assert pn.sum(nothing, (0, 1)).tolist() == [0.0, 0.0]
        assert np.isnan(pn.mean(nothing, (0, 1)).numpy()).all()

    def test_a_maximum_of_nothing_names_the_component(self, lay: Any) -> None:
        for dim in (1, (1, 2)):
            with pytest.raises(EmptyReductionError, match=re.escape("component 1, of shape (0, 2)")):
                pn.amax(lay(X), dim)
        assert_same(pn.amax(lay(X), 2), [x.max(1) for x in X])
        assert_same(pn.amax(lay(X), 0), at_places("amax", X, (0,)))
        with pytest.raises(EmptyReductionError, match="no elements"):
            pn.amax(lay([np.zeros((0, 2))]))
        with pytest.raises(EmptyReductionError):
            pn.amax(lay([np.zeros((2, 0)), np.zeros((1, 0))]), 2)
        assert (
            pn.amax(lay([np.zeros((2, 0)), np.zeros((0, 0))]), 1).shape == (2, 0)
            if lay(X).layout is pn.jagged
            else True
        )
        ragged = nest(batch([(2, 1), (1, 2)]), pn.strided)
        with pytest.raises(EmptyReductionError, match=re.escape("(1, 1)")):
            pn.amax(ragged, 0)

    def test_without_components(self) -> None:
        nothing = pn.nested_array_from_jagged(np.zeros((0, 2)), [0])
        assert pn.sum(nothing, 1).shape == pn.mean(nothing, 1).shape == pn.amax(nothing, 1).shape == (0, 2)
        assert pn.sum(nothing, 0).shape == (0, 2) and pn.sum(nothing, (0, 1)).tolist() == [0.0, 0.0]
        assert pn.sum(nothing).item() == 0.0 and np.isnan(pn.mean(nothing).item())
        assert len(pn.sum(nothing, 2)) == 0 and pn.sum(nothing, 2).ndim == 2
        assert pn.sum(nothing, 1, True).shape == (0, 1, 2) and pn.sum(nothing, 0, True).shape == (1, 0, 2)
        for dim in (None, (0, 1)):
            with pytest.raises(EmptyReductionError):
                pn.amax(nothing, dim)

    def test_a_run_of_minus_infinity(self, lay: Any) -> None:
        assert_same(pn.amax(lay([np.array([-np.inf]), np.array([1.0, 2.0])]), 1), [np.float64(-np.inf), np.float64(2)])


class TestGradients:
    @pytest.mark.parametrize("dim", [1, (1, 2)], ids=str)
    def test_a_mean_of_nothing_leaves_the_others_alone(self, layout: Any, placement: str, dim: Any) -> None:
        made = place(X, layout, placement, grad=True)
        result = pn.mean(made.array, dim)
        result.backward(pn.ones_like(result))
        count = [1, 1, 1] if dim == 1 else [2, 2, 2]
        expected = [np.full(x.shape, 1 / max(len(x) * n, 1)) for x, n in zip(X, count, strict=True)]
        assert_same(made.gradient(), expected, 1e-15)

    def test_ties_share(self, layout: Any, placement: str) -> None:
        made = place([np.array([1.0, 3.0, 3.0]), np.array([2.0]), np.array([5.0] * 4)], layout, placement, grad=True)
        pn.amax(made.array, 1).sum().backward()
        assert_same(made.gradient(), [np.array([0, 0.5, 0.5]), np.array([1.0]), np.full(4, 0.25)])
        made.buffer.grad = None
        pn.amax(made.array).backward()
        assert_same(made.gradient(), [np.zeros(3), np.zeros(1), np.full(4, 0.25)])
        made.buffer.grad = None
        pn.amax(made.array, 0).sum().backward()
        assert_same(made.gradient(), [np.zeros(3), np.zeros(1), np.ones(4)])

    def test_where_nothing_is_chosen_a_nan_does_not_reach(self, layout: Any) -> None:
        made = place([np.array([1.0, 3.0]), np.array([2.0])], layout, grad=True)
        pn.amax(made.array, 1).backward(pn.array([np.nan, 2.0]))
        assert_same(made.gradient(), [np.array([0.0, np.nan]), np.array([2.0])])
