"""Nested arrays over a buffer: no component leaves it, and what the caller changes later is not seen."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pynested as pn
from pynested.backends.errors import DimensionError, DTypeError, PynestedError, StructureError

from ..nests import assert_same, distinct


class TestFromJagged:
    values = distinct((6, 2))

    def test_offsets_lengths_and_both(self) -> None:
        rows = self.values
        assert_same(pn.nested_array_from_jagged(rows, [0, 2, 2, 6]), [rows[:2], rows[2:2], rows[2:]])
        assert_same(pn.nested_array_from_jagged(rows, lengths=[1, 0, 5]), [rows[:1], rows[1:1], rows[1:]])
        assert_same(pn.nested_array_from_jagged(rows, lengths=[1, 2]), [rows[:1], rows[1:3]])
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
            ([], None, "empty"), ([[0, 6]], None, "1 dimension"), (None, None, "At least one"),
            (None, [1, 6], "add up to 7"),
            (None, [-1, 7], "component 0"), ([0, 3, 6], [3], "2, lengths"), ([0, 6], [7], "component 0"),
            ([0, 3, 6], [3, -1], "component 1"), ([-1, 3], [2], "component 0"), ([5, 6], [2], "component 0"),
            ([7, 7], [0], "component 0"),
            (None, [2**62] * 4, "component 0"), ([0, 2**63 - 1], [2**63 - 1], "component 0"),
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

    def test_lengths_that_leave_a_tail(self) -> None:
        values = pn.array(np.append(self.values, [[np.nan, np.nan]], axis=0), requires_grad=True)
        x = pn.nested_array_from_jagged(values, lengths=[2, 0, 4])
        assert x.lengths().tolist() == [2, 0, 4] and x.offsets().tolist() == [0, 2, 2, 6] and x.is_contiguous()
        assert pn.nested_array_from_jagged(values, lengths=[3, 4]).lengths() is None
        (x * x).sum().backward()
        assert values.grad.tolist() == [*(2 * self.values).tolist(), [0.0, 0.0]]
        assert_same(pn.nested_array_from_jagged(values, lengths=[], jagged_dim=2), [])
        assert_same(pn.nested_array_from_jagged(self.values, lengths=[1], jagged_dim=2), [self.values[:, :1]])

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
    countable = all(max(a, 1) * max(b, 1) < 2**59 for a, b in sizes)
    arguments = [np.array(one, np.int64).reshape(len(sizes), 2) for one in (sizes, strides)]
    try:
        pn.nested_array_from_strided(distinct((8,)), *arguments, np.array(offsets, np.int64))
    except PynestedError:
        assert not (inside and countable and all(min(size) >= 0 for size in sizes))
    else:
        assert inside


@pytest.mark.parametrize("make", [pn.nested_array, pn.as_nested_array])
@pytest.mark.parametrize("layout", [pn.strided, pn.jagged], ids=repr)
class TestListsWithoutElements:
    def test_take_the_dtype_of_the_others(self, make: Any, layout: Any) -> None:
        nt = make([[], [1, 2], []], layout=layout)
        assert nt.dtype == pn.int64
        assert [component.tolist() for component in nt] == [[], [1, 2], []]

    def test_take_the_dtype_asked_for(self, make: Any, layout: Any) -> None:
        assert make([[], []], dtype=pn.int8, layout=layout).dtype == pn.int8

    def test_an_array_without_elements_keeps_its_own(self, make: Any, layout: Any) -> None:
        with pytest.raises(TypeError, match="array 1 has dtype float64"):
            make([np.array([1, 2]), np.array([])], layout=layout)

    def test_a_generator_is_read_once(self, make: Any, layout: Any) -> None:
        assert len(make((row for row in [[1.0], [2.0, 3.0]]), layout=layout)) == 2
