"""New arrays of random numbers, and the default generator of each thread, which `manual_seed` restarts.

A generator is a `numpy.random.Generator`. It draws the same numbers for every device. That of a thread without
`manual_seed`, and of a forked process, has a seed from the system. *Clauses* are statements of the specification.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from pynested.backends.dtypes import is_float
from pynested.backends.errors import ArgumentError, DTypeError, named_type

from .arguments.operands import canonical_dtype, chosen_device, numpy_array
from .arguments.scalars import check_fits, value_text
from .arguments.shapes import canonical_int
from .array import Array
from .call_errors import check_flags
from .creation import array, dtype_or_default, empty, nonnegative_shape
from .decorators import operator
from .thread_values import ThreadValue, ValueChange

default_generator = ThreadValue(np.random.default_rng)


@operator
def manual_seed(seed: int) -> np.random.Generator:
    """Restart the default generator of this thread from ``seed``, and return the generator.

    Other threads keep their generators. ArgumentError unless the seed is an integer of at least 0. Clauses: RANDOM-5 to
    RANDOM-7.

    Examples
    --------
    >>> a, b = [(pn.manual_seed(7), pn.rand(3))[1] for _ in range(2)]
    >>> pn.equal(a, b)
    True
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ArgumentError(f"manual_seed: the seed must be an integer of 0 or more, not {value_text(seed)}.")
    default_generator.value = np.random.default_rng(seed)
    return default_generator.value


def canonical_generator(name: str, generator: Any) -> np.random.Generator:
    """Return ``generator``, or the default one of this thread for None; raise unless it is a generator of NumPy."""
    generator = default_generator.value if generator is None else generator
    if not isinstance(generator, np.random.Generator):
        raise ArgumentError(
            f"{name}: generator must be a numpy.random.Generator, not {named_type(generator)}. "
            "Make one with numpy.random.default_rng(seed)."
        )
    return generator


def generator_state() -> Any:
    """Return the state of this thread's default generator, for `replay_random`."""
    return default_generator.value.bit_generator.state


def replay_random(state: Any) -> ValueChange[np.random.Generator]:
    """Draw the numbers that follow ``state`` inside a ``with`` block. Then the generator continues where it was."""
    bit_generator = np.random.PCG64(0)
    bit_generator.state = state
    return ValueChange(default_generator, np.random.Generator(bit_generator))


def _reseed() -> None:
    """Give a forked process numbers that its parent does not draw."""
    default_generator.value = np.random.default_rng()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reseed)


@operator
def rand(
    *shape: int | Sequence[int],
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool = False,
    generator: np.random.Generator | None = None,
) -> Array:
    """Return uniform random numbers from [0, 1): ``rand(2, 3)`` or ``rand((2, 3))``.

    DTypeError for a dtype that is not floating. 1 itself is never drawn.

    Clauses: RANDOM-1, RANDOM-4 to RANDOM-8, RANDOM-10.

    Examples
    --------
    >>> drawn = pn.rand(1000, dtype=pn.float16).numpy()
    >>> bool((0 <= drawn).all() and (drawn < 1).all())
    True
    """
    check_flags("rand", requires_grad=requires_grad)
    canonical_generator("rand", generator)
    return empty_floats("rand", shape, dtype, device).uniform_(0.0, 1.0, generator).requires_grad_(requires_grad)


@operator
def randn(
    *shape: int | Sequence[int],
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool = False,
    generator: np.random.Generator | None = None,
) -> Array:
    """Return random numbers with the standard normal distribution: ``randn(2, 3)`` or ``randn((2, 3))``.

    DTypeError for a dtype that is not floating.

    Clauses: RANDOM-2, RANDOM-4 to RANDOM-8, RANDOM-10.

    Examples
    --------
    >>> x, y = [pn.randn(3, generator=np.random.default_rng(0)) for _ in range(2)]
    >>> pn.equal(x, y)
    True
    """
    check_flags("randn", requires_grad=requires_grad)
    canonical_generator("randn", generator)
    return empty_floats("randn", shape, dtype, device).normal_(0.0, 1.0, generator).requires_grad_(requires_grad)


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
    """Return random integers from ``low`` (0 if only one limit is given) to ``high - 1``, int64 by default.

    ``randint(5, (3,))`` is ``randint(0, 5, (3,))``. ArgumentError if there is no such integer, OverflowError for a
    dtype that cannot represent all of them.

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


def empty_floats(name: str, shape: tuple[Any, ...], dtype: DTypeLike | None, device: str | None) -> Array:
    """Return an array for random real numbers; raise DTypeError, for the function ``name``, unless it is floating."""
    device = chosen_device(name, device)
    dtype = dtype_or_default(name, dtype, device)
    if not is_float(dtype):
        raise DTypeError(f"{name}: random real numbers need a floating point dtype, not {dtype}.")
    return empty(nonnegative_shape(name, shape), dtype=dtype, device=device)


def integers(
    name: str, low: Any, high: Any, shape: Any, dtype: DTypeLike | None, device: str | None, generator: Any
) -> Array:
    """Return what `randint` returns; errors begin with ``name``, the function that is called."""
    generator = canonical_generator(name, generator)
    low, high = (0, low) if high is None else (low, high)
    low, high = canonical_int(name, "low", low), canonical_int(name, "high", high)
    if low >= high:
        raise ArgumentError(
            f"{name}: there is no integer from {value_text(low)} to {value_text(high)} - 1; high must be above low."
        )
    device = chosen_device(name, device)
    dtype = np.dtype(np.int64) if dtype is None else canonical_dtype(name, dtype, device)
    check_fits(name, numpy_array(name, [low, high - 1]), dtype)
    ends = [low, min(low + 1, high - 1), max(low, high - 2), high - 1]  # a dtype that rounds changes one of a pair
    if [int(x) for x in np.array(ends, np.int64).astype(dtype)] != ends:
        raise OverflowError(f"{name}: dtype {dtype} does not represent every integer from {low} to {high - 1}.")
    numbers = generator.integers(low, high, nonnegative_shape(name, (shape,)), dtype=np.int64)
    return array(numbers, dtype=dtype, device=device)
