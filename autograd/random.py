"""The generator of random numbers: the default one, or one of your own.

A generator is a `numpy.random.Generator`. Every thread has a default stream to itself, so no number is handed out
twice and nobody waits. A thread that has not called `manual_seed` has a stream that was spawned from the last seed that
any thread gave; a forked process never goes on with the streams of its parent, but with one spawned for it.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from pynested.backends.errors import ArgumentError

from .dispatch import operator

OURS = 2**32 - 1  # the number under which streams are spawned: one that nobody reaches who spawns from a seed himself


class _Seed:
    """What streams are spawned from, each with the next number; a count needs no lock."""

    def __init__(self, sequence: Any) -> None:
        self.sequence = sequence
        self.numbers = itertools.count()

    def spawned(self) -> np.random.SeedSequence:
        """The seed of the next stream."""
        key = (*self.sequence.spawn_key, OURS, next(self.numbers))
        return np.random.SeedSequence(self.sequence.entropy, spawn_key=key)


class _Thread(threading.local):
    """The default stream of the current thread.

    Attributes
    ----------
    generator : Generator or None
        None until the thread first draws.
    seed : _Seed or None
        What the stream was spawned from; None where it was chosen for this thread, which then keeps it.
    again : bool
        Whether it draws what was drawn before, in `drawn_again`.
    child : SeedSequence
        For the process that is being forked.
    """

    generator: np.random.Generator | None = None
    seed: _Seed | None = None
    again = False
    child: np.random.SeedSequence


_thread = _Thread()
_last_seed = _Seed(np.random.SeedSequence())


@operator
def manual_seed(seed: int) -> np.random.Generator:
    """Restart the default generator of this thread from ``seed``, and return it.

    All other threads that have not been seeded go on with streams spawned from the seed, in the order in which they
    next draw. ArgumentError for other than an integer from 0. Clauses: RANDOM-5 to RANDOM-7.

    Examples
    --------
    >>> a, b = [(pn.manual_seed(7), pn.rand(3))[1] for _ in range(2)]
    >>> pn.equal(a, b)
    True
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ArgumentError(f"manual_seed: the seed must be an integer of 0 or more, not {seed!r}.")
    global _last_seed
    generator = np.random.default_rng(seed)
    _thread.generator, _thread.seed = generator, None
    if not _thread.again:
        _last_seed = _Seed(generator.bit_generator.seed_seq)
    return generator


def default(generator: Any = None) -> np.random.Generator:
    """``generator`` if it is one; for None the default one of this thread."""
    if generator is None:
        return _default()
    if not isinstance(generator, np.random.Generator):
        raise ArgumentError(
            f"generator: {type(generator).__name__} is not a numpy.random.Generator. "
            "Make one with numpy.random.default_rng(seed)."
        )
    return generator


def _default() -> np.random.Generator:
    generator, seed = _thread.generator, _last_seed
    if generator is None or (_thread.seed is not None and _thread.seed is not seed):
        generator = np.random.default_rng(seed.spawned())
        _thread.generator, _thread.seed = generator, seed
    return generator


def get_state() -> Any:
    """The state of this thread's default stream, for `drawn_again`."""
    return _default().bit_generator.state


@contextmanager
def drawn_again(state: Any) -> Iterator[None]:
    """Inside, this thread draws what was drawn after ``state``; its own stream waits, and no other one is touched."""
    own = _thread.generator, _thread.seed, _thread.again
    bits = np.random.PCG64(0)
    bits.state = state
    _thread.generator, _thread.seed, _thread.again = np.random.Generator(bits), None, True
    try:
        yield
    finally:
        _thread.generator, _thread.seed, _thread.again = own


def _before_fork() -> None:
    _thread.child = _last_seed.spawned()


def _in_child() -> None:
    global _last_seed
    _last_seed = _Seed(_thread.child)
    _thread.generator = _thread.seed = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_in_child)
