"""The kernels as raw CUDA text: on a GPU through CuPy (``"cuda"``), and on the CPU by emulation (``"emulated"``).

No kernel is compiled and no driver called until one of the two devices is first used. The modules that launch kernels
are named after the six families of kernels.
"""

from __future__ import annotations

from .attention import AttentionKernels
from .normalization import NormalizationKernels


class KernelBackend(AttentionKernels, NormalizationKernels):
    """The kernels of the devices "cuda" and "emulated"; the launcher of a backend runs them."""
