"""Signatures of operators for type checkers: whether the result is dense or nested, from the types of the operands.

A reduction of a dense operand, or over all dimensions, is dense. The result of a function of two operands is nested if
one of them is. Each decorator gives a function the overloads of one signature, and returns the function itself. The
instance of a protocol is called ``this``, as ``self`` is the first operand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol, TypeVar, overload

from pynested.autograd import Array
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import ArrayResult, DenseLike, Dims, DType, Flag, Operand

DimT = TypeVar("DimT", contravariant=True)


class BinaryFunction(Protocol):
    """A function of two operands that broadcast, without other parameters."""

    @overload
    def __call__(this, self: DenseLike, other: DenseLike) -> Array: ...
    @overload
    def __call__(this, self: NestedArray, other: Operand) -> NestedArray: ...
    @overload
    def __call__(this, self: Operand, other: NestedArray) -> NestedArray: ...


class Reduction(Protocol[DimT]):
    """A reduction with the parameters that all reductions have."""

    @overload
    def __call__(
        this, self: DenseLike, dim: DimT = ..., keepdim: bool = ..., *, axis: DimT = ..., keepdims: Flag = ...
    ) -> Array: ...
    @overload
    def __call__(this, self: Operand, dim: None = None, keepdim: Literal[False] = False) -> Array: ...
    @overload
    def __call__(
        this, self: Operand, dim: DimT = ..., keepdim: bool = ..., *, axis: DimT = ..., keepdims: Flag = ...
    ) -> ArrayResult: ...


class ReductionWithDType(Protocol):
    """A reduction with the parameter ``dtype``."""

    @overload
    def __call__(
        this, self: DenseLike, dim: Dims = ..., keepdim: bool = ..., *, dtype: DType | None = ..., axis: Dims = ...,
        keepdims: Flag = ...,
    ) -> Array: ...  # fmt: skip
    @overload
    def __call__(
        this, self: Operand, dim: None = None, keepdim: Literal[False] = False, *, dtype: DType | None = ...
    ) -> Array: ...
    @overload
    def __call__(
        this, self: Operand, dim: Dims = ..., keepdim: bool = ..., *, dtype: DType | None = ..., axis: Dims = ...,
        keepdims: Flag = ...,
    ) -> ArrayResult: ...  # fmt: skip


class ReductionWithCorrection(Protocol):
    """A variance or a standard deviation."""

    @overload
    def __call__(
        this, self: DenseLike, dim: Dims = ..., keepdim: bool = ..., *, correction: float = ..., axis: Dims = ...,
        keepdims: Flag = ...,
    ) -> Array: ...  # fmt: skip
    @overload
    def __call__(
        this, self: Operand, dim: None = None, keepdim: Literal[False] = False, *, correction: float = ...
    ) -> Array: ...
    @overload
    def __call__(
        this, self: Operand, dim: Dims = ..., keepdim: bool = ..., *, correction: float = ..., axis: Dims = ...,
        keepdims: Flag = ...,
    ) -> ArrayResult: ...  # fmt: skip


def binary_signature(function: Callable[..., Any]) -> BinaryFunction:
    """Type a function of two operands."""
    return function


def reduction_signature(function: Callable[..., Any]) -> Reduction[Dims]:
    """Type a reduction along any dimensions, with the parameters that all reductions have."""
    return function


def one_dim_reduction_signature(function: Callable[..., Any]) -> Reduction[int | None]:
    """Type a reduction along one dimension or all, such as `argmax`."""
    return function


def dtype_reduction_signature(function: Callable[..., Any]) -> ReductionWithDType:
    """Type a reduction with the parameter ``dtype``."""
    return function


def correction_reduction_signature(function: Callable[..., Any]) -> ReductionWithCorrection:
    """Type a variance or a standard deviation."""
    return function
