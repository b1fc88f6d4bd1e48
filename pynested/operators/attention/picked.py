"""Components, heads and blocks of queries that an index picks of a block mask."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.scalars import number_text
from pynested.autograd.arguments.shapes import canonical_int
from pynested.autograd.array import raw
from pynested.backends.errors import ArgumentError, IndexOutOfRange
from pynested.backends.host import from_host, to_host
from pynested.structure import Ints

from ..indexing.index_parsing import index_entries
from .lists import States
from .mods import MaskMod

WHOLE = slice(None)


class Whole(NamedTuple):
    """What there is to pick from: a function, the sizes of each component, the queries of a block, the blocks."""

    mask_mod: MaskMod
    extents: Ints
    q_size: int
    blocks: tuple[States, ...]


def picked(index: Any, of: Whole) -> Whole:
    """What an index picks, one entry after the other; an integer keeps its dimension, of size 1."""
    items = index_entries(index)
    if len(items) > 3:
        raise ArgumentError(
            f"a block mask is indexed by components, heads and blocks of queries, not by {len(items)} entries."
        )
    components, heads, rows = (*items, WHOLE, WHOLE)[:3]
    chosen = _places(components, len(of.blocks), "components")
    if not len(chosen):
        return of._replace(blocks=(), extents=of.extents[:1])
    of_heads, of_rows, extents, blocks = [], [], [], []
    for i in chosen.tolist():
        (count, queries, keys), states = of.extents[i].tolist(), of.blocks[i]
        own = _places(heads, count, f"heads of component {i}")
        at = _places(rows, states.shape[1], f"blocks of queries of component {i}")
        alike = len(states) == 1 != count
        blocks.append((states[: len(own)] if alike else states[own])[:, at])
        extents.append((len(own), _queries(at, queries, of.q_size, i), keys))
        of_heads.append(own)
        of_rows.append(at)
    tables = (
        None if _is_whole(components) else _Table([chosen]),
        None if _is_whole(heads) else _Table(of_heads),
        None if _is_whole(rows) else _Table(of_rows),
    )
    return Whole(_moved(of.mask_mod, tables, of.q_size), np.array(extents, np.int64), of.q_size, tuple(blocks))


def _is_whole(entry: Any) -> bool:
    return isinstance(entry, slice) and entry == WHOLE


def _places(entry: Any, size: int, what: str) -> Ints:
    """What an entry of an index picks of so many: integers, slices, vectors of integers or bools."""
    if isinstance(entry, slice):
        return np.arange(size)[entry]
    bare = to_host(raw(entry)) if type(entry) is Array else entry
    if entry is None or entry is ... or np.ndim(bare) > 1:
        raise ArgumentError(
            f"an index of a block mask has integers, slices, and vectors of integers or bools, not "
            f"{number_text(entry)}."
        )
    if not np.ndim(bare):
        found = np.array([canonical_int("index", "an entry of a block mask's", bare)])
    else:
        found = np.asarray(bare)
        if found.dtype == np.bool_:
            if len(found) != size:
                raise IndexOutOfRange(f"an index of a block mask has {len(found)} bools for {size} {what}.")
            return found.nonzero()[0]
        if found.dtype.kind not in "iu" and found.size:
            raise ArgumentError(f"an index of a block mask has integers or bools, not {found.dtype}.")
        found = found.astype(np.int64)
    outside = (found < -size) | (found >= size)
    if outside.any():
        raise IndexOutOfRange(f"index {found[outside][0]} of a block mask is outside its {size} {what}.")
    return np.where(found < 0, found + size, found)


def _queries(at: Ints, queries: int, q_size: int, component: int) -> int:
    """How many queries some blocks have; a last one that is shorter can be nothing but the last."""
    short = -queries % q_size
    last = -(-queries // q_size) - 1
    if short and (at[:-1] == last).any():
        raise ArgumentError(
            f"block {last} of queries of component {component} has {q_size - short} queries, the others {q_size}: an "
            "index of a block mask can have it at its end only."
        )
    return len(at) * q_size - (short if len(at) and at[-1] == last else 0)


class _Table:
    """For each component what its places were before they were picked."""

    def __init__(self, picks: list[Ints]) -> None:
        self.flat = np.concatenate(picks)
        self.starts = np.cumsum([0, *map(len, picks[:-1])])

    def __call__(self, b: Any, places: Array) -> Array:
        flat, starts = (Array(from_host(one, places.device), places.device) for one in (self.flat, self.starts))
        return flat[starts[b] + places]


def _moved(mod: MaskMod, tables: tuple[_Table | None, ...], q_size: int) -> MaskMod:
    """The function, asked about places as they are after picking."""
    components, heads, rows = tables

    def mask_mod(b: Array, h: Array, q_idx: Array, kv_idx: Array) -> Array:
        own = b if components is None else components(0, b)
        of_heads = h if heads is None else heads(b, h)
        queries = q_idx if rows is None else rows(b, q_idx // q_size) * q_size + q_idx % q_size
        return mod(own, of_heads, queries, kv_idx)

    return mod if components is heads is rows is None else mask_mod
