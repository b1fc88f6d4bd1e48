"""Attention in blocks of queries, and the scores and products that its gradient shares.

A call with a gradient saves all its weights if they are few. Otherwise it saves the log-sum of each query, which is the
logarithm of the sum of the exponentials of its scores. From the log-sums the gradient computes the weights again.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..caching_allocator import empty
from ..dtypes import computing_dtype
from ..heads import HeadLayout
from . import attention_batches as batches
from .attention_batches import HeadBatch, Job, JobRows, attention_jobs, causal_pairs, job_rows, read_mask
from .elementwise import where
from .parallel import run, widened

RawArray = NDArray[Any]

FEWEST_ROWS = 16  # queries of a block; a product with fewer rows is slow
CAUSAL_ROWS = 192  # queries of a block, of which none computes scores with keys after the last one
SAVED_KEYS = 1024  # of a component
SAVED_WEIGHTS = 64 * 1024 * 1024  # bytes, of a call


def attention(
    q: RawArray, k: RawArray, v: RawArray, mask: RawArray | None, layout: HeadLayout, needs_gradient: bool = True, /
) -> tuple[RawArray, RawArray | None]:
    """Flat buffers -> the flat result, and what `attention_backward` gets as saved, None unless ``needs_gradient``."""
    dtype, jobs, operands = computing_dtype(q.dtype), attention_jobs(layout), contiguous(q, k, v, mask)
    are_weights = saves_weights(jobs, dtype)
    out, saved = empty((layout.rows * layout.value_width,), q.dtype), None
    if needs_gradient:
        rows, pairs = (jobs[-1].end_row, jobs[-1].end_pair) if jobs else (0, 0)
        saved = empty((pairs if are_weights else rows,), dtype)

    def work(job: Job) -> None:
        places = job_rows(layout, job)
        batch = read_batch(job, places, operands, layout, saved, are_weights)
        results = np.empty(places.results.shape, q.dtype)
        for block in row_blocks(batch):
            results[..., block, :] = _attend(batch, layout.scale, block)
        places.results.write(results, out)

    run(work, [(job,) for job in jobs], layout.pairs * q.itemsize)
    return out, saved


def contiguous(*buffers: RawArray | None) -> tuple[Any, ...]:
    """Return the buffers, or contiguous copies of them."""
    return tuple([None if x is None else np.ascontiguousarray(x) for x in buffers])


def saves_weights(jobs: list[Job], dtype: np.dtype[Any]) -> bool:
    """Return whether all weights are saved: if they are few, and no component has many keys."""
    most_keys = max([job.num_keys for job in jobs], default=0)
    return most_keys <= SAVED_KEYS and bool(jobs) and jobs[-1].end_pair * dtype.itemsize <= SAVED_WEIGHTS


def read_batch(
    job: Job, places: JobRows, operands: tuple[Any, ...], layout: HeadLayout, saved: RawArray | None, are_weights: bool
) -> HeadBatch:
    """Return the operands of a job, and its part of what is saved: weights, or log-sums."""
    q, k, v, mask = operands
    pairs, causal = read_mask(mask, layout, job, places)
    batch = HeadBatch(places.queries.read(q), places.keys.read(k), places.values.read(v), pairs, causal)
    *shape, _ = places.queries.shape
    if saved is None:
        return batch
    if are_weights:
        return batch._replace(weights=saved[job.first_pair : job.end_pair].reshape(*shape, job.num_keys))
    return batch._replace(log_sums=saved[job.first_row : job.end_row].reshape(*shape, 1))


# ---- blocks ---------------------------------------------------------------------------------------------------------


def row_blocks(batch: HeadBatch) -> list[slice]:
    """Return the blocks of queries."""
    *heads, queries, _ = batch.queries.shape
    step = max(FEWEST_ROWS, 2 * batches.BLOCK_SCORES // (prod(heads) * max(1, batch.keys.shape[-2])))
    if batch.causal:
        step = min(step, CAUSAL_ROWS)
    return [slice(start, min(start + step, queries)) for start in range(0, queries, step)]


def active_keys(batch: HeadBatch, rows: slice) -> slice:
    """Return the keys that a block of queries can meet; of one component, from the first to the last."""
    start, stop = 0, batch.keys.shape[-2]
    if batch.causal:
        stop = min(stop, rows.stop)
    elif batch.mask is not None and len(batch.mask) == 1:
        active = np.flatnonzero(active_pairs(batch, rows, slice(0, stop)).any(axis=(0, 1, 2, 3)))
        start, stop = (active.item(0), active.item(-1) + 1) if active.size else (0, 0)
    return slice(start, stop)


def _attend(batch: HeadBatch, scale: float, rows: slice) -> RawArray | int:
    """Return the results of a block of queries, and write their weights or log-sums if these are saved."""
    columns = active_keys(batch, rows)
    if columns.stop == 0:
        return 0
    queries = widened(batch.queries[..., rows, :])
    scores = active_scores(queries, batch, scale, rows, columns)
    # The maximum of a query without active pairs is -inf, which is replaced by the lowest finite number.
    maxima = np.maximum(scores.max(axis=-1, keepdims=True), np.finfo(scores.dtype).min)
    weights = np.exp(np.subtract(scores, maxima, out=scores), out=scores)
    totals = _divisors(_row_sums(weights), batch, rows, columns)
    results: RawArray = _weighted_values(weights, batch, rows, columns) / totals
    if batch.weights is not None:  # `active_scores` wrote the scores there, so the weights are in this memory
        weights /= totals
    if batch.log_sums is not None:
        batch.log_sums[..., rows, :] = maxima + np.log(totals)
    return results


def _row_sums(weights: RawArray) -> RawArray:
    """Return the sum of each row, as a product with ones."""
    row = np.ones(weights.shape[-1], weights.dtype)
    if not weights.flags.c_contiguous:
        return np.asarray(np.matmul(weights, row)[..., None])
    sums = np.matmul(weights.reshape(-1, weights.shape[-1]), row)
    return np.asarray(sums.reshape(*weights.shape[:-1], 1))


def _divisors(totals: RawArray, batch: HeadBatch, rows: slice, columns: slice) -> RawArray:
    """Return the sums of exponentials by which weights are divided.

    A sum of 0 is replaced: by 1 if the query has no active pair, and by NaN if all scores of its active pairs are -inf.
    """
    if totals.all():
        return totals
    has_active = not is_masked(batch) or active_pairs(batch, rows, columns).any(axis=-1, keepdims=True)
    divisors: RawArray = where(totals == 0, where(has_active, np.nan, 1).astype(totals.dtype), totals)
    return divisors


# ---- scores and products that the gradient shares -------------------------------------------------------------------


def active_scores(queries: RawArray, batch: HeadBatch, scale: float, rows: slice, columns: slice) -> RawArray:
    """Return the scores of a block, -inf for pairs that are not active; if weights are saved, in their memory."""
    keys = widened(batch.keys[..., columns, :])
    out = None if batch.weights is None else batch.weights[..., rows, columns]
    # Queries are scaled before their products with keys can overflow.
    scores: RawArray = np.matmul(queries * queries.dtype.type(scale), keys.swapaxes(-1, -2), out=out)
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


def _weighted_values(weights: RawArray, batch: HeadBatch, rows: slice, columns: slice) -> RawArray:
    """Return the sums of the values of a block of keys, with the weights of a block of queries."""
    values = widened(batch.values[..., columns, :])
    if is_masked(batch) and not is_finite(values):
        return multiply_active(weights, values, active_pairs(batch, rows, columns))
    return np.asarray(np.matmul(weights, values))


def multiply_active(weights: RawArray, rows: RawArray, active: RawArray) -> RawArray:
    """Return ``weights @ rows`` over the active pairs; the weights of other pairs are 0, their rows can be infinite."""
    finite = np.isfinite(rows)
    products = np.matmul(weights, where(finite, rows, rows.dtype.type(0)))
    active = np.broadcast_to(active, weights.shape)
    for j in np.flatnonzero(~finite.all(axis=(0, 1, 2, 4))).tolist():
        column, row = slice(j, j + 1), rows[..., j : j + 1, :]
        infinite = where(finite[..., column, :], 0, row)
        is_added = active[..., column] & (infinite != 0)
        np.add(products, weights[..., column] * infinite, out=products, where=is_added)
    return np.asarray(products)


def is_finite(*arrays: RawArray) -> bool:
    """Return whether all numbers are finite, by their sums; False also if a sum is too large."""
    return all(np.isfinite(x.sum()) for x in arrays)
