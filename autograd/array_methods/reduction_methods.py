"""Methods that reduce dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, overload

from ..decorators import explain_wrong_calls, typed_as

if TYPE_CHECKING:
    from pynested.autograd.array import Array
    from pynested.nested.operands import Dims, DType, Flag

T = TypeVar("T")  # the class of the array; in place of Self, which pyright loses through `typed_as`


@explain_wrong_calls
class ReductionMethods:
    """Methods that call the reduction of the same name. If no dimension is given, the result is dense.

    The overloads have the types of the parameters, and the definitions have the defaults. ``@typed_as(m)`` gives a
    method the overloads of m. ``axis`` and ``keepdims`` are NumPy's names of ``dim`` and ``keepdim``.
    """

    __slots__ = ()
    _functions: ClassVar[Any]  # the module `pynested.method_functions`

    @overload
    def all(self, dim: None = ..., keepdim: Literal[False] = ...) -> Array: ...
    @overload
    def all(self: T, dim: Dims = ..., keepdim: bool = ..., *, axis: Dims = ..., keepdims: Flag = ...) -> T | Array: ...
    def all(self, dim=None, keepdim=False, *, axis=None, keepdims=None):
        """See `pynested.all`."""
        return self._functions.all(self, dim, keepdim, axis=axis, keepdims=keepdims)

    @typed_as(all)
    def amax(self, dim=None, keepdim=False, *, axis=None, keepdims=None):
        """See `pynested.amax`."""
        return self._functions.amax(self, dim, keepdim, axis=axis, keepdims=keepdims)

    @typed_as(all)
    def amin(self, dim=None, keepdim=False, *, axis=None, keepdims=None):
        """See `pynested.amin`."""
        return self._functions.amin(self, dim, keepdim, axis=axis, keepdims=keepdims)

    @typed_as(all)
    def any(self, dim=None, keepdim=False, *, axis=None, keepdims=None):
        """See `pynested.any`."""
        return self._functions.any(self, dim, keepdim, axis=axis, keepdims=keepdims)

    @overload
    def argmax(self, dim: None = ..., keepdim: Literal[False] = ...) -> Array: ...
    @overload
    def argmax(
        self: T, dim: int | None = ..., keepdim: bool = ..., *, axis: int | None = ..., keepdims: Flag = ...
    ) -> T | Array: ...
    def argmax(self, dim=None, keepdim=False, *, axis=None, keepdims=None):
        """See `pynested.argmax`."""
        return self._functions.argmax(self, dim, keepdim, axis=axis, keepdims=keepdims)

    @typed_as(argmax)
    def argmin(self, dim=None, keepdim=False, *, axis=None, keepdims=None):
        """See `pynested.argmin`."""
        return self._functions.argmin(self, dim, keepdim, axis=axis, keepdims=keepdims)

    @typed_as(all)
    def logsumexp(self, dim=None, keepdim=False, *, axis=None, keepdims=None):
        """See `pynested.logsumexp`."""
        return self._functions.logsumexp(self, dim, keepdim, axis=axis, keepdims=keepdims)

    @overload
    def mean(self, dim: None = ..., keepdim: Literal[False] = ..., *, dtype: DType | None = ...) -> Array: ...
    @overload
    def mean(
        self: T, dim: Dims = ..., keepdim: bool = ..., *, dtype: DType | None = ..., axis: Dims = ...,
        keepdims: Flag = ...,
    ) -> T | Array: ...  # fmt: skip
    def mean(self, dim=None, keepdim=False, *, dtype=None, axis=None, keepdims=None):
        """See `pynested.mean`."""
        return self._functions.mean(self, dim, keepdim, dtype=dtype, axis=axis, keepdims=keepdims)

    @typed_as(mean)
    def nanmean(self, dim=None, keepdim=False, *, dtype=None, axis=None, keepdims=None):
        """See `pynested.nanmean`."""
        return self._functions.nanmean(self, dim, keepdim, dtype=dtype, axis=axis, keepdims=keepdims)

    @typed_as(mean)
    def nansum(self, dim=None, keepdim=False, *, dtype=None, axis=None, keepdims=None):
        """See `pynested.nansum`."""
        return self._functions.nansum(self, dim, keepdim, dtype=dtype, axis=axis, keepdims=keepdims)

    @typed_as(mean)
    def prod(self, dim=None, keepdim=False, *, dtype=None, axis=None, keepdims=None):
        """See `pynested.prod`."""
        return self._functions.prod(self, dim, keepdim, dtype=dtype, axis=axis, keepdims=keepdims)

    @overload
    def std(self, dim: None = ..., keepdim: Literal[False] = ..., *, correction: float = ...) -> Array: ...
    @overload
    def std(
        self: T, dim: Dims = ..., keepdim: bool = ..., *, correction: float = ..., axis: Dims = ...,
        keepdims: Flag = ...,
    ) -> T | Array: ...  # fmt: skip
    def std(self, dim=None, keepdim=False, *, correction=1, axis=None, keepdims=None):
        """See `pynested.std`."""
        return self._functions.std(self, dim, keepdim, correction=correction, axis=axis, keepdims=keepdims)

    @typed_as(mean)
    def sum(self, dim=None, keepdim=False, *, dtype=None, axis=None, keepdims=None):
        """See `pynested.sum`."""
        return self._functions.sum(self, dim, keepdim, dtype=dtype, axis=axis, keepdims=keepdims)

    @typed_as(std)
    def var(self, dim=None, keepdim=False, *, correction=1, axis=None, keepdims=None):
        """See `pynested.var`."""
        return self._functions.var(self, dim, keepdim, correction=correction, axis=axis, keepdims=keepdims)
