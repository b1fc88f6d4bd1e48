"""Every placement holds the same components, and the gaps hold what would be noticed."""

from __future__ import annotations

import numpy as np
import pytest

from pynested.conformance.contradictions import Contradiction
from pynested.conformance.placements import (
    HOLES_MAX,
    HOLES_NAN,
    OVERLAPPING,
    PACKED,
    PLACEMENTS,
    REVERSED,
    TRANSPOSED,
    VIEW,
    in_turn,
    is_one_description,
    joined,
    only_components,
    place_jagged,
    place_strided,
    poison,
    ragged_dim,
    words,
)
from pynested.spec.encoding import Components

FLOATS = Components([np.arange(6, dtype=np.float32).reshape(shape) for shape in ((2, 3), (0, 3), (2, 3)) if shape[0]])
SAMPLES = {
    "ragged first": Components([np.ones((2, 3)), np.zeros((0, 3)), np.full((1, 3), 7.0)]),
    "ragged last": Components([np.ones((3, 2), np.int16), np.full((3, 1), -4, np.int16)]),
    "vectors": Components([np.array([True, False]), np.array([True])]),
    "all empty": Components([np.zeros((0, 2), np.float16), np.zeros((0, 2), np.float16)]),
    "no components": Components([], (0, None, 4), np.uint8),
    "equal": FLOATS,
}


def jagged_components(components: Components, placement: str) -> list[np.ndarray]:
    placed = place_jagged(components, placement)
    axis, pairs = placed.ragged_dim - 1, zip(placed.offsets, placed.counts(), strict=False)
    return [np.take(placed.values, range(start, start + length), axis) for start, length in pairs]


def strided_components(components: Components, placement: str) -> list[np.ndarray]:
    placed = place_strided(components, placement)
    step = placed.buffer.itemsize
    found = []
    for size, stride, offset in zip(placed.sizes, placed.strides, placed.offsets, strict=True):
        last = offset + sum((one - 1) * by for one, by in zip(size, stride, strict=True))
        assert 0 in size or last < len(placed.buffer)
        found.append(np.lib.stride_tricks.as_strided(placed.buffer[offset:], size, stride * step))
    return found


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("name", SAMPLES)
def test_the_components_are_where_the_structure_says(name: str, placement: str) -> None:
    components = SAMPLES[name]
    for found in (jagged_components(components, placement), strided_components(components, placement)):
        assert len(found) == len(components)
        for mine, theirs in zip(found, components, strict=True):
            assert mine.dtype == theirs.dtype
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_view_is_surrounded_by_poison(name: str) -> None:
    components = SAMPLES[name]
    for placed in (place_jagged(components, VIEW), place_strided(components, VIEW)):
        around = placed.whole.copy()
        for part in placed.parts(around):
            part[...] = 0
        assert np.count_nonzero(around == 0) == sum(one.size for one in components)


def test_reversed_components_keep_their_numbers() -> None:
    components = SAMPLES["ragged first"]
    assert place_jagged(components, REVERSED).offsets.tolist() == [1, 1, 0, 1]
    assert place_strided(components, REVERSED).offsets.tolist() == [3, 3, 0]


def test_what_overlaps_takes_less_room() -> None:
    components = Components([np.float32([[1, 2], [3, 4]]), np.float32([[3, 4]]), np.float32([[7, 7], [7, 7]])])
    jagged, strided = place_jagged(components, OVERLAPPING), place_strided(components, OVERLAPPING)
    assert jagged.values.tolist() == [[1, 2], [3, 4], [7, 7], [7, 7]] and jagged.offsets.tolist()[:3] == [0, 1, 2]
    assert strided.buffer.tolist() == [1, 2, 3, 4, 7] and strided.strides.tolist() == [[2, 1], [2, 1], [0, 0]]


def test_a_gradient_outside_of_all_components_is_refused() -> None:
    placed = place_jagged(SAMPLES["ragged first"], HOLES_NAN)
    gradient = np.zeros_like(placed.values)
    gradient[[2, 3, 6]] = 5
    assert [one.sum() for one in only_components(placed, gradient)] == [30, 0, 15]
    for wrong in (np.nan, 1e-30):
        gradient[0, 0] = wrong
        with pytest.raises(Contradiction, match=f"the gradient is {wrong} in memory that belongs to no component"):
            only_components(placed, gradient)


def test_a_placement_has_a_word_for_all_operands_or_for_each() -> None:
    assert (joined([PACKED, PACKED]), joined([PACKED, VIEW])) == (PACKED, "packed+view")
    assert words("packed+view") == [PACKED, VIEW] and words(PACKED) == [PACKED]
    turns = in_turn("packed+view+bare")
    assert [next(turns) for _ in range(3)] == ["packed", "view", "bare"]


def test_offsets_say_nothing_of_strides_and_what_overlaps_shares_nothing() -> None:
    both = {"packed", "packed+bare", "view", "transposed", "reversed", "holes-nan+holes-max"}
    only_jagged = {"packed+view", "bare+transposed", "view+transposed"}
    apart = {"apart", "overlapping", "packed+holes-nan", "reversed+view", "transposed+reversed"}
    for layout, together in (("jagged", both | only_jagged), ("strided", both)):
        found = {one for one in both | only_jagged | apart if is_one_description(one, layout, 2)}
        assert found == together, layout
    assert is_one_description("overlapping", "strided", 1)  # with nothing else


@pytest.mark.parametrize("placement", [HOLES_NAN, HOLES_MAX])
def test_gaps_lie_before_between_and_after_and_are_poisoned(placement: str) -> None:
    components = SAMPLES["ragged first"]
    jagged, strided = place_jagged(components, placement), place_strided(components, placement)
    assert jagged.lengths is not None and jagged.offsets.tolist() == [2, 5, 6, 7]
    assert jagged.values.shape == (10, 3) and strided.buffer.shape == (9 + 2 + 2 + 3,)
    bad = np.isnan if placement == HOLES_NAN else lambda array: array == np.finfo(np.float64).max
    assert np.count_nonzero(bad(jagged.values)) == 21 and np.count_nonzero(bad(strided.buffer)) == 7


def test_transposed_reverses_the_strides() -> None:
    components = SAMPLES["ragged first"]
    assert place_jagged(components, TRANSPOSED).values.flags.f_contiguous
    assert place_strided(components, TRANSPOSED).strides.tolist() == [[1, 2], [1, 1], [1, 1]]
    assert place_strided(components, PACKED).strides.tolist() == [[3, 1], [3, 1], [3, 1]]


@pytest.mark.parametrize(
    ("dtype", "first", "second"),
    [("int8", -128, 127), ("uint8", 255, 254), ("bool", True, False), ("float16", np.nan, 65504.0)],
)
def test_the_poison_of_a_dtype(dtype: str, first: object, second: object) -> None:
    found = [poison(np.dtype(dtype), placement) for placement in (HOLES_NAN, HOLES_MAX)]
    np.testing.assert_equal(found, [first, second])


def test_the_ragged_dimension() -> None:
    assert [ragged_dim(SAMPLES[name]) for name in ("ragged first", "ragged last", "equal")] == [1, 2, 1]
    with pytest.raises(ValueError, match="has 2"):
        ragged_dim(Components([np.ones((1, 2)), np.ones((2, 1))]))
