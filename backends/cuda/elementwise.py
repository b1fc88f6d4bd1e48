"""Functions of one element that array modules lack, or that need a fused adjoint. The host side."""

from __future__ import annotations

import numpy as np

from ..dtypes import is_float
from .device import Array, Device
from .naming import ctype, instance
from .segment import BLOCK

ELEMENTS_OF_A_BLOCK = 4 * BLOCK
MOST_BLOCKS = 1 << 20  # from there on a thread takes more elements


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
    """The error function of floats; bools and ints are taken as float64."""
    return _apply(device, "unary", "Erf", x if is_float(x.dtype) else x.astype(np.float64))


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
    first = operands[0]
    out = device.empty(first.shape, first.dtype)
    if out.size:
        grid = (min(MOST_BLOCKS, -(-out.size // ELEMENTS_OF_A_BLOCK)),)
        args = *(device.own(x) for x in operands), np.int64(out.size), out
        device.launch("elementwise.cu", instance(kernel, op, ctype(first.dtype)), grid, (BLOCK,), args)
    return out
