"""Error inputs of attention: its operands, masks and functions, block masks, and the layers around it."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from pynested.backends.errors import ArgumentError, DeviceError, DTypeError, IndexOutOfRange, ShapeError, StructureError

from ...calls import layer_parameters
from ...nests import batch, distinct, nest
from . import ErrorInput, pn

INF = float("inf")
attend, flex = pn.scaled_dot_product_attention, pn.flex_attention
QUERY, KEY = batch([(2, 2, 3), (2, 1, 3)]), batch([(2, 3, 3), (2, 1, 3)], 1)
MATRICES = pn.zeros(2, 2, 3, 3)
ROWS = [distinct((2, 4)), distinct((3, 4))]
ATTENTION = {
    "in_proj_weight": distinct((12, 4)), "in_proj_bias": distinct((12,)),
    "out_proj_weight": distinct((4, 4)), "out_proj_bias": distinct((4,)),
}  # fmt: skip
ENCODER = layer_parameters([*ATTENTION.values()], "self_attn", bias=True)
DECODER = layer_parameters([*ATTENTION.values()], "self_attn", "multihead_attn", bias=True)


def heads(query: Any, make: Any, **change: Any) -> Any:
    """Return multi-head attention of these rows, with some arguments changed."""
    x = make(query)
    return pn.multi_head_attention(**{"query": x, "key": x, "value": x, "num_heads": 2, **ATTENTION} | change)


def decode(tgt: Any, memory: Any, **change: Any) -> Any:
    return pn.transformer_decoder_layer(tgt, memory, DECODER | change, 2)


def with_heads(make: Any) -> tuple[Any, Any]:
    """Return a query and keys of two heads."""
    return make(QUERY, 2), make(KEY, 2)


ALWAYS: list[ErrorInput] = [
    *[(lambda make, at=at: attend(*at(*with_heads(make))), kind, text) for at, kind, text in (
        (lambda q, k: (q, k[..., :2], k), StructureError, "their rows must have equal numbers of elements"),
        (lambda q, k: (q, k[:, 0], k), StructureError, "4 and 3 dimensions"),
        (lambda q, k: (q.transpose(2, 3), k, k), StructureError, "dimension 3 of query, the last one, is irregular"),
        (lambda q, k: (q, pn.zeros(3), MATRICES), ShapeError, "if it is dense, it must have from 2 to 4"),
        (lambda q, k: (q, k, k, pn.zeros(1, 1, dtype=pn.int64)), DTypeError, "attn_mask is int64; it must be bool"),
        (lambda q, k: (q, k, k, 1.0), ArgumentError, "attn_mask must be an array, not 1.0"),
        (lambda q, k: (q, q, q, pn.zeros(1, 1), 0.0, True), ArgumentError, "is_causal=True is a mask, and attn_mask"),
        (lambda q, k: (q.to(pn.int64), k, k), DTypeError, "the array must be floating point"))],
    (lambda make: attend(make(QUERY, 2), k := make(batch([(3, 1, 3)] * 2), 2), k, enable_gqa=True), StructureError,
     "2 heads of query must be a multiple of the "),
    (lambda make: attend(x := make(ROWS), x, x, enable_gqa=True), StructureError, "needs a dimension of heads"),
    (lambda make: attend(x := make([x[:, 0] for x in ROWS]), x, x), StructureError, "they must be matrices at least"),
    *[(lambda make, options=options: flex(q := make(QUERY, 2), q, q, **options), ArgumentError, text)
      for options, text in (
          ({"return_aux": True}, "return_aux must be an AuxRequest, not "),
          ({"return_aux": pn.AuxRequest(max_scores="no")}, "'return_aux.max_scores' must be True or False, not 'no'"),
          ({"return_aux": pn.AuxRequest(), "return_lse": True}, "return_lse=True returns a pair with the log-sums"))],
    # layers
    *[(lambda make, change=change: heads(ROWS, make, **change), kind, text) for kind, text, change in (
        (ArgumentError, "num_heads is 3; it must divide the 4 elements", {"num_heads": 3}),
        (ArgumentError, "give either in_proj_weight, or all of", {"in_proj_weight": None, "q_proj_weight": np.eye(4)}),
        (ShapeError, "in_proj_bias has the shape (4,)", {"in_proj_bias": np.zeros(4)}),
        (ShapeError, "in_proj_weight has the shape (4, 4)", {"in_proj_weight": np.eye(4)}),
        (ShapeError, "out_proj_weight has the shape (4, 3)", {"out_proj_weight": np.ones((4, 3))}),
        (ShapeError, "out_proj_bias has the shape (3,)", {"out_proj_bias": np.ones(3)}),
        (ShapeError, "key must be an array (B, L, E) or (L, E)", {"key": distinct((2, 3, 4, 4))}))],
    (lambda make: heads(ROWS, make, key=make([x[:, :3] for x in ROWS])), ShapeError,
     "k_proj_weight has the shape (4, 4); with these rows it must be (4, 3)"),
    (lambda make: heads(ROWS, make, value=make([x[:, 0] for x in ROWS])), StructureError, "it must be (B, *, E), with"),
    (lambda make: decode(make(ROWS), make([x[:, :3] for x in ROWS])), StructureError,
     "transformer_decoder_layer: rows of memory have 3 elements, and those of tgt 4"),
    (lambda make: decode(x := make(ROWS), x, **{"norm3.bias": np.ones((1, 4))}), ShapeError,
     "transformer_decoder_layer: norm3.bias has the shape (1, 4)"),
]  # fmt: skip

FILLED: list[ErrorInput] = [
    *[(lambda make, at=at: attend(*at(*with_heads(make))), kind, text) for at, kind, text in (
        (lambda q, k: (q, k[:1], k), StructureError, "2 and 1 components"),
        (lambda q, k: (q, pn.zeros(2, 3, 3, 3), MATRICES), ShapeError, "and key (3, 3, 3); sizes before the matrices"),
        (lambda q, k: (q, pn.zeros(2, 3, 3, 3), MATRICES), ShapeError, "1. Heads in groups need enable_gqa=True"),
        (lambda q, k: (q, pn.zeros(3, 2, 3, 3), MATRICES), ShapeError, "if it has 4, the first size must be 2 (comp"),
        (lambda q, k: (q, k, k, pn.zeros(1, 4)), ShapeError, "has shape (1, 1, 4) and the scores (2, 2, 3)"))],
]  # fmt: skip


def causal(b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
    return q_idx >= kv_idx


Q, K = (nest(batch([(2, n, 2) for n in lengths]), ragged=2) for lengths in ((5, 0, 2), (3, 2, 6)))
X = pn.array(distinct((1, 2, 2, 2)))
HALF, NESTED = pn.create_block_mask(causal, 1, 1, 2, 2, BLOCK_SIZE=1), pn.create_nested_block_mask(causal, Q, K, 2)
LAST_SHORT = pn.create_block_mask(causal, 1, 1, 5, 5, BLOCK_SIZE=2)
listed = pn.BlockMask.from_kv_blocks
two_rows = partial(listed, [1, 1], [[0, 1], [0, 1]], BLOCK_SIZE=4)
ENCODER_ROWS = nest(ROWS)


def mask_of(mod: Any) -> Any:
    return pn.create_nested_block_mask(mod, Q, K)


def with_function(mod: Any) -> Any:
    mask = HALF[:]
    mask.mask_mod = mod
    return mask


DENSE: list[ErrorInput] = [
    (lambda: attend(*[MATRICES] * 3, pn.zeros(1, 2, 2, 3, 3)), ShapeError, "must have from 0 to 4 dimensions"),
    (lambda: attend(pn.zeros(2), pn.zeros(2), pn.zeros(2)), ShapeError, "it must have from 2 to 2 dimensions"),
    (lambda: flex(X, X, X, scale=np.inf), ArgumentError, "flex_attention: scale must be a finite number, not inf"),
    (lambda: heads(ROWS[0], pn.array, key=None), ArgumentError, "multi_head_attention: NoneType is neither an array"),
    (lambda: heads(ROWS[0], pn.array, dropout_p=2.0), ArgumentError, "multi_head_attention: dropout_p must be"),
    (lambda: heads(ROWS[0], pn.array, attn_mask=MATRICES[0, 0] > 0, is_causal=True), ArgumentError,
     "multi_head_attention: is_causal=True is a mask"),
    *[(lambda layer=layer: pn.transformer_encoder_layer(ENCODER_ROWS, layer, 2), ArgumentError, text)
      for layer, text in (
          ({name: x for name, x in ENCODER.items() if name != "linear2.weight"}, "parameters lack linear2.weight"),
          (ENCODER | {"norm3.weight": np.ones(4)}, "the parameters have norm3.weight, which"),
          *[(ENCODER | {name: [[1.0], [1.0, 2.0]]}, "transformer_encoder_layer: list is neither an array")
            for name in ENCODER],
          ([*ENCODER.values()], "parameters must be a mapping of names to arrays, not list"))],
    (lambda: pn.transformer_encoder_layer(ENCODER_ROWS, ENCODER, 2, activation=["relu"]), ArgumentError,
     "activation must be 'relu' or 'gelu', not ['relu']"),
    # functions
    *[(lambda mod=mod: mask_of(mod), kind, f"mask_mod {text}") for mod, kind, text in (
        (lambda b, h, i, j: i - j, DTypeError, "returned int64, in component 0, queries 0 to 4, keys 0 to 2"),
        (lambda b, h, i, j: True, ArgumentError, "returned a bool, in component 0"),
        (lambda b, h, i, j: (i >= j)[None], ShapeError, "returned shape (1, 1, 5, 3), in component 0"),
        (lambda b, h, i, j: pn.zeros(1, device="emulated") == 0, DeviceError, "returned an array on 'emulated'"))],
    *[(lambda mod=mod: flex(X, X, X, mod), kind, f"score_mod {text}") for mod, kind, text in (
        (lambda s, b, h, i, j: s[0], ShapeError, "returned shape (2, 2) for scores of shape (2, 2, 2), in"),
        (lambda s, b, h, i, j: s > 0, DTypeError, "returned bool for scores of float64, in component 0"),
        (causal, ArgumentError, "must be a function of (score, b, h, q_idx, kv_idx)"))],
    (lambda: flex(X, X, X, lambda s, b, h, i, j: s + pn.array(1.0, device="emulated")), DeviceError, "'emulated'"),
    (lambda: pn.or_masks(causal, 3), ArgumentError, "each argument must be a function, not 3"),
    (lambda: pn.create_mask(lambda i, j: i >= j, 1, 1, 2, 2), ArgumentError, "kv_idx), not of (i, j)."),
    *[(lambda mod=mod: pn.create_mask(mod, 1, 1, 2, 2), kind, f"create_mask: mod_fn {text}") for mod, kind, text in (
        (lambda b, h, i, j: i - j, DTypeError, "returned int64, in component 0, queries 0 to 1, keys 0 to 1"),
        (lambda b, h, i, j: (i >= j)[None], ShapeError, "returned shape (1, 1, 2, 2), in component 0"),
        (lambda s, b, h, i, j: s[0], ShapeError, "returned shape (2, 2) for scores of shape (1, 2, 2), in"),
        (lambda s, b, h, i, j: s > 0, DTypeError, "returned bool for scores of float32, in component 0"),
        (lambda s, b, h, i, j: 0.0, ArgumentError, "returned a float, in component 0"))],
    # descriptions of wrong values
    *[(lambda value=value: pn.create_mask(value, 1, 1, 2, 2), ArgumentError, f"mod_fn must be a function, not {words}")
      for value, words in (
          ([0] * 99, "a list of 99"), (1 << 90, "an integer of 91 bits"), ("x" * 200, "a str"),
          (np.zeros((40, 2), np.int8), "an array of shape (40, 2) and dtype int8"), (Q, "a nested array of shape"))],
    # sizes of block masks
    (lambda: pn.create_mask(causal, 1, 1, 1, -1), ArgumentError, "KV_LEN must be 0 or more, not -1"),
    *[(lambda args=args: pn.create_nested_block_mask(causal, *args), kind, text) for args, kind, text in (
        ((2, 2, Q), ArgumentError, "B is 2, and q_nt has 3 components. Give None, 1 or that number"),
        ((1, 1), ArgumentError, "one of q_nt and kv_nt must be a nested array; q_nt is 1. Use create"),
        ((pn.nested_array([[1.0]]),), StructureError, "the components of q_nt have 1 dimensions"),
        ((Q, K[:2]), StructureError, "q_nt and kv_nt have 3 and 2 components"),
        ((Q, pn.zeros(2, 2, 3, 2)), ShapeError, "kv_nt has shape (2, 2, 3, 2) beside 3 nested components"),
        ((Q, K, (1, 2, 3)), ArgumentError, "BLOCK_SIZE must be one size or two, not"))],
    *[(lambda q=q, k=k, mask=mask: flex(q, k, k, block_mask=mask), kind, text) for q, k, mask, kind, text in (
        (X, X, 3, ArgumentError, "block_mask must be a BlockMask, not 3"),
        (X, X, with_function(3), ArgumentError, "flex_attention: mask_mod must be a function, not 3"),
        (X, X, with_function(lambda i, j: i >= j), ArgumentError, "mask_mod must be a function of (b, h, q_idx, kv_"),
        (X, X[:, :, :1], HALF, ShapeError, "2 queries, 2 keys and all heads in component 0, which has 2, 1 and 2"),
        (Q[:2], K[:2], NESTED, StructureError, "is for 3 components, and there are 2"),
        (Q[:, :1], K[:, :1], mask_of(lambda b, h, i, j: h >= j), StructureError, "and 2 heads in component 0, which"))],
    (lambda: HALF.to("nowhere"), DeviceError, "nowhere"),
    # sizes beyond int64, and sizes of pictures
    *[(lambda size=size: pn.create_block_mask(causal, 1, 1, 2, 2, BLOCK_SIZE=size), StructureError,
       "create_block_mask: BLOCK_SIZE holds an integer that is beyond int64") for size in (1 << 63, (2, 10**30))],
    *[(lambda size=size: two_rows(BLOCK_SIZE=size), StructureError, f"from_kv_blocks: {text} holds an integer")
      for size, text in ((10**30, "BLOCK_SIZE"), (1 << 62, "the shape by BLOCK_SIZE"))],
    *[(lambda options=options: HALF.to_string(**options), ArgumentError, f"to_string: {text}") for options, text in (
        ({"grid_size": (1, 2, 3)}, "grid_size must be one size or two, not (1, 2, 3)"),
        ({"grid_size": 2.0}, "grid_size must be an integer, not 2.0"),
        ({"grid_size": (2, -2)}, "grid_size must be -1 or more, not -2"),
        ({"limit": -1}, "limit must be 0 or more, not -1"), ({"limit": None}, "limit must be an integer, not None"))],
    # lists of blocks
    *[(lambda lists=lists: listed(*lists), kind, text) for lists, kind, text in (
        (([1], [[0]], [1]), ArgumentError, "full_kv_num_blocks and full_kv_indices must be given together"),
        (([1], [[0]], [1], [[0]]), ArgumentError, "component 0, head 0, row 0 lists column 0 more"),
        (([1], [[0]], [1, 0], [[0], [0]]), ShapeError, "kv_indices: (1, 1, 1), full_kv_num_blocks: (1, 2), full_kv"),
        (([2], [[0]]), IndexOutOfRange, "kv_num_blocks has 2 in component 0, of 1 columns"),
        (([1, 1], [[0]]), ShapeError, "do not fit, kv_num_blocks: (1, 2), kv_indices: (1, 1, 1). The shapes must"),
        (([1], [0]), ShapeError, "kv_indices has shape (1,); it must be (B, H, rows, columns)"),
        (([1.0], [[0]]), DTypeError, "kv_num_blocks must be integers, not float64"),
        ((np.array([2**64 - 1], np.uint64), [[0]]), StructureError, "kv_num_blocks holds 18446744073709551615"),
        ((pn.nested_array([[[1]]]), [[[[0]]]]), ArgumentError, "kv_indices must all be nested, or all be dense"),
        ((pn.nested_array([[[1]]]), pn.nested_array([[[[0]]]] * 2)), ShapeError, "kv_num_blocks: missing, kv_in"))],
    *[(lambda lengths=lengths: two_rows(seq_lengths=lengths), kind, text) for lengths, kind, text in (
        ((4, 8), ShapeError, "seq_lengths has 4 queries for component 0; they must make 2 blocks of 4"),
        (8, ArgumentError, "seq_lengths must be a pair"),
        (([8, 8, 8], 8), ShapeError, "seq_lengths has shape (3,) for 1 components"))],
    # indices of block masks
    *[(lambda index=index: NESTED[index], kind, text) for index, kind, text in (
        ((0, 2), IndexOutOfRange, "out of bounds for the heads of component 0 of a block mask of 2"),
        ((0, 0, 0, 0), ArgumentError, "by components, heads and blocks of queries, with integers"),
        ((..., 0), ArgumentError, "vectors of integers or bools, not by (Ellipsis, 0)"))],
    (lambda: LAST_SHORT[:, :, [2, 0]], ArgumentError, "block 2 of queries of component 0 has 1 queries, the others 2"),
]  # fmt: skip
