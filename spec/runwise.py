"""Operators that keep the shape and work on runs: `softmax`, `log_softmax` and `softmin`.

A *run* is the elements of one component along one dimension. The clauses, the definition and a section of the chapter
on the operator are derived from its entry, and so are, by default, the error bound and the test cases.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .components import Components, cast, each
from .numerics import NDArray, shift_along, sum_along, wide
from .reductions import numbered

__all__ = ["RUNWISE", "RunWise"]


@dataclass(frozen=True)
class RunWise:
    """An operator that computes one float for each float of a run.

    Attributes
    ----------
    along
        The definition: `along(x, axis)` of an array whose axis is not empty.
    value_clause, edge_clause, gradient
        The text of the clauses on the result of a run, on a run with an infinity beside finite elements, and on the
        cotangent of a run.
    sign
        1, or -1 for `softmin`. A run that holds the infinity `sign * inf` becomes NaN.
    precision
        The name of the error bound. By default the bound is derived from `along`.
    has_derived_cases
        Whether the test cases are derived from the entry. If not, they are written by hand.
    """

    name: str
    along: Callable[[NDArray, int], Any]
    summary: str
    value_clause: str
    edge_clause: str
    gradient: str
    sign: int = 1
    precision: str = ""
    peers: Mapping[str, str] = field(default_factory=dict)
    has_derived_cases: bool = True
    since: str = "0.1"

    @property
    def definition(self) -> Callable[..., Any]:
        """The executable definition."""
        along = self.along

        def define(self: Components, dim: int, dtype: Any = None) -> Components:
            return each(lambda x: along(wide(x), dim - 1) if x.size else wide(x), cast(self, dtype))

        define.__name__ = self.name
        define.__doc__ = f"{self.name.upper()}: {self.summary}"
        return define

    def of_run(self, run: NDArray) -> Any:
        """The definition of one run, a vector."""
        return self.along(run, 0)

    def _clauses(self) -> list[tuple[str, ...]]:
        spoils = "+inf" if self.sign > 0 else "-inf"
        return [
            ("value", self.value_clause),
            ("shape", "The result has the shape and layout of `self`, also along the ragged dimension."),
            (
                "dtype",
                "The result has the dtype of `self`; with `dtype` every element is converted to that dtype first, and "
                "the result has it.",
            ),
            ("error", "`dim` 0 of a nested array, the batch dimension, is refused.", "DimensionError"),
            (
                "error",
                "Bools and integers are refused unless `dtype` names a floating dtype, and so is a `dtype` that is not "
                "floating.",
                "DTypeError",
            ),
            ("edge", "An empty run stays empty, also where every component is empty and where there are none."),
            ("edge", self.edge_clause),
            (
                "edge",
                f"A run that holds NaN or {spoils} becomes all NaN; other runs, in the same component or another, are "
                "untouched by it.",
            ),
            ("gradient", f"The gradient of a run is {self.gradient}; an empty run has an empty gradient."),
        ]

    def fields(self) -> dict[str, Any]:
        """The operator as the tables of `spec/operators` say it."""
        return {
            "signature": f"{self.name}(self: Nested | Array, dim: int, *, dtype: DType | None = None) -> "
            "Nested | Array",
            "summary": self.summary,
            "since": self.since,
            "torch": f"torch.nn.functional.{self.name}",
            "peers": self.peers,
            "precision": self.precision or self.name,
            "differentiable": ["self"],
            "clauses": numbered(self.name, self._clauses()),
        }


def _softmax(x: NDArray, axis: int) -> Any:
    powers = np.exp(x - shift_along(x, axis))
    return powers / sum_along(powers, axis, keepdims=True)


def _softmin(x: NDArray, axis: int) -> Any:
    return _softmax(-x, axis)


def _log_softmax(x: NDArray, axis: int) -> Any:
    below = x - shift_along(x, axis)
    return below - np.log(sum_along(np.exp(below), axis, keepdims=True))


# fmt: off
RUNWISE = {operator.name: operator for operator in (
    RunWise(
        "softmax", _softmax, since="0.1", precision="softmax", has_derived_cases=False,
        summary="exp(x - max) / sum of exp(x - max) along `dim`, each component on its own.",
        value_clause="Each run of a component along `dim` is shifted by its maximum, exponentiated, and divided by its "
        "sum; the shift keeps finite input finite, so that (1000, 1001) gives the numbers of (0, 1).",
        edge_clause="An element -inf beside finite ones becomes +0; a run that is all -inf becomes all NaN.",
        gradient="y * (g - sum(y * g)), with y its softmax and g its cotangent",
        peers={"tensorflow": "tf.nn.softmax", "awkward": "ak.softmax", "jax": "jax.nn.softmax",
               "torch_geometric": "torch_geometric.utils.softmax", "fbgemm": "torch.ops.fbgemm.jagged_softmax"},
    ),
    RunWise(
        "log_softmax", _log_softmax, precision="log_softmax",
        summary="The logarithm of the softmax along `dim`, each component on its own.",
        value_clause="From each run of a component along `dim` its maximum is subtracted, and then the logarithm of "
        "the sum of the exponentials: (1000, 1001) gives the numbers of (0, 1), and what is 200 below the maximum "
        "about -200, not the logarithm of 0.",
        edge_clause="An element -inf beside finite ones stays -inf; a run that is all -inf becomes all NaN.",
        gradient="g - softmax * sum(g), with g its cotangent",
        peers={"tensorflow": "tf.nn.log_softmax", "jax": "jax.nn.log_softmax", "scipy": "scipy.special.log_softmax"},
    ),
    RunWise(
        "softmin", _softmin, sign=-1,
        summary="The softmax of -x along `dim`, each component on its own: most of it goes to what is least.",
        value_clause="Each run of a component along `dim` is subtracted from its minimum, exponentiated, and divided "
        "by its sum: (1000, 1001) gives the numbers of (0, 1), the greater one first.",
        edge_clause="An element +inf beside finite ones becomes +0; a run that is all +inf becomes all NaN.",
        gradient="-y * (g - sum(y * g)), with y its softmin and g its cotangent",
    ),
)}
# fmt: on
