"""Block masks against PyTorch's, of sizes that blocks divide: elsewhere a last block is never full there."""

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
INDICES: tuple[Any, ...] = (
    0,
    -1,
    (1, 1),
    slice(1, None),
    (slice(None), 1, 2),
    (0, 0, [1, 3]),
    (slice(0, 2), slice(1, 2)),
)


@pytest.fixture(params=MODS)
def both(request: pytest.FixtureRequest) -> tuple[pn.BlockMask, Any]:
    mod = MODS[request.param]
    ours = pn.create_block_mask(mod, *SIZES, BLOCK_SIZE=(2, 4))
    return ours, theirs.create_block_mask(mod, *SIZES, device="cpu", BLOCK_SIZE=(2, 4))


def same(ours: Any, other: Any) -> None:
    for name in LISTS:
        found, due = getattr(ours, name).numpy(), getattr(other, name).numpy()
        assert (found.dtype, found.shape) == (due.dtype, due.shape), name
        np.testing.assert_array_equal(found, due, err_msg=name)
    np.testing.assert_array_equal(ours.to_dense().numpy(), other.to_dense().numpy())
    assert ours.to_dense().numpy().dtype == other.to_dense().numpy().dtype


def test_lists_and_sizes(both: tuple[pn.BlockMask, Any]) -> None:
    ours, other = both
    same(ours, other)
    assert (ours.shape, ours.seq_lengths, ours.BLOCK_SIZE) == (other.shape, other.seq_lengths, other.BLOCK_SIZE)
    assert ours.numel() == other.numel() and ours.sparsity() == pytest.approx(other.sparsity())


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_what_is_picked(both: tuple[pn.BlockMask, Any], index: Any) -> None:
    ours, other = both
    entries = index if isinstance(index, tuple) else (index,)
    same(ours[index], other[tuple(torch.tensor(one) if isinstance(one, list) else one for one in entries)])


def test_of_lists(both: tuple[pn.BlockMask, Any]) -> None:
    given = [getattr(both[1], name) for name in LISTS[:4]]
    ours = pn.BlockMask.from_kv_blocks(*(one.numpy() for one in given), BLOCK_SIZE=(2, 4))
    same(ours, theirs.BlockMask.from_kv_blocks(*given, BLOCK_SIZE=(2, 4)))
    assert ours.shape == SIZES


@pytest.mark.parametrize("name", MODS)
def test_masks_of_bools(name: str) -> None:
    for sizes in (SIZES, (None, None, 5, 7)):
        found, due = pn.create_mask(MODS[name], *sizes), theirs.create_mask(MODS[name], *sizes, device="cpu")
        np.testing.assert_array_equal(found.numpy(), due.numpy())
    found = pn.create_mask(lambda s, b, h, i, j: pn.where(MODS[name](b, h, i, j), s, -np.inf), *SIZES)
    due = theirs.create_mask(
        lambda s, b, h, i, j: torch.where(MODS[name](b, h, i, j), s, -np.inf), *SIZES, device="cpu"
    )
    np.testing.assert_array_equal(found.numpy(), due.numpy())
