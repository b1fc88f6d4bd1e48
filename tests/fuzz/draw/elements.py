"""Calls that work element by element or run by run: operands that meet, or nearly do, and options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from pynested.spec.table import run_wise

from ..oracle import DTYPES, FUNCTIONS, PAIRS, TABLE, Nest
from ..plan import Call, Ref
from . import arrays
from .draft import Draft

FLOATING = (*FUNCTIONS, "gelu", "silu")
JUDGING = tuple(name for name, one in FUNCTIONS.items() if one.dtypes == "bool")
UNARY = (*FLOATING, "neg", "abs", "sgn", "relu", "logical_not", "clone", "detach", "contiguous", "unbind")
BINARY = ("add", "sub", "mul", "div", "maximum", "minimum", "eq", "lt", *PAIRS)
OF_RUNS = {name: entry.call.parameters for name, entry in TABLE.items() if entry.chapter == "reduction"}
PLACES = ("argmax", "argmin")
REDUCTIONS = tuple(name for name in OF_RUNS if name not in PLACES)


def unary(op: str) -> Callable[[Draft], Call]:
    def drawn(d: Draft) -> Call:
        x = d.array("f" if op in FLOATING and d.chance.happens(0.7) else "biuf")
        if op in FUNCTIONS and FUNCTIONS[op].positive and d.chance.happens(0.5):
            x = d.nested("f", style="positive")
        if op == "gelu" and d.chance.happens(0.6):
            return Call(op, (x, d.chance.one(("tanh", "tanh", "none") if not d.wild() else ("erf", 1))))
        if op == "unbind" and d.chance.happens(0.2):
            return Call(op, (x, d.dim(d.value(x)) if not d.tame else 0))
        return Call(op, (x,))

    return drawn


def partner(d: Draft, ref: Ref, kinds: str = "biuf", numbers: bool = True) -> Any:
    """An operand that meets ``ref``, in one of the many ways; now and then one that does not."""
    x = d.value(ref)
    if d.chance.happens(0.25) and numbers:
        return d.number(x.dtype)
    if d.chance.happens(0.12) and x.dtype.kind in kinds:
        return ref
    if x.dense:
        if d.chance.happens(0.3) and x.rank > 1:
            return d.nested(kinds, arrays.form_of(x))
        return d.dense(_near(d, [1 if d.chance.happens(0.3) else size for size in x.shape], True), kinds)
    if d.chance.happens(0.35):
        return d.dense(_near(d, _aligned(d, x), False), kinds)
    same = d.chance.happens(0.15) and x.dtype.kind in kinds
    return d.nested(kinds, _stretched(d, arrays.form_of(x)), dtype=x.dtype if same else None)


def _aligned(d: Draft, x: Nest) -> list[int]:
    """A dense shape that meets ``x`` from the right."""
    sizes = [x.count if d.chance.happens(0.6) else 1]
    for dim in range(1, x.rank):
        size = x.shape[dim]
        if size is None and x.count and len(set(x.column(dim))) == 1 and d.chance.happens(0.3):
            size = x.column(dim)[0]
        sizes.append(1 if size is None or d.chance.happens(0.2) else d.chance.one((2, 3)) if size == 1 else size)
    if d.chance.happens(0.2):
        return []
    return sizes[d.chance.below(len(sizes) + 1) :] if d.chance.happens(0.7) else sizes


def _near(d: Draft, shape: list[int], drop: bool) -> list[int]:
    """A shape as it is, or with one size changed, or with one dimension more."""
    if drop and shape and d.chance.happens(0.3):
        return shape[1:]
    if d.wild(0.06) and shape:
        at = d.chance.below(len(shape))
        return [*shape[:at], d.chance.between(0, 4), *shape[at + 1 :]]
    return [1, *shape] if d.wild(0.02) else shape


def _stretched(d: Draft, form: arrays.Form) -> arrays.Form:
    """The same form; or with regular sizes that become 1, or more than 1 where they are; or one that does not fit."""
    shapes, regular = [list(shape) for shape in form.shapes], list(form.regular)
    irregular = set(form.irregular)
    for dim in range(1, form.rank + 1):
        if not d.chance.happens(0.12) or (dim in irregular and any(shape[dim - 1] != 1 for shape in shapes)):
            continue
        size = d.chance.one((2, 3)) if all(shape[dim - 1] == 1 for shape in shapes) else 1
        if dim in irregular and not d.wild(0.5):
            continue
        irregular.discard(dim)
        regular[dim - 1] = size
        for shape in shapes:
            shape[dim - 1] = size
    if d.wild(0.05) and shapes:
        one = d.chance.one(shapes)
        if one:
            one[d.chance.below(len(one))] += 1
    if d.wild(0.02) and shapes:
        shapes.pop()
    return replace(form, shapes=tuple(map(tuple, shapes)), regular=tuple(regular), irregular=frozenset(irregular))


def binary(op: str) -> Callable[[Draft], Call]:
    def drawn(d: Draft) -> Call:
        x = d.array()
        y = partner(d, x, d.kinds)
        pair = (y, x) if d.chance.happens(0.35) else (x, y)
        if op in ("add", "sub") and d.chance.happens(0.25):
            alpha = d.chance.one((2, 0.5, -1, 3, 0)) if d.tame else d.number(d.value(x).dtype)
            return Call(op, pair, {"alpha": alpha})
        return Call(op, pair)

    return drawn


def clamp(d: Draft) -> Call:
    x = d.array()
    low, high = (partner(d, x, d.kinds) if d.chance.happens(0.7) else None for _ in range(2))
    if d.chance.happens(0.3):
        return Call("clamp", (x,), {name: one for name, one in (("min", low), ("max", high)) if one is not None})
    return Call("clamp", (x, low, high))


def equal(d: Draft) -> Call:
    ref = d.array()
    x = d.value(ref)
    if d.chance.happens(0.5):
        return Call("equal", (ref, _copy_of(d, x)))
    other = partner(d, ref, numbers=False)
    return Call("equal", (other, ref) if d.chance.happens(0.5) else (ref, other))


def allclose(d: Draft) -> Call:
    ref = d.array()
    other: Any = _copy_of(d, d.value(ref)) if d.chance.happens(0.5) else partner(d, ref)
    tolerance = lambda: d.chance.one((0, 0.0, 1e-5, 0.5, 2, np.inf)) if not d.wild() else d.chance.one((-1, np.nan))  # noqa: E731
    options = {name: tolerance() for name in ("rtol", "atol") if d.chance.happens(0.4)}
    if d.chance.happens(0.3):
        options["equal_nan"] = d.chance.happens(0.5)
    return Call("allclose", (ref, other), options)


def _copy_of(d: Draft, x: Nest) -> Ref:
    """The same elements in another layout, placement and perhaps dtype."""
    kind = d.dtype() if d.chance.happens(0.5) else x.dtype
    parts = []
    for one in x:
        with np.errstate(all="ignore"):
            parts.append((np.nan_to_num(one) if one.dtype.kind == "f" and kind.kind != "f" else one).astype(kind))
    if x.dense:
        return d.add(arrays.dense(d.chance, parts[0].shape, kind, lambda count: parts[0].reshape(-1)))
    copy = Nest(parts, x.layout, kind, x.ragged, x.shape[1:])
    return d.add(arrays.placed(d.chance, copy, d.chance.one(("jagged", "strided"))))


def where(d: Draft) -> Call:
    ref = d.array()
    condition = partner(d, ref, "b" if not d.wild() else "biuf", numbers=False)
    other = partner(d, ref, d.kinds)
    first: Any = d.number(d.value(ref).dtype) if d.chance.happens(0.1) else ref
    pair = (other, first) if d.chance.happens(0.4) else (first, other)
    return Call("where", (condition, *pair))


def masked_fill(d: Draft) -> Call:
    ref = d.array()
    mask = partner(d, ref, "b" if not d.wild() else "biuf", numbers=False)
    return Call("masked_fill", (ref, mask, d.number(d.value(ref).dtype)))


def reduction(op: str) -> Callable[[Draft], Call]:
    def drawn(d: Draft) -> Call:
        ref = _perhaps_tied(d) if op in ("amax", "amin") else d.array()
        options: dict[str, Any] = {}
        if d.chance.happens(0.85):
            options["dim"] = _dims(d, d.value(ref))
        if d.chance.happens(0.35):
            options["keepdim"] = d.chance.happens(0.8)
        options |= _asked_dtype(d) if "dtype" in OF_RUNS[op] else {}
        return Call(op, (ref,), options | (_asked_correction(d) if "correction" in OF_RUNS[op] else {}))

    return drawn


def place(op: str) -> Callable[[Draft], Call]:
    def drawn(d: Draft) -> Call:
        ref = _perhaps_tied(d)
        x = d.value(ref)
        absent = d.chance.happens(0.3 if x.dense else 0.05)
        dims = () if absent else (_dims(d, x) if d.wild() else d.dim(x),)
        return Call(op, (ref, *dims), {"keepdim": d.chance.happens(0.8)} if d.chance.happens(0.35) else {})

    return drawn


def _perhaps_tied(d: Draft) -> Ref:
    """An array, of which several elements may be equally great."""
    return d.nested(d.kinds, style="ties", least=2) if d.chance.happens(0.5) else d.array()


def _asked_correction(d: Draft) -> dict[str, Any]:
    if not d.chance.happens(0.5):
        return {}
    return {"correction": d.chance.one((0, 1, 2, 0.5)) if not d.wild(0.1) else d.chance.one((-1, np.nan, "x", True))}


def _asked_dtype(d: Draft) -> dict[str, Any]:
    if d.tame or not d.chance.happens(0.12):
        return {}
    return {"dtype": d.chance.one(DTYPES) if not d.wild(0.1) else d.chance.one(("nonsense", np.complex64))}


def _dims(d: Draft, x: Nest) -> Any:
    if d.chance.happens(0.45) or not x.rank:
        return d.dim(x)
    order = d.chance.order(x.rank)[: d.chance.between(0 if d.chance.happens(0.1) else 1, x.rank)]
    dims = [dim - x.rank if d.chance.happens(0.3) else dim for dim in order]
    if d.wild():
        dims.append(d.dim(x))
    return tuple(dims)


def cumsum(d: Draft) -> Call:
    ref = d.array()
    return Call("cumsum", (ref, d.dim(d.value(ref), batch=False)), _asked_dtype(d))


def run_wise_on_floats(op: str) -> Callable[[Draft], Call]:
    def drawn(d: Draft) -> Call:
        ref = d.array("f")
        asked = {"dtype": d.chance.one(DTYPES)} if d.wild(0.15) else {}
        return Call(op, (ref, d.dim(d.value(ref), batch=False)), asked)

    return drawn


def layer_norm(d: Draft) -> Call:
    ref = d.array("f")
    x = d.value(ref)
    shape = [size if size is not None else d.chance.between(0, 3) for size in x.shape[0 if x.dense else 1 :]]
    last = shape[len(shape) - d.chance.between(1, max(len(shape), 1)) :] if d.chance.happens(0.4) else shape[-1:]
    last = [d.chance.between(0, 4) if d.wild(0.04) else size for size in last]
    given: Any = last[0] if len(last) == 1 and d.chance.happens(0.6) else tuple(last)
    options: dict[str, Any] = {}
    for name in ("weight", "bias"):
        if d.chance.happens(0.35):
            own = last if not d.wild(0.05) else [*last, 1]
            options[name] = d.dense(own, dtype=x.dtype if not d.wild(0.05) else d.dtype())
    if d.chance.happens(0.2):
        options["eps"] = d.chance.one((1e-5, 0.1, 1, 1e-12)) if not d.wild(0.1) else d.chance.one((-1.0, "x", np.nan))
    return Call("layer_norm", (ref, given), options)


def dropout(d: Draft) -> Call:
    ref = d.array("f")
    p = d.chance.one((0.0, 1.0, 0, 1)) if d.tame else d.chance.one((0.0, 1.0, 0.5, 0.5, 0.25, 1, 0))
    if d.wild(0.06):
        p = d.chance.one((-0.1, 1.5, np.nan, "x", None, True, np.float32(0.5)))
    return Call("dropout", (ref, p), {"training": False} if d.chance.happens(0.2) else {})


DRAWS: dict[str, Callable[[Draft], Call]] = {
    **{op: unary(op) for op in UNARY},
    **{op: binary(op) for op in BINARY},
    **{op: reduction(op) for op in REDUCTIONS},
    **{op: place(op) for op in PLACES},
    "clamp": clamp,
    "equal": equal,
    "allclose": allclose,
    "where": where,
    "masked_fill": masked_fill,
    **{op: run_wise_on_floats(op) for op in run_wise()},
    "cumsum": cumsum,
    "layer_norm": layer_norm,
    "dropout": dropout,
}
