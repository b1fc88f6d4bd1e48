"""The device "plain": every kernel in a few lines of NumPy, one segment or one component after the other.

Read these kernels first. `backends/interface.py` says what each kernel computes. The modules are named after the six
families of kernels. Floats are computed in float64 and rounded once; no kernel is tuned for speed. The specification
checks these kernels, and they check the kernels of all other devices. The module itself is the backend: every other
name is that of NumPy, and its ufuncs do not warn.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..numpy.elementwise import quiet_ufunc
from .attention import attention, attention_backward
from .elementwise import (
    cast,
    erf,
    erfc,
    gelu,
    gelu_backward,
    relu,
    relu_backward,
    sgn,
    silu,
    silu_backward,
)
from .movement import (
    add_rows,
    copy,
    gather_components,
    pack_list,
    pad,
    scatter_components,
    take_rows,
    unpad,
)
from .products import matmul_components, sum_all, sum_last
from .rows import (
    cross_entropy,
    cross_entropy_backward,
    layer_norm,
    layer_norm_backward,
    softmax_last,
    softmax_last_backward,
)
from .segment import (
    segment_argmax,
    segment_argmin,
    segment_cumsum,
    segment_max,
    segment_max_backward,
    segment_min,
    segment_prod,
    segment_softmax,
    segment_softmax_backward,
    segment_sum,
    spread,
)

__all__ = [
    "add_rows",
    "attention",
    "attention_backward",
    "cast",
    "copy",
    "cross_entropy",
    "cross_entropy_backward",
    "device",
    "erf",
    "erfc",
    "gather_components",
    "gelu",
    "gelu_backward",
    "layer_norm",
    "layer_norm_backward",
    "matmul_components",
    "pack_list",
    "pad",
    "relu",
    "relu_backward",
    "scatter_components",
    "segment_argmax",
    "segment_argmin",
    "segment_cumsum",
    "segment_max",
    "segment_max_backward",
    "segment_min",
    "segment_prod",
    "segment_softmax",
    "segment_softmax_backward",
    "segment_sum",
    "sgn",
    "silu",
    "silu_backward",
    "softmax_last",
    "softmax_last_backward",
    "spread",
    "sum_all",
    "sum_last",
    "take_rows",
    "unpad",
    "xp",
]

device = "plain"
xp = np


def __getattr__(name: str) -> Any:
    value = getattr(np, name)
    if isinstance(value, np.ufunc):
        value = quiet_ufunc(value)
    globals()[name] = value  # so that the next look-up is an ordinary one
    return value
