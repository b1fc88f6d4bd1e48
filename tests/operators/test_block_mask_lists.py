"""Lists of blocks of a mask, and masks of lists; masks of bools, and functions that take other arguments."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError, DeviceError, ShapeError

from ..nests import distinct, plain
from .test_block_mask import K, Q
from .test_block_mask_picked import causal, pairs, striped

LISTS = ("kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices")
OF_QUERIES = ("q_num_blocks", "q_indices", "full_q_num_blocks", "full_q_indices")


def check(mask: pn.BlockMask, component: int, blocks: Any, names: tuple[str, ...]) -> None:
    """The lists of a component say which of its blocks are partial and full."""
    for state, (counts, indices) in ((1, names[:2]), (2, names[2:])):
        count, index = (np.asarray(plain(getattr(mask, name))[component]) for name in (counts, indices))
        assert count.dtype == index.dtype == np.int32
        for h, row in np.ndindex(*count.shape):
            due = [j for j in range(blocks.shape[2]) if blocks[h, row, j] == state]
            others = [j for j in range(blocks.shape[2]) if blocks[h, row, j] != state]
            assert count[h, row] == len(due) and index[h, row].tolist() == due + others


@pytest.mark.parametrize("mod", [striped, causal], ids=("striped", "causal"))
def test_of_every_block(mod: Any) -> None:
    dense, nested = pn.create_block_mask(mod, 2, 2, 5, 7, BLOCK_SIZE=(2, 3)), pn.create_nested_block_mask(mod, Q, K, 2)
    for mask in (dense, nested):
        for i, states in enumerate(mask.blocks):
            blocks = np.broadcast_to(states, (2, *states.shape[1:]))
            check(mask, i, blocks, LISTS)
            check(mask, i, blocks.swapaxes(1, 2), OF_QUERIES)
            np.testing.assert_array_equal(plain(mask.to_dense())[i], blocks > 0)


@pytest.mark.parametrize("mod", [striped, causal], ids=("striped", "causal"))
def test_there_and_back(mod: Any) -> None:
    dense, nested = pn.create_block_mask(mod, 2, 2, 5, 7, BLOCK_SIZE=(2, 3)), pn.create_nested_block_mask(mod, Q, K, 2)
    lengths = (5, 7), (pn.array([5, 0, 2]), [3, 2, 6])
    for mask, own in zip((dense, nested), lengths, strict=True):
        again = pn.BlockMask.from_kv_blocks(
            *(getattr(mask, name) for name in LISTS), BLOCK_SIZE=mask.BLOCK_SIZE, mask_mod=mod, seq_lengths=own
        )
        assert repr(again) == repr(mask)
        np.testing.assert_array_equal(again.outline, mask.outline)
        for one, other in zip(again.blocks, mask.blocks, strict=True):
            np.testing.assert_array_equal(one, np.broadcast_to(other, one.shape))
    given = nested, pn.BlockMask.from_kv_blocks(
        *(getattr(nested, name) for name in LISTS), BLOCK_SIZE=2, mask_mod=mod, seq_lengths=lengths[1]
    )  # fmt: skip
    found = [plain(pn.flex_attention(Q, K, K, block_mask=one)) for one in given]
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_blocks_alone_are_a_mask() -> None:
    """Rows of blocks 0 and 1 meet blocks 1, and 2 and 0; without a function all of their pairs meet."""
    mask = pn.BlockMask.from_kv_blocks([1, 2], [[1, 9, 9], [2, 0, 9]], BLOCK_SIZE=2, seq_lengths=(3, 6))
    met = np.zeros((3, 6), bool)
    met[:2, 2:4] = met[2:, 4:] = met[2:, :2] = True
    x = [pn.array(distinct((1, 1, n, 2), seed)) for seed, n in enumerate((3, 6, 6))]
    due = pn.scaled_dot_product_attention(*x, pn.array(met))
    np.testing.assert_allclose(pn.flex_attention(*x, block_mask=mask).numpy(), due.numpy(), rtol=1e-14)
    full = pn.BlockMask.from_kv_blocks([0, 0], np.zeros((2, 3), int), [1, 2], [[1, 9, 9], [2, 0, 9]], 2, None, (3, 6))
    assert full.counts() == (3, 0, 3) and mask.counts() == (3, 3, 0)
    np.testing.assert_allclose(pn.flex_attention(*x, block_mask=full).numpy(), due.numpy(), rtol=1e-14)


def test_sizes() -> None:
    dense = pn.create_block_mask(causal, 3, 2, 5, 7, BLOCK_SIZE=4)
    assert (dense.shape, dense.seq_lengths, dense.numel()) == ((3, 2, 5, 7), (5, 7), 3 * 2 * 5 * 7)
    assert sum(dense.counts()) == 3 * 2 * 2 * 2
    nested = pn.create_nested_block_mask(causal, Q, K, 2)
    assert (nested.shape, nested.seq_lengths) == ((3, 2, None, None), (None, None))
    assert nested.numel() == 2 * (5 * 3 + 0 * 2 + 2 * 6) and sum(nested.counts()) == 2 * (3 * 2 + 0 + 1 * 3)
    none = pn.create_block_mask(causal, 0, 2, 5, 7, BLOCK_SIZE=4)
    assert none.shape == (0, 2, 5, 7) and none.to_dense().shape == none.kv_indices.shape == (0, 2, 2, 2)
    assert none.numel() == 0 and none.kv_num_blocks.shape == (0, 2, 2)
    lists = [getattr(none, name) for name in LISTS]
    assert len(pn.BlockMask.from_kv_blocks(*lists, BLOCK_SIZE=4).to_dense()) == 0
    empty = pn.create_nested_block_mask(causal, Q[:0], K[:0])
    assert len(empty.to_dense()) == len(empty.kv_num_blocks) == empty.numel() == 0


def test_it_goes_to_every_device_as_it_is() -> None:
    mask = pn.create_block_mask(causal, 1, 1, 4, 4)
    assert mask.to("cpu") is mask is mask.to("emulated")
    with pytest.raises(DeviceError, match="nowhere"):
        mask.to("nowhere")


def test_lengths_and_sizes_that_do_not_fit_are_named() -> None:
    one = partial(pn.BlockMask.from_kv_blocks, [1, 1], [[0, 1], [0, 1]], BLOCK_SIZE=4)
    assert one().shape == (1, 1, 8, 8) and one(seq_lengths=(5, 8)).shape == (1, 1, 5, 8)
    for lengths, text in (((4, 8), "4 queries are 1 blocks of 4, and component 0 has 2"), ((8, 9), "9 keys are 3"),
                          ((8, -1), "-1 keys")):  # fmt: skip
        with pytest.raises(ShapeError, match=text):
            one(seq_lengths=lengths)
    with pytest.raises(ArgumentError, match="seq_lengths must be a pair"):
        one(seq_lengths=8)
    with pytest.raises(ShapeError, match=r"seq_lengths has shape \(3,\) for 1 components"):
        one(seq_lengths=([8, 8, 8], 8))
    with pytest.raises(ArgumentError, match="BLOCK_SIZE must be 1 or more"):
        pn.BlockMask.from_kv_blocks([1], [[0]], BLOCK_SIZE=0)


class TestMasksOfBools:
    @pytest.mark.parametrize("mod", [striped, causal, lambda b, h, i, j: b < 1], ids=("striped", "causal", "first"))
    def test_of_pairs(self, mod: Any) -> None:
        found = pn.create_mask(mod, 2, 3, 4, 5)
        assert (found.shape, found.dtype) == ((2, 3, 4, 5), pn.bool)
        np.testing.assert_array_equal(found.numpy(), np.stack([pairs(mod, b, 3, 4, 5) for b in range(2)]))

    def test_of_scores(self) -> None:
        found = pn.create_mask(lambda s, b, h, i, j: pn.where(i >= j + h, s - 1e30, -np.inf), None, 2, 3, 3)
        np.testing.assert_array_equal(found.numpy(), pairs(lambda b, h, i, j: i >= j + h, 0, 2, 3, 3)[None])

    def test_sizes_and_devices(self) -> None:
        for sizes in ((0, 2, 3, 4), (2, 0, 3, 4), (2, 2, 0, 4), (2, 2, 3, 0)):
            assert pn.create_mask(causal, *sizes).shape == sizes
        assert pn.create_mask(causal, None, None, 2, 2, device="emulated").device == "emulated"
        with pytest.raises(ArgumentError, match="KV_LEN must be 0 or more, not -1"):
            pn.create_mask(causal, 1, 1, 1, -1)

    def test_no_pair_is_left_out_by_default(self) -> None:
        assert pn.create_mask(pn.noop_mask, 2, 2, 3, 4).numpy().all()
        assert pn.create_block_mask(pn.noop_mask, 2, 2, 3, 4).counts() == (0, 0, 4)


def test_functions_that_take_other_arguments_are_named() -> None:
    x = pn.zeros(1, 1, 2, 2)
    of_scores = r"score_mod must be a function of \(score, b, h, q_idx, kv_idx\)"
    with pytest.raises(ArgumentError, match=of_scores):
        pn.flex_attention(x, x, x, causal)  # type: ignore[arg-type]
    of_masks = r"mask_mod must be a function of \(b, h, q_idx, kv_idx\): missing a required argument"
    with pytest.raises(ArgumentError, match=of_masks):
        pn.create_block_mask(lambda s, b, h, i, j: i >= j, 1, 1, 2, 2)  # type: ignore[arg-type,misc]
    with pytest.raises(ArgumentError, match=r"each argument must be a function of \(b, h, q_idx, kv_idx\)"):
        pn.and_masks(lambda i, j: i >= j)  # type: ignore[arg-type,misc]
    with pytest.raises(ArgumentError, match="this one has 2 parameters without a default"):
        pn.create_mask(lambda i, j: i >= j, 1, 1, 2, 2)  # type: ignore[arg-type,misc]
    with pytest.raises(ArgumentError, match="mod_fn must be a function, not 3"):
        pn.create_mask(3, 1, 1, 2, 2)  # type: ignore[arg-type]
    for window in (partial(lambda w, b, h, i, j: i - j < w, 1), lambda b, h, i, j, w=1: i - j < w):
        assert pn.create_mask(window, 1, 1, 2, 2).tolist() == [[[[True, True], [False, True]]]]
