"""Functions of one element: the entries of `pynested.autograd.rules.functions`; `functions.pyi` lists them.

What holds for every operator here:

Each element of ``self``, a nested array or a dense one, is replaced by its function value: ``(B, *, D) -> (B, *, D)``,
in the same shape and layout. A nested result is packed. An empty component stays empty, and so does a batch of no
components. Where a function says that integers become floats: bool, int8 and uint8 give float16, int16 gives float32,
int32 and int64 give float64. float16 is computed in float32 and rounded once. Nothing warns. Gradients are the
cotangent ``g`` times what is said.
"""

from __future__ import annotations

from collections.abc import Callable

from pynested.autograd.rules.functions import FUNCTIONS, Function
from pynested.nested.operands import Kind

from .operands import BOOLS, taking

__all__ = list(FUNCTIONS)


def _function(entry: Function) -> Callable[[Kind], Kind]:
    def function(self: Kind) -> Kind:
        return taken(self)

    name = entry.name
    taken = taking(name, entry.computed, BOOLS if entry.dtypes in ("wrap", "stay") else "")
    function.__name__ = function.__qualname__ = name
    function.__doc__ = entry.documentation
    return function


globals().update((name, _function(entry)) for name, entry in FUNCTIONS.items())
