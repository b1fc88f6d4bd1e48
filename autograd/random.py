"""The default stream of random numbers, one for each thread, and `manual_seed`.

A stream is a `numpy.random.Generator`. A thread that has not called `manual_seed` begins with a seed from the operating
system, and so does a forked process.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from pynested.backends.errors import ArgumentError

from .dispatch import operator


class _Thread(threading.local):
    """The default stream of the current thread."""

    def __init__(self) -> None:
        self.generator = np.random.default_rng()


_thread = _Thread()


@operator
def manual_seed(seed: int) -> np.random.Generator:
    """Restart the default generator of this thread from ``seed``, and return it.

    Other threads keep their generators. ArgumentError for other than an integer from 0. Clauses: RANDOM-5 to RANDOM-7.

    Examples
    --------
    >>> a, b = [(pn.manual_seed(7), pn.rand(3))[1] for _ in range(2)]
    >>> pn.equal(a, b)
    True
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ArgumentError(f"manual_seed: the seed must be an integer of 0 or more, not {seed!r}.")
    _thread.generator = np.random.default_rng(seed)
    return _thread.generator


def default(generator: Any = None) -> np.random.Generator:
    """Return ``generator``, or the default one of this thread for None."""
    if generator is None:
        return _thread.generator
    if not isinstance(generator, np.random.Generator):
        raise ArgumentError(
            f"generator: {type(generator).__name__} is not a numpy.random.Generator. "
            "Make one with numpy.random.default_rng(seed)."
        )
    return generator


def get_state() -> Any:
    """Return the state of this thread's default stream, for `drawn_again`."""
    return _thread.generator.bit_generator.state


@contextmanager
def drawn_again(state: Any) -> Iterator[None]:
    """Let this thread draw inside the block what it drew after ``state``; its own stream waits."""
    before, bits = _thread.generator, np.random.PCG64(0)
    bits.state = state
    _thread.generator = np.random.Generator(bits)
    try:
        yield
    finally:
        _thread.generator = before


def _begin_anew() -> None:
    """Give a forked process numbers that its parent does not draw."""
    _thread.generator = np.random.default_rng()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
