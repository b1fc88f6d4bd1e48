"""The verbs in NumPy and SciPy, quickly: `backends/plain` has each of them in a few lines.

The module itself is the backend: names it lacks are NumPy's, its ufuncs made quiet. A quiet ufunc takes positional
operands and ``out``; ``xp`` has the rest (``dtype=``, ``where=``, ``.reduce``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .activations import erf, erfc, gelu, gelu_backward, relu_backward, silu, silu_backward
from .attention_forward import attention
from .attention_gradients import attention_backward
from .elementwise import cast, exp, log, quiet_ufunc, relu, sgn, sin, tanh, where
from .losses import cross_entropy, cross_entropy_backward
from .movement import add_rows, concatenate, pack_list, pad, take_rows, unpad
from .normalization import (
    layer_norm,
    layer_norm_backward,
    segment_softmax,
    segment_softmax_backward,
    softmax_last,
    softmax_last_backward,
)
from .placement import gather_components, scatter_components
from .products import matmul, matmul_components, sum_all, sum_last
from .running import copy, quietly
from .scan import segment_cumsum
from .segment import (
    segment_argmax,
    segment_argmin,
    segment_max,
    segment_max_backward,
    segment_min,
    segment_prod,
    segment_sum,
    spread,
)

__all__ = [
    "add_rows",
    "attention",
    "attention_backward",
    "cast",
    "concatenate",
    "copy",
    "cross_entropy",
    "cross_entropy_backward",
    "device",
    "erf",
    "erfc",
    "exp",
    "gather_components",
    "gelu",
    "gelu_backward",
    "layer_norm",
    "layer_norm_backward",
    "log",
    "matmul",
    "matmul_components",
    "pack_list",
    "pad",
    "quietly",
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
    "sin",
    "softmax_last",
    "softmax_last_backward",
    "spread",
    "sum_all",
    "sum_last",
    "take_rows",
    "tanh",
    "unpad",
    "where",
    "xp",
]

device = "cpu"
xp = np


def __getattr__(name: str) -> Any:
    value = getattr(np, name)
    if isinstance(value, np.ufunc):
        value = quiet_ufunc(value)
    globals()[name] = value  # so that the next look-up is an ordinary one
    return value
