"""Block masks: what each block is, against the pairs themselves; pictures; functions that return something else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError
from pynested.operators.attention import masks

from ..nests import batch, nest

Q, K = (
    nest(batch([(2, 5, 1), (2, 0, 1), (2, 2, 1)]), ragged=2),
    nest(batch([(2, 3, 1), (2, 2, 1), (2, 6, 1)]), ragged=2),
)


def states(met: Any, q_size: int, kv_size: int) -> Any:
    """Each block of pairs (heads, queries, keys) on its own: 0 where none meet, 2 where all do, 1 otherwise."""
    heads, rows, keys = met.shape
    found = np.zeros((heads, -(-rows // q_size), -(-keys // kv_size)), np.int8)
    for h, i, j in np.ndindex(*found.shape):
        block = met[h, i * q_size : (i + 1) * q_size, j * kv_size : (j + 1) * kv_size]
        found[h, i, j] = 2 if block.all() else int(block.any())
    return found


def by_pairs(mod: Any, component: int, heads: int, rows: int, keys: int) -> Any:
    """The function of one pair after the other."""
    met = np.zeros((heads, rows, keys), bool)
    for h, i, j in np.ndindex(*met.shape):
        met[h, i, j] = mod(component, h, i, j)
    return met


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
            found, states(by_pairs(mod, i, 1 if alike else 2, rows, keys), *sizes)[: len(found)]
        )
    whole = pn.create_block_mask(mod, 2, 2, 5, 3, BLOCK_SIZE=block_size)
    for i, found in enumerate(whole.blocks):
        np.testing.assert_array_equal(found, states(by_pairs(mod, i, 1 if alike else 2, 5, 3), *sizes))


@pytest.mark.parametrize("keys", [(3, 2, 4, 1), (1, 2, 4, 1), (2, 4, 1), (4, 1)], ids=str)
def test_dense_keys_of_nested_queries_and_the_other_way_round(keys: tuple[int, ...]) -> None:
    mod, dense = FUNCTIONS[2][0], pn.zeros(*keys)
    for args, sizes in (((Q, dense), [(5, 4), (0, 4), (2, 4)]), ((dense, Q), [(4, 5), (4, 0), (4, 2)])):
        mask = pn.create_nested_block_mask(mod, *args, BLOCK_SIZE=2)
        heads = 2 if len(keys) > 2 or args[0] is Q else 1
        assert mask.shape[:2] == (3, heads)
        for i, (found, pair) in enumerate(zip(mask.blocks, sizes, strict=True)):
            np.testing.assert_array_equal(found, states(by_pairs(mod, i, heads, *pair), 2, 2)[: len(found)])
    x, met = Q.to(pn.float64), pn.create_nested_block_mask(lambda b, h, i, j: i >= j, Q, dense, 2)
    own = pn.array(np.arange(np.prod(keys)) / 8).reshape(keys)
    due = pn.scaled_dot_product_attention(x, own, own, is_causal=True)
    for one, other in zip(pn.flex_attention(x, own, own, block_mask=met).unbind(), due.unbind(), strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-13)


def test_masks_together() -> None:
    causal, near = (lambda b, h, i, j: i >= j), (lambda b, h, i, j: abs(i - j) < 2)
    for together, both in ((pn.and_masks, np.logical_and), (pn.or_masks, np.logical_or)):
        found = pn.create_block_mask(together(causal, near), None, None, 4, 4, BLOCK_SIZE=1).blocks[0]
        due = both(*(by_pairs(one, 0, 1, 4, 4) for one in (causal, near)))
        np.testing.assert_array_equal(found, 2 * due)
    assert pn.create_block_mask(pn.and_masks(), None, None, 2, 2).counts() == (0, 0, 1)
    assert pn.create_block_mask(pn.or_masks(), None, None, 2, 2).counts() == (1, 0, 0)
    for function in (pn.and_masks, pn.or_masks):
        with pytest.raises(ArgumentError, match="each argument must be a function, not 3"):
            function(causal, 3)  # type: ignore[arg-type]


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
