"""The operators of a nested array as methods: each calls the function of the same name in `pynested.operators`.

A method has the docstring of its function; one without a function of its name has its own.
"""

# ruff: noqa: D102, E501, E704
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pynested.autograd import Array
from pynested.autograd.dense import inverted
from pynested.autograd.dense.canonical import several
from pynested.autograd.smooth_methods import SmoothMethods, add_methods, add_pairs

if TYPE_CHECKING:
    from .layouts import Layout
    from .nested_array import NestedArray
    from .operands import Dense, Dims, DType, Index, Operand

ops: Any = None  # the module of the operators, which is written in terms of NestedArray and sets this when it is there

_OPERANDS = (Array, int, float, bool, complex, np.ndarray, np.generic)


def _binary(name: str, a: Any, b: Any) -> Any:
    """The operator ``name`` as Python's infix operators need it: NotImplemented for operands of another class."""
    for x in (a, b):
        if not isinstance(x, (*_OPERANDS, Methods)):
            return NotImplemented
    return getattr(ops, name)(a, b)


def _shape(given: tuple[Any, ...]) -> Any:
    """A shape that is given as ``(2, 3)`` or as ``2, 3``."""
    return given[0] if len(given) == 1 and several(given[0]) else given


class Methods(SmoothMethods):
    """Operators that make a new array, a view, or write in place."""

    __slots__ = ()

    # fmt: off
    def __add__(self, other: Operand) -> NestedArray: return _binary("add", self, other)
    def __radd__(self, other: Operand) -> NestedArray: return _binary("add", other, self)
    def __sub__(self, other: Operand) -> NestedArray: return _binary("sub", self, other)
    def __rsub__(self, other: Operand) -> NestedArray: return _binary("sub", other, self)
    def __mul__(self, other: Operand) -> NestedArray: return _binary("mul", self, other)
    def __rmul__(self, other: Operand) -> NestedArray: return _binary("mul", other, self)
    def __truediv__(self, other: Operand) -> NestedArray: return _binary("div", self, other)
    def __rtruediv__(self, other: Operand) -> NestedArray: return _binary("div", other, self)
    def __matmul__(self, other: Operand) -> NestedArray | Array: return _binary("matmul", self, other)
    def __rmatmul__(self, other: Operand) -> NestedArray | Array: return _binary("matmul", other, self)
    def __neg__(self) -> NestedArray: return ops.neg(self)
    def __pos__(self) -> NestedArray: return ops.clone(self)
    def __abs__(self) -> NestedArray: return ops.abs(self)
    def __invert__(self) -> NestedArray: return inverted(self, ops.logical_not)
    def __eq__(self, other: object) -> NestedArray: return _binary("eq", self, other)  # type: ignore[override]
    def __ne__(self, other: object) -> NestedArray: return _binary("ne", self, other)  # type: ignore[override]
    def __lt__(self, other: Operand) -> NestedArray: return _binary("lt", self, other)
    def __gt__(self, other: Operand) -> NestedArray: return _binary("gt", self, other)
    def __le__(self, other: Operand) -> NestedArray: return _binary("le", self, other)
    def __ge__(self, other: Operand) -> NestedArray: return _binary("ge", self, other)
    def __getitem__(self, index: Index) -> NestedArray | Array: return ops.getitem(self, index)
    def add(self, other: Operand, *, alpha: float = 1) -> NestedArray: return ops.add(self, other, alpha=alpha)
    def sub(self, other: Operand, *, alpha: float = 1) -> NestedArray: return ops.sub(self, other, alpha=alpha)
    def mul(self, other: Operand) -> NestedArray: return ops.mul(self, other)
    def div(self, other: Operand) -> NestedArray: return ops.div(self, other)
    def maximum(self, other: Operand) -> NestedArray: return ops.maximum(self, other)
    def minimum(self, other: Operand) -> NestedArray: return ops.minimum(self, other)
    def neg(self) -> NestedArray: return ops.neg(self)
    def abs(self) -> NestedArray: return ops.abs(self)
    def sgn(self) -> NestedArray: return ops.sgn(self)
    def relu(self) -> NestedArray: return ops.relu(self)
    def gelu(self, approximate: str = "none") -> NestedArray: return ops.gelu(self, approximate)
    def silu(self) -> NestedArray: return ops.silu(self)
    def logical_not(self) -> NestedArray: return ops.logical_not(self)
    def eq(self, other: Operand) -> NestedArray: return ops.eq(self, other)
    def lt(self, other: Operand) -> NestedArray: return ops.lt(self, other)
    def masked_fill(self, mask: Operand, value: Any) -> NestedArray: return ops.masked_fill(self, mask, value)
    def sum(self, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None) -> NestedArray | Array: return ops.sum(self, dim, keepdim, dtype=dtype)
    def mean(self, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None) -> NestedArray | Array: return ops.mean(self, dim, keepdim, dtype=dtype)
    def prod(self, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None) -> NestedArray | Array: return ops.prod(self, dim, keepdim, dtype=dtype)
    def logsumexp(self, dim: Dims = None, keepdim: bool = False) -> NestedArray | Array: return ops.logsumexp(self, dim, keepdim)
    def amin(self, dim: Dims = None, keepdim: bool = False) -> NestedArray | Array: return ops.amin(self, dim, keepdim)
    def any(self, dim: Dims = None, keepdim: bool = False) -> NestedArray | Array: return ops.any(self, dim, keepdim)
    def all(self, dim: Dims = None, keepdim: bool = False) -> NestedArray | Array: return ops.all(self, dim, keepdim)
    def argmax(self, dim: int, keepdim: bool = False) -> NestedArray | Array: return ops.argmax(self, dim, keepdim)
    def argmin(self, dim: int, keepdim: bool = False) -> NestedArray | Array: return ops.argmin(self, dim, keepdim)
    def amax(self, dim: Dims = None, keepdim: bool = False) -> NestedArray | Array: return ops.amax(self, dim, keepdim)
    def cumsum(self, dim: int, *, dtype: DType | None = None) -> NestedArray: return ops.cumsum(self, dim, dtype=dtype)
    def softmax(self, dim: int, *, dtype: DType | None = None) -> NestedArray: return ops.softmax(self, dim, dtype=dtype)
    def layer_norm(self, normalized_shape: int | Sequence[int], weight: Dense | None = None, bias: Dense | None = None, eps: float = 1e-5) -> NestedArray: return ops.layer_norm(self, normalized_shape, weight, bias, eps)
    def dropout(self, p: float = 0.5, training: bool = True, *, generator: np.random.Generator | None = None) -> NestedArray: return ops.dropout(self, p, training, generator=generator)
    def matmul(self, other: Operand) -> NestedArray | Array: return ops.matmul(self, other)
    def bmm(self, mat2: Operand) -> NestedArray | Array: return ops.bmm(self, mat2)
    def linear(self, weight: Dense, bias: Dense | None = None) -> NestedArray: return ops.linear(self, weight, bias)
    def transpose(self, dim0: int, dim1: int) -> NestedArray: return ops.transpose(self, dim0, dim1)
    def reshape(self, *shape: Any) -> NestedArray: return ops.reshape(self, _shape(shape))
    def reshape_as(self, other: Operand) -> NestedArray | Array: return ops.reshape_as(self, other)
    def view(self, *shape: Any) -> NestedArray: return ops.view(self, _shape(shape))
    def unsqueeze(self, dim: int) -> NestedArray: return ops.unsqueeze(self, dim)
    def unflatten(self, dim: int, sizes: Sequence[int]) -> NestedArray: return ops.unflatten(self, dim, sizes)
    def select(self, dim: int, index: int) -> NestedArray | Array: return ops.select(self, dim, index)
    def chunk(self, chunks: int, dim: int = 0) -> tuple[NestedArray, ...]: return ops.chunk(self, chunks, dim)
    def ne(self, other: Operand) -> NestedArray: return ops.ne(self, other)
    def le(self, other: Operand) -> NestedArray: return ops.le(self, other)
    def gt(self, other: Operand) -> NestedArray: return ops.gt(self, other)
    def ge(self, other: Operand) -> NestedArray: return ops.ge(self, other)
    def narrow(self, dim: int, start: int, length: int) -> NestedArray: return ops.narrow(self, dim, start, length)
    def unbind(self, dim: int = 0) -> tuple[Array, ...]: return ops.unbind(self, dim)
    def clone(self) -> NestedArray: return ops.clone(self)
    def detach(self) -> NestedArray: return ops.detach(self)
    def contiguous(self) -> NestedArray: return ops.contiguous(self)
    def to_padded_array(self, padding: float, output_size: Sequence[int] | None = None, out: Array | None = None) -> Array: return ops.to_padded_array(self, padding, output_size, out)
    def to(self, *targets: Any, dtype: DType | None = None, device: str | None = None, layout: Layout | None = None) -> NestedArray: return ops.to(self, *targets, dtype=dtype, device=device, layout=layout)
    def to_dense(self) -> Array: return ops.to_dense(self)
    def pin_memory(self) -> NestedArray: return ops.pin_memory(self)
    def equal(self, other: Operand) -> bool: return ops.equal(self, other)
    def add_(self, other: Operand, *, alpha: float = 1) -> Self: return ops.overwrite(self, "add", other, alpha=alpha)
    def sub_(self, other: Operand, *, alpha: float = 1) -> Self: return ops.overwrite(self, "sub", other, alpha=alpha)
    def mul_(self, other: Operand) -> Self: return ops.overwrite(self, "mul", other)
    def div_(self, other: Operand) -> Self: return ops.overwrite(self, "div", other)
    def neg_(self) -> Self: return ops.overwrite(self, "neg")
    def abs_(self) -> Self: return ops.overwrite(self, "abs")
    def relu_(self) -> Self: return ops.overwrite(self, "relu")
    def masked_fill_(self, mask: Operand, value: Any) -> Self: return ops.overwrite(self, "masked_fill", mask, value)
    def copy_(self, source: Any) -> Self: return ops.write(self, "copy", source)
    def fill_(self, value: Any) -> Self: return ops.write(self, "fill", value)
    def zero_(self) -> Self: return ops.write(self, "zero", 0)
    def __setitem__(self, index: Any, value: Any) -> None: ops.assign(self, index, value)
    def __iadd__(self, other: Operand) -> Self: return self.add_(other)
    def __isub__(self, other: Operand) -> Self: return self.sub_(other)
    def __imul__(self, other: Operand) -> Self: return self.mul_(other)
    def __itruediv__(self, other: Operand) -> Self: return self.div_(other)
    # fmt: on


def connect(operators: Any) -> None:
    """Let the methods call the functions of the module ``operators``, and have their docstrings."""
    global ops
    ops = operators
    for name, method in vars(Methods).items():
        if callable(method):
            method.__qualname__ = f"NestedArray.{name}"  # what Python calls it where an argument is missing
        if name.startswith("_"):
            continue
        if name.endswith("_"):
            method.__doc__ = f"Write what `{name[:-1]}` gives into the array itself, whose shape and dtype stay."
        elif hasattr(ops, name):
            method.__doc__ = getattr(ops, name).__doc__
    add_pairs(Methods, ops.pairs, ops.overwrite, _binary)
    add_methods(Methods, ops.smooth, ops.overwrite)  # which have the docstrings of their functions already
