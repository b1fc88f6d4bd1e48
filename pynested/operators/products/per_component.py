"""How the products of all components are taken: in one call where the matrices tile their buffers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pynested.autograd import Array
from pynested.autograd.rules import linalg as of_matrices
from pynested.autograd.rules import movement as moves
from pynested.backends import Matrices
from pynested.backends.errors import ShapeError, StructureError
from pynested.lifting.along_dim import map_last_dims
from pynested.lifting.mapping import map_components
from pynested.nested.layout_conversion import as_matrices, elements, from_elements
from pynested.nested.nested_array import NestedArray
from pynested.nested.shape_comparison import (
    broadcast_extents,
    first_difference,
    mismatch_message,
    shape_text,
)
from pynested.operators.movement.axes import transpose
from pynested.structure import Ints
from pynested.structure.extents import freeze
from pynested.structure.layout import strided

from .of_dense import multiplied


def _refused(a: Any, b: Any, i: int, text: str) -> StructureError | ShapeError:
    """The error for component ``i`` of nested operands, or where a dense one does not fit it."""
    kind = StructureError if type(a) is type(b) else ShapeError
    where = f"component {i}" if len(a if isinstance(a, NestedArray) else b) else "components, though there are none"
    return kind(f"matmul: at {where}, {text}")


def _check_inner(a: Any, b: Any, left: Ints, right: Ints) -> None:
    """The sizes that are summed over are equal; those of a dense operand are given once for all components."""
    found = first_difference(left[:, None], right[:, None])
    if found:
        i = found[0]
        raise _refused(
            a, b, i,
            f"the last dimension of the left operand has length {left[i % len(left)]} and the dimension of the right "
            f"one that it meets has length {right[i % len(right)]}; they must be equal.",
        )  # fmt: skip


def nested_nested(a: NestedArray, b: NestedArray) -> NestedArray | Array:
    """Component ``i`` times component ``i``."""
    count = a.structure.count
    if count != b.structure.count:
        raise StructureError(mismatch_message("matmul", a, b))
    s, t = a.extents, b.extents
    dims = s.shape[1]
    if dims != t.shape[1] or (dims > 2 and first_difference(s[:, :-2], t[:, :-2])):
        return _by_components(a, b)
    if (s[:, -1] != t[:, -2]).any():
        _check_inner(a, b, s[:, -1], t[:, -2])
    left, left_values = as_matrices(a)
    right, right_values = as_matrices(b)
    product = of_matrices.matmul_components(left_values, right_values, left, right)
    extents = np.maximum(s, t) if dims > 2 else np.empty_like(s)
    extents[:, -2], extents[:, -1] = s[:, -2], t[:, -1]
    return _from_packed(product, freeze(extents), count, _ragged_of_product(a, b))


def _by_components(a: Any, b: Any) -> NestedArray | Array:
    """Ranks that differ, vectors, and leading dims that broadcast: one dense product for each component."""
    extents = _outline_of_product(a, b)
    nested = a if isinstance(a, NestedArray) else b
    if len(nested):
        flat = elements(map_components(multiplied, a, b, layout=strided))  # type: ignore[arg-type]
    else:
        values = [x.data if isinstance(x, NestedArray) else x for x in (a, b)]
        flat = moves.concatenate([moves.reshape(x, (x.numel(),))[:0] for x in values], 0)
    return _from_packed(flat, extents, len(nested), _ragged_of_product(a, b))


def _outline_of_product(a: Any, b: Any) -> Ints:
    """The extents of products that are taken one by one; dimensions before the last two are equal, or regular and 1."""
    (s, s_sizes), (t, t_sizes) = _as_component(a, b), _as_component(b, a)
    _check_inner(a, b, s[:, -1], t[:, -2:][:, 0])
    dims = max(s.shape[1], t.shape[1], 2) - 2
    before = [_leading(s, s_sizes, dims), _leading(t, t_sizes, dims)]
    leading, all_meet = broadcast_extents(before)
    if not all_meet:
        (u, u_free), (v, v_free) = before
        found = first_difference(np.where(u_free | v_free, -1, u), v)
        i = 0 if found is None else found[0]
        raise _refused(
            a, b, i,
            f"there is no product of shapes {shape_text(s[i % len(s)])} and {shape_text(t[i % len(t)])}: dimensions "
            "before the last two must be equal, or regular and 1.",
        )  # fmt: skip
    rows, cols = s[:, -2:-1], t[:, -1:] if t.shape[1] > 1 else t[:, :0]
    count = len(leading)
    return np.concatenate([np.broadcast_to(x, (count, x.shape[1])) for x in (leading, rows, cols)], axis=1)


def _as_component(x: Any, other: Any) -> tuple[Ints, tuple[int | None, ...]]:
    """The extents and the regular sizes of what each component of a product takes from ``x``."""
    if isinstance(x, NestedArray):
        return x.extents, x.regular
    shape = x.shape[1:] if x.ndim == other.ndim else x.shape
    return np.array([shape], np.int64), shape


def _leading(extents: Ints, regular: tuple[int | None, ...], dims: int) -> tuple[Ints, NDArray[np.bool_]]:
    """The sizes before the last two, aligned at the right in ``dims`` columns, and which of them may stretch."""
    own = extents[:, :-2]
    added = dims - own.shape[1]
    free = [True] * added + [size == 1 for size in regular[:-2]]
    return np.concatenate([np.ones((len(own), added), np.int64), own], axis=1), np.array(free, np.bool_)


def _ragged_of_product(a: Any, b: Any) -> Any:
    """The ragged dimension of a jagged product, ``dense`` if none is left, None for a strided result."""
    m, n = a.ndim, b.ndim
    rank = max(m if type(a) is NestedArray else 0, n if type(b) is NestedArray else 0)
    found = set()
    for x, ndim, summed in ((a, m, m - 1), (b, n, n - 2)):
        r = x.structure.ragged_dim if type(x) is NestedArray else summed
        if r is None:
            return None
        if r != summed:
            found.add(r + rank - ndim - (m == 1 and r > summed))  # a row vector leaves no dimension behind
    if len(found) == 2:
        return None
    return found.pop() if found else "dense"


def _from_packed(flat: Array, extents: Ints, count: int, ragged: Any) -> NestedArray | Array:
    """A packed flat product in the layout it goes into."""
    if ragged == "dense":
        return moves.reshape(flat, (count, *np.maximum(extents[0], 0).tolist()))
    return from_elements(flat, extents, count, ragged)


def nested_dense(a: NestedArray, b: Array) -> NestedArray | Array:
    """A dense right operand, for all components or a slice for each."""
    if b.ndim not in (1, 2):
        return _nested_batch(a, b)
    _check_inner(a, b, a.extents[:, -1], np.array(b.shape[:1]))
    if a.structure.ragged_dim == a.ndim - 1:
        return _by_components(a, b)
    return map_last_dims(a, b.shape[:1], lambda values: multiplied(values, b))


def _nested_batch(a: NestedArray, b: Array) -> NestedArray | Array:
    """A dense right operand with as many dimensions as the nested one: component ``i`` meets ``b[i]``."""
    if b.ndim != 3 or a.ndim != 3 or b.shape[0] not in (1, len(a)):
        if b.ndim == a.ndim and b.shape[0] not in (1, len(a)):
            raise ShapeError(
                f"matmul: a dense operand of shape {b.shape} has no slice for each of {len(a)} components."
            )
        return _by_components(a, b)
    if b.shape[0] == 1 != len(a):
        return nested_dense(a, moves.reshape(b, b.shape[1:]))
    _check_inner(a, b, a.extents[:, -1], np.array(b.shape[1:2]))
    left, values = as_matrices(a)
    product = of_matrices.matmul_components(values, b, left, _slices(b))
    rows = a.extents[:, :1]
    extents = np.concatenate([rows, np.full((len(rows), 1), b.shape[2])], axis=1)
    return _from_packed(product, extents, len(a), _ragged_of_product(a, b))


def _slices(b: Array) -> Matrices:
    count, rows, cols = b.shape
    return Matrices.of_sizes(np.full(count, rows), np.full(count, cols))


def dense_nested(a: Array, b: NestedArray) -> NestedArray | Array:
    """A dense left operand, for all components or a slice for each."""
    if b.ndim == 3 and a.ndim == 2:
        _check_inner(a, b, np.array(a.shape[1:]), b.extents[:, 0])
        product = nested_dense(transpose(b, 1, 2), of_matrices.swapped(a))
        turned = transpose(product, 1, 2) if isinstance(product, NestedArray) else of_matrices.swapped(product)
        return turned.contiguous()
    if b.ndim == 3 and a.ndim == 3 and a.shape[0] == len(b):
        _check_inner(a, b, np.array(a.shape[2:]), b.extents[:, 0])
        right, values = as_matrices(b)
        product = of_matrices.matmul_components(a, values, _slices(a), right)
        cols = b.extents[:, 1:]
        extents = np.concatenate([np.full((len(cols), 1), a.shape[1]), cols], axis=1)
        return _from_packed(product, extents, len(b), _ragged_of_product(a, b))
    if a.ndim == b.ndim and a.shape[0] not in (1, len(b)):
        raise ShapeError(f"matmul: a dense operand of shape {a.shape} has no slice for each of {len(b)} components.")
    return _by_components(a, b)
