"""What a vector names where a program gives a function: functions of pairs, in pynested's operators."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import pynested as pn
from pynested.spec.components import Components

SCORE_MODS: Mapping[str, Callable[..., Any]] = {
    "causal": lambda score, b, h, q_idx, kv_idx: pn.where(kv_idx > q_idx, -np.inf, score),
    "alibi": lambda score, b, h, q_idx, kv_idx: score + ((kv_idx - q_idx) * pn.exp2(-1.0 - h)).to(score.dtype),
    "marked": lambda score, b, h, q_idx, kv_idx: score * (h + 1).to(score.dtype) + b.to(score.dtype),
    "first": lambda score, b, h, q_idx, kv_idx: score[..., :1],
    "compared": lambda score, b, h, q_idx, kv_idx: score > 0,
    "forgotten": lambda score, b, h, q_idx, kv_idx: None,
}
MASK_MODS: Mapping[str, Callable[..., Any]] = {
    "causal": lambda b, h, q_idx, kv_idx: kv_idx <= q_idx,
    "near": lambda b, h, q_idx, kv_idx: pn.abs(q_idx - kv_idx) < 2,
    "checkered": lambda b, h, q_idx, kv_idx: (b + h + q_idx + kv_idx) % 2 == 0,
    "nothing": lambda b, h, q_idx, kv_idx: kv_idx < 0,
    "distance": lambda b, h, q_idx, kv_idx: q_idx - kv_idx,
    "alone": lambda b, h, q_idx, kv_idx: kv_idx <= q_idx,
}
BLOCK_SIZE = 2  # of masks that a call names


def flex_attention(*args: Any, **kwargs: Any) -> Any:
    """`pn.flex_attention` with functions by name, or a vector of slopes that one captures; its results as a list."""
    given = dict(inspect.signature(pn.flex_attention).bind(*args, **kwargs).arguments)
    score, mask = given.get("score_mod"), given.get("block_mask")
    if isinstance(score, str):
        given["score_mod"] = SCORE_MODS[score]
    elif score is not None:
        given["score_mod"] = lambda s, b, h, q_idx, kv_idx: s + (kv_idx - q_idx).to(s.dtype) * score[h]
    if isinstance(mask, str):
        keys = None if mask == "alone" else given["key"]
        given["block_mask"] = pn.create_nested_block_mask(MASK_MODS[mask], given["query"], keys, BLOCK_SIZE=BLOCK_SIZE)
    if given.get("return_aux") is None:
        return pn.flex_attention(**given)
    out, found = pn.flex_attention(**(given | {"return_aux": pn.AuxRequest(*given["return_aux"])}))
    return [out, *[one for one in found if one is not None]]


def create_nested_block_mask(mask_mod: str, q_nt: Any, *args: Any, **kwargs: Any) -> Any:
    """`pn.create_nested_block_mask` of a function by name, as an array: blocks of all heads of ``q_nt``."""
    mask = pn.create_nested_block_mask(MASK_MODS[mask_mod], q_nt, *args, **kwargs)
    nested = isinstance(q_nt, pn.NestedArray)
    sizes = [q_nt.regular_size(dim) for dim in range(1, q_nt.ndim - 2)] if nested else [mask.shape[1]]
    lead = None if None in sizes else int(np.prod([size or 0 for size in sizes]))
    pairs = zip(mask.blocks, mask.extents.tolist(), strict=False)
    blocks = [np.broadcast_to(one, (heads, *one.shape[1:])) for one, (heads, _, _) in pairs]
    return Components(blocks, (len(blocks), lead, None, None), np.int8)


BY_NAME = {"flex_attention": flex_attention, "create_nested_block_mask": create_nested_block_mask}
