"""Functions of one element: an entry says how one is computed, what its derivative is, and what users read.

From an entry follow the rule, the function on dense and on nested arrays, its methods, the one in place, its docstring,
and the NumPy ufunc of its name, where there is one. ``y`` is the output, ``x`` the input.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from textwrap import fill
from typing import Any

import numpy as np

from pynested.backends.dtypes import computing_dtype
from pynested.backends.numpy.running import quiet

from ..array import Array
from .clauses import listed_clauses
from .kinds.elementwise import Elementwise, Partial, Pull, per
from .rule import Samples, Verb, bound
from .samples import above_one, fractions, positives, reals

__all__ = ["FUNCTIONS", "RULES", "Function"]


def _of_floats(verb: Verb) -> Verb:
    """A verb that takes floats, for bools and integers too, which become floats as in NumPy's own functions."""

    def call(k: Any, x: Any) -> Any:
        if x.dtype.kind in "biu":
            x = k.cast(x, np.exp.resolve_dtypes((x.dtype, None))[-1])
        return getattr(k, verb)(x) if isinstance(verb, str) else verb(k, x)

    return call


def _of_fractions(verb: str) -> Verb:
    """A verb that leaves integers as they are; array modules disagree whether they become floats."""
    return lambda k, x: k.copy(x) if x.dtype.kind in "iu" else getattr(k, verb)(x)


def wide(formula: Callable[[Any, Any], Any]) -> Verb:
    """A verb of several steps, all of them in float32 for halves, and rounded once."""

    @quiet
    def call(k: Any, x: Any) -> Any:
        dtype = computing_dtype(x.dtype)
        return formula(k, x) if dtype == x.dtype else k.cast(formula(k, k.cast(x, dtype)), x.dtype)

    return call


def _sigmoid(k: Any, x: Any) -> Any:
    e = k.exp(-k.absolute(x))  # which does not overflow
    return k.where(x < 0, e, x.dtype.type(1)) / (1 + e)


# What becomes of dtypes, and how many clauses say all of a function.
_DTYPES = {
    "floats": ("Floats keep their dtype, integers become floats.", 4),
    "quotient": ("Floats keep their dtype, bools and integers become float64.", 4),
    "wrap": ("The dtype stays, and integers wrap in it; DTypeError for bools.", 5),
    "stay": ("The dtype stays, and integers stay as they are; DTypeError for bools.", 5),
    "bool": ("The result is bool.", 3),
}


@dataclass(frozen=True)
class Function:
    """What `help` shows, and the rule: ``name``, what to save (``y`` or ``a``, the input), the derivative, samples."""

    name: str
    saves: str
    slope: Partial
    says: str  # "... of each element"
    edges: str
    gradient: str
    example: tuple[str, str]  # two components, and what becomes of them
    samples: Samples = reals
    verb: Verb = ""  # by default the one of this name
    dtypes: str = "floats"
    after: str = "torch"  # the library that has a function of this name
    limited: bool = False  # a number can lie outside the domain, where the gradient is not specified
    retired: tuple[int, ...] = ()  # numbers of former clauses

    @property
    def rule(self) -> Elementwise:
        """The rule; a new one each time."""
        verb = self.verb or self.name
        if self.dtypes == "stay":
            verb = _of_fractions(str(verb))
        elif self.dtypes == "floats" and not (isinstance(verb, str) and hasattr(np, verb)):
            verb = _of_floats(verb)
        return Elementwise(self.name, verb, self.saves, self.slope, samples=self.samples)

    @property
    def computed(self) -> Callable[[Array], Array]:
        """What computes it: the rule, or of bools, which have no derivative, the verb alone."""
        if self.dtypes != "bool":
            return RULES[self.name]
        return lambda x: Array(bound(self.name, x.device)(x.data), x.device)

    @property
    def ufunc(self) -> np.ufunc | None:
        """NumPy's function of this name."""
        found = getattr(np, self.name, None)
        return found if isinstance(found, np.ufunc) else None

    @property
    def documentation(self) -> str:
        """The docstring."""
        name, (components, results), (dtypes, clauses) = self.name, self.example, _DTYPES[self.dtypes]
        listed = listed_clauses(name, clauses + self.limited + len(self.retired), self.retired)
        facts = f"{dtypes} {self.edges}{' NaN stays NaN.' * (self.dtypes != 'bool')}"
        return f"""{self.says} of each element: ``(B, *, D) -> (B, *, D)``.

    {fill(facts, 116, subsequent_indent="    ")}
    Gradient: {self.gradient}{"; not specified outside the domain" * self.limited}.

    Clauses: {listed}. After `{self.after}.{name}`.

    Examples
    --------
    >>> pn.{name}(pn.nested_array([{components}])).unbind()
    {results}
    """


