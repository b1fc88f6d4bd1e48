"""Plans for writes in place: arrays and views of them, and methods that write through any of these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pynested.fuzzing.chance import Chance

from ..oracle import FUNCTIONS, PAIRS
from ..plan import Call, Chain, Ref
from . import DRAWS
from .conversion import index, mask
from .draft import Draft
from .elements import JUDGING, partner

WRITE = 3  # the first number of a key
VIEWS = ("getitem", "getitem", "getitem", "transpose", "select", "unbind", "chunk", "view", "reshape", "unsqueeze",
         "unflatten", "permute", "squeeze", "flatten", "split", "detach", "narrow", "as_nested_array")  # fmt: skip
LISTS: tuple[Any, ...] = ([1, 2], [0.5], [[1], [2]], [300], [True], [])


def writing(seed: int, number: int) -> Chain:
    """Plan ``number``: one to five views and writes."""
    d = Draft(Chance(WRITE, seed, number))
    for _ in range(d.chance.one((1, 2, 2, 3, 4, 5))):
        if d.arrays and d.chance.happens(0.4):
            _view(d)
        ref = d.array(dense=0.25)
        write = DRAWN[d.chance.one(METHODS)](d, ref)
        d.steps.append(write)
    return d.chain()


def _view(d: Draft) -> None:
    call = DRAWS[d.chance.one(VIEWS)](d)
    infix = call.op == "getitem" and d.ours(call.args[0])
    d.call(Call(call.op, call.args, call.kwargs, "infix" if infix else "function"))


Drawn = Callable[[Draft, Ref], Call]


def _unary(method: str) -> Drawn:
    return lambda d, ref: Call(method, (ref,), spelling="method")


def _binary(method: str) -> Drawn:
    def drawn(d: Draft, ref: Ref) -> Call:
        other = partner(d, ref)
        options = (
            {"alpha": d.number(d.value(ref).dtype)} if method in ("add_", "sub_") and d.chance.happens(0.1) else {}
        )
        return Call(method, (ref, other), options, "method")

    return drawn


def _clamp(d: Draft, ref: Ref) -> Call:
    bounds = (partner(d, ref) if d.chance.happens(0.7) else None for _ in range(2))
    return Call("clamp_", (ref, *bounds), spelling="method")


def _copy(d: Draft, ref: Ref) -> Call:
    value = d.chance.one(LISTS) if d.chance.happens(0.1) else partner(d, ref)
    return Call("copy_", (ref, value), spelling="method")


def _fill(d: Draft, ref: Ref) -> Call:
    return Call("fill_", (ref, d.number(d.value(ref).dtype)), spelling="method")


def _masked_fill(d: Draft, ref: Ref) -> Call:
    mask = partner(d, ref, "b", numbers=False)
    return Call("masked_fill_", (ref, mask, d.number(d.value(ref).dtype)), spelling="method")


def _assign(d: Draft, ref: Ref) -> Call:
    """``x[index] = value``, where the value is made for what the index names."""
    x = d.value(ref)
    chooses = x.rank > (not x.dense) and not x.unknown and d.chance.happens(0.15)
    where = mask(d, x) if chooses else index(d, x)
    how = d.chance.below(4)
    if how < 2:
        return Call("setitem", (ref, where, d.number(x.dtype) if how else d.chance.one(LISTS)))
    d.call(Call("getitem", (ref, where), spelling="infix" if d.ours(ref) else "function"))
    named = Ref("y", len(d.steps) - 1)
    if named not in d.known:
        return Call("setitem", (ref, where, 1))
    return Call("setitem", (ref, where, named if d.chance.happens(0.2) else partner(d, named)))


DRAWN: dict[str, Drawn] = {
    **{method: _unary(method) for method in ("neg_", "abs_", "relu_", "zero_")},
    **{f"{name}_": _unary(f"{name}_") for name in FUNCTIONS if name not in JUDGING},
    **{method: _binary(method) for method in ("add_", "sub_", "mul_", "div_", *(f"{name}_" for name in PAIRS))},
    "clamp_": _clamp,
    "copy_": _copy,
    "fill_": _fill,
    "masked_fill_": _masked_fill,
    "setitem": _assign,
}
METHODS = (*DRAWN, "setitem", "setitem", "setitem", "copy_", "copy_", "add_", "mul_")
