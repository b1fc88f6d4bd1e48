"""Attention on every small batch, against sums over pairs; what is left out; groups, dropped weights, derivatives."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.spec.encoding import Components

from ...nests import assert_same, batch, distinct, nest, place, plain
from ...support import loops

attend = pn.scaled_dot_product_attention
MOST_PAIRS = 6


def shapes_and_masks() -> Iterator[tuple[int, int, list[Any]]]:
    """Numbers of queries and keys, and every mask of so many pairs, if these are not too many."""
    for rows, keys in product(range(4), repeat=2):
        if rows * keys <= MOST_PAIRS:
            choices = product((False, True), repeat=rows * keys)
            yield rows, keys, [np.array(choice, np.bool_).reshape(rows, keys) for choice in choices]


def check(masks: list[Any], heads: int, layout: Any, placement: str, floats: bool) -> None:
    """One call for components of which each has a mask, with NaN in what no query of a component meets."""
    sizes = [mask.shape for mask in masks]
    draw = np.random.default_rng(len(masks)).standard_normal
    q, k, v, cotangents = (
        [draw((heads, pair[at], width)) for pair in sizes] for at, width in ((0, 2), (1, 2), (1, 3), (0, 3))
    )
    left_out = [~mask.any(axis=0) for mask in masks]
    given = [[np.where(gone[:, None], np.nan, x) for x, gone in zip(whole, left_out, strict=True)] for whole in (k, v)]
    added = [np.where(mask, draw(mask.shape), -np.inf) for mask in masks]
    mask = added if floats else masks
    count = len(masks)
    placed = [
        place(Components(x, (count, heads, None, x[0].shape[-1])), layout, placement, 2, True) for x in (q, *given)
    ]
    whole = Components([m[None] for m in mask], (count, 1, None, None))
    own = place(whole, pn.strided, placement, 2, floats)
    result = attend(*[one.array for one in placed], own.array, scale=0.25)
    assert result.layout is layout
    result.backward(place(Components(cotangents, (count, heads, None, 3)), layout, "packed", 2).array)
    found = [plain(result), *[one.gradient() for one in placed]]
    of_mask = own.gradient() if floats else None
    for i, met in enumerate(masks):
        plus = np.where(met, added[i], 0) if floats else np.zeros(met.shape)
        due = [loops.attention(q[i][h], k[i][h], v[i][h], met, plus, cotangents[i][h], 0.25) for h in range(heads)]
        for part, expected in zip(found, zip(*due, strict=True), strict=False):
            np.testing.assert_allclose(part[i], np.stack(expected), rtol=1e-12, atol=1e-13, err_msg=f"{i} {met}")
        if of_mask is not None:
            total = np.stack([one[4] for one in due]).sum(axis=0)[None]
            np.testing.assert_allclose(of_mask[i], total, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("floats", [False, True])
@pytest.mark.parametrize(
    ("layout", "placement"), [(pn.jagged, "holes"), (pn.strided, "holes"), (pn.jagged, "transposed")]
)
def test_every_mask_of_every_small_shape(layout: Any, placement: str, floats: bool) -> None:
    for heads, (_, _, masks) in product((1, 2), shapes_and_masks()):
        check(masks, heads, layout, placement, floats)


def test_components_of_different_lengths(layout: Any) -> None:
    rng = np.random.default_rng(0)
    pairs = list(product(range(4), repeat=2))
    for number in range(40):
        sizes = [pairs[i] for i in rng.integers(0, len(pairs), 1 + number % 3)]
        check([rng.random(size) < 0.6 for size in sizes], 1 + number % 2, layout, "holes", number % 4 == 0)


class TestHeads:
    def test_groups_meet_the_heads_that_follow_each_other(self, layout: Any) -> None:
        q, k, v = batch([(4, 2, 2), (4, 1, 2)]), batch([(2, 3, 2), (2, 2, 2)], 1), batch([(2, 3, 1), (2, 2, 1)], 2)
        result = attend(*[nest(x, layout, ragged=2) for x in (q, k, v)], enable_gqa=True)
        repeated = [[one[[0, 0, 1, 1]] for one in x] for x in (k, v)]
        assert_same(result, plain(attend(*[nest(x, layout, ragged=2) for x in (q, *repeated)])), 1e-15)

    def test_one_of_keys_serves_all(self, layout: Any) -> None:
        q, k = batch([(3, 2, 2), (3, 0, 2)]), batch([(1, 2, 2), (1, 1, 2)], 1)
        expected = attend(*[nest(x, layout, ragged=2) for x in (q, *[[one[[0, 0, 0]] for one in k]] * 2)])
        assert_same(attend(*[nest(x, layout, ragged=2) for x in (q, k, k)]), plain(expected), 1e-15)

    def test_split_from_the_last_dimension(self) -> None:
        """Values of rows that hold all heads are taken where they are, and the result has its rows together."""
        x = nest(batch([(2, 6), (0, 6), (3, 6)]))
        q = x.unflatten(-1, (3, 2)).transpose(1, 2)
        out = attend(q, q, q).transpose(1, 2).flatten(2)
        assert out.is_contiguous()
        for got, one in zip(plain(out), x.unbind(), strict=True):
            heads = pn.array(one.numpy().reshape(len(got), 3, 2).swapaxes(0, 1).copy())
            np.testing.assert_allclose(
                got, attend(heads, heads, heads).numpy().swapaxes(0, 1).reshape(got.shape), 1e-15
            )


def test_dense_operands_are_one_component_of_many_heads() -> None:
    q, k = distinct((2, 3, 4, 2)), distinct((2, 3, 5, 2), 1)
    mask = distinct((2, 1, 4, 5), 2)
    result = attend(pn.array(q), pn.array(k), pn.array(k), pn.array(mask))
    assert isinstance(result, pn.Array)
    for i, h in np.ndindex(2, 3):
        due = loops.attention(q[i, h], k[i, h], k[i, h], np.ones((4, 5), bool), mask[i, 0], q[i, h], 2**-0.5)[0]
        np.testing.assert_allclose(result.numpy()[i, h], due, rtol=1e-12, atol=1e-13)


class TestDropped:
    def test_the_rest_is_enlarged(self) -> None:
        x = pn.zeros(1, 4000, 1)
        result = attend(x[:, :1], x, pn.ones(1, 4000, 1), dropout_p=0.25, generator=np.random.default_rng(1))
        kept = result.item() * 4000 * 0.75
        assert abs(kept - round(kept)) < 1e-6 and 2900 < kept < 3100

    def test_the_same_state_drops_the_same(self, layout: Any) -> None:
        x = nest(batch([(3, 2), (2, 2)]), layout)
        a, b = (attend(x, x, x, dropout_p=0.5, generator=np.random.default_rng(3)) for _ in range(2))
        assert_same(a, plain(b))
        assert_same(attend(x, x, x, dropout_p=0.0), plain(attend(x, x, x)))

    def test_the_gradient_drops_the_same(self) -> None:
        x = pn.array(distinct((4, 2)))
        pn.gradcheck(lambda q, k, v: attend(q, k, v, dropout_p=0.5, generator=np.random.default_rng(5)), (x, x, x))


class TestDerivatives:
    @pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"enable_gqa": True, "scale": -0.5}])
    def test_of_every_order(self, options: Any) -> None:
        q = nest(batch([(2, 2, 2), (2, 0, 2), (2, 3, 2)]), pn.jagged, "holes", 2)
        heads = 1 if "enable_gqa" in options else 2
        k = nest(batch([(heads, 3, 2), (heads, 1, 2), (heads, 2, 2)], 1), pn.strided, ragged=2)
        pn.gradcheck(lambda *given: attend(*given, **options), (q / 4, k / 4, k / 4))

    def test_recorded_ones_are_the_fused_ones_also_beside_a_nan(self) -> None:
        """The last key, of which the last query alone knows, holds a NaN."""
        q, k, v = (distinct((3, 2), seed) / 4 for seed in range(3))
        k[2], v[2] = np.nan, np.inf
        found = []
        for again in (False, True):
            given = [pn.array(x, requires_grad=True) for x in (q, k, v)]
            out = attend(*given, is_causal=True)[:2]
            out.backward(pn.array(distinct((2, 2), 7)), create_graph=again)
            found.append([one.grad.detach().numpy() for one in given])
        assert np.isfinite(found[0][0][:2]).all()
        for fused, recorded in zip(*found, strict=True):
            np.testing.assert_allclose(recorded[:2], fused[:2], rtol=1e-12, atol=1e-14)


def test_half_precision_is_computed_wide() -> None:
    """2,049 keys of one score: a sum of ones in float16 ends at 2,048."""
    x = pn.zeros(2049, 1, dtype=pn.float16)
    assert attend(x[:1], x, pn.ones(2049, 1, dtype=pn.float16)).item() == 1.0
