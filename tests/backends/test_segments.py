"""Segments: attributes that follow from the lengths, and spans of whole segments."""

from __future__ import annotations

from itertools import chain, pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pynested.backends import Segments


def test_all_attributes_follow_from_the_lengths() -> None:
    for lengths in chain.from_iterable(product(range(4), repeat=count) for count in range(4)):
        segments = Segments.from_lengths(np.array(lengths, np.int64))
        ends = [sum(lengths[:i]) for i in range(len(lengths) + 1)]
        assert segments.offsets.tolist() == ends and segments.offsets.dtype == np.int64
        assert segments.lengths.tolist() == list(lengths) and segments.lengths.dtype == np.int64
        assert (segments.count, segments.rows) == (len(lengths), sum(lengths))
        assert segments.longest == max(lengths, default=0)
        assert segments.any_empty == (0 in lengths)
        assert segments.pairs == [(ends[i], ends[i + 1]) for i in range(len(lengths))]
        assert segments.segment_of_row.tolist() == [i for i, length in enumerate(lengths) for _ in range(length)]


@given(st.lists(st.integers(0, 9), max_size=12), st.integers(1, 12))
def test_spans_are_whole_segments_in_order_and_within_the_limit(lengths: list[int], rows: int) -> None:
    segments = Segments.from_lengths(np.array(lengths, np.int64))
    spans = segments.spans(rows)
    assert [segment for _, _, first, last in spans for segment in range(first, last)] == list(range(len(lengths)))
    for start, stop, first, last in spans:
        assert (start, stop) == (segments.offsets[first], segments.offsets[last])
        assert stop - start <= rows or last == first + 1
    for (start, *_), (_, stop, *_) in pairwise(spans):
        assert stop - start > rows, "two spans that would fit into one"


def test_offsets_are_kept_and_nothing_can_be_written() -> None:
    offsets = np.array([0, 2, 2, 5])
    segments = Segments(offsets)
    assert segments.offsets is offsets
    assert repr(segments) == "Segments(count=3, rows=5)"
    for array in (segments.offsets, segments.lengths, segments.segment_of_row):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
