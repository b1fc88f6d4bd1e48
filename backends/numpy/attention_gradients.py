"""The gradient of attention, block by block, from weights that are computed again."""

from __future__ import annotations

import numpy as np

from ..head_layout import HeadLayout
from ..plain.widening import RawArray
from ..repeating_views import unbroadcast_view
from .attention_batches import Job, attention_jobs, job_index, mask_index, mask_view
from .attention_forward import (
    HeadBatch,
    active_keys,
    active_pairs,
    block_scores,
    contiguous,
    is_finite,
    multiply_active,
    read_batch,
)
from .parallel import run


def attention_backward(
    g: RawArray,
    q: RawArray,
    k: RawArray,
    v: RawArray,
    mask: RawArray | None,
    out: RawArray,
    saved: RawArray,
    layout: HeadLayout,
    needs_mask_gradient: bool,
    /,
) -> tuple[RawArray, RawArray, RawArray, RawArray | None]:
    """Compute the formulas of the plain kernel for a block of queries at a time."""
    operands, (g, out) = contiguous(q, k, v, mask), contiguous(g, out)
    grads = [np.zeros(x.shape, saved.dtype) for x in (q, k, v)]
    mask_grad = np.zeros(mask.shape, saved.dtype) if needs_mask_gradient and mask is not None else None

    def work(job: Job) -> None:
        index = job_index(layout, job)
        batch = read_batch(job, index, operands, layout, saved)
        cotangents, results = index.results.read(g), index.results.read(out)
        batch_grads = [np.zeros_like(x) for x in (batch.queries, batch.keys, batch.values)]
        for rows in index.row_blocks:
            columns = active_keys(batch, rows)
            d_scores = _add_block(batch, batch_grads, cotangents[..., rows, :], results[..., rows, :], rows, columns)
            if mask_grad is not None:
                _add_to_mask(mask_grad, d_scores, layout, job, batch, rows, columns)
            del d_scores  # the next block uses the memory again
        batch_grads[0] *= layout.scale
        for row_index, batch_grad, grad in zip(index[:3], batch_grads, grads, strict=True):
            row_index.write(batch_grad, grad)

    # Jobs may add to the same element of the mask's gradient. Then they must run on one thread, as for 0 bytes.
    nbytes = 0 if needs_mask_gradient else layout.total_scores * q.itemsize
    run(work, [(job,) for job in attention_jobs(layout)], nbytes)
    q_grad, k_grad, v_grad = (x.astype(q.dtype, copy=False) for x in grads)
    return q_grad, k_grad, v_grad, None if mask_grad is None else mask_grad.astype(q.dtype, copy=False)


def _add_block(
    batch: HeadBatch, grads: list[RawArray], g: RawArray, results: RawArray, rows: slice, columns: slice
) -> RawArray:
    """Add what a block of queries and keys contributes to the gradients, and return the gradients of its scores.

    The gradient of a score is ``weight * (d_weight - mean)``. Here ``d_weight`` is the gradient of the weight, and
    ``mean`` the average of ``d_weight`` weighted by the weights of the query, which is the inner product of its
    cotangent and result. A weight is ``exp(score - maximum) / sum``; instead of the weights, the cotangents are divided
    by the sums. Queries are scaled already; the caller multiplies their gradient by the scale.
    """
    assert batch.saved is not None
    maxima, sums = batch.saved[..., rows, :]
    g = np.divide(g, sums, out=np.zeros_like(g), where=sums > 0)  # the sum of a query without active keys is NaN
    queries, keys, values = batch.queries[..., rows, :], batch.keys[..., columns, :], batch.values[..., columns, :]
    scores, active = block_scores(batch, rows, columns), active_pairs(batch, rows, columns)
    weights = np.exp(np.subtract(scores, maxima, out=scores), out=scores)  # times the sums
    active_transposed = None if active is None else active.swapaxes(-1, -2)
    if active is not None:
        np.copyto(weights, 0, where=~active)
    d_scores: RawArray = np.matmul(g, values.swapaxes(-1, -2))
    d_scores -= np.vecdot(g, results)[..., None]
    d_scores *= weights
    if active is not None and not is_finite(d_scores):  # 0 times NaN is NaN
        np.copyto(d_scores, 0, where=~active)
    _add_product(grads[0][..., rows, :], d_scores, keys, active)
    _add_product(grads[1][..., columns, :], d_scores.swapaxes(-1, -2), queries, active_transposed)
    _add_product(grads[2][..., columns, :], weights.swapaxes(-1, -2), g, active_transposed)
    return d_scores


def _add_product(total: RawArray, left: RawArray, right: RawArray, active: RawArray | None) -> None:
    """Add ``left @ right`` to ``total``; heads of queries that share a head of keys are summed."""
    product = multiply_active(left, right, active)
    total += product if total.shape[2] == product.shape[2] else product.sum(axis=2, keepdims=True)


def _add_to_mask(
    mask_grad: RawArray, d_scores: RawArray, layout: HeadLayout, job: Job, batch: HeadBatch, rows: slice, columns: slice
) -> None:
    """Add the gradients of scores to the gradient of a mask of floats; several scores can share an element of it."""
    if len(job.heads) > 1:
        active = active_pairs(batch, rows, columns)
        np.add.at(mask_grad, mask_index(layout, job)[..., rows, columns][active], d_scores[active])
        return
    view = mask_view(mask_grad, layout, job)[..., rows, columns]
    shared_axes = tuple([axis for axis, step in enumerate(view.strides) if step == 0])
    unbroadcast_view(view)[...] += d_scores.sum(axis=shared_axes, keepdims=True)
