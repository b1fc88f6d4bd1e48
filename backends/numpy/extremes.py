"""The greatest and the least element of rows."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..memory import empty
from .running import blocks, run, widened

SHORT = 32  # elements of a row
_PLACES: dict[np.ufunc, Callable[..., NDArray[np.int64]]] = {np.maximum: np.argmax, np.minimum: np.argmin}


def best_last(better: np.ufunc, x: NDArray[Any]) -> NDArray[Any]:
    """(..., D) -> (...), D > 0: `numpy.maximum` or `numpy.minimum` of each row; NaN where it holds one."""
    rows = np.ascontiguousarray(x).reshape(prod(x.shape[:-1]), x.shape[-1])
    found = empty((len(rows),), x.dtype)

    def work(start: int, stop: int) -> None:
        best_of_rows(better, rows[start:stop], found[start:stop])

    run(work, blocks(len(rows), rows[:1].nbytes), rows.nbytes)
    return found.reshape(x.shape[:-1])


def best_of_rows(better: np.ufunc, rows: NDArray[Any], out: NDArray[Any]) -> None:
    """``out <-`` the best of each row, of contiguous rows that hold something: (N, D) -> (N,).

    NumPy's reduction begins anew for each row; one over columns does not, and a search for the place takes half of its
    time. Halves are compared in float32.
    """
    wide, width = widened(rows), rows.shape[1]
    if width <= SHORT:
        better.reduce(np.ascontiguousarray(wide.T), axis=0, dtype=wide.dtype, out=out)
        return
    places = _PLACES[better](wide, axis=1)
    places += np.arange(0, rows.size, width)
    rows.reshape(-1).take(places, out=out, mode="clip")  # which writes into out itself
