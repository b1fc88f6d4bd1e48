"""Segments: what follows from their offsets, and memory that nobody can write."""

from __future__ import annotations

import numpy as np
import pytest

from pynested.backends import Segments


def test_offsets_are_kept_and_nothing_can_be_written() -> None:
    offsets = np.array([0, 2, 2, 5])
    segments = Segments(offsets)
    assert segments.offsets is offsets
    assert repr(segments) == "Segments(count=3, rows=5)"
    assert (segments.longest, Segments(offsets[:1]).longest) == (3, 0)
    for array in (segments.offsets, segments.lengths, segments.segment_of_row):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
