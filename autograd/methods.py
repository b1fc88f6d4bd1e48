"""The operators of an array as methods: each calls the function of the same name in `pynested.autograd.dense`.

A method has the docstring of its function; one without a function of its name has its own.
"""

# ruff: noqa: D102, E501, E704

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from .smooth_methods import SmoothMethods, add_methods, add_pairs

if TYPE_CHECKING:
    from . import api as api
    from . import dense as dense
    from .array import Array
else:
    api: Any = None  # set by array.py, once the functions are there
    dense: Any = None


class InPlace(SmoothMethods):
    """Operators that write into the array: refused where a gradient would be wrong, counted everywhere else.

    What is written fits the dtype of the array: floats are rounded to a narrower one, an integer that it has not is an
    OverflowError and a float in a dtype of integers a DTypeError, before anything is written.
    """

    __slots__ = ()

    def add_(self, other: Any, *, alpha: Any = 1) -> Self:
        """Write ``self + alpha * other`` into the array."""
        return dense.overwrite(self, "add", other, alpha=alpha)

    def sub_(self, other: Any, *, alpha: Any = 1) -> Self:
        """Write ``self - alpha * other`` into the array."""
        return dense.overwrite(self, "sub", other, alpha=alpha)

    def mul_(self, other: Any) -> Self:
        """Write ``self * other`` into the array."""
        return dense.overwrite(self, "mul", other)

    def div_(self, other: Any) -> Self:
        """Write ``self / other`` into the array."""
        return dense.overwrite(self, "div", other)

    def neg_(self) -> Self:
        """Write ``-self`` into the array."""
        return dense.overwrite(self, "neg")

    def abs_(self) -> Self:
        """Write the absolute values into the array."""
        return dense.overwrite(self, "abs")

    def relu_(self) -> Self:
        """Write ``max(self, 0)`` into the array."""
        return dense.overwrite(self, "relu")

    def masked_fill_(self, mask: Any, value: Any) -> Self:
        """Write ``value`` where ``mask`` is true."""
        return dense.overwrite(self, "masked_fill", mask, value)

    def copy_(self, source: Any) -> Self:
        """Write the values of ``source``, which broadcasts, into the array."""
        return dense.write(self, "copy", source)

    def fill_(self, value: Any) -> Self:
        """Write ``value`` everywhere."""
        return dense.write(self, "fill", value)

    def zero_(self) -> Self:
        """Write zeros everywhere."""
        return dense.write(self, "zero", 0)


