# Generated from pynested.tables by python -m pynested.stubs.
from collections.abc import Callable
from typing import Any, Literal, overload

from pynested.autograd import Array
from pynested.nested.array import NestedArray
from pynested.nested.operands import Dims, DType, Operand, Plain

__all__ = [
    "sum",
    "nansum",
    "mean",
    "nanmean",
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

@overload
def sum(
    self: Plain,
    dim: Dims = ...,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    axis: Dims = ...,
    keepdims: bool = ...,
) -> Array: ...
@overload
def sum(self: Operand, dim: None = None, keepdim: Literal[False] = False, *, dtype: DType | None = None) -> Array: ...
@overload
def sum(
    self: Operand,
    dim: Dims = ...,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    axis: Dims = ...,
    keepdims: bool = ...,
) -> NestedArray | Array: ...
@overload
def nansum(
    self: Plain,
    dim: Dims = ...,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    axis: Dims = ...,
    keepdims: bool = ...,
) -> Array: ...
@overload
def nansum(
    self: Operand, dim: None = None, keepdim: Literal[False] = False, *, dtype: DType | None = None
) -> Array: ...
@overload
def nansum(
    self: Operand,
    dim: Dims = ...,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    axis: Dims = ...,
    keepdims: bool = ...,
) -> NestedArray | Array: ...
@overload
def mean(
    self: Plain,
    dim: Dims = ...,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    axis: Dims = ...,
    keepdims: bool = ...,
) -> Array: ...
@overload
def mean(self: Operand, dim: None = None, keepdim: Literal[False] = False, *, dtype: DType | None = None) -> Array: ...
@overload
def mean(
    self: Operand,
    dim: Dims = ...,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    axis: Dims = ...,
    keepdims: bool = ...,
) -> NestedArray | Array: ...
@overload
def nanmean(
    self: Plain,
    dim: Dims = ...,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    axis: Dims = ...,
    keepdims: bool = ...,
) -> Array: ...
@overload
def nanmean(
    self: Operand, dim: None = None, keepdim: Literal[False] = False, *, dtype: DType | None = None
) -> Array: ...
@overload
def nanmean(
    self: Operand,
    dim: Dims = ...,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    axis: Dims = ...,
    keepdims: bool = ...,
) -> NestedArray | Array: ...
@overload
def prod(
    self: Plain,
    dim: Dims = ...,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    axis: Dims = ...,
    keepdims: bool = ...,
) -> Array: ...
@overload
def prod(self: Operand, dim: None = None, keepdim: Literal[False] = False, *, dtype: DType | None = None) -> Array: ...
@overload
def prod(
    self: Operand,
    dim: Dims = ...,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    axis: Dims = ...,
    keepdims: bool = ...,
) -> NestedArray | Array: ...
@overload
def logsumexp(
    self: Plain, dim: Dims = ..., keepdim: bool = False, *, axis: Dims = ..., keepdims: bool = ...
) -> Array: ...
@overload
def logsumexp(self: Operand, dim: None = None, keepdim: Literal[False] = False) -> Array: ...
@overload
def logsumexp(
    self: Operand, dim: Dims = ..., keepdim: bool = False, *, axis: Dims = ..., keepdims: bool = ...
) -> NestedArray | Array: ...
@overload
def var(
    self: Plain,
    dim: Dims = ...,
    keepdim: bool = False,
    *,
    correction: float = 1,
    axis: Dims = ...,
    keepdims: bool = ...,
) -> Array: ...
@overload
def var(self: Operand, dim: None = None, keepdim: Literal[False] = False, *, correction: float = 1) -> Array: ...
@overload
def var(
    self: Operand,
    dim: Dims = ...,
    keepdim: bool = False,
    *,
    correction: float = 1,
    axis: Dims = ...,
    keepdims: bool = ...,
) -> NestedArray | Array: ...
@overload
def std(
    self: Plain,
    dim: Dims = ...,
    keepdim: bool = False,
    *,
    correction: float = 1,
    axis: Dims = ...,
    keepdims: bool = ...,
) -> Array: ...
@overload
def std(self: Operand, dim: None = None, keepdim: Literal[False] = False, *, correction: float = 1) -> Array: ...
@overload
def std(
    self: Operand,
    dim: Dims = ...,
    keepdim: bool = False,
    *,
    correction: float = 1,
    axis: Dims = ...,
    keepdims: bool = ...,
) -> NestedArray | Array: ...
@overload
def amax(self: Plain, dim: Dims = ..., keepdim: bool = False, *, axis: Dims = ..., keepdims: bool = ...) -> Array: ...
@overload
def amax(self: Operand, dim: None = None, keepdim: Literal[False] = False) -> Array: ...
@overload
def amax(
    self: Operand, dim: Dims = ..., keepdim: bool = False, *, axis: Dims = ..., keepdims: bool = ...
) -> NestedArray | Array: ...
@overload
def amin(self: Plain, dim: Dims = ..., keepdim: bool = False, *, axis: Dims = ..., keepdims: bool = ...) -> Array: ...
@overload
def amin(self: Operand, dim: None = None, keepdim: Literal[False] = False) -> Array: ...
@overload
def amin(
    self: Operand, dim: Dims = ..., keepdim: bool = False, *, axis: Dims = ..., keepdims: bool = ...
) -> NestedArray | Array: ...
@overload
def any(self: Plain, dim: Dims = ..., keepdim: bool = False, *, axis: Dims = ..., keepdims: bool = ...) -> Array: ...
@overload
def any(self: Operand, dim: None = None, keepdim: Literal[False] = False) -> Array: ...
@overload
def any(
    self: Operand, dim: Dims = ..., keepdim: bool = False, *, axis: Dims = ..., keepdims: bool = ...
) -> NestedArray | Array: ...
@overload
def all(self: Plain, dim: Dims = ..., keepdim: bool = False, *, axis: Dims = ..., keepdims: bool = ...) -> Array: ...
@overload
def all(self: Operand, dim: None = None, keepdim: Literal[False] = False) -> Array: ...
@overload
def all(
    self: Operand, dim: Dims = ..., keepdim: bool = False, *, axis: Dims = ..., keepdims: bool = ...
) -> NestedArray | Array: ...
@overload
def argmax(
    self: Plain, dim: int | None = ..., keepdim: bool = False, *, axis: int | None = ..., keepdims: bool = ...
) -> Array: ...
@overload
def argmax(
    self: Operand, dim: int | None = ..., keepdim: bool = False, *, axis: int | None = ..., keepdims: bool = ...
) -> NestedArray | Array: ...
@overload
def argmin(
    self: Plain, dim: int | None = ..., keepdim: bool = False, *, axis: int | None = ..., keepdims: bool = ...
) -> Array: ...
@overload
def argmin(
    self: Operand, dim: int | None = ..., keepdim: bool = False, *, axis: int | None = ..., keepdims: bool = ...
) -> NestedArray | Array: ...
