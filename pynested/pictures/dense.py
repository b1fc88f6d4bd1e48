"""The picture of a dense array: its matrices, and the stretch of memory that they are read from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pynested.autograd import Array
from pynested.backends import get_backend

from .memory import Strided, choose_strided
from .strided import CELL, draw_components
from .strided_memory import draw_memory
from .svg import Sheet


@dataclass(frozen=True)
class Dense(Strided):
    """One component, which has the name of the whole."""

    first_dim: ClassVar[int] = 0

    def called(self, *index: int) -> str:
        """Return what the array, or a matrix of it, is called."""
        return super().called(*index[1:]) if len(index) > 1 else self.name


def draw_dense(array: Array, name: str = "x") -> Sheet:
    """Draw a dense array, and how far apart in memory neighbours along each dimension lie."""
    data = array.data
    strides = tuple(step // data.itemsize for step in data.strides)
    steps = [(size - 1) * step for size, step in zip(data.shape, strides, strict=True)]
    start = -sum(min(step, 0) for step in steps)
    buffer = _stretch(array, 1 + sum(map(abs, steps))) if data.size else data.reshape(-1)
    sizes, steps_of_one = (np.array([row], np.int64).reshape(1, data.ndim) for row in (data.shape, strides))
    drawn = choose_strided(buffer, sizes, steps_of_one, np.array([start if data.size else 0]), CELL, name, Dense)
    sheet = Sheet(f"A dense array: shape {data.shape}, strides {strides}, in {len(buffer)} values of memory")
    sheet.heading(18, 24, "what you see")
    _, bottom = draw_components(sheet, drawn)
    draw_memory(sheet, drawn, 18, bottom + 36)
    return sheet


def _stretch(array: Array, size: int) -> Any:
    """Return the memory from the lowest to the highest element, as one row."""
    data = array.data
    lowest = data[tuple(slice(0, 1) if step >= 0 else slice(-1, None) for step in data.strides)]
    as_strided = get_backend(array.device).xp.lib.stride_tricks.as_strided
    return as_strided(lowest, (size,), (data.itemsize,))
