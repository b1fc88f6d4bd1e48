"""Functions of two elements: an entry says how one is computed, what its derivatives are, and what users read.

From an entry follow the rule, the function on dense and on nested arrays, its methods, the one in place, Python's signs
in both orders, its docstring, and the NumPy ufunc. ``y`` is the output, ``a`` and ``b`` are the inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pynested.backends.dtypes import computing_dtype, is_float, promoted
from pynested.backends.errors import ArgumentError, DivisionByZero
from pynested.backends.numpy.running import quiet

from ..array import Array, new_zeros, raw
from ..numbers import weak_dtype
from .elementwise import log, where
from .pointwise import Elementwise, Partial, Pull
from .rule import Samples, Verb
from .samples import pairs, positive_pairs, quotients

__all__ = ["PAIRS", "RULES", "Pair"]

Check = Callable[[str, Any, Any], None]


def _at(found: Any) -> list[int]:
    """The first place where a bool array is true."""
    return [int(k[0]) for k in found.nonzero()]


def _refuse_zeros(name: str, a: Any, b: Any) -> None:
    """Integers are not divided by 0."""
    zeros = np.asarray(b == 0) if _number(b) else raw(b) == 0
    if zeros.any():
        where_ = f"by the divisor 0 at {_at(zeros)}" if zeros.ndim else "by 0"
        raise DivisionByZero(
            f"{name}: an integer is divided {where_}. Divide floats, which gives infinities and NaN, "
            "x.to(pn.float64), or put another divisor there with pn.where."
        )


def _refuse_negative(name: str, a: Any, b: Any) -> None:
    """A negative power of an integer is none."""
    negative = np.asarray(b < 0) if _number(b) else raw(b) < 0
    if negative.any():
        where_ = f"the exponent at {_at(negative)}" if negative.ndim else "the exponent"
        raise ArgumentError(
            f"{name}: {where_} is negative, and a negative power of an integer is no integer. Take the power of "
            "floats: x.to(pn.float64)."
        )


def _number(x: Any) -> bool:
    return type(x) in (int, float, bool)


def _to(dtype: Any, x: Any) -> Any:
    """An array in ``dtype``; a number, and what was not saved, as it is."""
    if x is None or _number(x) or x.dtype == dtype:
        return x
    return x.to(dtype) if type(x) is Array else x.astype(dtype)


def _in_floats(slope: Callable[..., Any]) -> Pull:
    """``g * slope(y, a, b)``, where all are floats as wide as the cotangent, and float32 for halves."""

    def pull(g: Any, *operands: Any) -> Any:
        dtype = computing_dtype(g.dtype)
        return _to(g.dtype, g * slope(*[_to(dtype, x) for x in operands]))

    return Pull(pull)


def _of_base(y: Any, a: Any, b: Any) -> Any:
    """``b * a**(b - 1)``; 0 where the exponent is 0, also where 1 / a is an infinity."""
    if _number(b):
        return b * RULES["pow"](a, b - 1) if b else 0
    small = abs(raw(a)) < np.finfo(b.dtype).tiny
    safe = where(b, b.dtype.type(1), ~(small & (raw(b) == 0)))
    return b * RULES["pow"](a, safe - 1)


def _of_exponent(y: Any, a: Any, b: Any) -> Any:
    """``a**b * log(a)``; 0 where 0 is raised to a power that is not negative."""
    if _number(a):
        a = new_zeros((), b) + a
    return y * log(where(a, a.dtype.type(1), ~((raw(a) == 0) & (raw(b) >= 0))))


@quiet
def _remainder(k: Any, a: Any, b: Any) -> Any:
    """The remainder with the sign of the divisor, rounded once; NumPy's is that, those of other array modules not."""
    if k.device == "cpu" or not is_float(met(a, b)):
        return k.remainder(a, b)
    a, b, dtype = _opened(k, a, b)
    rest = k.fmod(a, b)
    rest = k.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)
    return k.cast(k.where(rest == 0, k.copysign(k.absolute(rest), b), rest), dtype)


@quiet
def _floor_divide(k: Any, a: Any, b: Any) -> Any:
    """The quotient, rounded down as Python does: 1.0 // 0.1 is 9, since 0.1 is a little more than a tenth."""
    if k.device == "cpu" or not is_float(met(a, b)):
        return k.floor_divide(a, b)
    a, b, dtype = _opened(k, a, b)
    rest = k.fmod(a, b)
    quotient = (a - rest) / b - ((rest != 0) & ((rest < 0) != (b < 0)))
    floor = k.floor(quotient)
    floor = k.where(quotient - floor > 0.5, floor + 1, floor)
    floor = k.where(quotient == 0, k.copysign(k.absolute(quotient), a / b), floor)
    return k.cast(k.where(b == 0, a / b, floor), dtype)


def met(a: Any, b: Any) -> np.dtype[Any]:
    """The dtype in which two operands meet, one of them an array."""
    if _number(a) or _number(b):
        number, array = (a, b) if _number(a) else (b, a)
        return weak_dtype(number, array.dtype)
    return promoted(a.dtype, b.dtype)


