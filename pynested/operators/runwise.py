"""Operators on nested and dense arrays that keep the shape and work run by run along one dimension.

They are the entries of `pynested.tables.runwise`; `runwise.pyi` lists them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.rules.movement import to_dtype
from pynested.components.runs import along
from pynested.nested.array import NestedArray, around
from pynested.nested.operands import Kind
from pynested.tables.entries import RunWise
from pynested.tables.functions import function
from pynested.tables.runwise import RUNWISE

__all__ = list(RUNWISE)


def _over(entry: RunWise, self: Kind, dim: Any, dtype: Any) -> NestedArray | Array:
    """``self``, dense or nested, along ``dim``."""
    if not isinstance(self, NestedArray):
        return entry(self, dim, dtype)
    data, kind = entry.takes(entry.name, self.data, dtype)
    x = self if data is self.data else around(data, self.structure)
    result = along(entry.name, x, dim, entry.over_runs, entry.over_axis)
    return result if result.data.dtype == kind else around(to_dtype(result.data, kind), result.structure)


_TYPES = {"self": "Kind", "dtype": "DType | None", "return": "Kind"}

globals().update((name, function(entry, _over, __name__, _TYPES)) for name, entry in RUNWISE.items())


def _numpys(name: str) -> Callable[..., Any]:
    own = globals()[name]

    def call(a: Any, axis: Any, dtype: Any = None) -> Any:
        return own(a, axis, dtype=dtype)

    return call


NUMPY = {getattr(np, name): _numpys(name) for name in RUNWISE if hasattr(np, name)}
