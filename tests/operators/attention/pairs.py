"""Attention compared with sums over pairs of a query and a key: masks, and one comparison for both operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from pynested.spec.encoding import Components

from ...nests import Numbers, place, plain
from ...support import loops


@st.composite
def masks_and_heads(draw: Any) -> tuple[list[Numbers], int, int]:
    """Draw the masks of some components, for each head or for all, and the numbers of heads of query and key."""
    heads, kv_heads = draw(st.sampled_from([(1, 1), (2, 2), (2, 1), (4, 2)]))
    sizes = draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=3))
    mask_heads = draw(st.sampled_from([1, heads]))
    return [draw(arrays.arrays(np.bool_, (mask_heads, *size))) for size in sizes], heads, kv_heads


def check(
    call: Callable[..., Any], masks: list[Numbers], heads: tuple[int, int], layout: Any, placement: str,
    scale: float, added: list[Any],
) -> list[Numbers]:  # fmt: skip
    """Compare a call, in value and gradients, with sums over the pairs that meet.

    Rows of keys and values that no query meets contain NaN.

    Parameters
    ----------
    call : function of nested query, key and value
    heads : numbers of heads of query and of key
    added : for each component, the numbers that the call adds to the scores

    Returns
    -------
    The gradients of the scores of each component.
    """
    heads, kv_heads = heads
    count, group = len(masks), heads // kv_heads
    draw = np.random.default_rng(count).standard_normal
    met = [np.broadcast_to(mask, (heads, *mask.shape[1:])) for mask in masks]
    q, k, v, cotangents = (
        [draw((number, pairs.shape[axis], width)) for pairs in met]
        for number, axis, width in ((heads, 1, 2), (kv_heads, 2, 2), (kv_heads, 2, 3), (heads, 1, 3))
    )
    met_keys = [pairs.reshape(kv_heads, group * pairs.shape[1], pairs.shape[2]).any(axis=1) for pairs in met]
    poisoned = [[np.where(some[..., None], x, np.nan) for x, some in zip(xs, met_keys, strict=True)] for xs in (k, v)]
    placed = [
        place(Components(xs, (count, len(xs[0]), None, xs[0].shape[-1])), layout, placement, 2, True)
        for xs in (q, *poisoned)
    ]
    result = call(*[operand.array for operand in placed])
    assert result.layout is layout
    result.backward(place(Components(cotangents, (count, heads, None, 3)), layout, "packed", 2).array)
    results, to_scores = [plain(result), *[operand.gradient() for operand in placed]], []
    for i, pairs in enumerate(met):
        plus = np.broadcast_to(added[i], pairs.shape)
        out, dq, dk, dv, dm = map(np.stack, zip(*[
            loops.attention(q[i][h], k[i][h // group], v[i][h // group], pairs[h], plus[h], cotangents[i][h], scale)
            for h in range(heads)
        ], strict=True))  # fmt: skip
        dk, dv = (x.reshape(kv_heads, group, *x.shape[1:]).sum(axis=1) for x in (dk, dv))
        for part, due in zip(results, (out, dq, dk, dv), strict=True):
            np.testing.assert_allclose(part[i], due, rtol=1e-12, atol=1e-13, err_msg=f"{i} {pairs}")
        to_scores.append(dm)
    return to_scores
