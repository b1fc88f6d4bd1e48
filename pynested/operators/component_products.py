"""How the products of all components are taken: in one call where the matrices tile their buffers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pynested.autograd import Array, dense
from pynested.autograd.rules import linalg as rules
from pynested.autograd.rules import movement as moves
from pynested.backends import Matrices
from pynested.backends.errors import ShapeError, StructureError
from pynested.layouts import jagged, strided
from pynested.mapping import map_components
from pynested.nested_array import NestedArray
from pynested.packing import as_dense, describe, difference, gathered, packed, to_jagged, to_strided
from pynested.structure import Ints, Jagged, Strided, frozen


def _check_inner(a: Any, b: Any, left: Ints, right: Ints) -> None:
    wrong = np.flatnonzero(left != right)
    if wrong.size:
        i = int(wrong[0])
        kind = StructureError if type(a) is type(b) else ShapeError
        raise kind(
            f"matmul: at component {i} the last dimension of the left operand has length {left[i]} and the dimension "
            f"of the right one that it meets has length {right[i]}; they must be equal."
        )


def nested_nested(a: NestedArray, b: NestedArray) -> NestedArray | Array:
    """Component ``i`` times component ``i``."""
    if len(a) != len(b):
        raise StructureError(difference("matmul", a, b))
    if a.ndim != b.ndim:
        return _by_components(a, b)
    _check_inner(a, b, a.lengths_along(a.ndim - 1), b.lengths_along(b.ndim - 2))
    s, t = a.component_sizes(), b.component_sizes()
    if not np.array_equal(s[:, :-2], t[:, :-2]):
        return _by_components(a, b)
    left, left_flat = _matrices(a)
    right, right_flat = _matrices(b)
    flat = rules.matmul_components(left_flat, right_flat, left, right)
    sizes = np.concatenate([s[:, :-1], t[:, -1:]], axis=1)
    return _from_packed(flat, sizes, _ragged_of_product(a, b), (*_known(a)[:-1], _known(b)[-1]))


def _known(x: NestedArray) -> list[int]:
    """The sizes of components as far as they are known without any: 0 where they are irregular."""
    return [x.regular_size(dim) or 0 for dim in range(1, x.ndim)]


def _by_components(a: Any, b: Any) -> NestedArray | Array:
    """Ranks that differ, vectors, and leading dims that broadcast: one dense product for each component."""
    for i, (x, y) in enumerate(zip(_shapes(a, b), _shapes(b, a), strict=True)):
        try:
            np.matmul(np.empty(x, np.bool_), np.empty(y, np.bool_))
        except ValueError:
            kind = StructureError if type(a) is type(b) else ShapeError
            raise kind(f"matmul: component {i} has no product: shapes {describe(x)} and {describe(y)}.") from None
    ragged = _ragged_of_product(a, b)
    result = map_components(dense.matmul, a, b, layout=strided if ragged is None or ragged == "dense" else jagged)
    return as_dense("matmul", result) if ragged == "dense" and isinstance(result, NestedArray) else result


def _shapes(x: Any, other: Any) -> list[tuple[int, ...]]:
    """The shape that each component of a product takes from ``x``."""
    if type(x) is NestedArray:
        return [x.component_shape(i) for i in range(len(x))]
    return [x.shape[1:] if x.ndim == other.ndim else x.shape] * len(other)


def _matrices(x: NestedArray) -> tuple[Matrices, Array]:
    """All matrices of all components of ``x`` in a flat buffer that they tile."""
    sizes = x.component_sizes()
    count = sizes[:, :-2].prod(axis=1, dtype=np.int64)
    rows, cols = np.repeat(sizes[:, -2], count), np.repeat(sizes[:, -1], count)
    structure = packed(x).structure
    if isinstance(structure, Jagged) and structure.ragged_dim == 1:
        flat = moves.reshape(packed(x).data, (int((rows * cols).sum()),))
        return rules.packed(rows, cols), flat
    if isinstance(structure, Jagged) and structure.ragged_dim == 2 and x.ndim == 3:
        turned = moves.transpose(packed(x).data, (1, 0))
        if turned.is_contiguous():
            flat = moves.reshape(turned, (turned.numel(),))
            return rules.turned(rules.packed(cols, rows)), flat
    return rules.packed(rows, cols), gathered(to_strided(x))


def _ragged_of_product(a: Any, b: Any) -> Any:
    """The ragged dimension of a jagged product, ``dense`` if none is left, None for a strided result."""
    nested = [x for x in (a, b) if isinstance(x, NestedArray)]
    if any(isinstance(x.structure, Strided) for x in nested):
        return None
    rank = max(x.ndim for x in nested)
    found = set()
    for x, summed in ((a, a.ndim - 1), (b, b.ndim - 2)):
        if isinstance(x, NestedArray) and isinstance(x.structure, Jagged) and x.structure.ragged_dim != summed:
            found.add(x.structure.ragged_dim + rank - x.ndim)
    if len(found) == 2:
        return None
    return found.pop() if found else "dense"


def _from_packed(flat: Array, sizes: Ints, ragged: Any, known: Sequence[int]) -> NestedArray | Array:
    """A packed flat product in the layout it goes into; ``known`` are the sizes where there are no components."""
    if ragged is None:
        return NestedArray(flat, Strided.of_packed(sizes))
    if ragged == "dense":
        return moves.reshape(flat, (len(sizes), *(sizes[0].tolist() if len(sizes) else known)))
    if len(sizes):
        return to_jagged(NestedArray(flat, Strided.of_packed(sizes)), ragged)
    return NestedArray(moves.reshape(flat, tuple(known)), Jagged(frozen([0]), None, ragged))


def nested_dense(a: NestedArray, b: Array) -> NestedArray | Array:
    """A dense right operand, for all components or a slice for each."""
    last = a.ndim - 1
    if b.ndim not in (1, 2):
        return _nested_batch(a, b)
    inner = np.full(len(a), b.shape[0])
    _check_inner(a, b, a.lengths_along(last), inner)
    x = packed(a)
    if isinstance(x.structure, Jagged):
        if x.structure.ragged_dim == last:
            return _by_components(a, b)
        return NestedArray(dense.matmul(x.data, b), x.structure)
    sizes = x.component_sizes()
    rows = int(sizes[:, :-1].prod(axis=1).sum())
    product = dense.matmul(moves.reshape(gathered(x), (rows, b.shape[0])), b)
    left = sizes[:, :-1] if b.ndim == 1 else np.concatenate([sizes[:, :-1], np.full((len(a), 1), b.shape[1])], axis=1)
    flat = moves.reshape(product, (product.numel(),))
    return flat if not left.shape[1] else NestedArray(flat, Strided.of_packed(left))


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
    _check_inner(a, b, a.lengths_along(2), np.full(len(a), b.shape[1]))
    left, flat = _matrices(a)
    product = rules.matmul_components(flat, moves.reshape(b, (b.numel(),)), left, _slices(b))
    sizes = np.concatenate([a.component_sizes()[:, :1], np.full((len(a), 1), b.shape[2])], axis=1)
    return _from_packed(product, sizes, _ragged_of_product(a, b), (_known(a)[0], b.shape[2]))


def _slices(b: Array) -> Matrices:
    count, rows, cols = b.shape
    return rules.packed(np.full(count, rows), np.full(count, cols))


def dense_nested(a: Array, b: NestedArray) -> NestedArray | Array:
    """A dense left operand, for all components or a slice for each."""
    if b.ndim == 3 and a.ndim == 2:
        _check_inner(a, b, np.full(len(b), a.shape[1]), b.lengths_along(1))
        product = nested_dense(_swapped(b), rules.swapped(a))
        return _swapped(product) if isinstance(product, NestedArray) else rules.swapped(product)
    if b.ndim == 3 and a.ndim == 3 and a.shape[0] == len(b):
        _check_inner(a, b, np.full(len(b), a.shape[2]), b.lengths_along(1))
        right, flat = _matrices(b)
        product = rules.matmul_components(moves.reshape(a, (a.numel(),)), flat, _slices(a), right)
        sizes = np.concatenate([np.full((len(b), 1), a.shape[1]), b.component_sizes()[:, 1:]], axis=1)
        return _from_packed(product, sizes, _ragged_of_product(a, b), (a.shape[1], _known(b)[1]))
    if a.ndim == b.ndim and a.shape[0] not in (1, len(b)):
        raise ShapeError(f"matmul: a dense operand of shape {a.shape} has no slice for each of {len(b)} components.")
    return _by_components(a, b)


def _swapped(x: NestedArray) -> NestedArray:
    """A view with dimensions 1 and 2 exchanged."""
    structure = x.structure
    if isinstance(structure, Jagged):
        return NestedArray(rules.swapped(x.data), structure.with_ragged_dim(3 - structure.ragged_dim))
    return NestedArray(
        x.data,
        Strided(
            frozen(structure.sizes[:, ::-1]),
            frozen(structure.strides[:, ::-1]),
            structure.offsets,
            structure.buffer_size,
        ),
    )
