"""What a structure becomes: the components that it shows of the values are those before, as NumPy changes each."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import pynested as pn
from pynested.structure import Jagged, Part, Strided

Numbers = np.ndarray[Any, Any]
AXES = 3
MANY = settings(max_examples=200, deadline=None)
SIZES = st.sampled_from((2, 3, 1, 2, 3, 0))


def shown(structure: Jagged | Strided, values: Numbers) -> list[Numbers]:
    """The components, by the meaning of the fields alone."""
    if isinstance(structure, Jagged):
        ends = structure.offsets[1:] if structure.lengths is None else structure.offsets[:-1] + structure.lengths
        runs = zip(structure.offsets[:-1].tolist(), ends.tolist(), strict=True)
        return [values.take(range(start, end), structure.ragged_dim - 1) for start, end in runs]
    fields = zip(structure.sizes.tolist(), structure.strides.tolist(), structure.offsets.tolist(), strict=True)
    return [
        np.array(
            [values[offset + int(np.dot(index, strides))] for index in itertools.product(*map(range, sizes))], np.int64
        ).reshape(sizes)
        for sizes, strides, offset in fields
    ]


@st.composite
def jagged(draw: Any) -> tuple[Jagged, Numbers]:
    """With holes, in any order and overlapping, or without; along any of three axes."""
    axis, lengths = draw(st.integers(0, AXES - 1)), draw(st.lists(SIZES, max_size=4))
    if draw(st.booleans()):
        structure, rows = Jagged(np.cumsum([0, *lengths]), None, axis + 1), sum(lengths)
    else:
        structure, rows = Jagged([*[draw(st.integers(0, 4)) for _ in lengths], 7], lengths, axis + 1), 7
    shape = [draw(SIZES) for _ in range(AXES)]
    shape[axis] = rows
    return structure, np.arange(np.prod(shape)).reshape(shape)


@st.composite
def strided(draw: Any) -> tuple[Strided, Numbers]:
    """Row-major or not, one after the other or anywhere."""
    sizes = np.array(draw(st.lists(st.tuples(*[SIZES] * AXES), max_size=4)), np.int64).reshape(-1, AXES)
    if draw(st.booleans()):
        total = int(sizes.prod(axis=1).sum())
        return Strided(sizes, None, None, total), np.arange(total)
    strides = np.array([draw(st.tuples(*[st.integers(0, 6)] * AXES)) for _ in sizes], np.int64).reshape(-1, AXES)
    offsets = np.array([draw(st.integers(0, 5)) for _ in sizes], np.int64)
    return Strided(sizes, strides, offsets, 60), np.arange(60)


ANY = st.one_of(jagged(), strided())
SLICES = st.builds(slice, *[st.none() | st.integers(-4, 4)] * 2, st.none() | st.sampled_from([-2, -1, 1, 2, 2**62]))
AXIS = st.integers(0, AXES - 1)


def same(found: list[Numbers], expected: Sequence[Numbers]) -> None:
    assert [one.shape for one in found] == [one.shape for one in expected]
    assert all(map(np.array_equal, found, expected))


def check_view(structure: Any, values: Numbers, becomes: Any, change: Callable[[Numbers], Numbers]) -> None:
    """Jagged values change as each component does; a strided buffer stays, and with it what is known of its places."""
    seen = change(values) if isinstance(structure, Jagged) else values
    same(shown(becomes, seen), [change(one) for one in shown(structure, values)])
    if isinstance(structure, Strided):
        again = Strided(becomes.sizes, becomes.strides, becomes.offsets, becomes.buffer_size)
        for fact in ("tiles", "overlapping"):
            assert becomes.__dict__[fact] == structure.__dict__[fact] == getattr(again, fact)
        assert becomes.contiguous == again.contiguous
        assert becomes.numels is structure.numels and becomes.numels.tolist() == again.numels.tolist()
    elif becomes.offsets is structure.offsets:
        assert becomes.segments is structure.segments and becomes.packed.ragged_dim == becomes.ragged_dim


def known(pair: tuple[Any, Numbers]) -> tuple[Any, Numbers]:
    """The pair, once everything about the structure has been asked for."""
    structure = pair[0]
    assert structure.packed and structure.overlapping in (True, False) and structure.tiles in (True, False)
    assert isinstance(structure, Strided) or structure.segments
    return pair


@MANY
@given(ANY, st.permutations(range(AXES)))
def test_axes_in_another_order(pair: Any, order: list[int]) -> None:
    structure, values = known(pair)
    check_view(structure, values, structure.with_axes(order), lambda one: one.transpose(order))


@MANY
@given(ANY, st.integers(0, AXES))
def test_an_axis_of_size_1_comes_and_goes(pair: Any, axis: int) -> None:
    structure, values = known(pair)
    more = structure.with_one(axis)
    check_view(structure, values, more, lambda one: np.expand_dims(one, axis))
    kept = [k for k in range(AXES + 1) if k != axis]
    same(shown(more.with_axes(kept), values), shown(structure, values))


@MANY
@given(ANY, AXIS, st.data())
def test_one_axis_as_several(pair: Any, axis: int, data: Any) -> None:
    structure, values = known(pair)
    assume(structure.ragged_dim != axis + 1)
    sizes = {one.shape[axis] for one in shown(structure, values)}
    assume(len(sizes) == 1)
    (size,) = sizes
    parts = data.draw(st.sampled_from([(size,), (1, size), (size, 1), (1, size, 1)] + [()] * (size == 1)))
    becomes = structure.unflattened(axis, parts)
    check_view(structure, values, becomes, lambda one: one.reshape(*one.shape[:axis], *parts, *one.shape[axis + 1 :]))


def test_four_as_two_by_two() -> None:
    structure = Strided([[4, 2], [4, 1]], [[2, 1], [3, 5]], [0, 8], 20).unflattened(0, (2, 2))
    assert structure.sizes.tolist() == [[2, 2, 2], [2, 2, 1]]
    assert structure.strides[0].tolist() == [4, 2, 1] and structure.strides[1, :2].tolist() == [6, 3]
    assert Jagged([0, 2], None, 2).unflattened(0, (2, 2)).ragged_dim == 3
    assert Jagged([0, 2], None, 2).unflattened(2, (2, 2)).ragged_dim == 2


def test_the_ragged_axis_with_those_behind_it_as_one() -> None:
    runs = Jagged([3, 0, 5], [2, 3]).flattened(0, 1, 4)
    assert runs is not None and runs.lengths is not None
    assert (runs.offsets.tolist(), runs.lengths.tolist(), runs.ragged_dim) == ([12, 0, 20], [8, 12], 1)
    ahead, behind = Jagged([0, 2]).flattened(1, 2, 9), Jagged([0, 2], None, 3).flattened(0, 1, 9)
    assert ahead is not None and behind is not None
    assert (ahead.ragged_dim, behind.ragged_dim) == (1, 2)


def merged(one: Numbers, first: int, last: int) -> Numbers:
    return one.reshape(*one.shape[:first], int(np.prod(one.shape[first : last + 1])), *one.shape[last + 1 :])


@MANY
@given(ANY, AXIS, AXIS)
def test_several_axes_as_one(pair: Any, first: int, last: int) -> None:
    structure, values = known(pair)
    first, last = min(first, last), max(first, last)
    if isinstance(structure, Jagged):
        becomes = structure.flattened(first, last, int(np.prod(values.shape[first + 1 : last + 1])))
        assert (becomes is None) is (first < structure.ragged_dim - 1 <= last)
    else:
        becomes = structure.flattened(first, last)
        steps = [np.diff(merged(one, first, last), axis=first) for one in shown(structure, values)]
        if becomes is None:
            told = [structure.sizes[i, last] > 1 for i in range(structure.count)]  # else its last stride says nothing
            assert any((step != step.flat[0]).any() for step in steps if step.size) or not all(told)
    if becomes is not None:
        check_view(structure, values, becomes, lambda one: merged(one, first, last))


@MANY
@given(strided(), st.permutations(range(AXES)))
def test_components_in_other_sizes(pair: Any, order: list[int]) -> None:
    structure, values = known(pair)
    outline = structure.outline[:, order]
    becomes = structure.reshaped(outline)
    before = shown(structure, values)
    in_order = all(one.size < 2 or (np.diff(one.reshape(-1)) == 1).all() for one in before)
    assert in_order or becomes is None
    if structure.contiguous:
        assert becomes is not None
    if becomes is not None:
        due = [one.reshape(sizes) for one, sizes in zip(before, outline.tolist(), strict=False)]
        same(shown(becomes, values), due)


def check_part(structure: Any, values: Numbers, part: Part, expected: Sequence[Numbers], view: bool) -> None:
    """The entries that a part names are taken out of the values, and its structure shows them."""
    left = values[(*[slice(None)] * part.axis, part.entries)]
    assert np.shares_memory(left, values) or not view or not left.size
    assert isinstance(part.entries, slice | int) is view
    same(shown(part.structure, left), expected)
    assert part.structure.fits(left) and type(part.structure) is type(structure)


@MANY
@given(ANY, SLICES, st.lists(st.integers(0, 3), max_size=4))
def test_some_of_the_components(pair: Any, part: slice, numbers: list[int]) -> None:
    structure, values = pair
    check_part(structure, values, structure.picked(part), shown(structure, values)[part], True)
    if numbers and structure.count:
        picks = np.array(numbers) % structure.count
        due = [shown(structure, values)[i] for i in picks]
        check_part(structure, values, structure.picked(picks), due, True)


def test_neighbours_without_holes_leave_the_rows_of_others_behind() -> None:
    part = Jagged([0, 2, 5, 6]).picked(slice(1, 3))
    assert (part.axis, part.entries, part.structure.offsets.tolist()) == (0, slice(2, 6), [0, 3, 4])
    assert part.structure.tiles and not Jagged([0, 2, 5, 6]).picked(slice(None, None, 2)).structure.tiles
    assert Jagged([0, 2, 5, 6]).picked(slice(2, 1)).entries == slice(5, 5)


def test_no_components_keep_regular_sizes() -> None:
    part = Strided([[2, 3], [5, 3]], None, None, 21).picked(slice(2, 2))
    assert (part.structure.count, part.structure.regular) == (0, (None, 3))
    assert part.structure.selected(1, 2).structure.regular == (None,)
    assert part.structure.sliced(1, slice(1, None)).structure.regular == (None, 2)
    assert part.structure.with_one(1).flattened(1, 2).regular == (None, 3)


@MANY
@given(ANY, AXIS, st.integers(-3, 2))
def test_one_entry_of_each_component(pair: Any, axis: int, index: int) -> None:
    structure, values = pair
    assume(structure.ragged_dim != axis + 1)
    sizes = [values.shape[axis]] if isinstance(structure, Jagged) else structure.sizes[:, axis].tolist()
    assume(all(-size <= index < size for size in sizes))
    due = [one.take(index, axis) for one in shown(structure, values)]
    check_part(structure, values, structure.selected(axis, index), due, True)


def test_a_component_that_is_left_empty_lies_within_the_buffer() -> None:
    structure = Strided([[3, 0], [1, 4]], [[4, 1], [4, 1]], [4, 0], 4)
    assert structure.sliced(0, slice(2, None)).structure.offsets.tolist() == [0, 0]
    assert structure.picked(slice(0, 1)).structure.selected(0, 2).structure.offsets.tolist() == [0]


def test_steps_that_lead_out_of_every_component() -> None:
    part = Jagged([0, 3, 4]).sliced(0, slice(1, None, 2**62))
    assert isinstance(part.entries, np.ndarray) and part.entries.tolist() == [1]
    assert Jagged([0, 1, 2]).sliced(0, slice(None, None, 2**62)).entries == slice(None)
    assert Strided([[3]], [[2]], [1], 9).sliced(0, slice(None, None, 2**62)).structure.strides.tolist() == [[6]]
    backwards = Strided([[3]], [[2]], [1], 9).sliced(0, slice(None, None, -1))
    assert isinstance(backwards.entries, np.ndarray) and backwards.entries.tolist() == [5, 3, 1]


@MANY
@given(ANY, AXIS, SLICES)
def test_some_entries_of_each_component(pair: Any, axis: int, part: slice) -> None:
    structure, values = pair
    due = [one[(*[slice(None)] * axis, part)] for one in shown(structure, values)]
    step = part.step or 1
    if isinstance(structure, Jagged):
        copied = axis == structure.ragged_dim - 1 and min(step, max(1, *structure.component_lengths, 1)) != 1
    else:
        copied = step < 0
    check_part(structure, values, structure.sliced(axis, part), due, not copied)


@pytest.mark.parametrize("layout", [pn.jagged, pn.strided], ids=str)
def test_facts_are_not_worked_out_again_for_a_view(layout: Any) -> None:
    x = pn.nested_array([np.ones((2, 3)), np.ones((1, 3))], layout=layout)
    for view in (x.transpose(1, 2), x.unsqueeze(1), x.unsqueeze(1).squeeze(1), x.unflatten(2, (3, 1))):
        assert view.structure.tiles and "tiles" in view.structure.__dict__
