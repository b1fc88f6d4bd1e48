"""Joining nested and dense arrays: along the batch, the ragged dimension, a regular one, or a new one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, overload

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.canonical import together
from pynested.autograd.arguments.shapes import canonical_dim, possible_ndim, possible_shape
from pynested.autograd.dispatch import operator
from pynested.autograd.rules import movement as moves
from pynested.autograd.rules.movement import to_dtype
from pynested.backends import strided_index
from pynested.backends.dtypes import promoted
from pynested.backends.errors import ArgumentError, DimensionError, ShapeError, StructureError
from pynested.nested.layout_conversion import (
    as_jagged_view,
    gather_elements,
    packed,
    take_along,
    to_strided,
)
from pynested.nested.nested_array import NestedArray, wrap_unchecked
from pynested.nested.operands import Dense, check_devices
from pynested.nested.shape_comparison import check_same_shape, first_difference, same_shape, shape_text
from pynested.structure import Ints, Jagged, Strided

from .axes import component_dim, unsqueeze


def _listed(name: str, arrays: Any) -> list[Any]:
    """The arrays to join, at least one; one array is not a list of them."""
    if isinstance(arrays, NestedArray | Array | np.ndarray):
        raise ArgumentError(f"{name}: this is one array; give a list: pn.{name}([a, b]).")
    if not isinstance(arrays, Iterable):
        raise ArgumentError(f"{name}: {type(arrays).__name__} is no list of arrays; give one: pn.{name}([a, b]).")
    listed = list(arrays)
    if not listed:
        raise StructureError(f"{name}: there is nothing to join; give at least one array.")
    return listed


def _joined(name: str, arrays: list[Any]) -> list[NestedArray]:
    """Nested arrays of one promoted dtype, rank and device."""
    for i, x in enumerate(arrays):
        if type(x) is not NestedArray:
            raise StructureError(
                f"{name}: array {i} is {type(x).__name__} and others are nested; nest its components first: "
                "pn.as_nested_array(x)."
            )
        if x.ndim != arrays[0].ndim:
            raise StructureError(f"{name}: array {i} has {x.ndim} dimensions and array 0 has {arrays[0].ndim}.")
    check_devices(name, arrays)
    dtype = promoted(*[x.dtype for x in arrays])
    return [x if x.dtype == dtype else wrap_unchecked(to_dtype(x.data, dtype), x.structure) for x in arrays]


def _joined_dense(name: str, arrays: list[Any]) -> list[Array]:
    """Dense arrays of one promoted dtype and device."""
    given = together(name, *arrays)
    dtype = promoted(*[array.dtype for array in given])
    return [to_dtype(array, dtype) for array in given]


@overload
def cat(arrays: Sequence[NestedArray], dim: int = 0) -> NestedArray: ...
@overload
def cat(arrays: Sequence[Dense], dim: int = 0) -> Array: ...
@operator
def cat(arrays: Sequence[Any], dim: int = 0) -> NestedArray | Array:
    """Arrays one after the other along ``dim``: ``(B1, *, D), (B2, *, D) -> (B1 + B2, *, D)`` along the batch.

    Parameters
    ----------
    arrays : sequence of NestedArray, or of Array
        At least one; all nested or all dense, all of one rank.
    dim : int
        0 joins the batches. Along any other dimension component ``i`` of the result is the concatenation of the
        components ``i``; along an irregular one the lengths add up.

    Raises
    ------
    StructureError
        For an empty sequence, dense arrays among nested ones, different ranks, and, but for ``dim`` 0, different
        numbers of components or other sizes that differ: the array, the component and both sizes are named.

    Notes
    -----
    Promoted dtype. Jagged where all are jagged with one ragged dimension (and, along dimension 0, equal regular sizes),
    else strided. What is empty adds nothing. Gradient: each array gets its own piece of the cotangent.

    Clauses: CAT-1 to CAT-8. After `torch.cat`.

    Examples
    --------
    >>> a, b = pn.nested_array([[1, 2], [3]], layout=pn.jagged), pn.nested_array([[4], [5, 6]], layout=pn.jagged)
    >>> pn.cat([a, b], 1).unbind()
    (array([1, 2, 4]), array([3, 5, 6]))
    """
    given = _listed("cat", arrays)
    if not any(type(x) is NestedArray for x in given):
        return _cat_dense(_joined_dense("cat", given), dim)
    joined = _joined("cat", given)
    at = canonical_dim("cat", dim, joined[0].ndim)
    ragged = joined[0].structure.ragged_dim
    if ragged is None or any(x.structure.ragged_dim != ragged for x in joined):
        joined = [packed(to_strided(x)) for x in joined]
        rows = [found for found in map(as_jagged_view, joined) if found is not None]
        if len(rows) == len(joined):
            return to_strided(cat(rows, at))
        return _cat_batch_strided(joined) if not at else _cat_strided(joined, at)
    if not at:
        return _cat_batch_jagged(joined, ragged)
    _check_other_sizes(joined, at)
    tight = [packed(x) for x in joined]
    if at == ragged:
        return _cat_ragged(tight, at)
    return wrap_unchecked(moves.concatenate([x.data for x in tight], at - 1), tight[0].structure)


def _cat_dense(given: list[Array], dim: int) -> Array:
    at = canonical_dim("cat", dim, given[0].ndim)
    first = given[0].shape
    for i, array in enumerate(given):
        if array.ndim != len(first) or array.shape[:at] + array.shape[at + 1 :] != first[:at] + first[at + 1 :]:
            raise ShapeError(
                f"cat: array {i} has shape {array.shape} and array 0 has shape {first}; they may differ only along "
                f"dimension {at}."
            )
    possible_shape("cat", (*first[:at], sum(array.shape[at] for array in given), *first[at + 1 :]))
    result: Array = moves.concatenate(given, at)
    return result


def _check_other_sizes(arrays: Sequence[NestedArray], at: int) -> None:
    """Components may differ along ``at`` only."""
    first = arrays[0]
    if len(first) and all(same_shape(x, first, at) for x in arrays):
        return
    others = [k for k in range(first.ndim - 1) if k != at - 1]
    wanted = first.extents
    for i, x in enumerate(arrays[1:], 1):
        if len(x) != len(first):
            raise StructureError(f"cat: array {i} has {len(x)} components and array 0 has {len(first)}.")
        found = first_difference(x.extents[:, others], wanted[:, others])
        if found:
            c = found[0]
            what = f"component {c} has" if len(x) else "there are no components, but theirs would have"
            raise StructureError(
                f"cat: {what} shape {shape_text(x.extents[c])} in array {i} and {shape_text(wanted[c])} in array 0; "
                f"they may differ only along dimension {at}."
            )
        wanted = np.maximum(wanted, x.extents)  # what is known of no components


def _cat_batch_jagged(arrays: Sequence[NestedArray], ragged: int) -> NestedArray:
    """Jagged again where regular sizes agree; components that differ in two dimensions are strided."""
    tight, at = [packed(x) for x in arrays], ragged - 1
    if any(x.regular != tight[0].regular for x in tight):
        return _cat_batch_strided([to_strided(x) for x in arrays])
    lengths = np.concatenate([x.structure.component_lengths for x in tight])  # type: ignore[union-attr]
    return NestedArray(moves.concatenate([x.data for x in tight], at), Jagged.from_lengths(lengths, at + 1))


def _cat_ragged(arrays: Sequence[NestedArray], at: int) -> NestedArray:
    """Component by component: the rows of all arrays, brought into the order of the components."""
    columns = [x.structure.component_lengths for x in arrays]  # type: ignore[union-attr]
    before = np.cumsum([0, *[x.data.shape[at - 1] for x in arrays[:-1]]])
    starts = np.stack([x.structure.offsets[:-1] + shift for x, shift in zip(arrays, before, strict=True)], axis=1)
    lengths = np.stack(columns, axis=1).reshape(-1)
    rows = strided_index(lengths[:, None], np.ones((lengths.size, 1), np.int64), starts.reshape(-1))
    joined = moves.concatenate([x.data for x in arrays], at - 1)
    return NestedArray(take_along(joined, at - 1, rows), Jagged.from_lengths(np.sum(columns, axis=0), at))


def _cat_batch_strided(arrays: Sequence[NestedArray]) -> NestedArray:
    count = sum(len(x) for x in arrays)
    all_extents = [x.extents for x in arrays if len(x) or not count]
    flat = moves.concatenate([gather_elements(x) for x in arrays], 0)
    return NestedArray(
        flat, Strided.from_extents(np.concatenate(all_extents) if count else _common(all_extents), count)
    )


def _common(all_extents: Sequence[Ints]) -> Ints:
    """The one extents of batches of no components, -1 where they do not have one size in common."""
    rows = np.concatenate(all_extents)
    return np.where((rows == rows[0]).all(axis=0), rows[:1], -1)


def _cat_strided(arrays: Sequence[NestedArray], at: int) -> NestedArray:
    """Each array's elements go to their places in the joined components; the order of places says where each lies."""
    _check_other_sizes(arrays, at)
    k = at - 1
    all_extents = [x.extents for x in arrays]
    extents, columns = np.max(all_extents, axis=0), [one[:, k] for one in all_extents]
    extents[:, k] = np.where(np.min(columns, axis=0) < 0, -1, np.sum(columns, axis=0))
    made = Strided.from_extents(extents, len(arrays[0]))
    strides = made.strides
    places, before = [], np.zeros(made.count, np.int64)
    for x in arrays:
        own = x.component_sizes()
        places.append(strided_index(own, strides, made.offsets + before * strides[:, k]))
        before = before + own[:, k]
    order = np.empty(made.buffer_size, np.int64)
    order[np.concatenate(places)] = np.arange(made.buffer_size)
    return NestedArray(moves.take_rows(moves.concatenate([gather_elements(x) for x in arrays], 0), order), made)


