"""Methods that reduce dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, overload

from ..decorators import explain_wrong_calls

if TYPE_CHECKING:
    from pynested.autograd.array import Array
    from pynested.nested.operands import Dims, DType, Flag


@explain_wrong_calls
class ReductionMethods:
    """Methods that call the reduction of the same name. If no dimension is given, the result is dense.

    The overloads have the types of the parameters; the definitions after them have the defaults. ``axis`` and
    ``keepdims``, a bool or None, are NumPy's names of ``dim`` and ``keepdim``.
    """

    __slots__ = ()
    _functions: ClassVar[Any]  # the module `pynested.method_functions`

    @overload
    def all(self, dim: None = ..., keepdim: Literal[False] = ...) -> Array: ...
    @overload
    def all(self, dim: Dims = ..., keepdim: bool = ..., *, axis: Dims = ..., keepdims: Flag = ...) -> Self | Array: ...
    def all(self, dim=None, keepdim=False, *, axis=None, keepdims=None):
        """See `pynested.all`."""
        return self._functions.all(self, dim, keepdim, axis=axis, keepdims=keepdims)

    @overload
    def amax(self, dim: None = ..., keepdim: Literal[False] = ...) -> Array: ...
    @overload
    def amax(self, dim: Dims = ..., keepdim: bool = ..., *, axis: Dims = ..., keepdims: Flag = ...) -> Self | Array: ...
    def amax(self, dim=None, keepdim=False, *, axis=None, keepdims=None):
        """See `pynested.amax`."""
        return self._functions.amax(self, dim, keepdim, axis=axis, keepdims=keepdims)

    @overload
    def amin(self, dim: None = ..., keepdim: Literal[False] = ...) -> Array: ...
    @overload
    def amin(self, dim: Dims = ..., keepdim: bool = ..., *, axis: Dims = ..., keepdims: Flag = ...) -> Self | Array: ...
    def amin(self, dim=None, keepdim=False, *, axis=None, keepdims=None):
        """See `pynested.amin`."""
        return self._functions.amin(self, dim, keepdim, axis=axis, keepdims=keepdims)

    @overload
    def any(self, dim: None = ..., keepdim: Literal[False] = ...) -> Array: ...
    @overload
    def any(self, dim: Dims = ..., keepdim: bool = ..., *, axis: Dims = ..., keepdims: Flag = ...) -> Self | Array: ...
    def any(self, dim=None, keepdim=False, *, axis=None, keepdims=None):
        """See `pynested.any`."""
        return self._functions.any(self, dim, keepdim, axis=axis, keepdims=keepdims)

    @overload
    def argmax(self, dim: None = ..., keepdim: Literal[False] = ...) -> Array: ...
    @overload
    def argmax(
        self, dim: int | None = ..., keepdim: bool = ..., *, axis: int | None = ..., keepdims: Flag = ...
    ) -> Self | Array: ...
    def argmax(self, dim=None, keepdim=False, *, axis=None, keepdims=None):
        """See `pynested.argmax`."""
        return self._functions.argmax(self, dim, keepdim, axis=axis, keepdims=keepdims)

    @overload
    def argmin(self, dim: None = ..., keepdim: Literal[False] = ...) -> Array: ...
    @overload
    def argmin(
        self, dim: int | None = ..., keepdim: bool = ..., *, axis: int | None = ..., keepdims: Flag = ...
    ) -> Self | Array: ...
    def argmin(self, dim=None, keepdim=False, *, axis=None, keepdims=None):
        """See `pynested.argmin`."""
        return self._functions.argmin(self, dim, keepdim, axis=axis, keepdims=keepdims)

    @overload
    def logsumexp(self, dim: None = ..., keepdim: Literal[False] = ...) -> Array: ...
    @overload
    def logsumexp(
        self, dim: Dims = ..., keepdim: bool = ..., *, axis: Dims = ..., keepdims: Flag = ...
    ) -> Self | Array: ...
    def logsumexp(self, dim=None, keepdim=False, *, axis=None, keepdims=None):
        """See `pynested.logsumexp`."""
        return self._functions.logsumexp(self, dim, keepdim, axis=axis, keepdims=keepdims)

    @overload
    def mean(self, dim: None = ..., keepdim: Literal[False] = ..., *, dtype: DType | None = ...) -> Array: ...
    @overload
    def mean(
        self, dim: Dims = ..., keepdim: bool = ..., *, dtype: DType | None = ..., axis: Dims = ..., keepdims: Flag = ...
    ) -> Self | Array: ...
    def mean(self, dim=None, keepdim=False, *, dtype=None, axis=None, keepdims=None):
        """See `pynested.mean`."""
        return self._functions.mean(self, dim, keepdim, dtype=dtype, axis=axis, keepdims=keepdims)

    @overload
    def nanmean(self, dim: None = ..., keepdim: Literal[False] = ..., *, dtype: DType | None = ...) -> Array: ...
    @overload
    def nanmean(
        self, dim: Dims = ..., keepdim: bool = ..., *, dtype: DType | None = ..., axis: Dims = ..., keepdims: Flag = ...
    ) -> Self | Array: ...
    def nanmean(self, dim=None, keepdim=False, *, dtype=None, axis=None, keepdims=None):
        """See `pynested.nanmean`."""
        return self._functions.nanmean(self, dim, keepdim, dtype=dtype, axis=axis, keepdims=keepdims)

    @overload
    def nansum(self, dim: None = ..., keepdim: Literal[False] = ..., *, dtype: DType | None = ...) -> Array: ...
    @overload
    def nansum(
        self, dim: Dims = ..., keepdim: bool = ..., *, dtype: DType | None = ..., axis: Dims = ..., keepdims: Flag = ...
    ) -> Self | Array: ...
    def nansum(self, dim=None, keepdim=False, *, dtype=None, axis=None, keepdims=None):
        """See `pynested.nansum`."""
        return self._functions.nansum(self, dim, keepdim, dtype=dtype, axis=axis, keepdims=keepdims)

    @overload
    def prod(self, dim: None = ..., keepdim: Literal[False] = ..., *, dtype: DType | None = ...) -> Array: ...
    @overload
    def prod(
        self, dim: Dims = ..., keepdim: bool = ..., *, dtype: DType | None = ..., axis: Dims = ..., keepdims: Flag = ...
    ) -> Self | Array: ...
    def prod(self, dim=None, keepdim=False, *, dtype=None, axis=None, keepdims=None):
        """See `pynested.prod`."""
        return self._functions.prod(self, dim, keepdim, dtype=dtype, axis=axis, keepdims=keepdims)

    @overload
    def std(self, dim: None = ..., keepdim: Literal[False] = ..., *, correction: float = ...) -> Array: ...
    @overload
    def std(
        self, dim: Dims = ..., keepdim: bool = ..., *, correction: float = ..., axis: Dims = ..., keepdims: Flag = ...
    ) -> Self | Array: ...
    def std(self, dim=None, keepdim=False, *, correction=1, axis=None, keepdims=None):
        """See `pynested.std`."""
        return self._functions.std(self, dim, keepdim, correction=correction, axis=axis, keepdims=keepdims)

    @overload
    def sum(self, dim: None = ..., keepdim: Literal[False] = ..., *, dtype: DType | None = ...) -> Array: ...
    @overload
    def sum(
        self, dim: Dims = ..., keepdim: bool = ..., *, dtype: DType | None = ..., axis: Dims = ..., keepdims: Flag = ...
    ) -> Self | Array: ...
    def sum(self, dim=None, keepdim=False, *, dtype=None, axis=None, keepdims=None):
        """See `pynested.sum`."""
        return self._functions.sum(self, dim, keepdim, dtype=dtype, axis=axis, keepdims=keepdims)

    @overload
    def var(self, dim: None = ..., keepdim: Literal[False] = ..., *, correction: float = ...) -> Array: ...
    @overload
    def var(
        self, dim: Dims = ..., keepdim: bool = ..., *, correction: float = ..., axis: Dims = ..., keepdims: Flag = ...
    ) -> Self | Array: ...
    def var(self, dim=None, keepdim=False, *, correction=1, axis=None, keepdims=None):
        """See `pynested.var`."""
        return self._functions.var(self, dim, keepdim, correction=correction, axis=axis, keepdims=keepdims)
