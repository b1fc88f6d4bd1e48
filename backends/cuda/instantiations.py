"""The C++ names of dtypes and of instantiations of kernel templates, and the catalogue of instantiations.

The catalogue lists, by file, the instantiations that the backend launches: the emulator compiles those of a file at
once. Generated kernels (pynested/graph/cuda_program.py) are not in the catalogue.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np

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

GROUP_SIZES = (32, 256)  # threads that compute a segment or a row: a warp or a block
COLUMNS_IN_16_BYTES = {"__half": 8, "__nv_bfloat16": 8, "float": 4, "double": 2}  # that a thread reads at once
ALL_TYPES = tuple(CTYPES.values())
FLOAT_TYPES = tuple(COLUMNS_IN_16_BYTES)
HALF_TYPES = FLOAT_TYPES[:2]
INTEGER_TYPES = tuple(ctype for ctype in ALL_TYPES if ctype not in FLOAT_TYPES)  # and bool
WORD_TYPES = tuple(WORD_BY_SIZE.values())
DIMS = (1, 2, 3)
INDEX_TYPES = ("unsigned int", "long long")

# By file: the names of its kernels, each with the choices of every template argument.
CATALOGUE: dict[str, list[tuple[Any, ...]]] = {
    "segment_reduce.cu": [
        *(("segment_reduce", ("Sum", "Max"), (t,), (t,), (1, n), GROUP_SIZES) for t, n in COLUMNS_IN_16_BYTES.items()),
        # Sums of halves over the pieces of a long segment are floats; the sum of these floats is a half.
        ("segment_reduce", ("Sum",), HALF_TYPES, ("float",), (1, 4), GROUP_SIZES),
        ("segment_reduce", ("Sum",), ("float",), HALF_TYPES, (1, 4), GROUP_SIZES),
        *(("segment_reduce", ("Prod", "Min"), (t,), (t,), (1,), GROUP_SIZES) for t in FLOAT_TYPES),
        ("segment_reduce", ("Sum", "Prod"), INTEGER_TYPES, ("long long",), (1,), GROUP_SIZES),
        *(("segment_reduce", ("Max", "Min"), (t,), (t,), (1,), GROUP_SIZES) for t in INTEGER_TYPES),
    ],
    "segment_arg.cu": [("segment_arg", ("Max", "Min"), ALL_TYPES, GROUP_SIZES)],
    "segment_max_backward.cu": [("segment_max_backward", FLOAT_TYPES, GROUP_SIZES)],
    "segment_softmax.cu": [
        ("segment_softmax", FLOAT_TYPES, GROUP_SIZES),
        ("segment_softmax_backward", FLOAT_TYPES, GROUP_SIZES),
    ],
    "segment_cumsum.cu": [("segment_cumsum", (*FLOAT_TYPES, CTYPES["int64"]))],
    "spread.cu": [("spread", WORD_TYPES, GROUP_SIZES)],
    "elementwise.cu": [
        ("unary", ("Relu", "Sgn"), ALL_TYPES),
        ("unary", ("Erf", "Erfc", "Gelu", "GeluTanh", "Silu"), FLOAT_TYPES),
        ("binary", ("ReluBackward", "GeluBackward", "GeluTanhBackward", "SiluBackward"), FLOAT_TYPES),
    ],
    "cast.cu": [("cast", ALL_TYPES, ALL_TYPES)],
    "layer_norm.cu": [
        ("layer_norm", FLOAT_TYPES, GROUP_SIZES),
        ("layer_norm_backward", FLOAT_TYPES, GROUP_SIZES),
        ("layer_norm_parameters", FLOAT_TYPES),
    ],
    "cross_entropy.cu": [("cross_entropy", FLOAT_TYPES, GROUP_SIZES), ("cross_entropy_backward", FLOAT_TYPES)],
    "pad.cu": [("pad", WORD_TYPES), ("unpad", WORD_TYPES)],
    "take_rows.cu": [("take_rows", WORD_TYPES)],
    "add_rows.cu": [("add_rows", ALL_TYPES, GROUP_SIZES)],
    "gather_components.cu": [
        ("gather_components", WORD_TYPES, DIMS, INDEX_TYPES),
        ("gather_transposed", WORD_TYPES[1:]),
    ],
    "scatter_components.cu": [("scatter_components", ALL_TYPES, DIMS, INDEX_TYPES)],
    "matmul_components.cu": [("matmul_components", ALL_TYPES)],
    "attention.cu": [("attention", FLOAT_TYPES)],
    "attention_backward.cu": [
        ("attention_delta", FLOAT_TYPES),
        ("attention_backward_queries", FLOAT_TYPES),
        ("attention_backward_keys", FLOAT_TYPES),
        ("attention_backward_mask", FLOAT_TYPES),
    ],
}


@cache
def all_instantiations() -> dict[str, tuple[str, ...]]:
    """Return the names of all instantiations by file."""
    return {
        file: tuple(instantiation(kernel, *args) for kernel, *choices in kernels for args in product(*choices))
        for file, kernels in CATALOGUE.items()
    }


def instantiation(kernel: str, *arguments: Any) -> str:
    """Return the name of an instantiation, in which a dtype stands as its C++ type.

    ``instantiation("segment_arg", "Max", np.dtype("float32"), 32)`` is ``"segment_arg<Max, float, 32>"``.
    """
    return f"{kernel}<{', '.join(ctype(x) if isinstance(x, np.dtype) else str(x) for x in arguments)}>"


def ctype(dtype: np.dtype[Any]) -> str:
    """Return the C++ type of a dtype; DTypeError if kernels do not support the dtype."""
    if dtype.name not in CTYPES:
        raise DTypeError(f"kernels do not support the dtype {dtype}: they support {', '.join(CTYPES)}.")
    return CTYPES[dtype.name]
