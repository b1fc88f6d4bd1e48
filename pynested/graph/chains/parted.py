"""`Parted`: what is made of dense arrays alone, and then a chain of nested ones, where both write lines of the tape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pynested.autograd.array_methods import ArrayMethods as AnyArray
from pynested.autograd.tape import state
from pynested.nested.array import NestedArray

from ..forms import Value
from ..nodes import Node
from ..replay import runner
from .chain import met_twice


class Parted:
    """The operators of ``nodes`` as ``parts``: those of dense arrays come before those of nested ones.

    The lines of the tape are in another order then, and so gradients arrive in another order. A call looks whether two
    operands send theirs to one place, where this could be seen; if so, it calls the operators as they stood.
    """

    def __init__(
        self, nodes: Sequence[Node], parts: Sequence[Node], inputs: Sequence[Value], outputs: Sequence[Value]
    ) -> None:
        self.one_by_one = runner(inputs, nodes, tuple(outputs))
        self.parted = runner(inputs, parts, tuple(outputs))

    def __call__(self, *operands: Any) -> Any:
        """One result, or a tuple of them."""
        arrays = [x._buffer if isinstance(x, NestedArray) else x for x in operands if isinstance(x, AnyArray)]
        run = self.one_by_one if state.mode and met_twice(arrays) else self.parted
        results = run(*operands)
        return results if len(results) > 1 else results[0]
