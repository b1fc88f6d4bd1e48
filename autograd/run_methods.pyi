# Generated from pynested.autograd.dense.reduction and runwise by python -m pynested.stubs.
from typing import TypeAlias

from numpy.typing import DTypeLike as DType

from .array import Array

Dims: TypeAlias = int | tuple[int, ...] | None

class RunMethods:
    def sum(
        self,
        dim: Dims = ...,
        keepdim: bool = False,
        *,
        dtype: DType | None = None,
        axis: Dims = ...,
        keepdims: bool = ...,
    ) -> Array: ...
    def mean(
        self,
        dim: Dims = ...,
        keepdim: bool = False,
        *,
        dtype: DType | None = None,
        axis: Dims = ...,
        keepdims: bool = ...,
    ) -> Array: ...
    def prod(
        self,
        dim: Dims = ...,
        keepdim: bool = False,
        *,
        dtype: DType | None = None,
        axis: Dims = ...,
        keepdims: bool = ...,
    ) -> Array: ...
    def logsumexp(self, dim: Dims = ..., keepdim: bool = False, *, axis: Dims = ..., keepdims: bool = ...) -> Array: ...
    def var(
        self, dim: Dims = ..., keepdim: bool = False, *, correction: float = 1, axis: Dims = ..., keepdims: bool = ...
    ) -> Array: ...
    def amax(self, dim: Dims = ..., keepdim: bool = False, *, axis: Dims = ..., keepdims: bool = ...) -> Array: ...
    def amin(self, dim: Dims = ..., keepdim: bool = False, *, axis: Dims = ..., keepdims: bool = ...) -> Array: ...
    def any(self, dim: Dims = ..., keepdim: bool = False, *, axis: Dims = ..., keepdims: bool = ...) -> Array: ...
    def all(self, dim: Dims = ..., keepdim: bool = False, *, axis: Dims = ..., keepdims: bool = ...) -> Array: ...
    def argmax(self, dim: int = ..., keepdim: bool = False, *, axis: int = ..., keepdims: bool = ...) -> Array: ...
    def argmin(self, dim: int = ..., keepdim: bool = False, *, axis: int = ..., keepdims: bool = ...) -> Array: ...
    def softmax(self, dim: int = ..., *, dtype: DType | None = None, axis: int = ...) -> Array: ...
    def cumsum(self, dim: int = ..., *, dtype: DType | None = None, axis: int = ...) -> Array: ...
