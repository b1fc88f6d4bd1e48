"""Every instantiation that the host side can ask for: those of a file are emulated together, and NVRTC takes all.

Kernels that are written for a chain of operators (pynested/graph/cuda_program.py) are not among them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product

from .naming import CTYPES, FLOATS, INTEGERS, WORDS, instantiation

GROUPS = (32, 256)
KEPT_ROWS = 4
FLOAT_TYPES = tuple(CTYPES[name] for name in FLOATS)
INTEGER_TYPES = tuple(CTYPES[name] for name in INTEGERS)
ALL_TYPES = tuple(CTYPES.values())
WORD_TYPES = tuple(WORDS.values())
DIMS = (1, 2, 3)
POSITIONS = ("unsigned int", "long long")
PACKS = {"__half": 8, "__nv_bfloat16": 8, "float": 4, "double": 2}


@cache
def all_instantiations() -> dict[str, tuple[str, ...]]:
    """The names of instantiations by file."""
    return {
        "segment_reduce.cu": tuple(_segment_reduce()),
        "segment_arg.cu": _each("segment_arg", ("Max", "Min"), ALL_TYPES, GROUPS),
        "segment_max_backward.cu": _each("segment_max_backward", FLOAT_TYPES, GROUPS),
        "segment_softmax.cu": (
            *_each("segment_softmax", FLOAT_TYPES, (KEPT_ROWS,), GROUPS),
            *_each("segment_softmax_backward", FLOAT_TYPES, (KEPT_ROWS,), GROUPS),
        ),
        "segment_cumsum.cu": _each("segment_cumsum", (*FLOAT_TYPES, CTYPES["int64"])),
        "spread.cu": _each("spread", WORD_TYPES, GROUPS),
        "elementwise.cu": tuple(_elementwise()),
        "cast.cu": _each("cast", ALL_TYPES, ALL_TYPES),
        "layer_norm.cu": (
            *_each("layer_norm", FLOAT_TYPES, GROUPS),
            *_each("layer_norm_backward", FLOAT_TYPES, GROUPS),
            *_each("layer_norm_parameters", FLOAT_TYPES),
        ),
        "cross_entropy.cu": (
            *_each("cross_entropy", FLOAT_TYPES, GROUPS),
            *_each("cross_entropy_backward", FLOAT_TYPES),
        ),
        "pad.cu": (*_each("pad", WORD_TYPES), *_each("unpad", WORD_TYPES)),
        "take_rows.cu": _each("take_rows", WORD_TYPES),
        "add_rows.cu": _each("add_rows", ALL_TYPES, GROUPS),
        "gather_components.cu": (
            *_each("gather_components", WORD_TYPES, DIMS, POSITIONS),
            *_each("gather_transposed", WORD_TYPES[1:]),
        ),
        "scatter_components.cu": _each("scatter_components", ALL_TYPES, DIMS, POSITIONS),
        "matmul_components.cu": _each("matmul_components", ALL_TYPES),
        "attention.cu": _each("attention", FLOAT_TYPES),
        "attention_backward.cu": (
            *_each("attention_delta", FLOAT_TYPES),
            *_each("attention_backward_queries", FLOAT_TYPES),
            *_each("attention_backward_keys", FLOAT_TYPES),
            *_each("attention_backward_mask", FLOAT_TYPES),
        ),
    }


def _each(kernel: str, *choices: tuple[object, ...]) -> tuple[str, ...]:
    return tuple(instantiation(kernel, *chosen) for chosen in product(*choices))


def _elementwise() -> Iterator[str]:
    yield from _each("unary", ("Relu", "Sgn"), ALL_TYPES)
    yield from _each("unary", ("Erf", "Erfc", "Gelu", "GeluTanh", "Silu"), FLOAT_TYPES)
    yield from _each("binary", ("ReluBackward", "GeluBackward", "GeluTanhBackward", "SiluBackward"), FLOAT_TYPES)


def _segment_reduce() -> Iterator[str]:
    for group in GROUPS:
        for op, kind in product(("Sum", "Max"), FLOAT_TYPES):
            for pack in (1, PACKS[kind]):
                yield instantiation("segment_reduce", op, kind, kind, pack, group)
        for half, pack in product(("__half", "__nv_bfloat16"), (1, 4)):  # into pieces, and from pieces
            yield instantiation("segment_reduce", "Sum", half, "float", pack, group)
            yield instantiation("segment_reduce", "Sum", "float", half, pack, group)
        for op, kind in product(("Prod", "Min"), FLOAT_TYPES):
            yield instantiation("segment_reduce", op, kind, kind, 1, group)
        for op, kind in product(("Sum", "Prod", "Max", "Min"), INTEGER_TYPES):
            out = kind if op in ("Max", "Min") else "long long"
            yield instantiation("segment_reduce", op, kind, out, 1, group)
