"""The names that C++ gives to dtypes, and to instantiations of kernel templates; the dtype in which kernels add."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import computing_dtype, is_float
from ..errors import DTypeError

CTYPES = {
    "bool": "bool",
    "int8": "signed char",
    "int16": "short",
    "int32": "int",
    "int64": "long long",
    "uint8": "unsigned char",
    "float16": "__half",
    "bfloat16": "__nv_bfloat16",
    "float32": "float",
    "float64": "double",
}
FLOATS = ("float16", "bfloat16", "float32", "float64")
# A kernel that only moves data moves words, of whatever dtype the data is. Their types by their numbers of bytes:
WORD_BY_SIZE = {16: "ulonglong2", 8: "unsigned long long", 4: "unsigned int", 2: "unsigned short", 1: "unsigned char"}


def instantiation(kernel: str, *arguments: Any) -> str:
    """Return the name of an instantiation: ``instantiation("pad", "float", 4)`` is ``"pad<float, 4>"``."""
    return f"{kernel}<{', '.join(map(str, arguments))}>"


def ctype(dtype: Any) -> str:
    """Return the C++ type of a dtype; DTypeError if kernels do not support the dtype."""
    try:
        return CTYPES[np.dtype(dtype).name]
    except (KeyError, TypeError):
        raise DTypeError(f"kernels know no dtype {dtype!r}: those they know are {', '.join(CTYPES)}.") from None


def accumulator_dtype(dtype: Any) -> np.dtype[Any]:
    """Return the dtype in which kernels add: int64 for bools and ints, float32 for halves, or else the dtype itself."""
    dtype = np.dtype(dtype)
    return computing_dtype(dtype) if is_float(dtype) else np.dtype(np.int64)
