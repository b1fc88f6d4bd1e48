# Generated from pynested.autograd.dense.reduction and runwise by python -m pynested.stubs.
from collections.abc import Callable
from typing import Any

from pynested.autograd import Array
from pynested.nested.array import NestedArray
from pynested.nested.operands import Dims, DType, Operand

__all__ = [
    "sum",
    "nansum",
    "mean",
    "prod",
    "logsumexp",
    "var",
    "std",
    "amax",
    "amin",
    "any",
    "all",
    "argmax",
    "argmin",
]

NUMPY: dict[Any, Callable[..., Any]]

def sum(
    self: Operand,
    dim: Dims = ...,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    axis: Dims = ...,
    keepdims: bool = ...,
) -> NestedArray | Array: ...
def nansum(
    self: Operand,
    dim: Dims = ...,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    axis: Dims = ...,
    keepdims: bool = ...,
) -> NestedArray | Array: ...
def mean(
    self: Operand,
    dim: Dims = ...,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    axis: Dims = ...,
    keepdims: bool = ...,
) -> NestedArray | Array: ...
def prod(
    self: Operand,
    dim: Dims = ...,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    axis: Dims = ...,
    keepdims: bool = ...,
) -> NestedArray | Array: ...
def logsumexp(
    self: Operand, dim: Dims = ..., keepdim: bool = False, *, axis: Dims = ..., keepdims: bool = ...
) -> NestedArray | Array: ...
def var(
    self: Operand,
    dim: Dims = ...,
    keepdim: bool = False,
    *,
    correction: float = 1,
    axis: Dims = ...,
    keepdims: bool = ...,
) -> NestedArray | Array: ...
def std(
    self: Operand,
    dim: Dims = ...,
    keepdim: bool = False,
    *,
    correction: float = 1,
    axis: Dims = ...,
    keepdims: bool = ...,
) -> NestedArray | Array: ...
def amax(
    self: Operand, dim: Dims = ..., keepdim: bool = False, *, axis: Dims = ..., keepdims: bool = ...
) -> NestedArray | Array: ...
def amin(
    self: Operand, dim: Dims = ..., keepdim: bool = False, *, axis: Dims = ..., keepdims: bool = ...
) -> NestedArray | Array: ...
def any(
    self: Operand, dim: Dims = ..., keepdim: bool = False, *, axis: Dims = ..., keepdims: bool = ...
) -> NestedArray | Array: ...
def all(
    self: Operand, dim: Dims = ..., keepdim: bool = False, *, axis: Dims = ..., keepdims: bool = ...
) -> NestedArray | Array: ...
def argmax(
    self: Operand, dim: int = ..., keepdim: bool = False, *, axis: int = ..., keepdims: bool = ...
) -> NestedArray | Array: ...
def argmin(
    self: Operand, dim: int = ..., keepdim: bool = False, *, axis: int = ..., keepdims: bool = ...
) -> NestedArray | Array: ...
