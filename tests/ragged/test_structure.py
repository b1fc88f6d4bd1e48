"""Where components lie: what is known of a structure is what loops over its elements say."""

from __future__ import annotations

import copy
import gc
import itertools
import pickle
import weakref
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pynested as pn
from pynested.backends import packed_strides
from pynested.backends.errors import ArgumentError, DimensionError, DTypeError, ReadOnlyError, StructureError
from pynested.spec.components import layouts
from pynested.structure import Jagged, Strided, frozen
from pynested.structure.sizes import RaggedSize

from ..nests import JAGGED, JAGGED_2, LAYOUTS, PLACEMENTS, assert_same, batch, nest, plain


def strided(sizes: Any, strides: Any, offsets: Any, size: int, dims: int = 2) -> Strided:
    shape = (len(offsets), dims)
    arrays = [np.array(one, np.int64).reshape(shape) for one in (sizes, strides)]
    return Strided(*arrays, np.array(offsets, np.int64), size)


def places(sizes: Any, strides: Any, offsets: Any) -> list[int]:
    """The elements of each component in the buffer, row-major, one component after another; counted with loops."""
    return [
        int(offset) + sum(int(k) * int(s) for k, s in zip(index, stride, strict=True))
        for size, stride, offset in zip(sizes, strides, offsets, strict=True)
        for index in itertools.product(*map(range, size))
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
        structure = Jagged([0, *np.cumsum(lengths).tolist()] if lengths else [0])
        assert (structure.count, structure.tiles, structure.overlapping) == (len(lengths), True, False)
        assert structure.component_lengths.tolist() == list(lengths)
        assert structure.packed is structure
        assert structure.row_index.tolist() == list(range(sum(lengths)))


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=5))
def test_jagged_with_lengths(pairs: list[tuple[int, int]]) -> None:
    structure = Jagged([*[start for start, _ in pairs], 8], [n for _, n in pairs])
    assert structure.row_index.tolist() == rows(structure)
    assert structure.overlapping is (len(set(rows(structure))) < len(rows(structure)))
    tight = structure.packed
    assert tight.lengths is None and tight.component_lengths.tolist() == [n for _, n in pairs]
    moved = structure.with_ragged_dim(2)
    assert (moved.ragged_dim, moved.offsets is structure.offsets) == (2, True)
    assert structure.with_ragged_dim(1) is structure


def test_jagged_structures_are_compared_by_value() -> None:
    a, b = Jagged([0, 2, 5]), Jagged([0, 2, 5])
    holes = Jagged([3, 0, 6], [2, 3])
    assert a.same_lengths(b) and a.same_lengths(holes) and holes.same_lengths(a)
    assert a.same_placement(b) and not a.same_placement(holes) and not holes.same_placement(a)
    assert not a.same_placement(Jagged([0, 2, 5], None, 2)) and not a.same_lengths(Jagged([0, 3, 5]))
    assert not a.same_placement(strided([[2, 1]], [[1, 1]], [0], 2))


def test_outline_and_matrices_are_worked_out_once_for_each_width() -> None:
    structure = Jagged([0, 2, 2, 5])
    narrow, wide = (pn.NestedArray(pn.zeros(5, width), structure) for width in (2, 3))
    assert (narrow.outline.tolist(), wide.outline.tolist()) == ([[2, 2], [0, 2], [3, 2]], [[2, 3], [0, 3], [3, 3]])
    assert narrow.outline is narrow.outline and not narrow.outline.flags.writeable
    turned = narrow.transpose(1, 2)
    assert turned.outline.tolist() == [[2, 2], [2, 0], [2, 3]]
    found = turned.structure.matrices((2, 5))
    assert (found.rows.tolist(), found.cols.tolist(), found.offsets.tolist()) == ([2, 2, 2], [2, 0, 3], [0, 4, 4])
    assert found.transposed and found is turned.structure.matrices((2, 5))


