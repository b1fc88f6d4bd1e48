"""Matrix products of nested and dense arrays, and the linear layer: the chapter *products* of the specification."""

from __future__ import annotations

from typing import Any, overload

from pynested.autograd import Array
from pynested.autograd.arguments import operands
from pynested.autograd.decorators import operator
from pynested.backends.errors import PynestedError, ShapeError, StructureError
from pynested.lifting.along_dim import map_last_dims
from pynested.nested.layout_conversion import in_promoted_dtype
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import ArrayResult, Dense, Operand, on_one_device
from pynested.nested.shape_comparison import mismatch_message

from .matmul_dispatch import (
    check_linear,
    linear_dense,
    matmul_buffers,
    matmul_dense,
    matmul_dense_nested,
    matmul_nested_dense,
)

__all__ = ["bmm", "linear", "matmul"]


@overload
def matmul(self: Dense, other: Dense) -> Array: ...
@overload
def matmul(self: Operand, other: Operand) -> NestedArray | Array: ...
@operator
def matmul(self: Operand, other: Operand) -> NestedArray | Array:
    """Multiply each pair of components as matrices: ``(B, *, D), (B, D, E) -> (B, *, E)``.

    A dense operand of lower rank is multiplied with every component: ``(B, *, D) @ (D, E)`` is ``(B, *, E)``, and
    ``(B, *, D) @ (D,)`` is ``(B, *)``. A dense operand of the same rank has a slice for each component, or one slice
    for all. If the ragged dimension of jagged operands is summed over, ``(B, D, *) @ (B, *, E)``, the result is dense,
    ``(B, D, E)``. If both operands keep a ragged dimension, ``(B, *, D) @ (B, D, *)``, it is strided.

    The result has the promoted dtype; integers wrap. A sum over no products is +0. StructureError for nested operands
    whose numbers of components or inner sizes differ; the message names both sizes, or both numbers. StructureError for
    components of fewer than two dimensions. ShapeError for a dense operand whose inner size or batch size does not
    fit, or that has more dimensions than the nested operand. Gradient: ``g @ other.T`` and ``self.T @ g``; a dense
    operand that several components share gets the sum over them. Clauses: MATMUL-1 to MATMUL-11. After `torch.matmul`.

    >>> nt = pn.nested_array([[[1, 2], [3, 4]], [[5, 6]]], layout=pn.jagged)
    >>> pn.matmul(nt, pn.array([[1], [10]])).unbind()
    (array([[21],
           [43]]), array([[65]]))
    >>> pn.matmul(nt.transpose(1, 2), nt).shape
    (2, 2, 2)
    """
    if type(self) is not NestedArray and type(other) is not NestedArray:
        return matmul_dense(self, other)
    a, b = on_one_device("matmul", self, other)
    _check_ranks(a, b)
    if a.dtype != b.dtype:
        a, b = in_promoted_dtype(a, b)
    if type(b) is Array:
        return matmul_nested_dense(a, b)
    if type(a) is Array:
        return matmul_dense_nested(a, b)
    if a.structure.count != b.structure.count:
        raise StructureError(mismatch_message("matmul", a, b))
    return matmul_buffers(a, b)


def _check_ranks(a: Any, b: Any) -> None:
    """Raise an error if a component is not a matrix, or if a dense operand has too few or too many dimensions."""
    m, n = a.ndim, b.ndim
    for x, ndim in ((a, m), (b, n)):
        if not ndim:
            raise ShapeError("matmul: a dense operand has no dimensions; it needs at least one. Use mul.")
        if ndim < 3 and type(x) is NestedArray:
            raise StructureError(
                f"matmul: the components of a nested operand have {ndim - 1} dimensions; they need at least two. Use "
                "unsqueeze to make rows or columns of vectors."
            )
    if m != n and type(a) is not type(b) and type(a if m > n else b) is Array:
        raise ShapeError(
            f"matmul: the dense operand has {max(m, n)} dimensions and the nested operand has {min(m, n)}; it must not "
            "have more. Split it first, or unsqueeze the nested operand."
        )


