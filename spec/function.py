"""What an entry of `functions` is: a function of one element, smooth or a step.

A formula is written once, for all kinds of numbers: ``m`` is NumPy (with `erf` and `erfc`) where ``x`` holds floats or
complex numbers, and mpmath where it is an exact number. No derivative is written down: floats take a complex step,
exact numbers differences in more digits. Steps, which are constant but for jumps, look at floats only.
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

__all__ = ["INF", "NAN", "NUMPY", "Function", "Judgement", "Step"]

INF, NAN = math.inf, math.nan
STEP = 2.0**-500  # of a complex step: nothing cancels, so it can be as small as one likes
FLAT = "The gradient is 0 everywhere, also at the jumps, at NaN and at the infinities."
_OUTSIDE = "The gradient at a number outside the domain, where the value is NaN."
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
    renumbered: tuple[tuple[int, int], ...] = ()  # clauses with a new meaning: the retired number, and the new one
    torch: bool = True  # whether PyTorch has a function of this name; NumPy has, where it has not
    since: str = "0.1"

    @property
    def is_step(self) -> bool:
        """True where the function is constant but for jumps."""
        return self.dtypes in ("stay", "bool")

    @property
    def outside(self) -> list[float]:
        """Numbers among the edges of which the function is NaN: they lie outside its domain."""
        return [x for x, value in self.special if math.isfinite(x) and math.isnan(value)]

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
        clauses += [{"class": "unspecified", "text": _OUTSIDE}] * bool(self.outside)
        return {
            "signature": f"{self.name}(self: Nested | Array) -> Nested | Array",
            "summary": f"{self.becomes}, element by element.",
            "since": self.since,
            "torch": f"torch.{self.name}" if self.torch else "",
            "peers": {} if self.torch else {"numpy": f"numpy.{self.name}"},
            "precision": self.precision,
            "differentiable": [] if judges else ["self"],
            "clauses": self._numbered(clauses),
        }

    def number(self, place: int) -> int:
        """Return the number of the clause at a place, counted from 1, of the list of clauses."""
        return dict(self.renumbered).get(place, place)

    def _numbered(self, clauses: list[dict[str, str]]) -> dict[str, dict[str, str]]:
        """Return clauses by their ids, in order."""
        by_number = {self.number(place): clause for place, clause in enumerate(clauses, 1)}
        if len(by_number) < len(clauses):
            raise ValueError(f"{self.name}: two clauses have one number; renumbered={self.renumbered}")
        return {f"{self.name.upper()}-{number}": by_number[number] for number in sorted(by_number)}


Step = partial(Function, precision="exact", dtypes="stay")
Judgement = partial(Function, precision="exact", dtypes="bool")
