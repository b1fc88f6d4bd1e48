"""The gradient of attention, block by block, from weights that were saved, or computed again from log-sums."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..heads import HeadLayout
from .attention_batches import HeadBatch, Job, attention_jobs, job_rows, mask_index, mask_view
from .attention_forward import (
    active_keys,
    active_pairs,
    active_scores,
    contiguous,
    is_finite,
    is_masked,
    multiply_active,
    read_batch,
    row_blocks,
    saves_weights,
)
from .elementwise import where
from .parallel import run, widened

RawArray = NDArray[Any]


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
    """Return the cotangents of q, k and v, and that of a mask of floats if ``needs_mask_gradient``, otherwise None.

    Each cotangent has the size of its buffer.
    """
    operands, (g, out) = contiguous(q, k, v, mask), contiguous(g, out)
    grads = [np.zeros(x.shape, saved.dtype) for x in (q, k, v)]
    mask_grad = np.zeros(mask.shape, saved.dtype) if needs_mask_gradient and mask is not None else None
    jobs = attention_jobs(layout)
    are_weights = saves_weights(jobs, saved.dtype)

    def work(job: Job) -> None:
        places = job_rows(layout, job)
        batch = read_batch(job, places, operands, layout, saved, are_weights)
        cotangents, outputs = places.results.read(g), places.results.read(out)
        batch_grads = [np.zeros(x.shape, saved.dtype) for x in batch[:3]]  # of queries, keys and values
        for block in row_blocks(batch):
            columns = active_keys(batch, block)
            block_g, block_outputs = widened(cotangents[..., block, :]), widened(outputs[..., block, :])
            d_scores = _add_block(batch, batch_grads, block_g, block_outputs, layout.scale, block, columns)
            if mask_grad is not None:
                _add_to_mask(mask_grad, d_scores, layout, job, batch, block, columns)
            del d_scores  # the next block uses the memory again
        for operand_places, batch_grad, grad in zip(places[:3], batch_grads, grads, strict=True):
            operand_places.write(batch_grad, grad)

    # Jobs can share elements of a mask. To add to its gradient they run on one thread, as they do for 0 bytes.
    run(work, [(job,) for job in jobs], 0 if needs_mask_gradient else layout.pairs * q.itemsize)
    q_grad, k_grad, v_grad = (x.astype(q.dtype, copy=False) for x in grads)
    return q_grad, k_grad, v_grad, None if mask_grad is None else mask_grad.astype(q.dtype, copy=False)


def _add_block(
    batch: HeadBatch, grads: list[RawArray], g: RawArray, outputs: RawArray, scale: float, rows: slice, columns: slice
) -> RawArray:
    """Add what a block of queries and keys contributes to the gradients, and return the gradients of its scores.

    The gradient of a score is ``weight * (d_weight - mean)``, with ``d_weight`` the gradient of the weight. ``mean`` is
    the mean of ``d_weight`` over the query's weights; it equals the product of cotangent and result.
    """
    queries = widened(batch.queries[..., rows, :])
    keys, values = widened(batch.keys[..., columns, :]), widened(batch.values[..., columns, :])
    if batch.weights is not None:
        weights = batch.weights[..., rows, columns]
    else:
        scores = active_scores(queries, batch, scale, rows, columns)
        weights = np.exp(np.subtract(scores, batch.log_sums[..., rows, :], out=scores), out=scores)
    d_scores: RawArray = np.matmul(g, values.swapaxes(-1, -2))
    mean, active = np.vecdot(g, outputs)[..., None], None
    # 0 times NaN is NaN, so pairs that are not active are left out. If one weight of a query is NaN, all are.
    if is_masked(batch) and not is_finite(queries, keys, d_scores, mean, weights[..., :1]):
        active = np.broadcast_to(active_pairs(batch, rows, columns), weights.shape)
        weights = where(active, weights, 0)
    d_scores -= mean
    d_scores *= weights
    if active is not None:
        np.copyto(d_scores, 0, where=~active)
    d_products = d_scores * d_scores.dtype.type(scale)
    active_transposed = None if active is None else active.swapaxes(-1, -2)
    _add_product(grads[0][..., rows, :], d_products, keys, active)
    _add_product(grads[1][..., columns, :], d_products.swapaxes(-1, -2), queries, active_transposed)
    _add_product(grads[2][..., columns, :], weights.swapaxes(-1, -2), g, active_transposed)
    return d_scores


def _add_product(total: RawArray, weights: RawArray, rows: RawArray, active: RawArray | None) -> None:
    """Add the product of weights and rows to ``total``; heads of queries that share a head of keys are summed."""
    product = np.matmul(weights, rows) if active is None or is_finite(rows) else multiply_active(weights, rows, active)
    total += product if total.shape[2] == product.shape[2] else product.sum(axis=2, keepdims=True)


def _add_to_mask(
    mask_grad: RawArray, d_scores: RawArray, layout: HeadLayout, job: Job, batch: HeadBatch, rows: slice, columns: slice
) -> None:
    """Add the gradients of scores to the gradient of a mask of floats; several scores can share an element of it."""
    shape = (*batch.queries.shape[:4], batch.keys.shape[3])
    if len(job.components) > 1:
        active = active_pairs(batch, rows, columns)
        np.add.at(mask_grad, mask_index(layout, job, shape)[..., rows, columns][active], d_scores[active])
        return
    view = mask_view(mask_grad, layout, job, shape)
    shared = [axis for axis, step in enumerate(view.strides) if step == 0]
    places = [slice(None), slice(None), slice(None), rows, columns]
    for axis in shared:
        places[axis] = slice(1)
    view[tuple(places)] += d_scores.sum(axis=tuple(shared), keepdims=True)
