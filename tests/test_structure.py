"""Where components lie: what is known of a structure is what loops over its elements say."""

from __future__ import annotations

import copy
import itertools
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pynested as pn
from pynested.sizes import RaggedSize
from pynested.spec.components import layouts
from pynested.structure import Jagged, Strided, frozen, packed_strides

from .nests import JAGGED, JAGGED_2, LAYOUTS, PLACEMENTS, batch, nest


def jagged(offsets: list[int], lengths: list[int] | None = None, ragged_dim: int = 1) -> Jagged:
    return Jagged(frozen(offsets), None if lengths is None else frozen(lengths), ragged_dim)


def strided(sizes: Any, strides: Any, offsets: Any, size: int, dims: int = 2) -> Strided:
    shape = (len(offsets), dims)
    arrays = [np.array(one, np.int64).reshape(shape) for one in (sizes, strides)]
    return Strided(frozen(arrays[0]), frozen(arrays[1]), frozen(offsets), size)


def places(structure: Strided) -> list[list[int]]:
    """The elements of each component in the buffer, row-major; counted with loops."""
    return [
        [
            int(offset) + sum(int(k) * int(s) for k, s in zip(index, stride, strict=True))
            for index in itertools.product(*map(range, size))
        ]
        for size, stride, offset in zip(structure.sizes, structure.strides, structure.offsets, strict=True)
    ]


def rows(structure: Jagged) -> list[int]:
    starts = structure.offsets[:-1].tolist()
    return [
        row
        for start, n in zip(starts, structure.component_lengths.tolist(), strict=True)
        for row in range(start, start + n)
    ]


def test_jagged_without_holes() -> None:
    for lengths in layouts():
        structure = jagged([0, *np.cumsum(lengths).tolist()] if lengths else [0])
        assert (structure.count, structure.tiles, structure.overlapping) == (len(lengths), True, False)
        assert structure.component_lengths.tolist() == list(lengths)
        assert structure.packed is structure
        assert structure.row_index.tolist() == list(range(sum(lengths)))


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=5))
def test_jagged_with_lengths(pairs: list[tuple[int, int]]) -> None:
    structure = jagged([*[start for start, _ in pairs], 8], [n for _, n in pairs])
    assert structure.row_index.tolist() == rows(structure)
    assert structure.overlapping is (len(set(rows(structure))) < len(rows(structure)))
    tight = structure.packed
    assert tight.lengths is None and tight.component_lengths.tolist() == [n for _, n in pairs]
    moved = structure.with_ragged_dim(2)
    assert (moved.ragged_dim, moved.offsets is structure.offsets) == (2, True)
    assert structure.with_ragged_dim(1) is structure


def test_jagged_structures_are_compared_by_value() -> None:
    a, b = jagged([0, 2, 5]), jagged([0, 2, 5])
    holes = jagged([3, 0, 6], [2, 3])
    assert a.same_lengths(b) and a.same_lengths(holes) and holes.same_lengths(a)
    assert a.same_placement(b) and not a.same_placement(holes) and not holes.same_placement(a)
    assert not a.same_placement(jagged([0, 2, 5], None, 2)) and not a.same_lengths(jagged([0, 3, 5]))
    assert not a.same_placement(strided([[2, 1]], [[1, 1]], [0], 2))


sizes_1 = st.tuples(st.integers(0, 3), st.integers(0, 3))
steps_1 = st.tuples(st.integers(0, 4), st.integers(0, 4))


@given(st.lists(st.tuples(sizes_1, steps_1, st.integers(0, 6)), max_size=4), st.integers(0, 3))
def test_strided(parts: Any, more: int) -> None:
    structure = strided([p[0] for p in parts], [p[1] for p in parts], [p[2] for p in parts], 0)
    elements = [element for one in places(structure) for element in one]
    structure.buffer_size = size = max(elements, default=-1) + 1 + more
    assert structure.contiguous is (elements == list(range(size)))
    assert structure.overlapping is (len(set(elements)) < len(elements))
    assert structure.tiles is (sorted(elements) == list(range(size)))
    packed = structure.packed
    assert [one for row in places(packed) for one in row] == list(range(len(elements)))
    assert packed.contiguous and packed.tiles and packed.packed is packed


def test_packed_strides() -> None:
    sizes = np.array([[2, 3, 4], [0, 3, 1], [1, 0, 5]])
    assert packed_strides(sizes).tolist() == [[12, 4, 1], [3, 1, 1], [5, 5, 1]]
    assert packed_strides(np.zeros((2, 0), np.int64)).shape == (2, 0)


def test_frozen() -> None:
    given_ = np.array([1, 2])
    kept = frozen(given_)
    given_[0] = 9
    assert kept.tolist() == [1, 2] and frozen(kept) is kept
    with pytest.raises(ValueError, match="read-only"):
        kept[0] = 1
    view = given_[:]
    view.setflags(write=False)
    assert frozen(view) is not view


@pytest.mark.parametrize(
    "structure", [jagged([3, 0, 6], [2, 3]), strided([[2, 1]], [[1, 1]], [0], 2)], ids=["jagged", "strided"]
)
def test_copies_cannot_be_changed_either(structure: Any) -> None:
    assert copy.deepcopy(structure) is structure
    again = pickle.loads(pickle.dumps(structure))
    assert again.same_placement(structure)
    with pytest.raises(ValueError, match="read-only"):
        again.offsets[0] = 1


def test_ragged_sizes_are_equal_by_value() -> None:
    a, b, c = (RaggedSize(frozen(one)) for one in ([1, 2], [1, 2], [2, 1]))
    assert a == b and hash(a) == hash(b) and repr(a) == repr(b)
    assert a != c and repr(a) != repr(c) and a != 2
    x, y = nest(batch([(2, 2), (1, 2)])), nest(batch([(2, 3), (1, 3)]), pn.strided, "holes")
    assert x.shape[1] == y.shape[1] and x.shape[:1] + x.shape[2:] == (2, 2)
    assert repr(x.shape) == f"(2, {x.shape[1]}, 2)"


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda one: one.name)
def test_facts_of_small_batches(layout: Any) -> None:
    for lengths in layouts():
        if not lengths:
            continue
        for kind in (JAGGED, JAGGED_2):
            shapes = kind.shapes(lengths)
            for placement in PLACEMENTS:
                x = nest(batch(shapes), layout, placement, kind.ragged)
                assert x.component_sizes().tolist() == [list(shape) for shape in shapes]
                assert [x.component_shape(i) for i in range(len(x))] == shapes
                assert x.lengths_along(kind.ragged).tolist() == list(lengths)
                assert (len(x), x.ndim, x.dim(), x.numel()) == (len(lengths), 3, 3, 2 * sum(lengths))
                assert x.regular_size(3 - kind.ragged) == 2 and x.size(0) == len(lengths)
                irregular = layout is pn.jagged or len(set(lengths)) > 1
                assert x.regular_size(kind.ragged) == (None if irregular else lengths[0])
