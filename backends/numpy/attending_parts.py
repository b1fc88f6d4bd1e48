"""What attention computes in one go: some heads of one component as they lie, or copies of small alike components.

Of thousands of components with a few queries each, most of the time would be spent on going from one to the next.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

from ..heads import Heads, Ints
from .attending_places import Place
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
    results: Any  # of the adjoint only where log sums are given
    log_sums: Array | None  # (K, C, G, L, 1)
    weights: Array | None  # (K, C, G, L, S)


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
        if len(group) > 1 and scores * count <= SMALL_SCORES and not with_mask:
            rows = shared * queries * heads.width + keys * heads.value_width
            step = max(1, TOGETHER // (count * max(1, scores, rows)))
            found += [(Taken(group[at : at + step], 0, count),) for at in range(0, len(group), step)]
            continue
        step = max(1, min(BLOCK_SCORES // max(1, scores), -(-count // alone)))
        each = [(first, min(first + step, count)) for first in range(0, count, step)]
        found += [(Taken(group[at : at + 1], *cut),) for at in range(len(group)) for cut in each]
    return found


Places = tuple[Place | None, ...]  # of the fields of a part


def places_of(heads: Heads, taken: Taken) -> Places:
    """Where each field of a part is."""
    which, i = taken.components, taken.components.item(0)
    count, (_, group, queries, keys) = taken.last - taken.first, heads.sizes[i].tolist()

    known: dict[Any, Place] = {}

    def place(where: Ints, each: int, shape: tuple[int, int], *last: int) -> Place:
        """Rows where a table says, (C, each, *shape): the same place for all of whom it says the same."""
        key = id(where), each, shape
        if key not in known:
            start, head, *steps = where[i].tolist()
            starts = where[which, 0] if len(which) > 1 else start
            apart = each * head
            known[key] = Place(starts + taken.first * apart, (count, each, *shape), (apart, head, *steps, *last))
        return known[key]

    rows = heads.first_row[which] if len(which) > 1 else heads.first_row.item(i)
    apart = group * queries
    return (
        place(heads.query, group, (queries, heads.width), 1),
        place(heads.key, 1, (keys, heads.width), 1),
        place(heads.value, 1, (keys, heads.value_width), 1),
        None if heads.mask is None else place(heads.mask, group, (queries, keys)),
        place(heads.made, group, (queries, heads.value_width), 1),
        Place(rows + taken.first * apart, (count, group, queries, 1), (apart, queries, 1, 1)),
        _of_weights(heads, taken),
    )


def _of_weights(heads: Heads, taken: Taken) -> Place:
    """Where weights are kept: those of components that are taken together follow each other, and are never copied."""
    i = taken.components.item(0)
    _, group, queries, keys = heads.sizes[i].tolist()
    shape = taken.last - taken.first, group, queries, keys
    pairs = queries * keys
    start = heads.first_pair.item(i) + taken.first * group * pairs
    return Place(start, shape, (group * pairs, pairs, keys, 1), len(taken.components))


def parted(buffers: tuple[Any, ...], places: Places, slot: str, written: Names = ()) -> Part:
    """The fields of a part in these buffers, copies or views; of no buffer there is none.

    Copies are in slots of this name, and hold what happens to be there where all of it will be written.
    """

    def found(name: str, place: Any, buffer: Any) -> Any:
        if buffer is None or place is None:
            return None
        if not place.copied:
            return place.view(buffer)
        own = f"{slot} {name}"
        return place.room(buffer.dtype, own) if name in written else place.copy(buffer, own)

    return Part(*map(found, Part._fields, places, buffers))


def put_back(part: Part, buffers: tuple[Any, ...], places: Places, written: Names) -> None:
    """What was written to copies goes where they are from; views are there already."""
    for name, own, place, buffer in zip(Part._fields, part, places, buffers, strict=True):
        if name in written and own is not None and place is not None and place.copied:
            place.put(own, buffer)
