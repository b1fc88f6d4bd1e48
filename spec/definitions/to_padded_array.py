"""The definition of `to_padded_array`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.components import Components, left_align
from pynested.spec.numerics import NDArray


def to_padded_array(input: Components, padding: Any, output_size: Any = None, out: Any = None) -> NDArray:
    """TO_PADDED_ARRAY: every component in the leading corner of its row of a dense array, `padding` elsewhere."""
    aligned, present = left_align(input)
    size = aligned.shape if output_size is None else tuple(output_size)
    padded = np.full(size, padding, dtype=aligned.dtype)
    corner = tuple(slice(length) for length in aligned.shape)
    padded[corner] = np.where(present, aligned, padded[corner])
    return padded
