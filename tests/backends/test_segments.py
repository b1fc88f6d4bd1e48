"""Segments: spans of whole segments, and memory that nobody can write."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pynested.backends import Segments


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
    assert (segments.longest, Segments(offsets[:1]).longest) == (3, 0)
    for array in (segments.offsets, segments.lengths, segments.segment_of_row):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
