"""Matrix products by kind of operands: dense, nested and dense, dense and nested, nested and nested.

If possible, one kernel call multiplies all components: as one dense product, or as matrices that lie contiguously in
flat buffers (`matmul_components`). `_matmul_each` is the slow general case, one dense product for each component.
Shapes of components are checked before, so that an error names the component.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pynested.autograd import Array
from pynested.autograd.arguments.canonical import together
from pynested.autograd.arguments.shapes import broadcast_shape, possible_shape
from pynested.autograd.rules import elementwise as elementwise_rules
from pynested.autograd.rules import linalg as of_matrices
from pynested.autograd.rules import movement as moves
from pynested.autograd.rules.movement import to_dtype
from pynested.backends import Matrices
from pynested.backends.dtypes import computing_dtype, is_float, is_half, promoted
from pynested.backends.errors import ShapeError, StructureError
from pynested.backends.limits import MOST_ELEMENTS
from pynested.lifting.along_dim import map_last_dims
from pynested.lifting.mapping import map_components
from pynested.nested.layout_conversion import as_matrices, elements, from_elements
from pynested.nested.nested_array import NestedArray
from pynested.nested.shape_comparison import broadcast_extents, first_difference, mismatch_message, shape_text
from pynested.operators.movement.axes import transpose
from pynested.structure import Ints
from pynested.structure.extents import freeze
from pynested.structure.layout import strided

# ---- dense operands -------------------------------------------------------------------------------------------------


def matmul_dense(self: Any, other: Any) -> Array:
    """Return the matrix product of dense operands, whose other dimensions broadcast. A vector is a row or a column."""
    a, b = _in_promoted_dtype(*together("matmul", self, other))
    if not a.ndim or not b.ndim:
        raise ShapeError(f"matmul: shapes {a.shape} and {b.shape}: both operands need at least one dimension; use mul.")
    inner = b.shape[-2] if b.ndim > 1 else b.shape[0]
    if a.shape[-1] != inner:
        raise ShapeError(
            f"matmul: the last dimension of {a.shape} has size {a.shape[-1]} and the dimension of {b.shape} that it "
            f"meets has size {inner}; they must be equal."
        )
    return _matmul(a, b)


def _in_promoted_dtype(a: Array, b: Array) -> tuple[Array, Array]:
    if a.dtype == b.dtype:
        return a, b
    dtype = promoted(a.dtype, b.dtype)
    return to_dtype(a, dtype), to_dtype(b, dtype)


def _matmul(a: Array, b: Array) -> Array:
    """Return the matrix product of dense operands of one dtype and equal inner sizes."""
    left = a if a.ndim > 1 else moves.reshape(a, (1, *a.shape))
    right = b if b.ndim > 1 else moves.reshape(b, (*b.shape, 1))
    batch_shape = broadcast_shape("matmul", left.shape[:-2], right.shape[:-2])
    if not 0 < a.data.size * b.data.size <= MOST_ELEMENTS:
        possible_shape("matmul", (*batch_shape, left.shape[-2], right.shape[-1]))
    product = of_matrices.matmul(left, right)
    if left is a and right is b:
        return product
    rows = () if a.ndim == 1 else (left.shape[-2],)
    cols = () if b.ndim == 1 else (right.shape[-1],)
    return moves.reshape(product, (*batch_shape, *rows, *cols))


def check_linear(features: int | None, weight: Array, bias: Array | None) -> None:
    """Raise ShapeError unless ``weight`` has the shape (out, ``features``) and ``bias`` (out,)."""
    if weight.ndim != 2 or features != weight.shape[1]:
        raise ShapeError(
            f"linear: the input's last dimension has size {features}; weight must have shape (out, {features}), not "
            f"{weight.shape}."
        )
    if bias is not None and bias.shape != weight.shape[:1]:
        raise ShapeError(f"linear: bias must have shape {weight.shape[:1]}, not {bias.shape}.")


def linear_dense(x: Array, weight: Array, bias: Array | None) -> Array:
    """Return ``x @ weight.T + bias`` of dense operands whose shapes fit."""
    if bias is not None and (is_half(bias.dtype) or not x.dtype == weight.dtype == bias.dtype):
        product_dtype = _linear_product_dtype(x.dtype, weight.dtype, bias.dtype)
        if product_dtype != promoted(x.dtype, weight.dtype):  # the bias is added in this dtype, and rounded once
            wide = [to_dtype(operand, product_dtype) for operand in (x, weight, bias)]
            return to_dtype(linear_dense(*wide), promoted(x.dtype, weight.dtype, bias.dtype))
    product = _matmul(*_in_promoted_dtype(x, of_matrices.swapped(weight)))
    return product if bias is None else elementwise_rules.add(product, bias)


def _linear_product_dtype(x: np.dtype[Any], weight: np.dtype[Any], bias: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of the product of `linear`: that of the result, float32 for halves; integers keep theirs."""
    dtype = promoted(x, weight)
    return computing_dtype(promoted(dtype, bias) if is_float(dtype) else dtype)


