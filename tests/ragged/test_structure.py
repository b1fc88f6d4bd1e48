"""Structures: facts that follow from the places of components, immutability, sizes that are equal by value, and parts.

`tests/operators/test_views.py` and `test_placement.py` check what operators make of them.
"""

from __future__ import annotations

import copy
import math
import pickle
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pynested as pn
from pynested.backends.errors import ReadOnlyError
from pynested.spec.components import layouts
from pynested.structure import Jagged, Strided, as_readonly
from pynested.structure.ragged_size import RaggedSize

from ..nests import JAGGED, JAGGED_2, LAYOUTS, PLACEMENTS, assert_same, batch, nest, plain
from ..support.structures import Numbers, jagged, shown, strided

X = [np.arange(6.0).reshape(3, 2)]


def elements(structure: Any, values: Numbers) -> list[int]:
    """Return the elements of the components in their order; values are numbered."""
    return [element for component in shown(structure, values) for element in component.ravel().tolist()]


@given(jagged())
def test_facts_of_jagged_structures(pair: tuple[Jagged, Numbers]) -> None:
    structure, values = pair
    axis, rows = structure.ragged_dim - 1, np.arange(values.shape[structure.ragged_dim - 1])
    places = elements(Jagged(structure.offsets, structure.lengths), rows)
    assert structure.row_index.tolist() == places
    assert structure.has_overlap is (len(set(places)) < len(places))
    assert structure.component_lengths.tolist() == [component.shape[axis] for component in shown(structure, values)]
    assert structure.is_packed is (structure.lengths is None)
    packed = structure.packed
    assert packed.lengths is None and packed.ragged_dim == structure.ragged_dim
    assert packed.component_lengths.tolist() == structure.component_lengths.tolist()
    assert structure.with_ragged_dim(2).ragged_dim == 2


@given(strided(), st.integers(0, 3))
def test_facts_of_strided_structures(pair: tuple[Strided, Numbers], more: int) -> None:
    places = elements(*pair)
    size = max(places, default=-1) + 1 + more
    structure = Strided(pair[0].sizes, pair[0].strides, pair[0].offsets, size)
    assert structure.is_contiguous is (places == list(range(size)))
    assert structure.has_overlap is (len(set(places)) < len(places))
    assert structure.is_packed is (sorted(places) == list(range(size)))
    packed = structure.packed
    assert elements(packed, np.arange(len(places))) == list(range(len(places)))
    assert packed.is_contiguous and packed.is_packed and packed.packed is packed
    extents = np.maximum(packed.sizes, 1)
    strides = [[math.prod(sizes[axis:]) for axis in (1, 2, 3)] for sizes in extents.tolist()]
    assert structure.repacked.strides.tolist() == strides


def test_jagged_structures_are_compared_by_value() -> None:
    x, equal, moved = Jagged([0, 2, 5]), Jagged([0, 2, 5]), Jagged([3, 0, 6], [2, 3])
    assert x.same_lengths(equal) and x.same_lengths(moved) and moved.same_lengths(x)
    assert x.same_placement(equal) and not x.same_placement(moved) and not moved.same_placement(x)
    for other in (Jagged([0, 2, 5], [1, 3]), Jagged([0, 3, 5])):
        assert not x.same_lengths(other) and not x.same_placement(other)
    for other in (Jagged([0, 2, 5], None, 2), Strided([[2, 1]], [[1, 1]], [0], 2)):
        assert not x.same_placement(other)


def test_ragged_sizes_are_equal_by_value() -> None:
    a, b, c = (RaggedSize(as_readonly(lengths)) for lengths in ([1, 2], [1, 2], [2, 1]))
    assert a == b and hash(a) == hash(b) and repr(a) == repr(b)
    assert a != c and repr(a) != repr(c) and a != 2
    x, y = nest(batch([(2, 2), (1, 2)])), nest(batch([(2, 3), (1, 3)]), pn.strided, "holes")
    assert x.shape[1] == y.shape[1] and x.shape[:1] + x.shape[2:] == (2, 2)
    assert repr(x.shape) == f"(2, {x.shape[1]}, 2)"


@pytest.mark.parametrize("kind", [JAGGED, JAGGED_2], ids=str)
def test_sizes_of_small_batches(kind: Any) -> None:
    for lengths, layout, placement in product(filter(None, layouts()), LAYOUTS, PLACEMENTS):
        shapes = kind.shapes(lengths)
        x = nest(batch(shapes), layout, placement, kind.ragged)
        assert [x.component_shape(i) for i in range(len(x))] == shapes
        assert x.lengths_along(kind.ragged).tolist() == list(lengths)


