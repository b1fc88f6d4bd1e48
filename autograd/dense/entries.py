"""What the tables of `reduction` and of `runwise` hold, and the dtypes in which arrays are taken."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from pynested.backends import Segments
from pynested.backends.dtypes import computing_dtype, is_float
from pynested.backends.errors import DTypeError, EmptyReductionError

from ..array import Array
from ..rules import movement as moves
from ..rules import reduction as of_axes
from .canonical import as_array, canonical_dtype
from .runs import AxisRuns, SegmentRuns
from .shapes import canonical_dim, canonical_dims

Where = Callable[[int], str]  # the number of a run -> what it is a run of, in words
Kind = np.dtype[Any]
Formula = Callable[..., Array]  # the runs of an array, the array, options -> an element for each run


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


def normalized(name: str, x: Array, dtype: Any) -> tuple[Array, Kind]:
    """``x`` in ``dtype``, or as it is, floating point, for an operator that computes wider on its own."""
    x = x if dtype is None else to_dtype(x, canonical_dtype(dtype, x.device))
    kind = x.data.dtype
    if not is_float(kind):
        raise DTypeError(f"{name}: needs a floating point array, this one is {x.dtype}. Convert it: x.to(pn.float64).")
    return x, kind


def floating(name: str, x: Array) -> Array:
    """``x``, which must be floating point."""
    return normalized(name, x, None)[0]


def composed(name: str, x: Array, dtype: Any) -> tuple[Array, Kind]:
    """``x`` wide enough to compute in, and the floating dtype that the result has."""
    x, kind = normalized(name, x, dtype)
    return to_dtype(x, computing_dtype(kind)), kind


def place(name: str, x: Array, dtype: Any) -> tuple[Array, Kind]:
    """``x``, in which places are looked for, without a gradient."""
    return x.detach(), np.dtype(np.int64)


TAKEN = {
    added: "Bools and integers give int64, floats keep their dtype.",
    averaged: "Bools and integers give float64, floats keep their dtype.",
    unchanged: "Of any dtype, which the result has.",
    truth: "Of any dtype; all but zeros is true, NaN too. The result is bool.",
    normalized: "Floats; the result has their dtype, and the layout.",
    composed: "Floats; the result has their dtype, and the layout.",
    place: "Of any dtype; the result is int64.",
}


# ---- the table ----------------------------------------------------------------------------------------------------


class Reduction:
    """One reduction, whole.

    Parameters
    ----------
    name : str
        Of the functions and the methods, and in error messages.
    of_runs : callable
        The runs of an array, the array, and the value of an option that is no dtype -> an element for each run.
    takes : callable
        The array as it is reduced, and the dtype of the result.
    empty : number, or EmptyReductionError
        What a run without elements gives. It is what ``of_runs`` makes of it; only a refusal is made here.
    says, notes, example : str
        The docstring: what of each run the result is; what is so at the edges, and the gradient; what is run.
    clauses : int
        How many the specification has.
    option : str
        Of `along.OPTIONS`: what else can be asked for by name.
    lacks : str
        What a run without elements has not, where it is refused.
    """

    def __init__(
        self, name: str, of_runs: Formula, *, takes: Any, empty: Any, says: str, notes: str, example: str, clauses: int,
        option: str = "", lacks: str = "",
    ) -> None:  # fmt: skip
        self.name, self.of_runs, self.takes, self.empty, self.lacks = name, of_runs, takes, empty, lacks
        self.says, self.notes, self.example, self.clauses, self.option = says, notes, example, clauses, option
        self.refuses = empty is EmptyReductionError
        self.is_place = takes is place  # what is found is a place along one dimension

    def __repr__(self) -> str:
        return f"<reduction {self.name}>"

    def __call__(self, given: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Array:
        """The reduction of a dense array over ``dim``: one dimension, several, or all of them."""
        x = as_array(self.name, given)
        dims = self.dims(dim, x.ndim)
        x, kind = self.takes(self.name, x, dtype)
        result = self.over_axes(x, dims)
        return to_dtype(moves.reshape(result, of_axes.kept(x.shape, dims)) if keepdim else result, kind)

    def having(self, option: Any) -> Reduction:
        """The reduction whose formula has this option."""
        own, of_runs = copy.copy(self), self.of_runs
        own.of_runs = lambda runs, x: of_runs(runs, x, option)
        return own

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


class RunWise:
    """One operator that keeps the shape and works along one dimension.

    Parameters
    ----------
    name, takes, says, notes, example, clauses
        As of a `Reduction`; every one can be asked for a dtype.
    over_runs, over_axis : callable
        The rows of segments and these, or an array and an axis -> an array of the same shape.
    torch : str
        Where PyTorch has it.
    """

    option = "dtype"

    def __init__(
        self, name: str, over_runs: Callable[[Array, Segments], Array], over_axis: Callable[[Array, int], Array], *,
        takes: Any, says: str, notes: str, example: str, clauses: int, torch: str = "torch.nn.functional",
    ) -> None:  # fmt: skip
        self.name, self.over_runs, self.over_axis, self.takes, self.torch = name, over_runs, over_axis, takes, torch
        self.says, self.notes, self.example, self.clauses = says, notes, example, clauses

    def __call__(self, given: Any, dim: Any, dtype: Any = None) -> Array:
        """The operator on a dense array along ``dim``."""
        x = as_array(self.name, given)
        at = canonical_dim(self.name, dim, x.ndim)
        x, kind = self.takes(self.name, x, dtype)
        return to_dtype(self.over_axis(x, at), kind)


def in_terms_of_runs(formula: Formula) -> tuple[Callable[..., Array], Callable[..., Array]]:
    """What works on segments and what works on an axis, written once."""
    return (
        lambda rows, segments: formula(SegmentRuns(segments), rows),
        lambda x, axis: formula(AxisRuns((axis,)), x),
    )
