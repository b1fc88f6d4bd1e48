"""Products of nested and dense arrays: component by component, in as few calls as possible."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.autograd import Array, dense
from pynested.autograd.dense.canonical import as_array
from pynested.autograd.dense.products import check_linear
from pynested.autograd.dense.reduction import to_dtype
from pynested.autograd.rules import linalg as rules
from pynested.autograd.rules import movement as moves
from pynested.backends import Matrices
from pynested.backends.errors import ShapeError, StructureError
from pynested.mapping import check_devices, map_components
from pynested.nested_array import NestedArray
from pynested.operators.elementwise import add
from pynested.packing import describe, difference, gathered, packed, to_strided
from pynested.structure import Ints, Jagged, Strided, frozen


def matmul(self: Any, other: Any) -> Any:
    """The matrix product of each pair of components."""
    if type(self) is not NestedArray and type(other) is not NestedArray:
        return dense.matmul(self, other)
    a = self if type(self) is NestedArray else as_array("matmul", self)
    b = other if type(other) is NestedArray else as_array("matmul", other)
    check_devices("matmul", (a, b))
    for x in (a, b):
        if type(x) is NestedArray and x.ndim < 3:
            raise StructureError(
                f"matmul: the components of a nested operand have {x.ndim - 1} dimensions; they must be matrices. Use "
                "unsqueeze to make rows or columns of them."
            )
    dtype = np.result_type(a.dtype, b.dtype)
    a, b = _as_dtype(a, dtype), _as_dtype(b, dtype)
    if type(a) is NestedArray and type(b) is NestedArray:
        return _nested_nested(a, b)
    if type(a) is NestedArray:
        return _nested_dense(a, b)
    return _dense_nested(a, b)


def _as_dtype(x: Any, dtype: np.dtype[Any]) -> Any:
    if x.dtype == dtype:
        return x
    return NestedArray(to_dtype(x.data, dtype), x.structure) if type(x) is NestedArray else to_dtype(x, dtype)


def _check_inner(a: Any, b: Any, left: Ints, right: Ints) -> None:
    wrong = np.flatnonzero(left != right)
    if wrong.size:
        i = int(wrong[0])
        kind = StructureError if type(a) is type(b) else ShapeError
        raise kind(
            f"matmul: at component {i} the last dimension of the left operand has length {left[i]} and the dimension of "
            f"the right one that it meets has length {right[i]}; they must be equal."
        )


def _nested_nested(a: NestedArray, b: NestedArray) -> Any:
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
    return _from_packed(flat, sizes, _ragged_of_product(a, b))


def _by_components(a: Any, b: Any) -> Any:
    """Ranks that differ, vectors, and leading dims that broadcast: one dense product for each component."""
    for i, (x, y) in enumerate(zip(_shapes(a, b), _shapes(b, a), strict=True)):
        try:
            np.matmul(np.empty(x, np.bool_), np.empty(y, np.bool_))
        except ValueError:
            kind = StructureError if type(a) is type(b) else ShapeError
            raise kind(f"matmul: component {i} has no product: shapes {describe(x)} and {describe(y)}.") from None
    return map_components(dense.matmul, a, b)


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


def _ragged_of_product(a: NestedArray, b: NestedArray) -> Any:
    """The ragged dimension of a jagged product, ``dense`` if none is left, None for a strided result."""
    s, t = a.structure, b.structure
    if not isinstance(s, Jagged) or not isinstance(t, Jagged):
        return None
    last = a.ndim - 1
    left = None if s.ragged_dim == last else s.ragged_dim
    right = None if t.ragged_dim == last - 1 else t.ragged_dim
    found = {dim for dim in (left, right) if dim is not None}
    if len(found) == 2:
        return None
    return found.pop() if found else "dense"


def _from_packed(flat: Array, sizes: Ints, ragged: Any) -> Any:
    """A packed flat product in the layout it goes into."""
    strided = Strided.of_packed(sizes)
    if ragged is None:
        return NestedArray(flat, strided)
    if ragged == "dense":
        first = sizes[0].tolist() if len(sizes) else [0] * sizes.shape[1]
        return moves.reshape(flat, (len(sizes), *first))
    from pynested.packing import to_jagged

    return to_jagged(NestedArray(flat, strided), ragged)


def _nested_dense(a: NestedArray, b: Array) -> Any:
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


def _nested_batch(a: NestedArray, b: Array) -> Any:
    """A dense right operand with as many dimensions as the nested one: component ``i`` meets ``b[i]``."""
    if b.ndim != 3 or a.ndim != 3 or b.shape[0] not in (1, len(a)):
        if b.ndim == a.ndim and b.shape[0] not in (1, len(a)):
            raise ShapeError(
                f"matmul: a dense operand of shape {b.shape} has no slice for each of {len(a)} components."
            )
        return _by_components(a, b)
    if b.shape[0] == 1 != len(a):
        return _nested_dense(a, moves.reshape(b, b.shape[1:]))
    _check_inner(a, b, a.lengths_along(2), np.full(len(a), b.shape[1]))
    left, flat = _matrices(a)
    product = rules.matmul_components(flat, moves.reshape(b, (b.numel(),)), left, _slices(b))
    sizes = np.concatenate([a.component_sizes()[:, :1], np.full((len(a), 1), b.shape[2])], axis=1)
    ragged = a.structure.ragged_dim if isinstance(a.structure, Jagged) else None
    return _from_packed(product, sizes, "dense" if ragged == 2 else ragged)


def _slices(b: Array) -> Matrices:
    count, rows, cols = b.shape
    return rules.packed(np.full(count, rows), np.full(count, cols))  # type: ignore[no-any-return]


def _dense_nested(a: Array, b: NestedArray) -> Any:
    if b.ndim == 3 and a.ndim == 2:
        _check_inner(a, b, np.full(len(b), a.shape[1]), b.lengths_along(1))
        product = _nested_dense(_swapped(b), rules.swapped(a))
        return _swapped(product)
    if b.ndim == 3 and a.ndim == 3 and a.shape[0] == len(b):
        _check_inner(a, b, np.full(len(b), a.shape[2]), b.lengths_along(1))
        right, flat = _matrices(b)
        product = rules.matmul_components(moves.reshape(a, (a.numel(),)), flat, _slices(a), right)
        sizes = np.concatenate([np.full((len(b), 1), a.shape[1]), b.component_sizes()[:, 1:]], axis=1)
        ragged = b.structure.ragged_dim if isinstance(b.structure, Jagged) else None
        return _from_packed(product, sizes, "dense" if ragged == 1 else ragged)
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


def bmm(self: Any, mat2: Any) -> Any:
    """(B, N, K), (B, K, M) -> (B, N, M), either or both nested."""
    if type(self) is not NestedArray and type(mat2) is not NestedArray:
        return dense.bmm(self, mat2)
    a = self if type(self) is NestedArray else as_array("bmm", self)
    b = mat2 if type(mat2) is NestedArray else as_array("bmm", mat2)
    batches = [len(x) if type(x) is NestedArray else x.shape[0] for x in (a, b) if x.ndim == 3]
    if len(batches) != 2 or batches[0] != batches[1]:
        kind = StructureError if type(a) is type(b) or len(batches) != 2 else ShapeError
        raise kind(
            f"bmm: operands of {a.ndim} and {b.ndim} dimensions and batch sizes {batches} must have three dimensions "
            "each and the same batch size."
        )
    return matmul(a, b)


def linear(self: Any, weight: Any, bias: Any = None) -> Any:
    """``x @ weight.T + bias``."""
    if type(self) is not NestedArray:
        return dense.linear(self, weight, bias)
    w = as_array("linear", weight)
    if self.ndim < 2:
        raise StructureError("linear: the components have no dimensions; the last one is what weight multiplies.")
    features = self.regular_size(self.ndim - 1)
    if features is None:
        raise StructureError(
            f"linear: dimension {self.ndim - 1}, the last one, is irregular; weight needs it to be regular."
        )
    check_linear(features if len(self) or isinstance(self.structure, Jagged) else w.shape[-1], w, bias)
    kind = np.result_type(self.dtype, w.dtype)
    if kind == np.float16:  # added up in float32 and rounded once, bias included
        wide = np.dtype(np.float32)
        plain = None if bias is None else to_dtype(as_array("linear", bias), wide)
        return _as_dtype(linear(_as_dtype(self, wide), to_dtype(w, wide), plain), kind)
    product = _nested_dense(_as_dtype(self, kind), rules.swapped(to_dtype(w, kind)))
    return product if bias is None else add(product, bias)
