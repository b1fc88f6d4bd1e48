"""`KernelBackend`: the backend of a device with CUDA kernels."""

from __future__ import annotations

from .attention import AttentionKernels
from .normalization import NormalizationKernels


class KernelBackend(AttentionKernels, NormalizationKernels):
    """All kernels: the base classes, and their base classes, are named after the six families of kernels."""
