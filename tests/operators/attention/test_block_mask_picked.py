"""What an index picks of a block mask: its blocks, what its function says of places there, and attention with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn

from ...nests import batch, distinct, nest, plain
from ...support import loops
from .test_block_mask import causal, striped

SIZES = ((2, 6, 3), (2, 0, 2), (2, 4, 5))  # heads, queries, keys of each component
Q, K = (nest(batch([(heads, pair[at], 2) for heads, *pair in SIZES], at), ragged=2) for at in (0, 1))


def said(mask: pn.BlockMask, component: int, heads: int, rows: int, keys: int) -> Any:
    """Return what the function of a mask says of all pairs of a component."""
    h, i, j = (pn.array(one) for one in np.ogrid[:heads, :rows, :keys])
    return np.broadcast_to(mask.mask_mod(pn.array(component), h, i, j).numpy(), (heads, rows, keys))


def rows_of(blocks: Any, queries: int, size: int) -> Any:
    """The queries of some blocks."""
    return [i for block in blocks for i in range(block * size, min((block + 1) * size, queries))]


INDICES: tuple[Any, ...] = (
    0, -1, slice(1, None), slice(None, None, -1), [2, 0, 2], np.array([0, 2]), pn.array([1]), [True, False, True],
    (slice(None), 1), (slice(None), slice(1, 0)), ([2, 0], [1, 0]), (2, -1, slice(1, None)), (slice(None),) * 3,
    (slice(None), slice(None), slice(-1, None)), ([0, 2], slice(None), [0, 1]), ([0, 2], 0, pn.array([1, 1])),
    (0, slice(None), -1), (2, 1, 0), ([], 0), np.int64(2),
)  # fmt: skip


def numbers(entry: Any, size: int) -> Any:
    """What NumPy picks of so many; an integer as a slice of one."""
    found = np.arange(size)[entry.numpy() if isinstance(entry, pn.Array) else entry] if size else np.arange(0)
    return np.atleast_1d(found).tolist()


@pytest.mark.parametrize("index", INDICES, ids=str)
@pytest.mark.parametrize("mod", [striped, causal], ids=("striped", "causal"))
def test_is_that_of_what_it_picks(mod: Any, index: Any) -> None:
    entries = (*(index if isinstance(index, tuple) else (index,)), slice(None), slice(None))[:3]
    mask = pn.create_nested_block_mask(mod, Q, K, 2)
    chosen = numbers(entries[0], 3)
    picked = mask[index]
    assert len(picked.blocks) == len(chosen)
    for n, i in enumerate(chosen):
        count, queries, keys = SIZES[i]
        heads, at = numbers(entries[1], count), numbers(entries[2], -(-queries // 2))
        due = loops.met_pairs(mod, i, *SIZES[i])[heads][:, rows_of(at, queries, 2)]
        assert picked.outline[n].tolist() == [len(heads), due.shape[1], keys]
        np.testing.assert_array_equal(said(picked, n, *due.shape), due)
        own = loops.block_states(due, 2, 2)
        np.testing.assert_array_equal(np.broadcast_to(picked.blocks[n], own.shape), own)


@pytest.mark.parametrize(
    "index", [(slice(None), 0), ([2, 0], slice(None), slice(None, 1)), (2, [1, 0], [1, 0])], ids=str
)
def test_attention_with_it(index: Any) -> None:
    """It is that of the picked queries of the picked components, with the picked pairs as a mask of bools."""
    entries = (*index, slice(None))[:3]
    q, k, met = [], [], []
    for i in numbers(entries[0], 3):
        heads, at = numbers(entries[1], 2), numbers(entries[2], -(-SIZES[i][1] // 2))
        rows = rows_of(at, SIZES[i][1], 2)
        q.append(plain(Q)[i][heads][:, rows])
        k.append(plain(K)[i][heads])
        met.append(loops.met_pairs(striped, i, *SIZES[i])[heads][:, rows])
    queries, keys = nest(q, ragged=2), nest(k, ragged=2)
    mask = pn.create_nested_block_mask(striped, Q, K, 2)[index]
    due = plain(pn.scaled_dot_product_attention(queries, keys, keys, pn.nested_array(met)))
    for mod in (None, lambda s, b, h, i, j: s):
        for found, one in zip(plain(pn.flex_attention(queries, keys, keys, mod, mask)), due, strict=True):
            np.testing.assert_allclose(found, one, rtol=1e-14, atol=1e-15)


def test_one_of_dense_operands_that_has_one_component_serves_any_number() -> None:
    mask = pn.create_block_mask(striped, 3, 2, 4, 6, BLOCK_SIZE=2)
    x = [pn.array(distinct((2, 2, n, 2), seed)) for seed, n in enumerate((4, 6, 6))]
    for index, b in ((1, 1), (slice(2, 3), 2), ([0], 0)):
        own = pn.array(loops.met_pairs(striped, b, 2, 4, 6))
        found = pn.flex_attention(*x, block_mask=mask[index])
        np.testing.assert_allclose(found.numpy(), pn.scaled_dot_product_attention(*x, own).numpy(), rtol=1e-14)
    own = pn.array(loops.met_pairs(striped, 1, 2, 4, 6)[1])
    found = pn.flex_attention(*x, block_mask=mask[1, 1])
    np.testing.assert_allclose(found.numpy(), pn.scaled_dot_product_attention(*x, own).numpy(), rtol=1e-14)


def test_twice() -> None:
    mask = pn.create_block_mask(striped, 3, 2, 8, 6, BLOCK_SIZE=2)
    again = mask[1:][1, :, 1:][:, 1, [0, 2, 2]]
    np.testing.assert_array_equal(said(again, 0, 1, 6, 6), loops.met_pairs(striped, 2, 2, 8, 6)[1:, [2, 3, 6, 7, 6, 7]])
    assert again.shape == (1, 1, 6, 6)


def test_a_function_in_its_place() -> None:
    """As programs that decode do: one block of queries, and the function moved by hand."""
    mask = pn.create_block_mask(causal, None, None, 6, 6, BLOCK_SIZE=2)
    row = mask[:, :, 2]
    row.mask_mod = lambda b, h, i, j: mask.mask_mod(b, h, i + 4, j)
    assert mask.mask_mod is causal and mask[:].mask_mod is causal
    x = pn.array(distinct((1, 1, 6, 2)))
    found = pn.flex_attention(x[:, :, 4:], x, x, block_mask=row)
    due = pn.scaled_dot_product_attention(x, x, x, is_causal=True)[:, :, 4:]
    np.testing.assert_allclose(found.numpy(), due.numpy(), rtol=1e-14)


def test_lengths_in_their_place() -> None:
    """One query of a block, as programs that decode have it: its place is the fifth."""
    mask = pn.create_block_mask(causal, None, None, 6, 6, BLOCK_SIZE=2)
    row = mask[:, :, 2]
    row.mask_mod, row.seq_lengths = (lambda b, h, i, j: mask.mask_mod(b, h, i + 4, j)), (1, 6)
    assert row.shape == (1, 1, 1, 6) and mask.shape == (1, 1, 6, 6)
    x = pn.array(distinct((2, 3, 6, 2)))
    due = pn.scaled_dot_product_attention(x, x, x, is_causal=True)[:, :, 4:5]
    np.testing.assert_allclose(pn.flex_attention(x[:, :, 4:5], x, x, block_mask=row).numpy(), due.numpy(), rtol=1e-14)
    nested = pn.create_nested_block_mask(causal, Q, K, 2)
    nested.seq_lengths = [5, 0, 3], (3, 2, 6)
    assert nested.outline[:, 1:].tolist() == [[5, 3], [0, 2], [3, 6]]


def test_a_function_in_its_place_that_looks_at_heads() -> None:
    """Also where all heads had been alike."""
    mask = pn.create_block_mask(lambda b, h, i, j: i >= j, None, 2, 4, 4, BLOCK_SIZE=4)
    mask.mask_mod = lambda b, h, i, j: i >= j + h
    x = pn.array(distinct((1, 2, 4, 2)))
    own = pn.array(loops.met_pairs(lambda b, h, i, j: i >= j + h, 0, 2, 4, 4))
    due = pn.scaled_dot_product_attention(x, x, x, own)
    np.testing.assert_allclose(pn.flex_attention(x, x, x, block_mask=mask).numpy(), due.numpy(), rtol=1e-14)


def test_a_last_block_with_fewer_queries_stays_last() -> None:
    mask = pn.create_block_mask(causal, 1, 1, 5, 5, BLOCK_SIZE=2)
    assert mask[:, :, [0, 2]].shape == (1, 1, 3, 5) and mask[:, :, 2].shape == (1, 1, 1, 5)
