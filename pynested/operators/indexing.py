"""Indexing nested arrays by integers, slices, ``...`` and None, on every dimension."""

from __future__ import annotations

from typing import Any

from pynested.autograd import Array, dense
from pynested.autograd.dense.canonical import canonical_int
from pynested.backends.errors import ArgumentError, DimensionError
from pynested.nested_array import NestedArray
from pynested.operators.movement import select, unsqueeze

from .slicing import batch_slice, slice_dim


def getitem(self: Any, index: Any) -> Any:
    """``self[index]``."""
    if type(self) is not NestedArray:
        return dense.getitem(self, index)
    result: Any = self
    dim = 0
    for item in _expanded(index, self.ndim):
        if type(result) is Array:
            result, dim = _in_dense(result, item, dim)
        elif item is None:
            result, dim = _new_dimension(result, dim), dim + 1
        elif isinstance(item, slice):
            result = batch_slice(result, item) if not dim else slice_dim(result, dim, item)
            dim += 1
        else:
            result = select(result, dim, item)
    return result


def _expanded(index: Any, ndim: int) -> list[Any]:
    """The items of ``index``, checked, with ``...`` as the slices it stands for."""
    items = list(index) if isinstance(index, tuple) else [index]
    for i, item in enumerate(items):
        if item is not None and item is not Ellipsis and not isinstance(item, slice):
            items[i] = canonical_int("index", "an index", item)
        if isinstance(item, slice) and item.step == 0:
            raise ArgumentError("index: a slice cannot have step 0.")
    named = len([item for item in items if item is not None and item is not Ellipsis])
    if named > ndim:
        raise DimensionError(f"index: {named} indices are too many for a nested array of {ndim} dimensions.")
    dots = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise DimensionError("index: an index can hold one ellipsis (...) only.")
    fill = [slice(None)] * (ndim - named)
    return items[: dots[0]] + fill + items[dots[0] + 1 :] if dots else items


def _new_dimension(x: NestedArray, dim: int) -> NestedArray:
    if not dim:
        raise DimensionError(
            "index: None before the batch dimension would make the batch a component; put it behind: x[:, None]."
        )
    return unsqueeze(x, dim)  # type: ignore[no-any-return]


def _in_dense(x: Array, item: Any, dim: int) -> tuple[Array, int]:
    """One item of the index, once an integer has left a dense array."""
    before = (slice(None),) * dim
    return dense.getitem(x, (*before, item)), dim + (item is None or isinstance(item, slice))
