"""The operators on nested and dense arrays, one module per chapter of the specification."""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from pynested import nested_methods
from pynested.autograd.rules.functions import FUNCTIONS
from pynested.autograd.rules.pairs import PAIRS

from .comparison import equal, logical_not, masked_fill, where
from .conversion import contiguous, narrow, pin_memory, to, to_dense, to_padded_array
from .elementwise import abs, add, gelu, neg, pairs, relu, sgn, silu, smooth, sub
from .elementwise.pairs import *  # noqa: F403
from .elementwise.smooth import *  # noqa: F403
from .indexing import getitem
from .losses import cross_entropy, embedding
from .movement import (
    cat,
    chunk,
    clone,
    detach,
    reshape,
    reshape_as,
    select,
    stack,
    transpose,
    unbind,
    unflatten,
    unsqueeze,
    view,
)
from .normalization import dropout, layer_norm, softmax
from .products import bmm, linear, matmul
from .reduction import all, amax, amin, any, argmax, argmin, logsumexp, mean, prod, sum
from .scan import cumsum
from .writing import assign, overwrite, write

UFUNCS: dict[Any, Callable[..., Any]] = {
    np.add: add, np.subtract: sub, np.negative: neg, np.absolute: abs, np.sign: sgn, np.logical_not: logical_not,
    np.matmul: matmul,
}  # fmt: skip
UFUNCS |= {one.ufunc: getattr(smooth, name) for name, one in FUNCTIONS.items() if one.ufunc is not None}
UFUNCS |= {one.ufunc: getattr(pairs, name) for name, one in PAIRS.items()}

__all__ = [
    "UFUNCS", "abs", "add", "all", "amax", "amin", "any", "argmax", "argmin", "assign", "bmm", "cat", "chunk", "clone",
    "contiguous", "cross_entropy", "cumsum", "detach", "dropout", "embedding", "equal", "gelu",
    "getitem", "layer_norm", "linear", "logical_not", "logsumexp", "masked_fill", "matmul",
    "mean", "narrow", "neg", "overwrite", "pin_memory", "prod", "relu", "reshape", "reshape_as",
    "select", "sgn", "silu", "softmax", "stack", "sub", "sum", "to", "to_dense", "to_padded_array", "transpose",
    "unbind", "unflatten", "unsqueeze", "view", "where", "write",
]  # fmt: skip
__all__ += smooth.__all__ + pairs.__all__

# The methods call functions that are written in terms of NestedArray, so they are connected here.
nested_methods.connect(sys.modules[__name__])
