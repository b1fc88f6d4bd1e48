"""Flex attention against PyTorch's, which takes dense tensors: component by component."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn

from ..nests import LAYOUTS, batch, nest, plain

torch = pytest.importorskip("torch")
theirs = pytest.importorskip("torch.nn.attention.flex_attention")

SIZES = ((3, 4), (1, 2), (4, 3))
Q, K, V = (
    [x / 8 for x in batch([(heads, pair[at], 4) for pair in SIZES], seed)]
    for seed, (heads, at) in enumerate(((4, 0), (2, 1), (2, 1)))
)
SLOPES = np.array([0.5, -0.25, 0.125, 1.0])

# A function of scores and captured slopes, and one of masks; with slopes, both libraries read the same lines.
MODS: tuple[tuple[Any, Any], ...] = (
    (None, lambda b, h, i, j: i >= j),
    (lambda s, b, h, i, j, a: s + a[h] * (i - j), None),
    (lambda s, b, h, i, j, a: s * a[h] + b, lambda b, h, i, j: (i + j + h) % 2 == 0),
    (lambda s, b, h, i, j, a: s * s + (j - i) * a[h], lambda b, h, i, j: (i - j < 2) & (j - i < 2)),
)


def flexed(mod: Any, mask_mod: Any, i: int) -> list[Any]:
    """PyTorch's result and log-sums of component ``i``, as number ``i`` of its batch; on the CPU it has no gradient."""
    q, k, v = (torch.tensor(x[i][None]) for x in (Q, K, V))
    slopes, mask = torch.tensor(SLOPES), None
    own = None if mod is None else lambda s, b, h, i_, j: mod(s, b + i, h, i_, j, slopes)
    if mask_mod is not None:
        sizes = q.shape[2], k.shape[2]
        mask = theirs.create_block_mask(lambda b, h, i_, j: mask_mod(b + i, h, i_, j), 1, 4, *sizes, device="cpu")
    asked = theirs.AuxRequest(lse=True)  # on the CPU it has no greatest scores
    out, found = theirs.flex_attention(q, k, v, own, mask, enable_gqa=True, return_aux=asked)
    return [out[0], found.lse[0]]


def differentiated(mod: Any, mask_mod: Any, i: int) -> tuple[list[Any], Any]:
    """The greatest scores and the gradients of component ``i``, of all scores at once, and that of the slopes."""
    q, k, v = (torch.tensor(x[i], requires_grad=True) for x in (Q, K, V))
    slopes = torch.tensor(SLOPES, requires_grad=True)
    b, h = torch.tensor(i), torch.arange(4)[:, None, None]
    at, kv = torch.arange(q.shape[1])[:, None], torch.arange(k.shape[1])
    keys, values = (x.repeat_interleave(2, 0) for x in (k, v))
    scores = q @ keys.transpose(1, 2) / 2
    scores = scores if mod is None else mod(scores, b, h, at, kv, slopes)
    if mask_mod is not None:
        scores = scores.masked_fill(~mask_mod(b, h, at, kv), -np.inf)
    out = torch.where((scores > -np.inf).any(-1, keepdim=True), scores, 0).softmax(-1) @ values
    out = torch.where((scores > -np.inf).any(-1, keepdim=True), out, 0)
    meets = (scores > -np.inf).any(-1)
    sums = torch.where(meets.unsqueeze(-1), scores, 0).logsumexp(-1)
    (out.sum() * 2 + out.square().sum() + torch.where(meets, sums, 0).square().sum()).backward()
    return [scores.detach().amax(-1), *[x.grad for x in (q, k, v)]], slopes.grad


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("mod", "mask_mod"), MODS, ids=("mask", "slopes", "both", "window"))
def test_each_component(mod: Any, mask_mod: Any, layout: Any) -> None:
    q, k, v = (nest(x, layout, ragged=2).requires_grad_() for x in (Q, K, V))
    slopes = pn.array(SLOPES, requires_grad=True)
    mask = None if mask_mod is None else pn.create_nested_block_mask(mask_mod, q, k, 2)
    own = None if mod is None else lambda s, b, h, i, j: mod(s, b, h, i, j, slopes)
    asked = pn.AuxRequest(lse=True, max_scores=True)
    out, (sums, greatest) = pn.flex_attention(q, k, v, own, mask, enable_gqa=True, return_aux=asked)
    (out.sum() * 2 + (out * out).sum() + pn.where(pn.isinf(sums), 0.0, sums).square().sum()).backward()
    found = [plain(one) for one in (out, sums, greatest, q.grad, k.grad, v.grad)]
    to_slopes: Any = 0
    for i in range(len(SIZES)):
        own_found, of_slopes = differentiated(mod, mask_mod, i)
        to_slopes = None if mod is None else to_slopes + of_slopes
        for ours, other in zip(found, flexed(mod, mask_mod, i) + own_found, strict=True):
            np.testing.assert_allclose(ours[i], other.numpy(), rtol=1e-10, atol=1e-12)
    if to_slopes is not None:
        assert slopes.grad is not None
        np.testing.assert_allclose(slopes.grad.numpy(), to_slopes.numpy(), rtol=1e-10, atol=1e-12)
