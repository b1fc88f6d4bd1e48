"""Functions of two elements: an entry says all that is true of one of them, as those of `functions` do of one element.

From an entry follow the clauses, the definition, the exact value and its derivatives, the cases and a section of the
chapter. A value is written once, for floats, complex and exact numbers; special cases are numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .components import each, promoted
from .numerics import NDArray, floor_quotient, log_add_exp, power, remainder

__all__ = ["PAIRS", "Pair", "Refusal", "pairs_of"]

INF, NAN = math.inf, math.nan
FLOATS, INTEGERS = ("float32", "float64", "float16"), ("int64", "int32", "int16", "int8", "uint8")
MISMATCH = (
    "Nested operands with different lengths, or different numbers of components, are refused, naming the first "
    "component that differs and both sizes."
)
RANGE = "A Python integer that the dtype of an integer array cannot hold is refused: 300 beside int8."
NO_BOOLS = "Two bools are refused."
SUMMED = "summed over the elements that an operand was broadcast to."


@dataclass(frozen=True)
class Refusal:
    """A refused call, of one row each: the class of the error, the clause, and operands of a dtype."""

    group: str
    kind: str
    text: str
    dtype: str
    self: Any
    other: Any
    inside: bool = False  # it is refused for what is in a component


def _range(number: int = 300) -> Refusal:
    return Refusal("range", "OverflowError", RANGE, "int8", [5, 3], number)


def _bools() -> Refusal:
    return Refusal("bools", "DTypeError", NO_BOOLS, "bool", [1, 0], [1, 1])


@dataclass(frozen=True)
class Pair:
    """A function of two elements that meet by the rules of broadcasting."""

    name: str
    value: Callable[[NDArray, NDArray], Any]
    result: str  # "Each element of the result is ..."
    dtype: str
    edges: str  # in words
    special: tuple[tuple[Any, Any, Any], ...]  # the edges in numbers: two operands and their result
    dtypes: tuple[str, ...]  # of the cases, the plainest first
    refused: tuple[Refusal, ...] = ()
    gradient: str = ""  # without one it is not differentiable
    unspecified: str = ""
    first: tuple[int, int] = (-8, 8)  # of the integers drawn: least and greatest
    second: tuple[int, int] = (1, 4)
    number: Any = 2
    specials: tuple[str, str] = ("float32", "float32")  # dtypes of the special operands, and of their result
    promotes: tuple[str, str] = ("int32", "float32")
    together: bool = True  # operands are promoted first
    precision: str = "exact"
    cmp: str = "exact"
    since: str = "0.1"
    chapter: str = "elementwise"

    @property
    def definition(self) -> Callable[[Any, Any], Any]:
        """The executable definition."""

        def define(self: Any, other: Any) -> Any:
            return each(value, *(promoted(self, other) if together else (self, other)))

        value, together = self.value, self.together
        define.__name__ = self.name
        define.__doc__ = f"{self.name.upper()}: {self.result}, element by element."
        return define

    @property
    def texts(self) -> list[dict[str, str]]:
        """The clauses, in their order."""
        refusals = [{"class": "error", "kind": one.kind, "text": one.text} for one in self.refused]
        return [
            {
                "class": "value",
                "text": f"Each element of the result is {self.result} for the elements a and b that meet by the "
                "rules of broadcasting.",
            },
            {"class": "dtype", "text": self.dtype},
            {"class": "edge", "text": self.edges},
            {"class": "error", "kind": "StructureError", "text": MISMATCH},
            *([{"class": "gradient", "text": self.gradient}] if self.gradient else []),
            *refusals,
            *([{"class": "unspecified", "text": self.unspecified}] if self.unspecified else []),
        ]

    def fields(self) -> dict[str, Any]:
        """The operator as the tables of `spec/operators` say it."""
        operand = "Nested | Array | Number"
        return {
            "signature": f"{self.name}(self: {operand}, other: {operand}) -> Nested | Array",
            "summary": f"{self.result}, element by element.",
            "since": self.since,
            "torch": f"torch.{self.name}",
            "precision": self.precision,
            "differentiable": ["self", "other"] if self.gradient else [],
            "clauses": {f"{self.name.upper()}-{n}": clause for n, clause in enumerate(self.texts, 1)},
        }


PROMOTED = "The result has the promoted dtype of the operands; integers wrap in it."
_ZERO = Refusal(
    "zero", "DivisionByZero", "An integer divided by the integer 0 is refused, naming the component and the place.",
    "int32", [[5, 3], [4]], [[1, 2], [0]], inside=True,
)  # fmt: skip
_NEGATIVE = Refusal(
    "negative", "ArgumentError", "An integer to a negative power is refused, naming the component and the place.",
    "int32", [[5, 3], [4]], [[1, 2], [-1]], inside=True,
)  # fmt: skip


def _bitwise(name: str, value: Any, result: str, bools: str, special: Any) -> Pair:
    floats = Refusal("floats", "DTypeError", "Floats are refused.", "float32", [1.0, 2.0], [2.0, 1.0])
    return Pair(
        f"bitwise_{name}", value, result, f"The result has the promoted dtype of the operands; of two bools it is {bools}.",
        "Negative integers are in two's complement: -1 has every bit.", special, ("int32", "int64", "int16", "int8", "uint8", "bool"),
        (floats, _range()), second=(-8, 8), number=5, specials=("int64", "int64"), promotes=("int8", "int32"),
    )  # fmt: skip


def _logical(name: str, value: Any, result: str, outcomes: tuple[bool, ...]) -> Pair:
    numbers = ((NAN, 1.0), (NAN, 0.0), (0.0, -0.0), (-0.0, INF), (-2.0, 0.5))
    return Pair(
        f"logical_{name}", lambda a, b: value(np.not_equal(a, 0), np.not_equal(b, 0)), result,
        "The result is bool for every dtype.", "Both zeros are false; NaN and the infinities are true.",
        tuple((*pair, outcome) for pair, outcome in zip(numbers, outcomes, strict=True)),
        ("float32", "float64", "float16", *INTEGERS, "bool"), first=(-1, 1), second=(0, 1), number=300,
        specials=("float32", "bool"), promotes=("int8", "float64"), together=False,
    )  # fmt: skip


def _comparison(name: str, value: Any, sign: str, edges: str, outcomes: tuple[bool, ...]) -> Pair:
    numbers = ((NAN, NAN), (1.0, NAN), (0.0, -0.0), (-0.0, 0.0), (INF, INF), (-INF, INF), (2.0, 1.0))
    return Pair(
        name, value, f"whether a {sign} b, after promotion,", "The result is bool.",
        f"{edges} A Python integer that an integer dtype cannot hold is compared as it is, and is no error.",
        tuple((*pair, outcome) for pair, outcome in zip(numbers, outcomes, strict=True)),
        ("int8", "uint8", "int64", "bool", *FLOATS), second=(-8, 8), number=300, specials=("float32", "bool"),
        promotes=("int32", "float64"), together=False, chapter="comparison",
    )  # fmt: skip


# ruff: noqa: E501
# fmt: off
PAIRS = {one.name: one for one in (
    Pair("pow", power, "a ** b", PROMOTED,
         "x**0 is 1 and 1**x is 1, of NaN too; 0 to a negative power is an infinity, with the sign of a zero to an odd one. A negative number to a power that is no integer is NaN. Nothing warns.",
         ((NAN, 0, 1), (1, NAN, 1), (NAN, 1, NAN), (2, NAN, NAN), (0, -1, INF), (-0.0, -1, -INF), (-0.0, 3, -0.0), (0, 0, 1),
          (-2, 0.5, NAN), (INF, -1, 0), (INF, 2, INF), (-INF, 3, -INF), (-INF, 2, INF), (2, INF, INF), (0.5, INF, 0), (-1, INF, 1)),
         FLOATS + INTEGERS, (_bools(), _NEGATIVE, _range()),
         f"`self` receives g * b * a**(b - 1), which is 0 where b is 0; `other` receives g * a**b * log(a), which is 0 where a is 0 and b is not negative; {SUMMED}",
         "The gradient of `self` where a or b is NaN, and that of `other` where a is negative or one of them is NaN.",
         first=(1, 4), second=(0, 3), number=3, precision="function", cmp="bound"),
    Pair("floor_divide", floor_quotient, "the greatest integer that is not above a / b", PROMOTED,
         "x // 0 is an infinity with the sign of the quotient and 0 // 0 is NaN, for floats; an infinity divided by a number is NaN, and a number divided by an infinity 0 or -1. A zero has the sign of the quotient. Nothing warns.",
         ((1, 0, INF), (-1, 0, -INF), (0, 0, NAN), (INF, 1, NAN), (NAN, 1, NAN), (1, NAN, NAN), (1, INF, 0), (-1, INF, -1), (1, -INF, -1),
          (-0.0, 1, -0.0), (0, -1, -0.0), (7, -2, -4), (-7, 2, -4), (1, 0.1, 9)),
         FLOATS + INTEGERS, (_bools(), _ZERO, _range()),
         "Both operands receive 0.", precision="function"),
    Pair("remainder", remainder, "a - floor(a / b) * b, rounded once,", PROMOTED,
         "A zero has the sign of b, as every remainder. What is divided by 0, for floats, and an infinity leave NaN; a number divided by an infinity of its sign leaves itself, of the other sign the infinity. Nothing warns.",
         ((1, 0, NAN), (INF, 1, NAN), (NAN, 1, NAN), (1, NAN, NAN), (1, INF, 1), (-1, INF, INF), (1, -INF, -INF), (-4, 2, 0.0), (4, -2, -0.0),
          (-0.0, 2, 0.0), (0, -2, -0.0), (7, -4, -1), (-7, 4, 1), (-1e-20, 1, 1)),
         FLOATS + INTEGERS, (_bools(), _ZERO, _range()),
         f"`self` receives g and `other` receives -g * floor(a / b), {SUMMED}",
         "The gradient of `other` where b is 0 or where the quotient is not finite.", precision="correctly_rounded"),
    Pair("logaddexp", log_add_exp, "log(e**a + e**b), which does not overflow on the way,",
         "The result has the promoted dtype of the operands, which is one of floats.",
         "Where a or b is inf the result is inf; where one is -inf it is the other. NaN with anything is NaN. Nothing warns.",
         ((NAN, 1, NAN), (1, NAN, NAN), (NAN, INF, NAN), (INF, INF, INF), (INF, -INF, INF), (-INF, INF, INF), (-INF, -INF, -INF), (-INF, 3, 3), (3, -INF, 3),
          (INF, 1, INF), (3e38, -3e38, 3e38), (-3e38, 1, 1), (200, 0, 200)),
         FLOATS, (Refusal("integers", "DTypeError", "Two integers, or bools, are refused.", "int32", [1, 2], [2, 1]),),
         f"`self` receives g / (1 + e**(b - a)) and `other` receives g / (1 + e**(a - b)), {SUMMED}",
         "The gradient where both are the same infinity, or one of them is NaN.",
         first=(-8, 8), second=(-8, 8), precision="logaddexp", cmp="bound"),
    _comparison("ne", np.not_equal, "!=", "NaN differs from everything, itself included, and +0 equals -0.", (True, True, False, False, False, True, True)),
    _comparison("le", np.less_equal, "<=", "A comparison with NaN is False, and -0 <= +0 and +0 <= -0 are True.", (False, False, True, True, True, True, False)),
    _comparison("gt", np.greater, ">", "A comparison with NaN is False, and so is +0 > -0.", (False, False, False, False, False, False, True)),
    _comparison("ge", np.greater_equal, ">=", "A comparison with NaN is False, and -0 >= +0 and +0 >= -0 are True.", (False, False, True, True, True, False, True)),
    _bitwise("and", lambda a, b: a & b, "the bits that a and b both have,", "`and`", ((-(2**63), -1, -(2**63)), (6, 5, 4), (-1, 0, 0))),
    _bitwise("or", lambda a, b: a | b, "the bits that a or b has,", "`or`", ((-(2**63), 1, 1 - 2**63), (6, 5, 7), (-1, 0, -1))),
    _bitwise("xor", lambda a, b: a ^ b, "the bits that one of a and b has, and not the other,", "whether they differ", ((-(2**63), -1, 2**63 - 1), (6, 5, 3), (-1, 0, -1))),
    _logical("and", np.logical_and, "whether a and b both are true, that is, not equal to 0,", (True, False, False, False, True)),
    _logical("or", np.logical_or, "whether a or b is true, that is, not equal to 0,", (True, True, False, True, True)),
    _logical("xor", np.logical_xor, "whether one of a and b is true, that is, not equal to 0, and the other is not,", (False, True, False, True, False)),
)}
# fmt: on


def pairs_of(chapter: str) -> dict[str, Pair]:
    """Return the entries of a chapter."""
    return {name: one for name, one in PAIRS.items() if one.chapter == chapter}
