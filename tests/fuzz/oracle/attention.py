"""Attention: which operands meet, and what kind of array the result is."""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest
from typing import Any

import numpy as np

from .values import Answer, Nest, Refused, Silent, dense, shaped, stacked

EITHER = "StructureError", "ShapeError"


def scaled_dot_product_attention(
    query: Nest,
    key: Nest,
    value: Nest,
    attn_mask: Nest | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Answer:
    given = [query, key, value]
    every = [*given, *([] if attn_mask is None else [attn_mask])]
    kinds = {"ArgumentError"} if not 0 <= dropout_p <= 1 or (scale is not None and not np.isfinite(scale)) else set()
    kinds |= {"ArgumentError"} if attn_mask is not None and is_causal else set()
    kinds |= {"DTypeError"} if any(x.dtype.kind != "f" for x in given) else set()
    kinds |= {"DTypeError"} if attn_mask is not None and attn_mask.dtype.kind not in "fb" else set()
    kinds |= _refused(given, attn_mask, enable_gqa)
    if kinds:
        raise Refused(*kinds)
    nested = [x for x in every if not x.dense]
    if any(x.unknown for x in nested):
        raise Silent
    dtype = np.result_type(*[x.dtype for x in every if x.dtype.kind == "f"])
    names = ("query", "key", "value", "attn_mask")
    arguments: dict[str, Any] = {name: x[0] if x.dense else shaped(x) for name, x in zip(names, every, strict=False)}
    arguments |= {"dropout_p": dropout_p, "is_causal": is_causal, "scale": scale, "enable_gqa": enable_gqa}
    return Answer(
        "scaled_dot_product_attention",
        arguments,
        _wrap(given, nested, enable_gqa, dtype),
        not (nested or given)[0].count,
    )


def _refused(given: list[Nest], mask: Nest | None, grouped: bool) -> set[str]:
    """The errors that the shapes of operands may give."""
    nested = [x for x in (*given, mask) if x is not None and not x.dense]
    if any(x.rank < 2 for x in given) or any(x.rank < 3 for x in nested):
        return set(EITHER)
    if len({x.rank for x in nested}) > 1 or len({x.count for x in nested}) > 1:
        return {"StructureError"}
    rank = nested[0].rank if nested else max(x.rank for x in given)
    for x in (*given, *([] if mask is None else [mask])):
        if x.rank > rank:
            return set(EITHER)
        if nested and x.dense and x.rank == rank and x.shape[0] not in (1, nested[0].count):
            return set(EITHER)
    if any(x.shape[-1] is None for x in given if not x.dense):
        return {"StructureError"}
    count = nested[0].count if nested else 1
    if not count and not _meet(*_of_nothing([*given, mask], rank), grouped):
        raise Silent  # nobody knows which lengths there would be
    for i in range(count):
        parts = [None if x is None else _part(x, i, rank, bool(nested)) for x in (*given, mask)]
        if not _meet(*parts, grouped):  # type: ignore[arg-type]
            return set(EITHER)
        if nested and any(_stretches(x, parts, at) for at, x in enumerate((*given, mask)) if x is not None):
            return set(EITHER)
    return set()


def _of_nothing(operands: list[Nest | None], rank: int) -> list[Any]:
    """Shapes that components could have where there is none: 1 long where that is not known."""
    shapes = [None if x is None else x.shape[1:] if x.rank == rank else x.shape for x in operands]
    return [None if shape is None else tuple(1 if n is None else n for n in shape) for shape in shapes]


def _part(x: Nest, i: int, rank: int, nested: bool) -> tuple[int, ...]:
    """The shape that component ``i`` takes from an operand."""
    if not x.dense:
        return tuple(x[i].shape)
    shape = tuple(x[0].shape)
    return shape[1:] if nested and x.rank == rank else shape


def _meet(q: Any, k: Any, v: Any, mask: Any, grouped: bool) -> bool:
    """Whether the arrays of one component fit each other."""
    if q[-1] != k[-1] or k[-2] != v[-2]:
        return False
    leads = [x[:-2] for x in (q, k, v)]
    try:
        if grouped:
            if not (q[:-2] and k[:-2] and v[:-2]) or k[-3] != v[-3] or (q[-3] % k[-3] if k[-3] else q[-3]):
                return False
            lead = (*np.broadcast_shapes(*[one[:-1] for one in leads]), q[-3])
        else:
            lead = np.broadcast_shapes(*leads)
        scores = *lead, q[-2], k[-2]
        return mask is None or np.broadcast_shapes(mask, scores) == scores
    except ValueError:
        return False


def _stretches(x: Nest, parts: list[Any], at: int) -> bool:
    """Whether an irregular dimension would have to become longer in this component: a mask's, as others are regular."""
    if x.dense or at != 3:
        return False
    own, scores = parts[3], (parts[0][-2], parts[1][-2])
    return any(x.shape[-d] is None and own[-d] != scores[-d] for d in (1, 2))


def _wrap(given: list[Nest], nested: list[Nest], grouped: bool, dtype: Any) -> Callable[[Any], Any]:
    """Clause 7: the ragged dimensions but that of the keys."""
    if not nested:
        return lambda raw: dense(np.asarray(raw), dtype)
    rank = nested[0].rank
    own = [x.shape[1:] if not x.dense or x.rank == rank else x.shape for x in given]
    leads = [one[:-2] for one in own[: 1 if grouped else 3]]
    columns = list(zip_longest(*[one[::-1] for one in leads], fillvalue=1))[::-1]
    lead = [None if None in sizes else next((n for n in sizes if n != 1), 1) for sizes in columns]
    sizes = (*lead, own[0][-2], own[2][-1])
    operands = [x for x in given if not x.dense]
    if any(x.layout == "strided" for x in operands):
        return lambda raw: Nest(raw, "strided", dtype, sizes=sizes)
    ragged = {x.ragged for x in operands if x is given[0] or x.ragged != rank - 2}
    if not ragged:
        return lambda raw: stacked(raw, sizes, dtype)
    if len(ragged) > 1:
        return lambda raw: Nest(raw, "strided", dtype, sizes=sizes)
    at = ragged.pop()
    return lambda raw: Nest(raw, "jagged", dtype, at, sizes)


def flex_attention(query: Nest, key: Nest, value: Nest, scale: float | None = None, enable_gqa: bool = False) -> Answer:
    """Without functions it is the same; of dense operands the first sizes are a batch, which broadcasts as heads do."""
    same = scaled_dot_product_attention(query, key, value, scale=scale, enable_gqa=enable_gqa)
    names = ("query", "key", "value", "scale", "enable_gqa")
    return Answer("flex_attention", {name: same.arguments[name] for name in names}, same.wrap, same.may_refuse)


def multi_head_attention(
    query: Nest, key: Nest, value: Nest, num_heads: int, packed: Nest, bias: Nest, out: Nest, is_causal: bool = False
) -> Answer:
    rows = (query, key, value)
    if any(x.dense or x.rank != 3 or x.shape[2] is None for x in rows):
        raise Silent if any(x.unknown for x in rows) else Refused(*EITHER)
    width = query.shape[2] or 0
    kinds = {"ArgumentError"} if num_heads < 1 or width % num_heads else set()
    due = (3 * width, width), (3 * width,), (width, width)
    if any(x.shape != sizes for x, sizes in zip((packed, bias, out), due, strict=True)):
        kinds.add("ShapeError")
    if any(x.shape[2] != width for x in rows):
        kinds.add("ShapeError")
    if len({x.count for x in rows}) > 1 or key.column(1) != value.column(1):
        kinds.add("StructureError")
    kinds |= {"DTypeError"} if any(x.dtype.kind != "f" for x in rows) else set()
    if kinds:
        raise Refused(*kinds)
    names = ("query", "key", "value", "in_proj_weight", "in_proj_bias", "out_proj_weight")
    every = query, key, value, packed, bias, out
    arguments: dict[str, Any] = {name: x[0] if x.dense else shaped(x) for name, x in zip(names, every, strict=True)}
    arguments |= {"num_heads": num_heads, "is_causal": is_causal}
    strided = next((x for x in rows if x.layout == "strided"), query)
    return Answer("multi_head_attention", arguments, lambda raw: Nest(raw, strided.layout, query.dtype, strided.ragged))


RULES: dict[str, Callable[..., Answer]] = {
    "scaled_dot_product_attention": scaled_dot_product_attention,
    "flex_attention": flex_attention,
    "multi_head_attention": multi_head_attention,
}
