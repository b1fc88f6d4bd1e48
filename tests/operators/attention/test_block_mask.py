"""Block masks: each block against its pairs, lists of blocks, indices, pictures, masks of bools."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError, ShapeError
from pynested.operators.block_masks import mask_functions

from ...nests import batch, distinct, nest, plain
from ...support import loops

SIZES = ((2, 6, 3), (2, 0, 2), (2, 4, 5))  # heads, queries and keys of each component
Q, K = (nest(batch([(heads, pair[at], 2) for heads, *pair in SIZES], at), ragged=2) for at in (0, 1))
flex, attend = pn.flex_attention, pn.scaled_dot_product_attention


def striped(b: Any, h: Any, i: Any, j: Any) -> Any:
    """Return pairs of which no two components, heads or blocks of queries have the same."""
    return (3 * b + h + 2 * i + i // 2 + j) % 4 < 2


def causal(b: Any, h: Any, i: Any, j: Any) -> Any:
    return i >= j


MODS: dict[str, Any] = {  # all but the last are the same for all heads
    "causal": causal, "by component": lambda b, h, i, j: (i + j + b) % 3 != 0, "none": lambda b, h, i, j: i < 0,
    "all": lambda b, h, i, j: b >= 0, "by head": lambda b, h, i, j: (h == 1) & (i >= j) | (j < b),
}  # fmt: skip
BOTH = pytest.mark.parametrize("mod", [striped, causal], ids=["striped", "causal"])


def check_blocks(states: Any, met: Any, block_size: tuple[int, int] = (2, 2)) -> None:
    """Compare the blocks of a component, of one head if all have the same, with those of its pairs."""
    due = loops.block_states(met, *block_size)
    np.testing.assert_array_equal(np.broadcast_to(states, due.shape), due)


@pytest.mark.parametrize("most", [1, 1 << 20])
@pytest.mark.parametrize("block_size", [1, (2, 3), (4, 1), 128])
@pytest.mark.parametrize("name", MODS)
def test_every_block_is_what_its_pairs_are(name: str, block_size: Any, most: int, monkeypatch: Any) -> None:
    monkeypatch.setattr(mask_functions, "MOST_PAIRS_OF_CALL", most)
    sizes, mod = block_size if isinstance(block_size, tuple) else (block_size, block_size), MODS[name]
    nested = pn.create_nested_block_mask(mod, Q, K, block_size)
    assert nested.shape == (3, 2, None, None) and sizes == nested.BLOCK_SIZE
    assert (len(nested.blocks[0]) == 1) == (name != "by head")
    for i, states in enumerate(nested.blocks):
        check_blocks(states, loops.met_pairs(mod, i, *SIZES[i]), sizes)
    for i, states in enumerate(pn.create_block_mask(mod, 2, 2, 5, 3, BLOCK_SIZE=block_size).blocks):
        check_blocks(states, loops.met_pairs(mod, i, 2, 5, 3), sizes)


def test_functions_of_masks_are_joined_and_can_have_parameters_with_a_value() -> None:
    near = lambda b, h, i, j: abs(i - j) < 2  # noqa: E731
    for join, both in ((pn.and_masks, np.logical_and), (pn.or_masks, np.logical_or)):
        states = pn.create_block_mask(join(causal, near), None, None, 4, 4, BLOCK_SIZE=1).blocks[0]
        np.testing.assert_array_equal(states, 2 * both(*(loops.met_pairs(mod, 0, 1, 4, 4) for mod in (causal, near))))
    assert pn.create_block_mask(pn.and_masks(), None, None, 2, 2).counts() == (0, 0, 1)
    assert pn.create_block_mask(pn.or_masks(), None, None, 2, 2).counts() == (1, 0, 0)
    for window in (partial(lambda w, b, h, i, j: i - j < w, 1), lambda b, h, i, j, w=1: i - j < w):
        assert pn.create_mask(window, 1, 1, 2, 2).tolist() == [[[[True, True], [False, True]]]]


@pytest.mark.parametrize("sizes", [(3, 2), (1, 1), (None, None), (None, 2)])
def test_numbers_of_components_and_heads_may_come_first(sizes: Any) -> None:
    assert str(pn.create_nested_block_mask(striped, *sizes, Q)) == str(pn.create_nested_block_mask(striped, Q))


def test_pictures() -> None:
    mask = pn.create_nested_block_mask(lambda b, h, i, j: (i >= j) | (h == 1), Q[[2, 1]], K[[2, 1]], 2)
    head = "BlockMask(shape=(2, 2, None, None), BLOCK_SIZE=(2, 2), 7 full, 2 partial and 3 empty "
    assert str(mask).startswith(head)
    assert mask.to_string() == "(0, 0)\n░··\n█░·\n(0, 1)\n███\n███\n(1, 0)\n"
    assert mask.to_string(limit=2) == "(0, 0)\n░··\n█░·\n(0, 1)\n███\n███\nand 1 more: to_string(limit=3)"
    mask = pn.create_block_mask(causal, None, None, 6, 6, BLOCK_SIZE=1)  # a character for several blocks
    assert mask.to_string(3) == "(0, 0)\n░··\n█░·\n██░" and mask.to_string((2, 1)) == "(0, 0)\n░\n░"
    assert mask.to_string(-1).count("█") == 21
    nothing = pn.create_nested_block_mask(causal, Q[:0], K[:0])
    assert nothing.to_string() == "" and nothing.sparsity() == 0


LISTS = ("kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices")
OF_QUERIES = ("q_num_blocks", "q_indices", "full_q_num_blocks", "full_q_indices")


def check_lists(mask: pn.BlockMask, component: int, blocks: Any, names: tuple[str, ...]) -> None:
    """Compare the lists of the partial and the full blocks of a component with its blocks."""
    for state, (counts, indices) in ((1, names[:2]), (2, names[2:])):
        count, index = (np.asarray(plain(getattr(mask, name))[component]) for name in (counts, indices))
        assert count.dtype == index.dtype == np.int32
        for h, row in np.ndindex(*count.shape):
            due = [j for j in range(blocks.shape[2]) if blocks[h, row, j] == state]
            others = [j for j in range(blocks.shape[2]) if blocks[h, row, j] != state]
            assert count[h, row] == len(due) and index[h, row].tolist() == due + others


@BOTH
def test_lists_of_blocks_and_back(mod: Any) -> None:
    dense, nested = pn.create_block_mask(mod, 2, 2, 5, 7, BLOCK_SIZE=(2, 3)), pn.create_nested_block_mask(mod, Q, K, 2)
    for mask, lengths in ((dense, (5, 7)), (nested, (pn.array([6, 0, 4]), [3, 2, 5]))):
        for i, states in enumerate(mask.blocks):
            blocks = np.broadcast_to(states, (2, *states.shape[1:]))
            check_lists(mask, i, blocks, LISTS)
            check_lists(mask, i, blocks.swapaxes(1, 2), OF_QUERIES)
            np.testing.assert_array_equal(plain(mask.to_dense())[i], blocks > 0)
        again = pn.BlockMask.from_kv_blocks(*(getattr(mask, name) for name in LISTS), mask.BLOCK_SIZE, mod, lengths)
        assert repr(again) == repr(mask)
        np.testing.assert_array_equal(again.extents, mask.extents)
        for blocks, expected in zip(again.blocks, mask.blocks, strict=True):
            np.testing.assert_array_equal(blocks, np.broadcast_to(expected, blocks.shape))
    for result, expected in zip(*(plain(flex(Q, K, K, block_mask=mask)) for mask in (nested, again)), strict=True):
        np.testing.assert_array_equal(result, expected)


def test_blocks_alone_are_a_mask() -> None:
    """Rows of blocks 0 and 1 meet blocks 1, and 2 and 0; without a function all of their pairs meet."""
    met = np.zeros((3, 6), bool)
    met[:2, 2:4] = met[2:, 4:] = met[2:, :2] = True
    x = [pn.array(distinct((1, 1, n, 2), seed)) for seed, n in enumerate((3, 6, 6))]
    none, some = ([0, 0], np.zeros((2, 3), int)), ([1, 2], [[1, 9, 9], [2, 0, 9]])
    for lists, counts in ((some, (3, 3, 0)), ((*none, *some), (3, 0, 3))):
        mask = pn.BlockMask.from_kv_blocks(*lists, BLOCK_SIZE=2, seq_lengths=(3, 6))
        assert mask.counts() == counts
        due = attend(*x, pn.array(met))
        np.testing.assert_allclose(flex(*x, block_mask=mask).numpy(), due.numpy(), rtol=1e-14)


@pytest.mark.parametrize("size", [1 << 30, 1 << 62, (2, 1 << 62), (1 << 62, 2)])
def test_memory_does_not_grow_with_the_size_of_a_block(size: Any) -> None:
    """PyTorch makes one block of everything by blocks of 2**30."""
    whole, (q, k) = pn.create_block_mask(causal, 1, 2, 4, 5, BLOCK_SIZE=size), (np.ones((1, 2, n, 1)) for n in (4, 5))
    for mask, expected in (whole, [0.0, 0.5, 1.0, 1.5]), (whole[0, [0, 1]], [0.0, 0.5, 1.0, 1.5]):
        for score_mod in None, lambda score, b, h, i, j: score:
            result = flex(q, k, np.arange(10.0).reshape(1, 2, 5, 1), score_mod, mask).reshape(2, 4)
            np.testing.assert_allclose(result.tolist(), [expected, np.add(expected, 5)], rtol=1e-14)
    if size == 1 << 30:
        one = pn.BlockMask.from_kv_blocks([[1]], [[[0]]], BLOCK_SIZE=size)
        assert (one.shape, one.numel()) == ((1, 1, 1 << 30, 1 << 30), 1 << 60)
        one.seq_lengths = 4, 5
        assert flex(q, k, k * 3, block_mask=one).tolist() == (q * 3).tolist()
        with pytest.raises(ArgumentError, match="block 0 of queries of component 0 has 4 queries"):
            whole[0, 0, [0, 0]]


def test_sizes() -> None:
    dense = pn.create_block_mask(causal, 3, 2, 5, 7, BLOCK_SIZE=4)
    assert (dense.shape, dense.seq_lengths, dense.numel()) == ((3, 2, 5, 7), (5, 7), 3 * 2 * 5 * 7)
    assert sum(dense.counts()) == 3 * 2 * 2 * 2 and dense.to("cpu") is dense is dense.to("emulated")
    fewer = pn.create_block_mask(causal, 1, 1, 5, 5, BLOCK_SIZE=2)  # queries in the last block, which stays last
    assert fewer[:, :, [0, 2]].shape == (1, 1, 3, 5) and fewer[:, :, 2].shape == (1, 1, 1, 5)
    nested = pn.create_nested_block_mask(causal, Q, K, 2)
    assert (nested.shape, nested.seq_lengths) == ((3, 2, None, None), (None, None))
    assert nested.numel() == 2 * (6 * 3 + 0 * 2 + 4 * 5) and sum(nested.counts()) == 2 * (3 * 2 + 0 + 2 * 3)
    none = pn.create_block_mask(causal, 0, 2, 5, 7, BLOCK_SIZE=4)
    assert none.shape == (0, 2, 5, 7) and none.to_dense().shape == none.kv_indices.shape == (0, 2, 2, 2)
    assert none.numel() == 0 and none.kv_num_blocks.shape == (0, 2, 2)
    assert len(pn.BlockMask.from_kv_blocks(*(getattr(none, name) for name in LISTS), BLOCK_SIZE=4).to_dense()) == 0
    for operands in ((Q[:0], K[:0]), (pn.nested_array([[[[1.0]]], [[[1.0]]] * 2])[:0],)):  # of unknown heads
        empty = pn.create_nested_block_mask(causal, *operands)
        assert len(empty.to_dense()) == len(empty.kv_num_blocks) == empty.numel() == 0
        for score_mod in (None, lambda s, b, h, i, j: s):
            assert flex(operands[0], operands[-1], operands[-1], score_mod, empty).shape == operands[0].shape


ALL = slice(None)
INDICES: tuple[Any, ...] = (
    0, -1, slice(1, None), slice(None, None, -1), [2, 0, 2], np.array([0, 2]), pn.array([1]), [True, False, True],
    (ALL, 1), (ALL, slice(1, 0)), ([2, 0], [1, 0]), (2, -1, slice(1, None)), (ALL, ALL, ALL),
    (ALL, ALL, slice(-1, None)), ([0, 2], ALL, [0, 1]), ([0, 2], 0, pn.array([1, 1])), (0, ALL, -1), (2, 1, 0),
    ([], 0), np.int64(2),
)  # fmt: skip


def numbers(entry: Any, size: int) -> Any:
    """Return what NumPy picks of so many; an integer as a slice of one."""
    chosen = np.arange(size)[entry.numpy() if isinstance(entry, pn.Array) else entry] if size else np.arange(0)
    return np.atleast_1d(chosen).tolist()


def by_mask_mod(mask: pn.BlockMask, component: int, heads: int, rows: int, keys: int) -> Any:
    """Return what the function of a mask returns for all pairs of a component."""
    h, i, j = (pn.array(index) for index in np.ogrid[:heads, :rows, :keys])
    return np.broadcast_to(mask.mask_mod(pn.array(component), h, i, j).numpy(), (heads, rows, keys))


@pytest.mark.parametrize("index", INDICES, ids=str)
@BOTH
def test_an_index_picks_components_heads_and_blocks_of_queries(mod: Any, index: Any) -> None:
    """The blocks, the function and attention are those of the picked components, heads and rows."""
    entries = (*(index if isinstance(index, tuple) else (index,)), ALL, ALL)[:3]
    picked, chosen = pn.create_nested_block_mask(mod, Q, K, 2)[index], numbers(entries[0], 3)
    assert len(picked.blocks) == len(chosen)
    q, k, met = [], [], []
    for n, i in enumerate(chosen):
        count, queries, keys = SIZES[i]
        heads, blocks = numbers(entries[1], count), numbers(entries[2], -(-queries // 2))
        rows = [row for block in blocks for row in (2 * block, 2 * block + 1)]
        q.append(plain(Q)[i][heads][:, rows])
        k.append(plain(K)[i][heads])
        met.append(loops.met_pairs(mod, i, *SIZES[i])[heads][:, rows])
        assert picked.extents[n].tolist() == [len(heads), len(rows), keys]
        np.testing.assert_array_equal(by_mask_mod(picked, n, *met[n].shape), met[n])
        check_blocks(picked.blocks[n], met[n])
    if chosen and met[0].shape[0]:
        queries, keys = nest(q, ragged=2), nest(k, ragged=2)
        due = plain(attend(queries, keys, keys, pn.nested_array(met)))
        for score_mod in (None, lambda s, b, h, i, j: s):
            for result, expected in zip(plain(flex(queries, keys, keys, score_mod, picked)), due, strict=True):
                np.testing.assert_allclose(result, expected, rtol=1e-14, atol=1e-15)


def test_a_mask_of_one_component_serves_any_number() -> None:
    mask = pn.create_block_mask(striped, 3, 2, 4, 6, BLOCK_SIZE=2)
    x = [pn.array(distinct((2, 2, n, 2), seed)) for seed, n in enumerate((4, 6, 6))]
    for index, b, heads in ((1, 1, ALL), (slice(2, 3), 2, ALL), ([0], 0, ALL), ((1, 1), 1, 1)):
        due = attend(*x, pn.array(loops.met_pairs(striped, b, 2, 4, 6)[heads]))
        np.testing.assert_allclose(flex(*x, block_mask=mask[index]).numpy(), due.numpy(), rtol=1e-14)


@pytest.mark.parametrize("index", [(ALL, ALL, slice(1)), (ALL, ALL, [1, 0]), 0, slice(None, None, -1)], ids=str)
def test_a_mask_for_all_heads_stays_one(index: Any) -> None:
    """Its function ignores the head, so it serves any number of heads, also if components and queries are selected."""
    x = pn.array(distinct((1, 8, 4, 2)))
    made_for_two, made_for_eight = (pn.create_block_mask(causal, 1, n, 4, 4, BLOCK_SIZE=2)[index] for n in (2, 8))
    queries = x[:, :, : made_for_two.shape[2]]
    results = [flex(queries, x, x, block_mask=mask).numpy() for mask in (made_for_two, made_for_eight)]
    np.testing.assert_array_equal(*results)
    with pytest.raises(ShapeError, match="keys and 2 heads in component 0, which has"):
        flex(queries, x, x, block_mask=made_for_two[:, [0, 1]])


def test_the_function_and_the_lengths_can_be_replaced() -> None:
    """Programs that decode do so: one block of queries, or one query of it, and the function moved by hand."""
    mask = pn.create_block_mask(causal, None, None, 6, 6, BLOCK_SIZE=2)
    row, x = mask[:, :, 2], pn.array(distinct((2, 3, 6, 2)))
    row.mask_mod = lambda b, h, i, j: mask.mask_mod(b, h, i + 4, j)
    assert mask.mask_mod is causal and mask[:].mask_mod is causal
    due = attend(x, x, x, is_causal=True).numpy()[:, :, 4:]
    np.testing.assert_allclose(flex(x[:, :, 4:], x, x, block_mask=row).numpy(), due, rtol=1e-14)
    row.seq_lengths = (1, 6)
    assert row.shape == (1, 1, 1, 6) and mask.shape == (1, 1, 6, 6)
    np.testing.assert_allclose(flex(x[:, :, 4:5], x, x, block_mask=row).numpy(), due[:, :, :1], rtol=1e-14)
    nested = pn.create_nested_block_mask(causal, Q, K, 2)
    nested.seq_lengths = [5, 0, 3], (3, 2, 5)
    assert nested.extents[:, 1:].tolist() == [[5, 3], [0, 2], [3, 5]]
    by_head = pn.create_block_mask(causal, None, 3, 6, 6, BLOCK_SIZE=6)  # all heads had been the same
    by_head.mask_mod = lambda b, h, i, j: i >= j + h
    due = attend(x, x, x, pn.array(loops.met_pairs(by_head.mask_mod, 0, 3, 6, 6))).numpy()
    np.testing.assert_allclose(flex(x, x, x, block_mask=by_head).numpy(), due, rtol=1e-14)


@pytest.mark.parametrize("mod", [striped, causal, lambda b, h, i, j: b < 1], ids=["striped", "causal", "first"])
def test_masks_of_bools(mod: Any) -> None:
    mask = pn.create_mask(mod, 2, 3, 4, 5)
    due = np.stack([loops.met_pairs(mod, b, 3, 4, 5) for b in range(2)])
    np.testing.assert_array_equal(mask.numpy(), due, strict=True)
    of_scores = pn.create_mask(lambda s, b, h, i, j: pn.where(mod(b, h, i, j), s - 1e30, -np.inf), 2, 3, 4, 5)
    np.testing.assert_array_equal(of_scores.numpy(), due, strict=True)
    for sizes in ((0, 2, 3, 4), (2, 0, 3, 4), (2, 2, 0, 4), (2, 2, 3, 0)):
        assert pn.create_mask(mod, *sizes).shape == sizes
    assert pn.create_mask(mod, None, None, 2, 2, device="emulated").device == "emulated"
    assert pn.create_mask(pn.noop_mask, 2, 2, 3, 4).numpy().all()
