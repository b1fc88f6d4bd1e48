"""The operators of a nested array as methods: each calls the function of the same name in `pynested.operators`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pynested.autograd import Array
from pynested.autograd.dense.canonical import canonical_shape

if TYPE_CHECKING:
    from pynested import operators as ops
else:
    ops: Any = None  # set by pynested/__init__.py, once the operators are there

_NUMBERS = (Array, int, float, bool, complex, np.ndarray, np.generic)


def _binary(name: str, a: Any, b: Any) -> Any:
    """The operator ``name`` as Python's infix operators need it: NotImplemented for operands of another class."""
    for x in (a, b):
        if not isinstance(x, (*_NUMBERS, Methods)):
            return NotImplemented
    return getattr(ops, name)(a, b)


class Methods:
    """Operators that make a new array, a view, or write in place."""

    __slots__ = ()

    # fmt: off
    def __add__(self, other: Any) -> Any: return _binary("add", self, other)
    def __radd__(self, other: Any) -> Any: return _binary("add", other, self)
    def __sub__(self, other: Any) -> Any: return _binary("sub", self, other)
    def __rsub__(self, other: Any) -> Any: return _binary("sub", other, self)
    def __mul__(self, other: Any) -> Any: return _binary("mul", self, other)
    def __rmul__(self, other: Any) -> Any: return _binary("mul", other, self)
    def __truediv__(self, other: Any) -> Any: return _binary("div", self, other)
    def __rtruediv__(self, other: Any) -> Any: return _binary("div", other, self)
    def __matmul__(self, other: Any) -> Any: return _binary("matmul", self, other)
    def __rmatmul__(self, other: Any) -> Any: return _binary("matmul", other, self)
    def __neg__(self) -> Any: return ops.neg(self)
    def __pos__(self) -> Any: return ops.clone(self)
    def __abs__(self) -> Any: return ops.abs(self)
    def __invert__(self) -> Any: return ops.logical_not(self)
    def __eq__(self, other: object) -> Any: return _binary("eq", self, other)
    def __ne__(self, other: object) -> Any: return _binary("ne", self, other)
    def __lt__(self, other: Any) -> Any: return _binary("lt", self, other)
    def __gt__(self, other: Any) -> Any: return _binary("lt", other, self)
    def __getitem__(self, index: Any) -> Any: return ops.getitem(self, index)
    def add(self, other: Any, *, alpha: Any = 1) -> Any: return ops.add(self, other, alpha=alpha)
    def sub(self, other: Any, *, alpha: Any = 1) -> Any: return ops.sub(self, other, alpha=alpha)
    def mul(self, other: Any) -> Any: return ops.mul(self, other)
    def div(self, other: Any) -> Any: return ops.div(self, other)
    def neg(self) -> Any: return ops.neg(self)
    def abs(self) -> Any: return ops.abs(self)
    def sgn(self) -> Any: return ops.sgn(self)
    def exp(self) -> Any: return ops.exp(self)
    def log(self) -> Any: return ops.log(self)
    def sin(self) -> Any: return ops.sin(self)
    def tanh(self) -> Any: return ops.tanh(self)
    def relu(self) -> Any: return ops.relu(self)
    def gelu(self, approximate: str = "none") -> Any: return ops.gelu(self, approximate)
    def silu(self) -> Any: return ops.silu(self)
    def logical_not(self) -> Any: return ops.logical_not(self)
    def eq(self, other: Any) -> Any: return ops.eq(self, other)
    def lt(self, other: Any) -> Any: return ops.lt(self, other)
    def masked_fill(self, mask: Any, value: Any) -> Any: return ops.masked_fill(self, mask, value)
    def sum(self, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any: return ops.sum(self, dim, keepdim, dtype=dtype)
    def mean(self, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any: return ops.mean(self, dim, keepdim, dtype=dtype)
    def amax(self, dim: Any = None, keepdim: bool = False) -> Any: return ops.amax(self, dim, keepdim)
    def softmax(self, dim: int, *, dtype: Any = None) -> Any: return ops.softmax(self, dim, dtype=dtype)
    def layer_norm(self, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any: return ops.layer_norm(self, normalized_shape, weight, bias, eps)
    def dropout(self, p: float = 0.5, training: bool = True, *, generator: Any = None) -> Any: return ops.dropout(self, p, training, generator=generator)
    def matmul(self, other: Any) -> Any: return ops.matmul(self, other)
    def bmm(self, mat2: Any) -> Any: return ops.bmm(self, mat2)
    def linear(self, weight: Any, bias: Any = None) -> Any: return ops.linear(self, weight, bias)
    def transpose(self, dim0: int, dim1: int) -> Any: return ops.transpose(self, dim0, dim1)
    def reshape(self, *shape: Any) -> Any: return ops.reshape(self, canonical_shape("reshape", shape))
    def reshape_as(self, other: Any) -> Any: return ops.reshape_as(self, other)
    def view(self, *shape: Any) -> Any: return ops.view(self, canonical_shape("view", shape))
    def unsqueeze(self, dim: int) -> Any: return ops.unsqueeze(self, dim)
    def unflatten(self, dim: int, sizes: Any) -> Any: return ops.unflatten(self, dim, sizes)
    def select(self, dim: int, index: int) -> Any: return ops.select(self, dim, index)
    def chunk(self, chunks: int, dim: int = 0) -> Any: return ops.chunk(self, chunks, dim)
    def unbind(self, dim: int = 0) -> Any: return ops.unbind(self, dim)
    def clone(self) -> Any: return ops.clone(self)
    def detach(self) -> Any: return ops.detach(self)
    def contiguous(self) -> Any: return ops.contiguous(self)
    def to_padded_array(self, padding: Any, output_size: Any = None, *, out: Any = None) -> Any: return ops.to_padded_array(self, padding, output_size, out=out)
    def to(self, *targets: Any, layout: Any = None) -> Any: return ops.to(self, *targets, layout=layout)
    def to_dense(self) -> Any: return ops.to_dense(self)
    def pin_memory(self) -> Any: return ops.pin_memory(self)
    def equal(self, other: Any) -> bool: return ops.equal(self, other)
    def add_(self, other: Any) -> Self: return ops.overwrite(self, "add", other)
    def sub_(self, other: Any) -> Self: return ops.overwrite(self, "sub", other)
    def mul_(self, other: Any) -> Self: return ops.overwrite(self, "mul", other)
    def div_(self, other: Any) -> Self: return ops.overwrite(self, "div", other)
    def neg_(self) -> Self: return ops.overwrite(self, "neg")
    def abs_(self) -> Self: return ops.overwrite(self, "abs")
    def exp_(self) -> Self: return ops.overwrite(self, "exp")
    def relu_(self) -> Self: return ops.overwrite(self, "relu")
    def masked_fill_(self, mask: Any, value: Any) -> Self: return ops.overwrite(self, "masked_fill", mask, value)
    def copy_(self, source: Any) -> Self: return ops.write(self, "copy", source)
    def fill_(self, value: Any) -> Self: return ops.write(self, "fill", value)
    def zero_(self) -> Self: return ops.write(self, "zero", 0)
    def __setitem__(self, index: Any, value: Any) -> None: ops.write(ops.getitem(self, index), "assignment", value)
    def __iadd__(self, other: Any) -> Self: return self.add_(other)
    def __isub__(self, other: Any) -> Self: return self.sub_(other)
    def __imul__(self, other: Any) -> Self: return self.mul_(other)
    def __itruediv__(self, other: Any) -> Self: return self.div_(other)
    # fmt: on
