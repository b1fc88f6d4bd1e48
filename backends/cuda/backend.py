"""`KernelBackend`: the backend of a device with CUDA kernels."""

from __future__ import annotations

from .attention import AttentionKernels
from .products import ProductKernels
from .rows import RowKernels


class KernelBackend(AttentionKernels, ProductKernels, RowKernels):
    """All kernels: the base classes are named after the six families of kernels."""
