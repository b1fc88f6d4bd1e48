"""From a plan to a call with its expectation: the writer of the family, other numbers, and the law about the order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pynested.spec.components import Components, each
from pynested.spec.encoding import decode_value
from pynested.spec.generator.author import Case
from pynested.spec.generator.build import build
from pynested.spec.generator.cases.designed import empty_book, writer
from pynested.spec.generator.words import Inexact
from pynested.spec.numerics import NDArray

from .chance import Chance
from .laws import defined, follows, is_by_hand, reordered, taken
from .plan import DRAWN, SCALED, SPECIAL, WHOLE, Plan

__all__ = ["authored", "expected", "vector"]

Vector = Mapping[str, Any]
Change = Callable[[NDArray], NDArray]

# Their exact answers need numbers that are not far apart, or are beyond the numbers in which expectations are written.
_TAME = ("pow", "floor_divide", "remainder", "prod")
_SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0)


def authored(plan: Plan) -> Case | None:
    """Return the call of a plan as an author writes it, or None where the writer has nothing to ask."""
    book = empty_book(plan.op)
    writer(plan.family, plan.op)(book, plan.full_row, plan.key)
    if not book.cases:
        return None
    case = replace(book.cases[0], id=f"{plan.op}/fuzz-{plan.seed}/{plan.number}")
    if not plan.tape:
        case = replace(case, gradient=None)
    if plan.numbers == DRAWN or case.error is not None or is_by_hand(case):
        return case
    if plan.op in _TAME and plan.numbers != WHOLE:
        return case
    chance = Chance(plan.seed, plan.number, 1)
    changes: Mapping[str, Change] = {
        SCALED: lambda x: _scaled(x, plan.power),
        SPECIAL: lambda x: _with_special(x, chance),
        WHOLE: _whole,
    }
    args = tuple(_changed(changes[plan.numbers], value) for value in case.args)
    if all(new is old for new, old in zip(args, case.args, strict=True)):  # there are no floats
        return case
    gradient = None if plan.numbers == SPECIAL else case.gradient
    # The writer may know that its own numbers add up without rounding; of others that is not known.
    return replace(case, args=args, gradient=gradient, cmp=empty_book(plan.op).cmp)


def _changed(change: Change, value: Any) -> Any:
    """Return an operand with other floats; everything else as it is."""
    if isinstance(value, list) and not isinstance(value, Components):
        return [_changed(change, one) for one in value]
    if not isinstance(value, (Components, np.ndarray)) or value.dtype.kind != "f":
        return value
    return each(change, value, shape=value.shape, dtype=value.dtype)


def _whole(x: NDArray) -> NDArray:
    """Return numbers rounded away from zero, where many functions have an edge."""
    return np.asarray(np.copysign(np.ceil(np.abs(x)), x), x.dtype)


def _scaled(x: NDArray, power: int) -> NDArray:
    """Return numbers times a power of two, near the ends of the dtype at most: of float16 a smaller one."""
    few = {"float16": 10, "float32": 1, "float64": 1}[x.dtype.name]
    with np.errstate(all="ignore"):
        return np.asarray(np.ldexp(x, power // few), x.dtype)


def _with_special(x: NDArray, chance: Chance) -> NDArray:
    """Return an array of which a few elements are NaN, infinite, zero, or the largest, or the least that is normal."""
    kind, found = np.finfo(x.dtype), x.copy()
    flat = found.reshape(-1)
    for place in range(flat.size):
        if chance.happens(0.2):
            flat[place] = chance.one((*_SPECIAL, kind.max, -kind.max, kind.tiny))
    return found


def expected(case: Case) -> Vector | None:
    """Return the vector of a call, exact; None where the words of vectors cannot say what is due."""
    try:
        return build(case)
    except Inexact:
        return None


def vector(plan: Plan) -> Vector | None:
    """Return the vector of a plan, reckoned from its definition; None where there is none.

    Where the plan has an order the definition is asked of the components in that order, so the law is not relied on.
    """
    case = authored(plan)
    if case is None:
        return None
    found = expected(case)
    if not plan.order or found is None:
        return found
    if not follows(case, plan.order, defined(case)):
        return None
    cotangent = taken(found, plan.order).get("cotangent")
    given = None if cotangent is None else decode_value(cotangent)
    return expected(replace(reordered(case, plan.order), cotangent=given))
