"""Batches of heads that attention computes in one go: some heads of one component, or all heads of small components.

For thousands of components of a few queries, one call each would take longer than the arithmetic. Small components of
nearly equal lengths are therefore padded to a common number of queries and keys, and computed together. The padding is
0, and a mask of bools makes its pairs inactive.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..heads import HeadLayout, Ints
from .parallel import THREADS, rows_at_any_offset

RawArray = NDArray[Any]

BLOCK_SCORES = 1 << 18  # most scores of a batch of one component: few enough for a cache, enough for BLAS
SMALL_SCORES = 1 << 13  # most scores of a component that is padded
PADDED_SCORES = 1 << 18  # most scores, or elements of operands, of a padded batch: all of them stay in a cache
LENGTH_STEP = 8  # lengths that are equal after rounding up to a multiple of it are padded together


@dataclass(frozen=True, eq=False)
class Job:
    """The heads of a batch, and the place of what is saved for its gradient.

    Attributes
    ----------
    components : int64 (K,)
        The numbers of the components. If there are several, they are padded.
    key_heads : range
        The heads of keys: all heads if there are several components.
    group : int
        The number of heads of queries for each head of keys.
    num_queries, num_keys : int
        The numbers of rows of each head, after padding.
    first_row, first_pair : int
        The numbers of queries and of pairs, of all heads of the jobs before this one.
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
    """Matrices of C heads of keys of K components, with G heads of queries for each head of keys.

    ``weights`` or ``log_sums`` is memory for what is saved for the gradient. Both are None if nothing is saved.
    """

    queries: RawArray  # (K, C, G, L, E)
    keys: RawArray  # (K, C, 1, S, E)
    values: RawArray  # (K, C, 1, S, V)
    mask: RawArray | None  # (K, C or 1, G or 1, L, S)
    causal: bool
    weights: Any = None  # (K, C, G, L, S)
    log_sums: Any = None  # (K, C, G, L, 1): the logarithms of the sums of exponentials


