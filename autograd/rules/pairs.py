"""Functions of two elements: an entry says how one is computed, what its derivatives are, and what users read.

From an entry follow the rule, the function on dense and on nested arrays, its methods, the one in place, its docstring,
and the NumPy ufunc. ``y`` is the output, ``a`` and ``b`` are the inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .elementwise import div, maximum, minimum, mul
from .functions import RULES as FUNCTIONS
from .kinds.elementwise import Elementwise, Partial, Pull
from .pair_verbs import (
    comparing,
    floor_divide,
    in_floats,
    logaddexp,
    logical,
    of_base,
    of_exponent,
    refuse_negative,
    refuse_zeros,
    remainder,
)
from .rule import Samples, Verb
from .samples import pairs, positive_pairs, quotients

__all__ = ["PAIRS", "RULES", "Pair"]

Check = Callable[[str, Any, Any], None]


@dataclass(frozen=True)
class Pair:
    """What `help` shows, and how it is computed; without ``partials`` there is no gradient."""

    name: str
    says: str  # "... element by element"
    notes: str
    example: tuple[str, str]  # the operands, and what becomes of them
    clauses: int
    raises: str = ""
    refused: str = ""  # kinds of dtype
    check: Check | None = None  # of operands that are integers
    verb: Verb = ""  # by default the one of this name
    saves: str = ""
    partials: tuple[Partial, ...] = ()
    samples: Samples = pairs
    numpy: str = ""  # the name of NumPy's ufunc where it is another
    rule: Elementwise | None = None  # one that is there already
    in_place: bool = True  # whether there is a method that writes

    @property
    def ufunc(self) -> np.ufunc:
        """NumPy's function."""
        found: np.ufunc = getattr(np, self.numpy or self.name)
        return found

    @property
    def computed(self) -> Verb:
        """What computes it."""
        return self.verb or self.numpy or self.name

    @property
    def documentation(self) -> str:
        """The docstring."""
        name, (operands, results) = self.name, self.example
        raises = f"\n{self.raises}" if self.raises else ""
        return f"""{self.says}, element by element: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    Parameters
    ----------
    self, other : NestedArray, Array or number
        They broadcast, as the module says.

    Raises
    ------
    StructureError
        For nested operands that differ; the message names the first component that does, and both sizes.{raises}

    Notes
    -----
    {self.notes}

    Clauses: {name.upper()}-1 to {name.upper()}-{self.clauses}. After `torch.{name}`.

    Examples
    --------
    >>> pn.{name}({operands}).unbind()
    {results}
    """


_RANGE = """\
    OverflowError
        For a Python integer that the integer dtype of the array cannot hold."""
_BOOLS = """\
    DTypeError
        For two bools; convert one to int8 first."""
_ZERO = """\
    DivisionByZero
        For integers that are divided by 0, naming component and place."""
_NEGATIVE = """\
    ArgumentError
        For integers to a negative power, naming component and place."""
_INTEGERS = """\
    DTypeError
        For two integers or bools; convert one to floats first."""
_FLOATS = """\
    DTypeError
        For floats."""


def _bitwise(name: str, word: str, bools: str, result: str) -> Pair:
    return Pair(
        f"bitwise_{name}", f"The bits that {word} of two integers",
        f"Promoted dtype; of bools it is {bools}. Negative integers are in two's complement. No gradient.",
        ("pn.nested_array([[6, 3], [-1]]), 5", result), 6, "\n".join((_FLOATS, _RANGE)), "f",
    )  # fmt: skip


def _logic(name: str, word: str, result: str) -> Pair:
    return Pair(
        f"logical_{name}", f"Whether {word} of the elements is true, which all are but zeros",
        "Any dtype, and the result is bool. NaN is true. No gradient.",
        ("pn.nested_array([[0.0, 2.0], [np.nan]]), pn.array([[0], [1]])", result), 4,
        verb=logical(f"logical_{name}"),
    )  # fmt: skip


def _comparison(
    name: str, sign: str, edges: str, numpy: str, result: str, clauses: int = 4, verb: Verb | None = None
) -> Pair:
    return Pair(
        name, f"``self {sign} other``",
        f"The result is bool; the operands are compared after promotion. {edges} No gradient.",
        ("pn.nested_array([[1.0, 2.0], [np.nan]]), 2", result), clauses,
        verb=comparing(numpy) if verb is None else verb, numpy=numpy,
    )  # fmt: skip


