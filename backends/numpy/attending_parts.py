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


class Rows(NamedTuple):
    """A buffer as rows, each of them one item, and which of them are meant: (K, G, rows)."""

    items: Array
    at: Ints
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, buffer: Array, width: int, at: Ints) -> Rows:
        """Rows of so many elements; NumPy copies those of an item at once."""
        whole = buffer[: buffer.size // width * width]
        return cls(whole.view(np.dtype((np.void, width * buffer.itemsize))), at, buffer.dtype)

    def copied(self, zeros: bool) -> Array:
        """The rows that are meant, or zeros in their place."""
        items = np.zeros(self.at.shape, self.items.dtype) if zeros else self.items.take(self.at)
        return items[..., None].view(self.dtype)


def parted(buffers: tuple[Any, ...], heads: Heads, taken: Taken, written: Names) -> tuple[Part, list[Rows | None]]:
    """Queries, keys, values, mask, results, maxima and totals of what is taken, and where copies are from.

    Of no buffer there is none. What will be written is zeros, as the buffers are where something is added to it.
    """
    if len(taken.components) == 1:
        return _views(buffers, heads, taken), []
    rows = _rows(buffers, heads, taken)
    copies: list[Any] = [one and one.copied(name in written) for name, one in zip(Part._fields, rows, strict=True)]
    return Part(*copies), rows


def put_back(part: Part, rows: list[Rows | None], written: Names) -> None:
    """What was written to the copies goes where they are from; views are there already."""
    for name, own, place in zip(Part._fields, part, rows, strict=False):
        if place and own is not None and name in written:
            place.items.put(place.at, own.view(place.items.dtype))


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


def _rows(buffers: tuple[Any, ...], heads: Heads, taken: Taken) -> list[Rows | None]:
    """The rows that are taken of each buffer."""
    which = taken.components
    count, group, queries, keys = heads.sizes[which[0]].tolist()

    def rows(buffer: Array, places: Ints, each: int, length: int, width: int) -> Rows:
        offset, head, step = (places[which] // width).T[:, :, None, None]
        at = offset + head * np.arange(count * each)[:, None] + step * np.arange(length)
        return Rows.of(buffer, width, at.reshape(len(which) * count, each, length))

    q, k, v, _, made, maxima, totals = buffers
    saved = heads.first_row[which][:, None] + np.arange(count * group * queries)
    saved = saved.reshape(len(which) * count, group, queries)
    return [
        rows(q, heads.query, group, queries, heads.width),
        rows(k, heads.key, 1, keys, heads.width),
        rows(v, heads.value, 1, keys, heads.value_width),
        None,
        rows(made, heads.made, group, queries, heads.value_width),
        maxima if maxima is None else Rows.of(maxima, 1, saved),
        totals if totals is None else Rows.of(totals, 1, saved),
    ]