sizes_1 = st.tuples(st.integers(0, 3), st.integers(0, 3))
steps_1 = st.tuples(st.integers(0, 4), st.integers(0, 4))


@given(st.lists(st.tuples(sizes_1, steps_1, st.integers(0, 6)), max_size=4), st.integers(0, 3))
def test_strided(parts: Any, more: int) -> None:
    columns = [[part[k] for part in parts] for k in range(3)]
    elements = places(*columns)
    size = max(elements, default=-1) + 1 + more
    structure = strided(*columns, size)
    assert structure.contiguous is (elements == list(range(size)))
    assert structure.overlapping is (len(set(elements)) < len(elements))
    assert structure.tiles is (sorted(elements) == list(range(size)))
    packed = structure.packed
    assert places(packed.sizes, packed.strides, packed.offsets) == list(range(len(elements)))
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
    "structure", [Jagged([3, 0, 6], [2, 3]), strided([[2, 1]], [[1, 1]], [0], 2)], ids=["jagged", "strided"]
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


TAMPERED: list[tuple[Any, tuple[Any, ...], type[Exception]]] = [
    (Jagged, ([], None, 1), StructureError),
    (Jagged, ([1, 3], None, 1), StructureError),
    (Jagged, ([0, 3, 2], None, 1), StructureError),
    (Jagged, ([0, 3], [1, 2], 1), StructureError),
    (Jagged, ([0, 3], [-1], 1), StructureError),
    (Jagged, ([-1, 3], [1], 1), StructureError),
    (Jagged, ([2**62, 0], [2**62], 1), StructureError),
    (Jagged, ([0, 3], None, 0), DimensionError),
    (Jagged, ([0, 3], None, 1.0), ArgumentError),
    (Jagged, ([0.0, 3.0], None, 1), DTypeError),
    (Strided, ([[2]], [[1]], [0], 1), StructureError),
    (Strided, ([[2]], [[1]], [-1], 3), StructureError),
    (Strided, ([[2]], [[-1]], [2], 3), StructureError),
    (Strided, ([[-2]], [[1]], [0], 3), StructureError),
    (Strided, ([[2]], [[1, 1]], [0], 3), StructureError),
    (Strided, ([[2]], [[1]], [0, 1], 3), StructureError),
    (Strided, ([[2**62, 4]], [[0, 0]], [0], 3), StructureError),
    (Strided, ([[1] * 64], None, None, 3), StructureError),
    (Strided, ([[2]], [[1]], [0], "3"), ArgumentError),
    (Strided, (np.zeros((0, 2), int), None, None, 0, (1, 2, 3)), StructureError),
    (Strided, (np.zeros((0, 2), int), None, None, 0, (1, -2)), StructureError),
    (Strided, (np.zeros((0, 2), int), None, None, 0, (2**40, 2**40)), StructureError),
]


@pytest.mark.parametrize("number", range(len(TAMPERED)))
def test_what_is_made_or_unpickled_is_checked(number: int) -> None:
    kind, fields, error = TAMPERED[number]
    with pytest.raises(error, match=kind.__name__):
        kind(*fields)
    with pytest.raises(error, match=kind.__name__):
        pickle.loads(pickle.dumps(Unpickled(kind, fields)))


class Unpickled:
    """Pickles as somebody else's bytes would."""

    def __init__(self, kind: Any, fields: tuple[Any, ...]) -> None:
        self.parts = kind, fields

    def __reduce__(self) -> Any:
        return self.parts


VALUES = pn.array(np.arange(6.0).reshape(3, 2))