# ---- one nested and one dense operand -------------------------------------------------------------------------------


def matmul_nested_dense(a: NestedArray, b: Array) -> NestedArray | Array:
    """Return the products of components with a dense right operand, or with its slices along dimension 0."""
    if b.ndim not in (1, 2):
        return _matmul_nested_batch(a, b)
    _check_inner_sizes(a, b, a.extents[:, -1], np.array(b.shape[:1]))
    if a.structure.ragged_dim == a.ndim - 1:
        return _matmul_each(a, b)
    return map_last_dims(a, b.shape[:1], lambda values: matmul_dense(values, b))


def _matmul_nested_batch(a: NestedArray, b: Array) -> NestedArray | Array:
    """Return the products of component ``i`` with ``b[i]``, or with ``b[0]`` if ``b`` has one slice."""
    if b.ndim != 3 or a.ndim != 3 or b.shape[0] not in (1, len(a)):
        if b.ndim == a.ndim and b.shape[0] not in (1, len(a)):
            raise ShapeError(
                f"matmul: a dense operand of shape {b.shape} has no slice for each of {len(a)} components."
            )
        return _matmul_each(a, b)
    if b.shape[0] == 1 != len(a):
        return matmul_nested_dense(a, moves.reshape(b, b.shape[1:]))
    _check_inner_sizes(a, b, a.extents[:, -1], np.array(b.shape[1:2]))
    left, values = as_matrices(a)
    product = of_matrices.matmul_components(values, b, left, _slices_as_matrices(b))
    rows = a.extents[:, :1]
    extents = np.concatenate([rows, np.full((len(rows), 1), b.shape[2])], axis=1)
    return _from_packed(product, extents, len(a), _product_ragged_dim(a, b))


def matmul_dense_nested(a: Array, b: NestedArray) -> NestedArray | Array:
    """Return the products of a dense left operand, or of its slices along dimension 0, with components."""
    if b.ndim == 3 and a.ndim == 2:  # (b.T @ a.T).T
        _check_inner_sizes(a, b, np.array(a.shape[1:]), b.extents[:, 0])
        product = matmul_nested_dense(transpose(b, 1, 2), of_matrices.swapped(a))
        if isinstance(product, NestedArray):
            return transpose(product, 1, 2).contiguous()
        transposed: Array = of_matrices.swapped(product)
        return transposed.contiguous()
    if b.ndim == 3 and a.ndim == 3 and a.shape[0] == len(b):
        _check_inner_sizes(a, b, np.array(a.shape[2:]), b.extents[:, 0])
        right, values = as_matrices(b)
        product = of_matrices.matmul_components(a, values, _slices_as_matrices(a), right)
        cols = b.extents[:, 1:]
        extents = np.concatenate([np.full((len(cols), 1), a.shape[1]), cols], axis=1)
        return _from_packed(product, extents, len(b), _product_ragged_dim(a, b))
    if a.ndim == b.ndim and a.shape[0] not in (1, len(b)):
        raise ShapeError(f"matmul: a dense operand of shape {a.shape} has no slice for each of {len(b)} components.")
    return _matmul_each(a, b)


def _slices_as_matrices(x: Array) -> Matrices:
    """Return the slices of ``(B, rows, cols)`` as the matrices of a flat buffer."""
    count, rows, cols = x.shape
    return Matrices.of_sizes(np.full(count, rows), np.full(count, cols))


# ---- two nested operands --------------------------------------------------------------------------------------------


def matmul_nested_nested(a: NestedArray, b: NestedArray) -> NestedArray | Array:
    """Return the product of component ``i`` of ``a`` and component ``i`` of ``b``, for every ``i``."""
    count = a.structure.count
    if count != b.structure.count:
        raise StructureError(mismatch_message("matmul", a, b))
    left_outline, right_outline = a.extents, b.extents
    rank = left_outline.shape[1]
    if rank != right_outline.shape[1] or (rank > 2 and first_difference(left_outline[:, :-2], right_outline[:, :-2])):
        return _matmul_each(a, b)
    if (left_outline[:, -1] != right_outline[:, -2]).any():
        _check_inner_sizes(a, b, left_outline[:, -1], right_outline[:, -2])
    left, left_values = as_matrices(a)
    right, right_values = as_matrices(b)
    product = of_matrices.matmul_components(left_values, right_values, left, right)
    extents = np.maximum(left_outline, right_outline) if rank > 2 else np.empty_like(left_outline)
    extents[:, -2], extents[:, -1] = left_outline[:, -2], right_outline[:, -1]
    return _from_packed(product, freeze(extents), count, _product_ragged_dim(a, b))


# ---- one product for each component ---------------------------------------------------------------------------------


def _matmul_each(a: Any, b: Any) -> NestedArray | Array:
    """Return one dense product for each component: different ranks, vectors, and dimensions that broadcast."""
    extents = _product_outline(a, b)
    nested = a if isinstance(a, NestedArray) else b
    if len(nested):
        flat = elements(map_components(matmul_dense, a, b, layout=strided))  # type: ignore[arg-type]
    else:
        values = [x.data if isinstance(x, NestedArray) else x for x in (a, b)]
        flat = moves.concatenate([moves.reshape(x, (x.numel(),))[:0] for x in values], 0)
    return _from_packed(flat, extents, len(nested), _product_ragged_dim(a, b))


