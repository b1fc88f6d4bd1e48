"""The greatest and least elements of segments, their indices, and `any` and `all`."""

from __future__ import annotations

from pynested.autograd import Array
from pynested.autograd.decorators import operator
from pynested.lifting.reduction import reduce_dims
from pynested.lifting.result_dtypes import convert_to_bool, detach_for_index
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import Dims, Operand

from ..dim_parameters import dims_or_axis
from ..signatures import one_dim_reduction_signature, reduction_signature


@operator
@reduction_signature
def amax(
    self: Operand, dim: Dims = None, keepdim: bool = False, *, axis: Dims = None, keepdims: bool | None = None
) -> NestedArray | Array:
    """Return the greatest element along ``dim``: ``(B, *, D) -> (B, D)`` along dimension 1.

    The dtype stays. A NaN makes the maximum of its own segment NaN; the maximum of only -inf is -inf.
    EmptyReductionError for an empty segment. Gradient: the cotangent for the greatest element, divided evenly between
    equal ones; not specified for a segment that holds a NaN. Clauses: AMAX-1 to AMAX-8. After `torch.amax`.

    >>> nt = pn.nested_array([[-np.inf], [1.0, 2.0], [3.0, np.nan]], layout=pn.jagged)
    >>> pn.amax(nt, 1)
    array([-inf,   2.,  nan])
    """
    dims, keepdim = dims_or_axis("amax", dim, keepdim, axis, keepdims)
    return reduce_dims("amax", self, dims, keepdim, lambda reducer, x: reducer.amax(x), if_empty=None, noun="maximum")


@operator
@reduction_signature
def amin(
    self: Operand, dim: Dims = None, keepdim: bool = False, *, axis: Dims = None, keepdims: bool | None = None
) -> NestedArray | Array:
    """Return the least element along ``dim``: ``(B, *, D) -> (B, D)`` along dimension 1.

    The dtype stays. A NaN makes the minimum of its own segment NaN; the minimum of only +inf is +inf.
    EmptyReductionError for an empty segment. Gradient: the cotangent for the least element, divided evenly between
    equal ones; not specified for a segment that holds a NaN. Clauses: AMIN-1 to AMIN-8. After `torch.amin`.

    >>> pn.amin(pn.nested_array([[np.inf], [1.0, 2.0], [3.0, np.nan]], layout=pn.jagged), 1)
    array([inf,  1., nan])
    """
    dims, keepdim = dims_or_axis("amin", dim, keepdim, axis, keepdims)
    return reduce_dims("amin", self, dims, keepdim, lambda reducer, x: reducer.amin(x), if_empty=None, noun="minimum")


@operator
@one_dim_reduction_signature
def argmax(
    self: Operand, dim: int | None = None, keepdim: bool = False, *, axis: int | None = None,
    keepdims: bool | None = None,
) -> NestedArray | Array:  # fmt: skip
    """Return the index of the greatest element along ``dim``: ``(B, *, D) -> (B, D)`` along dimension 1.

    The result is int64. An index counts within its component; along dimension 0 it is the number of a component. If
    several elements are equal, the result is the index of the first. If a segment holds a NaN, the result is the index
    of the first NaN. ``dim`` None is for dense arrays only: the result is the index in the flattened array.
    EmptyReductionError for an empty segment. ArgumentError for several dimensions, and if ``dim`` of a nested array is
    None. No gradient. Clauses: ARGMAX-1 to ARGMAX-7, ARGMAX-9 to ARGMAX-12. After `torch.argmax`.

    >>> pn.argmax(pn.nested_array([[1, 3], [7], [2, 9, 9]], layout=pn.jagged), 1)
    array([1, 0, 1])
    """
    dims, keepdim = dims_or_axis("argmax", dim, keepdim, axis, keepdims)
    return reduce_dims(
        "argmax", self, dims, keepdim, lambda reducer, x: reducer.arg_reduce("segment_argmax", x),
        if_empty=None, noun="maximum", convert=detach_for_index, returns_index=True,
    )  # fmt: skip


@operator
@one_dim_reduction_signature
def argmin(
    self: Operand, dim: int | None = None, keepdim: bool = False, *, axis: int | None = None,
    keepdims: bool | None = None,
) -> NestedArray | Array:  # fmt: skip
    """Return the index of the least element along ``dim``: ``(B, *, D) -> (B, D)`` along dimension 1.

    The result is int64. An index counts within its component; along dimension 0 it is the number of a component. If
    several elements are equal, the result is the index of the first. If a segment holds a NaN, the result is the index
    of the first NaN. ``dim`` None is for dense arrays only: the result is the index in the flattened array.
    EmptyReductionError for an empty segment. ArgumentError for several dimensions, and if ``dim`` of a nested array is
    None. No gradient. Clauses: ARGMIN-1 to ARGMIN-7, ARGMIN-9 to ARGMIN-12. After `torch.argmin`.

    >>> pn.argmin(pn.nested_array([[1, 3], [7], [2, 9, 9]], layout=pn.jagged), 1)
    array([0, 0, 0])
    """
    dims, keepdim = dims_or_axis("argmin", dim, keepdim, axis, keepdims)
    return reduce_dims(
        "argmin", self, dims, keepdim, lambda reducer, x: reducer.arg_reduce("segment_argmin", x),
        if_empty=None, noun="minimum", convert=detach_for_index, returns_index=True,
    )  # fmt: skip


@operator
@reduction_signature
def any(
    self: Operand, dim: Dims = None, keepdim: bool = False, *, axis: Dims = None, keepdims: bool | None = None
) -> NestedArray | Array:
    """Return whether any element along ``dim`` is true: ``(B, *, D) -> (B, D)`` along dimension 1.

    The result is bool. Every number except zero is true, NaN too. An empty segment gives False. No gradient. Clauses:
    ANY-1 to ANY-3. After `torch.any`.

    >>> pn.any(pn.nested_array([[0, 1], [], [0]], layout=pn.jagged), 1)
    array([ True, False, False])
    """
    dims, keepdim = dims_or_axis("any", dim, keepdim, axis, keepdims)
    return reduce_dims(
        "any", self, dims, keepdim, lambda reducer, x: reducer.amax(x), if_empty=False, convert=convert_to_bool
    )


@operator
@reduction_signature
def all(
    self: Operand, dim: Dims = None, keepdim: bool = False, *, axis: Dims = None, keepdims: bool | None = None
) -> NestedArray | Array:
    """Return whether all elements along ``dim`` are true: ``(B, *, D) -> (B, D)`` along dimension 1.

    The result is bool. Every number except zero is true, NaN too. An empty segment gives True. No gradient. Clauses:
    ALL-1 to ALL-3. After `torch.all`.

    >>> pn.all(pn.nested_array([[0, 1], [], [0]], layout=pn.jagged), 1)
    array([False,  True, False])
    """
    dims, keepdim = dims_or_axis("all", dim, keepdim, axis, keepdims)
    return reduce_dims(
        "all", self, dims, keepdim, lambda reducer, x: reducer.amin(x), if_empty=True, convert=convert_to_bool
    )