@pytest.mark.parametrize(
    "x", [nest(X), nest(X, pn.strided), nest(X, pn.jagged, "holes")], ids=["jagged", "strided", "with gaps"]
)
def test_arrays_and_structures_are_immutable(x: Any) -> None:
    for owner, names in ((x, ("data", "structure")), (x.structure, ("offsets", "count", "is_packed", "new"))):
        for name in names:
            with pytest.raises((ReadOnlyError, AttributeError), match=name):
                setattr(owner, name, None)
            with pytest.raises(AttributeError):
                delattr(owner, name)
    assert copy.copy(x.structure) is copy.deepcopy(x.structure) is x.structure
    unpickled = pickle.loads(pickle.dumps(x.structure))
    assert unpickled.same_placement(x.structure)
    for structure in (x.structure, unpickled):
        with pytest.raises(ValueError, match="read-only"):
            structure.offsets[0] = 1
    assert_same(copy.copy(x), X)


def test_strides_and_offsets_without_elements_cannot_overflow() -> None:
    """A stride without a second element, and the offset of an empty component, can have any value."""
    far = 2**62
    strides = [[far, 1], [far, -far], [far, far]]
    x = pn.nested_array_from_strided(X[0][0], [[1, 2], [0, 5], [1, 1]], strides, [0, far, 1])
    assert_same(x, [X[0][:1], np.zeros((0, 5)), X[0][:1, 1:]])
    assert_same(x.transpose(1, 2)[:, :, None], [component.T[:, None] for component in plain(x)])
    assert_same(x * 2.0, [2 * component for component in plain(x)])
    assert pn.arange(3).as_strided((1, 2), (far, 1)).tolist() == [[0, 1]]


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_views_of_reversed_memory_are_valid_arrays(axis: int) -> None:
    shape = [2, 3, 2]
    shape[axis] = 1  # so that the memory counts as contiguous, although one stride is negative
    values = np.flip(np.arange(float(np.prod(shape))).reshape(shape), axis)
    assert values.flags.c_contiguous and min(values.strides) < 0
    dense, rows = pn.array(values, copy=False), shape[0]
    offsets, ones = [0, rows, rows], [1] * rows
    for view, expected in (
        (pn.nested_array_from_jagged(values, [0, 0, shape[1]], [0, shape[1]], jagged_dim=2), [values[:, :0], values]),
        (pn.nested_array_from_jagged(values, offsets), [values, values[:0]]),
        (pn.narrow(dense, 1, [0] * rows, ones, layout=pn.strided), list(values[:, :1])),
        (pn.narrow(dense, 2, [0] * rows, ones, layout=pn.strided), list(values[:, :, :1])),
    ):
        view = view.to(layout=pn.strided)
        assert view.structure.strides.min() >= 0
        assert_same(pickle.loads(pickle.dumps(view)), expected)


# ---- parts -----------------------------------------------------------------------------------------------------------


def test_neighbours_without_gaps_leave_the_rows_of_others_behind() -> None:
    part = Jagged([0, 2, 5, 6]).select_components(slice(1, 3))
    assert (part.axis, part.entries, part.structure.offsets.tolist()) == (0, slice(2, 6), [0, 3, 4])
    assert (
        part.structure.is_packed
        and not Jagged([0, 2, 5, 6]).select_components(slice(None, None, 2)).structure.is_packed
    )


def test_a_slice_that_ends_before_it_begins_has_no_components() -> None:
    for structure in (Jagged([0, 2, 5, 6]), Jagged([0, 2, 5, 6], [1, 1, 1]), Strided([[2], [3]], None, None, 5)):
        assert structure.select_components(slice(2, 1)).structure.count == 0


def test_a_component_that_is_left_empty_lies_within_the_buffer() -> None:
    structure = Strided([[3, 0], [1, 4]], [[4, 1], [4, 1]], [4, 0], 4)
    assert structure.slice_axis(0, slice(2, None)).structure.offsets.tolist() == [0, 0]
    assert structure.select_components(slice(0, 1)).structure.select_index(0, 2).structure.offsets.tolist() == [0]


def test_steps_beyond_every_component_stay_small() -> None:
    assert Jagged([0, 1, 2]).slice_axis(0, slice(None, None, 2**62)).entries == slice(None)
    assert Strided([[3]], [[2]], [1], 9).slice_axis(0, slice(None, None, 2**62)).structure.strides.tolist() == [[6]]
