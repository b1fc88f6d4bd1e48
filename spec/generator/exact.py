"""Exact numbers: multi-precision values with their derivatives, as elements of NumPy arrays of dtype object.

NumPy calls the operators and methods of the elements (`np.exp` calls `.exp()`), so the definitions run on these arrays
unchanged, and one run yields the exact value *and* every partial derivative: the chain rule is carried along as a
sparse row, input number -> slope. Values have 160 bits, three times float64, which leaves sums of small integers and of
float64 numbers within forty orders of magnitude exact.

Zero has no sign here; whoever needs `-0` asks a float64 run of the same definition.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any

import mpmath
import numpy as np

from ..function import Function
from ..numerics import NDArray
from ..ordered import Ordered, value_of
from .nearest import round_to
from .trees import map_leaves

__all__ = ["MP", "Exact", "exactly", "lift", "plain", "slopes_of"]

MP = mpmath.MPContext()
MP.prec = 160
_NUMBER = MP.mpf

Slopes = dict[int, Any]
_LEAST = 1074  # bits behind the point of the least number of float64


@functools.lru_cache(2**14)
def _of_float(number: float) -> Any:
    """Return a float as an exact number, which it is in every precision; the same few come again and again."""
    return _NUMBER(number)


class Exact(Ordered):
    """A number and its slopes with respect to numbered inputs."""

    __slots__ = ("slopes", "value")

    def __init__(self, value: Any, slopes: Slopes | None = None) -> None:
        if type(value) is float:
            self.value = _of_float(value)
        else:
            self.value = value if isinstance(value, _NUMBER) else _NUMBER(value_of(value))
        self.slopes: Slopes = slopes if slopes is not None else {}

    def _chain(self, value: Any, partial: Callable[[], Any]) -> Exact:
        """Return a function of this number that has this value; its derivative is asked for where there are slopes."""
        if not self.slopes:
            return Exact(value)
        factor = partial()
        return Exact(value, {key: factor * slope for key, slope in self.slopes.items()})

    def __repr__(self) -> str:
        return f"Exact({MP.nstr(self.value, 17)})"

    def __float__(self) -> float:
        return round_to(self.value, "float64")

    def __hash__(self) -> int:
        return hash(self.value)

    def __bool__(self) -> bool:
        return bool(self.value != 0)

    # Arithmetic, each with its derivative.

    def __neg__(self) -> Exact:
        return self._chain(-self.value, lambda: -1)

    def __pos__(self) -> Exact:
        return self

    def __abs__(self) -> Exact:
        return self._chain(abs(self.value), lambda: -1 if self.value < 0 else int(self.value > 0))

    def __add__(self, other: Any) -> Exact:
        other = _exact(other)
        slopes = dict(self.slopes) if self.slopes else {}
        for key, slope in other.slopes.items():
            slopes[key] = slopes[key] + slope if key in slopes else slope
        return Exact(self.value + other.value, slopes)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Exact:
        return self + (-_exact(other))

    def __rsub__(self, other: Any) -> Exact:
        return _exact(other) + (-self)

    def __mul__(self, other: Any) -> Exact:
        other = _exact(other)
        a, b, one = self.value, other.value, MP.one  # the slope of every input, by which nothing has to be multiplied
        slopes = {key: b if slope is one else slope * b for key, slope in self.slopes.items()}
        for key, slope in other.slopes.items():
            own = a if slope is one else slope * a
            slopes[key] = slopes[key] + own if key in slopes else own
        return Exact(a * b, slopes)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Exact:
        return self * _exact(other).reciprocal()

    def __rtruediv__(self, other: Any) -> Exact:
        return _exact(other) * self.reciprocal()

    def __pow__(self, other: Any) -> Exact:
        other = _exact(other)
        base, exponent = self.value, other.value
        value = _power(base, exponent)
        of_base = self._chain(value, lambda: exponent * _power(base, exponent - 1) if exponent != 0 else 0)
        if not other.slopes:
            return of_base
        log = MP.zero if base == 0 and exponent >= 0 else MP.nan if base < 0 else MP.log(base) if base else MP.ninf
        return Exact(value, (of_base + other._chain(MP.zero, lambda: value * log)).slopes)

    def __rpow__(self, other: Any) -> Exact:
        return _exact(other) ** self

    def __mod__(self, other: Any) -> Exact:
        other = _exact(other)
        slopes = (self - self // other * other).slopes
        if other.value == 0:
            return Exact(MP.nan, slopes)
        if MP.isinf(other.value):
            return Exact(other.value if self.value * other.value < 0 else self.value, slopes)
        return Exact(self.value % other.value, slopes)

    def __rmod__(self, other: Any) -> Exact:
        return _exact(other) % self

    def __floordiv__(self, other: Any) -> Exact:
        """Return the floor of the quotient, which has no slope."""
        a, b = self.value, value_of(other)
        if b == 0 or MP.isinf(b):
            return Exact(a * MP.inf if b == 0 else -int(a * b < 0))  # the sign of zero being unknown here
        return Exact(MP.nint((a - a % b) / b))

    def __rfloordiv__(self, other: Any) -> Exact:
        return _exact(other) // self

    def reciprocal(self) -> Exact:
        """Return 1/x; 1/0 is +inf, the sign of zero being unknown here."""
        inverse = 1 / self.value if self.value != 0 else MP.inf
        return self._chain(inverse, lambda: -inverse * inverse)

    # What NumPy calls for np.exp, np.log, ... on arrays of dtype object.

    def exp(self) -> Exact:
        """Return e to the x."""
        value = MP.exp(self.value)
        return self._chain(value, lambda: value)

    def log(self) -> Exact:
        """Return the natural logarithm: -inf at 0, NaN below."""
        value = MP.nan if self.value < 0 else MP.log(self.value)
        return self._chain(value, lambda: 1 / self.value if self.value != 0 else MP.inf)

    def log1p(self) -> Exact:
        """Return log(1 + x) of a number above -1, with all digits where it is small."""
        return self._chain(MP.log1p(self.value), lambda: 1 / (1 + self.value))

    def tanh(self) -> Exact:
        """Return the hyperbolic tangent."""
        value = MP.tanh(self.value)
        return self._chain(value, lambda: 1 - value * value)

    def sqrt(self) -> Exact:
        """Return the square root: NaN below 0."""
        value = MP.nan if self.value < 0 else MP.sqrt(self.value)
        return self._chain(value, lambda: 1 / (2 * value) if value != 0 else MP.inf)

    def erf(self) -> Exact:
        """Return the error function."""
        return self._chain(MP.erf(self.value), lambda: 2 / MP.sqrt(MP.pi) * MP.exp(-self.value * self.value))

    def function(self, entry: Function) -> Exact:
        """Return an entry's function, NaN where it is not real, with its derivative.

        What is NaN or infinite at infinity is what its edges say; finite values of edges are those of float32.
        """
        edge = dict(entry.special).get(float(self.value), 0.0) if MP.isinf(self.value) else 0.0
        if not math.isfinite(edge):
            return Exact(MP.mpf(edge))
        try:
            value = entry.value(MP, self.value)
        except ZeroDivisionError:
            value = MP.inf  # the sign of zero being unknown here
        return self._chain(_real(value), lambda: self.slope(entry).value)

    def slope(self, entry: Function) -> Exact:
        """Return the derivative of an entry's function, by a difference in so many digits that none is lost."""
        for pole, infinity in entry.poles:
            if self.value == pole:
                return Exact(infinity)
        if entry.domain is not None and not entry.domain[0] < self.value < entry.domain[1]:
            return Exact(MP.nan)
        slope = self._difference(entry, 0)
        if entry.dtypes == "floats" and MP.mag(slope) < -MP.prec:  # the function is nearly flat: 1 - tanh(200), say
            slope = self._difference(entry, _LEAST)
        return Exact(slope)

    def _difference(self, entry: Function, more: int) -> Any:
        """Return the slope of an entry's function between two numbers nearby, worked out with so many digits more."""
        size = int(MP.mag(self.value)) if MP.isnormal(self.value) else 0
        step = MP.ldexp(1, min(size, 0) - 2 * MP.prec)
        with MP.workprec(5 * MP.prec + 2 * abs(size) + more):
            above, below = entry.value(MP, self.value + step), entry.value(MP, self.value - step)
            slope = _real((above - below) / (2 * step))
        return +slope

    @property
    def real(self) -> Exact:
        """The number without its slopes, as a complex one without its imaginary part."""
        return Exact(self.value)

    def conjugate(self) -> Exact:
        """Return the number itself; NumPy asks for it in inner products."""
        return self


