"""Blocks of flex attention: skipped ones, memory, devices, and the note on indices in errors."""

from __future__ import annotations

import shutil
import tracemalloc
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import IndexOutOfRange
from pynested.operators.attention import by_blocks

from ...nests import assert_same, batch, distinct, nest, plain

flex = pn.flex_attention
Q = nest(batch([(2, 2, 2), (2, 0, 2), (2, 3, 2)]), ragged=2)
K = nest(batch([(2, 3, 2), (2, 1, 2), (2, 3, 2)], 1), ragged=2)


class TestBlocks:
    def test_what_is_empty_is_not_computed_and_what_is_full_does_not_ask(self) -> None:
        """Causal, in blocks of 2 of 6 queries and keys: the 3 on the diagonal ask, those below it are computed."""
        scores, asked = [], []

        def mod(score: Any, b: Any, h: Any, i: Any, j: Any) -> Any:
            scores.append((i.numpy().ravel().tolist(), j.numpy().ravel().tolist()))
            return score

        def causal(b: Any, h: Any, i: Any, j: Any) -> Any:
            asked.append((i.numpy().ravel().tolist(), j.numpy().ravel().tolist()))
            return i >= j

        x = pn.array(distinct((1, 2, 6, 2)))
        mask = pn.create_block_mask(causal, 1, 1, 6, 6, BLOCK_SIZE=2)
        asked.clear()
        flex(x, x, x, mod, mask)
        assert scores == [([i, i + 1], [*range(i + 2)]) for i in (0, 2, 4)]
        assert asked == [([i, i + 1], [i, i + 1]) for i in (0, 2, 4)]

    def test_memory_is_that_of_a_block(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """All scores of 1,024 queries and keys are 8 MiB, and there would be several arrays of these."""
        monkeypatch.setattr(by_blocks, "MOST_SCORES", 1 << 14)
        x, slope = pn.array(distinct((1, 1, 1024, 2)), requires_grad=True), pn.array(0.01, requires_grad=True)
        tracemalloc.start()
        flex(x, x, x, lambda s, b, h, i, j: s - slope * (i - j)).sum().backward()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert slope.grad is not None and peak < 4 << 20

    @pytest.mark.parametrize("most", [1, 4, 1 << 20])
    def test_how_scores_are_cut_makes_no_difference(self, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
        q = nest(batch([(4, 5, 2), (4, 2, 2)]), ragged=2)
        k = nest(batch([(2, 3, 2), (2, 4, 2)], 1), ragged=2)
        mask = pn.create_nested_block_mask(lambda b, h, i, j: i >= j, q, k, (2, 3))
        due = plain(pn.scaled_dot_product_attention(q, k, k, is_causal=True, enable_gqa=True))
        monkeypatch.setattr(by_blocks, "MOST_SCORES", most)
        assert_same(flex(q, k, k, lambda s, b, h, i, j: s, mask, enable_gqa=True), due, 1e-15)

    @pytest.mark.parametrize(("most", "runs"), [(64, 5), (1 << 20, 4)])
    def test_components_that_are_alike_are_computed_together(
        self, monkeypatch: pytest.MonkeyPatch, most: int, runs: int
    ) -> None:
        """Of 2 queries, 3 keys and 4 heads there are 24 scores; the mask of component 4 is another one."""
        q = nest(batch([(4, n, 2) for n in (2, 3, 2, 0, 2, 3, 2)]), ragged=2)
        k = nest(batch([(2, n, 2) for n in (3, 1, 3, 2, 3, 1, 3)], 1), ragged=2)
        back, slope = (
            pn.array([True, True, True, True, False, True, True]),
            pn.array(np.arange(7.0), requires_grad=True),
        )
        asked: list[Any] = []
        made: list[Any] = []

        def mod(score: Any, b: Any, h: Any, i: Any, j: Any) -> Any:
            asked.append((b.item(), score.shape, h.shape))
            return score + slope[b] * (i - j) + h

        def attending(*args: Any, run: Any = by_blocks._attending) -> Any:
            made.append(args)
            return run(*args)

        def computed(most: int) -> list[Any]:
            monkeypatch.setattr(by_blocks, "MOST_SCORES", most)
            out, sums = flex(q, k, k, mod, mask, enable_gqa=True, return_lse=True)
            return [*plain(out), *plain(sums), pn.grad(out.sum(), slope).numpy()]

        mask = pn.create_nested_block_mask(lambda b, h, i, j: (i >= j) == back[b], q, k, 2)
        due = computed(1)
        asked.clear()
        monkeypatch.setattr(by_blocks, "_attending", attending)
        found = computed(most)
        assert len(made) == runs
        assert {(b, score[0], h) for b, score, h in asked} == {(b, 4, (4, 1, 1)) for b in (0, 1, 2, 4, 5, 6)}
        for a, b in zip(found, due, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-15)

    @pytest.mark.parametrize("by_head", [False, True])
    def test_components_that_are_alike_have_their_own_masks(self, by_head: bool) -> None:
        x = batch([(4, n, 2) for n in (2, 3, 2, 2, 3)])
        q = nest(x, ragged=2)

        def meets(b: Any, h: Any, i: Any, j: Any) -> Any:
            return (i + 2 * j + b + h) % 3 > 0 if by_head else (i + 2 * j + b) % 3 > 0

        found = flex(q, q, q, block_mask=pn.create_nested_block_mask(meets, q, BLOCK_SIZE=2))
        for b, (own, out) in enumerate(zip(x, plain(found), strict=True)):
            shape = (4, own.shape[1], own.shape[1])
            met = np.broadcast_to(meets(b, *np.ogrid[tuple(map(slice, shape))]), shape)
            due = pn.scaled_dot_product_attention(own, own, own, met)
            np.testing.assert_allclose(out, due.numpy(), rtol=1e-13, atol=1e-15, err_msg=str(b))


@pytest.mark.skipif(shutil.which("g++") is None, reason="the emulation needs g++")
def test_on_a_device() -> None:
    found = []
    for device in ("cpu", "emulated"):
        q, k = (x.detach().to(device=device).requires_grad_() for x in (Q, K))
        slope = pn.array([0.5, -1.0], device=device, requires_grad=True)
        mask = pn.create_nested_block_mask(lambda b, h, i, j: i >= j, q, k, 2)
        out, sums = flex(q, k, k, lambda s, b, h, i, j, a=slope: s + a[h] * (i - j), mask, return_lse=True)
        bare = flex(q, k, k, block_mask=mask)
        (out.sum() + sums.sum() + bare.sum()).backward()
        made = [x for one in (out, sums, bare, q.grad, k.grad) for x in plain(one.to(device="cpu"))]
        found.append([*made, slope.grad.to(device="cpu").numpy()])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13)


X = pn.array(distinct((1, 2, 2, 2)))
HALF = pn.create_block_mask(lambda b, h, i, j: i >= j, 1, 1, 2, 2, BLOCK_SIZE=1)


def test_indices_one_after_the_other_are_advised_against() -> None:
    bias, told = pn.zeros(2, 5), pn.ones(2, 5) > 0
    calls = (
        lambda: flex(X, X[:, :, [0, 1, 0]], X[:, :, [0, 1, 0]], lambda s, b, h, i, j: s + bias[h][j]),
        lambda: pn.create_block_mask(lambda b, h, i, j: told[h][j], 1, 2, 2, 5),
    )
    for call in calls:
        with pytest.raises(IndexOutOfRange, match="out of bounds for dimension 0 of an array of 2") as caught:
            call()
        assert caught.value.__notes__ == [
            "Indices stand in one pair of brackets: bias[h, kv_idx], not bias[h][kv_idx]."
        ]
    with pytest.raises(IndexOutOfRange) as caught:
        bias[2]
    assert not hasattr(caught.value, "__notes__")
