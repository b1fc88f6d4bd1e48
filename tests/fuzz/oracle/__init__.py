"""What the specification says of one call: refused with which errors, or what comes out.

A rule takes what the caller wrote, makes the arguments canonical, raises `Refused` by the error clauses, and hands
the rest to the executable definition. It knows no target, no memory and no placement.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pynested.spec.functions import FUNCTIONS
from pynested.spec.pairs import PAIRS

from . import attention, conversion, elementwise, indexing, movement, products, runs
from .values import DTYPES, TABLE, Answer, Nest, Refused, Silent, dense, first_nest, flat, nests

RULES: dict[str, Callable[..., Answer]] = {
    **elementwise.RULES,
    **runs.RULES,
    **products.RULES,
    **movement.RULES,
    **indexing.RULES,
    **conversion.RULES,
    **attention.RULES,
}

__all__ = [
    "DTYPES",
    "FUNCTIONS",
    "PAIRS",
    "RULES",
    "TABLE",
    "Answer",
    "Nest",
    "Refused",
    "Silent",
    "ask",
    "dense",
    "first_nest",
    "flat",
    "nests",
]


def ask(op: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Answer:
    """What the specification says of the call; `Refused` where it refuses, `Silent` where it says nothing."""
    with np.errstate(all="ignore"):
        return RULES[op](*args, **kwargs)
