"""The definition of `cat`."""

from __future__ import annotations

import numpy as np

from pynested.spec.components import Components, broadcast, cast, each


def cat(arrays: list[Components], dim: int = 0) -> Components:
    """CAT: the components of all arrays in a row, or component i of all arrays joined along `dim`."""
    shapes, dtype = [array.shape for array in arrays], np.result_type(*(array.dtype for array in arrays))
    columns = list(zip(*shapes, strict=True))
    if dim == 0:
        components = [component for array in arrays for component in cast(array, dtype)]
        sizes = [column[0] if len(set(column)) == 1 else None for column in columns[1:]]
        return Components(components, (len(components), *sizes), dtype)
    known = [size for size in columns[dim] if size is not None]
    joined = sum(known) if len(known) == len(arrays) else None
    shape = [joined if d == dim else size for d, size in enumerate(broadcast(*shapes))]
    return each(lambda *group: np.concatenate(group, axis=dim - 1), arrays[0], *arrays[1:], shape=shape, dtype=dtype)
