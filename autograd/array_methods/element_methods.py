"""Methods that compute a function of each element."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import Any, ClassVar, Self


class ElementMethods:
    """Methods that call the public function of the same name."""

    __slots__ = ()
    _ops: ClassVar[Any]  # the module `pynested.method_functions`

    def abs(self) -> Self:
        """See `pynested.abs`."""
        return self._ops.abs(self)

    def acos(self) -> Self:
        """See `pynested.acos`."""
        return self._ops.acos(self)

    def acosh(self) -> Self:
        """See `pynested.acosh`."""
        return self._ops.acosh(self)

    def asin(self) -> Self:
        """See `pynested.asin`."""
        return self._ops.asin(self)

    def asinh(self) -> Self:
        """See `pynested.asinh`."""
        return self._ops.asinh(self)

    def atan(self) -> Self:
        """See `pynested.atan`."""
        return self._ops.atan(self)

    def atanh(self) -> Self:
        """See `pynested.atanh`."""
        return self._ops.atanh(self)

    def cbrt(self) -> Self:
        """See `pynested.cbrt`."""
        return self._ops.cbrt(self)

    def ceil(self) -> Self:
        """See `pynested.ceil`."""
        return self._ops.ceil(self)

    def cos(self) -> Self:
        """See `pynested.cos`."""
        return self._ops.cos(self)

    def cosh(self) -> Self:
        """See `pynested.cosh`."""
        return self._ops.cosh(self)

    def deg2rad(self) -> Self:
        """See `pynested.deg2rad`."""
        return self._ops.deg2rad(self)

    def erf(self) -> Self:
        """See `pynested.erf`."""
        return self._ops.erf(self)

    def erfc(self) -> Self:
        """See `pynested.erfc`."""
        return self._ops.erfc(self)

    def exp(self) -> Self:
        """See `pynested.exp`."""
        return self._ops.exp(self)

    def exp2(self) -> Self:
        """See `pynested.exp2`."""
        return self._ops.exp2(self)

    def expm1(self) -> Self:
        """See `pynested.expm1`."""
        return self._ops.expm1(self)

    def floor(self) -> Self:
        """See `pynested.floor`."""
        return self._ops.floor(self)

    def isfinite(self) -> Self:
        """See `pynested.isfinite`."""
        return self._ops.isfinite(self)

    def isinf(self) -> Self:
        """See `pynested.isinf`."""
        return self._ops.isinf(self)

    def isnan(self) -> Self:
        """See `pynested.isnan`."""
        return self._ops.isnan(self)

    def log(self) -> Self:
        """See `pynested.log`."""
        return self._ops.log(self)

    def log10(self) -> Self:
        """See `pynested.log10`."""
        return self._ops.log10(self)

    def log1p(self) -> Self:
        """See `pynested.log1p`."""
        return self._ops.log1p(self)

    def log2(self) -> Self:
        """See `pynested.log2`."""
        return self._ops.log2(self)

    def logical_not(self) -> Self:
        """See `pynested.logical_not`."""
        return self._ops.logical_not(self)

    def neg(self) -> Self:
        """See `pynested.neg`."""
        return self._ops.neg(self)

    def reciprocal(self) -> Self:
        """See `pynested.reciprocal`."""
        return self._ops.reciprocal(self)

    def relu(self) -> Self:
        """See `pynested.relu`."""
        return self._ops.relu(self)

    def round(self) -> Self:
        """See `pynested.round`."""
        return self._ops.round(self)

    def rsqrt(self) -> Self:
        """See `pynested.rsqrt`."""
        return self._ops.rsqrt(self)

    def sgn(self) -> Self:
        """See `pynested.sgn`."""
        return self._ops.sgn(self)

    def sigmoid(self) -> Self:
        """See `pynested.sigmoid`."""
        return self._ops.sigmoid(self)

    def silu(self) -> Self:
        """See `pynested.silu`."""
        return self._ops.silu(self)

    def sin(self) -> Self:
        """See `pynested.sin`."""
        return self._ops.sin(self)

    def sinh(self) -> Self:
        """See `pynested.sinh`."""
        return self._ops.sinh(self)

    def sqrt(self) -> Self:
        """See `pynested.sqrt`."""
        return self._ops.sqrt(self)

    def square(self) -> Self:
        """See `pynested.square`."""
        return self._ops.square(self)

    def tan(self) -> Self:
        """See `pynested.tan`."""
        return self._ops.tan(self)

    def tanh(self) -> Self:
        """See `pynested.tanh`."""
        return self._ops.tanh(self)

    def trunc(self) -> Self:
        """See `pynested.trunc`."""
        return self._ops.trunc(self)
