"""Operators that work element by element: what is refused, and in which dtype the rest is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pynested.spec import bounds
from pynested.spec.components import Components, each, matched
from pynested.spec.functions import FUNCTIONS
from pynested.spec.pairs import PAIRS, Pair

from .meeting import Meeting, placed, promoted
from .values import Answer, Nest, Refused, Silent, both, holds, shaped


def _scaled(dtype: np.dtype[Any], alpha: Any) -> tuple[np.dtype[Any], Any]:
    """The dtype of ``a + alpha * b``, alpha being weak against that of a and b; and alpha."""
    alpha = alpha.item() if isinstance(alpha, np.generic) else alpha
    if dtype.kind == "b":
        raise Silent
    wider = promoted(Nest([], "strided", dtype), alpha)
    return wider, float(wider.type(alpha)) if wider.kind == "f" else alpha


def _promoted_for(name: str, a: Any, b: Any) -> np.dtype[Any]:
    dtype = promoted(a, b, quotient=name == "div")
    if name == "sub" and dtype.kind == "b":
        raise Refused("DTypeError")
    return dtype


def _check_factor(alpha: Any) -> None:
    if isinstance(alpha, bool | np.bool_) or not isinstance(alpha, int | float | np.number):
        raise Refused("ArgumentError")


def arithmetic(name: str) -> Callable[..., Answer]:
    """The rule of an operator of two operands."""

    def rule(self: Any, other: Any, alpha: Any = 1) -> Answer:
        self, other = placed(self), placed(other)
        plain = type(alpha) is int and alpha == 1

        def dtypes() -> tuple[np.dtype[Any], Any]:
            checks = lambda: _promoted_for(name, self, other), lambda: _check_factor(alpha)
            met, _ = both(*checks)
            if name == "div" and met.kind in "biu":
                return np.dtype(np.float64), 1
            return (met, 1) if plain else _scaled(met, alpha)

        (dtype, factor), meeting = both(dtypes, lambda: Meeting((self, other)))
        arguments = {"self": meeting.given(self, dtype), "other": meeting.given(other, dtype)}
        if plain:
            return Answer(name, arguments, meeting.wrap(dtype), meeting.unknown)
        arguments["alpha"] = factor
        spread = (lambda raw: _rounded_before(arguments["other"], factor, dtype, raw)) if dtype.kind == "f" else None
        return Answer(name, arguments, meeting.wrap(dtype), meeting.unknown, spread)

    return rule


# The refusals that are about all numbers of a kind; bools are as integers, unless they are refused alone.
KINDS = {"b": {"bools", "integers"}, "i": {"integers"}, "u": {"integers"}, "f": {"floats"}}


def pair(entry: Pair) -> Callable[..., Answer]:
    """The rule of an entry of two operands."""
    refused = {one.group for one in entry.refused}

    def dtype_of(self: Any, other: Any) -> np.dtype[Any]:
        if not entry.together:
            return np.dtype(np.bool_)
        try:
            dtype = promoted(self, other)
        except Refused as refusal:  # of an integer that is too large, which is an integer too
            raise Refused(*refusal.kinds, *["DTypeError"] * ("integers" in refused)) from None
        if refused & KINDS[dtype.kind]:
            raise Refused("DTypeError")
        return dtype

    def rule(self: Any, other: Any) -> Answer:
        self, other = placed(self), placed(other)
        number = type(other) is int and other < 0 and "negative" in refused
        checks = lambda: dtype_of(self, other), lambda: Meeting((self, other))
        try:
            dtype, meeting = both(*checks)
        except Refused as refusal:
            raise Refused(*refusal.kinds, *["ArgumentError"] * number) from None
        given = {name: meeting.given(x, dtype) for name, x in (("self", self), ("other", other))}
        if dtype.kind in "iu" and any(map(_meets_zero, matched(*given.values()))) and "zero" in refused:
            raise Refused("DivisionByZero")
        if dtype.kind in "iu" and any(map(_meets_negative, matched(*given.values()))) and "negative" in refused:
            raise Refused("ArgumentError")
        return Answer(entry.name, given, meeting.wrap(dtype), meeting.unknown)

    return rule


def _meets_zero(met: tuple[Any, Any]) -> bool:
    return bool(np.broadcast(*met).size) and bool((np.asarray(met[1]) == 0).any())


def _meets_negative(met: tuple[Any, Any]) -> bool:
    return bool(np.broadcast(*met).size) and bool((np.asarray(met[1]) < 0).any())


def _rounded_before(other: Any, alpha: Any, dtype: np.dtype[Any], raw: Any) -> Any:
    """How far off a + alpha * b may be: clause ADD-9, alpha * b may be rounded before the addition."""
    parts = other if isinstance(other, list) else [other]
    most = max((float(np.max(np.abs(np.asarray(x, np.float64)), initial=0)) for x in parts), default=0.0)
    size = np.nan_to_num(abs(alpha) * most, posinf=np.inf)
    reach = np.inf if size > np.finfo(dtype).max else size * np.finfo(dtype).eps
    return each(lambda r: reach + bounds.ulp(np.nan_to_num(r), dtype.name) + 0 * np.abs(r), raw)


def clamp(self: Nest, min: Any = None, max: Any = None) -> Answer:
    operands = {"self": self, "min": placed(min), "max": placed(max)}
    given = {name: one for name, one in operands.items() if one is not None}

    def dtype() -> np.dtype[Any]:
        found = self.dtype
        for name in list(given)[1:]:
            found = promoted(Nest([], "strided", found), given[name])
        return found

    kind, meeting = both(dtype, lambda: Meeting(list(given.values())))
    arguments = {name: meeting.given(one, kind) for name, one in operands.items()}
    return Answer("clamp", arguments, meeting.wrap(kind), meeting.unknown)


def unary(name: str, kept: str = "biuf", dtype: Callable[[Any], Any] | None = None) -> Callable[..., Answer]:
    """The rule of an operator of one operand, which takes dtypes of the kinds ``kept``."""

    def rule(self: Nest, **options: Any) -> Answer:
        kinds = [] if self.dtype.kind in kept else ["DTypeError"]
        kinds += [] if options.get("approximate", "none") in ("none", "tanh") else ["ArgumentError"]
        if kinds:
            raise Refused(*kinds)
        kind = self.dtype if dtype is None else dtype(self.dtype)
        return Answer(name, {"self": shaped(self), **options}, lambda raw: self.like(raw, kind))

    return rule


def gelu(self: Nest, approximate: Any = "none") -> Answer:
    return unary("gelu", "f")(self, approximate=approximate)


def function(name: str) -> Callable[..., Answer]:
    """The rule of an entry of the table of functions."""
    entry = FUNCTIONS[name]
    return unary(name, "iuf" if entry.refuses_bools else "biuf", _DTYPES[entry.dtypes])


def _function_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of a function of numbers: floats as wide as NumPy makes them."""
    if dtype.kind == "f":
        return dtype
    return np.dtype({1: np.float16, 2: np.float32}.get(dtype.itemsize, np.float64))


