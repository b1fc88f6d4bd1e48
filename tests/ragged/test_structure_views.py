"""Views and parts of a structure: its components change as NumPy changes each of them.

Structures are drawn with all their facts (`is_packed`, `has_overlap`, …), which a view inherits or computes again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from pynested.structure import Jagged, Strided, StructureView

from ..support.structures import NDIM, Numbers, jagged, shown, strided

AXIS = st.integers(0, NDIM - 1)
SLICES = st.builds(slice, *[st.none() | st.integers(-4, 4)] * 2, st.none() | st.sampled_from([-2, -1, 1, 2, 2**62]))


def with_facts(pair: tuple[Any, Numbers]) -> tuple[Any, Numbers]:
    """Return the pair, once the structure has computed all facts."""
    structure = pair[0]
    assert structure.packed and structure.has_overlap in (True, False) and structure.is_packed in (True, False)
    assert isinstance(structure, Strided) or structure.segments
    return pair


ANY = st.one_of(jagged(), strided()).map(with_facts)


def check_components(components: Sequence[Numbers], expected: Sequence[Numbers]) -> None:
    assert [x.shape for x in components] == [x.shape for x in expected]
    assert all(map(np.array_equal, components, expected))


def check_view(structure: Any, values: Numbers, view: Any, change: Callable[[Numbers], Numbers]) -> None:
    """Compare the components of a view with the changed ones; jagged values change likewise, a buffer stays."""
    check_components(
        shown(view, change(values) if isinstance(structure, Jagged) else values),
        list(map(change, shown(structure, values))),
    )
    if isinstance(structure, Strided):
        again = Strided(view.sizes, view.strides, view.offsets, view.buffer_size)
        for fact in ("is_packed", "has_overlap", "is_contiguous"):
            assert getattr(view, fact) == getattr(again, fact), fact
        assert view.numels.tolist() == again.numels.tolist()
    else:
        assert (
            view.packed.ragged_dim == view.ragged_dim
            and view.rows == Jagged(view.offsets, view.lengths, view.ragged_dim).rows
        )


@given(ANY, st.permutations(range(NDIM)))
def test_axes_in_another_order(pair: Any, order: list[int]) -> None:
    structure, values = pair
    check_view(structure, values, structure.with_axes(order), lambda x: x.transpose(order))


@given(ANY, st.integers(0, NDIM))
def test_an_axis_of_size_1_comes_and_goes(pair: Any, axis: int) -> None:
    structure, values = pair
    more = structure.with_new_axis(axis)
    check_view(structure, values, more, lambda x: np.expand_dims(x, axis))
    kept = [k for k in range(NDIM + 1) if k != axis]
    check_components(shown(more.with_axes(kept), values), shown(structure, values))


@given(ANY, AXIS, st.data())
def test_one_axis_as_several(pair: Any, axis: int, data: Any) -> None:
    structure, values = pair
    sizes = {x.shape[axis] for x in shown(structure, values)}
    assume(structure.ragged_dim != axis + 1 and len(sizes) == 1)
    (size,) = sizes
    factors = {1: [()], 4: [(2, 2), (2, 1, 2)]}.get(size, [])
    parts = data.draw(st.sampled_from([(size,), (1, size), (size, 1), (1, size, 1), *factors]))
    view = structure.unflattened(axis, parts)
    check_view(structure, values, view, lambda x: x.reshape(*x.shape[:axis], *parts, *x.shape[axis + 1 :]))


def merged(x: Numbers, first: int, last: int) -> Numbers:
    return x.reshape(*x.shape[:first], int(np.prod(x.shape[first : last + 1])), *x.shape[last + 1 :])


@given(ANY, AXIS, AXIS)
def test_several_axes_as_one(pair: Any, first: int, last: int) -> None:
    structure, values = pair
    first, last = min(first, last), max(first, last)
    if isinstance(structure, Jagged):
        view = structure.flattened(first, last, int(np.prod(values.shape[first + 1 : last + 1])))
        assert (view is None) is (first < structure.ragged_dim - 1 <= last)
    else:
        view = structure.flattened(first, last)
        steps = [np.diff(merged(x, first, last), axis=first) for x in shown(structure, values)]
        if view is None:
            has_stride = structure.sizes[:, last] > 1  # else the last stride of a component has no meaning
            assert any((step != step.flat[0]).any() for step in steps if step.size) or not has_stride.all()
    if view is not None:
        check_view(structure, values, view, lambda x: merged(x, first, last))


@given(strided().map(with_facts), st.permutations(range(NDIM)))
def test_components_in_other_sizes(pair: Any, order: list[int]) -> None:
    structure, values = pair
    extents, before = structure.extents[:, order], shown(structure, values)
    view = structure.reshaped(extents)
    in_order = all(x.size < 2 or (np.diff(x.reshape(-1)) == 1).all() for x in before)
    assert view is not None if structure.is_contiguous else in_order or view is None
    if view is not None:
        check_components(
            shown(view, values), [x.reshape(sizes) for x, sizes in zip(before, extents.tolist(), strict=False)]
        )


def check_part(structure: Any, values: Numbers, part: StructureView, expected: Sequence[Numbers], view: bool) -> None:
    """Take the entries of a part out of the values, and compare the components that its structure shows of them."""
    left = values[(*[slice(None)] * part.axis, part.entries)]
    assert np.shares_memory(left, values) or not view or not left.size
    assert isinstance(part.entries, slice | int) is view
    check_components(shown(part.structure, left), expected)
    assert part.structure.fits(left) and type(part.structure) is type(structure)


@given(ANY, SLICES, st.lists(st.integers(0, 3), max_size=4))
def test_some_of_the_components(pair: Any, part: slice, numbers: list[int]) -> None:
    structure, values = pair
    components = shown(structure, values)
    check_part(structure, values, structure.select_components(part), components[part], True)
    if numbers and structure.count:
        picks = np.array(numbers) % structure.count
        check_part(structure, values, structure.select_components(picks), [components[i] for i in picks], True)


@given(ANY, AXIS, st.data())
def test_one_entry_of_each_component(pair: Any, axis: int, data: Any) -> None:
    structure, values = pair
    size = values.shape[axis] if isinstance(structure, Jagged) else structure.sizes[:, axis].min(initial=3)
    assume(structure.ragged_dim != axis + 1 and size)
    index = data.draw(st.integers(-size, size - 1))
    expected = [x.take(index, axis) for x in shown(structure, values)]
    check_part(structure, values, structure.select_index(axis, index), expected, True)


@given(ANY, AXIS, SLICES)
def test_some_entries_of_each_component(pair: Any, axis: int, part: slice) -> None:
    structure, values = pair
    expected = [x[(*[slice(None)] * axis, part)] for x in shown(structure, values)]
    step = part.step or 1
    if isinstance(structure, Jagged):
        copied = axis == structure.ragged_dim - 1 and min(step, max(1, *structure.component_lengths, 1)) != 1
    else:
        copied = step < 0
    check_part(structure, values, structure.slice_axis(axis, part), expected, not copied)


def test_neighbours_without_gaps_leave_the_rows_of_others_behind() -> None:
    part = Jagged([0, 2, 5, 6]).select_components(slice(1, 3))
    assert (part.axis, part.entries, part.structure.offsets.tolist()) == (0, slice(2, 6), [0, 3, 4])
    assert (
        part.structure.is_packed
        and not Jagged([0, 2, 5, 6]).select_components(slice(None, None, 2)).structure.is_packed
    )


def test_a_component_that_is_left_empty_lies_within_the_buffer() -> None:
    structure = Strided([[3, 0], [1, 4]], [[4, 1], [4, 1]], [4, 0], 4)
    assert structure.slice_axis(0, slice(2, None)).structure.offsets.tolist() == [0, 0]
    assert structure.select_components(slice(0, 1)).structure.select_index(0, 2).structure.offsets.tolist() == [0]


def test_steps_beyond_every_component_stay_small() -> None:
    assert Jagged([0, 1, 2]).slice_axis(0, slice(None, None, 2**62)).entries == slice(None)
    assert Strided([[3]], [[2]], [1], 9).slice_axis(0, slice(None, None, 2**62)).structure.strides.tolist() == [[6]]