class Methods(InPlace):
    """The operators that make a new array, or a view."""

    __slots__ = ()

    # fmt: off
    def __add__(self, other: Any) -> Array: return dense.binary(dense.add, self, other)
    def __radd__(self, other: Any) -> Array: return dense.binary(dense.add, other, self)
    def __sub__(self, other: Any) -> Array: return dense.binary(dense.sub, self, other)
    def __rsub__(self, other: Any) -> Array: return dense.binary(dense.sub, other, self)
    def __mul__(self, other: Any) -> Array: return dense.binary(dense.mul, self, other)
    def __rmul__(self, other: Any) -> Array: return dense.binary(dense.mul, other, self)
    def __truediv__(self, other: Any) -> Array: return dense.binary(dense.div, self, other)
    def __rtruediv__(self, other: Any) -> Array: return dense.binary(dense.div, other, self)
    def __matmul__(self, other: Any) -> Array: return dense.binary(dense.matmul, self, other)
    def __rmatmul__(self, other: Any) -> Array: return dense.binary(dense.matmul, other, self)
    def __neg__(self) -> Array: return dense.neg(self)
    def __pos__(self) -> Array: return dense.clone(self)
    def __abs__(self) -> Array: return dense.abs(self)
    def __invert__(self) -> Any: return dense.inverted(self, dense.logical_not)
    def __eq__(self, other: object) -> Array: return dense.binary(dense.eq, self, other)  # type: ignore[override]
    def __ne__(self, other: object) -> Array: return dense.binary(dense.ne, self, other)  # type: ignore[override]
    def __lt__(self, other: Any) -> Array: return dense.binary(dense.lt, self, other)
    def __gt__(self, other: Any) -> Array: return dense.binary(dense.gt, self, other)
    def __le__(self, other: Any) -> Array: return dense.binary(dense.le, self, other)
    def __ge__(self, other: Any) -> Array: return dense.binary(dense.ge, self, other)
    def add(self, other: Any, *, alpha: Any = 1) -> Array: return dense.add(self, other, alpha=alpha)
    def sub(self, other: Any, *, alpha: Any = 1) -> Array: return dense.sub(self, other, alpha=alpha)
    def mul(self, other: Any) -> Array: return dense.mul(self, other)
    def div(self, other: Any) -> Array: return dense.div(self, other)
    def maximum(self, other: Any) -> Array: return dense.maximum(self, other)
    def minimum(self, other: Any) -> Array: return dense.minimum(self, other)
    def neg(self) -> Array: return dense.neg(self)
    def abs(self) -> Array: return dense.abs(self)
    def sgn(self) -> Array: return dense.sgn(self)
    def cos(self) -> Array: return dense.cos(self)
    def relu(self) -> Array: return dense.relu(self)
    def gelu(self, approximate: str = "none") -> Array: return dense.gelu(self, approximate)
    def silu(self) -> Array: return dense.silu(self)
    def logical_not(self) -> Array: return dense.logical_not(self)
    def eq(self, other: Any) -> Array: return dense.eq(self, other)
    def lt(self, other: Any) -> Array: return dense.lt(self, other)
    def masked_fill(self, mask: Any, value: Any) -> Array: return dense.masked_fill(self, mask, value)
    def sum(self, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Array: return dense.sum(self, dim, keepdim, dtype=dtype)
    def mean(self, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Array: return dense.mean(self, dim, keepdim, dtype=dtype)
    def prod(self, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Array: return dense.prod(self, dim, keepdim, dtype=dtype)
    def logsumexp(self, dim: Any = None, keepdim: bool = False) -> Array: return dense.logsumexp(self, dim, keepdim)
    def amin(self, dim: Any = None, keepdim: bool = False) -> Array: return dense.amin(self, dim, keepdim)
    def any(self, dim: Any = None, keepdim: bool = False) -> Array: return dense.any(self, dim, keepdim)
    def all(self, dim: Any = None, keepdim: bool = False) -> Array: return dense.all(self, dim, keepdim)
    def argmax(self, dim: int, keepdim: bool = False) -> Array: return dense.argmax(self, dim, keepdim)
    def argmin(self, dim: int, keepdim: bool = False) -> Array: return dense.argmin(self, dim, keepdim)
    def amax(self, dim: Any = None, keepdim: bool = False) -> Array: return dense.amax(self, dim, keepdim)
    def cumsum(self, dim: int, *, dtype: Any = None) -> Array: return dense.cumsum(self, dim, dtype=dtype)
    def softmax(self, dim: int, *, dtype: Any = None) -> Array: return dense.softmax(self, dim, dtype=dtype)
    def layer_norm(self, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Array: return dense.layer_norm(self, normalized_shape, weight, bias, eps)
    def dropout(self, p: float = 0.5, training: bool = True, *, generator: Any = None) -> Array: return dense.dropout(self, p, training, generator=generator)
    def matmul(self, other: Any) -> Array: return dense.matmul(self, other)
    def bmm(self, mat2: Any) -> Array: return dense.bmm(self, mat2)
    def linear(self, weight: Any, bias: Any = None) -> Array: return dense.linear(self, weight, bias)
    def transpose(self, dim0: int, dim1: int) -> Array: return dense.transpose(self, dim0, dim1)
    def permute(self, dims: Any) -> Array: return dense.permute(self, dims)
    def reshape(self, *shape: Any) -> Array: return dense.reshape(self, *shape)
    def reshape_as(self, other: Any) -> Array: return dense.reshape_as(self, other)
    def view(self, *shape: Any) -> Array: return dense.view(self, *shape)
    def broadcast_to(self, shape: Any) -> Array: return dense.broadcast_to(self, shape)
    def unsqueeze(self, dim: int) -> Array: return dense.unsqueeze(self, dim)
    def unflatten(self, dim: int, sizes: Any) -> Array: return dense.unflatten(self, dim, sizes)
    def select(self, dim: int, index: int) -> Array: return dense.select(self, dim, index)
    def narrow(self, dim: int, start: int, length: int) -> Array: return dense.narrow(self, dim, start, length)
    def chunk(self, chunks: int, dim: int = 0) -> tuple[Array, ...]: return dense.chunk(self, chunks, dim)
    def unbind(self, dim: int = 0) -> tuple[Array, ...]: return dense.unbind(self, dim)
    def clone(self) -> Array: return dense.clone(self)
    def contiguous(self) -> Array: return dense.contiguous(self)
    def as_strided(self, size: Any, stride: Any, storage_offset: int = 0) -> Array: return dense.as_strided(self, size, stride, storage_offset)
    def to(self, *targets: Any, dtype: Any = None, device: str | None = None) -> Array: return dense.to(self, *targets, dtype=dtype, device=device)
    def equal(self, other: Any) -> bool: return dense.equal(self, other)
    # fmt: on

    def __getitem__(self, index: Any) -> Array:
        return dense.getitem(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        dense.write(dense.getitem(self, index), "assignment", value)

    def __iadd__(self, other: Any) -> Self:
        return self.add_(other)

    def __isub__(self, other: Any) -> Self:
        return self.sub_(other)

    def __imul__(self, other: Any) -> Self:
        return self.mul_(other)

    def __itruediv__(self, other: Any) -> Self:
        return self.div_(other)

    @property
    def T(self) -> Array:
        """The transposed array: all dimensions in reverse."""
        return dense.permute(self, range(self.ndim)[::-1])  # type: ignore[attr-defined]


def complete() -> None:
    """Add the methods of smooth functions, and give every other one the docstring of its function."""
    add_methods(InPlace, dense.smooth, dense.overwrite)
    add_pairs(Methods, dense.pairs, dense.overwrite, lambda name, a, b: dense.binary(getattr(dense, name), a, b))
    for name, method in vars(Methods).items():
        if callable(method):
            method.__qualname__ = f"Array.{name}"  # what Python calls it where an argument is missing
        if callable(method) and hasattr(dense, name):
            method.__doc__ = getattr(dense, name).__doc__