@overload
def bmm(self: Dense, mat2: Dense) -> Array: ...
@overload
def bmm(self: Operand, mat2: Operand) -> NestedArray | Array: ...
@operator
def bmm(self: Operand, mat2: Operand) -> NestedArray | Array:
    """Multiply operands of three dimensions as batches of matrices: ``(B, *, D), (B, D, E) -> (B, *, E)``.

    The result is that of `matmul`. Both operands must have three dimensions, the batch included, and the same batch
    size; a batch size of 1 does not broadcast. StructureError for another number of dimensions, and for nested operands
    whose batch sizes or inner sizes differ. ShapeError for a dense operand whose batch size or inner size differs, and
    for any misfit of two dense operands. Gradient: as for `matmul`. Clauses: BMM-1 to BMM-6. After `torch.bmm`.

    >>> nt = pn.nested_array([[[1, 2], [3, 4]], [[5, 6]]], layout=pn.jagged)
    >>> pn.bmm(nt, pn.array([[[1], [10]], [[0], [1]]])).unbind()
    (array([[21],
           [43]]), array([[6]]))
    """
    if type(self) is not NestedArray and type(mat2) is not NestedArray:
        a, b = operands.as_arrays_on_one_device("bmm", self, mat2)
        if a.ndim != 3 or b.ndim != 3 or a.shape[0] != b.shape[0]:
            raise ShapeError(
                f"bmm: shapes {a.shape} and {b.shape} must have three dimensions each and the same batch size."
            )
    else:
        a, b = on_one_device("bmm", self, mat2)
        if a.ndim != 3 or b.ndim != 3:
            raise StructureError(
                f"bmm: the operands have {a.ndim} and {b.ndim} dimensions, the batch among them; each must have three "
                "dimensions. Use matmul."
            )
        if len(a) != len(b):
            error_class = StructureError if type(a) is type(b) else ShapeError
            raise error_class(f"bmm: the operands have batch sizes {len(a)} and {len(b)}; they must be equal.")
    try:
        return matmul(a, b)  # type: ignore[no-any-return]
    except PynestedError as error:  # the message names bmm instead of matmul
        raise type(error)(str(error).replace("matmul:", "bmm:", 1)) from None


@overload
def linear(self: Dense, weight: Dense, bias: Dense | None = None) -> Array: ...
@overload
def linear(self: NestedArray, weight: Dense, bias: Dense | None = None) -> NestedArray: ...
@operator
def linear(self: Operand, weight: Dense, bias: Dense | None = None) -> ArrayResult:
    """Compute ``weight @ x + bias`` of each slice x along the last dimension: ``(B, *, in) -> (B, *, out)``.

    ``weight`` has shape ``(out, in)``, ``bias`` has ``(out,)``. The last dimension must be regular; all other
    dimensions and the layout stay. The result has the promoted dtype. An empty component stays empty; if ``in`` is 0,
    every slice becomes ``bias``, or +0. StructureError for an irregular last dimension. ShapeError for a ``weight``
    that is not a matrix or does not fit, and for a ``bias`` that does not fit ``weight``. Gradient: as for `matmul` and
    `add`; ``weight`` and ``bias`` get sums over all slices of all components, +0 without any slice. Clauses: LINEAR-1
    to LINEAR-6. After `torch.nn.functional.linear`.

    >>> nt = pn.nested_array([[[1, 2], [3, 4]], [[5, 6]]], layout=pn.jagged)
    >>> pn.linear(nt, pn.array([[1, 10]]), pn.array([100])).unbind()
    (array([[121],
           [143]]), array([[165]]))
    """
    if type(self) is not NestedArray:
        x, w, b = operands.as_arrays_on_one_device("linear", self, weight, bias, optional=1)
        if not x.ndim:
            raise ShapeError("linear: the input has no dimensions; weight multiplies along the last dimension.")
        check_linear(x.shape[-1], w, b)
        return linear_dense(x, w, b)
    _, w, b = operands.as_arrays_on_one_device("linear", self.data, weight, bias, optional=1)
    if self.ndim < 2:
        raise StructureError("linear: the components have no dimensions; weight multiplies along the last dimension.")
    features = self.regular_size(self.ndim - 1)
    if features is None:
        raise StructureError(
            f"linear: dimension {self.ndim - 1}, the last one, is irregular; all components must have one size there."
        )
    check_linear(features, w, b)
    return map_last_dims(self, (features,), lambda values: linear_dense(values, w, b))
