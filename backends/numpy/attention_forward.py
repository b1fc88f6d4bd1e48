"""Attention in blocks of queries, and the scores and products that its gradient shares.

For the gradient, a call saves the log-sum of each query: the logarithm of the sum of the exponentials of its scores.
The gradient computes the weights again from the log-sums.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..caching_allocator import empty
from ..dtypes import computing_dtype
from ..head_layout import HeadLayout
from . import attention_batches as batches
from .attention_batches import Job, JobIndex, attention_jobs, causal_pairs, job_index, read_mask
from .elementwise import where
from .parallel import run

RawArray = NDArray[Any]

LEAST_ROWS = 16  # A block has at least so many queries. A product with fewer rows is slow.
CAUSAL_ROWS = 192  # A causal block has at most so many queries. It computes no scores with keys after its last query.


class HeadBatch(NamedTuple):
    """Matrices of K components, with C heads of keys and G heads of queries for each head of keys. Halves are float32.

    In the functions below, ``rows`` and ``columns`` are slices of the queries and of the keys of a batch: the rows and
    columns of the matrices of scores.
    """

    queries: RawArray  # (K, C, G, L, E), multiplied by the scale
    keys: RawArray  # (K, C, 1, S, E)
    values: RawArray  # (K, C, 1, S, V)
    mask: RawArray | None  # (K, C or 1, G or 1, L, S)
    causal: bool
    log_sums: RawArray | None  # (K, C, G, L, 1): memory that is saved for the gradient


def attention(
    q: RawArray, k: RawArray, v: RawArray, mask: RawArray | None, layout: HeadLayout, needs_gradient: bool = True, /
) -> tuple[RawArray, RawArray | None]:
    """Flat buffers -> the flat result, and the log-sums of all jobs, None unless ``needs_gradient``."""
    jobs, operands = attention_jobs(layout), contiguous(q, k, v, mask)
    out, log_sums = empty((layout.result_numel,), q.dtype), None
    if needs_gradient:
        log_sums = empty((jobs[-1].log_sum_positions.stop if jobs else 0,), computing_dtype(q.dtype))

    def work(job: Job) -> None:
        index = job_index(layout, job)
        batch = read_batch(job, index, operands, layout, log_sums)
        results = np.empty(index.results.shape, q.dtype)
        for rows in row_blocks(batch):
            results[..., rows, :] = _attend(batch, rows)
        index.results.write(results, out)

    run(work, [(job,) for job in jobs], layout.total_scores * q.itemsize)
    return out, log_sums


def contiguous(*buffers: RawArray | None) -> tuple[Any, ...]:
    """Return the buffers, or contiguous copies of them."""
    return tuple([None if x is None else np.ascontiguousarray(x) for x in buffers])


def read_batch(
    job: Job, index: JobIndex, operands: tuple[Any, ...], layout: HeadLayout, log_sums: RawArray | None
) -> HeadBatch:
    """Return the operands of a job, and the memory of its log-sums."""
    q, k, v, mask = operands
    queries = index.queries.read(q)
    # The queries are scaled, not the scores: products with keys that are not scaled could overflow.
    queries *= queries.dtype.type(layout.scale)
    keys, values = index.keys.read(k), index.values.read(v)
    if log_sums is not None:
        log_sums = log_sums[job.log_sum_positions].reshape(*queries.shape[:-1], 1)
    return HeadBatch(queries, keys, values, *read_mask(mask, layout, job, index), log_sums)


# ---- blocks ---------------------------------------------------------------------------------------------------------


def row_blocks(batch: HeadBatch) -> list[slice]:
    """Return the blocks of queries."""
    *heads, num_queries, _ = batch.queries.shape
    step = max(LEAST_ROWS, 2 * batches.BLOCK_SCORES // (prod(heads) * max(1, batch.keys.shape[-2])))
    if batch.causal:
        step = min(step, CAUSAL_ROWS)
    return [slice(start, min(start + step, num_queries)) for start in range(0, num_queries, step)]


def active_keys(batch: HeadBatch, rows: slice) -> slice:
    """Return a slice of keys that includes all active keys of a block of queries."""
    start, stop = 0, batch.keys.shape[-2]
    if batch.causal:
        stop = min(stop, rows.stop)
    elif batch.mask is not None and len(batch.mask) == 1:
        active = np.flatnonzero(active_pairs(batch, rows, slice(0, stop)).any(axis=(0, 1, 2, 3)))
        start, stop = (active.item(0), active.item(-1) + 1) if active.size else (0, 0)
    return slice(start, stop)


def _attend(batch: HeadBatch, rows: slice) -> RawArray | int:
    """Return the results of a block of queries, and write their log-sums if these are saved."""
    columns = active_keys(batch, rows)
    if columns.stop == 0:  # The gradient reads no log-sum of these queries, as they have no scores.
        return 0
    scores = active_scores(batch, rows, columns)
    # The maximum of a query without active pairs is the lowest finite number, not -inf.
    maxima = scores.max(axis=-1, keepdims=True, initial=np.finfo(scores.dtype).min)
    weights = np.exp(np.subtract(scores, maxima, out=scores), out=scores)
    divisors = _divisors(weights.sum(axis=-1, keepdims=True), batch, rows, columns)
    if batch.log_sums is not None:
        batch.log_sums[..., rows, :] = maxima + np.log(divisors)
    return np.asarray(_weighted_values(weights, batch, rows, columns) / divisors)


def _divisors(sums: RawArray, batch: HeadBatch, rows: slice, columns: slice) -> RawArray:
    """Return the sums of exponentials by which weights are divided, in the memory of ``sums``.

    A sum of 0 is replaced: by 1 if the query has no active pair, and by NaN if all scores of its active pairs are -inf.
    """
    is_zero = sums == 0
    if is_zero.any():
        has_active = not is_masked(batch) or active_pairs(batch, rows, columns).any(axis=-1, keepdims=True)
        np.copyto(sums, 1, where=is_zero)
        np.copyto(sums, np.nan, where=is_zero & has_active)
    return sums


def _weighted_values(weights: RawArray, batch: HeadBatch, rows: slice, columns: slice) -> RawArray:
    """Return the sums of the values of a block of keys, with the weights of a block of queries."""
    values = batch.values[..., columns, :]
    if is_masked(batch) and not is_finite(values):
        return multiply_active(weights, values, active_pairs(batch, rows, columns))
    return np.asarray(np.matmul(weights, values))


# ---- scores and products that the gradient shares -------------------------------------------------------------------


def active_scores(batch: HeadBatch, rows: slice, columns: slice) -> RawArray:
    """Return the scores of a block, -inf for pairs that are not active."""
    scores: RawArray = np.matmul(batch.queries[..., rows, :], batch.keys[..., columns, :].swapaxes(-1, -2))
    if batch.mask is not None and batch.mask.dtype != np.bool_:
        scores += batch.mask[..., rows, columns]
    if batch.mask is not None or (batch.causal and columns.stop > rows.start + 1):
        np.copyto(scores, -np.inf, where=~active_pairs(batch, rows, columns))
    return scores


def is_masked(batch: HeadBatch) -> bool:
    """Return whether a pair can be inactive."""
    return batch.causal or batch.mask is not None


def active_pairs(batch: HeadBatch, rows: slice, columns: slice) -> RawArray:
    """Return which pairs of a masked block are active."""
    if batch.mask is None:
        return causal_pairs(rows.stop - rows.start, columns.stop - columns.start, rows.start - columns.start)
    mask = batch.mask[..., rows, columns]
    return np.asarray(mask if mask.dtype == np.bool_ else mask != -np.inf)


def multiply_active(weights: RawArray, matrix: RawArray, active: RawArray) -> RawArray:
    """Return ``weights @ matrix`` over the active pairs. Infinite or NaN rows of other pairs change nothing.

    The weights of the pairs that are not active are 0.
    """
    finite = np.isfinite(matrix)
    products = np.matmul(weights, where(finite, matrix, matrix.dtype.type(0)))
    active = np.broadcast_to(active, weights.shape)
    for j in np.flatnonzero(~finite.all(axis=(0, 1, 2, 4))).tolist():
        weight, row = weights[..., j : j + 1], matrix[..., j : j + 1, :]
        infinite = where(finite[..., j : j + 1, :], 0, row)
        is_added = active[..., j : j + 1] & (infinite != 0)
        np.add(products, weight * infinite, out=products, where=is_added)
    return np.asarray(products)


def is_finite(*arrays: RawArray) -> bool:
    """Return whether all numbers are finite, by their sums; False also if a sum is too large."""
    return all(np.isfinite(x.sum()) for x in arrays)
