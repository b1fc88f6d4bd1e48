"""Calls of attention: operands in every layout, which fit but for now and then one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..plan import Call, Ref
from . import arrays
from .draft import Draft
from .numbers import TAME

FLOATS = "f"


def _operand(d: Draft, lead: tuple[int, ...], lengths: tuple[int, ...], width: int) -> Ref:
    """Nested matrices of these lengths; or dense ones, where all are of one length."""
    shapes = tuple((*lead, length, width) for length in lengths)
    alike = len(set(lengths)) == 1
    if alike and d.chance.happens(0.3):
        way = d.chance.between(0, 2)
        return d.dense([(*shapes[0],), (1, *shapes[0]), (len(shapes), *shapes[0])][way], FLOATS)
    rank = len(lead) + 2
    return d.nested(FLOATS, arrays.Form(shapes, rank, frozenset({rank - 1}), (*lead, 2, width)))


def _mask(d: Draft, lead: tuple[int, ...], queries: tuple[int, ...], keys: tuple[int, ...]) -> Ref:
    """A mask that is the same for all queries, or heads, or is not; nested masks have as many dimensions as scores."""
    kind = "b" if d.chance.happens(0.5) else FLOATS
    own = tuple(1 if d.chance.happens(0.5) else size for size in lead)
    per_query, per_key = d.chance.happens(0.6), d.chance.happens(0.8)
    pairs = zip(queries, keys, strict=True)
    shapes = tuple((*own, n if per_query else 1, m if per_key else 1) for n, m in pairs)
    rank = len(own) + 2
    irregular = frozenset({rank - 1} if per_query else set()) | frozenset({rank} if per_key else set())
    if len(set(shapes)) == 1 and d.chance.happens(0.6):
        return d.dense((len(shapes), *shapes[0]) if d.chance.happens(0.5) else shapes[0], kind)
    jagged = len(irregular) == 1 and d.chance.happens(0.5)
    form = arrays.Form(shapes, rank, irregular, (*own, 1, 1))
    dtype = d.dtype(kind)
    return d.add(arrays.nested(d.chance, form, jagged, dtype, d.draw(dtype, None)))


def attention(d: Draft) -> Call:
    count = d.chance.one((1, 2, 2, 3, 0) if not d.tame else (1, 2, 3))
    heads = d.chance.one(((), (1,), (2,), (2,), (1, 2)))
    queries, keys = (tuple(d.chance.one((0, 1, 2, 3)) for _ in range(count)) for _ in range(2))
    if d.chance.happens(0.3):
        queries = queries[:1] * count
    width, value_width = d.chance.one((1, 2, 3, 0)), d.chance.one((1, 2, 0))
    options: dict[str, Any] = {}
    of_keys = heads
    if heads and d.chance.happens(0.25):
        options["enable_gqa"] = True
        of_keys = (*heads[:-1], 1)
    elif heads and d.chance.happens(0.15):
        of_keys = (1,) * len(heads)
    if d.wild(0.05):
        keys = tuple(n + 1 for n in keys[:1]) + keys[1:]
    q = _operand(d, heads, queries, width)
    k = _operand(d, of_keys, keys, width + d.wild(0.03))
    v = _operand(d, of_keys, tuple(n + 1 for n in keys) if d.wild(0.03) else keys, value_width)
    args = [q, k, v]
    if d.chance.happens(0.3):
        args.append(_mask(d, heads, queries, keys))
    if (len(args) == 3 or d.wild(0.03)) and d.chance.happens(0.4):
        options["is_causal"] = True
    if d.chance.happens(0.3):
        options["scale"] = d.chance.one((0.5, 1, 0, -2.0)) if not d.wild() else np.inf
    if d.wild(0.03):
        options["dropout_p"] = d.chance.one((0.0, 1.0, 1.5))
    return Call("scaled_dot_product_attention", tuple(args), options)


def flex_attention(d: Draft) -> Call:
    """The same without masks and functions, which a plan has no words for."""
    call = attention(d)
    options = {name: value for name, value in call.kwargs.items() if name in ("scale", "enable_gqa")}
    return Call("flex_attention", call.args[:3], options)


def multi_head_attention(d: Draft) -> Call:
    """Moderate numbers: how wild ones spread is the business of the operators that it is made of."""
    count, (width, heads) = d.chance.one((1, 2, 3)), d.chance.one(((1, 1), (2, 1), (2, 2)))
    queries, keys = (tuple(d.chance.one((0, 1, 2, 3)) for _ in range(count)) for _ in range(2))
    dtype, style = np.dtype(d.chance.one(("float32", "float64"))), d.chance.one(TAME)

    def rows(lengths: tuple[int, ...]) -> Ref:
        shapes = tuple((length, width) for length in lengths)
        return d.nested(FLOATS, arrays.Form(shapes, 2, frozenset({1}), (2, width)), style, dtype)

    operands = [rows(queries), rows(keys), rows(keys)]
    weights = [d.dense(sizes, FLOATS, style, dtype) for sizes in ((3 * width, width), (3 * width,), (width,) * 2)]
    options = {"is_causal": True} if d.chance.happens(0.4) else {}
    return Call("multi_head_attention", (*operands, 3 if d.wild(0.05) else heads, *weights), options)


DRAWS: dict[str, Callable[[Draft], Call]] = {
    "scaled_dot_product_attention": attention,
    "flex_attention": flex_attention,
    "multi_head_attention": multi_head_attention,
}
