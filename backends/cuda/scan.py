"""Running sums of segments: the host side."""

from __future__ import annotations

import numpy as np

from ..dtypes import is_float
from ..segments import Segments
from .device import Array, Device
from .elementwise import cast
from .naming import ctype, instantiation
from .segment import BLOCK, launch_shape


def segment_cumsum(device: Device, x: Array, segments: Segments, backwards: bool = False, /) -> Array:
    """(N, ...) -> (N, ...): each row plus all before it, or behind it, in its run; bools and ints give int64."""
    rows = device.matrix(x if is_float(x.dtype) else cast(device, x, np.dtype(np.int64)))
    out = device.empty(rows.shape, rows.dtype)
    if out.size:
        shape = launch_shape(segments.count, 0, rows.shape[1])  # a warp a run, however long: each row waits for another
        numbers = np.int64(segments.count), np.int64(rows.shape[1]), shape.lg, np.bool_(backwards)
        args = rows, device.offsets(segments), *numbers, out
        device.launch(
            "segment_cumsum.cu", instantiation("segment_cumsum", ctype(out.dtype)), shape.grid, (BLOCK,), args
        )
    return out.reshape(x.shape)
