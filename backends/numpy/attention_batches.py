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

from ..attention_layout import HeadLayout
from ..component_layout import Integers, groups_of_equal_rows
from .parallel import THREADS, rows_at_any_offset, widened

RawArray = NDArray[Any]

BLOCK_SCORES = 1 << 18  # A batch of one component has at most so many scores: few for a cache, enough for BLAS.
SMALL_SCORES = 1 << 13  # A component with at most so many scores is padded.
PADDED_SCORES = 1 << 18  # A padded batch has at most so many scores, and elements of operands: all stay in a cache.
LENGTH_STEP = 8  # Lengths that are equal after rounding up to a multiple of it are padded together.


@dataclass(frozen=True, eq=False)
class Job:
    """The heads of a batch.

    Attributes
    ----------
    components : int64 (K,)
        The indices of the components. If there are several, they are padded.
    key_heads : range
        The heads of keys: all heads if there are several components.
    group_size : int
        The number of heads of queries for each head of keys.
    log_sums : slice
        The positions of the log-sums of its queries, with padding, among those of all jobs.
    """

    components: Integers
    key_heads: range
    group_size: int
    log_sums: slice


@lru_cache(maxsize=32)  # the gradient, and the next layer, have the same layout
def attention_jobs(layout: HeadLayout) -> list[Job]:
    """Return jobs for all heads that have queries. If there is one component only, its heads go to all threads."""
    sizes, num_scores = layout.sizes, layout.sizes.prod(axis=1)
    has_queries = sizes[:, :3].all(axis=1)
    is_small = has_queries & (num_scores <= SMALL_SCORES)
    jobs: list[Job] = []

    def add(components: Integers, key_heads: range, group_size: int, num_queries: int) -> None:
        start = jobs[-1].log_sums.stop if jobs else 0
        stop = start + len(components) * len(key_heads) * group_size * num_queries
        jobs.append(Job(components, key_heads, group_size, slice(start, stop)))

    for components in _length_classes(sizes, np.flatnonzero(is_small)):
        num_key_heads, group_size, num_queries, num_keys = sizes[components].max(axis=0).tolist()
        elements = group_size * num_queries * layout.width + num_keys * layout.value_width
        step = max(1, PADDED_SCORES // (num_key_heads * max(1, group_size * num_queries * num_keys, elements)))
        for start in range(0, len(components), step):
            chunk = components[start : start + step]
            add(chunk, range(num_key_heads), group_size, sizes[chunk, 2].max().item())
    threads = THREADS if len(sizes) == 1 else 1
    for component in np.flatnonzero(has_queries & ~is_small).tolist():
        num_key_heads, group_size, num_queries, num_keys = sizes[component].tolist()
        step = max(1, min(BLOCK_SCORES // max(1, group_size * num_queries * num_keys), -(-num_key_heads // threads)))
        for start in range(0, num_key_heads, step):
            add(np.array([component]), range(start, min(start + step, num_key_heads)), group_size, num_queries)
    return jobs


def _length_classes(sizes: Integers, components: Integers) -> list[Integers]:
    """Return groups of components that are padded together: of equal numbers of heads, and of nearly equal lengths.

    If all components together are small after padding, their lengths may differ.
    """
    classes = sizes[components]
    is_small = len(components) * classes.max(axis=0, initial=0).prod() <= SMALL_SCORES
    classes[:, 2:] = 0 if is_small else -(-classes[:, 2:] // LENGTH_STEP)
    return [components[group] for group in groups_of_equal_rows(classes)]


# ---- rows and masks of a job ----------------------------------------------------------------------------------------


class RowIndex:
    """The rows of one operand of a job in a flat buffer, which `read` copies to an array of shape (K, C, G, R, width).

    ``is_row`` (K, 1, 1, R) is false for padding. ``targets`` are the positions of the rows among all rows of the array,
    and ``starts`` the positions of their first elements in the buffer.
    """

    def __init__(self, places: Integers, lengths: Integers, job: Job, group_size: int) -> None:
        offsets, head_steps, row_steps = places[job.components].T.reshape(3, -1, 1, 1, 1)
        first_head, end_head = job.key_heads.start * group_size, job.key_heads.stop * group_size
        heads, row = np.arange(first_head, end_head).reshape(1, -1, group_size, 1), np.arange(lengths.max())
        self.is_row = (row < lengths[:, None])[:, None, None]
        self.is_padded = not self.is_row.all()
        starts = offsets + heads * head_steps + row * row_steps
        self.shape = starts.shape
        self.targets = np.flatnonzero(np.broadcast_to(self.is_row, self.shape))
        self.starts = starts.reshape(-1)[self.targets]

    def read(self, buffer: RawArray, width: int) -> RawArray:
        """Return the rows, halves as float32. The padding is 0."""
        rows = widened(rows_at_any_offset(buffer, width)[self.starts])
        if self.is_padded:
            padded = np.zeros((prod(self.shape), width), rows.dtype)
            padded[self.targets] = rows
            rows = padded
        return rows.reshape(*self.shape, width)

    def write(self, rows: RawArray, buffer: RawArray) -> None:
        """Copy rows, (K, C, G, R, width), to their positions in the buffer."""
        width = rows.shape[-1]
        flat_rows = rows.reshape(prod(self.shape), width)
        rows_at_any_offset(buffer, width)[self.starts] = flat_rows[self.targets] if self.is_padded else flat_rows


class JobRows(NamedTuple):
    """The rows of all operands of a job.

    ``is_pair`` (K, 1, 1, L, S) is false for pairs with padding; it is None if there is no padding.
    """

    queries: RowIndex
    keys: RowIndex
    values: RowIndex
    results: RowIndex
    is_pair: Any


@lru_cache(maxsize=16)  # enough for a few layers of small components; a job has at most `PADDED_SCORES` rows
def job_rows(layout: HeadLayout, job: Job) -> JobRows:
    """Return the rows of all operands."""
    num_queries, num_keys = layout.sizes[job.components, 2:].T
    queries = RowIndex(layout.query_places, num_queries, job, job.group_size)
    keys = RowIndex(layout.key_places, num_keys, job, 1)
    values = RowIndex(layout.value_places, num_keys, job, 1)
    results = RowIndex(layout.result_places, num_queries, job, job.group_size)
    is_padded = queries.is_padded or keys.is_padded
    is_pair = queries.is_row[..., None] & keys.is_row[..., None, :] if is_padded else None
    return JobRows(queries, keys, values, results, is_pair)


def read_mask(mask: RawArray | None, layout: HeadLayout, job: Job, rows: JobRows) -> tuple[RawArray | None, bool]:
    """Return the mask of a job, (K, C or 1, G or 1, L, S) or None, and whether its pairs must be causal as well."""
    shape = (*rows.queries.shape, rows.keys.shape[-1])
    if len(job.components) == 1:
        return (None if mask is None else mask_view(mask, layout, job, shape)), layout.causal
    if mask is None:
        if rows.is_pair is None or not layout.causal:
            return rows.is_pair, layout.causal
        return rows.is_pair & causal_pairs(*shape[3:]), False
    job_mask = mask.take(mask_index(layout, job, shape), mode="clip")
    if rows.is_pair is not None:
        job_mask = np.where(rows.is_pair, job_mask, False if mask.dtype == np.bool_ else mask.dtype.type(-np.inf))
    return job_mask, False


def causal_pairs(num_queries: int, num_keys: int, distance: int = 0) -> RawArray:
    """Return for each pair of a block whether the key is not after the query.

    In the component, the first query of the block is ``distance`` places after the first key of the block.
    """
    return np.tri(num_queries, num_keys, distance, np.bool_)


def mask_view(mask: RawArray, layout: HeadLayout, job: Job, shape: tuple[int, ...]) -> RawArray:
    """Return the mask of a job of one component: (1, C, G, L, S)."""
    assert layout.mask_places is not None
    offset, head_step, row_step, column_step = layout.mask_places[job.components[0]].tolist()
    steps = 0, shape[2] * head_step, head_step, row_step, column_step
    start = 0 if 0 in shape else (offset + job.key_heads.start * shape[2] * head_step) * mask.itemsize
    return np.ndarray(shape, mask.dtype, mask, start, [step * mask.itemsize for step in steps])


def mask_index(layout: HeadLayout, job: Job, shape: tuple[int, ...]) -> Integers:
    """Return the position of each pair of a padded job in the mask: int64 (K, C, G, L, S)."""
    assert layout.mask_places is not None
    offsets, head_steps, row_steps, column_steps = layout.mask_places[job.components].T.reshape(4, -1, 1, 1, 1, 1)
    _, num_key_heads, group_size, num_queries, num_keys = shape
    head = np.arange(num_key_heads * group_size).reshape(1, num_key_heads, group_size, 1, 1)
    index: Integers = offsets + head * head_steps + np.arange(num_queries)[:, None] * row_steps
    return np.asarray(index + np.arange(num_keys) * column_steps)
