"""Smooth functions of one element: an entry says how one is computed, what its derivative is, and what users read.

From an entry follow the rule, the function on dense and on nested arrays, its methods, the one in place, its docstring,
and the NumPy ufunc of its name, where there is one. ``y`` is the output, ``x`` the input.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pynested.backends.dtypes import computing_dtype
from pynested.backends.numpy.running import quiet

from .pointwise import Elementwise, Partial, Pull, per
from .rule import Samples, Verb
from .samples import fractions, positives, reals

__all__ = ["FUNCTIONS", "RULES", "Function"]


def _of_floats(verb: Verb) -> Verb:
    """A verb that takes floats, for bools and integers too, which become floats as in NumPy's own functions."""

    def call(k: Any, x: Any) -> Any:
        if x.dtype.kind in "biu":
            x = k.cast(x, np.exp.resolve_dtypes((x.dtype, None))[-1])
        return getattr(k, verb)(x) if isinstance(verb, str) else verb(k, x)

    return call


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

    @property
    def rule(self) -> Elementwise:
        """The rule; a new one each time."""
        verb = self.verb or self.name
        if not (isinstance(verb, str) and hasattr(np, verb)):
            verb = _of_floats(verb)
        return Elementwise(self.name, verb, self.saves, self.slope, samples=self.samples)

    @property
    def ufunc(self) -> np.ufunc | None:
        """NumPy's function of this name."""
        found = getattr(np, self.name, None)
        return found if isinstance(found, np.ufunc) else None

    @property
    def documentation(self) -> str:
        """The docstring."""
        name, (components, results) = self.name, self.example
        return f"""{self.says} of each element: ``(B, *, D) -> (B, *, D)``.

    Floats keep their dtype, integers become floats. {self.edges} NaN stays NaN.
    Gradient: {self.gradient}.

    Clauses: {name.upper()}-1 to {name.upper()}-4. After `torch.{name}`.

    Examples
    --------
    >>> pn.{name}(pn.nested_array([{components}])).unbind()
    {results}
    """


# fmt: off
FUNCTIONS = {one.name: one for one in (
    Function("exp", "y", lambda y, x: y, "``e**x``", "exp(-inf) is +0, exp(0) is 1, overflow is inf.",
             "``g`` times the result", ("[0.0, -np.inf], [1000.0]", "(array([1., 0.]), array([inf]))")),
    Function("log", "a", per(lambda y, x: x), "The natural logarithm",
             "log(0) is -inf for both zeros, log of a negative number is NaN, log(1) is +0, log(inf) is inf.",
             "``g / x``, also at 0, where it becomes an infinity",
             ("[1.0, 0.0], [-1.0]", "(array([  0., -inf]), array([nan]))"), samples=positives),
    Function("sin", "a", lambda y, x: RULES["cos"](x), "The sine, in radians,",
             "The sine of a zero is the same zero, that of an infinity NaN.", "``g * cos(x)``",
             ("[0.0, np.pi / 2], [np.inf]", "(array([0., 1.]), array([nan]))")),
    Function("tanh", "y", lambda y, x: 1 - y * y, "The hyperbolic tangent",
             "tanh of a zero is the same zero, tanh(inf) is 1, tanh(-inf) is -1.", "``g * (1 - tanh(x)**2)``",
             ("[0.0, np.inf], [-np.inf]", "(array([0., 1.]), array([-1.]))")),
    Function("erf", "a", lambda y, x: 1.1283791670955126 * RULES["exp"](-(x * x)), "The error function",
             "erf of a zero is the same zero, erf(inf) is 1, erf(-inf) is -1.", "``g * 2 / sqrt(pi) * exp(-x**2)``",
             ("[0.0, np.inf], [0.5]", "(array([0., 1.]), array([0.52049988]))")),
    Function("sqrt", "y", per(lambda y, x: 2 * y), "The square root",
             "The root of a zero is the same zero, that of a negative number NaN, that of inf is inf.",
             "``g / (2 * sqrt(x))``, an infinity at 0", ("[4.0, 0.0], [-1.0]", "(array([2., 0.]), array([nan]))"),
             samples=positives),
    Function("log1p", "a", per(lambda y, x: 1 + x), "``log(1 + x)``, accurate for small x,",
             "log1p of a zero is the same zero, log1p(-1) is -inf, below it is NaN, log1p(inf) is inf.",
             "``g / (1 + x)``", ("[0.0, -1.0], [1e-20]", "(array([  0., -inf]), array([1.e-20]))"), samples=positives),
    Function("expm1", "a", lambda y, x: RULES["exp"](x), "``e**x - 1``, accurate for small x,",
             "expm1 of a zero is the same zero, expm1(-inf) is -1, overflow is inf.", "``g * e**x``",
             ("[0.0, -np.inf], [1e-20]", "(array([ 0., -1.]), array([1.e-20]))")),
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
    Function("log2", "a", Pull(lambda g, y, x: g / x * 1.4426950408889634), "The logarithm to base 2",
             "log2(0) is -inf for both zeros, log2 of a negative number is NaN, log2(1) is +0, log2(inf) is inf.",
             "``g / (x * log(2))``, an infinity at 0", ("[8.0, 0.0], [-1.0]", "(array([  3., -inf]), array([nan]))"),
             samples=positives),
    Function("log10", "a", Pull(lambda g, y, x: g * 0.4342944819032518 / x), "The logarithm to base 10",
             "log10(0) is -inf for both zeros, log10 of a negative number is NaN, log10(1) is +0, log10(inf) is inf.",
             "``g / (x * log(10))``, an infinity at 0", ("[100.0, 0.0], [-1.0]", "(array([  2., -inf]), array([nan]))"),
             samples=positives),
    Function("rsqrt", "ya", lambda y, x: (-0.5 * y) / x, "``1 / sqrt(x)``",
             "rsqrt(0) is inf, rsqrt(-0) is -inf, of a negative number NaN, rsqrt(inf) is +0.",
             "``-g / (2 * x * sqrt(x))``", ("[4.0, 0.0], [-1.0]", "(array([0.5, inf]), array([nan]))"),
             verb=wide(lambda k, x: 1 / k.sqrt(x)), samples=positives),
    Function("sigmoid", "y", lambda y, x: y * (1 - y), "``1 / (1 + exp(-x))``",
             "sigmoid(inf) is 1, sigmoid(-inf) is +0, sigmoid(0) is 1/2.", "``g * y * (1 - y)``, y the result",
             ("[0.0, np.inf], [-np.inf]", "(array([0.5, 1. ]), array([0.]))"), verb=wide(_sigmoid)),
)}
# fmt: on

RULES: dict[str, Elementwise] = {name: one.rule for name, one in FUNCTIONS.items()}
