"""The catalogue: all instantiations of kernels that a launch of the backend may name.

The emulator compiles the instantiations of a file together. Generated kernels (pynested/graph/cuda_program.py) are not
in the catalogue.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

from .naming import BOOL_AND_INTEGERS, CTYPES, FLOATS, WORDS, instantiation

GROUPS = (32, 256)
KEPT_ROWS = (4,)
PACKS = {"__half": 8, "__nv_bfloat16": 8, "float": 4, "double": 2}  # elements of 16 bytes
FLOAT_TYPES = tuple(CTYPES[name] for name in FLOATS)
HALF_TYPES = ("__half", "__nv_bfloat16")
INTEGER_TYPES = tuple(CTYPES[name] for name in BOOL_AND_INTEGERS)
ALL_TYPES = tuple(CTYPES.values())
WORD_TYPES = tuple(WORDS.values())
DIMS = (1, 2, 3)
INDEX_TYPES = ("unsigned int", "long long")

# By file: the names of its kernels, each with the choices of every template argument.
CATALOGUE: dict[str, list[tuple[Any, ...]]] = {
    "segment_reduce.cu": [
        *(("segment_reduce", ("Sum", "Max"), (t,), (t,), (1, PACKS[t]), GROUPS) for t in FLOAT_TYPES),
        ("segment_reduce", ("Sum",), HALF_TYPES, ("float",), (1, 4), GROUPS),  # into sums of pieces
        ("segment_reduce", ("Sum",), ("float",), HALF_TYPES, (1, 4), GROUPS),  # from sums of pieces
        *(("segment_reduce", ("Prod", "Min"), (t,), (t,), (1,), GROUPS) for t in FLOAT_TYPES),
        ("segment_reduce", ("Sum", "Prod"), INTEGER_TYPES, ("long long",), (1,), GROUPS),
        *(("segment_reduce", ("Max", "Min"), (t,), (t,), (1,), GROUPS) for t in INTEGER_TYPES),
    ],
    "segment_arg.cu": [("segment_arg", ("Max", "Min"), ALL_TYPES, GROUPS)],
    "segment_max_backward.cu": [("segment_max_backward", FLOAT_TYPES, GROUPS)],
    "segment_softmax.cu": [
        ("segment_softmax", FLOAT_TYPES, KEPT_ROWS, GROUPS),
        ("segment_softmax_backward", FLOAT_TYPES, KEPT_ROWS, GROUPS),
    ],
    "segment_cumsum.cu": [("segment_cumsum", (*FLOAT_TYPES, CTYPES["int64"]))],
    "spread.cu": [("spread", WORD_TYPES, GROUPS)],
    "elementwise.cu": [
        ("unary", ("Relu", "Sgn"), ALL_TYPES),
        ("unary", ("Erf", "Erfc", "Gelu", "GeluTanh", "Silu"), FLOAT_TYPES),
        ("binary", ("ReluBackward", "GeluBackward", "GeluTanhBackward", "SiluBackward"), FLOAT_TYPES),
    ],
    "cast.cu": [("cast", ALL_TYPES, ALL_TYPES)],
    "layer_norm.cu": [
        ("layer_norm", FLOAT_TYPES, GROUPS),
        ("layer_norm_backward", FLOAT_TYPES, GROUPS),
        ("layer_norm_parameters", FLOAT_TYPES),
    ],
    "cross_entropy.cu": [("cross_entropy", FLOAT_TYPES, GROUPS), ("cross_entropy_backward", FLOAT_TYPES)],
    "pad.cu": [("pad", WORD_TYPES), ("unpad", WORD_TYPES)],
    "take_rows.cu": [("take_rows", WORD_TYPES)],
    "add_rows.cu": [("add_rows", ALL_TYPES, GROUPS)],
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
