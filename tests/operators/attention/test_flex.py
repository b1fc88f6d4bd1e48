"""Flex attention on every small batch, against sums over pairs; what functions see and leave out; derivatives."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.spec.encoding import Components

from ...nests import assert_same, batch, distinct, nest, place, plain
from ...support import loops
from .test_sdpa import shapes_and_masks

flex = pn.flex_attention
SIZES = [(2, 2, 2), (2, 0, 2), (2, 3, 2)]
Q, K = nest(batch(SIZES), ragged=2), nest(batch([(2, 3, 2), (2, 1, 2), (2, 3, 2)], 1), ragged=2)


def looked_up(masks: list[Any]) -> Any:
    """A function of masks that reads the pairs of each component in one long vector."""
    starts = np.cumsum([0, *(mask.size for mask in masks)])
    flat, at = pn.array(np.concatenate([*(mask.ravel() for mask in masks), [False]])), pn.array(starts)
    keys = pn.array(np.array([mask.shape[1] for mask in masks]))
    return lambda b, h, i, j: flat[at[b] + i * keys[b] + j]


def check(masks: list[Any], heads: int, layout: Any, placement: str, block_size: Any) -> None:
    """One call for components of which each has a mask, with NaN in what no query of a component meets."""
    sizes = [mask.shape for mask in masks]
    draw = np.random.default_rng(len(masks)).standard_normal
    q, k, v, cotangents = (
        [draw((heads, pair[at], width)) for pair in sizes] for at, width in ((0, 2), (1, 2), (1, 3), (0, 3))
    )
    left_out = [~mask.any(axis=0) for mask in masks]
    given = [[np.where(gone[:, None], np.nan, x) for x, gone in zip(whole, left_out, strict=True)] for whole in (k, v)]
    count, slope = len(masks), draw(heads)
    placed = [
        place(Components(x, (count, heads, None, x[0].shape[-1])), layout, placement, 2, True) for x in (q, *given)
    ]
    arrays, slopes = [one.array for one in placed], pn.array(slope, requires_grad=True)
    mask = pn.create_nested_block_mask(looked_up(masks), *arrays[:2], BLOCK_SIZE=block_size)
    result = flex(*arrays, lambda s, b, h, i, j: 2 * s + slopes[h] * (i - j), mask, scale=0.25)
    assert result.layout is layout
    result.backward(place(Components(cotangents, (count, heads, None, 3)), layout, "packed", 2).array)
    found, to_slopes = [plain(result), *[one.gradient() for one in placed]], np.zeros(heads)
    for i, met in enumerate(masks):
        apart = np.subtract.outer(np.arange(met.shape[0]), np.arange(met.shape[1]))
        due = [
            loops.attention(q[i][h], k[i][h], v[i][h], met, slope[h] * apart, cotangents[i][h], 0.5)
            for h in range(heads)
        ]
        for part, expected in zip(found, zip(*due, strict=True), strict=False):
            np.testing.assert_allclose(part[i], np.stack(expected), rtol=1e-12, atol=1e-13, err_msg=f"{i} {met}")
        to_slopes += [(one[4] * apart).sum() for one in due]
    if any(mask.any() for mask in masks):
        np.testing.assert_allclose(slopes.grad.numpy(), to_slopes, rtol=1e-11, atol=1e-12)
    else:
        assert slopes.grad is None


@pytest.mark.parametrize(("layout", "placement", "heads"), [(pn.jagged, "holes", 2), (pn.strided, "transposed", 1)])
def test_every_mask_of_every_small_shape(layout: Any, placement: str, heads: int) -> None:
    for (_, _, masks), block_size in product(shapes_and_masks(), (1, (1, 2)) if heads == 1 else (2,)):
        check(masks[:: 1 if len(masks) < 20 else 3], heads, layout, placement, block_size)


def test_components_of_different_lengths(layout: Any) -> None:
    rng = np.random.default_rng(0)
    pairs = list(product(range(4), repeat=2))
    for number in range(12):
        sizes = [pairs[i] for i in rng.integers(0, len(pairs), 1 + number % 3)]
        check([rng.random(size) < 0.6 for size in sizes], 1 + number % 2, layout, "holes", 1 + number % 3)


class TestOneThatIsScaledDotProductAttention:
    def test_without_a_function(self, layout: Any) -> None:
        q, k = (nest(plain(x), layout, ragged=2) for x in (Q, K))
        assert_same(flex(q, k, k), plain(pn.scaled_dot_product_attention(q, k, k)), 1e-15)
        same = flex(q, k, k, lambda s, b, h, i, j: s)
        assert same.layout is layout
        assert_same(same, plain(pn.scaled_dot_product_attention(q, k, k)), 1e-15)

    @pytest.mark.parametrize("block_size", [1, 2, (3, 1), 128])
    def test_with_a_mask(self, layout: Any, block_size: Any) -> None:
        q, k = (nest(plain(x), layout, ragged=2) for x in (Q, K))
        mask = pn.create_nested_block_mask(lambda b, h, i, j: i >= j, q, k, block_size)
        due = plain(pn.scaled_dot_product_attention(q, k, k, is_causal=True))
        assert_same(flex(q, k, k, block_mask=mask), due, 1e-15)
        assert_same(flex(q, k, k, lambda s, b, h, i, j: s, mask), due, 1e-15)
        assert_same(flex(q, k, k, lambda s, b, h, i, j: pn.where(i >= j, s, -np.inf)), due, 1e-15)

    def test_in_groups_of_heads_of_which_each_has_a_mask(self) -> None:
        q, k = nest(batch([(4, 2, 2), (4, 3, 2)]), ragged=2), nest(batch([(2, 3, 2), (2, 2, 2)], 1), ragged=2)
        mask = pn.create_nested_block_mask(lambda b, h, i, j: (i + j + h) % 3 > 0, q, k, 2)
        assert mask.shape == (2, 4, None, None)
        seen = [
            np.add.outer(np.arange(4), np.add.outer(np.arange(n), np.arange(m))) % 3 > 0 for n, m in ((2, 3), (3, 2))
        ]
        own = pn.nested_array(seen)
        due = plain(pn.scaled_dot_product_attention(q, k, k, own, enable_gqa=True))
        for mod in (None, lambda s, b, h, i, j: s):
            assert_same(flex(q, k, k, mod, mask, enable_gqa=True), due, 1e-15)

    def test_dense_operands_have_a_batch(self) -> None:
        q, k = pn.array(distinct((2, 3, 4, 2))), pn.array(distinct((1, 3, 5, 2), 1))
        offsets = pn.array([0.5, -2.0])
        found = flex(q, k, k, lambda s, b, h, i, j: s + offsets[b] * j)
        bias = np.arange(5) * np.array([0.5, -2.0])[:, None, None, None]
        due = pn.scaled_dot_product_attention(q, k[[0, 0]], k[[0, 0]], pn.array(bias))
        np.testing.assert_allclose(found.numpy(), due.numpy(), rtol=1e-14)
        mask = pn.create_block_mask(lambda b, h, i, j: j < 3, None, None, 4, 5, BLOCK_SIZE=2)
        due = pn.scaled_dot_product_attention(q, k[[0, 0]][:, :, :3], k[[0, 0]][:, :, :3])
        np.testing.assert_allclose(flex(q, k, k, block_mask=mask).numpy(), due.numpy(), rtol=1e-14)


class TestWhatAFunctionUses:
    def test_a_table_of_relative_places(self) -> None:
        """A pair i - j = -2 .. 2 has the entry 2 .. 6 of the table of head 0, or 7 more of head 1."""
        table = pn.array(distinct((14,)))
        found = flex(Q, K, K, lambda s, b, h, i, j: s + table[7 * h + (i - j + 3)])
        apart = [np.subtract.outer(np.arange(n), np.arange(m)) + 3 for n, m in ((2, 3), (0, 1), (3, 3))]
        bias = pn.nested_array([table.numpy()[np.stack([one, one + 7])] for one in apart])
        assert_same(found, plain(pn.scaled_dot_product_attention(Q, K, K, bias)), 1e-15)

    def test_a_bias_of_every_pair(self) -> None:
        """As programs for PyTorch write it, by all four indices at once; it gets the gradient of a mask of floats."""
        x, bias = pn.array(distinct((2, 2, 3, 2))), distinct((2, 2, 3, 3), 1)
        mine, theirs = (pn.array(bias, requires_grad=True) for _ in range(2))
        found = flex(x, x, x, lambda s, b, h, i, j: s + mine[b, h, i, j])
        due = pn.scaled_dot_product_attention(x, x, x, theirs)
        np.testing.assert_allclose(found.detach().numpy(), due.detach().numpy(), rtol=1e-14)
        for one in (found, due):
            (one * one).sum().backward()
        np.testing.assert_allclose(mine.grad.numpy(), theirs.grad.numpy(), rtol=1e-12, atol=1e-14)

    def test_documents_in_a_nested_array(self) -> None:
        documents = pn.nested_array([[0, 0, 1], [0], [0, 1, 1]], layout=pn.jagged)
        own = pn.nested_array([np.equal.outer(one.numpy(), one.numpy())[None] for one in documents.unbind()])
        due = plain(pn.scaled_dot_product_attention(K, K, K, own))
        mods: list[Any] = [
            lambda b, h, i, j: documents[b, i] == documents[b, j],
            lambda b, h, i, j: documents[b][i] == documents[b][j],
        ]
        for mod in mods:
            mask = pn.create_nested_block_mask(mod, K, BLOCK_SIZE=2)
            assert_same(flex(K, K, K, block_mask=mask), due, 1e-15)

    def test_each_block_is_of_one_component(self) -> None:
        seen = []

        def mod(score: Any, b: Any, h: Any, i: Any, j: Any) -> Any:
            seen.append((b.item(), score.shape, *(one.shape for one in (h, i, j)), h.tolist()))
            return score

        flex(Q, K, K, mod)
        assert seen == [(b, (2, n, 3), (2, 1, 1), (1, n, 1), (1, 1, 3), [[[0]], [[1]]]) for b, n in ((0, 2), (2, 3))]


def test_log_sums_are_differentiable_and_in_the_dtype_that_is_computed_in() -> None:
    x = pn.array(distinct((1, 2, 3, 2)))
    mask = pn.create_block_mask(lambda b, h, i, j: i > j, 1, 1, 3, 3)
    pn.gradcheck(lambda q: flex(q, x.to(q.dtype), q, block_mask=mask, return_lse=True)[1][:, :, 1:], (x,))
    out, sums = flex(*[x.to(pn.float16)] * 3, return_lse=True)
    assert (out.dtype, sums.dtype, sums.shape) == (pn.float16, pn.float32, (1, 2, 3))


EACH_WAY: tuple[tuple[Any, Any], ...] = (
    (None, None),
    (lambda s, b, h, i, j: s * (1 + h) - b, None),
    (lambda s, b, h, i, j: pn.where(j != 1, s, -np.inf), lambda b, h, i, j: (i + j + h) % 2 == 0),
    (None, lambda b, h, i, j: i < b),
)


class TestWhatIsAskedForBesides:
    @pytest.mark.parametrize(("mod", "mask_mod"), EACH_WAY, ids=("plain", "function", "both", "no keys"))
    def test_of_every_query_by_its_own_loop(self, mod: Any, mask_mod: Any, layout: Any) -> None:
        q, k = (nest(plain(x), layout, ragged=2) for x in (Q, K))
        mask = None if mask_mod is None else pn.create_nested_block_mask(mask_mod, q, k, 2)
        own = None if mod is None else lambda *given: mod(*given).to(given[0].dtype)
        out, found = flex(q, k, k, own, mask, scale=0.5, return_aux=pn.AuxRequest(lse=True, max_scores=True))
        assert found.lse.layout is found.max_scores.layout is layout
        assert_same(out, plain(flex(q, k, k, own, mask, scale=0.5)), 1e-15)
        for n, (a, b) in enumerate(zip(plain(q), plain(k), strict=True)):
            for h, i in np.ndindex(a.shape[:2]):
                pairs = [j for j in range(b.shape[1]) if mask_mod is None or mask_mod(n, h, i, j)]
                scores = [0.5 * float(a[h, i] @ b[h, j]) for j in pairs]
                if mod is not None:
                    given = zip(scores, pairs, strict=True)
                    scores = [float(np.asarray(mod(pn.array(s), n, h, i, j))) for s, j in given]
                top = max(scores, default=-np.inf)
                total = np.log(sum(np.exp(s) for s in scores)) if top > -np.inf else top
                np.testing.assert_allclose(found.lse[n][h, i].item(), total, rtol=1e-12, atol=1e-12)
                np.testing.assert_allclose(found.max_scores[n][h, i].item(), top, rtol=1e-12, atol=1e-12)

    def test_none_for_what_was_not(self) -> None:
        for lse, greatest in product((False, True), repeat=2):
            _, found = flex(Q, K, K, return_aux=pn.AuxRequest(lse, greatest))
            assert type(found) is pn.AuxOutput
            assert (found.lse is not None, found.max_scores is not None) == (lse, greatest)

    def test_no_gradient_flows_through_the_greatest(self) -> None:
        """Neither backwards nor forwards; those of the others are what they are without it."""
        x, tangent = (pn.array(distinct((1, 2, 3, 2), seed)) for seed in range(2))

        def asked(q: Any, lse: bool, greatest: bool) -> Any:
            out, found = flex(q, x, x, lambda s, b, h, i, j: s * s, return_aux=pn.AuxRequest(lse, greatest))
            return out.sum() + (found.lse.sum() if lse else 0) + (found.max_scores.sum() if greatest else 0)

        q = x.detach().requires_grad_()
        _, found = flex(q, x, x, return_aux=pn.AuxRequest(True, True))
        assert found.lse.requires_grad and not found.max_scores.requires_grad
        for lse in (False, True):
            with_it, without = (pn.grad(asked(q, lse, one), q).numpy() for one in (True, False))
            np.testing.assert_array_equal(with_it, without)
            with_it, without = (pn.jvp(lambda q: asked(q, lse, one), (x,), (tangent,))[1].item()  # noqa: B023
                                for one in (True, False))  # fmt: skip
            assert with_it == without

    def test_dtypes_and_nothing(self) -> None:
        x = pn.array(distinct((1, 2, 3, 2)), dtype=pn.float16)
        out, found = flex(x, x, x, return_aux=pn.AuxRequest(True, True))
        assert [one.dtype for one in (out, *found)] == [pn.float16, pn.float32, pn.float32]
        for rows, size in product((0, 2), (0, 3)):
            q, k = pn.zeros(1, 1, rows, 2), pn.zeros(1, 1, size, 2)
            _, found = flex(q, k, k, return_aux=pn.AuxRequest(True, True))
            due = np.full((1, 1, rows), np.log(size) if size else -np.inf)
            np.testing.assert_allclose(found.lse.numpy(), due, rtol=1e-6)
            np.testing.assert_array_equal(found.max_scores.numpy(), np.minimum(due, 0))
        _, found = flex(Q[:0], K[:0], K[:0], return_aux=pn.AuxRequest(True, True))
        assert found.lse.shape[:2] == found.max_scores.shape[:2] == (0, 2)


class TestDerivatives:
    def test_of_every_order(self) -> None:
        q, k = nest(batch([(2, 2, 1), (2, 1, 1)]), pn.jagged, "holes", 2), nest(batch([(1, 2, 1), (1, 1, 1)]), ragged=2)
        mask = pn.create_nested_block_mask(lambda b, h, i, j: i + h >= j, q, k, 1)
        pn.gradcheck(
            lambda q, k, v, bias: flex(
                q, k, v, lambda s, b, h, i, j: pn.tanh(s) * 3 + bias[h] * (i - j).to(s.dtype), mask, enable_gqa=True
            ),
            (q, k, k / 2, pn.array([0.5, -0.25])),
        )

    def test_a_function_that_leaves_out_keeps_nan_out(self) -> None:
        """The last key, of which the last query alone knows, holds a NaN; mask and function do the same."""
        found = []
        for again, mask in product((False, True), repeat=2):
            q, k, v = (distinct((1, 1, 3, 2), seed) / 4 for seed in range(3))
            k[..., 2, :], v[..., 2, :] = np.nan, np.inf
            given = [pn.array(x, requires_grad=True) for x in (q, k, v)]
            own = pn.create_block_mask(lambda b, h, i, j: i >= j, 1, 1, 3, 3, BLOCK_SIZE=2) if mask else None
            mod = None if mask else lambda s, b, h, i, j: pn.where(i >= j, s, -np.inf)
            flex(*given, mod, own)[:, :, :2].backward(pn.array(distinct((1, 1, 2, 2), 7)), create_graph=again)
            found.append([one.grad.detach().numpy()[:, :, :2] for one in given])
        assert np.isfinite(found[0][0]).all()
        for other in found[1:]:
            np.testing.assert_allclose(other, found[0], rtol=1e-12, atol=1e-14)

    def test_results_without_pairs_have_gradients_of_zero(self) -> None:
        q = nest(batch([(2, 0, 2), (2, 2, 2)]), ragged=2).requires_grad_()
        k = nest(batch([(2, 1, 2), (2, 0, 2)], 1), ragged=2).requires_grad_()
        for empty in (slice(0, 2), slice(0, 0)):
            out = flex(q[empty], k[empty], k[empty], lambda s, b, h, i, j: s)
            assert_same(out, [np.zeros((2, 0, 2)), np.zeros((2, 2, 2))][empty])
            found = pn.grad(out.sum(), (q, k), allow_unused=True)
            assert all(not one.sum().item() for one in found if one is not None)
