"""Block masks against PyTorch's, whose last block is full only if blocks divide the sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn

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
