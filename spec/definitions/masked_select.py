"""The definition of `masked_select`."""

from __future__ import annotations

import numpy as np

from pynested.spec.components import Components
from pynested.spec.numerics import NDArray


def masked_select(array: NDArray, mask: NDArray) -> Components:
    """MASKED_SELECT: of each run along the last dimension, the elements where the mask holds."""
    chosen = np.broadcast_to(mask, array.shape)
    runs = [array[run][chosen[run]] for run in np.ndindex(array.shape[:-1])]
    return Components(runs, (len(runs), None), array.dtype)
