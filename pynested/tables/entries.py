"""A reduction: its formula, the dtypes it computes in, and its value for segments without elements."""

from __future__ import annotations

import copy
from collections.abc import Callable
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pynested.autograd import Array
from pynested.autograd.arguments.canonical import as_array
from pynested.autograd.arguments.shapes import canonical_dim, canonical_dims
from pynested.autograd.rules import elementwise as of_elements
from pynested.autograd.rules import movement as moves
from pynested.autograd.rules import reduction as of_axes
from pynested.autograd.rules.movement import to_dtype
from pynested.backends import Segments
from pynested.backends.errors import ArgumentError, EmptyReductionError
from pynested.backends.host import from_host

from .dtypes import place
from .runs import AxisRuns, SegmentRuns

Where = Callable[[int], str]  # the number of a run -> what it is a run of, in words
Formula = Callable[..., Array]  # the runs of an array, the array, options -> an element for each run


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
    lacks : str
        What a run without elements has not, where it is refused.
    """

    def __init__(self, name: str, of_runs: Formula, *, takes: Any, empty: Any, lacks: str = "") -> None:
        self.name, self.of_runs, self.takes, self.empty, self.lacks = name, of_runs, takes, empty, lacks
        self.refuses = empty is EmptyReductionError
        self.is_steep = not self.refuses and not isfinite(empty)  # slopes at no elements would be infinite, or NaN
        self.is_place = takes is place  # what is found is a place along one dimension

    def __repr__(self) -> str:
        return f"<reduction {self.name}>"

    def __call__(self, given: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Array:
        """The reduction of a dense array over ``dim``: one dimension, several, or all of them."""
        x = as_array(self.name, given)
        if dim is None and self.is_place:
            return self._flat_place(x, keepdim)
        dims = self.dims(dim, x.ndim)
        x, kind = self.takes(self.name, x, dtype)
        result = self.over_axes(x, dims)
        return to_dtype(moves.reshape(result, of_axes.keepdim_shape(x.shape, dims)) if keepdim else result, kind)

    def _flat_place(self, x: Array, keepdim: bool) -> Array:
        """The place in all of a dense array, in C order."""
        if not x.numel():
            raise self.refused(f"an array of shape {x.shape} has no elements", "Join an element to it first.")
        result = self(moves.reshape(x, (x.numel(),)), 0)
        return moves.reshape(result, (1,) * x.ndim) if keepdim else result

    def having(self, option: Any) -> Reduction:
        """The reduction whose formula has this option."""
        own, of_runs = copy.copy(self), self.of_runs
        own.of_runs = lambda runs, x: of_runs(runs, x, option)
        return own

    def dims(self, dim: Any, ndim: int) -> tuple[int, ...]:
        """The dimensions that are named; for a place it is one."""
        if not self.is_place:
            return canonical_dims(self.name, dim, ndim)
        if dim is None:
            raise ArgumentError(
                f"{self.name}: the elements of a nested array have no common order to count places in. Give one "
                f"dimension, dim=0 to dim={ndim - 1}."
            )
        return (canonical_dim(self.name, dim, ndim),)

    def over_axes(self, x: Array, axes: tuple[int, ...]) -> Array:
        """``x``, in a dtype that is taken, over canonical axes."""
        if self.refuses and 0 in x.shape:
            self._check_axes(x.shape, axes)
        result = self.of_runs(AxisRuns(axes), x)
        if self.is_steep and result.requires_grad and 0 in [x.shape[i] for i in axes]:
            return _still(result, np.ones(result.shape, np.bool_))
        return result

    def over_segments(self, rows: Array, segments: Segments, where: Where) -> Array:
        """``rows``, in a dtype that is taken, over segments; ``where`` says what each of these is."""
        if self.refuses and segments.any_empty and 0 not in rows.shape[1:]:
            i = int(np.flatnonzero(segments.lengths == 0)[0])
            raise self.refused(f"{where(i)} is empty along dim", "Leave it out, or join an element to it first.")
        result = self.of_runs(SegmentRuns(segments), rows)
        if self.is_steep and result.requires_grad and segments.any_empty:
            return _still(result, (segments.lengths == 0).reshape(-1, *[1] * (result.ndim - 1)))
        return result

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


def _still(result: Array, empty: NDArray[np.bool_]) -> Array:
    """A result in which runs without elements are constants: nothing moves them, and nothing flows back to them."""
    return of_elements.where(result, result.detach(), from_host(~empty, result.device))
