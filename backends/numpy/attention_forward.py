"""Attention in blocks of queries, and the scores and products that its gradient shares.

For the gradient, a call saves two numbers of each query: the maximum of its scores, and the sum of
``exp(score - maximum)``. As one number, ``maximum + log(sum)``, they would be rounded: nothing would be left of the sum
beside a large maximum.
"""

from __future__ import annotations

from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from ..caching_allocator import empty
from ..dtypes import computing_dtype
from ..head_layout import HeadLayout
from ..plain.widening import RawArray
from .attention_batches import Job, JobIndex, attention_jobs, job_index, mask_index, mask_view
from .parallel import run


class HeadBatch(NamedTuple):
    """Matrices of K components, with C heads of keys and G heads of queries for each head of keys. Halves are float32.

    In the functions below, ``rows`` and ``columns`` are slices of the queries and of the keys of a batch: the rows and
    columns of the matrices of scores.
    """

    queries: RawArray  # (K, C, G, L, E), multiplied by the scale
    keys: RawArray  # (K, C, 1, S, E)
    values: RawArray  # (K, C, 1, S, V)
    mask: RawArray | None  # (K, C, G, L, S)
    active: RawArray | None  # (K, 1, 1, L, S), see `JobIndex`
    causal: bool  # whether pairs of this one component must be causal as well
    saved: RawArray | None  # (2, K, C, G, L, 1): maxima and sums, memory that the gradient reads


def attention(
    q: RawArray, k: RawArray, v: RawArray, mask: RawArray | None, layout: HeadLayout, needs_gradient: bool = True, /
) -> tuple[RawArray, RawArray | None]:
    """Flat buffers -> the flat result; the maxima and the sums of all jobs, None unless ``needs_gradient``."""
    jobs, operands = attention_jobs(layout), contiguous(q, k, v, mask)
    out, saved = empty((layout.result_numel,), q.dtype), None
    if needs_gradient:
        saved = empty((2, jobs[-1].saved_positions.stop if jobs else 0), computing_dtype(q.dtype))

    def work(job: Job) -> None:
        index = job_index(layout, job)
        batch = read_batch(job, index, operands, layout, saved)
        results = np.empty(index.results.shape, q.dtype)
        for rows in index.row_blocks:
            _attend(batch, rows, results[..., rows, :])
        index.results.write(results, out)

    run(work, [(job,) for job in jobs], layout.total_scores * q.itemsize)
    return out, saved


def contiguous(*buffers: RawArray | None) -> tuple[Any, ...]:
    """Return the buffers, or contiguous copies of them."""
    return tuple([None if x is None else np.ascontiguousarray(x) for x in buffers])


def read_batch(
    job: Job, index: JobIndex, operands: tuple[Any, ...], layout: HeadLayout, saved: RawArray | None
) -> HeadBatch:
    """Return the operands of a job, and the memory of its maxima and sums."""
    q, k, v, mask = operands
    queries = index.queries.read(q)
    # The queries are scaled, not the scores: products with keys that are not scaled could overflow.
    queries *= queries.dtype.type(layout.scale)
    keys, values = index.keys.read(k), index.values.read(v)
    if saved is not None:
        saved = saved[:, job.saved_positions].reshape(2, *queries.shape[:-1], 1)
    is_single = len(job.heads) == 1
    if mask is not None:  # the elements for padding are arbitrary
        mask = mask_view(mask, layout, job) if is_single else mask.take(mask_index(layout, job), mode="clip")
    return HeadBatch(queries, keys, values, mask, index.active, layout.causal and is_single, saved)


# ---- blocks ---------------------------------------------------------------------------------------------------------


def active_keys(batch: HeadBatch, rows: slice) -> slice:
    """Return a slice of keys that includes all active keys of a block of queries."""
    start, stop = 0, batch.keys.shape[-2]
    if batch.causal:
        stop = min(stop, rows.stop)
    elif batch.mask is not None and len(batch.mask) == 1:
        active = np.flatnonzero(active_in_mask(batch.mask[..., rows, :]).any(axis=(0, 1, 2, 3)))
        start, stop = (active.item(0), active.item(-1) + 1) if active.size else (0, 0)
    return slice(start, stop)


