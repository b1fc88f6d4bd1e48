"""Matrix products by kind of operands: dense, nested and dense, dense and nested, nested and nested.

If possible, one kernel call multiplies all components: as one dense product, or as matrices that lie contiguously in
flat buffers (`matmul_components`). `_matmul_each` is the slow general case, one dense product for each component.
Shapes of components are checked first, so that an error names the component.

The *extents* of an operand are the table of its component sizes (see `pynested/structure/extents.py`). The *inner*
sizes of a product are those that are summed over: the columns of the left matrix and the rows of the right matrix. A
dimension is *regular* if all components have the same size along it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pynested.autograd import Array
from pynested.autograd.arguments.operands import as_arrays_on_one_device
from pynested.autograd.arguments.shapes import broadcast_shape, check_possible_shape
from pynested.autograd.primitives import binary, movement
from pynested.autograd.primitives import products as matrix_primitives
from pynested.backends.dtypes import computing_dtype, is_float, is_half, promoted
from pynested.backends.errors import ShapeError, StructureError
from pynested.backends.limits import MOST_ELEMENTS
from pynested.lifting.along_dim import map_last_dims
from pynested.lifting.mapping import map_components
from pynested.lifting.result_layout import common_ragged_dim, wrap_elements
from pynested.nested.layout_conversion import as_matrices, elements, in_promoted_dtype, slices_as_components
from pynested.nested.nested_array import NestedArray, wrap_unchecked
from pynested.nested.shape_comparison import broadcast_extents, component_text, first_difference, shape_text
from pynested.operators.movement.axes import transpose
from pynested.structure import Ints
from pynested.structure.layout import strided
from pynested.structure.validation import check_size_limits

# ---- dense operands -------------------------------------------------------------------------------------------------


def matmul_dense(self: Any, other: Any) -> Array:
    """Return the matrix product of dense operands; a left vector is a row, a right vector is a column."""
    a, b = in_promoted_dtype(*as_arrays_on_one_device("matmul", self, other))
    if not a.ndim or not b.ndim:
        raise ShapeError(
            f"matmul: the operands have shapes {a.shape} and {b.shape}; both need at least one dimension. Use mul."
        )
    inner = b.shape[-2] if b.ndim > 1 else b.shape[0]
    if a.shape[-1] != inner:
        raise ShapeError(
            f"matmul: the left operand of shape {a.shape} has {a.shape[-1]} columns, and the right operand of shape "
            f"{b.shape} has {inner} rows; the numbers must be equal."
        )
    return _matmul(a, b)


def _matmul(a: Array, b: Array) -> Array:
    """Return the matrix product of dense operands of the same dtype and of equal inner sizes."""
    left = a if a.ndim > 1 else movement.reshape(a, (1, *a.shape))
    right = b if b.ndim > 1 else movement.reshape(b, (*b.shape, 1))
    batch_shape = broadcast_shape("matmul", left.shape[:-2], right.shape[:-2])
    if not 0 < a.data.size * b.data.size <= MOST_ELEMENTS:  # otherwise the product has at most this many elements
        check_possible_shape("matmul", (*batch_shape, left.shape[-2], right.shape[-1]))
    product = matrix_primitives.matmul(left, right)
    if left is a and right is b:
        return product
    rows = () if a.ndim == 1 else (left.shape[-2],)
    cols = () if b.ndim == 1 else (right.shape[-1],)
    return movement.reshape(product, (*batch_shape, *rows, *cols))


def check_linear(features: int, weight: Array, bias: Array | None) -> None:
    """Raise ShapeError unless ``weight`` has the shape (out, ``features``) and ``bias`` (out,)."""
    if weight.ndim != 2 or features != weight.shape[1]:
        raise ShapeError(
            f"linear: the last dimension of the input has size {features}; weight must have shape (out, {features}), "
            f"not {weight.shape}."
        )
    if bias is not None and bias.shape != weight.shape[:1]:
        raise ShapeError(f"linear: bias must have shape {weight.shape[:1]}, not {bias.shape}.")


def linear_dense(x: Array, weight: Array, bias: Array | None) -> Array:
    """Return ``x @ weight.T + bias`` of dense operands, whose shapes were checked."""
    if bias is not None and (is_half(bias.dtype) or not x.dtype == weight.dtype == bias.dtype):
        dtype = promoted(x.dtype, weight.dtype)
        # Floats are rounded once, after the bias. Integers are multiplied in `dtype`, whatever dtype the bias has.
        product_dtype = computing_dtype(promoted(dtype, bias.dtype) if is_float(dtype) else dtype)
        if product_dtype != dtype:
            wide = [movement.to_dtype(operand, product_dtype) for operand in (x, weight, bias)]
            return movement.to_dtype(linear_dense(*wide), promoted(dtype, bias.dtype))
    product = _matmul(*in_promoted_dtype(x, matrix_primitives.swapped(weight)))
    return product if bias is None else binary.add(product, bias)


# ---- one nested and one dense operand -------------------------------------------------------------------------------


def matmul_nested_dense(a: NestedArray, b: Array) -> NestedArray | Array:
    """Return the products of components with a dense right operand, or with its slices along dimension 0."""
    _check_slices(b, a)
    if b.ndim == 3 and a.ndim == 3 and b.shape[0] == len(a):
        return matmul_buffers(a, b)
    if b.ndim == 3 and a.ndim == 3:
        b = movement.reshape(b, b.shape[1:])
    if b.ndim > 2 or a.structure.ragged_dim == a.ndim - 1:
        return _matmul_each(a, b)
    _check_inner_sizes(a, b, a.extents[:, -1], np.array(b.shape[:1]))
    return map_last_dims(a, b.shape[:1], lambda values: matmul_dense(values, b))


def matmul_dense_nested(a: Array, b: NestedArray) -> NestedArray | Array:
    """Return the products of a dense left operand, or of its slices along dimension 0, with components."""
    _check_slices(a, b)
    if b.ndim == 3 and a.ndim == 3 and a.shape[0] == len(b):
        return matmul_buffers(a, b)
    if b.ndim != 3 or a.ndim != 2:
        return _matmul_each(a, b)
    _check_inner_sizes(a, b, np.array(a.shape[1:]), b.extents[:, 0])
    product = matmul_nested_dense(transpose(b, 1, 2), matrix_primitives.swapped(a))  # (b.T @ a.T).T
    if isinstance(product, NestedArray):
        return transpose(product, 1, 2).contiguous()
    return matrix_primitives.swapped(product).contiguous()  # type: ignore[no-any-return]


def _check_slices(dense: Array, nested: NestedArray) -> None:
    """Raise ShapeError if a dense operand of equal ndim has neither a slice for each component nor one for all."""
    if dense.ndim == nested.ndim and dense.shape[0] not in (1, len(nested)):
        raise ShapeError(
            f"matmul: a dense operand of shape {dense.shape} must have {len(nested)} slices, one for each component, "
            "or one."
        )


# ---- matrices in flat buffers ---------------------------------------------------------------------------------------


def matmul_buffers(a: NestedArray | Array, b: NestedArray | Array) -> NestedArray | Array:
    """Return the products of components in one kernel call; one by one if sizes before the matrices broadcast.

    The components of a dense operand, which has three dimensions, are its slices along dimension 0.
    """
    left, right = (
        x if isinstance(x, NestedArray) else wrap_unchecked(*slices_as_components(x, x.shape[0])) for x in (a, b)
    )
    left_extents, right_extents = left.extents, right.extents
    rank = left_extents.shape[1]
    if rank != right_extents.shape[1] or (rank > 2 and first_difference(left_extents[:, :-2], right_extents[:, :-2])):
        return _matmul_each(a, b)
    if (left_extents[:, -1] != right_extents[:, -2]).any():
        _check_inner_sizes(a, b, left_extents[:, -1], right_extents[:, -2])
    extents = np.maximum(left_extents, right_extents) if rank > 2 else np.empty_like(left_extents)
    extents[:, -2], extents[:, -1] = left_extents[:, -2], right_extents[:, -1]
    check_size_limits("matmul", extents)
    left_matrices, left_values = as_matrices(left)
    right_matrices, right_values = as_matrices(right)
    product = matrix_primitives.matmul_components(left_values, right_values, left_matrices, right_matrices)
    return wrap_elements(product, extents, left.structure.count, _product_ragged_dim(a, b))


# ---- one product for each component ---------------------------------------------------------------------------------


def _matmul_each(a: Any, b: Any) -> NestedArray | Array:
    """Return one dense product for each component, for all operands that the faster functions do not support."""
    extents = _product_extents(a, b)
    nested = a if isinstance(a, NestedArray) else b
    if len(nested):
        flat = elements(map_components(matmul_dense, a, b, layout=strided))  # type: ignore[arg-type]
    else:
        values = [x.data if isinstance(x, NestedArray) else x for x in (a, b)]
        flat = movement.concatenate([movement.reshape(x, (x.numel(),))[:0] for x in values], 0)
    return wrap_elements(flat, extents, len(nested), _product_ragged_dim(a, b))


def _product_extents(a: Any, b: Any) -> Ints:
    """Return the extents of the products of `_matmul_each`; raise an error about the first pair without a product.

    The dimensions before the last two must be equal, or regular and of size 1.
    """
    left, left_regular = _factor_extents(a, b)
    right, right_regular = _factor_extents(b, a)
    _check_inner_sizes(a, b, left[:, -1], right[:, -2:][:, 0])  # the rows of a matrix, or the only size of a vector
    num_leading = max(left.shape[1], right.shape[1], 2) - 2
    left_leading, left_broadcasts = _leading_dims(left, left_regular, num_leading)
    right_leading, right_broadcasts = _leading_dims(right, right_regular, num_leading)
    leading, are_broadcastable = broadcast_extents([(left_leading, left_broadcasts), (right_leading, right_broadcasts)])
    if not are_broadcastable:
        compared = np.where(left_broadcasts | right_broadcasts, -1, left_leading)  # -1 is equal to every size
        difference = first_difference(compared, right_leading)
        i = 0 if difference is None else difference[0]
        raise _component_error(
            a, b, i,
            f"there is no product of shapes {shape_text(left[i % len(left)])} and {shape_text(right[i % len(right)])}: "
            "dimensions before the last two must be equal, or regular and 1.",
        )  # fmt: skip
    rows, cols = left[:, -2:-1], right[:, -1:] if right.shape[1] > 1 else right[:, :0]
    count = len(leading)
    return np.concatenate([np.broadcast_to(x, (count, x.shape[1])) for x in (leading, rows, cols)], axis=1)


def _factor_extents(x: Any, other: Any) -> tuple[Ints, tuple[int | None, ...]]:
    """Return the extents and the regular sizes of an operand. A dense operand has one row for all components."""
    if isinstance(x, NestedArray):
        return x.extents, x.regular_sizes
    shape = x.shape[1:] if x.ndim == other.ndim else x.shape
    return np.array([shape], np.int64), shape


def _leading_dims(extents: Ints, regular: tuple[int | None, ...], num_leading: int) -> tuple[Ints, NDArray[np.bool_]]:
    """Return the sizes before the last two, with ones in front to make ``num_leading``; and which can broadcast."""
    leading = extents[:, :-2]
    num_added = num_leading - leading.shape[1]
    can_broadcast = [True] * num_added + [size == 1 for size in regular[:-2]]
    ones = np.ones((len(leading), num_added), np.int64)
    return np.concatenate([ones, leading], axis=1), np.array(can_broadcast, np.bool_)


# ---- checks and results ---------------------------------------------------------------------------------------------


def _check_inner_sizes(a: Any, b: Any, left: Ints, right: Ints) -> None:
    """Raise an error unless the inner sizes are equal: one size, or one for each component."""
    difference = first_difference(left[:, None], right[:, None])
    if difference:
        i = difference[0]
        raise _component_error(
            a, b, i,
            f"the left matrix has {left[i % len(left)]} columns, and the right matrix has {right[i % len(right)]} "
            "rows; the numbers must be equal.",
        )  # fmt: skip


def _component_error(a: Any, b: Any, i: int, text: str) -> StructureError | ShapeError:
    """Return the error for component ``i``: a ShapeError if one operand is dense, else a StructureError."""
    error_class = StructureError if type(a) is type(b) else ShapeError
    nested = a if isinstance(a, NestedArray) else b
    return error_class(f"matmul: at {component_text(i, len(nested))}, {text}")


def _product_ragged_dim(a: Any, b: Any) -> Any:
    """Return the ragged dimension that the product has from its operands; see `common_ragged_dim`.

    A dimension that is summed over is not in the product.

    For example, ``(B, *, D) @ (D, E)`` is ``(B, *, E)``: dimension 2 of the left operand is summed over, and its ragged
    dimension 1 is dimension 1 of the product. ``(D,) @ (B, D, *)`` is ``(B, *)``: the ragged dimension is 2 in the
    right operand, and 1 in the product, which has no dimension of rows.
    """
    nested_ndim = max(x.ndim for x in (a, b) if type(x) is NestedArray)
    ragged_dims: list[int | None] = []
    for x, ndim, summed_dim in ((a, a.ndim, a.ndim - 1), (b, b.ndim, b.ndim - 2)):
        if type(x) is not NestedArray:
            continue
        ragged_dim = x.structure.ragged_dim
        if ragged_dim is None:
            ragged_dims.append(None)
        elif ragged_dim != summed_dim:
            has_no_rows = a.ndim == 1 and ragged_dim > summed_dim
            # Operands are aligned at the right, and the product has the dimensions of the larger nested one.
            ragged_dims.append(ragged_dim + nested_ndim - ndim - has_no_rows)
    return common_ragged_dim(ragged_dims)
