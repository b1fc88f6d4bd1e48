"""Bounds that follow from a definition: it is run on numbers that know how far off they may be.

    off(a + b) = off(a) + off(b) + 2·abs(a + b)        an operation is within an ulp, which is 2u at most
    off(a · b) = abs(a)·off(b) + abs(b)·off(a) + u·off(a)·off(b) + 2·abs(a · b)
    off(f(a))  = abs(f'(a))·off(a) + 8·abs(f(a))       a function is within four
    off(Σ aᵢ)  = Σ off(aᵢ) + n·Σ abs(aᵢ)               in any order

This is a running error analysis: `off` is in units of the roundoff, what goes in is exact, and all but products and
roots is of first order in u. `lost` says in floors what vanishes where numbers are too small to have all their digits,
`most` is the largest number on the way. A gradient goes backwards through the same steps, on such numbers again, so
that its bound is that of reverse mode; it does not follow a shift, which changes nothing.

The bound is that of the formula as it is written, in any order of its sums. Another formula may lose more, as the
variance does of which a mean is subtracted, and not first an element: such bounds are in `pynested.spec.run_bounds`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import numerics
from .numerics import NDArray
from .ordered import Ordered

__all__ = ["OfPull", "OfRun", "RunBound", "derived"]

_ROUNDOFF = 2.0**-24  # the largest that is computed in
_OPERATION, _FUNCTION = 2, 8  # an ulp, and four, in units of the roundoff
_numbers = itertools.count()

Pulls = tuple[tuple["Rounded", Callable[["Rounded"], "Rounded"]], ...]


class Rounded(Ordered):
    """A number, what may be wrong with it where it is computed, and how cotangents go back to what it is made of."""

    __slots__ = ("lost", "most", "number", "off", "pulls", "value")

    def __init__(self, value: Any, off: Any = 0.0, lost: Any = 0.0, pulls: Pulls = (), most: Any = None) -> None:
        self.value = np.float64(value) if isinstance(value, int | float) else value
        self.off, self.lost, self.pulls, self.number = off, lost, pulls, next(_numbers)
        self.most: Any = max([abs(self.value), *(one.most for one, _ in pulls)]) if most is None else most

    def _bare(self) -> Rounded:
        """The number in a cotangent: what it is made of matters no longer."""
        return Rounded(self.value, self.off, self.lost, (), self.most)

    def shift(self) -> Rounded:
        """Return the number as one to subtract that changes nothing: it may be any."""
        return Rounded(self.value, most=self.most)

    def __float__(self) -> float:
        """Return the value as a number to scale by, which changes nothing either."""
        return float(self.value)

    # Arithmetic. An operation may lose a floor of its own.

    def __neg__(self) -> Rounded:
        return Rounded(-self.value, self.off, self.lost, ((self, lambda g: -g),), self.most)

    def __abs__(self) -> Rounded:
        return -self if self.value < 0 else self

    def __add__(self, other: Any) -> Rounded:
        b = _rounded(other)
        value = self.value + b.value
        off = self.off + b.off + _OPERATION * abs(value)
        return Rounded(value, off, self.lost + b.lost + 1, ((self, lambda g: g), (b, lambda g: g)))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Rounded:
        return self + -_rounded(other)

    def __rsub__(self, other: Any) -> Rounded:
        return _rounded(other) + -self

    def __mul__(self, other: Any) -> Rounded:
        if not isinstance(other, Rounded) and other == 1:
            return self  # a conversion, as definitions write it
        a, b = self._bare(), _rounded(other)
        value, size, its = a.value * b.value, abs(a.value), abs(b.value)
        off = size * b.off + its * a.off + _ROUNDOFF * a.off * b.off + _OPERATION * abs(value)
        bare = b._bare()
        return Rounded(value, off, size * b.lost + its * a.lost + 1, ((self, lambda g: g * bare), (b, lambda g: g * a)))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Rounded:
        b = _rounded(other)
        bare, size = b._bare(), abs(b.value)
        value = self.value / b.value
        off = (self.off + abs(value) * b.off) / size + _OPERATION * abs(value)
        lost = (self.lost + abs(value) * b.lost) / size + 1
        found = Rounded(value, off, lost, most=max(self.most, b.most, abs(value)))
        quotient = found._bare()
        found.pulls = ((self, lambda g: g / bare), (b, lambda g: -(g * quotient / bare)))
        return found

    def __rtruediv__(self, other: Any) -> Rounded:
        return _rounded(other) / self

    # What NumPy calls for np.exp, np.log, ... on arrays of dtype object.

    def exp(self) -> Rounded:
        """Return e to the x; of what is too far below 0 it is 0, which has no error."""
        value = np.exp(self.value)
        off = value * (self.off + _FUNCTION) if value else 0.0
        most = value if self.value <= 0 else max(self.most, value)
        found = Rounded(value, off, (value * self.lost if value else 0) + 1, most=most)
        power = found._bare()
        found.pulls = ((self, lambda g: g * power),)
        return found

    def log(self) -> Rounded:
        """Return the natural logarithm."""
        value, bare = np.log(self.value), self._bare()
        off = self.off / self.value + _FUNCTION * abs(value)
        return Rounded(value, off, self.lost / self.value + 1, ((self, lambda g: g / bare),))

    def erf(self) -> Rounded:
        """Return the error function."""
        value, bare = numerics.erf(self.value)[()], self._bare()
        slope = 2 / np.sqrt(np.pi) * np.exp(-self.value * self.value)
        found = Rounded(value, slope * self.off + _FUNCTION * abs(value), slope * self.lost + 1)
        found.pulls = ((self, lambda g: g * (-(bare * bare)).exp() * (2 / np.sqrt(np.pi))),)
        return found

    def sqrt(self) -> Rounded:
        """Return the square root: that of an error at most, also where it is that of 0."""
        value = np.sqrt(self.value)
        edge = np.sqrt(self.off / _ROUNDOFF)
        off = min(self.off / value, edge) if value else edge
        found = Rounded(
            value, off + _OPERATION * value, (self.lost / value if value else self.lost) + 1, most=self.most
        )
        root = found._bare()
        found.pulls = ((self, lambda g: g / (root + root)),)
        return found

    @staticmethod
    def total(terms: Sequence[Rounded]) -> Rounded:
        """Return the sum of several, in any order; of one nothing is rounded, and of none it is 0."""
        if len(terms) < 2:
            return terms[0] if terms else Rounded(0.0)
        value, reach = sum(one.value for one in terms), sum(abs(one.value) for one in terms)
        off = sum(one.off for one in terms) + len(terms) * reach
        lost = sum(one.lost for one in terms) + len(terms)
        most = max([reach, *(one.most for one in terms)])
        return Rounded(value, off, lost, tuple((one, lambda g: g) for one in terms), most)


def _rounded(number: Any) -> Rounded:
    return number if isinstance(number, Rounded) else Rounded(number)


def rounded(numbers: Any) -> NDArray:
    """Return an array of numbers as ones that are exact so far."""
    return _each(_rounded, np.asarray(numbers))


def pulled_to(run: NDArray, results: NDArray, cotangents: NDArray) -> NDArray:
    """Return the gradient of each number of a run, from the cotangent of each result."""
    arrived: dict[int, list[Rounded]] = {}
    for one, g in zip(results.ravel(), cotangents.ravel(), strict=True):
        arrived.setdefault(one.number, []).append(g)
    for one in sorted(_made_of(results.ravel()), key=lambda one: -one.number):
        given = arrived.get(one.number, [])
        if one.pulls and given:
            g = Rounded.total(given)
            for operand, pull in one.pulls:
                arrived.setdefault(operand.number, []).append(pull(g))
    return _each(lambda one: Rounded.total(arrived.get(one.number, [])), run)


def _made_of(results: Any) -> list[Rounded]:
    """Return the numbers, and all that they are made of."""
    found: dict[int, Rounded] = {}
    rest = list(results)
    while rest:
        one = rest.pop()
        if one.number not in found:
            found[one.number] = one
            rest.extend(operand for operand, _ in one.pulls)
    return list(found.values())


# ---- bounds -------------------------------------------------------------------------------------------------------


OfRun = Callable[..., Any]  # run -> number
OfPull = Callable[..., Any]  # run, its cotangent -> a number for each element, or one for all


@dataclass(frozen=True)
class RunBound:
    """What the errors of one reduction are made of."""

    error: OfRun
    lost: OfRun
    added: OfRun
    gradient: OfPull
    gradient_lost: OfPull
    gradient_added: OfPull
    keeps: bool = False  # the shape: the numbers, and the cotangent, are one for each element


def derived(formula: Callable[..., Any], keeps: bool = False) -> RunBound:
    """Return the bounds of what is computed as a definition of one run says."""

    def result(part: Callable[[Rounded], Any]) -> OfRun:
        def of_run(run: NDArray, **asked: Any) -> Any:
            return _each(part, rounded(formula(rounded(run), **asked)))[()]

        return of_run

    def gradient(part: Callable[[Rounded], Any]) -> OfPull:
        def of_pull(run: NDArray, g: Any, **asked: Any) -> Any:
            own = rounded(run)
            return _each(part, pulled_to(own, rounded(formula(own, **asked)), rounded(g)))

        return of_pull

    def off(one: Rounded) -> Any:
        return one.off

    def lost(one: Rounded) -> Any:
        return max(one.lost - 1, 0)  # every bound has a floor for the last rounding

    def most(one: Rounded) -> Any:
        return one.most

    return RunBound(result(off), result(lost), result(most), gradient(off), gradient(lost), gradient(most), keeps)


def _each(part: Callable[[Any], Any], numbers: NDArray) -> NDArray:
    return np.asarray(np.frompyfunc(part, 1, 1)(numbers), dtype=object)
