"""`cat` and `stack`: batches, regular and ragged dimensions, and a new one."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError, DimensionError, ShapeError, StructureError

from ..nests import LAYOUTS, PLACEMENTS, assert_same, batch, distinct, nest, place

X = batch([(2, 2), (0, 2), (3, 2)])
SAME = batch([(2, 2), (0, 2), (3, 2)], 1)
LONGER = batch([(1, 2), (2, 2), (0, 2)], 2)
WIDER = batch([(2, 3), (0, 3), (3, 3)], 3)


def joined(*groups: Any, axis: int) -> list[Any]:
    return [np.concatenate(parts, axis) for parts in zip(*groups, strict=True)]


class TestCat:
    def test_batches(self, lay: Any, layout: Any) -> None:
        for placement in PLACEMENTS:
            result = pn.cat([lay(X), nest(LONGER, layout, placement), lay(SAME)])
            assert_same(result, [*X, *LONGER, *SAME])
            assert result.layout is layout
        assert_same(pn.cat([lay(X)[:0], lay(X), lay(X)[:0]]), X)
        assert_same(pn.cat((lay(X),)), X)

    def test_along_the_ragged_dimension_lengths_add_up(self, lay: Any, layout: Any) -> None:
        for placement in PLACEMENTS:
            result = pn.cat([lay(X), nest(LONGER, layout, placement), lay(X)], 1)
            assert_same(result, joined(X, LONGER, X, axis=0))
            assert result.layout is layout
        turned = [[x.T for x in one] for one in (X, LONGER)]
        assert_same(pn.cat([lay(turned[0], 2), lay(turned[1], 2)], -1), joined(*turned, axis=1))

    def test_along_a_regular_dimension(self, lay: Any, layout: Any) -> None:
        result = pn.cat([lay(X), nest(WIDER, layout), lay(SAME)], 2)
        assert_same(result, joined(X, WIDER, SAME, axis=1))
        assert result.layout is layout
        turned = [[x.T for x in one] for one in (X, WIDER)]
        assert_same(pn.cat([lay(turned[0], 2), lay(turned[1], 2)], 1), joined(*turned, axis=0))

    def test_what_jagged_cannot_express_is_strided(self) -> None:
        assert_same(pn.cat([nest(X), nest(WIDER)]), [*X, *WIDER])
        assert pn.cat([nest(X), nest(WIDER)]).layout is pn.strided
        turned = nest([x.T for x in X], pn.jagged, "packed", 2)
        assert pn.cat([nest(X), turned]).layout is pn.strided
        assert pn.cat([nest(X), nest(SAME, pn.strided)], 1).layout is pn.strided
        assert_same(pn.cat([nest(X), nest(LONGER, pn.strided)], 1), joined(X, LONGER, axis=0))
        mixed = nest([x.T for x in SAME], pn.jagged, "holes", 2).transpose(1, 2)
        assert_same(pn.cat([nest(X), mixed], 2), joined(X, SAME, axis=1))

    def test_two_irregular_dimensions(self) -> None:
        a, b = batch([(2, 1), (1, 3)]), batch([(2, 2), (1, 0)], 1)
        for placement in PLACEMENTS:
            assert_same(pn.cat([nest(a, pn.strided, placement), nest(b, pn.strided)], 2), joined(a, b, axis=1))
        c = batch([(0, 1), (3, 3)], 2)
        assert_same(pn.cat([nest(a, pn.strided), nest(c, pn.strided, "holes")], 1), joined(a, c, axis=0))

    def test_dtypes(self, lay: Any) -> None:
        ints = [x.astype(np.int8) for x in X]
        assert pn.cat([lay(ints), lay([x.astype(np.uint8) for x in X])]).dtype == np.int16
        floats = [x.astype(np.float32) for x in SAME]
        expected = [x.astype(np.float32) for x in joined(ints, floats, axis=0)]
        assert_same(pn.cat([lay(ints), lay(floats)], 1), expected)

    def test_what_does_not_fit(self, lay: Any, layout: Any) -> None:
        with pytest.raises(StructureError, match=r"component 0 .* \(2, 3\) in array 1 and \(2, 2\) in array 0"):
            pn.cat([lay(X), nest(WIDER, layout)], 1)
        with pytest.raises(StructureError, match=re.escape("component 0 has shape (1, 2) in array 1")):
            pn.cat([lay(X), nest(LONGER, layout)], 2)
        with pytest.raises(StructureError, match="2 components"):
            pn.cat([lay(X), lay(X)[:2]], 1)
        with pytest.raises(StructureError, match="2 dimensions"):
            pn.cat([lay(X), nest([x[:, 0] for x in X], layout)])
        with pytest.raises(StructureError, match="nest its components"):
            pn.cat([lay(X), pn.array(distinct((3, 2, 2)))])
        with pytest.raises(StructureError, match="nothing"):
            pn.cat([])
        with pytest.raises(DimensionError, match=re.escape("[-3, 2]")):
            pn.cat([lay(X)], 3)

    @pytest.mark.parametrize("dim", [0, 1, 2])
    def test_each_array_receives_its_piece(self, layout: Any, placement: str, dim: int) -> None:
        made = [place(one, layout, placement, grad=True) for one in (X, SAME)]
        result = pn.cat([one.array for one in made], dim)
        shapes = [one.shape for one in result.unbind()]
        cotangent = batch(shapes, 9)
        result.backward(nest(cotangent, layout))
        if dim == 0:
            expected = [cotangent[:3], cotangent[3:]]
        else:
            halves = [np.split(g, 2, dim - 1) for g in cotangent]
            expected = [[half[k] for half in halves] for k in (0, 1)]
        for one, its in zip(made, expected, strict=True):
            assert_same(one.gradient(), its)

    def test_the_same_array_twice(self, layout: Any) -> None:
        made = place(X, layout, grad=True)
        pn.cat([made.array, made.array], 1).sum().backward()
        assert_same(made.gradient(), [np.full(x.shape, 2.0) for x in X])


class TestStack:
    def test_values(self, lay: Any, layout: Any) -> None:
        for dim in (1, 2, 3, -1, -2, -3):
            for placement in PLACEMENTS:
                result = pn.stack([lay(X), nest(SAME, layout, placement), lay(X)], dim)
                expected = [np.stack(parts, dim % 4 - 1) for parts in zip(X, SAME, X, strict=True)]
                assert_same(result, expected)
                assert result.layout is layout
        assert pn.stack([nest(X)] * 2, 1).structure.ragged_dim == 2
        assert pn.stack([nest(X)] * 2, 2).structure.ragged_dim == 1
        flat = [x[:, 0] for x in X]
        assert_same(pn.stack([lay(flat), lay(flat)], 1), [np.stack([x, x]) for x in flat])
        assert_same(pn.stack([lay(flat), lay(flat)], 2), [np.stack([x, x], 1) for x in flat])

    def test_layouts_and_dtypes(self, lay: Any) -> None:
        for a in LAYOUTS:
            for b in LAYOUTS:
                result = pn.stack([nest(X, a), nest(SAME, b)], 1)
                assert result.layout is (pn.jagged if a is b is pn.jagged else pn.strided)
                assert_same(result, [np.stack(parts) for parts in zip(X, SAME, strict=True)])
        assert pn.stack([lay([x.astype(np.int8) for x in X]), lay([x > 0 for x in X])], 1).dtype == np.int8

    def test_what_does_not_fit(self, lay: Any, layout: Any) -> None:
        for dim in (0, -4):
            with pytest.raises(DimensionError, match="cat"):
                pn.stack([lay(X), lay(X)], dim)
        with pytest.raises(StructureError, match="component 0"):
            pn.stack([lay(X), nest(LONGER, layout)], 1)
        with pytest.raises(StructureError, match="component 0"):
            pn.stack([lay(X), nest(WIDER, layout)], 1)
        with pytest.raises(StructureError, match="2 components"):
            pn.stack([lay(X), lay(X)[:2]], 1)
        with pytest.raises(StructureError, match="nothing"):
            pn.stack([], 1)

    @pytest.mark.parametrize("dim", [1, 2, 3])
    def test_each_array_receives_its_slice(self, layout: Any, placement: str, dim: int) -> None:
        made = [place(one, layout, placement, grad=True) for one in (X, SAME)]
        result = pn.stack([one.array for one in made], dim)
        cotangent = batch([one.shape for one in result.unbind()], 9)
        result.backward(nest(cotangent, layout, "packed", 2 if dim == 1 else 1))
        for k, one in enumerate(made):
            assert_same(one.gradient(), [np.take(g, k, dim - 1) for g in cotangent])


def test_dense_arrays_are_joined_as_ever() -> None:
    x = distinct((2, 3))
    assert pn.cat([pn.array(x), x], 1).tolist() == np.concatenate([x, x], 1).tolist()
    assert pn.stack([pn.array(x), x]).tolist() == np.stack([x, x]).tolist()
    with pytest.raises(ShapeError):
        pn.cat([x, x[:1]], 1)


@pytest.mark.parametrize("join", [pn.cat, pn.stack])
def test_what_is_no_list_of_arrays_is_refused(join: Any) -> None:
    for given in (None, 1, 1.0, np.float64(1), np.ones(2), pn.array([1.0]), nest(X, LAYOUTS[0])):
        with pytest.raises(ArgumentError, match="give"):
            join(given)
