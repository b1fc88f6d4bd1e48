"""Components anywhere in a buffer: gathered and scattered against loops over their elements."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pynested.backends import numpy as cpu
from pynested.backends import strided_index

pytestmark = pytest.mark.usefixtures("path")

Layout = tuple[list[list[int]], list[list[int]], list[int]]

LAYOUTS: dict[str, Layout] = {
    "nothing": ([], [], []),
    "packed rows": ([[2, 3], [1, 3], [0, 3]], [[3, 1]] * 3, [0, 6, 9]),
    "rows with holes, out of order": ([[1, 3], [2, 3]], [[3, 1]] * 2, [9, 0]),
    "rows that start anywhere": ([[2, 3], [1, 3]], [[3, 1]] * 2, [1, 8]),
    "transposed": ([[3, 2], [3, 1]], [[1, 3], [1, 1]], [0, 7]),
    "repeated by stride 0": ([[3, 2], [2, 2]], [[0, 1], [2, 0]], [4, 0]),
    "sliding windows": ([[3, 2]], [[1, 1]], [5]),
    "components on top of each other": ([[4], [4], [2]], [[1], [1], [2]], [0, 1, 0]),
    "different regular sizes": ([[2, 2], [1, 3]], [[2, 1], [3, 1]], [0, 5]),
    "empty in the middle": ([[2, 0, 2], [2, 1, 2]], [[2, 2, 1]] * 2, [3, 0]),
    "scalars": ([[], [], []], [[], [], []], [3, 0, 3]),
    "steps": ([[2], [3]], [[5], [2]], [1, 3]),
    "size 1 with any stride": ([[1, 2], [2, 1]], [[99, 1], [1, 99]], [0, 4]),
    "many without a last size": ([[4, 0]] * 9, [[9, 1]] * 9, [0] * 9),
    "many without an inner size": ([[3, 0, 2]] * 9 + [[2, 0, 2]], [[9, 2, 1]] * 10, [0] * 10),
}


def arrays(layout: Layout) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    sizes, strides, offsets = layout
    dims = len(sizes[0]) if sizes else 2
    shape = (len(offsets), dims)
    return (
        np.array(sizes, np.int64).reshape(shape),
        np.array(strides, np.int64).reshape(shape),
        np.array(offsets, np.int64),
    )


def places(layout: Layout) -> list[int]:
    return [
        offset + sum(step * at for step, at in zip(stride, index, strict=True))
        for size, stride, offset in zip(*layout, strict=True)
        for index in product(*map(range, size))
    ]


def check(layout: Layout, dtype: str, buffer_size: int) -> None:
    where = places(layout)
    rng = np.random.default_rng(4)
    buffer = rng.integers(-9, 9, buffer_size).astype(dtype)
    gathered = cpu.gather_components(buffer, *arrays(layout))
    assert gathered.dtype == buffer.dtype and gathered.shape == (len(where),)
    assert gathered.tolist() == [buffer[place] for place in where]
    assert strided_index(*arrays(layout)).tolist() == where

    terms = rng.integers(-9, 9, len(where)).astype(dtype)
    expected = [0] * buffer_size
    for place, term in zip(where, terms.tolist(), strict=True):
        expected[place] += term
    scattered = cpu.scatter_components(terms, *arrays(layout), buffer_size)
    assert scattered.dtype == terms.dtype and scattered.tolist() == expected


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("dtype", ["int32", "float16", "float32", "float64"])
def test_gather_and_scatter(name: str, dtype: str) -> None:
    least = max(places(LAYOUTS[name]), default=-1) + 1
    for buffer_size in (least, 12, 15, 16):
        check(LAYOUTS[name], dtype, buffer_size)


@st.composite
def layouts(draw: st.DrawFn) -> Any:
    dims = draw(st.integers(0, 3))
    count = draw(st.integers(0, 12))
    numbers = st.lists(st.integers(0, 3), min_size=dims, max_size=dims)
    sizes = draw(st.lists(numbers, min_size=count, max_size=count))
    strides = draw(st.lists(numbers, min_size=count, max_size=count))
    return sizes, strides, draw(st.lists(st.integers(0, 5), min_size=count, max_size=count))


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(layouts())
def test_any_layout(layout: Layout) -> None:
    check(layout, "float32", max(places(layout), default=-1) + 1)


def test_what_is_empty_is_not_counted() -> None:
    """However many elements it would have: no memory holds an index of them."""
    layout = (np.array([[2**40, 0], [0, 2**40], [1, 1]]), np.ones((3, 2), np.int64), np.array([0, 0, 1]))
    assert strided_index(*layout).tolist() == [1]
    nine = tuple(np.repeat(one, 5, axis=0) for one in layout)
    assert cpu.gather_components(np.arange(2.0), *nine).tolist() == [1] * 5
    assert cpu.scatter_components(np.ones(5), *nine, 2).tolist() == [0, 5]


def test_no_neighbour_is_read_or_written() -> None:
    layout = ([[2, 2], [1, 2]], [[2, 1], [2, 1]], [2, 8])
    buffer = np.full(12, np.nan)
    buffer[places(layout)] = 1
    assert np.isfinite(cpu.gather_components(buffer, *arrays(layout))).all()
    scattered = cpu.scatter_components(np.full(6, np.nan), *arrays(layout), 12)
    assert np.flatnonzero(np.isnan(scattered)).tolist() == places(layout)
    assert not scattered[[0, 1, 6, 7, 10, 11]].any()


def test_many_overlaps_accumulate_wide() -> None:
    count = 4096
    layout = (np.ones((count, 1), np.int64), np.ones((count, 1), np.int64), np.zeros(count, np.int64))
    assert cpu.scatter_components(np.ones(count, np.float16), *layout, 2).tolist() == [count, 0]
    repeated = (np.array([[count]]), np.array([[0]]), np.array([1]))
    assert cpu.scatter_components(np.ones(count, np.float16), *repeated, 2).tolist() == [0, count]


def test_large_components() -> None:
    size, stride = [[40, 50], [60, 30]], [[1, 40], [30, 1]]
    check((size, stride, [5, 2005]), "float64", 4000)
