"""Functions of one element: how each is computed, and its derivative. ``y`` is the result, ``x`` the input."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pynested.backends.dtypes import computing_dtype
from pynested.backends.numpy.running import quiet

from ..array import Array
from .kinds.elementwise import Elementwise, Partial, Vjp, per
from .rule import Verb, bind

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


@dataclass(frozen=True)
class Function:
    """A function of one element: its name, what its derivative needs, the derivative, and how it is computed."""

    name: str
    saves: str  # "y", the result, and "a", the input
    slope: Partial
    verb: Verb = ""  # by default the kernel of this name
    dtypes: str = "floats"  # that the result has: "floats", "quotient", "wrap", "stay" or "bool"

    @property
    def rule(self) -> Elementwise:
        """Return a new rule."""
        verb = self.verb or self.name
        if self.dtypes == "stay":
            verb = _of_fractions(str(verb))
        elif self.dtypes == "floats" and not (isinstance(verb, str) and hasattr(np, verb)):
            verb = _of_floats(verb)
        return Elementwise(self.name, verb, self.saves, self.slope)

    @cached_property
    def computed(self) -> Callable[[Array], Array]:
        """The rule, or the kernel alone for a result of bools, which have no derivative."""
        if self.dtypes != "bool":
            return RULES[self.name]
        return lambda x: Array(bind(self.name, x.device)(x.data), x.device)

    @property
    def ufunc(self) -> np.ufunc | None:
        """NumPy's function of this name, if it has one."""
        function = getattr(np, self.name, None)
        return function if isinstance(function, np.ufunc) else None


# fmt: off
FUNCTIONS = {function.name: function for function in (
    Function("exp", "y", lambda y, x: y),
    Function("log", "a", per(lambda y, x: x)),
    Function("sin", "a", lambda y, x: RULES["cos"](x)),
    Function("tanh", "y", lambda y, x: 1 - y * y),
    Function("erf", "a", lambda y, x: 1.1283791670955126 * RULES["exp"](-(x * x))),
    Function("erfc", "a", lambda y, x: -1.1283791670955126 * RULES["exp"](-(x * x))),
    Function("sqrt", "y", per(lambda y, x: 2 * y)),
    Function("cbrt", "y", per(lambda y, x: 3 * y * y)),
    Function("log1p", "a", per(lambda y, x: 1 + x)),
    Function("expm1", "a", lambda y, x: RULES["exp"](x)),
    # sqrt(log(2)) * 2**(x / 2) is squared, since the result y may have overflowed.
    Function("exp2", "a", lambda y, x: RULES["square"](0.8325546111576977 * RULES["exp2"](x / 2))),
    Function("cos", "a", lambda y, x: -RULES["sin"](x)),
    Function("tan", "y", lambda y, x: 1 + y * y),
    Function("sinh", "a", lambda y, x: RULES["cosh"](x)),
    Function("cosh", "a", lambda y, x: RULES["sinh"](x)),
    Function("atan", "a", per(lambda y, x: 1 + x * x), verb="arctan"),
    Function("deg2rad", "", lambda y, x: 0.017453292519943295),
    # y and x together give sqrt(x**2 + 1) and sqrt(x**2 - 1) without x**2, which may overflow.
    Function("asinh", "ya", per(lambda y, x: x * RULES["tanh"](y) + 1 / RULES["cosh"](y)), verb="arcsinh"),
    Function("acosh", "ya", per(lambda y, x: x * RULES["tanh"](y)), verb="arccosh"),
    Function("asin", "a", per(lambda y, x: RULES["sqrt"]((1 - x) * (1 + x))), verb="arcsin"),
    Function("acos", "a", per(lambda y, x: -RULES["sqrt"]((1 - x) * (1 + x))), verb="arccos"),
    # The square of the root is NaN outside the domain, as atanh is.
    Function("atanh", "a", per(lambda y, x: RULES["square"](RULES["sqrt"]((1 - x) * (1 + x)))),
             verb="arctanh"),
    Function("log2", "a", Vjp(lambda g, y, x: g / x * 1.4426950408889634)),
    Function("log10", "a", Vjp(lambda g, y, x: g * 0.4342944819032518 / x)),
    Function("rsqrt", "ya", lambda y, x: (-0.5 * y) / x, verb=wide(lambda k, x: 1 / k.sqrt(x))),
    Function("sigmoid", "y", lambda y, x: y * (1 - y), verb=wide(_sigmoid)),
    Function("reciprocal", "y", Vjp(lambda g, y, x: -(g * y) * y), verb=lambda k, x: k.divide(1, x),
             dtypes="quotient"),
    Function("square", "a", Vjp(lambda g, y, x: 2 * (g * x)), verb=lambda k, x: k.multiply(x, x), dtypes="wrap"),
    Function("floor", "", 0, dtypes="stay"),
    Function("ceil", "", 0, dtypes="stay"),
    Function("round", "", 0, verb="rint", dtypes="stay"),
    Function("trunc", "", 0, dtypes="stay"),
    Function("isnan", "", 0, dtypes="bool"),
    Function("isinf", "", 0, dtypes="bool"),
    Function("isfinite", "", 0, dtypes="bool"),
)}
# fmt: on

RULES: dict[str, Elementwise] = {
    name: function.rule for name, function in FUNCTIONS.items() if function.dtypes != "bool"
}
