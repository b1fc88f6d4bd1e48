"""The entries of `pynested.autograd.rules.functions` on nested and dense arrays; `smooth.pyi` lists them."""

from __future__ import annotations

from collections.abc import Callable

from pynested.autograd import dense
from pynested.autograd.rules.functions import FUNCTIONS
from pynested.components.mapping import unary
from pynested.nested.operands import Kind

__all__ = list(FUNCTIONS)


def _function(name: str) -> Callable[[Kind], Kind]:
    def function(self: Kind) -> Kind:
        return unary(name, of_dense, self)

    of_dense = getattr(dense, name)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = of_dense.__doc__
    return function


globals().update((name, _function(name)) for name in FUNCTIONS)
