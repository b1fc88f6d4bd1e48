"""Reductions: the table of what each does to a run, whatever a run is, and how it does it to axes of a dense array.

An entry is the whole reduction. It is written once, in terms of `Runs`: what can be asked of the runs of an array, be
these axes of a dense array (`AxisRuns`) or segments of rows, as the components of nested arrays are (`SegmentRuns`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from math import inf, nan
from typing import Any, Protocol

import numpy as np

from pynested.backends import Segments, get_backend
from pynested.backends.dtypes import computing_dtype, is_float
from pynested.backends.errors import DTypeError, EmptyReductionError
from pynested.backends.host import from_host
from pynested.backends.memory import with_room

from ..array import Array
from ..rules import elementwise as of_elements
from ..rules import movement as moves
from ..rules import reduction as of_axes
from ..rules import segment as of_segments
from .canonical import as_array, canonical_dim, canonical_dims, canonical_dtype

__all__ = ["all", "amax", "amin", "any", "argmax", "argmin", "logsumexp", "mean", "prod", "sum"]

Where = Callable[[int], str]  # the number of a run -> what it is a run of, in words
Kind = np.dtype[Any]


# ---- runs ---------------------------------------------------------------------------------------------------------


class Runs(Protocol):
    """What a reduction can ask of the runs of an array."""

    def sum(self, x: Array) -> Array:
        """The sum of each run; +0 for an empty one."""

    def prod(self, x: Array) -> Array:
        """The product of each run; 1 for an empty one."""

    def amax(self, x: Array) -> Array:
        """The maximum of each run; the least value of the dtype for an empty one."""

    def amin(self, x: Array) -> Array:
        """The minimum of each run; the greatest value of the dtype for an empty one."""

    def place(self, verb: str, x: Array) -> Array:
        """Where in each run ``segment_argmax``, or ``segment_argmin``, finds what it looks for."""

    def count(self, x: Array) -> Any:
        """How many elements each run has, in the dtype of ``x``."""

    def back(self, y: Array, x: Array) -> Array:
        """``y``, which has an entry for each run of ``x``, at every element of the run."""


class AxisRuns:
    """The runs of a dense array along some of its axes."""

    __slots__ = ("axes",)

    def __init__(self, axes: tuple[int, ...]) -> None:
        self.axes = axes

    def sum(self, x: Array) -> Array:
        return of_axes.sum_axes(x, self.axes)

    def prod(self, x: Array) -> Array:
        return self._as_segment(x, of_segments.segment_prod)

    def amax(self, x: Array) -> Array:
        return of_axes.amax(x, self.axes)

    def amin(self, x: Array) -> Array:
        return of_axes.amin(x, self.axes)

    def place(self, verb: str, x: Array) -> Array:
        return self._as_segment(x, lambda rows, segments: SegmentRuns(segments).place(verb, rows))

    def count(self, x: Array) -> int:
        return math.prod([x.shape[i] for i in self.axes])

    def back(self, y: Array, x: Array) -> Array:
        return moves.broadcast_to(moves.reshape(y, of_axes.kept(x.shape, self.axes)), x.shape)

    def _as_segment(self, x: Array, rule: Callable[[Array, Segments], Array]) -> Array:
        """What a rule over segments says of the one segment whose columns are the runs."""
        rest = tuple(i for i in range(x.ndim) if i not in self.axes)
        columns = tuple(x.shape[i] for i in rest)
        rows = moves.reshape(moves.transpose(x, (*self.axes, *rest)), (self.count(x), *columns))
        return moves.reshape(rule(rows, Segments(np.array([0, self.count(x)]))), columns)


class SegmentRuns:
    """The runs of rows ``(N, ...)`` that segments are."""

    __slots__ = ("segments",)

    def __init__(self, segments: Segments) -> None:
        self.segments = segments

    def sum(self, x: Array) -> Array:
        return of_segments.segment_sum(x, self.segments)

    def prod(self, x: Array) -> Array:
        return of_segments.segment_prod(x, self.segments)

    def amax(self, x: Array) -> Array:
        return of_segments.segment_max(x, self.segments)

    def amin(self, x: Array) -> Array:
        return of_segments.segment_min(x, self.segments)

    def place(self, verb: str, x: Array) -> Array:
        return Array(with_room(getattr(get_backend(x.device), verb))(x.data, self.segments), x.device)

    def count(self, x: Array) -> Array:
        counts = self.segments.lengths.astype(x.dtype).reshape(-1, *[1] * (x.ndim - 1))
        return Array(from_host(counts, x.device), x.device)

    def back(self, y: Array, x: Array) -> Array:
        return of_segments.spread(y, self.segments)


# ---- dtypes -------------------------------------------------------------------------------------------------------


def to_dtype(x: Array, dtype: Kind) -> Array:
    """``x`` in ``dtype``, itself if that is its own; a gradient flows between floating point dtypes only."""
    if x.dtype == dtype:
        return x
    return moves.cast(x if is_float(dtype) else x.detach(), dtype)


def added(name: str, x: Array, dtype: Any) -> tuple[Array, Kind]:
    """``x`` in a dtype in which it can be added up, and the dtype of the sum: that asked for, its own, or int64."""
    own = x.dtype if is_float(x.dtype) else np.dtype(np.int64)
    wanted = own if dtype is None else canonical_dtype(dtype, x.device)
    wide = computing_dtype(wanted) if is_float(wanted) else np.dtype(np.int64)
    return to_dtype(to_dtype(x, wanted), wide), wanted


def averaged(name: str, x: Array, dtype: Any) -> tuple[Array, Kind]:
    """``x`` wide enough, and the dtype of its mean: that asked for, which must be floating, its own, or float64."""
    wanted = x.dtype if is_float(x.dtype) else np.dtype(np.float64)
    if dtype is not None:
        wanted = canonical_dtype(dtype, x.device)
        if not is_float(wanted):
            raise DTypeError(f"{name}: a mean is a floating point number; dtype={wanted} cannot hold one.")
    return added(name, x, wanted)


def unchanged(name: str, x: Array, dtype: Any) -> tuple[Array, Kind]:
    """``x``, whose dtype the result has."""
    return x, x.dtype


def truth(name: str, x: Array, dtype: Any) -> tuple[Array, Kind]:
    """Whether each element is true; so is the result."""
    return to_dtype(x, np.dtype(np.bool_)), np.dtype(np.bool_)


def place(name: str, x: Array, dtype: Any) -> tuple[Array, Kind]:
    """``x``, in which places are looked for, without a gradient."""
    return x.detach(), np.dtype(np.int64)


# ---- the table ----------------------------------------------------------------------------------------------------


class Reduction:
    """One reduction; called, it is the function of a dense array.

    Parameters
    ----------
    name : str
        What error messages call it.
    of_runs : callable
        The runs of an array and the array -> the result, an element for each run.
    takes : callable
        The array as it is reduced, and the dtype of the result.
    empty : number, or EmptyReductionError
        What a run without elements gives. It is what ``of_runs`` makes of it; only a refusal is made here.
    says : str
        The docstring.
    lacks : str
        What a run without elements has not, where it is refused.
    """

    def __init__(
        self, name: str, of_runs: Callable[[Runs, Array], Array], *, takes: Any, empty: Any, says: str, lacks: str = ""
    ) -> None:
        self.name, self.of_runs, self.takes, self.empty, self.lacks = name, of_runs, takes, empty, lacks
        self.refuses = empty is EmptyReductionError
        self.is_place = takes is place  # what is found is a place along one dimension
        self.__doc__ = says

    def __repr__(self) -> str:
        return f"<reduction {self.name}>"

    def __call__(self, given: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Array:
        """The reduction of a dense array over ``dim``: one dimension, several, or all of them."""
        x = as_array(self.name, given)
        dims = self.dims(dim, x.ndim)
        x, kind = self.takes(self.name, x, dtype)
        result = self.over_axes(x, dims)
        return to_dtype(moves.reshape(result, of_axes.kept(x.shape, dims)) if keepdim else result, kind)

    def dims(self, dim: Any, ndim: int) -> tuple[int, ...]:
        """The dimensions that are named; for a place it is one."""
        return (canonical_dim(self.name, dim, ndim),) if self.is_place else canonical_dims(self.name, dim, ndim)

    def over_axes(self, x: Array, axes: tuple[int, ...]) -> Array:
        """``x``, in a dtype that is taken, over canonical axes."""
        if self.refuses and 0 in x.shape:
            self._check_axes(x.shape, axes)
        return self.of_runs(AxisRuns(axes), x)

    def over_segments(self, rows: Array, segments: Segments, where: Where) -> Array:
        """``rows``, in a dtype that is taken, over segments; ``where`` says what each of these is."""
        if self.refuses and segments.any_empty and 0 not in rows.shape[1:]:
            i = int(np.flatnonzero(segments.lengths == 0)[0])
            raise self.refused(f"{where(i)} is empty along dim", "Leave it out, or join an element to it first.")
        return self.of_runs(SegmentRuns(segments), rows)

    def refused(self, what: str, advice: str = "") -> EmptyReductionError:
        """The error for a run without elements."""
        return EmptyReductionError(
            f"{self.name}: {what}; the {self.lacks} of no elements is undefined. {advice}".rstrip()
        )

    def _check_axes(self, shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
        empty = [i for i in axes if shape[i] == 0]
        if empty and 0 not in [size for i, size in enumerate(shape) if i not in axes]:
            raise self.refused(
                f"dimension {empty[0]} of an array of shape {shape} is empty",
                "Leave it out of dim, or join an element to it first.",
            )


def _logsumexp(runs: Runs, x: Array) -> Array:
    """Exponentials of what each element is less than the greatest of its run, if that is finite."""
    greatest = runs.amax(x.detach())
    top = of_elements.where(greatest, x.dtype.type(0), get_backend(x.device).isfinite(greatest.data))
    return top + of_elements.log(runs.sum(of_elements.exp(x - runs.back(top, x))))


sum = Reduction(
    "sum", lambda runs, x: runs.sum(x), takes=added, empty=0,
    says="The sum over ``dim``; +0 where there is nothing to add.",
)  # fmt: skip
mean = Reduction(
    "mean", lambda runs, x: runs.sum(x) / runs.count(x), takes=averaged, empty=nan,
    says="The sum over ``dim`` by the number of its elements; NaN where there are none.",
)  # fmt: skip
prod = Reduction(
    "prod", lambda runs, x: runs.prod(x), takes=added, empty=1,
    says="The product over ``dim``; 1 where there is nothing to multiply.",
)  # fmt: skip
logsumexp = Reduction(
    "logsumexp", _logsumexp, takes=averaged, empty=-inf,
    says="log of the sum of exp over ``dim``, however large the elements; -inf where there are none.",
)  # fmt: skip
amax = Reduction(
    "amax", lambda runs, x: runs.amax(x), takes=unchanged, empty=EmptyReductionError, lacks="maximum",
    says="The maximum over ``dim``; NaN wins, and a maximum of nothing is an error.",
)  # fmt: skip
amin = Reduction(
    "amin", lambda runs, x: runs.amin(x), takes=unchanged, empty=EmptyReductionError, lacks="minimum",
    says="The minimum over ``dim``; NaN wins, and a minimum of nothing is an error.",
)  # fmt: skip
any = Reduction(
    "any", lambda runs, x: runs.amax(x), takes=truth, empty=False,
    says="Whether any element over ``dim`` is not 0; False where there are none.",
)  # fmt: skip
all = Reduction(
    "all", lambda runs, x: runs.amin(x), takes=truth, empty=True,
    says="Whether all elements over ``dim`` are not 0; True where there are none.",
)  # fmt: skip
argmax = Reduction(
    "argmax", lambda runs, x: runs.place("segment_argmax", x), takes=place, empty=EmptyReductionError, lacks="maximum",
    says="Where along ``dim`` the first maximum is; a NaN is one, and a maximum of nothing is an error.",
)  # fmt: skip
argmin = Reduction(
    "argmin", lambda runs, x: runs.place("segment_argmin", x), takes=place, empty=EmptyReductionError, lacks="minimum",
    says="Where along ``dim`` the first minimum is; a NaN is one, and a minimum of nothing is an error.",
)  # fmt: skip
