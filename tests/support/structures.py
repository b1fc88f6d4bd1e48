"""Hypothesis strategies of structures with integers as values, and their components by the meaning of the fields."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from hypothesis import strategies as st

from pynested.structure import Jagged, Strided

Numbers = np.ndarray[Any, Any]
NDIM = 3  # of the components
SIZES = st.sampled_from((2, 3, 1, 4, 2, 3, 0))


def shown(structure: Jagged | Strided, values: Numbers) -> list[Numbers]:
    """Return the components that a structure shows of its values."""
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
def jagged(draw: st.DrawFn) -> tuple[Jagged, Numbers]:
    """Draw components with gaps, in any order and overlapping, or without; along any of three axes."""
    axis, lengths = draw(st.integers(0, NDIM - 1)), draw(st.lists(SIZES, max_size=4))
    if draw(st.booleans()):
        structure, rows = Jagged(np.cumsum([0, *lengths]), None, axis + 1), sum(lengths)
    else:
        structure, rows = Jagged([*[draw(st.integers(0, 4)) for _ in lengths], 8], lengths, axis + 1), 8
    shape = [draw(SIZES) for _ in range(NDIM)]
    shape[axis] = rows
    return structure, np.arange(np.prod(shape)).reshape(shape)


@st.composite
def strided(draw: st.DrawFn) -> tuple[Strided, Numbers]:
    """Draw components, now and then of one shape, that are packed, or anywhere in the buffer with any strides."""
    shapes = draw(st.lists(st.tuples(*[SIZES] * NDIM), max_size=4))
    sizes = np.array(shapes[:1] * len(shapes) if draw(st.booleans()) else shapes, np.int64).reshape(-1, NDIM)
    if draw(st.booleans()):
        total = int(sizes.prod(axis=1).sum())
        return Strided(sizes, None, None, total), np.arange(total)
    strides = np.array([draw(st.tuples(*[st.integers(0, 6)] * NDIM)) for _ in sizes], np.int64).reshape(-1, NDIM)
    offsets = np.array([draw(st.integers(0, 5)) for _ in sizes], np.int64)
    return Strided(sizes, strides, offsets, 60), np.arange(60)
