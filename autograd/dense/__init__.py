"""Operators on dense arrays: arguments are checked and made canonical here, values and derivatives come from the rules.

One module per chapter of the specification, with the names that `pynested.operators` has for nested arrays.
"""

import numpy as np

from . import pairs, smooth
from .canonical import canonical_dim, canonical_dims, operand
from .comparison import equal, inverted, logical_not, masked_fill, where
from .elementwise import (
    UFUNCS,
    abs,
    add,
    binary,
    gelu,
    neg,
    relu,
    sgn,
    silu,
    sub,
)
from .losses import cross_entropy, embedding
from .movement import (
    as_strided,
    broadcast_to,
    cat,
    chunk,
    clone,
    contiguous,
    getitem,
    narrow,
    permute,
    reshape,
    reshape_as,
    select,
    stack,
    to,
    transpose,
    unbind,
    unflatten,
    unsqueeze,
    view,
)
from .normalization import dropout, layer_norm, softmax
from .pairs import *  # noqa: F403
from .products import bmm, linear, matmul
from .reduction import all, amax, amin, any, argmax, argmin, logsumexp, mean, prod, sum
from .scan import cumsum
from .smooth import *  # noqa: F403
from .writing import overwrite, write

UFUNCS |= {np.matmul: matmul, np.logical_not: logical_not}

__all__ = [
    "UFUNCS", "abs", "add", "all", "amax", "amin", "any", "argmax", "argmin", "as_strided", "binary", "bmm",
    "broadcast_to", "canonical_dim", "canonical_dims", "cat", "chunk", "clone", "contiguous", "cross_entropy", "cumsum",
    "dropout", "embedding", "equal", "gelu", "getitem", "inverted", "layer_norm",
    "linear", "logical_not", "logsumexp", "masked_fill", "matmul", "mean", "narrow",
    "neg", "operand", "overwrite", "permute", "prod", "relu", "reshape", "reshape_as", "select", "sgn", "silu",
    "softmax", "stack", "sub", "sum", "to", "transpose", "unbind", "unflatten", "unsqueeze", "view", "where", "write",
]  # fmt: skip
__all__ += smooth.__all__ + pairs.__all__
