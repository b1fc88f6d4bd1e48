"""Methods with operands or parameters. Reductions and changes of shape have modules of their own."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ..decorators import methods

if TYPE_CHECKING:
    from pynested.autograd.array import Array
    from pynested.nested.operands import Dense, DType, Operand


@methods
class MethodsWithArguments:
    """Methods that call the public function of the same name; `@methods` explains a call that does not fit."""

    __slots__ = ()
    _ops: ClassVar[Any]  # the module `pynested.method_functions`

    def add(self, other: Operand, *, alpha: float = 1) -> Self:
        """See `pynested.add`."""
        return self._ops.add(self, other, alpha=alpha)

    def allclose(self, other: Operand, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
        """See `pynested.allclose`."""
        return self._ops.allclose(self, other, rtol, atol, equal_nan)

    def bitwise_and(self, other: Operand) -> Self:
        """See `pynested.bitwise_and`."""
        return self._ops.bitwise_and(self, other)

    def bitwise_or(self, other: Operand) -> Self:
        """See `pynested.bitwise_or`."""
        return self._ops.bitwise_or(self, other)

    def bitwise_xor(self, other: Operand) -> Self:
        """See `pynested.bitwise_xor`."""
        return self._ops.bitwise_xor(self, other)

    def bmm(self, mat2: Operand) -> Self | Array:
        """See `pynested.bmm`."""
        return self._ops.bmm(self, mat2)

    def clamp(self, min: Operand | None = None, max: Operand | None = None) -> Self:
        """See `pynested.clamp`."""
        return self._ops.clamp(self, min, max)

    def cumsum(self, dim: int | None = None, *, dtype: DType | None = None, axis: int | None = None) -> Self:
        """See `pynested.cumsum`."""
        return self._ops.cumsum(self, dim, dtype=dtype, axis=axis)

    def div(self, other: Operand) -> Self:
        """See `pynested.div`."""
        return self._ops.div(self, other)

    def dropout(self, p: float = 0.5, training: bool = True, *, generator: np.random.Generator | None = None) -> Self:
        """See `pynested.dropout`."""
        return self._ops.dropout(self, p, training, generator=generator)

    def eq(self, other: Operand) -> Self:
        """See `pynested.eq`."""
        return self._ops.eq(self, other)

    def equal(self, other: Operand) -> bool:
        """See `pynested.equal`."""
        return self._ops.equal(self, other)

    def floor_divide(self, other: Operand) -> Self:
        """See `pynested.floor_divide`."""
        return self._ops.floor_divide(self, other)

    def ge(self, other: Operand) -> Self:
        """See `pynested.ge`."""
        return self._ops.ge(self, other)

    def gelu(self, approximate: str = "none") -> Self:
        """See `pynested.gelu`."""
        return self._ops.gelu(self, approximate)

    def gt(self, other: Operand) -> Self:
        """See `pynested.gt`."""
        return self._ops.gt(self, other)

    def layer_norm(
        self,
        normalized_shape: int | Sequence[int],
        weight: Dense | None = None,
        bias: Dense | None = None,
        eps: float = 1e-05,
    ) -> Self:
        """See `pynested.layer_norm`."""
        return self._ops.layer_norm(self, normalized_shape, weight, bias, eps)

    def le(self, other: Operand) -> Self:
        """See `pynested.le`."""
        return self._ops.le(self, other)

    def linear(self, weight: Dense, bias: Dense | None = None) -> Self:
        """See `pynested.linear`."""
        return self._ops.linear(self, weight, bias)

    def log_softmax(self, dim: int | None = None, *, dtype: DType | None = None, axis: int | None = None) -> Self:
        """See `pynested.log_softmax`."""
        return self._ops.log_softmax(self, dim, dtype=dtype, axis=axis)

    def logaddexp(self, other: Operand) -> Self:
        """See `pynested.logaddexp`."""
        return self._ops.logaddexp(self, other)

    def logical_and(self, other: Operand) -> Self:
        """See `pynested.logical_and`."""
        return self._ops.logical_and(self, other)

    def logical_or(self, other: Operand) -> Self:
        """See `pynested.logical_or`."""
        return self._ops.logical_or(self, other)

    def logical_xor(self, other: Operand) -> Self:
        """See `pynested.logical_xor`."""
        return self._ops.logical_xor(self, other)

    def lt(self, other: Operand) -> Self:
        """See `pynested.lt`."""
        return self._ops.lt(self, other)

    def masked_fill(self, mask: Operand, value: float) -> Self:
        """See `pynested.masked_fill`."""
        return self._ops.masked_fill(self, mask, value)

    def matmul(self, other: Operand) -> Self | Array:
        """See `pynested.matmul`."""
        return self._ops.matmul(self, other)

    def maximum(self, other: Operand) -> Self:
        """See `pynested.maximum`."""
        return self._ops.maximum(self, other)

    def minimum(self, other: Operand) -> Self:
        """See `pynested.minimum`."""
        return self._ops.minimum(self, other)

    def mul(self, other: Operand) -> Self:
        """See `pynested.mul`."""
        return self._ops.mul(self, other)

    def ne(self, other: Operand) -> Self:
        """See `pynested.ne`."""
        return self._ops.ne(self, other)

    def pow(self, other: Operand) -> Self:
        """See `pynested.pow`."""
        return self._ops.pow(self, other)

    def remainder(self, other: Operand) -> Self:
        """See `pynested.remainder`."""
        return self._ops.remainder(self, other)

    def softmax(self, dim: int | None = None, *, dtype: DType | None = None, axis: int | None = None) -> Self:
        """See `pynested.softmax`."""
        return self._ops.softmax(self, dim, dtype=dtype, axis=axis)

    def softmin(self, dim: int | None = None, *, dtype: DType | None = None, axis: int | None = None) -> Self:
        """See `pynested.softmin`."""
        return self._ops.softmin(self, dim, dtype=dtype, axis=axis)

    def sub(self, other: Operand, *, alpha: float = 1) -> Self:
        """See `pynested.sub`."""
        return self._ops.sub(self, other, alpha=alpha)
