"""Comparisons, and selection by a condition, on nested and dense arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.autograd import dense
from pynested.autograd.array import raw
from pynested.autograd.dense.canonical import as_array
from pynested.autograd.dense.comparison import filled_where
from pynested.backends.errors import ShapeError, StructureError
from pynested.mapping import check_devices, elementwise
from pynested.nested_array import NestedArray
from pynested.packing import packed, same_shape, to_strided
from pynested.structure import Jagged


def logical_not(self: Any) -> Any:
    """Where an element is zero."""
    return elementwise("logical_not", dense.logical_not, self) if type(self) is NestedArray else dense.logical_not(self)


def eq(self: Any, other: Any) -> Any:
    """Where the operands are equal."""
    if type(self) is NestedArray or type(other) is NestedArray:
        return elementwise("eq", dense.eq, self, other)
    return dense.eq(self, other)


def ne(self: Any, other: Any) -> Any:
    """Where the operands differ."""
    if type(self) is NestedArray or type(other) is NestedArray:
        return elementwise("ne", dense.ne, self, other)
    return dense.ne(self, other)


def lt(self: Any, other: Any) -> Any:
    """Where ``self`` is less than ``other``."""
    if type(self) is NestedArray or type(other) is NestedArray:
        return elementwise("lt", dense.lt, self, other)
    return dense.lt(self, other)


def equal(self: Any, other: Any) -> bool:
    """Whether shapes are equal and every element equals its counterpart."""
    if type(self) is not NestedArray and type(other) is not NestedArray:
        return dense.equal(self, other)
    a = self if type(self) is NestedArray else as_array("equal", self)
    b = other if type(other) is NestedArray else as_array("equal", other)
    check_devices("equal", (a, b))
    if type(a) is NestedArray and type(b) is NestedArray:
        return same_shape(a, b) and bool((_flat(a) == _flat(b)).all())
    nested, whole = (a, b) if type(a) is NestedArray else (b, a)
    sizes = nested.component_sizes()
    if len(nested) != (whole.shape[0] if whole.ndim else -1) or nested.ndim != whole.ndim:
        return False
    return bool((sizes == np.array(whole.shape[1:])).all()) and bool((_flat(nested) == whole.data.reshape(-1)).all())


def _flat(x: NestedArray) -> Any:
    """The elements, component by component, each row-major, without history."""
    plain = NestedArray(x.data.detach(), x.structure)
    tight = packed(plain)
    if isinstance(tight.structure, Jagged) and tight.structure.ragged_dim == 1:
        return tight.data.data.reshape(-1)
    from pynested.packing import gathered

    return raw(gathered(to_strided(tight)))


def where(condition: Any, self: Any, other: Any) -> Any:
    """``self`` where ``condition`` holds, ``other`` elsewhere."""
    if NestedArray in (type(condition), type(self), type(other)):
        return elementwise("where", dense.where, condition, self, other)
    return dense.where(condition, self, other)


def masked_fill(self: Any, mask: Any, value: Any) -> Any:
    """``self`` with ``value`` where ``mask`` holds."""
    if type(self) is not NestedArray:
        if type(mask) is NestedArray:
            raise StructureError("masked_fill: a nested mask fills a nested array, this one is dense. Nest it first.")
        return dense.masked_fill(self, mask, value)
    filled = elementwise("masked_fill", lambda x, hidden: filled_where(x, hidden, value), self, mask)
    if not same_shape(filled, self):
        kind = StructureError if type(mask) is NestedArray else ShapeError
        raise kind(f"masked_fill: a mask of shape {mask.shape} would enlarge an array of shape {self.shape}.")
    return filled
