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


class Part(NamedTuple):
    """Heads of components: matrices of queries (K, G, L, E), of which G share keys and values (K, 1, S, ...)."""

    queries: Array
    keys: Array
    values: Array
    mask: Array | None
    results: Array
    maxima: Array  # (K, G, L, 1), as are the totals
    totals: Array


class Taken(NamedTuple):
    """Some heads of one component, or all of several components that are alike: these are copied."""

    components: Ints
    first: int
    last: int


def jobs(heads: Heads) -> list[tuple[Taken]]:
    """All heads that have queries; those of a single component for all threads."""
    alone = THREADS if len(heads.sizes) == 1 else 1
    found = []
    for group in heads.alike:
        count, shared, queries, keys = heads.sizes[group[0]].tolist()
        scores = shared * queries * keys
        if len(group) > 1 and scores * count <= SMALL_SCORES and _in_rows(heads, group):
            step = max(1, BLOCK_SCORES // max(1, scores * count))
            found += [(Taken(group[at : at + step], 0, count),) for at in range(0, len(group), step)]
            continue
        step = max(1, min(BLOCK_SCORES // max(1, scores), -(-count // alone)))
        each = [(first, min(first + step, count)) for first in range(0, count, step)]
        found += [(Taken(group[at : at + 1], *cut),) for at in range(len(group)) for cut in each]
    return found


def _in_rows(heads: Heads, group: Ints) -> bool:
    """Whether rows of the operands are rows of a matrix as wide as they are, so that these can be copied."""
    if heads.mask is not None or not heads.width or not heads.value_width:
        return False
    wide = (heads.query, heads.width), (heads.key, heads.width), (heads.value, heads.value_width)
    return not any((places[group] % width).any() for places, width in (*wide, (heads.made, heads.value_width)))


class Place(NamedTuple):
    """Rows of so many elements of a buffer, by number: (K, G, rows)."""

    width: int
    at: Ints

    def items(self, buffer: Array) -> Array:
        """The buffer with its rows as items, each of which NumPy copies at once."""
        whole = buffer[: buffer.size // self.width * self.width]
        return whole.view(np.dtype((np.void, self.width * buffer.itemsize)))

    def copied(self, buffer: Array, zeros: bool) -> Array:
        """The rows, or zeros in their place."""
        items = self.items(buffer)
        found = np.zeros(self.at.shape, items.dtype) if zeros else items.take(self.at)
        return found[..., None].view(buffer.dtype)


Places = list[Place | None]  # of the fields of a part


def copied_from(heads: Heads, taken: Taken) -> Places | None:
    """Where the rows are that are copied; None where views of them do."""
    which = taken.components
    if len(which) == 1:
        return None
    count, group, queries, keys = heads.sizes[which[0]].tolist()

    def place(places: Ints, each: int, length: int, width: int) -> Place:
        offset, head, step = (places[which] // width).T[:, :, None, None]
        if (head == head[0]).all() and (step == step[0]).all():
            head, step = head[:1], step[:1]
        inside = head * np.arange(count * each)[:, None] + step * np.arange(length)
        return Place(width, (offset + inside).reshape(len(which) * count, each, length))

    rows = heads.first_row[which][:, None] + np.arange(count * group * queries)
    saved = Place(1, rows.reshape(len(which) * count, group, queries))
    return [
        place(heads.query, group, queries, heads.width),
        place(heads.key, 1, keys, heads.width),
        place(heads.value, 1, keys, heads.value_width),
        None,
        place(heads.made, group, queries, heads.value_width),
        saved,
        saved,
    ]


def parted(
    buffers: tuple[Any, ...], heads: Heads, taken: Taken, places: Places | None = None, written: Names = ()
) -> Part:
    """Queries, keys, values, mask, results, maxima and totals of what is taken: copies from these places, or views.

    Of no buffer there is none. What will be written is zeros, as the buffers are where something is added to it.
    """
    if places is None:
        return _views(buffers, heads, taken)
    each = zip(Part._fields, places, buffers, strict=True)
    copies: list[Any] = [None if x is None or not at else at.copied(x, name in written) for name, at, x in each]
    return Part(*copies)


def put_back(part: Part, buffers: tuple[Any, ...], places: Places | None, written: Names) -> None:
    """What was written to the copies goes where they are from; views are there already."""
    for name, own, place, buffer in zip(Part._fields, part, places or (), buffers, strict=False):
        if own is not None and place and name in written:
            items = place.items(buffer)
            items.put(place.at, own.view(items.dtype))


def _views(buffers: tuple[Any, ...], heads: Heads, taken: Taken) -> Part:
    i, (_, group, queries, keys) = taken.components[0], heads.sizes[taken.components[0]].tolist()
    count, row = taken.last - taken.first, heads.first_row.item(i) + taken.first * group * queries
    of_queries, of_keys = (count, group, queries), (count, 1, keys)

    def view(buffer: Array | None, places: Any, shape: tuple[int, ...]) -> Any:
        if buffer is None:
            return None
        offset, head, *steps = [place * buffer.itemsize for place in places[i].tolist()]
        apart = head * shape[1]
        strides = apart, head, *steps, buffer.itemsize
        start = offset + taken.first * apart if 0 not in shape else 0
        return np.ndarray(shape, buffer.dtype, buffer, start, strides[:4])

    def saved(rows: Array | None) -> Any:
        return None if rows is None else rows[row : row + count * group * queries].reshape(*of_queries, 1)

    q, k, v, mask, made, maxima, totals = buffers
    return Part(
        view(q, heads.query, (*of_queries, heads.width)),
        view(k, heads.key, (*of_keys, heads.width)),
        view(v, heads.value, (*of_keys, heads.value_width)),
        view(mask, heads.mask, (*of_queries, keys)),
        view(made, heads.made, (*of_queries, heads.value_width)),
        saved(maxima),
        saved(totals),
    )
