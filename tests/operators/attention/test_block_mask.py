"""Block masks: each block against the pairs themselves, pictures, lists of blocks, masks of bools."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.operators.attention import masks

from ...nests import batch, distinct, nest, plain
from ...support import loops

Q, K = (
    nest(batch([(2, 5, 1), (2, 0, 1), (2, 2, 1)]), ragged=2),
    nest(batch([(2, 3, 1), (2, 2, 1), (2, 6, 1)]), ragged=2),
)


def striped(b: Any, h: Any, i: Any, j: Any) -> Any:
    """No two components, heads or blocks of queries are alike."""
    return (3 * b + h + 2 * i + i // 2 + j) % 4 < 2


def causal(b: Any, h: Any, i: Any, j: Any) -> Any:
    return i >= j


FUNCTIONS = (
    (lambda b, h, i, j: i >= j, True),
    (lambda b, h, i, j: (i + j + b) % 3 != 0, True),
    (lambda b, h, i, j: (h == 1) & (i >= j) | (j < b), False),
    (lambda b, h, i, j: i < 0, True),
    (lambda b, h, i, j: b >= 0, True),
)


@pytest.mark.parametrize("most", [1, 1 << 20])
@pytest.mark.parametrize("block_size", [1, 2, (2, 3), (4, 1), 128])
@pytest.mark.parametrize(("mod", "alike"), FUNCTIONS, ids=("causal", "striped", "by head", "none", "all"))
def test_every_block_is_what_its_pairs_are(
    mod: Any, alike: bool, block_size: Any, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(masks, "MOST_PAIRS", most)
    sizes = block_size if isinstance(block_size, tuple) else (block_size, block_size)
    mask = pn.create_nested_block_mask(mod, Q, K, block_size)
    assert mask.shape == (3, 2, None, None) and mask.of_all_heads(0) == alike and sizes == mask.BLOCK_SIZE
    for i, (found, (rows, keys)) in enumerate(zip(mask.blocks, ((5, 3), (0, 2), (2, 6)), strict=True)):
        np.testing.assert_array_equal(
            found, loops.block_states(loops.met_pairs(mod, i, 1 if alike else 2, rows, keys), *sizes)[: len(found)]
        )
    whole = pn.create_block_mask(mod, 2, 2, 5, 3, BLOCK_SIZE=block_size)
    for i, found in enumerate(whole.blocks):
        np.testing.assert_array_equal(
            found, loops.block_states(loops.met_pairs(mod, i, 1 if alike else 2, 5, 3), *sizes)
        )


@pytest.mark.parametrize("keys", [(3, 2, 4, 1), (1, 2, 4, 1), (2, 4, 1), (4, 1)], ids=str)
def test_dense_keys_of_nested_queries_and_the_other_way_round(keys: tuple[int, ...]) -> None:
    mod, dense = FUNCTIONS[2][0], pn.zeros(*keys)
    for args, sizes in (((Q, dense), [(5, 4), (0, 4), (2, 4)]), ((dense, Q), [(4, 5), (4, 0), (4, 2)])):
        mask = pn.create_nested_block_mask(mod, *args, BLOCK_SIZE=2)
        heads = 2 if len(keys) > 2 or args[0] is Q else 1
        assert mask.shape[:2] == (3, heads)
        for i, (found, pair) in enumerate(zip(mask.blocks, sizes, strict=True)):
            np.testing.assert_array_equal(
                found, loops.block_states(loops.met_pairs(mod, i, heads, *pair), 2, 2)[: len(found)]
            )
    x, met = Q.to(pn.float64), pn.create_nested_block_mask(lambda b, h, i, j: i >= j, Q, dense, 2)
    own = pn.array(np.arange(np.prod(keys)) / 8).reshape(keys)
    due = pn.scaled_dot_product_attention(x, own, own, is_causal=True)
    for one, other in zip(pn.flex_attention(x, own, own, block_mask=met).unbind(), due.unbind(), strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-13)


def test_masks_together() -> None:
    causal, near = (lambda b, h, i, j: i >= j), (lambda b, h, i, j: abs(i - j) < 2)
    for together, both in ((pn.and_masks, np.logical_and), (pn.or_masks, np.logical_or)):
        found = pn.create_block_mask(together(causal, near), None, None, 4, 4, BLOCK_SIZE=1).blocks[0]
        due = both(*(loops.met_pairs(one, 0, 1, 4, 4) for one in (causal, near)))
        np.testing.assert_array_equal(found, 2 * due)
    assert pn.create_block_mask(pn.and_masks(), None, None, 2, 2).counts() == (0, 0, 1)
    assert pn.create_block_mask(pn.or_masks(), None, None, 2, 2).counts() == (1, 0, 0)


class TestPictures:
    def test_each_head_of_each_component(self) -> None:
        mask = pn.create_nested_block_mask(lambda b, h, i, j: (i >= j) | (h == 1), Q, K, 2)
        assert (
            mask.to_string(limit=3)
            == "(0, 0)\n░·\n██\n██\n(0, 1)\n██\n██\n██\n(1, 0)\n\nand 2 more: to_string(limit=5)"
        )
        assert str(mask).startswith(
            "BlockMask(shape=(3, 2, None, None), BLOCK_SIZE=(2, 2), 13 full, 2 partial and 3 empty "
        )

    def test_a_character_for_several_blocks(self) -> None:
        mask = pn.create_block_mask(lambda b, h, i, j: i >= j, None, None, 6, 6, BLOCK_SIZE=1)
        assert mask.to_string(3) == "(0, 0)\n░··\n█░·\n██░"
        assert mask.to_string((2, 1)) == "(0, 0)\n░\n░"
        assert mask.to_string(-1).count("█") == 21

    def test_nothing(self) -> None:
        mask = pn.create_nested_block_mask(lambda b, h, i, j: i >= j, Q[:0], K[:0])
        assert repr(mask).startswith(
            "BlockMask(shape=(0, 2, None, None), BLOCK_SIZE=(128, 128), 0 full, 0 partial and 0 "
        )
        assert mask.to_string() == "" and mask.sparsity() == 0


@pytest.mark.parametrize("sizes", [(3, 2), (1, 1), (None, None), (None, 2)])
def test_numbers_of_components_and_heads_may_come_first(sizes: Any) -> None:
    def mod(b: Any, h: Any, i: Any, j: Any) -> Any:
        return i >= j + b + h

    assert str(pn.create_nested_block_mask(mod, *sizes, Q)) == str(pn.create_nested_block_mask(mod, Q))


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


class TestMasksOfBools:
    @pytest.mark.parametrize("mod", [striped, causal, lambda b, h, i, j: b < 1], ids=("striped", "causal", "first"))
    def test_of_pairs(self, mod: Any) -> None:
        found = pn.create_mask(mod, 2, 3, 4, 5)
        assert (found.shape, found.dtype) == ((2, 3, 4, 5), pn.bool)
        np.testing.assert_array_equal(found.numpy(), np.stack([loops.met_pairs(mod, b, 3, 4, 5) for b in range(2)]))

    def test_of_scores(self) -> None:
        found = pn.create_mask(lambda s, b, h, i, j: pn.where(i >= j + h, s - 1e30, -np.inf), None, 2, 3, 3)
        np.testing.assert_array_equal(found.numpy(), loops.met_pairs(lambda b, h, i, j: i >= j + h, 0, 2, 3, 3)[None])

    def test_sizes_and_devices(self) -> None:
        for sizes in ((0, 2, 3, 4), (2, 0, 3, 4), (2, 2, 0, 4), (2, 2, 3, 0)):
            assert pn.create_mask(causal, *sizes).shape == sizes
        assert pn.create_mask(causal, None, None, 2, 2, device="emulated").device == "emulated"

    def test_no_pair_is_left_out_by_default(self) -> None:
        assert pn.create_mask(pn.noop_mask, 2, 2, 3, 4).numpy().all()
        assert pn.create_block_mask(pn.noop_mask, 2, 2, 3, 4).counts() == (0, 0, 4)


def test_functions_may_have_parameters_with_a_value() -> None:
    for window in (partial(lambda w, b, h, i, j: i - j < w, 1), lambda b, h, i, j, w=1: i - j < w):
        assert pn.create_mask(window, 1, 1, 2, 2).tolist() == [[[[True, True], [False, True]]]]
