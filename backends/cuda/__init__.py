"""The verbs as raw CUDA kernels: on a GPU through CuPy (``"cuda"``), and on the CPU by emulation (``"emulated"``).

Nothing is imported, compiled or asked of a driver until one of the two devices is first used.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from numpy.typing import DTypeLike

from ..allocator import register_allocator
from ..registry import register_loader

if TYPE_CHECKING:
    from .backend import KernelBackend


@cache
def emulated_kernels() -> KernelBackend:
    """The backend that runs the kernels on the CPU."""
    from .emulated import emulated_backend

    return emulated_backend()


@cache
def cuda_kernels() -> KernelBackend:
    """The backend of the GPU; DeviceError without CuPy, a driver or a GPU."""
    from .cupy import cuda_backend

    return cuda_backend()


def _allocate_emulated(shape: tuple[int, ...], dtype: DTypeLike) -> Any:
    return emulated_kernels().new(shape, dtype)


def _allocate_cuda(shape: tuple[int, ...], dtype: DTypeLike) -> Any:
    return cuda_kernels().new(shape, dtype)


register_loader("emulated", emulated_kernels)
register_loader("cuda", cuda_kernels)
register_allocator("emulated", _allocate_emulated)
register_allocator("cuda", _allocate_cuda)
