"""Functions of one element that array modules lack, or that need a fused adjoint. The host side."""

from __future__ import annotations

from typing import Any

import numpy as np

from .device import Array, Device
from .naming import ctype, instantiation
from .segment import BLOCK

ELEMENTS_PER_BLOCK = 4 * BLOCK
MAX_BLOCKS = 1 << 20  # from there on a thread takes more elements


def cast(device: Device, x: Array, dtype: np.dtype[Any], /) -> Array:
    """Each number in another dtype; CuPy's ``astype`` may flush what is small, and round float64 to float16 twice."""
    return _launched(device, "cast.cu", instantiation("cast", ctype(x.dtype), ctype(dtype)), dtype, x)


def relu(device: Device, x: Array, /) -> Array:
    """max(x, 0), any real dtype; NaN stays NaN."""
    return _apply(device, "unary", "Relu", x)


def relu_backward(device: Device, cotangent: Array, y: Array, /) -> Array:
    """The cotangent where y = relu(x) is above 0 or NaN, +0 elsewhere."""
    return _apply(device, "binary", "ReluBackward", cotangent, y)


def sgn(device: Device, x: Array, /) -> Array:
    """-1, 0 or 1 by the sign; NaN stays NaN; a bool is its own sign."""
    return _apply(device, "unary", "Sgn", x)


def erf(device: Device, x: Array, /) -> Array:
    """The error function of floats."""
    return _apply(device, "unary", "Erf", x)


def erfc(device: Device, x: Array, /) -> Array:
    """1 minus the error function of floats, accurate where that is nearly 1."""
    return _apply(device, "unary", "Erfc", x)


def gelu(device: Device, x: Array, /, approximate: str = "none") -> Array:
    """``x Phi(x)``, with the normal distribution function (``"none"``) or its tanh approximation (``"tanh"``)."""
    return _apply(device, "unary", "Gelu" if approximate == "none" else "GeluTanh", x)


def gelu_backward(device: Device, cotangent: Array, x: Array, /, approximate: str = "none") -> Array:
    """``cotangent * gelu'(x)``."""
    return _apply(device, "binary", "GeluBackward" if approximate == "none" else "GeluTanhBackward", cotangent, x)


def silu(device: Device, x: Array, /) -> Array:
    """``x / (1 + exp(-x))``."""
    return _apply(device, "unary", "Silu", x)


def silu_backward(device: Device, cotangent: Array, x: Array, /) -> Array:
    """``cotangent * silu'(x)``."""
    return _apply(device, "binary", "SiluBackward", cotangent, x)


def _apply(device: Device, kernel: str, op: str, *operands: Array) -> Array:
    dtype = operands[0].dtype
    return _launched(device, "elementwise.cu", instantiation(kernel, op, ctype(dtype)), dtype, *operands)


def _launched(device: Device, file: str, name: str, dtype: np.dtype[Any], *operands: Array) -> Array:
    """What a kernel that takes an element of each operand at a time gives, in ``dtype``."""
    out = device.empty(operands[0].shape, dtype)
    if out.size:
        grid = (min(MAX_BLOCKS, -(-out.size // ELEMENTS_PER_BLOCK)),)
        args = *(device.as_contiguous(x) for x in operands), np.int64(out.size), out
        device.launch(file, name, grid, (BLOCK,), args)
    return out