# ---- jobs -----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=32)  # the gradient, and the next layer, have the same layout
def attention_jobs(layout: HeadLayout) -> list[Job]:
    """Return jobs for all heads that have queries; the heads of a single component are shared out to all threads."""
    sizes, scores = layout.sizes, layout.sizes.prod(axis=1)
    has_queries = sizes[:, :3].all(axis=1)
    is_small = has_queries & (scores <= SMALL_SCORES)
    jobs: list[Job] = []

    def add(components: Ints, key_heads: range, group: int, queries: int, keys: int) -> None:
        first = (jobs[-1].end_row, jobs[-1].end_pair) if jobs else (0, 0)
        jobs.append(Job(components, key_heads, group, queries, keys, *first))

    for members in _length_classes(sizes, np.flatnonzero(is_small)):
        count, group, queries, keys = sizes[members].max(axis=0).tolist()
        elements = group * queries * layout.width + keys * layout.value_width
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
    """Return groups of components that are padded together: of equal numbers of heads, and of nearly equal lengths.

    If all components together are small after padding, their lengths may differ.
    """
    if not len(components):
        return []
    classes = sizes[components]
    is_small = len(components) * classes.max(axis=0).prod() <= SMALL_SCORES
    classes[:, 2:] = 0 if is_small else -(-classes[:, 2:] // LENGTH_STEP)
    if (classes == classes[0]).all():
        return [components]
    order = np.lexsort(classes.T)
    starts = np.flatnonzero((classes[order[1:]] != classes[order[:-1]]).any(axis=1)) + 1
    return np.split(components[order], starts)


# ---- places of a job ------------------------------------------------------------------------------------------------


class Rows:
    """The rows of one operand of a job in a flat buffer, which `read` copies to an array of shape (K, C, G, R, width).

    ``is_row`` (K, 1, 1, R) is false for padding. ``targets`` are the positions of the rows in the array, and ``places``
    the positions of their first elements in the buffer.
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
        rows: RawArray = rows_at_any_offset(buffer, self.shape[-1])[self.places]
        if self.is_padded:
            padded = np.zeros((prod(self.shape[:-1]), self.shape[-1]), buffer.dtype)
            padded[self.targets] = rows
            rows = padded
        return rows.reshape(self.shape)

    def write(self, rows: RawArray, buffer: RawArray) -> None:
        """Copy rows to their places in the buffer."""
        if rows.size:
            flat_rows = rows.reshape(-1, self.shape[-1])
            values = flat_rows[self.targets] if self.is_padded else flat_rows
            rows_at_any_offset(buffer, self.shape[-1])[self.places] = values


class JobRows(NamedTuple):
    """The rows of all operands of a job.

    ``is_pair`` (K, 1, 1, L, S) is false for padding; it is None if there is no padding.
    """

    queries: Rows
    keys: Rows
    values: Rows
    results: Rows
    is_pair: Any


@lru_cache(maxsize=16)  # layers of few small components; the index of a job has at most `PADDED_SCORES` elements
def job_rows(layout: HeadLayout, job: Job) -> JobRows:
    """Return the rows of all operands; operands with equal places share one object."""
    queries, keys = layout.sizes[job.components, 2:].T
    keys = queries if (keys == queries).all() else keys
    rows_by_key: dict[Any, Rows] = {}

    def rows(table: Ints, lengths: Ints, group: int, width: int) -> Rows:
        key = id(table), lengths is queries, group, width
        if key not in rows_by_key:
            rows_by_key[key] = Rows(table, lengths, job, group, width)
        return rows_by_key[key]

    query_rows = rows(layout.query_places, queries, job.group, layout.width)
    key_rows = rows(layout.key_places, keys, 1, layout.width)
    is_pair = None
    if query_rows.is_padded or key_rows.is_padded:
        is_pair = query_rows.is_row[..., None] & key_rows.is_row[..., None, :]
    value_rows = rows(layout.value_places, keys, 1, layout.value_width)
    result_rows = rows(layout.result_places, queries, job.group, layout.value_width)
    return JobRows(query_rows, key_rows, value_rows, result_rows, is_pair)


def read_mask(mask: RawArray | None, layout: HeadLayout, job: Job, rows: JobRows) -> tuple[RawArray | None, bool]:
    """Return the mask of a job, (K, C or 1, G or 1, L, S) or None, and whether its pairs must be causal as well."""
    shape = (*rows.queries.shape[:-1], job.num_keys)
    if len(job.components) == 1:
        return (None if mask is None else mask_view(mask, layout, job, shape)), layout.causal
    if mask is None:
        if rows.is_pair is None or not layout.causal:
            return rows.is_pair, layout.causal
        return rows.is_pair & causal_pairs(*shape[3:]), False
    pairs = mask.take(mask_index(layout, job, shape), mode="clip")
    if rows.is_pair is not None:
        pairs = np.where(rows.is_pair, pairs, False if mask.dtype == np.bool_ else mask.dtype.type(-np.inf))
    return pairs, False


def causal_pairs(num_queries: int, num_keys: int, distance: int = 0) -> RawArray:
    """Return which keys of a block are not after the query, if its first query is ``distance`` after its first key."""
    return np.tri(num_queries, num_keys, distance, np.bool_)


def mask_view(mask: RawArray, layout: HeadLayout, job: Job, shape: tuple[int, ...]) -> RawArray:
    """Return the mask of a job of one component: (1, C, G, L, S)."""
    assert layout.mask_places is not None
    offset, head, row, column = layout.mask_places[job.components[0]].tolist()
    steps = 0, shape[2] * head, head, row, column
    start = 0 if 0 in shape else (offset + job.key_heads.start * shape[2] * head) * mask.itemsize
    return np.ndarray(shape, mask.dtype, mask, start, [step * mask.itemsize for step in steps])


def mask_index(layout: HeadLayout, job: Job, shape: tuple[int, ...]) -> Ints:
    """Return the place of each pair of a padded job in the mask: int64 (K, C, G, L, S)."""
    assert layout.mask_places is not None
    offsets, head_steps, row_steps, column_steps = layout.mask_places[job.components].T.reshape(4, -1, 1, 1, 1, 1)
    _, count, group, queries, keys = shape
    head = np.arange(count * group).reshape(1, count, group, 1, 1)
    index: Ints = offsets + head * head_steps + np.arange(queries)[:, None] * row_steps
    return np.asarray(index + np.arange(keys) * column_steps)
