"""Reductions: an entry says what one of them makes of one run, and all that is true of it.

From an entry follow the clauses, the definition, the bounds, the cases and a section of the chapter. `of_run` is the
definition of one run, a vector of the elements that are present there; it is written once for float64, complex and
exact numbers, as every definition. What may be asked for besides dimensions is handed to it by name.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import of_runs
from .components import Components, cast, over_runs
from .numerics import Axis, NDArray, product_along

__all__ = ["ADDED", "AVERAGED", "REDUCTIONS", "TYPED", "Reduction", "numbered"]

INF, NAN = math.inf, math.nan
AVERAGED = ("dtype", "Bools and integers are taken as float64 and give float64; floats keep their dtype.")
ADDED = ("dtype", "Bools and integers of every width are taken as int64 and give int64; floats keep their dtype.")
TYPED = ("dtype", "With `dtype` every element is converted to that dtype first, and the result has it.")
_TRUE = ("dtype", "The result is bool. A number of any dtype is true unless it is a zero of either sign; NaN is true.")
SPOILT = {
    "cotangent": np.array([2, 3, 4], "float32"), "gradient": [[[0.0, 0.0], [0.0, 0.0], [-8.0, 8.0]]],
    "unspecified_gradient": [[0, 1], [0, 1]],
}  # fmt: skip
WRONG = (("below", -1), ("nan", NAN), ("bool", True), ("word", "unbiased"))
_DTYPE = "dtype: DType | None = None"


@dataclass(frozen=True)
class Case:
    """A case of an entry by itself: rows of float32, reduced along dimension 1; the gradient by hand, or how it is."""

    group: str
    clauses: str
    rows: list[list[float]]
    kw: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Reduction:
    """A reduction of which each run becomes a number by itself.

    `says` is the first clause between "Each element of the result" and the run, `such_as` an example in it. The other
    clauses follow it; the first that is an edge says what a run without elements gives. Where no `precision` is named
    the bound follows from `of_run`. `option` is the parameter that may be given by name, as the signature has it.
    `cases` come after those of every reduction; `errors` are refused values of the option, with their clause. An entry
    whose cases are written by hand has none.
    """

    name: str
    of_run: Callable[..., Any]
    says: str
    clauses: tuple[tuple[str, ...], ...]  # class, text, and of an error its kind
    summary: str
    precision: str = ""
    such_as: str = ""
    option: str = ""
    differentiable: bool = True
    peers: Mapping[str, str] = field(default_factory=dict)
    cases: tuple[Case, ...] = ()
    errors: tuple[tuple[str, str, Any], ...] = ()  # group, clause, value
    since: str = "0.1"

    @property
    def definition(self) -> Callable[..., Any]:
        """The executable definition."""
        of_run = self.of_run

        def define(self: Components, dim: Axis = None, keepdim: bool = False) -> Components | NDArray:
            found: Components = over_runs(of_run, self, dim, keepdim)
            return found

        def typed(self: Components, dim: Axis = None, keepdim: bool = False, dtype: Any = None) -> Components | NDArray:
            found: Components = cast(over_runs(of_run, cast(self, dtype), dim, keepdim), dtype)
            return found

        def corrected(
            self: Components, dim: Axis = None, keepdim: bool = False, correction: float = 1
        ) -> Components | NDArray:
            found: Components = over_runs(lambda run: of_run(run, correction), self, dim, keepdim)
            return found

        chosen = {"": define, "dtype": typed, "correction": corrected}[self.option.partition(":")[0]]
        chosen.__name__ = self.name
        chosen.__doc__ = f"{self.name.upper()}: {self.summary}"
        return chosen

    def number(self, kind: str) -> str:
        """The number of the first clause of this class."""
        return str(1 + [one[0] for one in self._clauses()].index(kind))

    def _clauses(self) -> list[tuple[str, ...]]:
        value = (
            f"Each element of the result {self.says} of `self` along `dim`, with dimension 0 of the elements present "
            f"at the position{self.such_as}; layouts and shapes are those of `sum`."
        )
        return [("value", value), *self.clauses]

    def fields(self) -> dict[str, Any]:
        """The operator as the tables of `spec/operators` say it."""
        option = f", *, {self.option}" if self.option else ""
        return {
            "signature": f"{self.name}(self: Nested | Array, dim: int | tuple[int, ...] | None = None, "
            f"keepdim: bool = False{option}) -> Nested | Array",
            "summary": self.summary,
            "since": self.since,
            "torch": f"torch.{self.name}",
            "peers": self.peers,
            "precision": self.precision or self.name,
            "differentiable": ["self"] if self.differentiable else [],
            "clauses": numbered(self.name, self._clauses()),
        }


def numbered(name: str, clauses: list[tuple[str, ...]]) -> dict[str, dict[str, str]]:
    """Return clauses, each its class, its text and of an error the kind, as the tables say them."""
    kinds = ("class", "text", "kind")
    return {f"{name.upper()}-{n}": dict(zip(kinds, one, strict=False)) for n, one in enumerate(clauses, 1)}


# fmt: off
def _spread_clauses(what: str, slope: str) -> tuple[tuple[str, ...], ...]:
    return (
        AVERAGED,
        ("edge", "A run without elements gives NaN, whatever `correction` is."),
        ("edge", "Where `correction` is n or more the divisor is 0: a run of equal elements gives NaN, and so does "
         "one element with the correction 1; any other run gives +inf."),
        ("value", "`correction` is any number of 0 or more: 0 gives the mean of the squares, of one element 0."),
        ("error", "A `correction` that is no number, NaN or below 0 is refused.", "ArgumentError"),
        ("edge", f"The mean is subtracted before anything is squared: in float32 the {what} of (10000, 10001, "
         "10002) is 1, which the mean of the squares less the square of the mean does not find."),
        ("edge", "A run that holds a NaN or an infinity gives NaN; other runs are untouched by it."),
        ("gradient", f"Every element receives the cotangent times {slope}; an "
         "empty component receives an empty gradient."),
        ("unspecified", "The gradient of a run that holds a NaN or an infinity, or whose result is infinite."),
    )


REDUCTIONS = {one.name: one for one in (
    Reduction(
        "prod", lambda run: product_along(run, 0), "is the product of one run", precision="prod", option=_DTYPE,
        summary="The product of each run along `dim`.", since="0.1",
        peers={"numpy": "numpy.prod", "tensorflow": "tf.math.reduce_prod", "awkward": "ak.prod",
               "jax": "jax.ops.segment_prod"},
        clauses=(
            ("dtype", "Bools and integers of every width are multiplied as int64 and give int64; floats keep their "
             "dtype."),
            ("dtype", "With `dtype` every element is converted to that dtype before the product, and the result has "
             "it."),
            ("edge", "The product of a run without elements is 1: an empty component, a position along dimension 0 "
             "where no component is present, a batch of no components."),
            ("edge", "float16 is multiplied in float32 or wider and rounded once: 512 * 512 / 1024 is 256, not inf."),
            ("gradient", "Every element receives the cotangent times the product of the other elements of its run, "
             "zeros among them or not: that of (2, 0, 3) is (0, 6, 0), that of (2, 0, 0) is (0, 0, 0)."),
            ("unspecified", "The order of the multiplications: where the product of the elements above 1 in magnitude "
             "is beyond the largest float, an infinity or NaN is right too, and where that of the elements below 1 is "
             "less than any float, a zero."),
        ),
    ),
    Reduction(
        "logsumexp", of_runs.logsumexp, "is log of the sum of exp of one run", precision="logsumexp", since="0.1",
        such_as=": of (1000, 1000) it is 1000 + log 2",
        summary="The logarithm of the sum of the exponentials of each run along `dim`, which overflows only where the "
        "result does.",
        peers={"scipy": "scipy.special.logsumexp", "tensorflow": "tf.math.reduce_logsumexp",
               "jax": "jax.nn.logsumexp"},
        clauses=(
            AVERAGED,
            ("edge", "A run without elements, and one of nothing but -inf, gives -inf: the logarithm of 0."),
            ("edge", "A run that holds +inf gives +inf, and one that holds a NaN gives NaN; other runs are untouched "
             "by it."),
            ("gradient", "Every element receives the cotangent times the softmax of its run, -inf beside a finite "
             "element 0; a run of nothing but -inf, whose softmax is NaN, receives NaN."),
            ("unspecified", "The gradient of a run that holds a NaN or +inf."),
        ),
    ),
    Reduction(
        "any", lambda run: builtins.any(x != 0 for x in run), "says whether any element is true in one run",
        precision="exact",
        summary="Whether any element is true, of each run along `dim`.", differentiable=False, since="0.1",
        peers={"numpy": "numpy.any", "tensorflow": "tf.math.reduce_any", "awkward": "ak.any"},
        clauses=(_TRUE, ("edge", "Of a run without elements it is False: nothing is true in it.")),
    ),
    Reduction(
        "all", lambda run: builtins.all(x != 0 for x in run), "says whether all elements are true in one run",
        precision="exact",
        summary="Whether all elements are true, of each run along `dim`.", differentiable=False, since="0.1",
        peers={"numpy": "numpy.all", "tensorflow": "tf.math.reduce_all", "awkward": "ak.all"},
        clauses=(_TRUE, ("edge", "Of a run without elements it is True: nothing is false in it.")),
    ),
    Reduction(
        "var", of_runs.var, "is the variance of one run", precision="var", option="correction: float = 1",
        such_as=": the squares of x - mean are added up and divided by n - correction, with n the number of elements",
        summary="The variance of each run along `dim`, whose divisor is the number of elements less `correction`.",
        peers={"numpy": "numpy.var", "tensorflow": "tf.math.reduce_variance", "awkward": "ak.var",
               "jax": "jax.numpy.var"},
        clauses=_spread_clauses("variance", "2 (x - mean) / divisor, NaN where that is 0 / 0"),
        cases=(Case("divisor", "4", [[1, 3], [5], [2, 2]], {"correction": 2}, {"gradient": None}),
               Case("correction", "5 9", [[1, 3], [5], [], [2, 2]], {"correction": 0}),
               Case("correction", "5 9", [[1, 3, 8], [5], [2, 2]], {"correction": 0.5}),
               Case("near", "7 9", [[10000, 10001, 10002], [-8192, -8191.5]]),
               Case("infinite", "8", [[INF, 1], [-INF, -INF, 2], [NAN, 1, 1], [1, 3]]),
               Case("spoilt", "10 8", [[NAN, 1], [INF, 2], [1, 3]], {}, SPOILT)),
        errors=tuple((group, "6", wrong) for group, wrong in WRONG),
    ),
    Reduction(
        "std", of_runs.std, "is the standard deviation of one run", precision="std", option="correction: float = 1",
        such_as=": the square root of what `var` gives",
        summary="The standard deviation of each run along `dim`: the square root of `var`.",
        peers={"numpy": "numpy.std", "tensorflow": "tf.math.reduce_std", "awkward": "ak.std", "jax": "jax.numpy.std"},
        clauses=_spread_clauses("standard deviation", "(x - mean) / (divisor * result), and 0 where the result is 0"),
        cases=(Case("divisor", "4", [[1, 3], [5], [2, 2]], {"correction": 2}, {"gradient": None}),
               Case("correction", "5 9", [[1, 3], [5], [], [2, 2]], {"correction": 0}),
               Case("equal", "9", [[2, 2, 2], [-1, -1], [0, 0, 0, 0], [1, 2]]),
               Case("near", "7 9", [[10000, 10001, 10002], [-8192, -8191.5]]),
               Case("infinite", "8", [[INF, 1], [-INF, -INF, 2], [NAN, 1, 1], [1, 3]]),
               Case("spoilt", "10 8", [[NAN, 1], [INF, 2], [1, 3]], {"correction": 0}, {**SPOILT, "gradient": [
                   [[0.0, 0.0], [0.0, 0.0], [-2.0, 2.0]]]})),
        errors=tuple((group, "6", wrong) for group, wrong in WRONG),
    ),
    Reduction(
        "nansum", of_runs.nansum, "is the sum of one run", precision="sum", option=_DTYPE,
        such_as=", in which a NaN counts as 0: that of (1, NaN, 2) is 3",
        summary="The sum of each run along `dim`, in which a NaN counts as 0.",
        peers={"numpy": "numpy.nansum", "awkward": "ak.nansum", "jax": "jax.numpy.nansum"},
        clauses=(
            ADDED, TYPED,
            ("edge", "A run without elements sums to +0, and one of nothing but NaN is as one without elements."),
            ("edge", "An infinity counts: beside NaN it stays, and +inf beside -inf gives NaN."),
            ("gradient", "Every element receives the cotangent of its sum, and a NaN +0, whatever the cotangent is."),
            ("unspecified", "The sign of a sum that is zero, when its run has an element that is not NaN."),
        ),
        cases=(Case("nan", "1 4", [[NAN, 1, 2], [NAN], [NAN, NAN], [], [3, -1]]),
               Case("infinite", "5", [[INF, NAN], [INF, -INF, NAN], [1, -INF]]),
               Case("slope", "6 4", [[NAN, 1], [NAN, NAN], [2, 3]], options={
                   "cotangent": np.array([2, INF, 4], "float32"), "gradient": [[[0, 2], [0, 0], [4, 4]]]}),
               Case("zero", "7", [[-0.0, -0.0], [1, -1]])),
    ),
    Reduction(
        "nanmean", of_runs.nanmean, "is the mean of one run", option=_DTYPE,
        such_as=", from which NaN is left out: that of (1, NaN, 2) is 3 / 2",
        summary="The mean of each run along `dim`, from which NaN is left out.",
        peers={"numpy": "numpy.nanmean", "awkward": "ak.nanmean", "jax": "jax.numpy.nanmean"},
        clauses=(
            AVERAGED, TYPED,
            ("edge", "A run without elements gives NaN, and one of nothing but NaN is as one without elements."),
            ("edge", "An infinity counts: beside NaN it stays, and +inf beside -inf gives NaN."),
            ("gradient", "Every element that is not NaN receives the cotangent of its mean divided by how many of "
             "these the run has, and a NaN +0, whatever the cotangent is."),
            ("unspecified", "The sign of a mean that is zero."),
            ("error", "A `dtype` that is not a floating one is refused.", "DTypeError"),
        ),
        cases=(Case("nan", "1 4", [[NAN, 1, 2], [NAN], [NAN, NAN], [], [3, -1]]),
               Case("infinite", "5", [[INF, NAN], [INF, -INF, NAN], [1, -INF]]),
               Case("slope", "6 4", [[NAN, 1], [NAN, NAN], [2, 3]], options={
                   "cotangent": np.array([-2, INF, 4], "float32"), "gradient": [[[0, -2], [0, 0], [2, 2]]]}),
               Case("zero", "7", [[-0.0, -0.0], [1, -1]])),
        errors=tuple(("dtype", "8", np.dtype(one)) for one in ("int64", "bool")),
    ),
)}
# fmt: on
