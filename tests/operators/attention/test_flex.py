"""`flex_attention` against sums over pairs; captured arrays, blocks, log-sums and greatest scores, derivatives."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pynested as pn
from pynested.backends.errors import IndexOutOfRange
from pynested.operators.attention import flex_strips

from ...nests import LAYOUTS, PLACEMENTS, Numbers, assert_same, batch, distinct, nest, plain
from .pairs import check, masks_and_heads

flex, attend = pn.flex_attention, pn.scaled_dot_product_attention
Q = nest(batch([(2, 2, 2), (2, 0, 2), (2, 3, 2)]), ragged=2)
K = nest(batch([(2, 3, 2), (2, 1, 2), (2, 3, 2)], 1), ragged=2)
X = pn.array(distinct((1, 2, 3, 2)))


def mask_function(masks: list[Numbers]) -> Callable[..., Any]:
    """Return a function of masks that reads the pairs of each component in one long vector."""
    flat = pn.array(np.concatenate([*(mask.ravel() for mask in masks), [False]]))
    starts = pn.array(np.cumsum([0, *(mask.size for mask in masks)]))
    keys = pn.array([mask.shape[2] for mask in masks])
    heads = pn.array([mask[0].size if len(mask) > 1 else 0 for mask in masks])
    return lambda b, h, i, j: flat[starts[b] + h * heads[b] + i * keys[b] + j]


def check_masks(
    masks: list[Numbers], heads: tuple[int, int], layout: Any, placement: str, block_size: Any, scored: bool
) -> None:
    """Check one call with a block mask, and the gradient of slopes that its function of scores captures."""
    slope = np.random.default_rng(0).standard_normal(heads[0])
    slopes = pn.array(slope, requires_grad=True)
    mod = (lambda s, b, h, i, j: 2 * s + slopes[h] * (i - j) + b * j) if scored else None
    options = {"scale": 0.25, "enable_gqa": 1 < heads[1] < heads[0]}
    apart = [np.subtract.outer(*map(np.arange, mask.shape[1:])) for mask in masks]

    def call(q: Any, k: Any, v: Any) -> Any:
        return flex(q, k, v, mod, pn.create_nested_block_mask(mask_function(masks), q, k, block_size), **options)

    shifts = [b * np.arange(mask.shape[2]) for b, mask in enumerate(masks)]
    added = [slope[:, None, None] * x + shift if scored else 0.0 for x, shift in zip(apart, shifts, strict=True)]
    to_scores = check(call, masks, heads, layout, placement, 0.5 if scored else 0.25, added)
    if scored and any(mask.any() for mask in masks):
        due = sum((part * distance).sum(axis=(1, 2)) for part, distance in zip(to_scores, apart, strict=True))
        np.testing.assert_allclose(slopes.grad.numpy(), due, rtol=1e-11, atol=1e-12)  # type: ignore[union-attr]


@settings(max_examples=60)
@given(
    masks_and_heads(), st.sampled_from(LAYOUTS), st.sampled_from(PLACEMENTS),
    st.sampled_from([1, 2, (1, 3), (3, 1), 128]), st.booleans(), st.sampled_from([4, 1 << 20]),
)  # fmt: skip
def test_any_masks(masks: Any, layout: Any, placement: str, block_size: Any, scored: bool, most: int) -> None:
    """The result does not depend on the number of scores of a strip."""
    with mock.patch.object(flex_strips, "MOST_SCORES", most):
        check_masks(masks[0], masks[1:], layout, placement, block_size, scored)


def test_dense_operands_have_a_batch() -> None:
    q, k = pn.array(distinct((2, 3, 4, 2))), pn.array(distinct((1, 3, 5, 2), 1))
    keys, slopes = k[[0, 0]], pn.array([0.5, -2.0])
    bias = np.arange(5) * slopes.numpy()[:, None, None, None]
    result, due = flex(q, k, k, lambda s, b, h, i, j: s + slopes[b] * j), attend(q, keys, keys, pn.array(bias))
    np.testing.assert_allclose(result.numpy(), due.numpy(), rtol=1e-14)
    mask = pn.create_block_mask(lambda b, h, i, j: j < 3, None, None, 4, 5, BLOCK_SIZE=2)
    result, due = flex(q, k, k, block_mask=mask), attend(q, keys[:, :, :3], keys[:, :, :3])
    np.testing.assert_allclose(result.numpy(), due.numpy(), rtol=1e-14)


@pytest.mark.parametrize("sizes", [(3, 2, 4, 2), (1, 2, 4, 2), (2, 4, 2), (4, 2)], ids=str)
def test_keys_are_dense_beside_nested_queries(sizes: tuple[int, ...]) -> None:
    keys = pn.array(distinct(sizes))
    mask = pn.create_nested_block_mask(lambda b, h, i, j: i >= j, Q, keys, 2)
    assert_same(flex(Q, keys, keys, block_mask=mask), plain(attend(Q, keys, keys, is_causal=True)), 1e-14)


def test_an_infinite_derivative_at_pairs_that_are_left_out_reaches_no_operand() -> None:
    """Scores of pairs that the mask leaves out are 0, where the root is steep; the gradient is that of the others."""
    mask = pn.create_block_mask(lambda b, h, i, j: i >= j, 1, 1, 3, 3, BLOCK_SIZE=2)
    gradients = []
    for mod in (lambda s, b, h, i, j: pn.sqrt(s), lambda s, b, h, i, j: pn.sqrt(pn.where(i >= j, s, 1.0))):
        x = pn.array(np.abs(distinct((1, 1, 3, 2))) + 1, requires_grad=True)
        (flex(x, x, x, mod, mask) * x).sum().backward()
        gradients.append(x.grad.numpy())  # type: ignore[union-attr]
    assert np.isfinite(gradients[0]).all()
    np.testing.assert_allclose(*gradients, rtol=1e-12)


def test_documents_in_a_nested_array() -> None:
    documents = pn.nested_array([[0, 0, 1], [0], [0, 1, 1]], layout=pn.jagged)
    mask = pn.nested_array([np.equal.outer(ids.numpy(), ids.numpy())[None] for ids in documents.unbind()])
    for of in (lambda b, i: documents[b, i], lambda b, i: documents[b][i]):
        blocks = pn.create_nested_block_mask(lambda b, h, i, j, of=of: of(b, i) == of(b, j), K, BLOCK_SIZE=2)
        assert_same(flex(K, K, K, block_mask=blocks), plain(attend(K, K, K, mask)), 1e-15)


def test_indices_in_several_brackets_are_advised_against() -> None:
    bias, flags, x = pn.zeros(2, 5), pn.ones(2, 5) > 0, X[:, :, [0, 1, 0]]
    for call in (
        lambda: flex(X, x, x, lambda s, b, h, i, j: s + bias[h][j]),
        lambda: pn.create_block_mask(lambda b, h, i, j: flags[h][j], 1, 2, 2, 5),
    ):
        with pytest.raises(IndexOutOfRange, match="out of bounds for dimension 0 of an array of 2") as caught:
            call()
        note = "Indices stand in one pair of brackets: bias[h, kv_idx], not bias[h][kv_idx]."
        assert caught.value.__notes__ == [note]
    with pytest.raises(IndexOutOfRange) as caught:
        bias[2]
    assert not hasattr(caught.value, "__notes__")


def test_keys_of_outer_empty_blocks_are_not_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """In strips of 2 of 6 queries, only keys from the first to the last block that is not empty are computed."""
    monkeypatch.setattr(flex_strips, "MOST_SCORES", 2 * 2 * 6)
    x, strips = pn.array(distinct((1, 2, 6, 2))), []

    def score_mod(score: Any, b: Any, h: Any, i: Any, j: Any) -> Any:
        assert (score.shape, h.shape) == ((2, i.numel(), j.numel()), (2, 1, 1))
        strips.append((i.numpy().ravel().tolist(), j.numpy().ravel().tolist()))
        return score

    mask = pn.create_block_mask(lambda b, h, i, j: (i >= j) & (i - j < 3), 1, 1, 6, 6, BLOCK_SIZE=2)
    flex(x, x, x, score_mod, mask)
    assert strips == [([0, 1], [0, 1]), ([2, 3], [0, 1, 2, 3]), ([4, 5], [2, 3, 4, 5])]


def test_memory_is_that_of_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """All scores of 1,024 queries and keys are 8 MiB, and there would be several arrays of these."""
    monkeypatch.setattr(flex_strips, "MOST_SCORES", 1 << 14)
    x, slope = pn.array(distinct((1, 1, 1024, 2)), requires_grad=True), pn.array(0.01, requires_grad=True)
    tracemalloc.start()
    flex(x, x, x, lambda s, b, h, i, j: s - slope * (i - j)).sum().backward()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert slope.grad is not None and peak < 4 << 20


def test_log_sums_and_greatest_scores_are_returned_as_requested() -> None:
    x = X.to(pn.float16)
    for lse, greatest in product((False, True), repeat=2):
        out, aux = flex(x, x, x, return_aux=pn.AuxRequest(lse, greatest))
        assert type(aux) is pn.AuxOutput and out.dtype == pn.float16
        dtypes = [pn.float32 if is_requested else None for is_requested in (lse, greatest)]
        assert [part if part is None else part.dtype for part in aux] == dtypes


def test_the_greatest_score_is_that_of_a_key_that_the_query_meets() -> None:
    mask = pn.create_block_mask(lambda b, h, i, j: i >= j, 1, 1, 3, 3, BLOCK_SIZE=2)
    request = pn.AuxRequest(max_scores=True)
    _, aux = flex(X, X, X, lambda s, b, h, i, j: 0 * s + (j - i).to(s.dtype), mask, return_aux=request)
    np.testing.assert_array_equal(aux.max_scores.numpy(), np.zeros((1, 2, 3)))


def test_greatest_scores_are_constant() -> None:
    """Neither a gradient nor a tangent flows through them; those of the other results stay."""
    x, tangent = (pn.array(distinct((1, 2, 3, 2), seed)) for seed in range(2))

    def total(q: Any, lse: bool, greatest: bool) -> Any:
        out, aux = flex(q, x, x, lambda s, b, h, i, j: s * s, return_aux=pn.AuxRequest(lse, greatest))
        return out.sum() + (aux.lse.sum() if lse else 0) + (aux.max_scores.sum() if greatest else 0)

    q = x.detach().requires_grad_()
    for lse in (False, True):
        slopes = [pn.grad(total(q, lse, greatest), q).numpy() for greatest in (True, False)]
        np.testing.assert_array_equal(*slopes)
        with_greatest, without = partial(total, lse=lse, greatest=True), partial(total, lse=lse, greatest=False)
        tangents = [pn.jvp(function, (x,), (tangent,))[1].item() for function in (with_greatest, without)]
        assert tangents[0] == tangents[1]