def _product_outline(a: Any, b: Any) -> Ints:
    """Return the extents of the products of `_matmul_each`, or raise the error of the first that does not exist.

    The dimensions before the last two must be equal, or regular and of size 1.
    """
    left, left_regular = _factor_outline(a, b)
    right, right_regular = _factor_outline(b, a)
    _check_inner_sizes(a, b, left[:, -1], right[:, -2:][:, 0])
    rank = max(left.shape[1], right.shape[1], 2) - 2
    left_leading, left_broadcasts = _leading_dims(left, left_regular, rank)
    right_leading, right_broadcasts = _leading_dims(right, right_regular, rank)
    leading, are_broadcastable = broadcast_extents([(left_leading, left_broadcasts), (right_leading, right_broadcasts)])
    if not are_broadcastable:
        compared = np.where(left_broadcasts | right_broadcasts, -1, left_leading)  # -1 is equal to every size
        first = first_difference(compared, right_leading)
        i = 0 if first is None else first[0]
        raise _component_error(
            a, b, i,
            f"there is no product of shapes {shape_text(left[i % len(left)])} and {shape_text(right[i % len(right)])}: "
            "dimensions before the last two must be equal, or regular and 1.",
        )  # fmt: skip
    rows, cols = left[:, -2:-1], right[:, -1:] if right.shape[1] > 1 else right[:, :0]
    count = len(leading)
    return np.concatenate([np.broadcast_to(x, (count, x.shape[1])) for x in (leading, rows, cols)], axis=1)


def _factor_outline(x: Any, other: Any) -> tuple[Ints, tuple[int | None, ...]]:
    """Return the extents and the regular sizes of the factors from ``x``. A dense operand has one row for all."""
    if isinstance(x, NestedArray):
        return x.extents, x.regular
    shape = x.shape[1:] if x.ndim == other.ndim else x.shape
    return np.array([shape], np.int64), shape


def _leading_dims(extents: Ints, regular: tuple[int | None, ...], rank: int) -> tuple[Ints, NDArray[np.bool_]]:
    """Return the sizes before the last two, padded with ones to ``rank`` columns, and which of them can broadcast."""
    leading = extents[:, :-2]
    added = rank - leading.shape[1]
    can_broadcast = [True] * added + [size == 1 for size in regular[:-2]]
    ones = np.ones((len(leading), added), np.int64)
    return np.concatenate([ones, leading], axis=1), np.array(can_broadcast, np.bool_)


# ---- checks and results ---------------------------------------------------------------------------------------------


def _check_inner_sizes(a: Any, b: Any, left: Ints, right: Ints) -> None:
    """Raise an error unless the inner sizes are equal: one for each component, or one for a dense operand."""
    first = first_difference(left[:, None], right[:, None])
    if first:
        i = first[0]
        raise _component_error(
            a, b, i,
            f"the last dimension of the left operand has length {left[i % len(left)]} and the dimension of the right "
            f"one that it meets has length {right[i % len(right)]}; they must be equal.",
        )  # fmt: skip


def _component_error(a: Any, b: Any, i: int, text: str) -> StructureError | ShapeError:
    """Return the error of component ``i``: a ShapeError if one operand is dense."""
    error_class = StructureError if type(a) is type(b) else ShapeError
    nested = a if isinstance(a, NestedArray) else b
    where = f"component {i}" if len(nested) else "components, though there are none"
    return error_class(f"matmul: at {where}, {text}")


def _product_ragged_dim(a: Any, b: Any) -> Any:
    """Return the ragged dimension of a jagged product, "dense" if it has none, None if the product is strided.

    A ragged dimension that is summed over is not in the product. Two different ragged dimensions make it strided.
    """
    m, n = a.ndim, b.ndim
    result_ndim = max(m if type(a) is NestedArray else 0, n if type(b) is NestedArray else 0)
    ragged_dims = set()
    for x, ndim, summed_dim in ((a, m, m - 1), (b, n, n - 2)):
        r = x.structure.ragged_dim if type(x) is NestedArray else summed_dim
        if r is None:
            return None
        if r != summed_dim:
            # Dimensions are aligned at the right. A left vector has no row dimension, which the product lacks too.
            ragged_dims.add(r + result_ndim - ndim - (m == 1 and r > summed_dim))
    if len(ragged_dims) == 2:
        return None
    return ragged_dims.pop() if ragged_dims else "dense"


def _from_packed(flat: Array, extents: Ints, count: int, ragged_dim: Any) -> NestedArray | Array:
    """Return flat elements with this extents in the layout that `_product_ragged_dim` chose."""
    if ragged_dim == "dense":
        return moves.reshape(flat, (count, *np.maximum(extents[0], 0).tolist()))
    return from_elements(flat, extents, count, ragged_dim)
