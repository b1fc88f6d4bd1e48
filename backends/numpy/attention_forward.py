"""Attention in blocks of queries and keys, and the scores, weights and products that its gradient shares.

Keys are read a block at a time. A block can raise the maximum of a query; what was added before is then scaled down.
If all weights of a call that is recorded are few, they are saved for the gradient; otherwise the logarithm of the sum
of exponentials of each query is, from which the gradient computes the weights again.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..dtypes import computing_dtype
from ..heads import Heads
from ..memory import empty
from . import attention_batches as batches
from .attention_batches import HeadBatch, Job, JobRows, attention_jobs, causal_pairs, job_rows, read_mask
from .elementwise import where
from .running import ones, run, scratch, widened

RawArray = NDArray[Any]

BLOCK_KEYS = 1024
CAUSAL_ROWS = 192  # queries of a block, of which none computes scores with keys after the last one
SAVED_WEIGHTS = 64 * 1024 * 1024  # bytes, of a call


def attention(
    q: RawArray, k: RawArray, v: RawArray, mask: RawArray | None, heads: Heads, recorded: bool = True, /
) -> tuple[RawArray, RawArray | None]:
    """Flat buffers -> the flat result, and if recorded what the gradient needs: all weights, or the log-sums."""
    dtype, jobs = computing_dtype(q.dtype), attention_jobs(heads)
    operands, are_weights = contiguous(q, k, v, mask), saves_weights(jobs, dtype)
    out, saved = empty((heads.rows * heads.value_width,), q.dtype), None
    if recorded:
        rows, pairs = (jobs[-1].end_row, jobs[-1].end_pair) if jobs else (0, 0)
        saved = empty((pairs if are_weights else rows,), dtype)

    def work(job: Job) -> None:
        rows = job_rows(heads, job)
        batch = read_batch(job, rows, operands, rows.results.room(out), heads, saved, are_weights)
        for block in row_blocks(batch):
            _attend(batch, heads.scale, block)
        rows.results.write(batch.results, out)

    run(work, [(job,) for job in jobs], heads.pairs * q.itemsize)
    return out, saved


def contiguous(*buffers: RawArray | None) -> tuple[Any, ...]:
    """Return the buffers, or contiguous copies of them."""
    return tuple([None if x is None else np.ascontiguousarray(x) for x in buffers])


def saves_weights(jobs: list[Job], dtype: np.dtype[Any]) -> bool:
    """Return whether weights are saved: if they are few, and the keys of each component are one block."""
    most_keys = max([job.num_keys for job in jobs], default=0)
    return most_keys <= BLOCK_KEYS and bool(jobs) and jobs[-1].end_pair * dtype.itemsize <= SAVED_WEIGHTS


def read_batch(
    job: Job, rows: JobRows, operands: tuple[Any, ...], results: Any, heads: Heads, saved: Any, are_weights: bool
) -> HeadBatch:
    """Return the operands of a job, and the part of the saved weights or log-sums that belongs to it."""
    q, k, v, mask = operands
    pairs, causal = read_mask(mask, heads, job, rows)
    batch = HeadBatch(rows.queries.read(q), rows.keys.read(k), rows.values.read(v), results, pairs, causal)
    if saved is None:
        return batch
    shape = rows.queries.shape
    if are_weights:
        return batch._replace(weights=saved[job.first_pair : job.end_pair].reshape(*shape, job.num_keys))
    return batch._replace(log_sums=saved[job.first_row : job.end_row].reshape(*shape, 1))


# ---- blocks ---------------------------------------------------------------------------------------------------------


def row_blocks(batch: HeadBatch) -> list[slice]:
    """Return the blocks of queries."""
    *heads, queries, _ = batch.queries.shape
    keys = min(max(batch.keys.shape[-2], 1), BLOCK_KEYS)
    step = max(1, 2 * batches.BLOCK_SCORES // (prod(heads) * keys))
    if batch.causal:
        step = min(step, CAUSAL_ROWS)
    return [slice(start, min(start + step, queries)) for start in range(0, queries, step)]


def key_blocks(batch: HeadBatch, rows: slice) -> list[slice]:
    """Return blocks of the keys that a block of queries can meet; of one component, from the first to the last."""
    start, end = 0, batch.keys.shape[-2]
    if batch.causal:
        end = min(end, rows.stop)
    elif batch.mask is not None and len(batch.mask) == 1:
        active_keys = np.flatnonzero(active_pairs(batch, rows, slice(0, end)).any(axis=(0, 1, 2, 3)))
        start, end = (active_keys.item(0), active_keys.item(-1) + 1) if active_keys.size else (0, 0)
    return [slice(first, min(first + BLOCK_KEYS, end)) for first in range(start, end, BLOCK_KEYS)]


def _attend(batch: HeadBatch, scale: float, rows: slice) -> None:
    """Write the results of a block of queries, and their weights or log-sums if these are saved."""
    queries, results = widened(batch.queries[..., rows, :]), batch.results[..., rows, :]
    queries = queries * queries.dtype.type(scale)  # before their products with keys can overflow
    top: Any = queries.dtype.type(-np.inf)
    base: Any = 0
    total: Any = 0
    added: Any = 0
    blocks = key_blocks(batch, rows)
    for columns in blocks:
        scores = active_scores(queries, batch, rows, columns)
        new_top = np.maximum(top, scores.max(axis=-1, keepdims=True))
        base = _finite(new_top)
        weights = np.exp(np.subtract(scores, base, out=scores), out=scores)
        shrink = np.exp(top - base)
        total = _row_sums(weights) + total * shrink
        added = _mix_values(weights, batch, rows, columns) + added * shrink
        top = new_top
    if not blocks:
        results[...] = 0
        return
    total = _divisor(total, batch, rows, slice(0, blocks[-1].stop))
    results[...] = added / total
    if batch.weights is not None:  # saved if the keys are one block
        batch.weights[..., rows, blocks[0]] /= total
    if batch.log_sums is not None:
        batch.log_sums[..., rows, :] = base + np.log(total)


def _finite(top: RawArray) -> RawArray:
    """Return maxima of scores, with the lowest number instead of -inf, which is that of no active pair."""
    return np.asarray(np.maximum(top, np.finfo(top.dtype).min))


def _row_sums(weights: RawArray) -> RawArray:
    """Return the sum of each row, as a product with ones."""
    row = ones(weights.shape[-1], weights.dtype)
    if not weights.flags.c_contiguous:
        return np.asarray(np.matmul(weights, row)[..., None])
    sums = np.matmul(weights.reshape(-1, weights.shape[-1]), row)
    return np.asarray(sums.reshape(*weights.shape[:-1], 1))


def _divisor(total: RawArray, batch: HeadBatch, rows: slice, columns: slice) -> RawArray:
    """Return sums of exponentials; instead of 0, 1 for queries without an active pair, NaN for others (only -inf)."""
    if total.all():
        return total
    has_active = not is_masked(batch) or active_pairs(batch, rows, columns).any(axis=-1, keepdims=True)
    divisor: RawArray = where(total == 0, where(has_active, np.nan, 1).astype(total.dtype), total)
    return divisor


# ---- scores and products that the gradient shares -------------------------------------------------------------------


def active_scores(queries: RawArray, batch: HeadBatch, rows: slice, columns: slice) -> RawArray:
    """Return the scores of scaled queries, -inf for pairs that are not active; in the memory of saved weights."""
    keys = widened(batch.keys[..., columns, :])
    if batch.weights is None:
        out = scratch("scores", (*queries.shape[:-1], keys.shape[-2]), queries.dtype)
    else:
        out = batch.weights[..., rows, columns]
    scores = np.matmul(queries, keys.swapaxes(-1, -2), out=out)
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


def _mix_values(weights: RawArray, batch: HeadBatch, rows: slice, columns: slice) -> RawArray:
    """Return the values of a block of keys, mixed by the weights of a block of queries."""
    values = widened(batch.values[..., columns, :])
    if is_masked(batch) and not is_finite(values):
        return mix_active(weights, values, active_pairs(batch, rows, columns))
    return np.asarray(np.matmul(weights, values))


def mix_active(weights: RawArray, rows: RawArray, active: RawArray) -> RawArray:
    """Return ``weights @ rows``, of which inactive rows take no part whatever they hold; their weights are 0."""
    finite = np.isfinite(rows)
    mixed = np.matmul(weights, where(finite, rows, rows.dtype.type(0)))
    active = np.broadcast_to(active, weights.shape)
    for j in np.flatnonzero(~finite.all(axis=(0, 1, 2, 4))).tolist():
        column, row = slice(j, j + 1), rows[..., j : j + 1, :]
        infinite = where(finite[..., column, :], 0, row)
        np.add(mixed, weights[..., column] * infinite, out=mixed, where=active[..., column] & (infinite != 0))
    return np.asarray(mixed)


def is_finite(*arrays: RawArray) -> bool:
    """Return whether all numbers are finite, by their sums; False also if a sum is too large."""
    return all(np.isfinite(x.sum()) for x in arrays)
