"""Components that lie anywhere in a flat buffer: gathered into packed order, and added back."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from ..memory import empty
from ..places import Integers, strided_index
from .movement import add_rows
from .running import widened

FEW_COMPONENTS = 8  # so few that a Python call for each costs less than an index of all elements
LONG_COMPONENT = 256  # rows (or elements, if not contiguous); so many on average are worth a Python call of their own


def gather_components(buffer: NDArray[Any], sizes: Integers, strides: Integers, offsets: Integers, /) -> NDArray[Any]:
    """Flat -> flat: the components one after the other, each in row-major order.

    Component ``i`` has the shape ``sizes[i]`` and lies at ``offsets[i]`` with ``strides[i]``, in elements, none
    negative. Components may overlap and strides be 0.
    """
    if len(sizes) <= FEW_COMPONENTS:
        return _gather_one_by_one(buffer, sizes, strides, offsets)
    width, outer_sizes, outer_strides = _common_rows(sizes, strides)
    if _are_long(outer_sizes):
        return _gather_one_by_one(buffer, sizes, strides, offsets)
    if not width:
        return np.zeros(0, buffer.dtype)
    index = strided_index(outer_sizes, outer_strides, offsets)
    taken: NDArray[Any] = buffer.take(index) if width == 1 else _windows(buffer, width)[index].reshape(-1)
    return taken


def scatter_components(
    flat: NDArray[Any], sizes: Integers, strides: Integers, offsets: Integers, buffer_size: int, /
) -> NDArray[Any]:
    """Flat -> (buffer_size,): zeros, and each element added where it came from: gather_components' adjoint."""
    if len(sizes) <= FEW_COMPONENTS:
        return _scatter_one_by_one(flat, sizes, strides, offsets, buffer_size)
    width, outer_sizes, outer_strides = _common_rows(sizes, strides)
    if _are_long(outer_sizes):
        return _scatter_one_by_one(flat, sizes, strides, offsets, buffer_size)
    index = strided_index(outer_sizes, outer_strides, offsets)
    if width > 1 and buffer_size % width == 0 and not (index % width).any():
        return add_rows(flat.reshape(-1, width), index // width, buffer_size // width).reshape(buffer_size)
    index = (index[:, None] + np.arange(width)).reshape(-1)
    return add_rows(flat, index, buffer_size)


def _are_long(outer_sizes: Integers) -> bool:
    """Whether components are so long that a Python call for each beats an index of all their rows."""
    return int(outer_sizes.prod(axis=1).sum()) >= LONG_COMPONENT * len(outer_sizes)


def _common_rows(sizes: Integers, strides: Integers) -> tuple[int, Integers, Integers]:
    """The trailing dims that are equal and contiguous in all components, as one width, and the dims before them."""
    width, dims = 1, sizes.shape[1]
    while dims and len(sizes) and not np.count_nonzero(sizes[:, dims - 1] != sizes[0, dims - 1]):
        if np.count_nonzero(strides[:, dims - 1] != width):
            break
        dims -= 1
        width *= int(sizes[0, dims])
    return width, sizes[:, :dims], strides[:, :dims]


def _windows(buffer: NDArray[Any], width: int) -> NDArray[Any]:
    """Row i is the ``width`` elements from i on: overlapping rows, of which no memory is needed."""
    rows = max(0, buffer.size - width + 1)
    step = buffer.strides[0]
    return as_strided(buffer, (rows, width), (step, step), writeable=False)


def _view(buffer: NDArray[Any], size: list[int], stride: list[int], offset: int) -> NDArray[Any]:
    bytes_apart = tuple(step * buffer.itemsize for step in stride)
    return np.ndarray(tuple(size), buffer.dtype, buffer, offset * buffer.itemsize, bytes_apart)


def _gather_one_by_one(buffer: NDArray[Any], sizes: Integers, strides: Integers, offsets: Integers) -> NDArray[Any]:
    buffer = np.ascontiguousarray(buffer)
    shapes: list[list[int]] = sizes.tolist()
    numels = list(map(prod, shapes))
    flat = empty((sum(numels),), buffer.dtype)
    start = 0
    for size, numel, stride, offset in zip(shapes, numels, strides.tolist(), offsets.tolist(), strict=True):
        if numel:
            flat[start : start + numel].reshape(size)[...] = _view(buffer, size, stride, offset)
            start += numel
    return flat


def _scatter_one_by_one(
    flat: NDArray[Any], sizes: Integers, strides: Integers, offsets: Integers, buffer_size: int
) -> NDArray[Any]:
    terms = widened(np.ascontiguousarray(flat))
    sums = np.zeros(buffer_size, terms.dtype)
    start = 0
    for size, stride, offset in zip(sizes.tolist(), strides.tolist(), offsets.tolist(), strict=True):
        stop = start + prod(size)
        if stop > start:
            _add_component(sums, terms[start:stop].reshape(size), stride, offset)
        start = stop
    return sums.astype(flat.dtype, copy=False)


def _add_component(sums: NDArray[Any], component: NDArray[Any], stride: list[int], offset: int) -> None:
    """Add one component to the places where it lies, some of which may be the same."""
    repeated = tuple(dim for dim, step in enumerate(stride) if step == 0)
    if repeated:
        component = np.add.reduce(component, axis=repeated)
        stride = [step for step in stride if step]
    if _overlaps(component.shape, stride):
        index = strided_index(np.array([component.shape]), np.array([stride]), np.array([offset]))
        np.add.at(sums, index, component.reshape(-1))
    else:
        target = _view(sums, list(component.shape), stride, offset)
        target += component


def _overlaps(size: tuple[int, ...], stride: list[int]) -> bool:
    """Whether some stride does not reach past what the smaller strides cover; then places may be the same."""
    reach = 0
    for step, length in sorted(zip(stride, size, strict=True)):
        if length > 1:
            if step <= reach:
                return True
            reach += step * (length - 1)
    return False
