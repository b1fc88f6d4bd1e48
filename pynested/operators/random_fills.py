"""Writes of random numbers into existing arrays: the methods `uniform_` and `normal_`.

Empty components use no random numbers, and gaps are not written. ``generator`` is the source of random numbers, by
default that of `manual_seed`. No gradient flows to the overwritten values. DTypeError for an array whose dtype is not
floating. GradientError for an array that requires grad while operations are recorded, as for every write.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pynested.autograd import Array, random
from pynested.autograd.arguments.scalars import canonical_real, checked_scalar, value_text
from pynested.autograd.decorators import operator
from pynested.autograd.primitives.movement import converted
from pynested.backends.caching_allocator import empty
from pynested.backends.dtypes import is_float
from pynested.backends.errors import ArgumentError, DTypeError, named_type
from pynested.backends.events import LISTENERS, emit_around
from pynested.backends.repeating_views import writable_view
from pynested.construct.like import empty_like
from pynested.nested.nested_array import NestedArray

from .indexing.in_place_writes import check_write, write_value

Target = TypeVar("Target", Array, NestedArray)


@operator
def uniform_(self: Target, low: float = 0.0, high: float = 1.0, generator: np.random.Generator | None = None) -> Target:
    """Write uniform random numbers from [low, high) into the array itself, and return it.

    Both ends are first rounded to the dtype of the array. ``pn.empty(3).uniform_()`` draws the same numbers as
    ``pn.rand(3)``. After `torch.Tensor.uniform_`, whose parameters are called ``from`` and ``to``.

    Parameters
    ----------
    low, high : float
        The ends of the interval. They and their difference must be finite; ``low`` must not be above ``high``. ``high``
        is drawn only if both ends are equal.

    Raises
    ------
    ArgumentError
        For ends that are not finite, too far apart or in the wrong order, and for an object that is not an array.
    OverflowError
        For an end that the dtype cannot represent.

    Examples
    --------
    >>> nt = pn.empty_like(pn.nested_array([[0.0, 0.0], [0.0]])).uniform_(2, 3)
    >>> all(2 <= number < 3 for component in nt.tolist() for number in component)
    True
    """
    generator = random.canonical_generator("uniform_", generator)
    lower, upper = _checked_parameters("uniform_", self, low=low, high=high)
    if lower > upper:
        raise ArgumentError(f"uniform_: low is {value_text(low)} and high is {value_text(high)}. Exchange them.")
    if math.isinf(upper - lower):
        raise ArgumentError(f"uniform_: the interval from {lower} to {upper} is longer than the greatest float64.")
    # Rounding to the dtype could return the upper end, which is not part of the interval.
    scalar_type = self.dtype.type
    largest = np.nextafter(scalar_type(upper), scalar_type(lower)).item()

    def scale(numbers: NDArray[Any]) -> None:
        if (lower, upper) != (0, 1):
            numbers *= upper - lower
            numbers += lower
        np.minimum(numbers, largest, out=numbers)

    return _fill(self, "uniform_", generator.random, scale)


@operator
def normal_(self: Target, mean: float = 0.0, std: float = 1.0, generator: np.random.Generator | None = None) -> Target:
    """Write random numbers with a normal distribution into the array itself, and return it.

    ``pn.empty(3).normal_()`` draws the same numbers as ``pn.randn(3)``. After `torch.Tensor.normal_`.

    Parameters
    ----------
    mean, std : float
        Mean and standard deviation, which must be finite, ``std`` 0 or more.

    Raises
    ------
    ArgumentError
        For numbers that are not finite, for a negative ``std``, and for an object that is not an array.
    OverflowError
        For a mean or a deviation that the dtype cannot represent.

    Examples
    --------
    >>> pn.empty(2).normal_(5, 0)
    array([5., 5.])
    """
    generator = random.canonical_generator("normal_", generator)
    center, deviation = _checked_parameters("normal_", self, mean=mean, std=std)
    if deviation < 0:
        raise ArgumentError(f"normal_: std must be 0 or more, not {value_text(std)}.")

    def scale(numbers: NDArray[Any]) -> None:
        if (center, deviation) != (0, 1):
            numbers *= deviation
            numbers += center

    return _fill(self, "normal_", generator.standard_normal, scale)


def _checked_parameters(name: str, x: Any, **parameters: float) -> list[float]:
    """Return the parameters as floats; raise unless they are finite and the dtype of ``x`` can represent them."""
    if not isinstance(x, Array | NestedArray):
        raise ArgumentError(f"{name}: takes an array to write to, not {named_type(x)}. Make one: pn.array(values).")
    if not is_float(x.dtype):
        raise DTypeError(f"{name}: random real numbers need a floating point dtype, not {x.dtype}.")
    numbers = [canonical_real(name, what, number, -math.inf) for what, number in parameters.items()]
    for what, number in zip(parameters, numbers, strict=True):
        if not math.isfinite(number):
            raise ArgumentError(f"{name}: {what} must be finite, not {value_text(number)}.")
        checked_scalar(name, number, x.dtype)
    return numbers


def _fill(x: Target, name: str, draw: Callable[..., Any], scale: Callable[[NDArray[Any]], None]) -> Target:
    """Draw numbers in float64, into ``x`` itself if possible; scale them, round them once and write them into ``x``."""
    check_write(x, name, ())
    if isinstance(x, NestedArray):
        packed = empty_like(x.detach())
        _fill(packed.data, name, draw, scale)
        return write_value(x, name, packed)
    draws_in_place = x.device == "cpu" and x.dtype == np.float64 and x.is_contiguous()
    numbers = writable_view(x.data) if draws_in_place else empty(x.shape, np.float64)
    if LISTENERS:
        emit_around("kernel", name, draw, out=numbers)
    else:
        draw(out=numbers)
    with np.errstate(all="ignore"):
        scale(numbers)
    if draws_in_place:
        x.storage.count_write()
        return x
    return write_value(x, name, converted(Array(numbers), x.device, x.dtype))
