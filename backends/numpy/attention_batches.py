"""Batches of heads that attention computes in one go: some heads of one component, or all heads of small components.

For thousands of components of a few queries, one call each would take longer than the arithmetic. Small components of
nearly equal lengths are therefore padded to a common number of queries and keys, and computed together. The padding is
arbitrary, and its pairs are inactive.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..component_layout import Integers, groups_of_equal_rows
from ..head_layout import HeadLayout, HeadMatrices
from ..plain.widening import RawArray
from .blocks import rows_as_elements, widened
from .parallel import THREADS

BLOCK_SCORES = 1 << 18  # approximate scores of a batch of one component: they fit in a cache, and keep BLAS busy
LEAST_ROWS = 16  # queries of a block, unless the job has fewer: a product with fewer rows is slow
CAUSAL_ROWS = 192  # most queries of a causal block, which computes no scores with keys after its last query
SMALL_SCORES = 1 << 13  # a component with more scores is not padded together with others
PADDED_SCORES = 1 << 18  # most scores of a padded batch, and most elements of its queries and values together
LENGTH_STEP = 8  # components are padded together if their lengths round up to the same multiple of this


@dataclass(frozen=True, eq=False)
class Job:
    """Some heads of one component, or all heads of several components, which are computed together.

    Attributes
    ----------
    heads : int64 (K, C, G)
        The heads of queries, as indices into the matrices of `HeadLayout`: of K components, with C heads of keys each
        in this job, and G heads of queries for each head of keys.
    num_queries, num_keys : int
        The largest numbers of queries and keys, L and S. Components with fewer queries or keys are padded.
    saved_positions : slice
        Where the maxima and the sums of this job are among those of all jobs; the padding has them, too.
    """

    heads: Integers
    num_queries: int
    num_keys: int
    saved_positions: slice

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the scores: (K, C, G, L, S)."""
        return *self.heads.shape, self.num_queries, self.num_keys


