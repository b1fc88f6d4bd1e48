"""Functions of one element: an entry says all that is true of one of them.

From an entry follow the clauses, the definition, the exact value and its derivative, the bounds, the cases and a
section of the chapter. A formula is written once, for all kinds of numbers: ``m`` is NumPy (with `erf` and `erfc`)
where ``x`` holds floats or complex numbers, and mpmath where it is an exact number. No derivative is written down:
floats take a complex step, exact numbers differences in more digits. Steps, which are constant but for jumps, look at
floats only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from .components import Components, each
from .numerics import NDArray, cbrt, erf, erfc, real, wide

__all__ = ["FUNCTIONS", "NUMPY", "Function"]

INF, NAN = math.inf, math.nan
STEP = 2.0**-500  # of a complex step: nothing cancels, so it can be as small as one likes
FLAT = "The gradient is 0 everywhere, also at the jumps, at NaN and at the infinities."
DTYPES = {  # what becomes of dtypes; those that stay are no bools
    "floats": "Floats keep their dtype; bool, int8 and uint8 give float16, int16 gives float32, int32 and int64 give "
    "float64.",
    "quotient": "Floats keep their dtype; bools and integers of every width give float64, as 1 / x does.",
    "wrap": "The dtype stays, and integers wrap in it.",
    "stay": "The dtype stays, and integers stay as they are.",
    "bool": "The result is bool for every dtype.",
}


class _Numpy:
    """NumPy, and what it lacks."""

    cbrt = staticmethod(cbrt)  # of complex numbers too
    erf = staticmethod(erf)
    erfc = staticmethod(erfc)

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


NUMPY = _Numpy()


@dataclass(frozen=True)
class Function:
    """A function of one element, smooth or a step."""

    name: str
    value: Callable[[Any, Any], Any]  # value(m, x)
    becomes: str  # "Each element x becomes ..."
    edges: str  # "... in words"
    special: tuple[tuple[float, float], ...]  # the edges in numbers: x, and its value in float32
    gradient: str = FLAT  # "The cotangent is ..."
    dtypes: str = "floats"
    positive: bool = False  # cases draw numbers above 0, not around it
    scale: float = 1.0  # of the numbers drawn, which lie in [-4, 4) times this power of two
    integer: int = 0  # one whose value is a float16
    precision: str = "function"
    slope_error: tuple[float, float] = (12, 0)  # of the slope in units of u, where it is computed: relative, absolute
    poles: tuple[tuple[float, float], ...] = ()  # where the slope is infinite, and which infinity it is there
    domain: tuple[float, float] | None = None  # from where to where it is a number, if not everywhere or above 0
    torch: bool = True  # whether PyTorch has a function of this name; NumPy has, where it has not
    since: str = "0.1"

    @property
    def is_step(self) -> bool:
        """True where the function is constant but for jumps."""
        return self.dtypes in ("stay", "bool")

    @property
    def refuses_bools(self) -> bool:
        """True where the dtype stays, which must be one of numbers."""
        return self.dtypes in ("stay", "wrap")

    @property
    def definition(self) -> Callable[[Components], Components]:
        """The executable definition."""

        def define(self: Components) -> Components:
            return each(of, self)

        of = self.of
        define.__name__ = self.name
        define.__doc__ = f"{self.name.upper()}: {self.becomes}, element by element."
        return define

    def of(self, x: NDArray) -> NDArray:
        """The function of an array of floats, complex or exact numbers; ints are taken as float64, or stay ints."""
        x = wide(x)
        if self.is_step:
            floats = real(x).astype(np.float64)
            return x if self.dtypes == "stay" and x.dtype.kind in "iu" else np.asarray(self.value(NUMPY, floats))
        x = x if self.dtypes == "wrap" else 1.0 * x
        if x.dtype == object:
            return np.asarray(np.frompyfunc(lambda number: number.function(self), 1, 1)(x), dtype=object)
        value = np.asarray(self.value(NUMPY, x))
        if self.domain is not None and value.dtype.kind == "c":
            value[(x.real < self.domain[0]) | (x.real > self.domain[1])] = complex(NAN, NAN)
        return value

    def slope(self, x: NDArray) -> NDArray:
        """The derivative at an array of floats or exact numbers."""
        x = 1.0 * wide(x)
        if self.is_step:
            return np.zeros(x.shape)
        if x.dtype == object:
            return np.asarray(np.frompyfunc(lambda number: number.slope(self), 1, 1)(x), dtype=object)
        return np.asarray(self.value(NUMPY, x + 1j * STEP).imag / STEP)

    def inside(self, x: NDArray) -> NDArray:
        """Numbers such as cases draw: those of ``x`` above 0, or where the domain begins, or smaller."""
        begin = self.domain[0] if self.domain else 0
        return np.asarray(np.abs(x) + x.dtype.type(begin) if self.positive else x * x.dtype.type(self.scale))

    def fields(self) -> dict[str, Any]:
        """The operator as the tables of `spec/operators` say it."""
        judges = self.dtypes == "bool"
        clauses: list[dict[str, str]] = [
            {"class": "value", "text": f"Each element x becomes {self.becomes}, in the shape and layout of `self`."},
            {"class": "dtype", "text": DTYPES[self.dtypes]},
            {"class": "edge", "text": f"{self.edges} {'' if judges else 'NaN stays NaN. '}Nothing warns."},
        ]
        clauses += [] if judges else [{"class": "gradient", "text": self.gradient}]
        clauses += [{"class": "error", "kind": "DTypeError", "text": "Bools are refused."}] * self.refuses_bools
        return {
            "signature": f"{self.name}(self: Nested | Array) -> Nested | Array",
            "summary": f"{self.becomes}, element by element.",
            "since": self.since,
            "torch": f"torch.{self.name}" if self.torch else "",
            "peers": {} if self.torch else {"numpy": f"numpy.{self.name}"},
            "precision": self.precision,
            "differentiable": [] if judges else ["self"],
            "clauses": {f"{self.name.upper()}-{number}": one for number, one in enumerate(clauses, 1)},
        }


Step = partial(Function, precision="exact", dtypes="stay")
Judgement = partial(Function, precision="exact", dtypes="bool")

# fmt: off
FUNCTIONS = {one.name: one for one in (
    Function("exp", lambda m, x: m.exp(x), "e**x",
             edges="exp(-inf) is +0, exp(0) is 1, exp(inf) is inf; overflow is inf.",
             special=((0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (1000.0, INF), (-1000.0, 0.0)),
             gradient="The cotangent is multiplied by the result.", slope_error=(5, 0)),
    Function("log", lambda m, x: m.log(x), "log(x), its natural logarithm", positive=True, integer=1,
             edges="log(0) is -inf for both zeros, log of a negative number is NaN, log(1) is +0 and log(inf) is inf.",
             special=((0.0, -INF), (-0.0, -INF), (1.0, 0.0), (-1.0, NAN), (-INF, NAN), (INF, INF)),
             gradient="The cotangent is divided by x, also at 0, where it becomes an infinity.",
             slope_error=(5, 0), poles=((0.0, INF),)),
    Function("sin", lambda m, x: m.sin(x), "sin(x), its sine, in radians",
             edges="The sine of a zero is the same zero; that of an infinity is NaN.",
             special=((0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN)),
             gradient="The cotangent is multiplied by the cosine of x.", slope_error=(8, 0.5)),
    Function("tanh", lambda m, x: m.tanh(x), "tanh(x), its hyperbolic tangent",
             edges="tanh of a zero is the same zero, tanh(inf) is 1, tanh(-inf) is -1.",
             special=((0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (50.0, 1.0)),
             gradient="The cotangent is multiplied by 1 - tanh(x)**2.", slope_error=(0, 20)),
    Function("erf", lambda m, x: m.erf(x), "erf(x), the error function of it",
             edges="erf of a zero is the same zero, erf(inf) is 1, erf(-inf) is -1.",
             special=((0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (10.0, 1.0)),
             gradient="The cotangent is multiplied by 2 / sqrt(pi) * exp(-x**2).", slope_error=(16, 1)),
    Function("erfc", lambda m, x: m.erfc(x if m is NUMPY else min(x, 10**9)),  # mpmath fails at 1e200
             "1 - erf(x), the complementary error function of it, accurate for large x",
             edges="erfc of a zero is 1, erfc(inf) is +0, erfc(-inf) is 2.", precision="erfc",
             special=((0.0, 1.0), (-0.0, 1.0), (INF, 0.0), (-INF, 2.0), (30.0, 0.0), (-10.0, 2.0)),
             gradient="The cotangent is multiplied by -2 / sqrt(pi) * exp(-x**2).", slope_error=(16, 1)),
    Function("sqrt", lambda m, x: m.sqrt(x), "its square root", precision="correctly_rounded", positive=True, integer=1,
             edges="The square root of a zero is the same zero, that of a negative number NaN, that of inf is inf.",
             special=((0.0, 0.0), (-0.0, -0.0), (-1.0, NAN), (-INF, NAN), (INF, INF), (2.25, 1.5)),
             gradient="The cotangent is divided by 2 * sqrt(x), also at 0, where it becomes an infinity.",
             slope_error=(5, 0), poles=((0.0, INF),)),
    Function("cbrt", lambda m, x: m.cbrt(x) if m is NUMPY else m.sign(x) * m.cbrt(abs(x)),  # mpmath's is complex
             "its real cube root, which has its sign", integer=1,
             edges="The cube root of a zero is the same zero, that of an infinity the same infinity.",
             special=((0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF)),
             gradient="The cotangent is divided by 3 * cbrt(x)**2, also at 0, where it becomes an infinity.",
             poles=((0.0, INF),), torch=False),
    Function("log1p", lambda m, x: m.log1p(x), "log(1 + x), accurate for small x", scale=0.125,
             edges="log1p of a zero is the same zero, log1p(-1) is -inf, below it is NaN, log1p(inf) is inf.",
             special=((0.0, 0.0), (-0.0, -0.0), (-1.0, -INF), (-2.0, NAN), (-INF, NAN), (INF, INF)),
             gradient="The cotangent is divided by 1 + x.", slope_error=(5, 0)),
    Function("expm1", lambda m, x: m.expm1(x), "e**x - 1, accurate for small x",
             edges="expm1 of a zero is the same zero, expm1(-inf) is -1, expm1(inf) is inf; overflow is inf.",
             special=((0.0, 0.0), (-0.0, -0.0), (-INF, -1.0), (INF, INF), (1000.0, INF)),
             gradient="The cotangent is multiplied by e**x."),
    Function("exp2", lambda m, x: 2**x, "2**x",
             edges="exp2(-inf) is +0, exp2(0) is 1, exp2(inf) is inf; overflow is inf.",
             special=((0.0, 1.0), (-0.0, 1.0), (3.0, 8.0), (INF, INF), (-INF, 0.0), (1000.0, INF), (-1000.0, 0.0)),
             gradient="The cotangent is multiplied by the result times log(2)."),
    Function("cos", lambda m, x: m.cos(x), "cos(x), its cosine, in radians",
             edges="The cosine of a zero is 1; that of an infinity is NaN.",
             special=((0.0, 1.0), (-0.0, 1.0), (INF, NAN), (-INF, NAN)),
             gradient="The cotangent is multiplied by -sin(x).", slope_error=(8, 0.5)),
    Function("tan", lambda m, x: m.tan(x), "tan(x), its tangent, in radians",
             edges="The tangent of a zero is the same zero; that of an infinity is NaN.",
             special=((0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN)),
             gradient="The cotangent is multiplied by 1 + tan(x)**2.", slope_error=(24, 0)),
    Function("sinh", lambda m, x: m.sinh(x), "sinh(x), its hyperbolic sine",
             edges="sinh of a zero is the same zero, of an infinity the same infinity; overflow is an infinity.",
             special=((0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (1000.0, INF), (-1000.0, -INF)),
             gradient="The cotangent is multiplied by cosh(x)."),
    Function("cosh", lambda m, x: m.cosh(x), "cosh(x), its hyperbolic cosine",
             edges="cosh of a zero is 1, of an infinity inf; overflow is inf.",
             special=((0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, INF), (1000.0, INF), (-1000.0, INF)),
             gradient="The cotangent is multiplied by sinh(x)."),
    Function("atan", lambda m, x: m.atan(x), "atan(x), its arc tangent",
             edges="atan of a zero is the same zero; of the infinities it is the nearest number to -pi / 2 and pi / 2.",
             special=((0.0, 0.0), (-0.0, -0.0), (INF, 1.5707963705062866), (-INF, -1.5707963705062866)),
             gradient="The cotangent is divided by 1 + x**2.", slope_error=(12, 0.05)),  # x * x may overflow
    Function("deg2rad", lambda m, x: x * (m.pi / 180), "x * pi / 180: x degrees in radians",
             edges="deg2rad of a zero is the same zero, of an infinity the same infinity; 180 gives pi, rounded.",
             special=((0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (180.0, 3.1415927410125732)),
             gradient="The cotangent is multiplied by pi / 180."),
    Function("asinh", lambda m, x: m.asinh(x), "asinh(x), its inverse hyperbolic sine",
             edges="asinh of a zero is the same zero, of an infinity the same infinity.",
             special=((0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF)),
             gradient="The cotangent is divided by sqrt(1 + x**2)."),
    Function("acosh", lambda m, x: m.acosh(x), "acosh(x), its inverse hyperbolic cosine",
             positive=True, integer=1, domain=(1.0, INF), poles=((1.0, INF),),
             edges="acosh(1) is +0, acosh of a number below 1 is NaN, acosh(inf) is inf.",
             special=((1.0, 0.0), (0.5, NAN), (0.0, NAN), (-1.0, NAN), (-INF, NAN), (INF, INF)),
             gradient="The cotangent is divided by sqrt(x**2 - 1), also at 1, where it becomes an infinity."),
    Function("asin", lambda m, x: m.asin(x), "asin(x), its arc sine", scale=0.25,
             domain=(-1.0, 1.0), poles=((-1.0, INF), (1.0, INF)),
             edges="asin of a zero is the same zero, of a number below -1 or above 1 NaN; asin(1) is pi / 2, rounded.",
             special=((0.0, 0.0), (-0.0, -0.0), (2.0, NAN), (-1.5, NAN), (INF, NAN), (-INF, NAN)),
             gradient="The cotangent is divided by sqrt(1 - x**2), also at -1 and 1, where it becomes an infinity."),
    Function("acos", lambda m, x: m.acos(x), "acos(x), its arc cosine", scale=0.25, integer=1,
             domain=(-1.0, 1.0), poles=((-1.0, -INF), (1.0, -INF)),
             edges="acos(1) is +0, acos of a number below -1 or above 1 is NaN; acos(0) is pi / 2, rounded.",
             special=((1.0, 0.0), (2.0, NAN), (-1.5, NAN), (INF, NAN), (-INF, NAN)),
             gradient="The cotangent is divided by -sqrt(1 - x**2), also at -1 and 1, where it becomes an infinity."),
    Function("atanh", lambda m, x: m.atanh(x), "atanh(x), its inverse hyperbolic tangent", scale=0.25,
             domain=(-1.0, 1.0), poles=((-1.0, INF), (1.0, INF)),
             edges="atanh of a zero is the same zero, of -1 and 1 -inf and inf, of a number below -1 or above 1 NaN.",
             special=((0.0, 0.0), (-0.0, -0.0), (1.0, INF), (-1.0, -INF), (2.0, NAN), (-1.5, NAN), (INF, NAN),
                      (-INF, NAN)),
             gradient="The cotangent is divided by 1 - x**2, also at -1 and 1, where it becomes an infinity; below and "
             "above them it becomes NaN."),
    Function("log2", lambda m, x: m.log(x) / m.log(2), "its logarithm to base 2", positive=True, integer=1,
             edges="log2(0) is -inf for both zeros, of a negative number NaN; log2(1) is +0, log2(inf) is inf.",
             special=((0.0, -INF), (-0.0, -INF), (1.0, 0.0), (-1.0, NAN), (-INF, NAN), (INF, INF)),
             gradient="The cotangent is divided by x * log(2), also at 0, where it becomes an infinity.",
             poles=((0.0, INF),)),
    Function("log10", lambda m, x: m.log10(x), "its logarithm to base 10", positive=True, integer=1,
             edges="log10(0) is -inf for both zeros, of a negative number NaN; log10(1) is +0, log10(inf) is inf.",
             special=((0.0, -INF), (-0.0, -INF), (1.0, 0.0), (-1.0, NAN), (-INF, NAN), (INF, INF)),
             gradient="The cotangent is divided by x * log(10), also at 0, where it becomes an infinity.",
             poles=((0.0, INF),)),
    Function("rsqrt", lambda m, x: 1 / m.sqrt(x), "1 / sqrt(x)", positive=True, integer=1,
             edges="rsqrt(0) is inf and rsqrt(-0) is -inf, of a negative number NaN, rsqrt(inf) is +0.",
             special=((0.0, INF), (-0.0, -INF), (-1.0, NAN), (-INF, NAN), (INF, 0.0), (0.25, 2.0)),
             gradient="The cotangent is multiplied by -1 / (2 * x * sqrt(x)).",
             slope_error=(40, 0), poles=((0.0, -INF),)),
    Function("sigmoid", lambda m, x: 1 / (1 + m.exp(-x)), "1 / (1 + exp(-x))",
             edges="sigmoid(inf) is 1, sigmoid(-inf) is +0, sigmoid(0) is 1/2.",
             special=((0.0, 0.5), (-0.0, 0.5), (INF, 1.0), (-INF, 0.0), (100.0, 1.0), (-1000.0, 0.0)),
             gradient="The cotangent is multiplied by y * (1 - y), y the result.", slope_error=(20, 20)),
    Function("reciprocal", lambda m, x: 1 / x, "1 / x", precision="correctly_rounded", dtypes="quotient", integer=1,
             edges="1 / 0 is an infinity with the sign of the zero, that of an infinity a zero with its sign.",
             special=((0.0, INF), (-0.0, -INF), (INF, 0.0), (-INF, -0.0), (-4.0, -0.25)),
             gradient="The cotangent is multiplied by -1 / x**2.", slope_error=(5, 0), poles=((0.0, -INF),)),
    Function("square", lambda m, x: x * x, "x * x", precision="correctly_rounded", dtypes="wrap",
             edges="The square of a zero is +0, that of an infinity inf; overflow is inf.",
             special=((-0.0, 0.0), (INF, INF), (-INF, INF), (1e30, INF), (-1.5, 2.25)),
             gradient="The cotangent is multiplied by 2 * x.", slope_error=(4, 0)),
    Step("floor", lambda m, x: m.floor(x), "floor(x), the greatest integer that is not above x",
         edges="Zeros, whole numbers and infinities stay as they are; floor(-0.5) is -1.",
         special=((2.5, 2.0), (-0.5, -1.0), (-3.0, -3.0), (0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF))),
    Step("ceil", lambda m, x: m.ceil(x), "ceil(x), the least integer that is not below x",
         edges="Zeros, whole numbers and infinities stay as they are; ceil(-0.5) is -0.",
         special=((2.5, 3.0), (-0.5, -0.0), (-3.0, -3.0), (0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF))),
    Step("round", lambda m, x: m.rint(x), "the nearest integer, and the even one of two that are equally near",
         edges="Zeros, whole numbers and infinities stay as they are; round(2.5) is 2, round(-0.5) is -0.",
         special=((0.5, 0.0), (1.5, 2.0), (2.5, 2.0), (-0.5, -0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF))),
    Step("trunc", lambda m, x: m.trunc(x), "trunc(x), x without its fraction: the next integer towards 0",
         edges="Zeros, whole numbers and infinities stay as they are; trunc(-0.5) is -0.",
         special=((2.5, 2.0), (-0.5, -0.0), (-2.5, -2.0), (0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF))),
    Judgement("isnan", lambda m, x: m.isnan(x), "True where it is NaN, and False elsewhere",
              edges="The infinities are not NaN; bools and integers never are.",
              special=((NAN, True), (INF, False), (-INF, False), (0.0, False), (1.0, False))),
    Judgement("isinf", lambda m, x: m.isinf(x), "True where it is inf or -inf, and False elsewhere",
              edges="NaN is not infinite; bools and integers never are.",
              special=((NAN, False), (INF, True), (-INF, True), (-0.0, False), (3e38, False))),
    Judgement("isfinite", lambda m, x: m.isfinite(x), "True where it is finite, and False where it is infinite or NaN",
              edges="Bools and integers always are finite.",
              special=((NAN, False), (INF, False), (-INF, False), (-0.0, True), (3e38, True))),
)}
# fmt: on
