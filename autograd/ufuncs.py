"""Which operator a ufunc of NumPy is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .rules.functions import FUNCTIONS
from .rules.pairs import PAIRS

_NAMES: dict[np.ufunc, str] = {
    np.add: "add", np.subtract: "sub", np.matmul: "matmul", np.negative: "neg", np.absolute: "abs", np.sign: "sgn",
    np.logical_not: "logical_not",
    **{entry.ufunc: name for name, entry in FUNCTIONS.items() if entry.ufunc is not None},
    **{entry.ufunc: name for name, entry in PAIRS.items()},
}  # fmt: skip


def ufuncs(operators: Mapping[str, Any]) -> dict[np.ufunc, Callable[..., Any]]:
    """The operators that NumPy calls by a ufunc, by that ufunc."""
    return {ufunc: operators[name] for ufunc, name in _NAMES.items()}