def _opened(k: Any, a: Any, b: Any) -> tuple[Any, Any, Any]:
    """Floats in the dtype that is computed in, and that of the result."""
    dtype = met(a, b)
    wide = computing_dtype(dtype)
    a, b = (wide.type(x) if _number(x) else k.cast(x, wide) for x in (a, b))
    return a, b, dtype


def _logical(name: str) -> Verb:
    """A logical function, for which a number is true or false whatever dtype it meets."""

    def call(k: Any, a: Any, b: Any) -> Any:
        return getattr(k, name)(*[bool(x) if isinstance(x, int | float) else x for x in (a, b)])

    return call


@dataclass(frozen=True)
class Pair:
    """What `help` shows, and how it is computed; without ``partials`` there is no gradient."""

    name: str
    sign: str  # the name of Python's sign, `pow` of `__pow__`; "" where there is none
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
_FLOATS = """\
    DTypeError
        For floats."""


def _bitwise(name: str, sign: str, word: str, bools: str, result: str) -> Pair:
    return Pair(
        f"bitwise_{name}", sign, f"The bits that {word} of two integers",
        f"Promoted dtype; of bools it is {bools}. Negative integers are in two's complement. No gradient.",
        ("pn.nested_array([[6, 3], [-1]]), 5", result), 6, "\n".join((_FLOATS, _RANGE)), "f",
    )  # fmt: skip


def _logic(name: str, word: str, result: str) -> Pair:
    return Pair(
        f"logical_{name}", "", f"Whether {word} of the elements is true, which all are but zeros",
        "Any dtype, and the result is bool. NaN is true. No gradient.",
        ("pn.nested_array([[0.0, 2.0], [np.nan]]), pn.array([[0], [1]])", result), 4,
        verb=_logical(f"logical_{name}"),
    )  # fmt: skip


# fmt: off
PAIRS = {one.name: one for one in (
    Pair("pow", "pow", "``self ** other``",
         "Promoted dtype; integers wrap in it. x**0 is 1, of NaN too, and 1**x is 1; a negative number to a power that "
         "is no\n    integer is NaN, 0 to a negative power an infinity. Gradient: ``g * b * a**(b - 1)`` for ``self``, "
         "0 where b is 0;\n    ``g * a**b * log(a)`` for ``other``, 0 where a is 0 and b is not negative.",
         ("pn.nested_array([[1.0, -2.0], [0.0]]), 3", "(array([ 1., -8.]), array([0.]))"), 9,
         "\n".join((_BOOLS, _NEGATIVE, _RANGE)), "b", _refuse_negative, numpy="power",
         saves="ab|yab", partials=(_in_floats(_of_base), _in_floats(_of_exponent)), samples=positive_pairs),
    Pair("floor_divide", "floordiv", "``self // other``, the quotient rounded down",
         "Promoted dtype; integers wrap in it. A float divided by 0 is an infinity or NaN, as in `div`. "
         "1.0 // 0.1 is 9, since\n    the float 0.1 is a little more than a tenth. Gradient: 0 for both.",
         ("pn.nested_array([[7, -7], [6]]), 2", "(array([ 3, -4]), array([3]))"), 8,
         "\n".join((_BOOLS, _ZERO, _RANGE)), "b", _refuse_zeros, _floor_divide, partials=(0, 0), samples=quotients),
    Pair("remainder", "mod", "``self % other``, what the division leaves over: 0, or of the sign of ``other``",
         "``a - floor(a / b) * b``, rounded once, in the promoted dtype. A float over 0, and an infinity over any "
         "number, leave\n    NaN; a number over an infinity of its sign leaves itself. Gradient: ``g`` for ``self``, "
         "``-g * floor(a / b)`` for\n    ``other``.",
         ("pn.nested_array([[7, -7], [6]]), 4", "(array([3, 1]), array([2]))"), 9,
         "\n".join((_BOOLS, _ZERO, _RANGE)), "b", _refuse_zeros, _remainder, "|ab",
         (1, Pull(lambda g, y, a, b: -(g * RULES["floor_divide"](a, b)))), quotients),
    _bitwise("and", "and", "are in both", "`and`", "(array([4, 1]), array([5]))"),
    _bitwise("or", "or", "are in either", "`or`", "(array([7, 7]), array([-1]))"),
    _bitwise("xor", "xor", "are in one, and not the other,", "whether they differ", "(array([3, 6]), array([-6]))"),
    _logic("and", "each", "(array([False, False]), array([ True]))"),
    _logic("or", "either", "(array([False,  True]), array([ True]))"),
    _logic("xor", "one, and not the other,", "(array([False,  True]), array([False]))"),
)}
# fmt: on

RULES: dict[str, Elementwise] = {
    name: Elementwise(name, one.computed, one.saves, *one.partials, samples=one.samples)
    for name, one in PAIRS.items()
    if one.partials
}
