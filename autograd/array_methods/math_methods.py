"""Mathematical functions as methods: of each element, of several operands, and along a dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ..decorators import explain_wrong_calls

if TYPE_CHECKING:
    from pynested.autograd.array import Array
    from pynested.nested.operands import Dense, DType, Operand


@explain_wrong_calls
class MathMethods:
    """Methods that call the public function of the same name."""

    __slots__ = ()
    _functions: ClassVar[Any]  # the module `pynested.method_functions`

    def abs(self) -> Self:
        """See `pynested.abs`."""
        return self._functions.abs(self)

    def acos(self) -> Self:
        """See `pynested.acos`."""
        return self._functions.acos(self)

    def acosh(self) -> Self:
        """See `pynested.acosh`."""
        return self._functions.acosh(self)

    def add(self, other: Operand, *, alpha: float = 1) -> Self:
        """See `pynested.add`."""
        return self._functions.add(self, other, alpha=alpha)

    def allclose(self, other: Operand, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
        """See `pynested.allclose`."""
        return self._functions.allclose(self, other, rtol, atol, equal_nan)

    def asin(self) -> Self:
        """See `pynested.asin`."""
        return self._functions.asin(self)

    def asinh(self) -> Self:
        """See `pynested.asinh`."""
        return self._functions.asinh(self)

    def atan(self) -> Self:
        """See `pynested.atan`."""
        return self._functions.atan(self)

    def atanh(self) -> Self:
        """See `pynested.atanh`."""
        return self._functions.atanh(self)

    def bitwise_and(self, other: Operand) -> Self:
        """See `pynested.bitwise_and`."""
        return self._functions.bitwise_and(self, other)

    def bitwise_or(self, other: Operand) -> Self:
        """See `pynested.bitwise_or`."""
        return self._functions.bitwise_or(self, other)

    def bitwise_xor(self, other: Operand) -> Self:
        """See `pynested.bitwise_xor`."""
        return self._functions.bitwise_xor(self, other)

    def bmm(self, mat2: Operand) -> Self | Array:
        """See `pynested.bmm`."""
        return self._functions.bmm(self, mat2)

    def cbrt(self) -> Self:
        """See `pynested.cbrt`."""
        return self._functions.cbrt(self)

    def ceil(self) -> Self:
        """See `pynested.ceil`."""
        return self._functions.ceil(self)

    def clamp(self, min: Operand | None = None, max: Operand | None = None) -> Self:
        """See `pynested.clamp`."""
        return self._functions.clamp(self, min, max)

    def cos(self) -> Self:
        """See `pynested.cos`."""
        return self._functions.cos(self)

    def cosh(self) -> Self:
        """See `pynested.cosh`."""
        return self._functions.cosh(self)

    def cumsum(self, dim: int | None = None, *, dtype: DType | None = None, axis: int | None = None) -> Self:
        """See `pynested.cumsum`."""
        return self._functions.cumsum(self, dim, dtype=dtype, axis=axis)

    def deg2rad(self) -> Self:
        """See `pynested.deg2rad`."""
        return self._functions.deg2rad(self)

    def div(self, other: Operand) -> Self:
        """See `pynested.div`."""
        return self._functions.div(self, other)

    def dropout(self, p: float = 0.5, training: bool = True, *, generator: np.random.Generator | None = None) -> Self:
        """See `pynested.dropout`."""
        return self._functions.dropout(self, p, training, generator=generator)

    def eq(self, other: Operand) -> Self:
        """See `pynested.eq`."""
        return self._functions.eq(self, other)

    def equal(self, other: Operand) -> bool:
        """See `pynested.equal`."""
        return self._functions.equal(self, other)

    def erf(self) -> Self:
        """See `pynested.erf`."""
        return self._functions.erf(self)

    def erfc(self) -> Self:
        """See `pynested.erfc`."""
        return self._functions.erfc(self)

    def exp(self) -> Self:
        """See `pynested.exp`."""
        return self._functions.exp(self)

    def exp2(self) -> Self:
        """See `pynested.exp2`."""
        return self._functions.exp2(self)

    def expm1(self) -> Self:
        """See `pynested.expm1`."""
        return self._functions.expm1(self)

    def floor(self) -> Self:
        """See `pynested.floor`."""
        return self._functions.floor(self)

    def floor_divide(self, other: Operand) -> Self:
        """See `pynested.floor_divide`."""
        return self._functions.floor_divide(self, other)

    def ge(self, other: Operand) -> Self:
        """See `pynested.ge`."""
        return self._functions.ge(self, other)

    def gelu(self, approximate: str = "none") -> Self:
        """See `pynested.gelu`."""
        return self._functions.gelu(self, approximate)

    def gt(self, other: Operand) -> Self:
        """See `pynested.gt`."""
        return self._functions.gt(self, other)

    def isfinite(self) -> Self:
        """See `pynested.isfinite`."""
        return self._functions.isfinite(self)

    def isinf(self) -> Self:
        """See `pynested.isinf`."""
        return self._functions.isinf(self)

    def isnan(self) -> Self:
        """See `pynested.isnan`."""
        return self._functions.isnan(self)

    def layer_norm(
        self,
        normalized_shape: int | Sequence[int],
        weight: Dense | None = None,
        bias: Dense | None = None,
        eps: float = 1e-05,
    ) -> Self:
        """See `pynested.layer_norm`."""
        return self._functions.layer_norm(self, normalized_shape, weight, bias, eps)

    def le(self, other: Operand) -> Self:
        """See `pynested.le`."""
        return self._functions.le(self, other)

    def linear(self, weight: Dense, bias: Dense | None = None) -> Self:
        """See `pynested.linear`."""
        return self._functions.linear(self, weight, bias)

    def log(self) -> Self:
        """See `pynested.log`."""
        return self._functions.log(self)

    def log10(self) -> Self:
        """See `pynested.log10`."""
        return self._functions.log10(self)

    def log1p(self) -> Self:
        """See `pynested.log1p`."""
        return self._functions.log1p(self)

    def log2(self) -> Self:
        """See `pynested.log2`."""
        return self._functions.log2(self)

    def log_softmax(self, dim: int | None = None, *, dtype: DType | None = None, axis: int | None = None) -> Self:
        """See `pynested.log_softmax`."""
        return self._functions.log_softmax(self, dim, dtype=dtype, axis=axis)

    def logaddexp(self, other: Operand) -> Self:
        """See `pynested.logaddexp`."""
        return self._functions.logaddexp(self, other)

    def logical_and(self, other: Operand) -> Self:
        """See `pynested.logical_and`."""
        return self._functions.logical_and(self, other)

    def logical_not(self) -> Self:
        """See `pynested.logical_not`."""
        return self._functions.logical_not(self)

    def logical_or(self, other: Operand) -> Self:
        """See `pynested.logical_or`."""
        return self._functions.logical_or(self, other)

    def logical_xor(self, other: Operand) -> Self:
        """See `pynested.logical_xor`."""
        return self._functions.logical_xor(self, other)

    def lt(self, other: Operand) -> Self:
        """See `pynested.lt`."""
        return self._functions.lt(self, other)

    def masked_fill(self, mask: Operand, value: float) -> Self:
        """See `pynested.masked_fill`."""
        return self._functions.masked_fill(self, mask, value)

    def matmul(self, other: Operand) -> Self | Array:
        """See `pynested.matmul`."""
        return self._functions.matmul(self, other)

    def maximum(self, other: Operand) -> Self:
        """See `pynested.maximum`."""
        return self._functions.maximum(self, other)

    def minimum(self, other: Operand) -> Self:
        """See `pynested.minimum`."""
        return self._functions.minimum(self, other)

    def mul(self, other: Operand) -> Self:
        """See `pynested.mul`."""
        return self._functions.mul(self, other)

    def ne(self, other: Operand) -> Self:
        """See `pynested.ne`."""
        return self._functions.ne(self, other)

    def neg(self) -> Self:
        """See `pynested.neg`."""
        return self._functions.neg(self)

    def pow(self, other: Operand) -> Self:
        """See `pynested.pow`."""
        return self._functions.pow(self, other)

    def reciprocal(self) -> Self:
        """See `pynested.reciprocal`."""
        return self._functions.reciprocal(self)

    def relu(self) -> Self:
        """See `pynested.relu`."""
        return self._functions.relu(self)

    def remainder(self, other: Operand) -> Self:
        """See `pynested.remainder`."""
        return self._functions.remainder(self, other)

    def round(self) -> Self:
        """See `pynested.round`."""
        return self._functions.round(self)

    def rsqrt(self) -> Self:
        """See `pynested.rsqrt`."""
        return self._functions.rsqrt(self)

    def sgn(self) -> Self:
        """See `pynested.sgn`."""
        return self._functions.sgn(self)

    def sigmoid(self) -> Self:
        """See `pynested.sigmoid`."""
        return self._functions.sigmoid(self)

    def silu(self) -> Self:
        """See `pynested.silu`."""
        return self._functions.silu(self)

    def sin(self) -> Self:
        """See `pynested.sin`."""
        return self._functions.sin(self)

    def sinh(self) -> Self:
        """See `pynested.sinh`."""
        return self._functions.sinh(self)

    def softmax(self, dim: int | None = None, *, dtype: DType | None = None, axis: int | None = None) -> Self:
        """See `pynested.softmax`."""
        return self._functions.softmax(self, dim, dtype=dtype, axis=axis)

    def softmin(self, dim: int | None = None, *, dtype: DType | None = None, axis: int | None = None) -> Self:
        """See `pynested.softmin`."""
        return self._functions.softmin(self, dim, dtype=dtype, axis=axis)

    def sqrt(self) -> Self:
        """See `pynested.sqrt`."""
        return self._functions.sqrt(self)

    def square(self) -> Self:
        """See `pynested.square`."""
        return self._functions.square(self)

    def sub(self, other: Operand, *, alpha: float = 1) -> Self:
        """See `pynested.sub`."""
        return self._functions.sub(self, other, alpha=alpha)

    def tan(self) -> Self:
        """See `pynested.tan`."""
        return self._functions.tan(self)

    def tanh(self) -> Self:
        """See `pynested.tanh`."""
        return self._functions.tanh(self)

    def trunc(self) -> Self:
        """See `pynested.trunc`."""
        return self._functions.trunc(self)
