"""The definition of `nested_array_from_jagged`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.components import Components
from pynested.spec.numerics import NDArray


def nested_array_from_jagged(
    values: NDArray, offsets: Any = None, lengths: Any = None, jagged_dim: int | None = None
) -> Components:
    """NESTED_ARRAY_FROM_JAGGED: component i is the stretch of `values` from offsets[i] along `jagged_dim` - 1."""
    axis = 0 if jagged_dim is None else jagged_dim - 1
    if offsets is None:
        offsets = np.cumsum([0, *lengths])
    if lengths is None:
        lengths = np.diff(offsets)
    places = [np.arange(offset, offset + length) for offset, length in zip(offsets, lengths, strict=False)]
    shape = (len(places), *values.shape[:axis], None, *values.shape[axis + 1 :])
    return Components([np.take(values, place, axis=axis) for place in places], shape, values.dtype)