def _real(number: Any) -> Any:
    """A number as a real one; the difference of two complex ones may be that."""
    return MP.nan if MP.im(number) != 0 else MP.re(number)


def _power(base: Any, exponent: Any) -> Any:
    """A power: 1 where the exponent is 0, NaN where it is no real number."""
    if exponent == 0 or base == 1:
        return MP.one
    if base == 0:
        return MP.inf if exponent < 0 else MP.zero
    return MP.nan if base < 0 and not MP.isint(exponent) else base**exponent


def _exact(number: Any) -> Exact:
    return number if isinstance(number, Exact) else Exact(number)


def lift(array: NDArray, first: int | None = None) -> NDArray:
    """Return `array` as exact numbers; with `first`, as inputs numbered from there, in C order."""
    one, flat = MP.one, array.ravel().tolist()
    numbers = [Exact(number, None if first is None else {first + k: one}) for k, number in enumerate(flat)]
    result = np.empty(len(numbers), dtype=object)
    result[:] = numbers
    return result.reshape(array.shape)


def exactly(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments with every float as an exact number, so that bounds do not depend on anybody's `exp`."""

    def one(leaf: NDArray) -> NDArray:
        return lift(leaf) if leaf.dtype.kind == "f" else leaf

    return {name: map_leaves(one, value) for name, value in arguments.items()}


def plain(array: Any) -> NDArray:
    """Return the multi-precision values of an array of exact (or ordinary) numbers."""
    array = np.asarray(array, dtype=object)
    result = np.empty(array.size, dtype=object)
    result[:] = [number if isinstance(number, _NUMBER) else _exact(number).value for number in array.ravel()]
    return result.reshape(array.shape)


def slopes_of(number: Any) -> Slopes:
    """Return the slopes of an exact number; an ordinary number depends on nothing."""
    return number.slopes if isinstance(number, Exact) else {}
