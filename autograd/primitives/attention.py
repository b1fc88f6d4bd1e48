"""Attention: a primitive with kernels, and its formula in other primitives, which holds all scores at once.

Two products keep apart what does not meet, whatever it holds: `meeting` of rows with rows, which is 0 for a pair that
is not seen, and `mixed` of rows with weights, of which those of pairs that are not seen take no part. Each is the
other's adjoint.

The derivatives of second order, and tangents, are those of the formula.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pynested.backends import Heads, Matrices, Segments, get_backend
from pynested.backends.dtypes import computing_dtype
from pynested.backends.heads import Placed
from pynested.backends.host import from_host

from ..array import Array, raw
from ..tape import state
from .binary import where
from .formulas import derivatives_of
from .movement import gather, scatter, to_dtype
from .primitive import Primitive
from .segment import segment_softmax, segment_sum
from .unary import exp, log

# ---- products of what is seen ---------------------------------------------------------------------------------------


def _multiplied(k: Any, a: Any, b: Any, left: Matrices, right: Matrices) -> Any:
    return k.matmul_components(a.reshape(-1), b.reshape(-1), left, right)


def _meeting(k: Any, a: Any, b: Any, left: Matrices, right: Matrices, seen: Any) -> Any:
    found = _multiplied(k, a, b, left, right.transposed)
    return found if seen is None else k.where(seen, found, found.dtype.type(0))


def _mixed(k: Any, weights: Any, rows: Any, left: Matrices, right: Matrices, seen: Any) -> Any:
    if seen is None:
        return _multiplied(k, weights, rows, left, right)
    finite, zero = k.xp.isfinite(rows), rows.dtype.type(0)
    weights = k.where(seen, weights, zero)
    if finite.all():
        return _multiplied(k, weights, rows, left, right)
    found = _multiplied(k, weights, k.where(finite, rows, zero), left, right)
    product = Matrices.of_sizes(left.rows, right.cols)
    wild = k.where(finite, zero, rows)
    for one, own, w, s in zip(*map(_each, (found, wild, weights, seen), (product, right, left, left)), strict=True):
        for j in range(len(own)):
            if own[j].any():  # as it is where it holds a NaN
                one += k.where(s[:, j : j + 1] & (own[j] != 0), w[:, j : j + 1] * own[j], zero)
    return found


def _each(flat: Any, matrices: Matrices) -> list[Any]:
    """A view of each matrix."""
    found = []
    for offset, rows, cols in matrices.places:
        stored = flat[offset : offset + rows * cols]
        found.append(stored.reshape(cols, rows).T if matrices.is_transposed else stored.reshape(rows, cols))
    return found


def _of_weights(g: Any, y: Any, weights: Any, rows: Any, left: Matrices, right: Matrices, seen: Any) -> Any:
    product = Matrices.of_sizes(left.rows, right.cols)
    return meeting(rows, g, right, product, seen) if left.is_transposed else meeting(g, rows, product, right, seen)


def _of_rows(g: Any, y: Any, weights: Any, rows: Any, left: Matrices, right: Matrices, seen: Any) -> Any:
    return mixed(weights, g, left.transposed, Matrices.of_sizes(left.rows, right.cols), seen)


def _of_first(g: Any, y: Any, a: Any, b: Any, left: Matrices, right: Matrices, seen: Any) -> Any:
    return mixed(g, b, Matrices.of_sizes(left.rows, right.rows), right, seen)


def _of_second(g: Any, y: Any, a: Any, b: Any, left: Matrices, right: Matrices, seen: Any) -> Any:
    return mixed(g, a, Matrices.of_sizes(left.rows, right.rows).transposed, left, seen)


meeting: Primitive = Primitive(
    "meeting",
    _meeting,
    vjps=[_of_first, _of_second],
    jvps=[
        lambda t, y, a, b, left, right, seen: meeting(t, b, left, right, seen),
        lambda t, y, a, b, left, right, seen: meeting(a, t, left, right, seen),
    ],
    saves=["b", "a"],
)
mixed: Primitive = Primitive(
    "mixed",
    _mixed,
    vjps=[_of_weights, _of_rows],
    jvps=[
        lambda t, y, weights, rows, left, right, seen: mixed(t, rows, left, right, seen),
        lambda t, y, weights, rows, left, right, seen: mixed(weights, t, left, right, seen),
    ],
    saves=["rows", "weights"],
)


# ---- attention in tracked operations --------------------------------------------------------------------------------


class Given(NamedTuple):
    """Operands as matrices that follow each other, in the dtype that is computed in."""

    queries: Any
    keys: Any
    values: Any
    mask: Any


def _taken(x: Any, placed: Placed) -> Any:
    """The matrices of all heads, one after the other; None stays None."""
    return x if x is None else to_dtype(gather(x, *placed), computing_dtype(x.dtype))


def _given(operands: Any, heads: Heads) -> Given:
    q, k, v, mask = operands
    own = None if mask is None or mask.dtype == np.bool_ else _taken(mask, heads.masks)
    return Given(_taken(q, heads.queries), _taken(k, heads.keys), _taken(v, heads.values), own)


def _packed(placed: Placed) -> Matrices:
    return Matrices.of_sizes(placed.sizes[:, 0], placed.sizes[:, 1])


def _seen(mask: Any, heads: Heads, device: str) -> Any:
    """Which pairs meet, in the order of the scores, as a bare array; None where all do."""
    if heads.causal:
        rows, keys = heads.scores.rows, heads.scores.cols
        pairs = [np.tri(*pair, dtype=np.bool_).ravel() for pair in zip(rows.tolist(), keys.tolist(), strict=True)]
        return from_host(np.concatenate([np.zeros(0, np.bool_), *pairs]), device)
    if mask is None:
        return None
    own = get_backend(device).gather_components(raw(mask), *heads.masks)
    return own if own.dtype == np.bool_ else own != -np.inf


def _of_queries(heads: Heads) -> Segments:
    """The scores of each query."""
    return Segments.from_lengths(np.repeat(heads.scores.cols, heads.scores.rows))


def _weights(given: Given, mask: Any, heads: Heads) -> tuple[Any, Any]:
    """The softmax of the scores, and which pairs count; zeros for a query that meets no key."""
    device, runs = given.queries.device, _of_queries(heads)
    seen = _seen(mask, heads, device)
    scores = meeting(given.queries, given.keys, _packed(heads.queries), _packed(heads.keys), seen) * heads.scale
    if given.mask is not None:
        scores = scores + given.mask
    return softmax_of_seen(scores, seen, runs), seen


def softmax_of_seen(scores: Any, seen: Any, runs: Segments) -> Any:
    """The softmax of each run of scores, of those that are seen, all if that is None; zeros for the others."""
    if seen is None:
        return segment_softmax(scores, runs)
    k = get_backend(scores.device)
    blind = ~k.spread(k.segment_max(seen, runs), runs)
    scores = where(where(scores, scores.dtype.type(-np.inf), seen), scores.dtype.type(0), ~blind)
    weights = segment_softmax(scores, runs)
    return where(weights, weights.dtype.type(0), seen)


def log_sums_of_seen(scores: Any, seen: Any, runs: Segments) -> Any:
    """The logarithm of the sum of exponentials of each run of scores, of those that are seen; -inf without any."""
    k, lowest = get_backend(scores.device), scores.dtype.type(-np.inf)
    if seen is not None:
        scores = where(scores, lowest, seen)
    top = k.segment_max(raw(scores), runs)
    base = k.where(k.xp.isfinite(top), top, top.dtype.type(0))
    total = segment_sum(exp(scores - Array(k.spread(base, runs), scores.device)), runs)
    some = raw(total) != 0
    return where(log(where(total, total.dtype.type(1), some)) + Array(base, scores.device), lowest, some)


def greatest_of_seen(scores: Any, seen: Any, runs: Segments) -> Any:
    """The greatest of each run of scores, of those that are seen; -inf without any. A constant in every derivative."""
    scores = scores.detach() if seen is None else where(scores.detach(), scores.dtype.type(-np.inf), seen)
    return Array(get_backend(scores.device).segment_max(raw(scores), runs), scores.device)


def composed(q: Any, k: Any, v: Any, mask: Any, heads: Heads, factor: Any = None) -> tuple[Any, Any]:
    """Attention in tracked operations, and its weights, which ``factor``, an array like them, multiplies."""
    given = _given((q, k, v, mask), heads)
    weights, seen = _weights(given, mask, heads)
    if factor is not None:
        weights = weights * factor
    result = _made(mixed(weights, given.values, heads.scores, _packed(heads.values), seen), q, heads)
    return result, to_dtype(weights, q.dtype)


def _made(result: Any, like: Any, heads: Heads) -> Any:
    """Results of all heads where they go."""
    return scatter(to_dtype(result, like.dtype), *heads.results, heads.rows * heads.value_width)


# ---- the primitive --------------------------------------------------------------------------------------------------


def _formula(q: Any, keys: Any, v: Any, mask: Any, heads: Heads, *_: Any) -> Any:
    return composed(q, keys, v, mask, heads)[0]


def _kernel_vjp(
    g: Any, y: Any, q: Any, keys: Any, v: Any, mask: Any, heads: Heads, with_mask: bool, recorded: bool, saved: Any
) -> Any:
    return attention_backward(g, q, keys, v, mask, raw(y), saved, heads, with_mask)


def _gradients(
    g: Any, q: Any, keys: Any, v: Any, mask: Any, y: Any, saved: Any, heads: Heads, with_mask: bool
) -> tuple[Any, ...]:
    return tuple(_formula_vjp(g, None, q, keys, v, mask, heads)[:4])


_formula_vjp, _formula_jvp = derivatives_of(_formula)
attention = Primitive(
    "attention",
    lambda k, q, keys, v, mask, heads, with_mask, recorded: k.attention(q, keys, v, mask, heads, recorded),
    vjps=_kernel_vjp,
    jvps=_formula_jvp,
    saves=["y q keys v mask"],
    public="scaled_dot_product_attention",
    has_residuals=True,
)
attention_backward = Primitive(
    "attention_backward",
    lambda k, g, q, keys, v, mask, y, saved, heads, with_mask: k.attention_backward(
        g, q, keys, v, mask, y, saved, heads, with_mask
    ),
    *derivatives_of(_gradients),
    saves=["g q keys v mask"],
)


def attended(q: Any, k: Any, v: Any, mask: Any, heads: Heads) -> Any:
    """Return attention of heads; the kernel keeps what its gradient reads if the call is recorded."""
    recorded = bool(state.mode) and any(x is not None and x.tracked for x in (q, k, v, mask))
    return attention(q, k, v, mask, heads, mask is not None and mask.tracked, recorded)
