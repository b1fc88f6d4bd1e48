"""How arrays are computed: storage, kernels, errors. Knows no gradient and no nested array."""

from __future__ import annotations

if __name__ != "pynested.backends":
    raise ImportError(
        f"{__file__} is pynested.backends, not a top-level package 'backends'; Python found it because the repository "
        f"root is on sys.path. Import it as pynested.backends."
    )

from .allocators import allocator, register_allocator
from .component_layout import Matrices, packed_offsets, packed_strides, same_integers, strided_index, surely_disjoint
from .head_layout import HeadLayout
from .host import transfer
from .interface import Backend
from .plain import PlainBackend
from .registry import canonical_device, devices, get_backend, register_backend, register_kernel
from .segments import Segments
from .storage import Storage

__all__ = [
    "Backend",
    "HeadLayout",
    "Matrices",
    "PlainBackend",
    "Segments",
    "Storage",
    "allocator",
    "canonical_device",
    "devices",
    "get_backend",
    "packed_offsets",
    "packed_strides",
    "register_allocator",
    "register_backend",
    "register_kernel",
    "same_integers",
    "strided_index",
    "surely_disjoint",
    "transfer",
]
