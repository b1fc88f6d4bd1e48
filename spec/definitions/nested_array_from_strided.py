"""The definition of `nested_array_from_strided`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pynested.spec.components import Components
from pynested.spec.numerics import NDArray


def nested_array_from_strided(values: NDArray, sizes: NDArray, strides: Any = None, offsets: Any = None) -> Components:
    """NESTED_ARRAY_FROM_STRIDED: element k of component i is values[offsets[i] + sum(k * strides[i])]."""
    if strides is None:
        strides = [[math.prod(size[d + 1 :]) for d in range(len(size))] for size in sizes]
    if offsets is None:
        offsets = np.cumsum([0, *(math.prod(size) for size in sizes)])

    def one(size: Any, stride: Any, offset: int) -> Any:
        return values[offset + np.tensordot(np.asarray(stride, dtype=np.int64), np.indices(size), axes=1)]

    components = [one(*component) for component in zip(sizes, strides, offsets, strict=False)]
    return Components(components, None if components else (0, *[None] * sizes.shape[1]), values.dtype)
