"""`scaled_dot_product_attention` against sums over pairs; dropped weights, dense operands and derivatives."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import pynested as pn
from pynested.spec.encoding import Components

from ...nests import LAYOUTS, PLACEMENTS, Numbers, batch, distinct, nest, place, plain
from ...support import loops
from .pairs import check, masks_and_heads

attend = pn.scaled_dot_product_attention


def check_masks(masks: list[Numbers], heads: tuple[int, int], layout: Any, placement: str, floats: bool) -> None:
    """Check one call with masks of bools or of floats, and the gradient of the latter."""
    draw = np.random.default_rng(0).standard_normal
    added = [np.where(mask, draw(mask.shape), 0.0) if floats else np.zeros(mask.shape) for mask in masks]
    operands = [np.where(mask, plus, -np.inf) if floats else mask for mask, plus in zip(masks, added, strict=True)]
    mask = place(Components(operands, (len(masks), len(masks[0]), None, None)), pn.strided, placement, 2, floats)
    options = {"scale": 0.25, "enable_gqa": 1 < heads[1] < heads[0]}
    call = lambda q, k, v: attend(q, k, v, mask.array, **options)  # noqa: E731
    to_scores = check(call, masks, heads, layout, placement, 0.25, added)
    for gradient, due in zip(mask.gradient(), to_scores, strict=True) if floats else ():
        total = due if len(gradient) == len(due) else due.sum(axis=0, keepdims=True)
        np.testing.assert_allclose(gradient, total, rtol=1e-12, atol=1e-13)


@settings(max_examples=60)
@given(masks_and_heads(), st.sampled_from(LAYOUTS), st.sampled_from(PLACEMENTS), st.booleans())
def test_any_masks(masks: Any, layout: Any, placement: str, floats: bool) -> None:
    check_masks(masks[0], masks[1:], layout, placement, floats)


def test_heads_split_from_the_last_dimension() -> None:
    x = nest(batch([(2, 6), (0, 6), (3, 6)]))
    q = x.unflatten(-1, (3, 2)).transpose(1, 2)
    out = attend(q, q, q).transpose(1, 2).flatten(2)
    assert out.is_contiguous()
    for got, rows in zip(plain(out), plain(x), strict=True):
        heads = rows.reshape(len(rows), 3, 2).swapaxes(0, 1)
        np.testing.assert_allclose(got, attend(heads, heads, heads).numpy().swapaxes(0, 1).reshape(got.shape), 1e-15)


def test_dense_operands_are_one_component_of_many_heads() -> None:
    q, k, mask = distinct((2, 3, 4, 2)), distinct((2, 3, 5, 2), 1), distinct((2, 1, 4, 5), 2)
    result = attend(pn.array(q), pn.array(k), pn.array(k), pn.array(mask))
    assert isinstance(result, pn.Array)
    for i, h in np.ndindex(2, 3):
        due = loops.attention(q[i, h], k[i, h], k[i, h], np.ones((4, 5), bool), mask[i, 0], q[i, h], 2**-0.5)[0]
        np.testing.assert_allclose(result.numpy()[i, h], due, rtol=1e-12, atol=1e-13)


def test_three_ragged_dimensions_give_a_strided_result() -> None:
    shapes = [(2, 2, 5, 3), (4, 2, 4, 3), (2, 4, 4, 3)]
    pairs = zip(shapes, ([0, 2, 5], [0, 2, 4], [0, 2, 4]), (3, 1, 2), strict=True)
    operands = [pn.nested_array_from_jagged(distinct(shape), offsets, jagged_dim=dim) for shape, offsets, dim in pairs]
    result = attend(*operands)
    assert result.layout is pn.strided
    for component, *parts in zip(plain(result), *[operand.unbind() for operand in operands], strict=True):
        np.testing.assert_allclose(component, attend(*parts).numpy(), rtol=1e-12, atol=1e-13)


def test_the_gradient_drops_the_same_weights() -> None:
    x = pn.array(distinct((3, 2)))
    pn.gradcheck(lambda q, k, v: attend(q, k, v, dropout_p=0.5, generator=np.random.default_rng(5)), (x, x, x))


def test_a_key_that_only_the_last_query_meets_can_contain_nan() -> None:
    """Fused and recorded gradients of the other queries agree, by a mask, a block mask and a function of scores."""
    mask = pn.create_block_mask(lambda b, h, i, j: i >= j, 1, 1, 3, 3, BLOCK_SIZE=2)
    calls: list[Any] = [
        lambda *x: attend(*x, is_causal=True),
        lambda *x: pn.flex_attention(*x, block_mask=mask),
        lambda *x: pn.flex_attention(*x, lambda s, b, h, i, j: pn.where(i >= j, s, -np.inf)),
    ]
    q, k, v = (distinct((1, 1, 3, 2), seed) / 4 for seed in range(3))
    k[..., 2, :], v[..., 2, :] = np.nan, np.inf
    gradients = []
    for call, recorded in product(calls, (False, True)):
        leaves = [pn.array(x, requires_grad=True) for x in (q, k, v)]
        call(*leaves)[:, :, :2].backward(pn.array(distinct((1, 1, 2, 2), 7)), create_graph=recorded)
        gradients.append([leaf.grad.detach().numpy()[:, :, :2] for leaf in leaves])  # type: ignore[union-attr]
    assert np.isfinite(gradients[0][0]).all()
    for others in gradients[1:]:
        np.testing.assert_allclose(others, gradients[0], rtol=1e-12, atol=1e-14)


def test_half_precision_is_computed_wide() -> None:
    """The sum of 2,049 weights of one score in float16 would end at 2,048."""
    x = pn.zeros(2049, 1, dtype=pn.float16)
    assert attend(x[:1], x, pn.ones(2049, 1, dtype=pn.float16)).item() == 1.0
