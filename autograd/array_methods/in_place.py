"""Methods in place, such as ``add_``: they write the result of a public function into the array itself."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ..dispatch import method

if TYPE_CHECKING:
    from pynested.nested.operands import DType, Operand


class InPlaceMethods:
    """Methods that write the result of the public function of the same name, and return the array.

    The shape, the layout and the dtype of the array stay.
    """

    __slots__ = ()
    _ops: ClassVar[Any]  # the module `pynested.method_functions`

    def abs_(self) -> Self:
        """Write the result of `pynested.abs` into this array."""
        return self._ops.overwrite(self, self._ops.abs)

    def acos_(self) -> Self:
        """Write the result of `pynested.acos` into this array."""
        return self._ops.overwrite(self, self._ops.acos)

    def acosh_(self) -> Self:
        """Write the result of `pynested.acosh` into this array."""
        return self._ops.overwrite(self, self._ops.acosh)

    @method
    def add_(self, other: Operand, *, alpha: float = 1) -> Self:
        """Write the result of `pynested.add` into this array."""
        return self._ops.overwrite(self, self._ops.add, other, alpha=alpha)

    def asin_(self) -> Self:
        """Write the result of `pynested.asin` into this array."""
        return self._ops.overwrite(self, self._ops.asin)

    def asinh_(self) -> Self:
        """Write the result of `pynested.asinh` into this array."""
        return self._ops.overwrite(self, self._ops.asinh)

    def atan_(self) -> Self:
        """Write the result of `pynested.atan` into this array."""
        return self._ops.overwrite(self, self._ops.atan)

    def atanh_(self) -> Self:
        """Write the result of `pynested.atanh` into this array."""
        return self._ops.overwrite(self, self._ops.atanh)

    @method
    def bitwise_and_(self, other: Operand) -> Self:
        """Write the result of `pynested.bitwise_and` into this array."""
        return self._ops.overwrite(self, self._ops.bitwise_and, other)

    @method
    def bitwise_or_(self, other: Operand) -> Self:
        """Write the result of `pynested.bitwise_or` into this array."""
        return self._ops.overwrite(self, self._ops.bitwise_or, other)

    @method
    def bitwise_xor_(self, other: Operand) -> Self:
        """Write the result of `pynested.bitwise_xor` into this array."""
        return self._ops.overwrite(self, self._ops.bitwise_xor, other)

    def cbrt_(self) -> Self:
        """Write the result of `pynested.cbrt` into this array."""
        return self._ops.overwrite(self, self._ops.cbrt)

    def ceil_(self) -> Self:
        """Write the result of `pynested.ceil` into this array."""
        return self._ops.overwrite(self, self._ops.ceil)

    @method
    def clamp_(self, min: Operand | None = None, max: Operand | None = None) -> Self:
        """Write the result of `pynested.clamp` into this array."""
        return self._ops.overwrite(self, self._ops.clamp, min, max)

    def cos_(self) -> Self:
        """Write the result of `pynested.cos` into this array."""
        return self._ops.overwrite(self, self._ops.cos)

    def cosh_(self) -> Self:
        """Write the result of `pynested.cosh` into this array."""
        return self._ops.overwrite(self, self._ops.cosh)

    @method
    def cumsum_(self, dim: int | None = None, *, dtype: DType | None = None, axis: int | None = None) -> Self:
        """Write the result of `pynested.cumsum` into this array."""
        return self._ops.overwrite(self, self._ops.cumsum, dim, dtype=dtype, axis=axis)

    def deg2rad_(self) -> Self:
        """Write the result of `pynested.deg2rad` into this array."""
        return self._ops.overwrite(self, self._ops.deg2rad)

    @method
    def div_(self, other: Operand) -> Self:
        """Write the result of `pynested.div` into this array."""
        return self._ops.overwrite(self, self._ops.div, other)

    @method
    def dropout_(self, p: float = 0.5, training: bool = True, *, generator: np.random.Generator | None = None) -> Self:
        """Write the result of `pynested.dropout` into this array."""
        return self._ops.overwrite(self, self._ops.dropout, p, training, generator=generator)

    @method
    def eq_(self, other: Operand) -> Self:
        """Write the result of `pynested.eq` into this array."""
        return self._ops.overwrite(self, self._ops.eq, other)

    def erf_(self) -> Self:
        """Write the result of `pynested.erf` into this array."""
        return self._ops.overwrite(self, self._ops.erf)

    def erfc_(self) -> Self:
        """Write the result of `pynested.erfc` into this array."""
        return self._ops.overwrite(self, self._ops.erfc)

    def exp_(self) -> Self:
        """Write the result of `pynested.exp` into this array."""
        return self._ops.overwrite(self, self._ops.exp)

    def exp2_(self) -> Self:
        """Write the result of `pynested.exp2` into this array."""
        return self._ops.overwrite(self, self._ops.exp2)

    def expm1_(self) -> Self:
        """Write the result of `pynested.expm1` into this array."""
        return self._ops.overwrite(self, self._ops.expm1)

    def floor_(self) -> Self:
        """Write the result of `pynested.floor` into this array."""
        return self._ops.overwrite(self, self._ops.floor)

    @method
    def floor_divide_(self, other: Operand) -> Self:
        """Write the result of `pynested.floor_divide` into this array."""
        return self._ops.overwrite(self, self._ops.floor_divide, other)

    @method
    def ge_(self, other: Operand) -> Self:
        """Write the result of `pynested.ge` into this array."""
        return self._ops.overwrite(self, self._ops.ge, other)

    @method
    def gelu_(self, approximate: str = "none") -> Self:
        """Write the result of `pynested.gelu` into this array."""
        return self._ops.overwrite(self, self._ops.gelu, approximate)

    @method
    def gt_(self, other: Operand) -> Self:
        """Write the result of `pynested.gt` into this array."""
        return self._ops.overwrite(self, self._ops.gt, other)

    @method
    def le_(self, other: Operand) -> Self:
        """Write the result of `pynested.le` into this array."""
        return self._ops.overwrite(self, self._ops.le, other)

    def log_(self) -> Self:
        """Write the result of `pynested.log` into this array."""
        return self._ops.overwrite(self, self._ops.log)

    def log10_(self) -> Self:
        """Write the result of `pynested.log10` into this array."""
        return self._ops.overwrite(self, self._ops.log10)

    def log1p_(self) -> Self:
        """Write the result of `pynested.log1p` into this array."""
        return self._ops.overwrite(self, self._ops.log1p)

    def log2_(self) -> Self:
        """Write the result of `pynested.log2` into this array."""
        return self._ops.overwrite(self, self._ops.log2)

    @method
    def logaddexp_(self, other: Operand) -> Self:
        """Write the result of `pynested.logaddexp` into this array."""
        return self._ops.overwrite(self, self._ops.logaddexp, other)

    @method
    def logical_and_(self, other: Operand) -> Self:
        """Write the result of `pynested.logical_and` into this array."""
        return self._ops.overwrite(self, self._ops.logical_and, other)

    def logical_not_(self) -> Self:
        """Write the result of `pynested.logical_not` into this array."""
        return self._ops.overwrite(self, self._ops.logical_not)

    @method
    def logical_or_(self, other: Operand) -> Self:
        """Write the result of `pynested.logical_or` into this array."""
        return self._ops.overwrite(self, self._ops.logical_or, other)

    @method
    def logical_xor_(self, other: Operand) -> Self:
        """Write the result of `pynested.logical_xor` into this array."""
        return self._ops.overwrite(self, self._ops.logical_xor, other)

    @method
    def lt_(self, other: Operand) -> Self:
        """Write the result of `pynested.lt` into this array."""
        return self._ops.overwrite(self, self._ops.lt, other)

    @method
    def masked_fill_(self, mask: Operand, value: float) -> Self:
        """Write the result of `pynested.masked_fill` into this array."""
        return self._ops.overwrite(self, self._ops.masked_fill, mask, value)

    @method
    def mul_(self, other: Operand) -> Self:
        """Write the result of `pynested.mul` into this array."""
        return self._ops.overwrite(self, self._ops.mul, other)

    @method
    def ne_(self, other: Operand) -> Self:
        """Write the result of `pynested.ne` into this array."""
        return self._ops.overwrite(self, self._ops.ne, other)

    def neg_(self) -> Self:
        """Write the result of `pynested.neg` into this array."""
        return self._ops.overwrite(self, self._ops.neg)

    @method
    def pow_(self, other: Operand) -> Self:
        """Write the result of `pynested.pow` into this array."""
        return self._ops.overwrite(self, self._ops.pow, other)

    def reciprocal_(self) -> Self:
        """Write the result of `pynested.reciprocal` into this array."""
        return self._ops.overwrite(self, self._ops.reciprocal)

    def relu_(self) -> Self:
        """Write the result of `pynested.relu` into this array."""
        return self._ops.overwrite(self, self._ops.relu)

    @method
    def remainder_(self, other: Operand) -> Self:
        """Write the result of `pynested.remainder` into this array."""
        return self._ops.overwrite(self, self._ops.remainder, other)

    def round_(self) -> Self:
        """Write the result of `pynested.round` into this array."""
        return self._ops.overwrite(self, self._ops.round)

    def rsqrt_(self) -> Self:
        """Write the result of `pynested.rsqrt` into this array."""
        return self._ops.overwrite(self, self._ops.rsqrt)

    def sgn_(self) -> Self:
        """Write the result of `pynested.sgn` into this array."""
        return self._ops.overwrite(self, self._ops.sgn)

    def sigmoid_(self) -> Self:
        """Write the result of `pynested.sigmoid` into this array."""
        return self._ops.overwrite(self, self._ops.sigmoid)

    def silu_(self) -> Self:
        """Write the result of `pynested.silu` into this array."""
        return self._ops.overwrite(self, self._ops.silu)

    def sin_(self) -> Self:
        """Write the result of `pynested.sin` into this array."""
        return self._ops.overwrite(self, self._ops.sin)

    def sinh_(self) -> Self:
        """Write the result of `pynested.sinh` into this array."""
        return self._ops.overwrite(self, self._ops.sinh)

    def sqrt_(self) -> Self:
        """Write the result of `pynested.sqrt` into this array."""
        return self._ops.overwrite(self, self._ops.sqrt)

    def square_(self) -> Self:
        """Write the result of `pynested.square` into this array."""
        return self._ops.overwrite(self, self._ops.square)

    @method
    def sub_(self, other: Operand, *, alpha: float = 1) -> Self:
        """Write the result of `pynested.sub` into this array."""
        return self._ops.overwrite(self, self._ops.sub, other, alpha=alpha)

    def tan_(self) -> Self:
        """Write the result of `pynested.tan` into this array."""
        return self._ops.overwrite(self, self._ops.tan)

    def tanh_(self) -> Self:
        """Write the result of `pynested.tanh` into this array."""
        return self._ops.overwrite(self, self._ops.tanh)

    def trunc_(self) -> Self:
        """Write the result of `pynested.trunc` into this array."""
        return self._ops.overwrite(self, self._ops.trunc)

    @method
    def copy_(self, source: Any) -> Self:
        """Write the values of ``source``, which broadcasts, into this array."""
        return self._ops.write(self, "copy_", source)

    @method
    def fill_(self, value: Any) -> Self:
        """Write ``value`` to every element."""
        return self._ops.write(self, "fill_", value)

    def zero_(self) -> Self:
        """Write 0 to every element."""
        return self._ops.write(self, "zero_", 0)

    @method
    def uniform_(self, low: float = 0.0, high: float = 1.0, generator: np.random.Generator | None = None) -> Self:
        """See `pynested.uniform_`."""
        return self._ops.uniform_(self, low, high, generator)

    @method
    def normal_(self, mean: float = 0.0, std: float = 1.0, generator: np.random.Generator | None = None) -> Self:
        """See `pynested.normal_`."""
        return self._ops.normal_(self, mean, std, generator)
