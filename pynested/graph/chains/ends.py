"""The reductions that may end a chain: those of rows, the last dimension, on the CPU.

The chain makes a number for each row. What an operator does with that, as `mean` divides it, it does itself: it is
asked what it makes of runs that are reduced already.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.rules import movement as moves
from pynested.autograd.rules import reduction as of_axes
from pynested.autograd.rules.movement import to_dtype
from pynested.backends.dtypes import computing_dtype
from pynested.tables.entries import Reduction
from pynested.tables.reductions import REDUCTIONS

from ..forms import Value
from ..nodes import Node
from . import rows
from .operations import Operation


@dataclass(frozen=True, eq=False)
class End:
    """A reduction at the end of a chain.

    Attributes
    ----------
    how : Reduction
        What it does with runs.
    operand : Value
        What it reduces.
    dims : int, tuple or None
        Over which dimensions, as it was said.
    keepdim : bool
        Whether they stay.
    """

    how: Reduction
    operand: Value
    dims: Any
    keepdim: bool

    @property
    def operation(self) -> Operation:
        """What makes a number for each row."""
        return _OPERATIONS[self.how.name]

    def of_rows(self, ndim: int) -> bool:
        """Whether it reduces the last of so many dimensions, and no other."""
        dim = self.dims[0] if type(self.dims) is tuple and len(self.dims) == 1 else self.dims
        return type(dim) is int and dim in (-1, ndim - 1)

    def finished(self, made: Array, shape: tuple[int, ...], dtype: str) -> Array:
        """The result of the operator, of an array of this shape, where the rows have been reduced."""
        result = self.how.of_runs(_Reduced(made, shape[-1]), made)
        if self.keepdim:
            result = moves.reshape(result, (*shape[:-1], 1))
        return to_dtype(result, np.dtype(dtype))


class _Reduced:
    """Runs of which it is known what their reduction gives."""

    def __init__(self, made: Array, length: int) -> None:
        self.made, self.length = made, length

    def sum(self, x: Array) -> Array:
        """What was made."""
        return self.made

    amax = amin = sum

    def count(self, x: Array) -> int:
        """The length of a row."""
        return self.length


def end_of(node: Node) -> End | None:
    """The reduction that a call comes to; None of every other call, and where it has options."""
    how = REDUCTIONS.get(node.name)
    if how is None or how.name not in _OPERATIONS or not node.args or type(node.args[0]) is not Value:
        return None
    return _asked(how, *node.args, **node.kwargs)


def _asked(how: Reduction, self: Value, *dims: Any, **named: Any) -> End | None:
    """By the names of PyTorch, and of NumPy."""
    said = dict(zip(("dim", "keepdim"), dims, strict=False)) | named
    if said.pop("dtype", None) is not None or len(dims) > 2:
        return None
    dim = said.pop("dim", said.pop("axis", None))
    keepdim = said.pop("keepdim", said.pop("keepdims", False))
    return None if said or type(keepdim) is not bool else End(how, self, dim, keepdim)


def _summed(x: Array) -> Array:
    return of_axes.sum_axes(to_dtype(x, computing_dtype(x.dtype)), (x.ndim - 1,))


_SUM = Operation(
    "sum", _summed, lambda k, x: k.over_rows(rows.add, k.cast(x, computing_dtype(x.dtype)), narrow=True),
    (lambda k, g, y, x: k.over_rows(rows.spread, g),),
)  # fmt: skip
_GREATEST, _LEAST = (
    Operation(
        rule.name, lambda x, rule=rule: rule(x, (x.ndim - 1,)),
        lambda k, x, kernel=kernel: k.over_rows(kernel, x, narrow=True),
        (lambda k, g, y, x: k.over_rows(rows.share, g, y, x),),
    )
    for rule, kernel in ((of_axes.amax, rows.greatest), (of_axes.amin, rows.least))
)  # fmt: skip
_OPERATIONS = {"sum": _SUM, "mean": _SUM, "amax": _GREATEST, "amin": _LEAST}
