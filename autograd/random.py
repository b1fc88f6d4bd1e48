"""The generator of random numbers: one by default, or one of your own.

A generator is a `numpy.random.Generator`; ``manual_seed`` restarts the default one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.backends.errors import ArgumentError


class _Default:
    """The generator that is used where none is given."""

    generator = np.random.default_rng()


def manual_seed(seed: int) -> np.random.Generator:
    """Restart the default generator from ``seed``, and return it; ArgumentError for other than an integer from 0.

    Examples
    --------
    >>> a, b = [(pn.manual_seed(7), pn.rand(3))[1] for _ in range(2)]
    >>> pn.equal(a, b)
    True
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ArgumentError(f"manual_seed: the seed must be an integer of 0 or more, not {seed!r}.")
    _Default.generator = np.random.default_rng(seed)
    return _Default.generator


def get_state() -> Any:
    """The state of the default generator."""
    return _Default.generator.bit_generator.state


def set_state(past: Any) -> None:
    """Put the default generator back into a state that it was in."""
    _Default.generator.bit_generator.state = past


def default(generator: Any = None) -> np.random.Generator:
    """``generator`` if it is one, else the default one."""
    if generator is None:
        return _Default.generator
    if not isinstance(generator, np.random.Generator):
        raise ArgumentError(
            f"generator: {type(generator).__name__} is not a numpy.random.Generator. "
            "Make one with numpy.random.default_rng(seed)."
        )
    return generator
