"""The memory layout of many matrices of different sizes in a flat buffer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Matrices:
    """The positions and shapes of K contiguous matrices in a flat buffer, in any order; they can overlap.

    Matrix ``k`` has the logical shape ``(rows[k], cols[k])`` and begins at ``offsets[k]``. It is stored row by row, or
    column by column if ``is_transposed``; that is, row by row with the shape ``(cols[k], rows[k])``.
    """

    offsets: NDArray[np.int64]
    rows: NDArray[np.int64]
    cols: NDArray[np.int64]
    is_transposed: bool = False

    @classmethod
    def of_sizes(cls, rows: NDArray[np.int64], cols: NDArray[np.int64]) -> Matrices:
        """Return matrices that lie one after the other, row by row, as in the result of a product."""
        offsets = np.zeros(len(rows), np.int64)
        np.add.accumulate(rows[:-1] * cols[:-1], out=offsets[1:])
        return cls(offsets, rows, cols)

    @cached_property
    def transposed(self) -> Matrices:
        """The transposed matrices, in the same memory."""
        return Matrices(self.offsets, self.cols, self.rows, not self.is_transposed)

    @cached_property
    def count(self) -> int:
        """The number of matrices, K."""
        return self.offsets.size

    def matrix(self, flat: Any, k: int) -> Any:
        """Return a view of matrix ``k`` in the flat buffer, with its logical shape."""
        offset, rows, cols = self.offsets.item(k), self.rows.item(k), self.cols.item(k)
        stored = flat[offset : offset + rows * cols]
        return stored.reshape(cols, rows).T if self.is_transposed else stored.reshape(rows, cols)