_DTYPES: dict[str, Callable[[Any], Any] | None] = {
    "floats": _function_dtype,
    "quotient": lambda dtype: dtype if dtype.kind == "f" else np.dtype(np.float64),
    "wrap": None,
    "stay": None,
    "bool": lambda dtype: np.dtype(np.bool_),
}


# ---- comparison and choice -------------------------------------------------------------------------------------------


def comparison(name: str) -> Callable[..., Answer]:
    """The rule of a comparison."""

    def rule(self: Any, other: Any) -> Answer:
        self, other = placed(self), placed(other)
        meeting = Meeting((self, other))
        a, b = meeting.given(self), meeting.given(other)
        if any(type(x) is int and not -(2**63) <= x < 2**63 for x in (a, b)) and meeting.kind not in "iu":
            raise Silent  # clauses EQ-4 and LT-4 speak of integers
        return Answer(name, {"self": a, "other": b}, meeting.wrap(np.bool_), meeting.unknown)

    return rule


def equal(self: Nest, other: Nest) -> Answer:
    """One bool, of exact values: neither layout nor dtype takes part, and a dense array counts as its slices."""
    if self.rank != other.rank:
        return Answer("equal", {}, lambda raw: raw, raw=False)
    if self.dense and other.dense:
        a, b = shaped(self), shaped(other)
    else:
        a, b = (Components(x[0], x.shape, x.dtype) if x.dense else shaped(x) for x in (self, other))
    vague = self.dense or other.dense or self.unknown or other.unknown or self.ragged != other.ragged
    if not a and not b and vague:
        raise Silent  # clause EQUAL-5 speaks of known sizes
    return Answer("equal", {"self": a, "other": b}, lambda raw: raw)


