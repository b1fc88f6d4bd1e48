"""Elementwise operators on nested and dense arrays."""

from __future__ import annotations

from typing import Any

from pynested.autograd import Array, dense
from pynested.autograd.dense.elementwise import scaled
from pynested.backends.errors import ArgumentError
from pynested.mapping import elementwise
from pynested.nested_array import NestedArray

Operand = NestedArray | Array | int | float | bool


def add(self: Any, other: Any, *, alpha: Any = 1) -> Any:
    """``self + alpha * other``."""
    if type(self) is NestedArray or type(other) is NestedArray:
        if alpha != 1:
            other = mul(other, alpha) if type(other) is NestedArray else scaled("add", other, alpha)
        return elementwise("add", dense.add, self, other)
    return dense.add(self, other, alpha=alpha)


def sub(self: Any, other: Any, *, alpha: Any = 1) -> Any:
    """``self - alpha * other``."""
    if type(self) is NestedArray or type(other) is NestedArray:
        if alpha != 1:
            other = mul(other, alpha) if type(other) is NestedArray else scaled("sub", other, alpha)
        return elementwise("sub", dense.sub, self, other)
    return dense.sub(self, other, alpha=alpha)


def mul(self: Any, other: Any) -> Any:
    """``self * other``."""
    if type(self) is NestedArray or type(other) is NestedArray:
        return elementwise("mul", dense.mul, self, other)
    return dense.mul(self, other)


def div(self: Any, other: Any) -> Any:
    """``self / other``."""
    if type(self) is NestedArray or type(other) is NestedArray:
        return elementwise("div", dense.div, self, other)
    return dense.div(self, other)


def neg(self: Any) -> Any:
    """``-self``."""
    return elementwise("neg", dense.neg, self) if type(self) is NestedArray else dense.neg(self)


def abs(self: Any) -> Any:
    """The absolute value of every element."""
    return elementwise("abs", dense.abs, self) if type(self) is NestedArray else dense.abs(self)


def sgn(self: Any) -> Any:
    """The sign of every element."""
    return elementwise("sgn", dense.sgn, self) if type(self) is NestedArray else dense.sgn(self)


def exp(self: Any) -> Any:
    """The exponential of every element."""
    return elementwise("exp", dense.exp, self) if type(self) is NestedArray else dense.exp(self)


def log(self: Any) -> Any:
    """The natural logarithm of every element."""
    return elementwise("log", dense.log, self) if type(self) is NestedArray else dense.log(self)


def sin(self: Any) -> Any:
    """The sine of every element."""
    return elementwise("sin", dense.sin, self) if type(self) is NestedArray else dense.sin(self)


def tanh(self: Any) -> Any:
    """The hyperbolic tangent of every element."""
    return elementwise("tanh", dense.tanh, self) if type(self) is NestedArray else dense.tanh(self)


def relu(self: Any) -> Any:
    """``max(x, 0)`` of every element."""
    return elementwise("relu", dense.relu, self) if type(self) is NestedArray else dense.relu(self)


def gelu(self: Any, approximate: str = "none") -> Any:
    """``x Phi(x)`` of every element."""
    if approximate not in ("none", "tanh"):
        raise ArgumentError(f"gelu: approximate must be 'none' or 'tanh', not {approximate!r}.")
    if type(self) is NestedArray:
        return elementwise("gelu", lambda x: dense.gelu(x, approximate), self)
    return dense.gelu(self, approximate)


def silu(self: Any) -> Any:
    """``x / (1 + exp(-x))`` of every element."""
    return elementwise("silu", dense.silu, self) if type(self) is NestedArray else dense.silu(self)