def _attend(batch: HeadBatch, rows: slice, out: RawArray) -> None:
    """Write the results of a block of queries into ``out``, and save their maxima and sums.

    A query without active keys has NaN weights and a NaN sum; its result is overwritten with 0.
    """
    columns = active_keys(batch, rows)
    if columns.stop == 0:  # nothing is saved, as the gradient of these queries has no scores
        out[...] = 0
        return
    scores, active = block_scores(batch, rows, columns), active_pairs(batch, rows, columns)
    if active is not None:
        np.copyto(scores, -np.inf, where=~active)
    maxima = np.maximum.reduce(scores, axis=-1, keepdims=True)
    weights = np.exp(np.subtract(scores, maxima, out=scores), out=scores)
    sums = np.add.reduce(weights, axis=-1, keepdims=True)
    if batch.saved is not None:
        batch.saved[0, ..., rows, :], batch.saved[1, ..., rows, :] = maxima, sums
    np.divide(multiply_active(weights, batch.values[..., columns, :], active), sums, out=out)
    if batch.mask is not None and np.isneginf(maxima).any():
        np.copyto(out, 0, where=~active.any(axis=-1, keepdims=True))


# ---- scores and products that the gradient shares -------------------------------------------------------------------


def block_scores(batch: HeadBatch, rows: slice, columns: slice) -> RawArray:
    """Return the scores of a block, with a mask of floats added."""
    scores: RawArray = np.matmul(batch.queries[..., rows, :], batch.keys[..., columns, :].swapaxes(-1, -2))
    if batch.mask is not None and batch.mask.dtype != np.bool_:
        scores += batch.mask[..., rows, columns]
    return scores


def active_pairs(batch: HeadBatch, rows: slice, columns: slice) -> Any:
    """Return which pairs of a block are active; None if all are."""
    if batch.causal and columns.stop > rows.start + 1:
        diagonal = rows.start - columns.start  # key j of the block is not after query i if j <= i + diagonal
        return np.tri(rows.stop - rows.start, columns.stop - columns.start, diagonal, np.bool_)
    active = None if batch.active is None else batch.active[..., rows, columns]
    if batch.mask is None:
        return active
    in_mask = active_in_mask(batch.mask[..., rows, columns])
    return in_mask if active is None else active & in_mask


def active_in_mask(mask: RawArray) -> RawArray:
    """Return which pairs a mask makes active."""
    return np.asarray(mask if mask.dtype == np.bool_ else mask != -np.inf)


def multiply_active(weights: RawArray, matrix: RawArray, active: RawArray | None) -> RawArray:
    """Return ``weights @ matrix`` over the active pairs, or over all. Infinite or NaN rows of others change nothing.

    The weights of the pairs that are not active are 0, or NaN if the query has no active pair.
    """
    if active is None or is_finite(matrix):
        return np.asarray(np.matmul(weights, matrix))
    finite = np.isfinite(matrix)
    products = np.matmul(weights, np.where(finite, matrix, matrix.dtype.type(0)))
    active = np.broadcast_to(active, weights.shape)
    for j in np.flatnonzero(~finite.all(axis=(0, 1, 2, 4))).tolist():
        weight, row = weights[..., j : j + 1], matrix[..., j : j + 1, :]
        infinite = np.where(finite[..., j : j + 1, :], 0, row)
        is_added = active[..., j : j + 1] & (infinite != 0)
        np.add(products, weight * infinite, out=products, where=is_added)
    return np.asarray(products)


def is_finite(x: RawArray) -> bool:
    """Return whether all numbers are finite, by their sum; False also if the sum is too large."""
    return isfinite(np.add.reduce(x, axis=None))
