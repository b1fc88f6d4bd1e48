"""`KernelBackend`: the backend of a device with CUDA kernels."""

from __future__ import annotations

from .attention import AttentionKernels
from .normalization import NormalizationKernels
from .products import ProductKernels


class KernelBackend(AttentionKernels, ProductKernels, NormalizationKernels):
    """All kernels: the base classes are named after the six families of kernels."""
