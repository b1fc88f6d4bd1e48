"""Block masks and flex attention against PyTorch, whose last block is full only where blocks divide the sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn

from ..nests import LAYOUTS, batch, nest, plain

torch = pytest.importorskip("torch")
theirs = pytest.importorskip("torch.nn.attention.flex_attention")

MODS = {
    "causal": lambda b, h, i, j: i >= j,
    "striped": lambda b, h, i, j: (3 * b + h + 2 * i + i // 2 + j) % 4 < 2,
    "window": lambda b, h, i, j: (i - j < 3) & (j - i < 2 + h),
    "prefix": lambda b, h, i, j: (j < 4 * b) | (i >= j),
}
SIZES = 3, 2, 8, 12  # components, heads, queries, keys
LISTS = (
    *("kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices"),
    *("q_num_blocks", "q_indices", "full_q_num_blocks", "full_q_indices"),
)
INDICES: tuple[tuple[Any, ...], ...] = (
    *((0,), (-1,), (1, 1), (slice(1, None),), (slice(None), 1, 2), (0, 0, [1, 3]), (slice(0, 2), slice(1, 2))),
)


def assert_equal(ours: Any, other: Any) -> None:
    for name in LISTS:
        np.testing.assert_array_equal(getattr(ours, name).numpy(), getattr(other, name).numpy(), name, strict=True)
    np.testing.assert_array_equal(ours.to_dense().numpy(), other.to_dense().numpy(), strict=True)


@pytest.mark.parametrize("name", MODS)
def test_block_masks(name: str) -> None:
    ours = pn.create_block_mask(MODS[name], *SIZES, BLOCK_SIZE=(2, 4))
    other = theirs.create_block_mask(MODS[name], *SIZES, device="cpu", BLOCK_SIZE=(2, 4))
    assert_equal(ours, other)
    assert (ours.shape, ours.seq_lengths, ours.BLOCK_SIZE) == (other.shape, other.seq_lengths, other.BLOCK_SIZE)
    assert ours.numel() == other.numel() and ours.sparsity() == pytest.approx(other.sparsity())
    for index in INDICES:
        theirs_index = tuple(torch.tensor(entry) if isinstance(entry, list) else entry for entry in index)
        assert_equal(ours[index], other[theirs_index])
    lists = [getattr(other, name) for name in LISTS[:4]]
    ours = pn.BlockMask.from_kv_blocks(*(tensor.numpy() for tensor in lists), BLOCK_SIZE=(2, 4))
    assert_equal(ours, theirs.BlockMask.from_kv_blocks(*lists, BLOCK_SIZE=(2, 4)))


@pytest.mark.parametrize("name", MODS)
def test_masks_of_bools_and_of_scores(name: str) -> None:
    for sizes in (SIZES, (None, None, 5, 7)):
        ours, other = pn.create_mask(MODS[name], *sizes), theirs.create_mask(MODS[name], *sizes, device="cpu")
        np.testing.assert_array_equal(ours.numpy(), other.numpy(), strict=True)
    ours = pn.create_mask(lambda s, b, h, i, j: pn.where(MODS[name](b, h, i, j), s, -np.inf), *SIZES)
    score_mod = lambda s, b, h, i, j: torch.where(MODS[name](b, h, i, j), s, -np.inf)  # noqa: E731
    other = theirs.create_mask(score_mod, *SIZES, device="cpu")
    np.testing.assert_array_equal(ours.numpy(), other.numpy(), strict=True)


LENGTHS = ((3, 4), (1, 2), (4, 3))  # of queries and keys
Q, K, V = (
    [x / 8 for x in batch([(heads, pair[at], 4) for pair in LENGTHS], seed)]
    for seed, (heads, at) in enumerate(((4, 0), (2, 1), (2, 1)))
)
SLOPES = np.array([0.5, -0.25, 0.125, 1.0])
FLEX: dict[str, tuple[Any, Any]] = {  # functions of scores and slopes, and of masks
    "mask": (None, MODS["causal"]),
    "slopes": (lambda s, b, h, i, j, a: s + a[h] * (i - j), None),
    "both": (lambda s, b, h, i, j, a: s * a[h] + b, lambda b, h, i, j: (i + j + h) % 2 == 0),
    "window": (lambda s, b, h, i, j, a: s * s + (j - i) * a[h], lambda b, h, i, j: (i - j < 2) & (j - i < 2)),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "layout"), list(zip(FLEX, LAYOUTS * 2, strict=True)))
def test_flex_attention(name: str, layout: Any) -> None:
    """PyTorch takes one component at a time, as number ``n`` of its batch; on the CPU it has no gradient."""
    score_mod, mask_mod = FLEX[name]

    def mods(slopes: Any, n: int = 0) -> tuple[Any, Any]:
        score = score_mod and (lambda s, b, h, i, j: score_mod(s, b + n, h, i, j, slopes))
        return score, mask_mod and (lambda b, h, i, j: mask_mod(b + n, h, i, j))

    q, k, v = (nest(x, layout, ragged=2) for x in (Q, K, V))
    score, mask = mods(pn.array(SLOPES))
    blocks = mask and pn.create_nested_block_mask(mask, q, k, 2)
    out, (sums, _) = pn.flex_attention(q, k, v, score, blocks, enable_gqa=True, return_aux=pn.AuxRequest(lse=True))
    for n, results in enumerate(zip(plain(out), plain(sums), strict=True)):
        component = [torch.tensor(x[n][None]) for x in (Q, K, V)]
        score, mask = mods(torch.tensor(SLOPES), n)
        blocks = mask and theirs.create_block_mask(mask, 1, 4, *LENGTHS[n], device="cpu")
        aux = theirs.AuxRequest(lse=True)
        other, other_aux = theirs.flex_attention(*component, score, blocks, enable_gqa=True, return_aux=aux)
        np.testing.assert_allclose(results[0], other[0].numpy(), rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(results[1], other_aux.lse[0].numpy(), rtol=1e-10, atol=1e-12)
