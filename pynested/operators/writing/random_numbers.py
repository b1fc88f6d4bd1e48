"""Random numbers, written into arrays that there are."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pynested.autograd import Array, random
from pynested.autograd.dispatch import operator
from pynested.autograd.numbers import canonical_real, in_words, scalar
from pynested.autograd.rules.devices import converted
from pynested.backends.dtypes import is_float
from pynested.backends.errors import ArgumentError, DTypeError, named_type
from pynested.backends.events import emit_around, listening
from pynested.backends.host import written_to
from pynested.backends.memory import empty
from pynested.construct.likeness import empty_like
from pynested.nested.nested_array import NestedArray

from . import write
from .of_dense import refuse_write

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
    number = self.dtype.type
    most = np.nextafter(number(last), number(first)).item()  # rounding could reach the end itself

    def transform(numbers: NDArray[Any]) -> None:
        if (first, last) != (0, 1):
            numbers *= last - first
            numbers += first
        np.minimum(numbers, most, out=numbers)

    return _fill(self, "uniform_", random.default(generator).random, transform)


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

    def transform(numbers: NDArray[Any]) -> None:
        if (center, scale) != (0, 1):
            numbers *= scale
            numbers += center

    return _fill(self, "normal_", random.default(generator).standard_normal, transform)


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


def _fill(x: Target, name: str, draw: Callable[..., Any], transform: Callable[[NDArray[Any]], None]) -> Target:
    """Draw in float64, transform in place, round once, and write; where possible in the memory of ``x`` itself."""
    if isinstance(x, NestedArray):
        packed = empty_like(x.detach())
        _fill(packed.data, name, draw, transform)
        return write(x, name.rstrip("_"), packed)
    is_direct = x.device == "cpu" and x.dtype == np.float64 and x.is_contiguous()
    refuse_write(x, name.rstrip("_"), ())
    numbers = written_to(x.data) if is_direct else empty(x.shape, np.float64)
    if listening.count:
        emit_around("kernel", name, draw, out=numbers)
    else:
        draw(out=numbers)
    with np.errstate(all="ignore"):
        transform(numbers)
    if is_direct:
        x.storage.wrote()
        return x
    return write(x, name.rstrip("_"), converted(Array(numbers), x.device, x.dtype))
