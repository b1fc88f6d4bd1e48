"""The entries of `pynested.autograd.rules.functions` on nested and dense arrays; `smooth.pyi` lists them."""

from __future__ import annotations

from collections.abc import Callable

from pynested.autograd.rules.functions import FUNCTIONS, Function
from pynested.components.mapping import unary
from pynested.nested.operands import Kind

from .operands import BOOLS, taking

__all__ = list(FUNCTIONS)


def _function(entry: Function) -> Callable[[Kind], Kind]:
    def function(self: Kind) -> Kind:
        return unary(name, of_dense, self)

    name = entry.name
    of_dense = taking(name, entry.computed, BOOLS if entry.dtypes in ("wrap", "stay") else "")
    function.__name__ = function.__qualname__ = name
    function.__doc__ = entry.documentation
    return function


globals().update((name, _function(entry)) for name, entry in FUNCTIONS.items())
