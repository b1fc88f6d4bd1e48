# Generated from pynested.autograd.dense.reduction and runwise by python -m pynested.stubs.
from collections.abc import Callable
from typing import Any, TypeAlias

from numpy.typing import DTypeLike as DType

from ..array import Array
from .entries import Reduction, RunWise

Dims: TypeAlias = int | tuple[int, ...] | None

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
    "softmax",
    "log_softmax",
    "softmin",
    "cumsum",
]

UNSAID: Any
NUMPY: dict[Any, Callable[..., Any]]
Entry: TypeAlias = Reduction | RunWise
OPTIONS: dict[str, tuple[Callable[..., Any], dict[str, Any]]]

def function(entry: Entry, over: Callable[..., Any], module: str, types: dict[str, str] = ...) -> Any: ...
def numpys(functions: dict[str, Any]) -> dict[Any, Callable[..., Any]]: ...
def sum(
    self: Any,
    dim: Dims = ...,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    axis: Dims = ...,
    keepdims: bool = ...,
) -> Array: ...
def nansum(
    self: Any,
    dim: Dims = ...,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    axis: Dims = ...,
    keepdims: bool = ...,
) -> Array: ...
def mean(
    self: Any,
    dim: Dims = ...,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    axis: Dims = ...,
    keepdims: bool = ...,
) -> Array: ...
def prod(
    self: Any,
    dim: Dims = ...,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    axis: Dims = ...,
    keepdims: bool = ...,
) -> Array: ...
def logsumexp(
    self: Any, dim: Dims = ..., keepdim: bool = False, *, axis: Dims = ..., keepdims: bool = ...
) -> Array: ...
def var(
    self: Any, dim: Dims = ..., keepdim: bool = False, *, correction: float = 1, axis: Dims = ..., keepdims: bool = ...
) -> Array: ...
def std(
    self: Any, dim: Dims = ..., keepdim: bool = False, *, correction: float = 1, axis: Dims = ..., keepdims: bool = ...
) -> Array: ...
def amax(self: Any, dim: Dims = ..., keepdim: bool = False, *, axis: Dims = ..., keepdims: bool = ...) -> Array: ...
def amin(self: Any, dim: Dims = ..., keepdim: bool = False, *, axis: Dims = ..., keepdims: bool = ...) -> Array: ...
def any(self: Any, dim: Dims = ..., keepdim: bool = False, *, axis: Dims = ..., keepdims: bool = ...) -> Array: ...
def all(self: Any, dim: Dims = ..., keepdim: bool = False, *, axis: Dims = ..., keepdims: bool = ...) -> Array: ...
def argmax(self: Any, dim: int = ..., keepdim: bool = False, *, axis: int = ..., keepdims: bool = ...) -> Array: ...
def argmin(self: Any, dim: int = ..., keepdim: bool = False, *, axis: int = ..., keepdims: bool = ...) -> Array: ...
def softmax(self: Any, dim: int = ..., *, dtype: DType | None = None, axis: int = ...) -> Array: ...
def log_softmax(self: Any, dim: int = ..., *, dtype: DType | None = None, axis: int = ...) -> Array: ...
def softmin(self: Any, dim: int = ..., *, dtype: DType | None = None, axis: int = ...) -> Array: ...
def cumsum(self: Any, dim: int = ..., *, dtype: DType | None = None, axis: int = ...) -> Array: ...
