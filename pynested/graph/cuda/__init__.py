"""One CUDA kernel for a chain of elementwise operators, written for it, on devices with kernels.

The registers of a chain (`chains.registers`) say what its rules compute, call by call; on the CPU a program makes them,
block by block, and here a kernel::

    functors    functor_of       the struct of `backends/kernels/functors.cuh` that computes what a register is made by
    text        text_of_kernel   the registers that results need, as the text of one kernel
    launching   Kernel           operands as they lie, the instantiation, the launch

Each line of the text calls a functor and is rounded as an array of the dtype would be, so that the numbers are those of
the operators one by one; sums, differences, products and quotients bit for bit. What a text says depends on the
operators, on their numbers, and on which operands are spread over the others, never on a ragged structure.
"""

from .launching import Kernel, can_fuse, has_others

__all__ = ["Kernel", "can_fuse", "has_others"]
