"""One executable definition per operator, in the file of its name, or else an entry of a table of Python."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from pynested.spec.function import Function
from pynested.spec.functions import FUNCTIONS
from pynested.spec.pairs import PAIRS, Pair
from pynested.spec.reductions import REDUCTIONS, Reduction
from pynested.spec.runwise import RUNWISE, RunWise

__all__ = ["ENTRIES", "definition"]

ENTRIES: dict[str, Function | Pair | Reduction | RunWise] = {**FUNCTIONS, **PAIRS, **REDUCTIONS, **RUNWISE}


def definition(op: str) -> Callable[..., Any]:
    """Return the executable definition of an operator; a `ModuleNotFoundError` where it has none."""
    if op in ENTRIES:
        return ENTRIES[op].definition
    function: Callable[..., Any] = getattr(import_module(f"pynested.spec.definitions.{op}"), op)
    return function