def _step(name: str, says: str, edges: str, example: tuple[str, str], verb: str = "") -> Function:
    return Function(name, "", 0, says, edges, "0 everywhere", example, verb=verb, dtypes="stay")


def _judgement(name: str, says: str, edges: str, example: tuple[str, str]) -> Function:
    return Function(name, "", 0, says, edges, "none", example, dtypes="bool")


# fmt: off
FUNCTIONS = {one.name: one for one in (
    Function("exp", "y", lambda y, x: y, "``e**x``", "exp(-inf) is +0, exp(0) is 1, overflow is inf.",
             "``g`` times the result", ("[0.0, -np.inf], [1000.0]", "(array([1., 0.]), array([inf]))")),
    Function("log", "a", per(lambda y, x: x), "The natural logarithm",
             "log(0) is -inf for both zeros, log of a negative number is NaN, log(1) is +0, log(inf) is inf.",
             "``g / x``, also at 0, where it becomes an infinity",
             ("[1.0, 0.0], [-1.0]", "(array([  0., -inf]), array([nan]))"), samples=positives, limited=True),
    Function("sin", "a", lambda y, x: RULES["cos"](x), "The sine, in radians,",
             "The sine of a zero is the same zero, that of an infinity NaN.", "``g * cos(x)``",
             ("[0.0, np.pi / 2], [np.inf]", "(array([0., 1.]), array([nan]))")),
    Function("tanh", "y", lambda y, x: 1 - y * y, "The hyperbolic tangent",
             "tanh of a zero is the same zero, tanh(inf) is 1, tanh(-inf) is -1.", "``g * (1 - tanh(x)**2)``",
             ("[0.0, np.inf], [-np.inf]", "(array([0., 1.]), array([-1.]))")),
    Function("erf", "a", lambda y, x: 1.1283791670955126 * RULES["exp"](-(x * x)), "The error function",
             "erf of a zero is the same zero, erf(inf) is 1, erf(-inf) is -1.", "``g * 2 / sqrt(pi) * exp(-x**2)``",
             ("[0.0, np.inf], [0.5]", "(array([0., 1.]), array([0.52049988]))")),
    Function("erfc", "a", lambda y, x: -1.1283791670955126 * RULES["exp"](-(x * x)),
             "``1 - erf(x)``, the complementary error function, accurate for large x,",
             "erfc of a zero is 1, erfc(inf) is +0, erfc(-inf) is 2.", "``-g * 2 / sqrt(pi) * exp(-x**2)``",
             ("[0.0, -np.inf], [10.0]", "(array([1., 2.]), array([2.08848758e-45]))")),
    Function("sqrt", "y", per(lambda y, x: 2 * y), "The square root",
             "The root of a zero is the same zero, that of a negative number NaN, that of inf is inf.",
             "``g / (2 * sqrt(x))``, an infinity at 0", ("[4.0, 0.0], [-1.0]", "(array([2., 0.]), array([nan]))"),
             samples=positives, limited=True),
    Function("cbrt", "y", per(lambda y, x: 3 * y * y), "The real cube root",
             "The root of a zero is the same zero, that of an infinity the same infinity.",
             "``g / (3 * cbrt(x)**2)``, an infinity at 0",
             ("[8.0, -0.0], [-np.inf]", "(array([ 2., -0.]), array([-inf]))"), after="numpy"),
    Function("log1p", "a", per(lambda y, x: 1 + x), "``log(1 + x)``, accurate for small x,",
             "log1p of a zero is the same zero, log1p(-1) is -inf, below it is NaN, log1p(inf) is inf.",
             "``g / (1 + x)``", ("[0.0, -1.0], [1e-20]", "(array([  0., -inf]), array([1.e-20]))"), samples=positives,
             limited=True),
    Function("expm1", "a", lambda y, x: RULES["exp"](x), "``e**x - 1``, accurate for small x,",
             "expm1 of a zero is the same zero, expm1(-inf) is -1, overflow is inf.", "``g * e**x``",
             ("[0.0, -np.inf], [1e-20]", "(array([ 0., -1.]), array([1.e-20]))")),
    Function("exp2", "a", lambda y, x: RULES["square"](0.8325546111576977 * RULES["exp2"](x / 2)),  # y may overflow
             "``2**x``", "exp2(-inf) is +0, exp2(0) is 1, overflow is inf.", "``g * log(2)`` times the result",
             ("[3.0, -1.0], [-np.inf]", "(array([8. , 0.5]), array([0.]))")),
    Function("cos", "a", lambda y, x: -RULES["sin"](x), "The cosine, in radians,",
             "The cosine of a zero is 1, that of an infinity NaN.", "``-g * sin(x)``",
             ("[0.0, np.pi], [np.inf]", "(array([ 1., -1.]), array([nan]))")),
    Function("tan", "y", lambda y, x: 1 + y * y, "The tangent, in radians,",
             "The tangent of a zero is the same zero, that of an infinity NaN.", "``g * (1 + tan(x)**2)``",
             ("[0.0, -0.0], [np.inf]", "(array([ 0., -0.]), array([nan]))"), samples=fractions),
    Function("sinh", "a", lambda y, x: RULES["cosh"](x), "The hyperbolic sine",
             "sinh of a zero is the same zero, of an infinity the same infinity, overflow is an infinity.",
             "``g * cosh(x)``", ("[0.0, 1.0], [-np.inf]", "(array([0.        , 1.17520119]), array([-inf]))")),
    Function("cosh", "a", lambda y, x: RULES["sinh"](x), "The hyperbolic cosine",
             "cosh of a zero is 1, of an infinity inf, overflow is inf.", "``g * sinh(x)``",
             ("[0.0, 1.0], [-np.inf]", "(array([1.        , 1.54308063]), array([inf]))")),
    Function("atan", "a", per(lambda y, x: 1 + x * x), "The arc tangent",
             "atan of a zero is the same zero, of the infinities -pi / 2 and pi / 2.", "``g / (1 + x**2)``",
             ("[0.0, 1.0], [-np.inf]", "(array([0.        , 0.78539816]), array([-1.57079633]))"),
             verb="arctan"),
    Function("deg2rad", "", lambda y, x: 0.017453292519943295, "``x * pi / 180``, the radians of x degrees,",
             "deg2rad of a zero is the same zero, of an infinity the same infinity, 180 gives pi.", "``g * pi / 180``",
             ("[0.0, 180.0], [-np.inf]", "(array([0.        , 3.14159265]), array([-inf]))")),
    Function("asinh", "ya", per(lambda y, x: x * RULES["tanh"](y) + 1 / RULES["cosh"](y)),  # where x * x may overflow
             "The inverse hyperbolic sine", "asinh of a zero is the same zero, of an infinity the same infinity.",
             "``g / sqrt(1 + x**2)``", ("[0.0, 1.0], [-np.inf]", "(array([0.        , 0.88137359]), array([-inf]))"),
             verb="arcsinh"),
    Function("acosh", "ya", per(lambda y, x: x * RULES["tanh"](y)),  # where x * x may overflow
             "The inverse hyperbolic cosine", "acosh(1) is +0, acosh of a number below 1 is NaN, acosh(inf) is inf.",
             "``g / sqrt(x**2 - 1)``, an infinity at 1", ("[1.0, np.inf], [0.5]", "(array([ 0., inf]), array([nan]))"),
             verb="arccosh", samples=above_one, limited=True),
    Function("asin", "a", per(lambda y, x: RULES["sqrt"]((1 - x) * (1 + x))), "The arc sine",
             "asin of a zero is the same zero, of a number below -1 or above 1 NaN, asin(1) is pi / 2, rounded.",
             "``g / sqrt(1 - x**2)``, an infinity at -1 and 1",
             ("[0.0, 1.0], [2.0]", "(array([0.        , 1.57079633]), array([nan]))"), verb="arcsin",
             samples=fractions, limited=True),
    Function("acos", "a", per(lambda y, x: -RULES["sqrt"]((1 - x) * (1 + x))), "The arc cosine",
             "acos(1) is +0, acos of a number below -1 or above 1 is NaN, acos(0) is pi / 2, rounded.",
             "``-g / sqrt(1 - x**2)``, an infinity at -1 and 1",
             ("[1.0, 0.0], [2.0]", "(array([0.        , 1.57079633]), array([nan]))"), verb="arccos",
             samples=fractions, limited=True),
    Function("atanh", "a", per(lambda y, x: RULES["square"](RULES["sqrt"]((1 - x) * (1 + x)))),  # NaN where atanh is
             "The inverse hyperbolic tangent",
             "atanh of a zero is the same zero, of -1 and 1 -inf and inf, of a number below -1 or above 1 NaN.",
             "``g / (1 - x**2)``, an infinity at -1 and 1",
             ("[0.0, 1.0], [2.0]", "(array([ 0., inf]), array([nan]))"), verb="arctanh", samples=fractions,
             limited=True, retired=(4,)),
    Function("log2", "a", Pull(lambda g, y, x: g / x * 1.4426950408889634), "The logarithm to base 2",
             "log2(0) is -inf for both zeros, log2 of a negative number is NaN, log2(1) is +0, log2(inf) is inf.",
             "``g / (x * log(2))``, an infinity at 0", ("[8.0, 0.0], [-1.0]", "(array([  3., -inf]), array([nan]))"),
             samples=positives, limited=True),
    Function("log10", "a", Pull(lambda g, y, x: g * 0.4342944819032518 / x), "The logarithm to base 10",
             "log10(0) is -inf for both zeros, log10 of a negative number is NaN, log10(1) is +0, log10(inf) is inf.",
             "``g / (x * log(10))``, an infinity at 0", ("[100.0, 0.0], [-1.0]", "(array([  2., -inf]), array([nan]))"),
             samples=positives, limited=True),
    Function("rsqrt", "ya", lambda y, x: (-0.5 * y) / x, "``1 / sqrt(x)``",
             "rsqrt(0) is inf, rsqrt(-0) is -inf, of a negative number NaN, rsqrt(inf) is +0.",
             "``-g / (2 * x * sqrt(x))``", ("[4.0, 0.0], [-1.0]", "(array([0.5, inf]), array([nan]))"),
             verb=wide(lambda k, x: 1 / k.sqrt(x)), samples=positives, limited=True),
    Function("sigmoid", "y", lambda y, x: y * (1 - y), "``1 / (1 + exp(-x))``",
             "sigmoid(inf) is 1, sigmoid(-inf) is +0, sigmoid(0) is 1/2.", "``g * y * (1 - y)``, y the result",
             ("[0.0, np.inf], [-np.inf]", "(array([0.5, 1. ]), array([0.]))"), verb=wide(_sigmoid)),
    Function("reciprocal", "y", Pull(lambda g, y, x: -(g * y) * y), "``1 / x``",
             "1 / 0 is an infinity with the sign of the zero, that of an infinity a zero with its sign.",
             "``-g / x**2``", ("[4, 0], [-2]", "(array([0.25,  inf]), array([-0.5]))"),
             verb=lambda k, x: k.divide(1, x), dtypes="quotient"),
    Function("square", "a", Pull(lambda g, y, x: 2 * (g * x)), "``x * x``",
             "The square of a zero is +0, that of an infinity inf, overflow is inf.", "``2 * g * x``",
             ("[-3.0, 0.5], [np.inf]", "(array([9.  , 0.25]), array([inf]))"),
             verb=lambda k, x: k.multiply(x, x), dtypes="wrap"),
    _step("floor", "``floor(x)``, the greatest integer that is not above x,",
          "Zeros, whole numbers and infinities stay as they are; floor(-0.5) is -1.",
          ("[2.5, -0.5], [-np.inf]", "(array([ 2., -1.]), array([-inf]))")),
    _step("ceil", "``ceil(x)``, the least integer that is not below x,",
          "Zeros, whole numbers and infinities stay as they are; ceil(-0.5) is -0.",
          ("[2.5, -0.5], [-np.inf]", "(array([ 3., -0.]), array([-inf]))")),
    _step("round", "The nearest integer, and the even one of two that are equally near,",
          "Zeros, whole numbers and infinities stay as they are; round(2.5) is 2, round(-0.5) is -0.",
          ("[2.5, -0.5], [-1.6]", "(array([ 2., -0.]), array([-2.]))"), verb="rint"),
    _step("trunc", "``trunc(x)``, the next integer towards 0,",
          "Zeros, whole numbers and infinities stay as they are; trunc(-0.5) is -0.",
          ("[2.5, -0.5], [-1.6]", "(array([ 2., -0.]), array([-1.]))")),
    _judgement("isnan", "Whether it is NaN, asked", "The infinities are not; bools and integers never are.",
               ("[1.0, np.inf], [np.nan]", "(array([False, False]), array([ True]))")),
    _judgement("isinf", "Whether it is inf or -inf, asked", "NaN is not; bools and integers never are.",
               ("[1.0, np.inf], [np.nan]", "(array([False,  True]), array([False]))")),
    _judgement("isfinite", "Whether it is finite, asked", "Infinities and NaN are not; bools and integers are.",
               ("[1.0, np.inf], [np.nan]", "(array([ True, False]), array([False]))")),
)}
# fmt: on

RULES: dict[str, Elementwise] = {name: one.rule for name, one in FUNCTIONS.items() if one.dtypes != "bool"}