@lru_cache(maxsize=32)  # the gradient, and the next layer, have the same layout
def attention_jobs(layout: HeadLayout) -> list[Job]:
    """Return jobs for all heads that have queries. If there is one component only, its heads go to all threads."""
    # The columns of sizes are the numbers of key heads, of query heads for each of them, of queries and of keys.
    sizes, first_heads = layout.sizes, np.cumsum(layout.num_query_heads) - layout.num_query_heads
    has_queries = sizes[:, :3].all(axis=1)
    is_small = has_queries & (layout.num_scores <= SMALL_SCORES)
    jobs: list[Job] = []

    def add(components: Integers, key_heads: range, num_queries: int, num_keys: int) -> None:
        group_size = sizes.item(components[0], 1)
        heads_of_component = np.arange(key_heads.start * group_size, key_heads.stop * group_size)
        heads = first_heads[components][:, None, None] + heads_of_component.reshape(-1, group_size)
        start = jobs[-1].saved_positions.stop if jobs else 0
        jobs.append(Job(heads, num_queries, num_keys, slice(start, start + heads.size * num_queries)))

    for components in _length_classes(sizes, np.flatnonzero(is_small)):
        num_key_heads, group_size, num_queries, num_keys = sizes[components].max(axis=0).tolist()
        operand_numel = group_size * num_queries * layout.width + num_keys * layout.value_width
        step = max(1, PADDED_SCORES // (num_key_heads * max(1, group_size * num_queries * num_keys, operand_numel)))
        for start in range(0, len(components), step):
            chunk = components[start : start + step]
            add(chunk, range(num_key_heads), *sizes[chunk, 2:].max(axis=0).tolist())
    threads = THREADS if len(sizes) == 1 else 1
    for component in np.flatnonzero(has_queries & ~is_small).tolist():
        num_key_heads, group_size, num_queries, num_keys = sizes[component].tolist()
        step = max(1, min(BLOCK_SCORES // max(1, group_size * num_queries * num_keys), -(-num_key_heads // threads)))
        for start in range(0, num_key_heads, step):
            key_heads = range(start, min(start + step, num_key_heads))
            add(np.array([component]), key_heads, num_queries, num_keys)
    return jobs


def _length_classes(sizes: Integers, components: Integers) -> list[Integers]:
    """Return groups of components that are padded together: of equal numbers of heads, and of nearly equal lengths.

    If padding all to the longest gives at most `SMALL_SCORES` scores, lengths do not matter. Components without keys
    are not padded with others.
    """
    class_sizes = sizes[components]
    has_few_scores = len(components) * class_sizes.max(axis=0, initial=0).prod() <= SMALL_SCORES
    step = SMALL_SCORES if has_few_scores else LENGTH_STEP  # the first rounds all up alike
    class_sizes[:, 2:] = -(-class_sizes[:, 2:] // step)
    return [components[group] for group in groups_of_equal_rows(class_sizes)]


# ---- rows and masks of a job ----------------------------------------------------------------------------------------


class RowIndex:
    """The places of the rows of one operand of a job in a flat buffer. `read` copies the rows to an array of ``shape``.

    The shape is (K, C, G, R, width), for R rows: the queries or the keys. ``is_row`` (K, C, G, R) is false for padding.
    ``starts`` (K, C, G, R) has the place of the first element of each row; padding repeats a row of the job. For the
    rows that are not padding, ``real_starts`` has these places, and ``real_rows`` the indices among all K * C * G * R.
    """

    def __init__(self, matrices: HeadMatrices, heads: Integers) -> None:
        offsets, lengths = matrices.offsets[heads, None], matrices.sizes[heads, 0, None]
        row = np.arange(lengths.max())
        self.is_row = row < lengths
        self.real_rows = np.flatnonzero(self.is_row)
        starts = offsets + row * matrices.strides[heads, 0, None]
        self.real_starts = starts[self.is_row]
        self.starts = np.where(self.is_row, starts, self.real_starts[:1])
        self.shape = (*self.is_row.shape, matrices.sizes.item(0, 1))

    def read(self, buffer: RawArray) -> RawArray:
        """Return the rows, halves as float32."""
        if 0 in self.shape:
            return widened(np.empty(self.shape, buffer.dtype))
        rows = rows_as_elements(buffer, self.shape[-1])[self.starts]
        return widened(rows.view(buffer.dtype).reshape(self.shape))

    def write(self, rows: RawArray, buffer: RawArray) -> None:
        """Copy the rows that are not padding to their positions in the buffer, which has the same dtype."""
        if rows.size:
            elements = rows_as_elements(rows, self.shape[-1], self.shape[-1])[self.real_rows]
            rows_as_elements(buffer, self.shape[-1])[self.real_starts] = elements


class JobIndex(NamedTuple):
    """The rows of all operands of a job, its active pairs, and the blocks of queries that are computed one by one.

    ``active`` (K, 1, 1, L, S) is false for pairs with padding and, in causal attention, for keys after the query. It is
    None for one component, and if all pairs are active.
    """

    queries: RowIndex
    keys: RowIndex
    values: RowIndex
    results: RowIndex
    active: RawArray | None
    row_blocks: list[slice]


@lru_cache(maxsize=16)  # enough for a few layers of small components, and little memory
def job_index(layout: HeadLayout, job: Job) -> JobIndex:
    """Return the rows, active pairs and blocks of a job."""
    key_heads = job.heads[..., :1]  # the heads of a group have the same keys and values
    queries, keys = RowIndex(layout.query_matrices, job.heads), RowIndex(layout.key_matrices, key_heads)
    values, results = RowIndex(layout.value_matrices, key_heads), RowIndex(layout.result_matrices, job.heads)
    active = None
    if len(job.heads) > 1:
        pairs = queries.is_row[:, :1, :1, :, None] & keys.is_row[:, :1, :1, None]
        if layout.causal:
            pairs &= np.tri(job.num_queries, job.num_keys, dtype=np.bool_)
        active = None if pairs.all() else pairs
    step = max(LEAST_ROWS, 2 * BLOCK_SCORES // (job.heads.size * max(1, job.num_keys)))
    if layout.causal:
        step = min(step, CAUSAL_ROWS)
    row_blocks = [slice(start, min(start + step, job.num_queries)) for start in range(0, job.num_queries, step)]
    return JobIndex(queries, keys, values, results, active, row_blocks)


def mask_view(mask: RawArray, layout: HeadLayout, job: Job) -> RawArray:
    """Return the mask of a job of one component: (1, C, G, L, S)."""
    offsets, strides = layout.mask_matrices.offsets[job.heads[0]], layout.mask_matrices.strides[job.heads.item(0)]
    head_step = offsets.item(1) - offsets.item(0) if offsets.size > 1 else 0
    steps = 0, job.heads.shape[2] * head_step, head_step, *strides.tolist()
    start = 0 if 0 in job.shape else offsets.item(0) * mask.itemsize
    return np.ndarray(job.shape, mask.dtype, mask, start, [step * mask.itemsize for step in steps])


def mask_index(layout: HeadLayout, job: Job) -> Integers:
    """Return the position of each pair of a padded job in the mask: int64 (K, C, G, L, S)."""
    offsets, strides = layout.mask_matrices.offsets[job.heads], layout.mask_matrices.strides[job.heads]
    index: Integers = offsets[..., None, None] + np.arange(job.num_queries)[:, None] * strides[..., None, :1]
    return np.asarray(index + np.arange(job.num_keys) * strides[..., None, 1:])
