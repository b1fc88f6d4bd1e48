"""The plainest memory that shows given components."""

from __future__ import annotations

from itertools import accumulate

import numpy as np

from ..oracle import Nest, flat
from ..plan import Dense, Jagged, Memory, Operand, Strided


def packed(x: Nest) -> tuple[Memory, Operand]:
    """A new array with these components, one after the other."""
    if x.dense:
        return Memory(np.array(x[0], x.dtype, order="C")), Dense(0)
    if x.ragged is not None:
        sizes = [0 if size is None else size for size in x.shape[1:]]
        parts = [np.zeros(sizes, x.dtype), *[np.asarray(one, x.dtype) for one in x]]
        starts = tuple(accumulate((one.shape[x.ragged - 1] for one in x), initial=0))
        return Memory(np.concatenate(parts, axis=x.ragged - 1)), Jagged(0, starts, None, x.ragged)
    shapes = tuple(tuple(one.shape) for one in x)
    strides = tuple(tuple(int(np.prod(shape[d + 1 :])) for d in range(len(shape))) for shape in shapes)
    starts = tuple(accumulate((int(np.prod(shape)) for shape in shapes), initial=0))[:-1]
    return Memory(flat(x, x.dtype)), Strided(0, shapes, strides, starts, x.rank - 1)