def allclose(self: Any, other: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Answer:
    def tolerance(value: Any) -> None:
        if type(value) is bool or not value >= 0:
            raise Refused("ArgumentError")

    self, other = placed(self), placed(other)
    meeting, *_ = both(lambda: Meeting((self, other)), lambda: tolerance(rtol), lambda: tolerance(atol))
    given = {"self": meeting.given(self), "other": meeting.given(other)}
    options = {"rtol": rtol, "atol": atol, "equal_nan": equal_nan}
    return Answer("allclose", {**given, **options}, lambda raw: raw, meeting.unknown)


def _bool(x: Nest) -> None:
    if x.dtype.kind != "b":
        raise Refused("DTypeError")


def where(condition: Any, self: Any, other: Any) -> Answer:
    self, other = placed(self), placed(other)
    if not isinstance(condition, Nest):
        raise Silent
    _, dtype, meeting = both(
        lambda: _bool(condition), lambda: _chosen_dtype(self, other), lambda: Meeting((condition, self, other))
    )
    given = {"condition": meeting.given(condition)}
    for name, x in (("self", self), ("other", other)):
        given[name] = meeting.given(x, dtype) if isinstance(x, Nest) else np.asarray(x, dtype)
    return Answer("where", given, meeting.wrap(dtype), meeting.unknown)


def _chosen_dtype(self: Any, other: Any) -> np.dtype[Any]:
    """The promoted dtype, which has to hold numbers of Python that are chosen from."""
    dtype = promoted(self, other)
    alone = not isinstance(self, Nest) and not isinstance(other, Nest)
    if alone and any(abs(number) >= 2**63 for number in (self, other) if type(number) is int):
        raise Silent  # beyond the dtypes of integers, beside a float perhaps
    for number in (self, other):
        if not isinstance(number, Nest):
            holds(dtype, number)
    return dtype


def masked_fill(self: Nest, mask: Any, value: Any) -> Answer:
    if not isinstance(mask, Nest):
        raise Silent
    checks = lambda: _bool(mask), lambda: holds(self.dtype, value), lambda: _meeting_of_mask(self, mask)
    *_, meeting = both(*checks)
    given = {"self": meeting.given(self), "mask": meeting.given(mask), "value": value}
    return Answer("masked_fill", given, meeting.wrap(self.dtype), meeting.unknown)


def _meeting_of_mask(self: Nest, mask: Nest) -> Meeting:
    """A mask must not enlarge what it masks."""
    if self.dense and not mask.dense:
        raise Refused("StructureError", "ShapeError")
    meeting = Meeting((self, mask))
    if self.dense:
        enlarged = np.broadcast_shapes(self.shape, mask.shape) != self.shape  # type: ignore[arg-type]
    elif self.count:
        enlarged = any(self.column(dim) != column for dim, column in enumerate(meeting.columns, 1))
    else:
        pairs = zip(self.shape[1:], meeting.sizes, strict=True)
        enlarged = any(None not in pair and pair[0] != pair[1] for pair in pairs)
    if enlarged:
        raise Refused("StructureError", "ShapeError")
    return meeting


RULES: dict[str, Callable[..., Answer]] = {
    **{name: arithmetic(name) for name in ("add", "sub", "mul", "div", "maximum", "minimum")},
    **{name: function(name) for name in FUNCTIONS},
    **{name: unary(name, "iuf") for name in ("neg", "sgn", "relu")},
    **{name: pair(one) for name, one in PAIRS.items() if one.chapter == "elementwise"},
    "abs": unary("abs"),
    "clamp": clamp,
    "gelu": gelu,
    "silu": unary("silu", "f"),
    "logical_not": unary("logical_not", dtype=lambda dtype: np.dtype(np.bool_)),
    **{name: comparison(name) for name in ("eq", "ne", "lt", "gt", "le", "ge")},
    "equal": equal,
    "allclose": allclose,
    "where": where,
    "masked_fill": masked_fill,
}
