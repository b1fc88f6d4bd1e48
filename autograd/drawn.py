"""New arrays of random numbers.

They come from ``generator``, a `numpy.random.Generator`, or from the default one, which `manual_seed` restarts, and are
the same on every device.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from pynested.backends.dtypes import is_float
from pynested.backends.errors import ArgumentError, DTypeError

from . import random
from .arguments.operands import canonical_dtype, numpy_array
from .arguments.scalars import check_fits, number_text
from .arguments.shapes import canonical_int
from .array import Array
from .call_errors import check_flags
from .create import array, empty, finished, kind_of, sizes_of
from .default_device import chosen_device
from .dispatch import operator

_INTEGER = np.dtype(np.int64)


@operator
def rand(
    *shape: int | Sequence[int],
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool = False,
    generator: np.random.Generator | None = None,
) -> Array:
    """Uniform random numbers from [0, 1): ``rand(2, 3)`` or ``rand((2, 3))``.

    DTypeError for a dtype that is not floating. 1 itself is never drawn, whatever the dtype.

    Clauses: RANDOM-1, RANDOM-4 to RANDOM-8, RANDOM-10.

    Examples
    --------
    >>> drawn = pn.rand(1000, dtype=pn.float16).numpy()
    >>> bool((0 <= drawn).all() and (drawn < 1).all())
    True
    """
    check_flags("rand", requires_grad=requires_grad)
    return finished(uniform("rand", shape, dtype, device, generator), requires_grad)


def uniform(name: str, shape: tuple[Any, ...], dtype: DTypeLike | None, device: str | None, generator: Any) -> Array:
    """`rand` for the function ``name``."""
    return _new(name, shape, dtype, device).uniform_(0.0, 1.0, generator)


@operator
def randn(
    *shape: int | Sequence[int],
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool = False,
    generator: np.random.Generator | None = None,
) -> Array:
    """Random numbers with the standard normal distribution: ``randn(2, 3)`` or ``randn((2, 3))``.

    DTypeError for a dtype that is not floating.

    Clauses: RANDOM-2, RANDOM-4 to RANDOM-8, RANDOM-10.

    Examples
    --------
    >>> x, y = [pn.randn(3, generator=np.random.default_rng(0)) for _ in range(2)]
    >>> pn.equal(x, y)
    True
    """
    check_flags("randn", requires_grad=requires_grad)
    return finished(normal("randn", shape, dtype, device, generator), requires_grad)


def normal(name: str, shape: tuple[Any, ...], dtype: DTypeLike | None, device: str | None, generator: Any) -> Array:
    """`randn` for the function ``name``."""
    return _new(name, shape, dtype, device).normal_(0.0, 1.0, generator)


def _new(name: str, shape: tuple[Any, ...], dtype: DTypeLike | None, device: str | None) -> Array:
    """Return an array of a floating dtype whose values are arbitrary."""
    place = chosen_device(device)
    kind = kind_of(dtype, place)
    if not is_float(kind):
        raise DTypeError(f"{name}: random real numbers need a floating point dtype, not {kind}.")
    return empty(sizes_of(name, shape), dtype=kind, device=place)


@operator
def randint(
    low: int,
    high: int | Sequence[int] | None = None,
    size: int | Sequence[int] = (),
    *,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    generator: np.random.Generator | None = None,
) -> Array:
    """Random integers from ``low`` (0 if only one limit is given) to ``high`` - 1, int64 by default.

    ``randint(5, (3,))`` is ``randint(0, 5, (3,))``. ArgumentError where there is no such integer, OverflowError for a
    dtype that has not all of them.

    Clauses: RANDOM-3 to RANDOM-7, RANDOM-9, RANDOM-10.

    Examples
    --------
    >>> pn.randint(5, 6, size=(2,))
    array([5, 5])
    """
    shape: Any = size
    if isinstance(high, Sequence) and size == ():
        high, shape = None, high
    return integers("randint", low, high, shape, dtype, device, generator)


def integers(
    name: str, low: Any, high: Any, shape: Any, dtype: DTypeLike | None, device: str | None, generator: Any
) -> Array:
    """`randint` for the function ``name``."""
    least, end = (0, low) if high is None else (low, high)
    least, end = canonical_int(name, "low", least), canonical_int(name, "high", end)
    if least >= end:
        ends = f"{number_text(least)} to {number_text(end)} - 1"
        raise ArgumentError(f"{name}: there is no integer from {ends}; high must be above low.")
    kind = _INTEGER if dtype is None else canonical_dtype(dtype, chosen_device(device))
    check_fits(name, numpy_array(name, [least, end - 1]), kind)  # whichever of them will be drawn
    drawn = random.default(generator).integers(least, end, sizes_of(name, (shape,)), dtype=np.int64)
    return array(drawn, dtype=kind, device=device)