_BEYOND = "A Python\n    integer beyond the range of an integer dtype lies above, or below, every element of it."
# fmt: off
PAIRS = {one.name: one for one in (
    Pair("mul", "``self * other``",
         "Promoted dtype; integers wrap in it, and bool * bool is ``and``. 0 * inf is NaN; a zero has the sign of the "
         "product\n    of the signs. Gradient: ``g * other`` for ``self``, ``g * self`` for ``other``.",
         ("pn.nested_array([[1.0, 2.0], [3.0]]), 2", "(array([2., 4.]), array([6.]))"), 5, rule=mul, numpy="multiply"),
    Pair("div", "``self / other``, the true quotient",
         "Bools and integers of every width give float64, otherwise the promoted dtype. x / 0 is an infinity with the "
         "sign of\n    the quotient and 0 / 0 is NaN, also for integers. Gradient: ``g / b`` for ``self``, "
         "``-g * a / b**2`` for ``other``.",
         ("pn.nested_array([[1, 2], [0]]), 0", "(array([inf, inf]), array([nan]))"), 5, rule=div, numpy="divide"),
    Pair("maximum", "The greater of the two",
         "Promoted dtype, bools included. NaN where either is NaN. Gradient: ``g`` for the greater of the two, half of "
         "it for\n    each where they are equal.",
         ("pn.nested_array([[1.0, 5.0], [np.nan]]), 3.0", "(array([3., 5.]), array([nan]))"), 6, rule=maximum,
         in_place=False),
    Pair("minimum", "The lesser of the two",
         "Promoted dtype, bools included. NaN where either is NaN. Gradient: ``g`` for the lesser of the two, half of "
         "it for\n    each where they are equal.",
         ("pn.nested_array([[1.0, 5.0], [np.nan]]), 3.0", "(array([1., 3.]), array([nan]))"), 6, rule=minimum,
         in_place=False),
    Pair("pow", "``self ** other``",
         "Promoted dtype; integers wrap in it. x**0 is 1, of NaN too, and 1**x is 1; a negative number to a power that "
         "is no\n    integer is NaN, 0 to a negative power an infinity. Gradient: ``g * b * a**(b - 1)`` for ``self``, "
         "0 where b is 0;\n    ``g * a**b * log(a)`` for ``other``, 0 where a is 0 and b is not negative.",
         ("pn.nested_array([[1.0, -2.0], [0.0]]), 3", "(array([ 1., -8.]), array([0.]))"), 9,
         "\n".join((_BOOLS, _NEGATIVE, _RANGE)), "b", refuse_negative, numpy="power",
         saves="ab|yab", partials=(in_floats(of_base), in_floats(of_exponent)), samples=positive_pairs),
    Pair("floor_divide", "``self // other``, the quotient rounded down",
         "Promoted dtype; integers wrap in it. A float divided by 0 is an infinity or NaN, as in `div`. "
         "1.0 // 0.1 is 9, since\n    the float 0.1 is a little more than a tenth. Gradient: 0 for both.",
         ("pn.nested_array([[7, -7], [6]]), 2", "(array([ 3, -4]), array([3]))"), 8,
         "\n".join((_BOOLS, _ZERO, _RANGE)), "b", refuse_zeros, floor_divide, partials=(0, 0), samples=quotients),
    Pair("remainder", "``self % other``, what the division leaves over: 0, or of the sign of ``other``",
         "``a - floor(a / b) * b``, rounded once, in the promoted dtype. A float over 0, and an infinity over any "
         "number, leave\n    NaN; a number over an infinity of its sign leaves itself. Gradient: ``g`` for ``self``, "
         "``-g * floor(a / b)`` for\n    ``other``.",
         ("pn.nested_array([[7, -7], [6]]), 4", "(array([3, 1]), array([2]))"), 9,
         "\n".join((_BOOLS, _ZERO, _RANGE)), "b", refuse_zeros, remainder, "|ab",
         (1, Pull(lambda g, y, a, b: -(g * RULES["floor_divide"](a, b)))), quotients),
    Pair("logaddexp", "``log(e**self + e**other)``, which does not overflow on the way",
         "Promoted dtype, which is one of floats. inf where either is; where one is -inf, the other. NaN with any is "
         "NaN.\n    Gradient: ``g / (1 + e**(b - a))`` for ``self``, ``g / (1 + e**(a - b))`` for ``other``.",
         ("pn.nested_array([[0.0, 1000.0], [-np.inf]]), 0.0", "(array([6.93147181e-01, 1.00000000e+03]), array([0.]))"),
         7, _INTEGERS, "biu", verb=logaddexp, saves="ab|ab",
         partials=(in_floats(lambda y, a, b: FUNCTIONS["sigmoid"](a - b)),
                   in_floats(lambda y, a, b: FUNCTIONS["sigmoid"](b - a)))),
    _comparison("eq", "==", "NaN equals nothing, itself included, and +0 equals -0. A Python integer that an integer "
                "dtype\n    cannot hold equals no element of it. `equal` answers with one bool.",
                "equal", "(array([False,  True]), array([False]))", 5),
    _comparison("ne", "!=", "NaN differs from everything, itself included, and +0 equals -0. A Python integer that an "
                "integer\n    dtype cannot hold differs from every element of it.", "not_equal",
                "(array([ True, False]), array([ True]))"),
    _comparison("lt", "<", f"False < True. False with NaN, and so is -0 < +0. {_BEYOND}", "less",
                "(array([ True, False]), array([False]))", 5),
    _comparison("le", "<=", f"False <= True. False with NaN; -0 <= +0 both ways. {_BEYOND}", "less_equal",
                "(array([ True,  True]), array([False]))"),
    _comparison("gt", ">", f"True > False. False with NaN, and so is +0 > -0. {_BEYOND}", "greater",
                "(array([False, False]), array([False]))", verb=comparing("less", True)),
    _comparison("ge", ">=", f"True >= False. False with NaN; -0 >= +0 both ways. {_BEYOND}", "greater_equal",
                "(array([False,  True]), array([False]))", verb=comparing("less_equal", True)),
    _bitwise("and", "are in both", "`and`", "(array([4, 1]), array([5]))"),
    _bitwise("or", "are in either", "`or`", "(array([7, 7]), array([-1]))"),
    _bitwise("xor", "are in one, and not the other,", "whether they differ", "(array([3, 6]), array([-6]))"),
    _logic("and", "each", "(array([False, False]), array([ True]))"),
    _logic("or", "either", "(array([False,  True]), array([ True]))"),
    _logic("xor", "one, and not the other,", "(array([False,  True]), array([False]))"),
)}
# fmt: on

RULES: dict[str, Elementwise] = {
    name: one.rule or Elementwise(name, one.computed, one.saves, *one.partials, samples=one.samples)
    for name, one in PAIRS.items()
    if one.rule or one.partials
}