@pytest.mark.parametrize(
    ("data", "structure"),
    [
        (VALUES, Jagged([0, 2])),
        (VALUES, Jagged([0, 4])),
        (VALUES, Jagged([0, 3], None, 2)),
        (VALUES, Jagged([0, 3], None, 3)),
        (VALUES, Jagged([1, 0], [3])),
        (VALUES, strided([[3, 2]], [[2, 1]], [0], 6)),
        (VALUES[0], strided([[1, 2]], [[2, 1]], [0], 3)),
        (VALUES[:, 0], strided([[1, 3]], [[3, 1]], [0], 3)),
        (pn.zeros((1,) * 64), Jagged([0, 1])),
        (np.zeros(3), Jagged([0, 3])),
        (VALUES, None),
        (VALUES, "jagged"),
        (VALUES, Jagged),
    ],
    ids=itertools.count(),
)
def test_a_nested_array_that_exists_fits_its_values(data: Any, structure: Any) -> None:
    with pytest.raises((StructureError, ArgumentError), match="NestedArray: "):
        pn.NestedArray(data, structure)


def test_nothing_of_it_can_be_set() -> None:
    for x in (nest([VALUES.numpy()]), nest([VALUES.numpy()], pn.strided), nest([VALUES.numpy()], pn.jagged, "holes")):
        for owner, names in ((x, ("data", "structure")), (x.structure, ("offsets", "count", "tiles", "new"))):
            for name in names:
                with pytest.raises(ReadOnlyError, match=f"{type(owner).__name__}.{name}"):
                    setattr(owner, name, None)
                with pytest.raises(AttributeError):
                    delattr(owner, name)
        assert copy.copy(x.structure) is x.structure
        assert_same(copy.copy(x), [VALUES.numpy()])
        assert_same(copy.deepcopy(x), [VALUES.numpy()])
        assert_same(pickle.loads(pickle.dumps(x)), [VALUES.numpy()])


def test_numbers_that_say_nothing_cannot_overflow() -> None:
    """A stride with no second element, and the offset of an empty component, lead nowhere."""
    far = 2**62
    strides = [[far, 1], [far, -far], [far, far]]
    x = pn.nested_array_from_strided(VALUES[0], [[1, 2], [0, 5], [1, 1]], strides, [0, far, 1])
    assert_same(x, [VALUES.numpy()[:1], np.zeros((0, 5)), VALUES.numpy()[:1, 1:]])
    assert_same(x.transpose(1, 2)[:, :, None], [one.T[:, None] for one in plain(x)])
    assert_same(x * 2.0, [2 * one for one in plain(x)])
    assert pn.arange(3).as_strided((1, 2), (far, 1)).tolist() == [[0, 1]]


def test_facts_hold_no_reference_to_their_structure() -> None:
    gc.collect()
    gc.disable()
    try:
        for make in (
            lambda: Jagged([0, 2]),
            lambda: Jagged([0, 2], [1]),
            lambda: strided([[2, 2]], [[2, 1]], [0], 4),
            lambda: strided([[2, 2]], [[1, 2]], [0], 4),
        ):
            made = make()
            gone = weakref.ref(made)
            assert made.packed.packed is made.packed
            del made
            assert gone() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_views_of_reversed_memory_are_valid_arrays(axis: int) -> None:
    shape = [2, 3, 2]
    shape[axis] = 1  # so that the memory counts as contiguous, although one stride is negative
    values = np.flip(np.arange(float(np.prod(shape))).reshape(shape), axis)
    assert values.flags.c_contiguous and min(values.strides) < 0
    views = [
        pn.nested_array_from_jagged(values, [0, 0, shape[1]], [0, shape[1]], jagged_dim=2).to(layout=pn.strided),
        pn.nested_array_from_jagged(values, [0, shape[0], shape[0]]).to(layout=pn.strided),
        pn.narrow(pn.array(values, copy=False), 1, [0] * shape[0], [1] * shape[0], layout=pn.strided),
        pn.narrow(pn.array(values, copy=False), 2, [0] * shape[0], [1] * shape[0], layout=pn.strided),
    ]
    parts = [[values[:, :0], values], [values, values[:0]], list(values[:, :1]), list(values[:, :, :1])]
    for view, due in zip(views, parts, strict=True):
        assert view.structure.strides.min() >= 0
        assert_same(pickle.loads(pickle.dumps(view)), due)
