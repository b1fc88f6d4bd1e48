"""Running sums along a dimension of dense arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.backends import Segments

from ..array import Array
from ..rules import segment as rules
from .canonical import as_array, canonical_dim
from .movement import transpose
from .reduction import added, to_dtype

__all__ = ["cumsum"]


def cumsum(self: Any, dim: int, *, dtype: Any = None) -> Array:
    """The sums along ``dim`` up to each element; bools and integers give int64."""
    x = as_array("cumsum", self)
    at = canonical_dim("cumsum", dim, x.ndim)
    x, kind = added("cumsum", x, dtype)
    whole = Segments(np.array([0, x.shape[at]]))  # one run, of rows that hold all the rest
    return to_dtype(transpose(rules.segment_cumsum(transpose(x, 0, at), whole), 0, at), kind)
