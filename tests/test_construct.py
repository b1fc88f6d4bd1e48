"""Nested arrays from lists, from arrays with history, and from buffers: what is refused, and what is shared."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pynested as pn
from pynested.backends.errors import (
    ArgumentError,
    DeviceError,
    DimensionError,
    DTypeError,
    LayoutError,
    PynestedError,
    StructureError,
)

from .nests import LAYOUTS, PLACEMENTS, assert_same, batch, distinct, nest

X = batch([(2, 2), (0, 2), (3, 2)])
BOTH = batch([(2, 1), (0, 3)])


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda one: one.name)
class TestNestedArray:
    def test_components_are_copied(self, layout: Any) -> None:
        given = [x.copy() for x in X]
        result = pn.nested_array(given, layout=layout)
        for x in given:
            x[:] = 9
        assert_same(result, X)
        assert (result.layout, result.ndim, len(result), result.requires_grad) == (layout, 3, 3, False)

    def test_lists_and_numbers_stand_for_arrays(self, layout: Any) -> None:
        result = pn.nested_array([[1, 2], (3,), range(2), pn.array([5])], layout=layout)
        assert_same(result, [np.array([1, 2]), np.array([3]), np.array([0, 1]), np.array([5])])
        assert_same(pn.nested_array(np.arange(6).reshape(3, 2), layout=layout), list(np.arange(6).reshape(3, 2)))
        assert_same(pn.nested_array((x for x in X), layout=layout), X)

    def test_the_ragged_dimension_is_the_irregular_one(self, layout: Any) -> None:
        assert_same(pn.nested_array([x.T for x in X], layout=layout), [x.T for x in X])
        if layout is pn.jagged:
            assert pn.nested_array([x.T for x in X], layout=layout).structure.ragged_dim == 2
            assert pn.nested_array([X[0], X[0]], layout=layout).structure.ragged_dim == 1

    def test_memory_of_any_order(self, layout: Any) -> None:
        given = [np.asfortranarray(X[0]), X[1][::-1], X[2][::-1], np.broadcast_to(X[0][:1], (4, 2))]
        assert_same(pn.nested_array(given, layout=layout), given)

    def test_dtype(self, layout: Any) -> None:
        for kind in (np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.float16, np.float32, np.float64):
            assert pn.nested_array([np.ones(2, kind), np.ones(1, kind)], layout=layout).dtype == kind
            assert pn.nested_array([np.ones(2), np.ones(1)], dtype=np.float32, layout=layout).dtype == np.float32
        mixed = pn.nested_array([np.ones(2), np.ones(1, np.int8)], layout=layout)
        assert_same(mixed, [np.ones(2), np.ones(1)])
        for first, second in (
            (np.int64, np.float64),
            (np.int32, np.int64),
            (np.bool_, np.int8),
            (np.float32, np.float64),
        ):
            with pytest.raises(DTypeError, match=rf"array 1 .*{np.dtype(second).name}.*{np.dtype(first).name}"):
                pn.nested_array([np.ones(2, first), np.ones(1, second)], layout=layout)
        for kind in (np.complex128, np.uint64, np.dtype("U3"), object, np.dtype("M8[s]")):
            with pytest.raises(DTypeError):
                pn.nested_array(
                    [np.ones(2).astype(kind) if kind != np.dtype("M8[s]") else np.zeros(2, kind)], layout=layout
                )
            with pytest.raises(DTypeError):
                pn.nested_array([np.ones(2)], dtype=kind, layout=layout)

    def test_different_ranks(self, layout: Any) -> None:
        with pytest.raises(StructureError, match="Found dimension 1 for the array at index 1 and dimension 2"):
            pn.nested_array([X[0], np.ones(2)], layout=layout)
        with pytest.raises(StructureError, match="nested"):
            pn.nested_array([X[0], nest(X)], layout=layout)

    def test_empty_components(self, layout: Any) -> None:
        for components in ([X[1]] * 2, [np.zeros((2, 0)), np.zeros((1, 0))], [np.zeros(0)]):
            assert_same(pn.nested_array(components, layout=layout), components)

    def test_no_sequence_of_arrays(self, layout: Any) -> None:
        for wrong in (1, None, "ab", {"a": 1}, np.float64(2), nest(X)):
            with pytest.raises(ArgumentError):
                pn.nested_array(wrong, layout=layout)
        with pytest.raises((ArgumentError, StructureError)):
            pn.nested_array([[[1, 2], [3]]], layout=layout)

    def test_options(self, layout: Any) -> None:
        assert pn.nested_array(X, layout=layout, requires_grad=True).is_leaf
        assert pn.nested_array(X, layout=layout, requires_grad=True).requires_grad
        with pytest.raises(DTypeError):
            pn.nested_array([np.ones(2, np.int64)], layout=layout, requires_grad=True)
        with pytest.raises(DeviceError):
            pn.nested_array(X, layout=layout, device="tpu")
        with pytest.raises(LayoutError):
            pn.nested_array(X, layout="jagged")  # type: ignore[arg-type]

    def test_history_is_left_behind_or_kept(self, layout: Any) -> None:
        leaves = [pn.array(x, requires_grad=True) for x in X]
        assert not pn.nested_array(leaves, layout=layout).requires_grad
        kept = pn.as_nested_array(leaves, layout=layout)
        kept.backward(nest([x + 1 for x in X], layout))
        for leaf, x in zip(leaves, X, strict=True):
            assert leaf.grad.tolist() == (x + 1).tolist()


def test_nothing_and_numbers() -> None:
    empty = pn.nested_array([])
    assert (len(empty), empty.ndim, empty.dtype, empty.layout) == (0, 1, np.float64, pn.strided)
    assert_same(pn.nested_array([1.0, 2.0]), [np.float64(1), np.float64(2)])
    for function in (pn.nested_array, pn.as_nested_array):
        for nothing in ([], [1.0, 2.0]):
            with pytest.raises(StructureError):
                function(nothing, layout=pn.jagged)


def test_two_irregular_dimensions_are_strided() -> None:
    assert_same(pn.nested_array(BOTH), BOTH)
    for function in (pn.nested_array, pn.as_nested_array):
        with pytest.raises(LayoutError, match="1 and 2"):
            function(BOTH, layout=pn.jagged)


class TestAsNestedArray:
    def test_a_dense_array_gives_its_slices(self) -> None:
        for layout in LAYOUTS:
            dense = pn.array(distinct((3, 2, 2)), requires_grad=True)
            result = pn.as_nested_array(dense, layout=layout)
            assert_same(result, list(distinct((3, 2, 2))))
            assert result.layout is layout
            result.backward(result.detach())
            assert dense.grad.tolist() == dense.tolist()
        for wrong in (pn.array(1.0), np.ones(3)):
            with pytest.raises(StructureError):
                pn.as_nested_array(wrong)

    def test_a_nested_array_keeps_its_components(self) -> None:
        for a in LAYOUTS:
            for placement in PLACEMENTS:
                x = nest(X, a, placement)
                assert_same(pn.as_nested_array(x), X)
                assert pn.as_nested_array(x).layout is a
                for b in LAYOUTS:
                    assert_same(pn.as_nested_array(x, layout=b), X)
                    assert pn.as_nested_array(x, layout=b).layout is b
                assert pn.as_nested_array(x, np.float32).dtype == np.float32


class TestFromJagged:
    values = distinct((6, 2))

    def test_offsets_lengths_and_both(self) -> None:
        rows = self.values
        assert_same(pn.nested_array_from_jagged(rows, [0, 2, 2, 6]), [rows[:2], rows[2:2], rows[2:]])
        assert_same(pn.nested_array_from_jagged(rows, lengths=[1, 0, 5]), [rows[:1], rows[1:1], rows[1:]])
        assert_same(pn.nested_array_from_jagged(rows, [4, 0, 2, 6], [2, 3, 0]), [rows[4:6], rows[:3], rows[2:2]])
        assert_same(pn.nested_array_from_jagged(rows, [1, 0, 6], [3, 4]), [rows[1:4], rows[:4]])
        assert_same(pn.nested_array_from_jagged(rows, [0, 1, 2], jagged_dim=2), [rows[:, :1], rows[:, 1:]])
        nothing = pn.nested_array_from_jagged(rows[:0], [0])
        assert (len(nothing), nothing.ndim, nothing.layout) == (0, 3, pn.jagged)
        for kind in (np.int8, np.uint8, np.int32, np.uint64):
            assert len(pn.nested_array_from_jagged(rows, np.array([0, 6], kind))) == 1
        assert len(pn.nested_array_from_jagged(rows, pn.array([0, 6]))) == 1

    @pytest.mark.parametrize(
        ("offsets", "lengths", "text"),
        [
            ([1, 6], None, "run from 1"), ([0, 5], None, "to 5"), ([0, 7], None, "to 7"),
            ([0, 4, 2, 6], None, "component 1"),
            ([], None, "empty"), ([[0, 6]], None, "1 dimension"), (None, None, "At least one"), (None, [1, 2], "to 3"),
            (None, [-1, 7], "component 0"), ([0, 3, 6], [3], "2, lengths"), ([0, 6], [7], "component 0"),
            ([0, 3, 6], [3, -1], "component 1"), ([-1, 3], [2], "component 0"), ([5, 6], [2], "component 0"),
            ([7, 7], [0], "component 0"),
            (None, [2**62] * 4, "offsets decrease"), ([0, 2**63 - 1], [2**63 - 1], "component 0"),
        ],
    )  # fmt: skip
    def test_refused(self, offsets: Any, lengths: Any, text: str) -> None:
        with pytest.raises(StructureError, match=re.escape(text)):
            pn.nested_array_from_jagged(self.values, offsets, lengths)

    def test_refused_arguments(self) -> None:
        for dim in (0, 3, -1):
            with pytest.raises(DimensionError, match="jagged_dim"):
                pn.nested_array_from_jagged(self.values, [0, 6], jagged_dim=dim)
        for wrong in ([0.0, 6.0], [False, True], ["0", "6"]):
            with pytest.raises(DTypeError, match="integers"):
                pn.nested_array_from_jagged(self.values, wrong)
        with pytest.raises(StructureError, match="max_seqlen"):
            pn.nested_array_from_jagged(self.values, [0, 2, 6], max_seqlen=3)
        with pytest.raises(StructureError, match="min_seqlen"):
            pn.nested_array_from_jagged(self.values, [0, 2, 6], min_seqlen=3)
        assert len(pn.nested_array_from_jagged(self.values, [0, 2, 6], min_seqlen=2, max_seqlen=9)) == 2

    def test_what_the_caller_changes_later_is_not_seen(self) -> None:
        offsets, lengths = np.array([0, 3, 6]), np.array([3, 3])
        result = pn.nested_array_from_jagged(self.values, offsets, lengths)
        offsets[:], lengths[:] = 99, 99
        assert_same(result, [self.values[:3], self.values[3:]])
        with pytest.raises(ValueError, match="read-only"):
            result.structure.offsets[0] = 5
        frozen = np.array([0, 6])
        view = frozen[:]
        view.setflags(write=False)
        result = pn.nested_array_from_jagged(self.values, view)
        frozen[1] = 99
        assert result.structure.offsets.tolist() == [0, 6]

    def test_gradient_of_overlapping_components(self) -> None:
        values = pn.array(self.values, requires_grad=True)
        x = pn.nested_array_from_jagged(values, [1, 0, 6], [3, 4])
        (x * x).sum().backward()
        counts = np.array([1, 2, 2, 2, 0, 0])[:, None]
        assert values.grad.tolist() == (2 * self.values * counts).tolist()


class TestFromStrided:
    values = distinct((8,))

    def test_values(self) -> None:
        v = self.values
        assert_same(pn.nested_array_from_strided(v, [[2, 2], [1, 3]]), [v[:4].reshape(2, 2), v[4:7].reshape(1, 3)])
        given = pn.nested_array_from_strided(v, [[2, 2], [3, 1]], [[1, 2], [2, 5]], [4, 0])
        assert_same(given, [v[4:].reshape(2, 2).T, v[[0, 2, 4]].reshape(3, 1)])
        assert_same(pn.nested_array_from_strided(v, [[2, 3]], [[0, 1]], [1]), [np.stack([v[1:4]] * 2)])
        assert_same(pn.nested_array_from_strided(v, np.zeros((2, 0), np.int64), offsets=[7, 3]), [v[7], v[3]])
        assert_same(
            pn.nested_array_from_strided(v, [[0, 3], [8, 1]], offsets=[99, 0]), [v[:0].reshape(0, 3), v[:, None]]
        )

    @pytest.mark.parametrize(
        ("sizes", "strides", "offsets", "text"),
        [
            ([[9]], None, None, "component 0"), ([[2], [2]], [[1], [7]], [0, 2], "component 1"),
            ([[2]], [[-1]], [3], "component 0"),
            ([[2]], [[1]], [-1], "component 0"), ([[2]], [[1]], [7], "component 0"), ([[-2]], None, None, "negative"),
            ([[1]], [[1, 1]], [0], "(B, d)"), ([[1]], [[1]], [0, 0], "(B, d)"), ([1], None, None, "2 dimensions"),
            ([[3]], [[2**63 - 1]], [0], "component 0"), ([[2**32, 2**32]], [[0, 0]], [0], "component 0"),
            ([[2**62]], [[4]], [0], "component 0"), ([[2]], [[1]], [2**63 - 1], "component 0"),
            ([[5, 2**62]], [[0, 0]], [0], "component 0"),
        ],
    )  # fmt: skip
    def test_refused(self, sizes: Any, strides: Any, offsets: Any, text: str) -> None:
        with pytest.raises(StructureError, match=re.escape(text)):
            pn.nested_array_from_strided(self.values, sizes, strides, offsets)

    def test_refused_arguments(self) -> None:
        with pytest.raises(StructureError, match="flat"):
            pn.nested_array_from_strided(distinct((2, 4)), [[2]])
        for wrong in ([[2.0]], [[True]]):
            with pytest.raises(DTypeError, match="integers"):
                pn.nested_array_from_strided(self.values, wrong)

    def test_gradient_of_repeated_elements(self) -> None:
        values = pn.array(self.values, requires_grad=True)
        pn.nested_array_from_strided(values, [[2, 3]], [[0, 1]], [1]).sum().backward()
        assert values.grad.tolist() == [0, 2, 2, 2, 0, 0, 0, 0]


numbers = st.integers(-3, 12) | st.sampled_from([2**31, 2**62, 2**63 - 1, -(2**63)])


@given(sizes=st.lists(st.tuples(numbers, numbers), max_size=3), data=st.data())
def test_no_accepted_component_leaves_its_buffer(sizes: Any, data: Any) -> None:
    strides = [(data.draw(numbers), data.draw(numbers)) for _ in sizes]
    offsets = [data.draw(numbers) for _ in sizes]
    inside = all(
        min(size) == 0 or (
            min(*stride, offset) >= 0 and offset + sum((n - 1) * s for n, s in zip(size, stride, strict=True)) < 8
        )
        for size, stride, offset in zip(sizes, strides, offsets, strict=True)
    )  # fmt: skip
    countable = all(a * b < 2**61 for a, b in sizes)
    arguments = [np.array(one, np.int64).reshape(len(sizes), 2) for one in (sizes, strides)]
    try:
        pn.nested_array_from_strided(distinct((8,)), *arguments, np.array(offsets, np.int64))
    except PynestedError:
        assert not (inside and countable and all(min(size) >= 0 for size in sizes))
    else:
        assert inside
