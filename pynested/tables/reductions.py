"""Formulas of the reductions.

Each is written once, in terms of `Runs`, for axes of dense arrays and for segments, as the components of nested arrays
are. `pynested.operators.reduction` has the functions that users call.
"""

from __future__ import annotations

from math import inf, nan

from pynested.autograd import Array
from pynested.autograd.rules import elementwise as of_elements
from pynested.autograd.rules.movement import to_dtype
from pynested.backends import get_backend
from pynested.backends.errors import EmptyReductionError

from .dtypes import added, averaged, place, truth, unchanged
from .entries import Reduction
from .runs import Runs


def shifted(runs: Runs, x: Array) -> tuple[Array, Array]:
    """What each element is more than the greatest of its run, if that is finite, else than 0; and that number."""
    greatest = runs.amax(x.detach())
    top = of_elements.where(greatest, x.dtype.type(0), get_backend(x.device).isfinite(greatest.data))
    return x - runs.back(top, x), top


def _logsumexp(runs: Runs, x: Array) -> Array:
    below, top = shifted(runs, x)
    return top + of_elements.log(runs.sum(of_elements.exp(below)))


def _nansum(runs: Runs, x: Array) -> Array:
    return runs.sum(of_elements.where(x, x.dtype.type(0), ~get_backend(x.device).isnan(x.data)))


def _nanmean(runs: Runs, x: Array) -> Array:
    numbers = ~get_backend(x.device).isnan(x.data)
    some = of_elements.where(x, x.dtype.type(0), numbers)
    return runs.sum(some) / runs.sum(to_dtype(Array(numbers, x.device), x.dtype))


def deviations(runs: Runs, x: Array) -> Array:
    """What each element is more than the mean of its run: exactly 0 where all are equal, for the shift is exact."""
    below, _ = shifted(runs, x)
    return below - runs.back(runs.sum(below) / runs.count(x), x)


def _var(runs: Runs, x: Array, correction: float = 1) -> Array:
    away = deviations(runs, x)
    found: Array = runs.sum(away * away) / runs.count(x, correction)
    return found


def _std(runs: Runs, x: Array, correction: float = 1) -> Array:
    """The root of the variance of numbers up to 1, whose squares are neither too large nor too small; flat at 0."""
    kernels, away, one = get_backend(x.device), deviations(runs, x), x.dtype.type(1)
    most = runs.amax(of_elements.abs_(away.detach()))
    scale = of_elements.where(most, one, kernels.isfinite(most.data) & (most.data > 0))
    away = away / runs.back(scale, x)
    square = runs.sum(away * away) / runs.count(x, correction)
    some = square.data != 0
    root = of_elements.sqrt(of_elements.where(square, one, some))
    found: Array = scale * of_elements.where(root, x.dtype.type(0), some)
    return found


REDUCTIONS = {reduction.name: reduction for reduction in (
    Reduction("sum", lambda runs, x: runs.sum(x), takes=added, empty=0),
    Reduction("nansum", _nansum, takes=added, empty=0),
    Reduction("mean", lambda runs, x: runs.sum(x) / runs.count(x), takes=averaged, empty=nan),
    Reduction("nanmean", _nanmean, takes=averaged, empty=nan),
    Reduction("prod", lambda runs, x: runs.prod(x), takes=added, empty=1),
    Reduction("logsumexp", _logsumexp, takes=averaged, empty=-inf),
    Reduction("var", _var, takes=averaged, empty=nan),
    Reduction("std", _std, takes=averaged, empty=nan),
    Reduction("amax", lambda runs, x: runs.amax(x), takes=unchanged, empty=EmptyReductionError, lacks="maximum"),
    Reduction("amin", lambda runs, x: runs.amin(x), takes=unchanged, empty=EmptyReductionError, lacks="minimum"),
    Reduction("any", lambda runs, x: runs.amax(x), takes=truth, empty=False),
    Reduction("all", lambda runs, x: runs.amin(x), takes=truth, empty=True),
    Reduction("argmax", lambda runs, x: runs.place("segment_argmax", x), takes=place, empty=EmptyReductionError,
              lacks="maximum"),
    Reduction("argmin", lambda runs, x: runs.place("segment_argmin", x), takes=place, empty=EmptyReductionError,
              lacks="minimum"),
)}  # fmt: skip
