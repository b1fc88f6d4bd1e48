"""The placement of a program's array, as the array reports it: values, offsets, sizes, strides.

An array of a program is a tree of numbered cells. Of components that follow one another without gaps the numbers of the
cells say all of this, up to the strides along dimensions of size 0 or 1, which are those of C order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .components import Components
from .numerics import NDArray

__all__ = ["is_contiguous", "leaves", "part"]


def is_contiguous(places: Any) -> bool:
    """Return whether the cells of an array follow one another, component by component, each in C order."""
    cells = np.concatenate([np.zeros(0, np.int64), *(one.ravel() for one in leaves(places))])
    return bool((np.diff(cells) == 1).all())


def leaves(tree: Any) -> list[NDArray]:
    """Return the parts of a nested array, or the dense array itself."""
    return list(tree) if isinstance(tree, Components) else [tree]


def part(op: str, places: Components, values: Components, layout: str) -> NDArray:
    """Return what an array of ``layout`` answers to the question ``op``, given its cells and what lies in them."""
    shapes = np.array([one.shape for one in places], np.int64).reshape(len(places), len(places.shape) - 1)
    ragged = places.shape.index(None, 1) - 1 if layout == "jagged" and op != "component_sizes" else 0
    of: Mapping[str, Callable[[], NDArray]] = {
        "component_sizes": lambda: shapes,
        "component_strides": lambda: np.array([_strides(one) for one in places], np.int64).reshape(shapes.shape),
        "lengths": lambda: shapes[:, ragged],
        "offsets": lambda: np.append(0, np.cumsum(shapes[:, ragged])) if layout == "jagged" else _starts(places),
        "values": lambda: _along(values, ragged) if layout == "jagged" else _flat(values),
    }
    return of[op]()


def _along(values: Components, axis: int) -> NDArray:
    nothing = np.zeros([size or 0 for size in values.shape[1:]], values.dtype)
    return np.concatenate([nothing, *values], axis=axis)


def _flat(values: Components) -> NDArray:
    return np.concatenate([np.zeros(0, values.dtype), *(one.ravel() for one in values)])


def _strides(cells: NDArray) -> list[int]:
    """Return the strides of the cells; along a dimension of size 0 or 1 the stride of C order."""
    steps = [int(np.prod(cells.shape[dim + 1 :])) for dim in range(cells.ndim)]
    first = cells[(slice(0, 1),) * cells.ndim]
    for dim, size in enumerate(cells.shape):
        if size > 1 and cells.size:
            neighbour = cells[tuple(slice(1, 2) if one == dim else slice(0, 1) for one in range(cells.ndim))]
            steps[dim] = int(neighbour.item() - first.item())
    return steps


def _starts(places: Components) -> NDArray:
    """Return how far behind the first cell of all each component begins; an empty one where that before it ends."""
    least = min((int(one.min()) for one in places if one.size), default=0)
    starts, end = [], 0
    for one in places:
        starts.append(int(one.ravel()[0]) - least if one.size else end)
        end = starts[-1] + one.size
    return np.array(starts, np.int64)
