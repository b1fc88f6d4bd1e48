"""The bounds of reductions and of operators on runs: of results and of gradients, an operator after the other.

`E`, `lost` and `added` are those of `bounds`, `gradient_bounds` and `overflow`, which take them from here. Each is a
function of one run, a vector of the elements that are present, and for gradients of the run and its cotangent; and of
what else was asked for.

| name      | E                                              | because                      |
|-----------|------------------------------------------------|------------------------------|
| prod      | n·abs(r)                                       | n - 1 products, in any order |
| gradient  | (n + 4)·abs(g·r/x)                             | ... and g                    |
| logsumexp | n + 18 + 10·log Σexp + 2Σp(max - x) + 2·abs(r) | exps, a sum, a log, a sum    |
| gradient  | (2·factor + 2·abs(r) + n + 8)·p·abs(g)         | p, or exp(x - r), and g      |
| var       | (3n + 8)·abs(r) + (2(n + 1)·A·D + u·n·((n + 1)·A)²)/c | squares of x - mean  |
| gradient  | (2(n + 10)·abs(d) + 4(n + 2)·A + 8D)·abs(g)/c  | x - mean, less its mean      |
| std       | (2n + 8)·abs(r) + 2(n + 1)·A·√(n/c)            | half of the error of r²      |
| gradient  | (abs(d)·(n + 10 + E/r) + 2(n + 2)·A + 4D)·abs(g)/(c·r) | that of var, by 2r   |

In r/x no division is meant: it is the product of the other elements. p is the softmax of the run, within factor·u; its
gradient may be computed as exp(x - r), which has the error of r. Of var, d is x - mean, D is Σabs(d), A is mean abs(x)
and c the divisor: the mean is off by (n + 1)·A, each d with it, and by D where an element is subtracted first.

What is named nowhere follows from the definition: see `pynested.spec.rounding`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .components import Components, dims_of, each, left_align, over_runs
from .numerics import NDArray, deviations, maximum_along, product_along, sum_along, wide
from .reductions import REDUCTIONS
from .rounding import OfPull, OfRun, RunBound, derived
from .runwise import RUNWISE

__all__ = ["RUN_BOUNDS", "VANISHING", "of_gradient", "of_result", "softmax_factor"]

VANISHING = 2.0**-1074  # the least number of all dtypes: what is below becomes 0 or this

_OPTIONS = ("correction",)  # what a bound depends on besides the run


def _along(function: OfPull, axis: int, *arrays: NDArray) -> NDArray:
    """Return what `function` says of each run along an axis: the elements of one array, or of several, there."""
    runs = [np.moveaxis(wide(one) * 1.0, axis, -1) for one in arrays]
    found = np.zeros(runs[0].shape, object)
    for place in np.ndindex(*found.shape[:-1] if found.size else (0,)):
        found[place] = function(*(run[place] for run in runs))
    return np.moveaxis(found.astype(object if runs[0].dtype == object else np.float64), -1, axis)


def of_result(function: OfRun, arguments: Mapping[str, Any], keeps: bool = False) -> Any:
    """Return what `function` says of every element of the result."""
    if keeps:
        return each(lambda x: _along(function, arguments["dim"] - 1, x), arguments["self"])
    dim, keepdim = arguments.get("dim"), arguments.get("keepdim", False)
    return over_runs(lambda run: function(wide(run) * 1.0, **_asked(arguments)), arguments["self"], dim, keepdim)


def _asked(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: arguments[name] for name in _OPTIONS if name in arguments}


def of_gradient(function: OfPull, arguments: Mapping[str, Any], cotangent: Any, keeps: bool = False) -> dict[str, Any]:
    """Return what `function` says of every element of `self`."""
    if keeps:
        return {"self": each(lambda x, g: _along(function, arguments["dim"] - 1, x, g), arguments["self"], cotangent)}
    self, keepdim = arguments["self"], arguments.get("keepdim", False)
    dims = dims_of(arguments.get("dim"), self.shape)

    def one(x: NDArray, present: NDArray, axes: tuple[int, ...], g: Any) -> NDArray:
        found = np.zeros(x.shape, object)
        g = np.asarray(g) if keepdim else np.expand_dims(g, axes)
        for place in np.ndindex(*g.shape):
            run = tuple(slice(None) if axis in axes else place[axis] for axis in range(x.ndim))
            found[run][present[run]] = function(wide(x[run][present[run]]) * 1.0, g[place], **_asked(arguments))
        return found.astype(x.dtype if x.dtype == object else np.float64)

    if 0 not in dims:
        axes = tuple(d - 1 for d in dims)
        pairs = zip(self, cotangent, strict=True)
        found = [one(x, np.ones(x.shape, np.bool_), axes, g) for x, g in pairs]
    else:
        aligned = one(*left_align(self), dims, cotangent)
        corners = [tuple(slice(size) for size in x.shape) for x in self]
        found = [row[corner] for row, corner in zip(aligned, corners, strict=True)]
    return {"self": Components(found, self.shape, np.float64)}


def _nothing(*given: Any) -> Any:
    return 0.0


# ---- prod ---------------------------------------------------------------------------------------------------------


def _steps(run: NDArray) -> Any:
    """The greatest product of some of the elements."""
    return product_along(np.maximum(np.abs(run), 1), 0)[()]


def _others(run: NDArray) -> NDArray:
    """The product of the magnitudes of the other elements, for each."""
    before = np.multiply.accumulate(np.abs(np.append(1.0, run[:-1])))
    after = np.multiply.accumulate(np.abs(np.append(1.0, run[:0:-1])))[::-1]
    return before * after


_PROD = RunBound(
    error=lambda run: run.size * product_along(np.abs(run), 0),
    lost=lambda run: run.size * _steps(run),
    added=_steps,
    gradient=lambda run, g: _others(run) * ((run.size + 4) * abs(g)) if run.size else run,
    gradient_lost=lambda run, g: (1 + abs(g)) * (run.size + 2) * _steps(run),
    gradient_added=lambda run, g: max(abs(g), 1) * _steps(run),
)


# ---- softmax, and logsumexp, whose gradient it is -----------------------------------------------------------------


def softmax_factor(x: NDArray, axis: int) -> tuple[NDArray, NDArray]:
    """Return the softmax of `x` and the factor of u in its relative error."""
    below = maximum_along(x, axis, keepdims=True) - x
    powers = np.exp(-below)
    p = powers / sum_along(powers, axis, keepdims=True)
    below = np.where(p < VANISHING, 0, below)  # what becomes exactly 0 has no relative error; and 0 * inf is none
    return p, x.shape[axis] + 18 + 2 * below + 2 * sum_along(p * below, axis, keepdims=True)


def _logsumexp(run: NDArray) -> tuple[Any, Any, Any]:
    """Return the softmax, its greatest factor, and E of the logarithm of the sum."""
    p, factor = softmax_factor(run, 0)
    below = maximum_along(run, 0) - run
    logarithm = np.log(sum_along(np.exp(-below), 0))
    result = abs(maximum_along(run, 0)[()] + logarithm)
    along = sum_along(p * np.where(p < VANISHING, 0, below), 0)[()]
    return p, maximum_along(factor, 0)[()] + result, run.size + 18 + 10 * logarithm + 2 * along + 2 * result


def _pulled(p: NDArray, factor: Any, error: Any, count: int, g: Any) -> NDArray:
    found: NDArray = p * ((2 * factor + count + 8) * abs(g))
    return found


_LOGSUMEXP = RunBound(
    error=lambda run: _logsumexp(run)[2] if run.size else 0.0,
    lost=lambda run: run.size,
    added=_nothing,
    gradient=lambda run, g: _pulled(*_logsumexp(run), run.size, g) if run.size else run,
    gradient_lost=lambda run, g: 2 * (1 + abs(g)),
    gradient_added=lambda run, g: abs(g),
)

# ---- log_softmax --------------------------------------------------------------------------------------------------


def _log_softmax_error(run: NDArray) -> Any:
    """X - max and the last difference, each rounded, and the logarithm of a sum of exps."""
    p, _ = softmax_factor(run, 0)
    below = maximum_along(run, 0) - run
    logarithm = np.log(sum_along(np.exp(-below), 0))
    along = sum_along(p * np.where(p < VANISHING, 0, below), 0)[()]
    return 3 * below + (run.size + 18 + 12 * logarithm + 2 * along)


def _log_softmax_pulled(run: NDArray, g: NDArray) -> Any:
    """G - p Σg, with p as exp of a result, or as a quotient."""
    p, factor = softmax_factor(run, 0)
    off = np.where(p < VANISHING, 0, _log_softmax_error(run) + 2 * factor)
    return 2 * abs(g) + p * (off + run.size + 4) * sum_along(abs(g), 0)[()]


_LOG_SOFTMAX = RunBound(
    error=_log_softmax_error,
    lost=lambda run: run.size + 0 * np.where(abs(run) < np.inf, run, 0),
    added=lambda run: 2 * abs(run) + 2 * maximum_along(abs(run), 0)[()],
    gradient=_log_softmax_pulled,
    gradient_lost=lambda run, g: 0 * g + 2 * sum_along(1 + abs(g), 0)[()],
    gradient_added=lambda run, g: abs(g) + sum_along(abs(g), 0)[()],
    keeps=True,
)


# ---- var ----------------------------------------------------------------------------------------------------------


def _spread(run: NDArray, correction: float) -> tuple[int, Any, NDArray, Any, Any, Any]:
    """Return n, A, abs(d), D and c, which is infinite where there is nothing to bound, and the sum of the squares."""
    n = run.size
    away = np.abs(deviations(run))
    divisor = n - correction if n > correction else np.inf
    return (
        n,
        sum_along(np.abs(run), 0)[()] / max(n, 1),
        away,
        sum_along(away, 0)[()],
        divisor,
        sum_along(away * away, 0)[()],
    )


def _var_error(run: NDArray, correction: float = 1) -> Any:
    n, size, _, along, c, squares = _spread(run, correction)
    second = 2.0**-24 * n * ((n + 1) * size) * ((n + 1) * size)
    return ((3 * n + 8) * squares + 2 * (n + 1) * size * along + second) / c


def _var_added(run: NDArray, correction: float = 1) -> Any:
    n, size, _, _, _, squares = _spread(run, correction)
    return max(2 * n * size, squares)


def _var_lost(run: NDArray, correction: float = 1) -> Any:
    """A square, a deviation, and the quotient."""
    n, _, _, along, c, _ = _spread(run, correction)
    return 1 + (n + 6 * along) / c


def _var_pulled(run: NDArray, g: Any, correction: float = 1) -> Any:
    n, size, away, along, c, _ = _spread(run, correction)
    return (2 * (n + 10) * away + 4 * (n + 2) * size + 8 * along) * (abs(g) / c)


def _var_pull_lost(run: NDArray, g: Any, correction: float = 1) -> Any:
    _, _, _, along, c, _ = _spread(run, correction)
    return 6 * (1 + along) * (1 + abs(g)) * (1 + 1 / c)


def _var_pull_added(run: NDArray, g: Any, correction: float = 1) -> Any:
    _, _, _, along, c, _ = _spread(run, correction)
    return max(_var_added(run, correction), 4 * (abs(g) * (1 + 1 / c)) * max(along, 1))


_VAR = RunBound(_var_error, _var_lost, _var_added, _var_pulled, _var_pull_lost, _var_pull_added)

# ---- std ----------------------------------------------------------------------------------------------------------


def _root(run: NDArray, correction: float) -> Any:
    """The standard deviation, and 1 for 0 where something is divided by it: there is nothing to lose."""
    *_, c, squares = _spread(run, correction)
    return np.sqrt(squares / c) if squares > 0 and c < np.inf else 1.0


def _std_error(run: NDArray, correction: float = 1) -> Any:
    """The error of the mean moves a square by 2·d·A at most, and its root by the size of d: at 0, too."""
    n, size, _, _, c, squares = _spread(run, correction)
    return (2 * n + 8) * np.sqrt(squares / c) + 2 * (n + 1) * size * np.sqrt(n / c)


def _std_pulled(run: NDArray, g: Any, correction: float = 1) -> Any:
    n, size, away, along, c, squares = _spread(run, correction)
    if not squares > 0:
        return 0 * away
    root = _root(run, correction)
    parts = away * (n + 10 + _std_error(run, correction) / root) + (2 * (n + 2) * size + 4 * along)
    return parts * (abs(g) / (c * root))


def _std_pull_lost(run: NDArray, g: Any, correction: float = 1) -> Any:
    """What that of var loses, divided by the root; and what the squares lose of the root, as its part."""
    _, _, away, _, c, _ = _spread(run, correction)
    root = _root(run, correction)
    of_root = 4 * _var_lost(run, correction) / (root * root)
    return away * (of_root * abs(g) / (c * root)) + _var_pull_lost(run, g, correction) * (1 + 1 / root)


_STD = RunBound(
    error=_std_error,
    lost=lambda run, correction=1: 1 + _var_lost(run, correction) / _root(run, correction),
    added=_var_added,
    gradient=_std_pulled,
    gradient_lost=_std_pull_lost,
    gradient_added=lambda run, g, correction=1: _var_pull_added(run, g, correction) * (1 + 1 / _root(run, correction)),
)

RUN_BOUNDS: Mapping[str, RunBound] = {
    "prod": _PROD,
    "logsumexp": _LOGSUMEXP,
    "var": _VAR,
    "std": _STD,
    "log_softmax": _LOG_SOFTMAX,
    **{name: derived(one.of_run) for name, one in REDUCTIONS.items() if not one.precision},
    **{name: derived(one.of_run, keeps=True) for name, one in RUNWISE.items() if not one.precision},
}
