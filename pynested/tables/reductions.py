"""Reductions: the table of what each does to a run, and what people read about it.

An entry is the whole reduction. It is written once, in terms of `Runs`, for axes of dense arrays and for segments, as
the components of nested arrays are. From it follow the functions of dense and of nested arrays with their docstrings,
the methods of both, and what NumPy's function of the name does: `pynested/tables/functions.py` makes them.
"""

from __future__ import annotations

from math import inf, nan
from typing import Any

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


_NONE: dict[str, Any] = {"empty": EmptyReductionError, "clauses": 8}
_PLACE: dict[str, Any] = _NONE | {"clauses": 12, "retired": (8,), "takes": place, "option": "place"}
_LARGEST = """A run that holds a NaN has the {0} NaN, other runs are untouched by it; a run of {1}inf has {1}inf.
Gradient: to the {2} element, split evenly between equal ones; of a run that holds a NaN not specified."""
_FIRST = "Of equal elements it is the first, and in a run that holds a NaN the first NaN. There is no gradient."

REDUCTIONS = {one.name: one for one in (
    Reduction(
        "sum", lambda runs, x: runs.sum(x), takes=added, option="dtype", empty=0, clauses=10,
        says="The sum of each run along ``dim``",
        notes="""A run without elements sums to +0; the sign of another sum that is zero is not specified. float16 is
accumulated wider and rounded once. Gradient: every element gets the cotangent of its sum.""",
        example="""nt = pn.nested_array([[[1, 2], [3, 4]], np.zeros((0, 2), int)], layout=pn.jagged)
>>> pn.sum(nt, 1)
array([[4, 6],
       [0, 0]])
>>> pn.sum(nt, 2).unbind()
(array([3, 7]), array([]))""",
    ),
    Reduction(
        "nansum", _nansum, takes=added, option="dtype", empty=0, clauses=7,
        says="The sum of each run along ``dim``, in which a NaN counts as 0",
        notes="""A run without elements, or of nothing but NaN, sums to +0; the sign of another sum that is zero is not
specified. Gradient: every element gets the cotangent of its sum, a NaN +0.""",
        example="""pn.nansum(pn.nested_array([[1.0, np.nan, 2.0], [], [np.nan]], layout=pn.jagged), 1)
array([3., 0., 0.])""",
    ),
    Reduction(
        "mean", lambda runs, x: runs.sum(x) / runs.count(x), takes=averaged, option="dtype", empty=nan, clauses=8,
        says="The sum of each run along ``dim`` by its number of elements",
        notes="""Over all dimensions it is the mean of all elements, each counted once, and not the mean of the
components' means; with dimension 0 the divisor is the number of elements present at the position. The mean of a run
without elements is NaN. Gradient: every element gets the cotangent of its run by the number of elements of that run; an
empty component gets an empty gradient.""",
        example="""nt = pn.nested_array([[1.0, 2.0], [], [6.0]], layout=pn.jagged)
>>> pn.mean(nt, 1), pn.mean(nt), pn.mean(nt, 0)
(array([1.5, nan, 6. ]), array(3.), array([3.5, 2. ]))""",
    ),
    Reduction(
        "nanmean", _nanmean, takes=averaged, option="dtype", empty=nan, clauses=8,
        says="The mean of each run along ``dim``, from which NaN is left out",
        notes="""A run without elements, or of nothing but NaN, gives NaN; the sign of a mean that is zero is not
specified. Gradient: every element gets the cotangent of its mean by the number of those that are not NaN, a NaN +0.""",
        example="""pn.nanmean(pn.nested_array([[1.0, np.nan, 2.0], [], [np.nan]], layout=pn.jagged), 1)
array([1.5, nan, nan])""",
    ),
    Reduction(
        "prod", lambda runs, x: runs.prod(x), takes=added, option="dtype", empty=1, clauses=7,
        says="The product of each run along ``dim``",
        notes="""The product of a run without elements is 1. float16 is multiplied wider and rounded once. Gradient: to
each element the cotangent times the product of the others, which no zero spoils.""",
        example="""pn.prod(pn.nested_array([[2, 3], [], [4]], layout=pn.jagged), 1)
array([6, 1, 4])""",
    ),
    Reduction(
        "logsumexp", _logsumexp, takes=averaged, empty=-inf, clauses=6,
        says="The logarithm of the sum of exponentials of each run along ``dim``",
        notes="""It overflows only where the result does. A run without elements, or of nothing but -inf, gives -inf;
one with +inf gives +inf, one with NaN NaN. Gradient: the cotangent times the softmax of the run, NaN where all of it is
-inf.""",
        example="""pn.logsumexp(pn.nested_array([[1000.0, 1000.0], [], [3.0]], layout=pn.jagged), 1)
array([1000.69314718,         -inf,    3.        ])""",
    ),
    Reduction(
        "var", _var, takes=averaged, option="correction", empty=nan, clauses=10,
        says="The variance of each run along ``dim``",
        notes="""The mean is subtracted before anything is squared, and the divisor is the number of elements less
``correction``, or 0 where that is less. NaN is the variance of a run without elements, of one element with the
correction 1, and of a run that holds a NaN or an infinity. Gradient: the cotangent times 2 (x - mean) / divisor.""",
        example="""nt = pn.nested_array([[1.0, 3.0], [], [5.0]], layout=pn.jagged)
>>> pn.var(nt, 1), pn.var(nt, 1, correction=0)
(array([ 2., nan, nan]), array([ 1., nan,  0.]))""",
    ),
    Reduction(
        "std", _std, takes=averaged, option="correction", empty=nan, clauses=10,
        says="The standard deviation of each run along ``dim``",
        notes="""The root of `var`, NaN where that is, also of elements whose squares are too large or too small for the
dtype. Gradient: the cotangent times (x - mean) / (divisor * result), and 0 where all elements are equal.""",
        example="""pn.std(pn.nested_array([[1.0, 3.0, 5.0], [], [4.0, 4.0]], layout=pn.jagged), 1)
array([ 2., nan,  0.])""",
    ),
    Reduction(
        "amax", lambda runs, x: runs.amax(x), takes=unchanged, lacks="maximum", **_NONE,
        says="The greatest element of each run along ``dim``", notes=_LARGEST.format("maximum", "-", "greatest"),
        example="""nt = pn.nested_array([[-np.inf], [1.0, 2.0], [3.0, np.nan]], layout=pn.jagged)
>>> pn.amax(nt, 1)
array([-inf,   2.,  nan])""",
    ),
    Reduction(
        "amin", lambda runs, x: runs.amin(x), takes=unchanged, lacks="minimum", **_NONE,
        says="The least element of each run along ``dim``", notes=_LARGEST.format("minimum", "+", "least"),
        example="""pn.amin(pn.nested_array([[np.inf], [1.0, 2.0], [3.0, np.nan]], layout=pn.jagged), 1)
array([inf,  1., nan])""",
    ),
    Reduction(
        "any", lambda runs, x: runs.amax(x), takes=truth, empty=False, clauses=3,
        says="Whether any element is true, of each run along ``dim``",
        notes="Of a run without elements it is False. There is no gradient.",
        example="""pn.any(pn.nested_array([[0, 1], [], [0]], layout=pn.jagged), 1)
array([ True, False, False])""",
    ),
    Reduction(
        "all", lambda runs, x: runs.amin(x), takes=truth, empty=True, clauses=3,
        says="Whether all elements are true, of each run along ``dim``",
        notes="Of a run without elements it is True. There is no gradient.",
        example="""pn.all(pn.nested_array([[0, 1], [], [0]], layout=pn.jagged), 1)
array([False,  True, False])""",
    ),
    Reduction(
        "argmax", lambda runs, x: runs.place("segment_argmax", x), lacks="maximum", **_PLACE,
        says="Where the greatest element of each run along ``dim`` is", notes=_FIRST,
        example="""pn.argmax(pn.nested_array([[1, 3], [7], [2, 9, 9]], layout=pn.jagged), 1)
array([1, 0, 1])""",
    ),
    Reduction(
        "argmin", lambda runs, x: runs.place("segment_argmin", x), lacks="minimum", **_PLACE,
        says="Where the least element of each run along ``dim`` is", notes=_FIRST,
        example="""pn.argmin(pn.nested_array([[1, 3], [7], [2, 9, 9]], layout=pn.jagged), 1)
array([0, 0, 0])""",
    ),
)}  # fmt: skip
