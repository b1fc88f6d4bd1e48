"""Launches of the kernels of one element."""

from __future__ import annotations

from typing import Any

import numpy as np

from .kernel_device import BLOCK, KernelDevice, RawArray
from .naming import ctype, instantiation

ELEMENTS_PER_BLOCK = 4 * BLOCK  # four for each thread
MAX_BLOCKS = 1 << 20  # from there on a thread takes more elements


def unary(functor: str) -> Any:
    """Return a kernel of one operand that launches elementwise.cu with a functor of functors.cuh."""

    def kernel(self: ElementwiseKernels, x: RawArray, /) -> RawArray:
        return self.launch_functor(functor, x)

    return kernel


def binary(functor: str) -> Any:
    """Return a kernel of two operands of one dtype that launches elementwise.cu with a functor of functors.cuh."""

    def kernel(self: ElementwiseKernels, x: RawArray, y: RawArray, /) -> RawArray:
        return self.launch_functor(functor, x, y)

    return kernel


class ElementwiseKernels(KernelDevice):
    """Kernels that compute each element on its own."""

    relu = unary("Relu")
    relu_backward = binary("ReluBackward")
    sgn = unary("Sgn")
    erf = unary("Erf")
    erfc = unary("Erfc")
    silu = unary("Silu")
    silu_backward = binary("SiluBackward")

    def gelu(self, x: RawArray, /, approximate: str = "none") -> RawArray:
        """Launch elementwise.cu with the functor Gelu or GeluTanh."""
        return self.launch_functor("Gelu" if approximate == "none" else "GeluTanh", x)

    def gelu_backward(self, cotangent: RawArray, x: RawArray, /, approximate: str = "none") -> RawArray:
        """Launch elementwise.cu with the functor GeluBackward or GeluTanhBackward."""
        functor = "GeluBackward" if approximate == "none" else "GeluTanhBackward"
        return self.launch_functor(functor, cotangent, x)

    def cast(self, x: RawArray, dtype: np.dtype[Any], /) -> RawArray:
        """Launch cast.cu; ``astype`` of CuPy may flush what is small, and round float64 to float16 twice."""
        return self.launch_elementwise("cast.cu", instantiation("cast", ctype(x.dtype), ctype(dtype)), dtype, x)

    def launch_functor(self, functor: str, *operands: RawArray) -> RawArray:
        """Launch elementwise.cu with a functor of one or two operands of one dtype, which the result has too."""
        kind, dtype = "unary" if len(operands) == 1 else "binary", operands[0].dtype
        return self.launch_elementwise("elementwise.cu", instantiation(kind, functor, ctype(dtype)), dtype, *operands)

    def launch_elementwise(self, file: str, name: str, dtype: np.dtype[Any], *operands: RawArray) -> RawArray:
        """Launch a kernel that takes one element of each operand at a time, and return its result, of ``dtype``."""
        out = self.empty(operands[0].shape, dtype)
        if out.size:
            grid = (min(MAX_BLOCKS, -(-out.size // ELEMENTS_PER_BLOCK)),)
            args = *(self.as_contiguous(x) for x in operands), np.int64(out.size), out
            self.launch(file, name, grid, (BLOCK,), args)
        return out
