"""Batches of heads that attention computes in one go: some heads of one component, or all heads of small components.

Thousands of components of a few queries each would spend most of their time on going from one to the next. So small
components of nearly equal lengths are padded to a common number of queries and keys. The padding is 0, and a mask of
bools tells that its pairs are not active.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..heads import Heads, Ints
from .parallel import THREADS, windows

RawArray = NDArray[Any]

BLOCK_SCORES = 1 << 18  # of the heads of a batch: few enough for a cache, enough for BLAS
SMALL_SCORES = 1 << 13  # of a component that is padded together with others
PADDED_SCORES = 1 << 18  # or elements of queries and values, of a padded batch: all copies and scores stay in a cache
LENGTH_STEP = 8  # lengths that are equal after rounding up to a multiple of it are padded together


@dataclass(frozen=True, eq=False)
class Job:
    """The heads of a batch, and the places of what is saved for its gradient.

    Attributes
    ----------
    components : int64 (K,)
        Several components are padded.
    key_heads : range
        Heads of keys; those of several components are all heads.
    group : int
        Heads of queries for each head of keys.
    num_queries, num_keys : int
        Rows of each head, after padding.
    first_row, first_pair : int
        The number of queries of all heads, and of pairs, in the jobs before this one.
    """

    components: Ints
    key_heads: range
    group: int
    num_queries: int
    num_keys: int
    first_row: int
    first_pair: int

    @property
    def end_row(self) -> int:
        """The number of queries of all heads up to this job."""
        return self.first_row + len(self.components) * len(self.key_heads) * self.group * self.num_queries

    @property
    def end_pair(self) -> int:
        """The number of pairs up to this job."""
        return self.first_pair + (self.end_row - self.first_row) * self.num_keys


class HeadBatch(NamedTuple):
    """Matrices of C heads of keys of K components, each with G heads of queries.

    Queries (K, C, G, L, E), keys (K, C, 1, S, E), values (K, C, 1, S, V), mask (K, C, G, L, S). What is saved for the
    gradient is None, or the weights (K, C, G, L, S), or the logarithms of sums of exponentials (K, C, G, L, 1).
    """

    queries: RawArray
    keys: RawArray
    values: RawArray
    mask: RawArray | None
    causal: bool
    weights: Any = None
    log_sums: Any = None


# ---- jobs -----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=32)  # the gradient, and the next layer, have the same heads
def attention_jobs(heads: Heads) -> list[Job]:
    """Return jobs for all heads that have queries; those of a single component are for all threads."""
    sizes, scores = heads.sizes, heads.sizes.prod(axis=1)
    has_queries = sizes[:, :3].all(axis=1)
    is_small = has_queries & (scores <= SMALL_SCORES)
    jobs: list[Job] = []

    def add(components: Ints, key_heads: range, group: int, queries: int, keys: int) -> None:
        first = (jobs[-1].end_row, jobs[-1].end_pair) if jobs else (0, 0)
        jobs.append(Job(components, key_heads, group, queries, keys, *first))

    for members in _length_classes(sizes, np.flatnonzero(is_small)):
        count, group, queries, keys = sizes[members].max(axis=0).tolist()
        elements = group * queries * heads.width + keys * heads.value_width
        step = max(1, PADDED_SCORES // (count * max(1, group * queries * keys, elements)))
        for start in range(0, len(members), step):
            components = members[start : start + step]
            add(components, range(count), group, *sizes[components, 2:].max(axis=0).tolist())
    threads = THREADS if len(sizes) == 1 else 1
    for component in np.flatnonzero(has_queries & ~is_small).tolist():
        count, group, queries, keys = sizes[component].tolist()
        step = max(1, min(BLOCK_SCORES // max(1, group * queries * keys), -(-count // threads)))
        for start in range(0, count, step):
            add(np.array([component]), range(start, min(start + step, count)), group, queries, keys)
    return jobs


def _length_classes(sizes: Ints, components: Ints) -> list[Ints]:
    """Return groups of components of equal numbers of heads, and lengths of one class; of one class if all are tiny."""
    if not len(components):
        return []
    classes = sizes[components]
    most = classes.max(axis=0)
    is_tiny = len(components) * most.prod() <= SMALL_SCORES
    classes[:, 2:] = 0 if is_tiny else -(-classes[:, 2:] // LENGTH_STEP)
    if (classes == classes[0]).all():
        return [components]
    order = np.lexsort(classes.T)
    starts = np.flatnonzero((classes[order[1:]] != classes[order[:-1]]).any(axis=1)) + 1
    return np.split(components[order], starts)


# ---- places of a job ------------------------------------------------------------------------------------------------


class Rows:
    """The rows of one operand of a job in a flat buffer, which are copied to an array of shape (K, C, G, R, width).

    ``is_row`` (K, 1, 1, R) tells the rows of a component from its padding. ``targets`` are the numbers of these rows
    among all rows of the array, and ``places`` where each begins in the buffer.
    """

    def __init__(self, table: Ints, lengths: Ints, job: Job, group: int, width: int) -> None:
        count, num_rows = len(job.key_heads), int(lengths.max())
        self.shape, self.is_padded = (len(lengths), count, group, num_rows, width), bool(lengths.min() < num_rows)
        offsets, head_steps, row_steps = table[job.components].T.reshape(3, -1, 1, 1, 1)
        heads = job.key_heads.start * group + np.arange(count * group).reshape(1, -1, group, 1)
        row = np.arange(num_rows)
        self.is_row = (row < lengths[:, None])[:, None, None]
        self.targets = np.flatnonzero(np.broadcast_to(self.is_row, self.shape[:-1]))
        self.places = (offsets + heads * head_steps + row * row_steps).reshape(-1)[self.targets]

    def read(self, buffer: RawArray) -> RawArray:
        """Return the rows; the padding is 0."""
        if 0 in self.shape:
            return np.zeros(self.shape, buffer.dtype)
        rows: RawArray = windows(buffer, self.shape[-1])[self.places]
        if self.is_padded:
            padded = np.zeros((prod(self.shape[:-1]), self.shape[-1]), buffer.dtype)
            padded[self.targets] = rows
            rows = padded
        return rows.reshape(self.shape)

    def write(self, rows: RawArray, buffer: RawArray) -> None:
        """Copy rows to their places in the buffer."""
        if rows.size:
            flat_rows = rows.reshape(-1, self.shape[-1])
            windows(buffer, self.shape[-1])[self.places] = flat_rows[self.targets] if self.is_padded else flat_rows


class JobRows(NamedTuple):
    """The rows of all operands of a job.

    ``inside`` (K, 1, 1, L, S) tells the pairs of padded components from their padding; it is None without padding.
    """

    queries: Rows
    keys: Rows
    values: Rows
    results: Rows
    inside: Any


@lru_cache(maxsize=16)  # layers of few small components; the index of a job has at most `PADDED_SCORES` elements
def job_rows(heads: Heads, job: Job) -> JobRows:
    """Return the rows of all operands; operands that lie alike share them."""
    queries, keys = heads.sizes[job.components, 2:].T
    keys = queries if (keys == queries).all() else keys
    known: dict[Any, Rows] = {}

    def rows(table: Ints, lengths: Ints, group: int, width: int) -> Rows:
        key = id(table), lengths is queries, group, width
        if key not in known:
            known[key] = Rows(table, lengths, job, group, width)
        return known[key]

    query_rows, key_rows = rows(heads.query, queries, job.group, heads.width), rows(heads.key, keys, 1, heads.width)
    inside = None
    if query_rows.is_padded or key_rows.is_padded:
        inside = query_rows.is_row[..., None] & key_rows.is_row[..., None, :]
    value_rows = rows(heads.value, keys, 1, heads.value_width)
    return JobRows(query_rows, key_rows, value_rows, rows(heads.result, queries, job.group, heads.value_width), inside)


def read_mask(mask: RawArray | None, heads: Heads, job: Job, rows: JobRows) -> tuple[RawArray | None, bool]:
    """Return the mask of a job, (K, C or 1, G or 1, L, S) or None, and whether it is causal besides."""
    shape = (*rows.queries.shape[:-1], job.num_keys)
    if len(job.components) == 1:
        return (None if mask is None else mask_view(mask, heads, job, shape)), heads.causal
    if mask is None:
        if rows.inside is None or not heads.causal:
            return rows.inside, heads.causal
        return rows.inside & causal_pairs(*shape[3:]), False
    pairs = mask.take(mask_index(heads, job, shape), mode="clip")
    if rows.inside is not None:
        pairs = np.where(rows.inside, pairs, False if mask.dtype == np.bool_ else mask.dtype.type(-np.inf))
    return pairs, False


def causal_pairs(num_queries: int, num_keys: int, distance: int = 0) -> RawArray:
    """Return which keys of a block are not after the query, if its first query is ``distance`` after its first key."""
    return np.tri(num_queries, num_keys, distance, np.bool_)


def mask_view(mask: RawArray, heads: Heads, job: Job, shape: tuple[int, ...]) -> RawArray:
    """Return the mask of a job of one component: (1, C, G, L, S)."""
    assert heads.mask is not None
    offset, head, row, column = heads.mask[job.components[0]].tolist()
    steps = 0, shape[2] * head, head, row, column
    start = 0 if 0 in shape else (offset + job.key_heads.start * shape[2] * head) * mask.itemsize
    return np.ndarray(shape, mask.dtype, mask, start, [step * mask.itemsize for step in steps])


def mask_index(heads: Heads, job: Job, shape: tuple[int, ...]) -> Ints:
    """Return the place of each pair of a padded job in the mask: int64 (K, C, G, L, S)."""
    assert heads.mask is not None
    offsets, head_steps, row_steps, column_steps = heads.mask[job.components].T.reshape(4, -1, 1, 1, 1, 1)
    _, count, group, queries, keys = shape
    head = np.arange(count * group).reshape(1, count, group, 1, 1)
    index: Ints = offsets + head * head_steps + np.arange(queries)[:, None] * row_steps
    return np.asarray(index + np.arange(keys) * column_steps)
