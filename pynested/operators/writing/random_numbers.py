"""Random numbers, written into arrays that there are."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from pynested.autograd import Array
from pynested.autograd.dispatch import operator
from pynested.autograd.numbers import canonical_real, in_words, scalar
from pynested.backends.dtypes import is_float
from pynested.backends.errors import ArgumentError, DTypeError, named_type
from pynested.construct.likeness import rand_like, randn_like
from pynested.nested.array import NestedArray
from pynested.operators.conversion import to

from . import write

Target = TypeVar("Target", Array, NestedArray)


@operator
def uniform_(self: Target, low: float = 0.0, high: float = 1.0, generator: np.random.Generator | None = None) -> Target:
    """Write uniform random numbers from [low, high) into the array itself, and return it.

    Parameters
    ----------
    self : NestedArray or Array
        Of a floating dtype.
    low, high : float
        The ends, finite, ``low`` not above ``high``. ``high`` itself is drawn only if the two are equal.
    generator : numpy.random.Generator, optional
        By default the one of `manual_seed`.

    Raises
    ------
    DTypeError
        For a dtype that is not floating.
    ArgumentError
        For ends that are not finite, or in the wrong order, and what is no array.
    OverflowError
        For an end that the dtype cannot hold.
    GradientError
        For an array that requires grad while operations are recorded, as of every write.

    Notes
    -----
    Empty components take no numbers; gaps keep what they hold. ``pn.empty(3).uniform_()`` draws what ``pn.rand(3)``
    draws. Gradient: none flows to what was overwritten.

    After `torch.Tensor.uniform_`, of which the ends are called ``from`` and ``to``.

    Examples
    --------
    >>> nt = pn.empty_like(pn.nested_array([[0.0, 0.0], [0.0]])).uniform_(2, 3)
    >>> all(2 <= number < 3 for component in nt.tolist() for number in component)
    True
    """
    first, last = _parameters("uniform_", self, low=low, high=high)
    if first > last:
        raise ArgumentError(f"uniform_: low is {in_words(low)} and high is {in_words(high)}. Give the lower one first.")
    end = scalar("uniform_", last, self.dtype)
    most = np.nextafter(end, scalar("uniform_", first, self.dtype)).item()  # rounding could reach the end itself
    return _write(
        self, "uniform_", rand_like, lambda drawn: (first + drawn * (last - first)).clamp(max=most), generator
    )


@operator
def normal_(self: Target, mean: float = 0.0, std: float = 1.0, generator: np.random.Generator | None = None) -> Target:
    """Write random numbers with a normal distribution into the array itself, and return it.

    Parameters
    ----------
    self : NestedArray or Array
        Of a floating dtype.
    mean, std : float
        Mean and standard deviation, finite, ``std`` 0 or more.
    generator : numpy.random.Generator, optional
        By default the one of `manual_seed`.

    Raises
    ------
    DTypeError
        For a dtype that is not floating.
    ArgumentError
        For numbers that are not finite, a negative ``std``, and what is no array.
    OverflowError
        For a mean or a deviation that the dtype cannot hold.
    GradientError
        For an array that requires grad while operations are recorded, as of every write.

    Notes
    -----
    Empty components take no numbers; gaps keep what they hold. ``pn.empty(3).normal_()`` draws what ``pn.randn(3)``
    draws. Gradient: none flows to what was overwritten.

    After `torch.Tensor.normal_`.

    Examples
    --------
    >>> pn.empty(2).normal_(5, 0)
    array([5., 5.])
    """
    center, scale = _parameters("normal_", self, mean=mean, std=std)
    if scale < 0:
        raise ArgumentError(f"normal_: std must be 0 or more, not {in_words(std)}.")
    return _write(self, "normal_", randn_like, lambda drawn: center + drawn * scale, generator)


def _parameters(name: str, x: Any, **numbers: float) -> list[float]:
    """The two numbers, which the dtype of ``x`` can hold."""
    if not isinstance(x, Array | NestedArray):
        raise ArgumentError(f"{name}: an array is written into, not {named_type(x)}. Make one: pn.array(values).")
    if not is_float(x.dtype):
        raise DTypeError(f"{name}: random real numbers need a floating point dtype, not {x.dtype}.")
    given = [canonical_real(name, what, number, -math.inf) for what, number in numbers.items()]
    for what, number in zip(numbers, given, strict=True):
        if not math.isfinite(number):
            raise ArgumentError(f"{name}: {what} must be finite, not {in_words(number)}.")
        scalar(name, number, x.dtype)
    return given


def _write(x: Target, name: str, draw: Any, place: Callable[[Any], Any], generator: Any) -> Target:
    """Draw in float64, as `rand` and `randn` do, round once, and write."""
    drawn = draw(x.detach(), dtype=np.float64, generator=generator)
    return write(x, name.rstrip("_"), to(place(drawn), x.dtype))
