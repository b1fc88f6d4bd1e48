"""What attention computes in one go: some heads of one component as they lie, or copies of small alike components.

Of thousands of components with a few queries each, most of the time would be spent on going from one to the next.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..heads import Heads, Ints
from .running import THREADS

Array = NDArray[Any]
Names = tuple[str, ...]

BLOCK_SCORES = 1 << 18  # of the heads that are taken together: few enough for a cache, enough for BLAS
SMALL_SCORES = 1 << 13  # of a component that is copied together with others
TOGETHER = 1 << 18  # scores, or elements of queries and values, of those: all copies and scores stay in a cache


class Part(NamedTuple):
    """Heads of K components: matrices of queries (K, C, G, L, E), of which G share keys and values (K, C, 1, S, E)."""

    queries: Array
    keys: Array
    values: Array
    mask: Array | None
    results: Array
    maxima: Array  # (K, C, G, L, 1), as are the totals
    totals: Array


class Taken(NamedTuple):
    """Some heads of one component, or all of several components that are alike: these are copied."""

    components: Ints
    first: int
    last: int


def jobs(heads: Heads, with_mask: bool = False) -> list[tuple[Taken]]:
    """All heads that have queries; those of a single component for all threads."""
    alone = THREADS if len(heads.sizes) == 1 else 1
    found = []
    for group in heads.alike:
        count, shared, queries, keys = heads.sizes[group[0]].tolist()
        scores = shared * queries * keys
        if len(group) > 1 and scores * count <= SMALL_SCORES and not with_mask and _in_step(heads, group):
            rows = shared * queries * heads.width + keys * heads.value_width
            step = max(1, TOGETHER // (count * max(1, scores, rows)))
            found += [(Taken(group[at : at + step], 0, count),) for at in range(0, len(group), step)]
            continue
        step = max(1, min(BLOCK_SCORES // max(1, scores), -(-count // alone)))
        each = [(first, min(first + step, count)) for first in range(0, count, step)]
        found += [(Taken(group[at : at + 1], *cut),) for at in range(len(group)) for cut in each]
    return found


def _in_step(heads: Heads, group: Ints) -> bool:
    """Whether the heads and rows of these components are equally far apart."""
    every = heads.query, heads.key, heads.value, heads.made, heads.mask
    return all((one[group, 1:] == one[group[0], 1:]).all() for one in every if one is not None)


class Place(NamedTuple):
    """Arrays of one shape in a flat buffer, equally strided: what is taken of each component, and where it begins."""

    starts: Any  # Ints, or the only one
    shape: tuple[int, ...]
    steps: tuple[int, ...]

    def everywhere(self, buffer: Array) -> Array:
        """A view of such an array at each element up to the last start."""
        count = self.starts.max().item() + 1 if 0 not in self.shape else len(buffer) + 1
        strides = [step * buffer.itemsize for step in (1, *self.steps)]
        return np.ndarray((count, *self.shape), buffer.dtype, buffer, 0, strides)

    def taken(self, buffer: Array) -> Array:
        """The arrays that begin at the starts: a view of a single one, a copy of several."""
        if self.copied:
            return np.asarray(self.everywhere(buffer)[self.starts])
        start = 0 if 0 in self.shape else self.starts * buffer.itemsize
        strides = [step * buffer.itemsize for step in (0, *self.steps)]
        return np.ndarray((1, *self.shape), buffer.dtype, buffer, start, strides)

    @property
    def copied(self) -> bool:
        """Whether there are several."""
        return type(self.starts) is not int

    def zeros(self, dtype: np.dtype[Any]) -> Array:
        """As many zeros, in the order in which the arrays lie: they are put back as they come."""
        axes = sorted(range(len(self.shape)), key=lambda axis: -self.steps[axis])
        made = np.zeros((len(self.starts), *[self.shape[axis] for axis in axes]), dtype)
        return made.transpose(0, *[axes.index(axis) + 1 for axis in range(len(axes))])


Places = tuple[Place | None, ...]  # of the fields of a part


def places_of(heads: Heads, taken: Taken) -> Places:
    """Where each field of a part is."""
    which, i = taken.components, taken.components.item(0)
    count, (_, group, queries, keys) = taken.last - taken.first, heads.sizes[i].tolist()

    def place(starts: Any, each: int, shape: tuple[int, int], head: int, *steps: int) -> Place:
        apart = each * head
        return Place(starts + taken.first * apart, (count, each, *shape), (apart, head, *steps))

    def of_rows(where: Ints, each: int, shape: tuple[int, int], *last: int) -> Place:
        start, *steps = where[i].tolist()
        return place(where[which, 0] if len(which) > 1 else start, each, shape, *steps, *last)

    rows = heads.first_row[which] if len(which) > 1 else heads.first_row.item(i)
    saved = place(rows, group, (queries, 1), queries, 1, 1)
    return (
        of_rows(heads.query, group, (queries, heads.width), 1),
        of_rows(heads.key, 1, (keys, heads.width), 1),
        of_rows(heads.value, 1, (keys, heads.value_width), 1),
        None if heads.mask is None else of_rows(heads.mask, group, (queries, keys)),
        of_rows(heads.made, group, (queries, heads.value_width), 1),
        saved,
        saved,
    )


def parted(buffers: tuple[Any, ...], places: Places, written: Names = ()) -> Part:
    """The fields of a part in these buffers, copies or views; of no buffer there is none.

    Copies of what will be written are zeros, as the buffers are where something is added to it.
    """

    def found(name: str, place: Any, buffer: Any) -> Any:
        if buffer is None or place is None:
            return None
        return place.zeros(buffer.dtype) if name in written and place.copied else place.taken(buffer)

    return Part(*map(found, Part._fields, places, buffers))


def put_back(part: Part, buffers: tuple[Any, ...], places: Places, written: Names) -> None:
    """What was written to copies goes where they are from; views are there already."""
    for name, own, place, buffer in zip(Part._fields, part, places, buffers, strict=True):
        if place is not None and name in written and place.copied:
            place.everywhere(buffer)[place.starts] = own