@overload
def stack(arrays: Sequence[NestedArray], dim: int = 0) -> NestedArray: ...
@overload
def stack(arrays: Sequence[Dense], dim: int = 0) -> Array: ...
@operator
def stack(arrays: Sequence[Any], dim: int = 0) -> NestedArray | Array:
    """Arrays of equal shape along a new dimension ``dim``: ``(B, *, D), (B, *, D) -> (B, *, 2, D)``.

    Parameters
    ----------
    arrays : sequence of NestedArray, or of Array
        At least one; all nested or all dense, of equal shape, by value.
    dim : int
        Counted in the shape of the result; 0 is refused for nested arrays.

    Raises
    ------
    StructureError
        For an empty sequence, and for shapes that differ: the component and both sizes are named.
    DimensionError
        For ``dim`` 0 of nested arrays: there is one batch dimension.

    Notes
    -----
    Promoted dtype. Jagged where all are jagged with one ragged dimension, which moves up where the new one stands
    before it; else strided. Gradient: each array gets its own slice of the cotangent.

    Clauses: STACK-1 to STACK-6. After `torch.stack`.

    Examples
    --------
    >>> nt = pn.nested_array([[1, 2], [3]], layout=pn.jagged)
    >>> pn.stack([nt, nt * 10], 2).unbind()
    (array([[ 1, 10],
           [ 2, 20]]), array([[ 3, 30]]))
    """
    given = _listed("stack", arrays)
    if not any(type(x) is NestedArray for x in given):
        return _stack_dense(_joined_dense("stack", given), dim)
    joined = _joined("stack", given)
    at = canonical_dim("stack", dim, joined[0].ndim + 1)
    if not at:
        raise DimensionError(
            "stack: a new dimension before the batch would nest nested arrays; to join batches use pn.cat(arrays, 0)."
        )
    component_dim("stack", at, joined[0].ndim + 1)
    possible_ndim("stack", joined[0].ndim + 1)
    for x in joined[1:]:
        check_same_shape("stack", joined[0], x)
    return cat([unsqueeze(x, at) for x in joined], at)


def _stack_dense(given: list[Array], dim: int) -> Array:
    at = canonical_dim("stack", dim, given[0].ndim + 1)
    for i, array in enumerate(given):
        if array.shape != given[0].shape:
            raise ShapeError(f"stack: array {i} has shape {array.shape} and array 0 has shape {given[0].shape}.")
    possible_shape("stack", (len(given), *given[0].shape))
    return moves.stacked(given, at)
