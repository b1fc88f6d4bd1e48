"""What some reductions make of one run: the definitions that are longer than a lambda.

A run is a vector of the elements that are present; each is written once for float64, complex and exact numbers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .numerics import NDArray, deviations, maximum_along, real, shift_along, sum_along, wide

__all__ = ["logsumexp", "nanmean", "nansum", "std", "var"]

INF, NAN = math.inf, math.nan


def nansum(run: NDArray) -> Any:
    """The sum of a run, in which a NaN counts as 0."""
    return sum_along(np.where(run == run, run, 0), 0)


def nanmean(run: NDArray) -> Any:
    """The mean of the elements of a run that are not NaN."""
    some = wide(run[run == run]) * 1.0
    return sum_along(some, 0) / some.size if some.size else NAN


def logsumexp(run: NDArray) -> Any:
    """The logarithm of the sum of the exponentials of a run, its maximum taken out."""
    run = wide(run) * 1.0
    if not run.size:
        return -np.inf
    top = shift_along(run, 0)[0]
    if not abs(real(top)) < np.inf:
        return top
    return top + np.log(sum_along(np.exp(run - top), 0))


def var(run: NDArray, correction: float = 1) -> Any:
    """The squares of what the elements are more than their mean, by their number less the correction."""
    run = wide(run) * 1.0
    if not run.size:
        return np.nan
    return _mean_square(deviations(run), correction)


def _mean_square(away: NDArray, correction: float) -> Any:
    total, divisor = sum_along(away * away, 0)[()], max(away.size - correction, 0)
    return total / divisor if divisor else total * np.inf


def std(run: NDArray, correction: float = 1) -> Any:
    """The root of the variance, of numbers up to 1 so that float64 has the squares; its slope is 0 where that is 0."""
    run = wide(run) * 1.0
    if not run.size:
        return np.nan
    away = deviations(run)
    most = float(maximum_along(np.abs(real(away)), 0))
    scale = most if 0 < most < INF else 1.0
    square = _mean_square(away / scale, correction)
    return np.sqrt(square) * scale if real(square) > 0 else square
