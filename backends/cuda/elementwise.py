"""Launches of the kernels that compute each element on its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from .instantiations import instantiation
from .launching_backend import BLOCK, LaunchingBackend, RawArray

ELEMENTS_PER_BLOCK = 4 * BLOCK  # four for each thread
MAX_BLOCKS = 1 << 20  # for more elements than these blocks have, a thread computes more than four


def functor_kernel(functor: str) -> Any:
    """Return a kernel of one or two operands, which launches elementwise.cu with a functor of functors.cuh."""

    def kernel(self: ElementwiseKernels, *operands: RawArray) -> RawArray:
        return self.launch_functor(functor, *operands)

    return kernel


class ElementwiseKernels(LaunchingBackend):
    """Kernels that compute each element on its own."""

    relu = functor_kernel("Relu")
    relu_backward = functor_kernel("ReluBackward")
    sgn = functor_kernel("Sgn")
    erf = functor_kernel("Erf")
    erfc = functor_kernel("Erfc")
    silu = functor_kernel("Silu")
    silu_backward = functor_kernel("SiluBackward")

    def gelu(self, x: RawArray, /, approximate: str = "none") -> RawArray:
        """Launch elementwise.cu with the functor Gelu or GeluTanh."""
        return self.launch_functor("Gelu" if approximate == "none" else "GeluTanh", x)

    def gelu_backward(self, cotangent: RawArray, x: RawArray, /, approximate: str = "none") -> RawArray:
        """Launch elementwise.cu with the functor GeluBackward or GeluTanhBackward."""
        functor = "GeluBackward" if approximate == "none" else "GeluTanhBackward"
        return self.launch_functor(functor, cotangent, x)

    def cast(self, x: RawArray, dtype: np.dtype[Any], /) -> RawArray:
        """Launch cast.cu; ``astype`` of CuPy may flush subnormal numbers, and rounds float64 to float16 twice."""
        return self.launch_elementwise("cast.cu", instantiation("cast", x.dtype, dtype), dtype, x)

    def launch_functor(self, functor: str, *operands: RawArray) -> RawArray:
        """Launch elementwise.cu with a functor; the operands and the result have one dtype."""
        kernel, dtype = "unary" if len(operands) == 1 else "binary", operands[0].dtype
        return self.launch_elementwise("elementwise.cu", instantiation(kernel, functor, dtype), dtype, *operands)

    def launch_elementwise(self, file: str, name: str, dtype: np.dtype[Any], *operands: RawArray) -> RawArray:
        """Return the result, of ``dtype``, of a kernel that computes each element from one element of each operand."""
        out = self.empty(operands[0].shape, dtype)
        args = *map(self.as_contiguous, operands), out.size, out
        self.launch(file, name, (min(MAX_BLOCKS, -(-out.size // ELEMENTS_PER_BLOCK)),), (BLOCK,), args)
        return out
