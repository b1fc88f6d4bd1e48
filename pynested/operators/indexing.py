"""Indexing nested arrays: every dimension by integers, slices, ``...`` and None; the batch by lists; all by masks."""

from __future__ import annotations

from typing import Any, overload

from pynested.autograd import Array
from pynested.autograd.arguments.canonical import as_array
from pynested.autograd.dispatch import operator
from pynested.backends.errors import ArgumentError, DimensionError
from pynested.nested.component_views import select_components, slice_dim
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import Dense, Index, Operand

from .choosing import chosen_of, components_at
from .dense_indexing import of_dense
from .index_arrays import checked, entry_array, filled, first_entry, has_arrays, is_array, is_place, places, span
from .movement import select, unsqueeze


@overload
def getitem(self: Dense, index: Index) -> Array: ...
@overload
def getitem(self: NestedArray, index: Index) -> NestedArray | Array: ...
@operator
def getitem(self: Operand, index: Index) -> NestedArray | Array:
    """``self[index]``: the first entry picks components, the others index each: ``(B, *, D) -> (B, *)``, say.

    Parameters
    ----------
    self : NestedArray or Array
        Of any dtype.
    index : int, slice, ``...``, None, a list or an array, or a tuple of them; or a nested mask
        First an integer, which gives one component as a dense array, or a slice, a list or a vector of integers, or one
        of a bool for each component, which give the components that they name. Then each component is indexed as NumPy
        does; a slice, of any step but 0, is clamped to each on its own. None, after the first entry, makes a dimension
        of size 1; ``...`` stands for the full slices that are missing. A nested mask gives ``component[mask]``.

    Raises
    ------
    IndexOutOfRange
        For an integer outside the batch, or outside some component, which is named; a mask of another size.
    DimensionError
        For more entries than dimensions, a second ``...``, and None in front of the batch.
    StructureError
        For a nested mask whose components do not have the first sizes of those of ``self``; one is named.
    ArgumentError
        For a bool, a float or any other entry, a slice of step 0, and a list behind an entry that keeps the batch.

    Notes
    -----
    An integer along the ragged dimension of a jagged array gives a dense array, as `select` does; what keeps the batch
    keeps the layout otherwise, but for a mask that leaves a ragged dimension behind the chosen elements: strided. A
    slice that names nothing gives empty components. Of a dense array, and of the one component that an integer leaves,
    any entries may be lists or arrays, which broadcast and pick together, as in NumPy: ``x[rows, :, columns]``. Where
    NumPy and PyTorch order the dimensions of the result differently, such an index is refused. A mask without
    dimensions, as first entry, makes a first dimension of size 1 or 0. Gradient: the cotangent goes to what was picked,
    added up where that was picked twice, all other elements get +0.

    The result is a view, into which a write is seen in ``self``, except in four cases, which are copies: by a list, an
    array or a mask, along the ragged dimension of a jagged array an integer, or a slice whose step is not 1, and of a
    strided array a slice of negative step behind the batch. Assignment, ``self[index] = value``, writes into ``self``
    in all cases.

    Clauses: GETITEM-1 to GETITEM-19. After `torch.Tensor.__getitem__`.

    Examples
    --------
    >>> nt = pn.nested_array([[1, 2, 3], [4]], layout=pn.jagged)
    >>> nt[:, -2:].unbind()
    (array([2, 3]), array([4]))
    >>> nt[:, 0]
    array([1, 4])
    >>> nt[[1, 0, 0]].unbind()
    (array([4]), array([1, 2, 3]), array([1, 2, 3]))
    >>> nt[nt > 1].unbind()
    (array([2, 3]), array([4]))
    """
    if type(self) is not NestedArray:
        if type(index) is int and type(self) is Array and _is_row(self, index):
            return select(self, 0, index)
        return of_dense(as_array("index", self), index)
    first = first_entry(index)
    if not is_array(first):
        if type(index) is tuple and is_place(first) and has_arrays(index[1:]):
            component: Any = select(self, 0, first)
            return of_dense(component, index[1:])
        return _indexed(self, index)
    if type(first) is NestedArray:
        if type(index) is tuple:
            raise ArgumentError("index: a nested mask stands alone; index what it gives: x[mask][:, 1:].")
        return chosen_of(self, first)
    rest = tuple(_expanded((slice(None), *index[1:]), self.ndim)) if isinstance(index, tuple) else ()
    chosen = components_at(self, places("a batch of components", entry_array(first, self.data), len(self)))
    return _indexed(chosen, rest) if rest else chosen


def _is_row(x: Array, index: int) -> bool:
    shape = x.data.shape
    return bool(shape) and -shape[0] <= index < shape[0]


def _indexed(x: NestedArray, index: Any) -> NestedArray | Array:
    """By integers, slices, ``...`` and None."""
    result: NestedArray | Array = x
    dim = 0
    for item in _expanded(index, x.ndim):
        if isinstance(result, Array):
            result, dim = _in_dense(result, item, dim)
        elif item is None:
            result, dim = _new_dimension(result, dim), dim + 1
        elif isinstance(item, slice):
            result = slice_dim(result, dim, item) if dim else select_components(result, item)
            dim += 1
        else:
            result = select(result, dim, item)
    return result


def _expanded(index: Any, ndim: int) -> list[Any]:
    """The items of ``index``, checked, with ``...`` as the slices it stands for."""
    items = checked(index)
    named = sum(map(span, items))
    if named > ndim:
        raise DimensionError(f"index: {named} indices are too many for a nested array of {ndim} dimensions.")
    dots = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise DimensionError("index: an index can hold one ellipsis (...) only.")
    return filled(items, ndim)


def _new_dimension(x: NestedArray, dim: int) -> NestedArray:
    if not dim:
        raise DimensionError(
            "index: None before the batch dimension would make the batch a component; put it behind: x[:, None]."
        )
    return unsqueeze(x, dim)


def _in_dense(x: Array, item: Any, dim: int) -> tuple[Array, int]:
    """One item of the index, once an integer has left a dense array."""
    before = (slice(None),) * dim
    return of_dense(x, (*before, item)), dim + (item is None or isinstance(item, slice))
