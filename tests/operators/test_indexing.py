"""`x[index]`: the first entry picks from the batch, the others index every component as NumPy does."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pynested as pn
from pynested.backends.errors import IndexOutOfRange

from ..nests import LAYOUTS, PLACEMENTS, assert_same, batch, distinct, nest, place

X = batch([(2, 3), (0, 3), (4, 3)])
FULL = batch([(2, 3), (1, 3), (4, 3)])
TURNED = [x.T for x in X]
ALL = slice(None)
SLICES = [
    slice(None), slice(1, None), slice(None, 1), slice(-1, None), slice(None, -1), slice(None, None, 2), slice(1, 9, 2),
    slice(None, None, -1), slice(None, None, -2), slice(2, 0, -1), slice(5, 2), slice(0, 0), slice(-9, 9),
]  # fmt: skip


def indexed(components: list[Any], index: Any) -> Any:
    """What NumPy makes of each component that the first entry names."""
    first, *rest = index if isinstance(index, tuple) else (index,)
    picked = components[first]
    return [x[tuple(rest)] for x in picked] if isinstance(first, slice) else picked[tuple(rest)]


class TestSlices:
    def test_of_the_batch(self, lay: Any, layout: Any) -> None:
        for part in SLICES:
            result = lay(X)[part]
            assert_same(result, X[part])
            assert (result.layout, result.ndim) == (layout, 3)

    def test_of_every_component_on_its_own(self, lay: Any, layout: Any) -> None:
        for part in SLICES:
            assert_same(lay(X)[:, part], indexed(X, (ALL, part)))
            assert_same(lay(X)[:, :, part], indexed(X, (ALL, ALL, part)))
            assert_same(lay(TURNED, 2)[:, :, part], indexed(TURNED, (ALL, ALL, part)))
            assert lay(X)[:, part].layout is layout

    def test_of_several_dimensions(self, lay: Any) -> None:
        for parts in itertools.product(SLICES[1::3], SLICES[2::3], SLICES[::4]):
            assert_same(lay(X)[parts], indexed(X, parts))

    def test_of_slices(self, lay: Any) -> None:
        assert_same(lay(X)[:, 1:][:, 1:][::-1], [x[2:] for x in X[::-1]])
        assert_same(lay(X)[:, ::2][:, ::-1][:, :, 1:], [x[::2][::-1][:, 1:] for x in X])

    def test_two_irregular_dimensions(self) -> None:
        both = batch([(2, 1), (0, 3), (3, 2)])
        for placement in PLACEMENTS:
            for parts in itertools.product(SLICES[::2], SLICES[1::2]):
                assert_same(nest(both, pn.strided, placement)[(ALL, *parts)], indexed(both, (ALL, *parts)))


class TestIntegers:
    def test_of_the_batch_give_a_component(self, lay: Any) -> None:
        for i in (0, 1, 2, -1, -3, np.int64(2), pn.array(2)):
            assert_same([lay(X)[i]], [X[int(i)]])
        assert_same([lay(X)[2, 1]], [X[2][1]])
        assert lay(X)[2, 1, -1].item() == X[2][1, -1]
        assert_same([lay(X)[2, ::2, 1]], [X[2][::2, 1]])
        assert_same([lay(X)[0, None, ..., 1]], [X[0][None, ..., 1]])

    def test_of_dimensions(self, lay: Any, layout: Any) -> None:
        for i in (0, 2, -1, -3):
            assert_same(lay(X)[:, :, i], [x[:, i] for x in X])
            assert_same(lay(X)[..., i], [x[:, i] for x in X])
            assert_same(lay(TURNED, 2)[:, i], [x[i] for x in TURNED])
            assert lay(X)[..., i].layout is layout
        for i in (0, -1):
            assert_same(lay(FULL)[:, i], [x[i] for x in FULL])
            assert_same(lay(FULL)[1:, i, 1:], [x[i, 1:] for x in FULL[1:]])
            assert_same(lay(FULL)[:, i, None], [x[i, None] for x in FULL])
        assert isinstance(lay(FULL)[:, 0], pn.Array) is (layout is pn.jagged)


class TestNoneAndEllipsis:
    def test_none_makes_a_dimension(self, lay: Any) -> None:
        assert_same(lay(X)[:, None], [x[None] for x in X])
        assert_same(lay(X)[:, :, None], [x[:, None] for x in X])
        assert_same(lay(X)[..., None], [x[..., None] for x in X])
        assert_same(lay(X)[:, None, 1:, None, 0], [x[None, 1:, None, 0] for x in X])
        assert_same(lay(TURNED, 2)[:, None, :, ::-1], [x[None, :, ::-1] for x in TURNED])

    def test_the_ellipsis_stands_for_what_is_missing(self, lay: Any) -> None:
        for index in (..., (...,), (ALL, ...), (..., ALL), (ALL, ALL, ALL, ...), ()):
            assert_same(lay(X)[index], X)
        assert_same(lay(X)[1:, ..., ::2], [x[..., ::2] for x in X[1:]])


def test_nothing(lay: Any, layout: Any) -> None:
    nothing = lay(X)[5:]
    assert (len(nothing), nothing.ndim, nothing.layout) == (0, 3, layout)
    assert_same(nothing[:, 1:], [])
    assert_same(lay(X)[:, 7:], [x[7:] for x in X])
    assert_same(lay(X)[1:2][:, ::-1], [X[1]])
    with pytest.raises(IndexOutOfRange):
        nothing[0]


def test_dtypes_and_payloads_stay(lay: Any) -> None:
    for kind in (np.bool_, np.int8, np.uint8, np.int64, np.float16):
        assert_same(lay([x.astype(kind) for x in X])[:, ::-1, 1:], [x.astype(kind)[::-1, 1:] for x in X])
    signed = np.array([-0.0, np.nan, 1.0])
    assert_same(lay([signed])[:, ::-1], [signed[::-1]])


def test_assignment(layout: Any) -> None:
    for placement in PLACEMENTS:
        for index in (
            1,
            slice(1, None),
            (ALL, slice(1, None)),
            (2, slice(None, None, 2)),
            (..., 1),
            (ALL, slice(1, 2), 0),
        ):
            made, expected = nest(X, layout, placement), [x.copy() for x in X]
            made[index] = 7.0
            first, *rest = index if isinstance(index, tuple) else (index,)
            rest = [] if first is Ellipsis and not rest else rest
            for x in (
                expected if first is Ellipsis else expected[first] if isinstance(first, slice) else [expected[first]]
            ):
                x[(..., *rest) if first is Ellipsis else tuple(rest) or ...] = 7.0
            assert_same(made, expected)


def test_what_is_not_picked_receives_plus_0(layout: Any, placement: str) -> None:
    made = place(X, layout, placement, grad=True)
    picked = made.array[:, 1:]
    picked.backward(nest([np.full(x[1:].shape, np.nan) for x in X], layout))
    assert_same(made.gradient(), [np.where(np.arange(len(x))[:, None] >= 1, np.nan, 0.0) * np.ones(x.shape) for x in X])


ends = st.none() | st.integers(-5, 5)
slices = st.builds(slice, ends, ends, st.none() | st.integers(-3, 3).filter(bool))


@given(
    lengths=st.lists(st.integers(0, 4), min_size=1, max_size=4),
    index=st.tuples(slices, slices, slices),
    layout=st.sampled_from(LAYOUTS),
    placement=st.sampled_from(PLACEMENTS),
)
def test_any_slices(lengths: list[int], index: Any, layout: Any, placement: str) -> None:
    components = [distinct((length, 3), i) for i, length in enumerate(lengths)]
    assert_same(nest(components, layout, placement)[index], indexed(components, index))
