"""Launches of the kernels of one element."""

from __future__ import annotations

from typing import Any

import numpy as np

from .kernel_device import BLOCK, KernelDevice, RawArray
from .naming import ctype, instantiation

ELEMENTS_PER_BLOCK = 4 * BLOCK  # four for each thread
MAX_BLOCKS = 1 << 20  # from there on a thread takes more elements


def cast(device: KernelDevice, x: RawArray, dtype: np.dtype[Any], /) -> RawArray:
    """Launch cast.cu; ``astype`` of CuPy may flush what is small, and round float64 to float16 twice."""
    return _launched(device, "cast.cu", instantiation("cast", ctype(x.dtype), ctype(dtype)), dtype, x)


def relu(device: KernelDevice, x: RawArray, /) -> RawArray:
    """Launch elementwise.cu with the functor Relu."""
    return _apply(device, "unary", "Relu", x)


def relu_backward(device: KernelDevice, cotangent: RawArray, y: RawArray, /) -> RawArray:
    """Launch elementwise.cu with the functor ReluBackward."""
    return _apply(device, "binary", "ReluBackward", cotangent, y)


def sgn(device: KernelDevice, x: RawArray, /) -> RawArray:
    """Launch elementwise.cu with the functor Sgn."""
    return _apply(device, "unary", "Sgn", x)


def erf(device: KernelDevice, x: RawArray, /) -> RawArray:
    """Launch elementwise.cu with the functor Erf."""
    return _apply(device, "unary", "Erf", x)


def erfc(device: KernelDevice, x: RawArray, /) -> RawArray:
    """Launch elementwise.cu with the functor Erfc."""
    return _apply(device, "unary", "Erfc", x)


def gelu(device: KernelDevice, x: RawArray, /, approximate: str = "none") -> RawArray:
    """Launch elementwise.cu with the functor Gelu or GeluTanh."""
    return _apply(device, "unary", "Gelu" if approximate == "none" else "GeluTanh", x)


def gelu_backward(device: KernelDevice, cotangent: RawArray, x: RawArray, /, approximate: str = "none") -> RawArray:
    """Launch elementwise.cu with the functor GeluBackward or GeluTanhBackward."""
    return _apply(device, "binary", "GeluBackward" if approximate == "none" else "GeluTanhBackward", cotangent, x)


def silu(device: KernelDevice, x: RawArray, /) -> RawArray:
    """Launch elementwise.cu with the functor Silu."""
    return _apply(device, "unary", "Silu", x)


def silu_backward(device: KernelDevice, cotangent: RawArray, x: RawArray, /) -> RawArray:
    """Launch elementwise.cu with the functor SiluBackward."""
    return _apply(device, "binary", "SiluBackward", cotangent, x)


def _apply(device: KernelDevice, kernel: str, op: str, *operands: RawArray) -> RawArray:
    dtype = operands[0].dtype
    return _launched(device, "elementwise.cu", instantiation(kernel, op, ctype(dtype)), dtype, *operands)


def _launched(device: KernelDevice, file: str, name: str, dtype: np.dtype[Any], *operands: RawArray) -> RawArray:
    """What a kernel that takes an element of each operand at a time gives, in ``dtype``."""
    out = device.empty(operands[0].shape, dtype)
    if out.size:
        grid = (min(MAX_BLOCKS, -(-out.size // ELEMENTS_PER_BLOCK)),)
        args = *(device.as_contiguous(x) for x in operands), np.int64(out.size), out
        device.launch(file, name, grid, (BLOCK,), args)
    return out
