"""The comparator: a result meets its expectation, or here is the first element that does not.

An expectation is the `expect` (or a gradient) of a vector. Values are compared by components: a dense `(B, ...)` result
equals a nested expectation with those components, and the other way round; whether a result must be dense or nested is
the business of whoever runs the case. An array meets its expectation when dtype and shape are equal and every element
is what its words ask for (see `pynested.spec.encoding`) or, under a bound, within `tol` of `hi + lo`. Where a bound is
`open`, an infinity or NaN is right as well.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .encoding import ANY_NAN, ANY_ZERO, EXACT, decode, decode_value, decode_words, encode
from .numerics import NDArray

__all__ = ["Difference", "Expected", "compare", "compare_array", "expected_components"]

_FLOAT64 = "float64"
_COLUMNS = ("bits", "hi", "lo", "tol", "open")  # of an expectation: the words of each component
_UNSIGNED = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}
_ASKED = {1: "any NaN", 2: "a zero of either sign", 3: "anything"}
_NEAR, _OFTEN = 8, 100  # units in the last place, and how often a bound may be exceeded, for a difference to be near


@dataclass(frozen=True)
class Difference:
    """The first place where a result is not what the specification asks for.

    `aspect` is one of form, count, dtype, shape, value. `component` is None where the expectation is one dense array;
    `index` counts inside the component. `allowed` is the tolerance, `error` the distance from the exact value, and
    `wrong` of `total` elements of this component differ. `near` ones are off by a few roundings.
    """

    aspect: str
    got: str
    expected: str
    component: int | None = None
    index: tuple[int, ...] | None = None
    error: float | None = None
    allowed: float | None = None
    wrong: int = 0
    total: int = 0
    near: bool = False

    @property
    def where(self) -> tuple[int | None, tuple[int, ...] | None]:
        """Component number and index inside it."""
        return self.component, self.index

    def __str__(self) -> str:
        place = "" if self.component is None else f" of component {self.component}"
        if self.index is not None:
            place = f" at {list(self.index)}{place}"
        text = f"{self.aspect}{place}: got {self.got}, expected {self.expected}"
        if self.allowed is not None:
            text += f" (off by {self.error:.3g}, allowed {self.allowed:.3g})"
        return text + (f"; {self.wrong} of {self.total} elements differ" if self.wrong > 1 else "")


@dataclass(frozen=True)
class Expected:
    """One expected array: exact words with their wildcards, or the exact value `hi + lo` with a tolerance."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    values: NDArray  # exact: the values; bound: hi
    wanted: NDArray | None = None  # exact: one code per element
    lo: NDArray | None = None
    tol: NDArray | None = None
    open: NDArray | None = None  # bound: where an infinity or NaN is right as well

    @classmethod
    def from_words(cls, fields: Mapping[str, Any], component: int | None = None) -> Expected:
        """Read the expectation of one array, of component number `component` where the fields are lists."""

        def pick(name: str) -> Any:
            return fields[name] if component is None else fields[name][component]

        dtype = np.dtype(fields["dtype"])
        shape = tuple(pick("shape" if component is None else "shapes"))
        if fields["cmp"] == "exact":
            values, wanted = decode_words(pick("bits"), fields["dtype"], shape)
            return cls(dtype, shape, values, wanted=wanted)
        if fields["cmp"] != "bound":
            raise ValueError(f"compare: unknown comparison {fields['cmp']!r}; it is exact or bound")
        hi, lo, tol = (decode(pick(name), _FLOAT64, shape) for name in ("hi", "lo", "tol"))
        open_places = decode(pick("open"), "bool", shape) if "open" in fields else np.zeros(shape, np.bool_)
        return cls(dtype, shape, hi, lo=lo, tol=tol, open=open_places)


def expected_components(expected: Mapping[str, Any]) -> list[Expected]:
    """Return the expected arrays of a nested expectation one by one, or the single one of a dense expectation."""
    if "dense" in expected:
        return [Expected.from_words(expected["dense"])]
    return [Expected.from_words(expected["nested"], number) for number in range(len(expected["nested"]["shapes"]))]


def compare(got: Any, expected: Mapping[str, Any]) -> Difference | None:
    """Return None if `got` meets the expectation, otherwise the first difference.

    `got` is a list of components, one array, a Python scalar, or a list of these where a list is expected.
    """
    if "python" in expected:
        return _compare_python(got, decode_value(expected["python"]))
    if "list" in expected:
        return _compare_list(got, expected["list"])
    if "dense" in expected:
        return _compare_dense(got, expected)
    return _compare_nested(got, expected)


def _compare_nested(got: Any, expected: Mapping[str, Any]) -> Difference | None:
    fields = expected["nested"]
    count = len(fields["shapes"])
    if not (isinstance(got, (list, tuple)) or np.ndim(got) > 0):
        return Difference("form", "a single number", f"{count} components")
    components = [np.asarray(one) for one in got]
    if len(components) != count:
        return Difference("count", f"{len(components)} components", f"{count} components")
    if not count:
        return _compare_nothing(got, fields)
    if _all_meet(components, fields):
        return None
    pairs = enumerate(zip(components, expected_components(expected), strict=True))
    return _first(compare_array(mine, theirs, number) for number, (mine, theirs) in pairs)


def _all_meet(components: Sequence[NDArray], fields: Mapping[str, Any]) -> bool:
    """Return whether components meet their expectation, asked of all their elements at once."""
    dtype = np.dtype(fields["dtype"])
    if any(one.dtype != dtype for one in components) or [list(one.shape) for one in components] != fields["shapes"]:
        return False
    flat = np.concatenate([one.ravel() for one in components])
    columns = {name: "".join(fields[name]) for name in _COLUMNS if name in fields}
    return bool(_met(flat, Expected.from_words({**fields, **columns, "shape": flat.shape})).all())


def _compare_nothing(got: Any, fields: Mapping[str, Any]) -> Difference | None:
    """Compare what a batch of no components has: a dtype, a rank, and sizes where both sides call them regular."""
    shape, dtype = tuple(fields["shape"]), np.dtype(fields["dtype"])
    if got.dtype != dtype:
        return Difference("dtype", got.dtype.name, dtype.name)
    sizes = zip(got.shape, shape, strict=False)
    if len(got.shape) == len(shape) and all(None in pair or pair[0] == pair[1] for pair in sizes):
        return None
    return Difference("shape", _logical(got.shape), _logical(shape))


def _logical(shape: Sequence[int | None]) -> str:
    """Return a logical shape as the chapters write it: (0, *, 4)."""
    return f"({', '.join('*' if size is None else str(size) for size in shape)})"


def _first(differences: Iterable[Difference | None]) -> Difference | None:
    return next((difference for difference in differences if difference is not None), None)


def _compare_python(got: Any, expected: Any) -> Difference | None:
    if type(got) is type(expected) and repr(got) == repr(expected):  # which tells 1 from 1.0, and -0.0 from 0.0
        return None
    return Difference("value", f"{got!r} ({type(got).__name__})", f"{expected!r} ({type(expected).__name__})")


def _compare_list(got: Any, expected: Sequence[Mapping[str, Any]]) -> Difference | None:
    if not isinstance(got, (list, tuple)):
        return Difference("form", type(got).__name__, f"a list of {len(expected)}")
    if len(got) != len(expected):
        return Difference("count", f"a list of {len(got)}", f"a list of {len(expected)}")
    return _first(compare(one, wanted) for one, wanted in zip(got, expected, strict=True))


def _compare_dense(got: Any, expected: Mapping[str, Any]) -> Difference | None:
    (wanted,) = expected_components(expected)
    if not isinstance(got, (list, tuple)):
        return compare_array(np.asarray(got), wanted)
    if wanted.shape[:1] != (len(got),):
        return Difference("count", f"{len(got)} components", f"a dense array {wanted.shape}")
    return _first(compare_array(component, _row(wanted, number), number) for number, component in enumerate(got))


def _row(expected: Expected, number: int) -> Expected:
    def pick(array: NDArray | None) -> NDArray | None:
        return None if array is None else np.asarray(array[number])

    row = np.asarray(expected.values[number])
    columns = (pick(column) for column in (expected.wanted, expected.lo, expected.tol, expected.open))
    return Expected(expected.dtype, row.shape, row, *columns)


def compare_array(got: Any, expected: Expected, component: int | None = None) -> Difference | None:
    """Compare one array with its expectation: dtype, then shape, then every element."""
    got = np.asarray(got)
    if got.dtype != expected.dtype:
        return Difference("dtype", got.dtype.name, expected.dtype.name, component)
    if got.shape != expected.shape:
        return Difference("shape", str(got.shape), str(expected.shape), component)
    met = _met(got, expected)
    if met.all():
        return None
    index = tuple(int(position) for position in np.argwhere(~met)[0])
    wrong = int(met.size - np.count_nonzero(met))
    return _at(got, expected, index, component, wrong)


def _met(got: NDArray, expected: Expected) -> NDArray:
    """Return which elements are right."""
    return _met_exactly(got, expected) if expected.tol is None else _met_within(got, expected)


def _met_exactly(got: NDArray, expected: Expected) -> NDArray:
    wanted = np.asarray(expected.wanted)
    met: NDArray = _words(got) == _words(expected.values)
    if not np.count_nonzero(wanted):  # all are to be EXACT
        return met
    if got.dtype.kind == "f":
        met = np.where(wanted == ANY_NAN, np.isnan(got), met)
    met = np.where(wanted == ANY_ZERO, got == 0, met)
    return np.where(wanted > ANY_ZERO, True, met)


def _words(array: NDArray) -> NDArray:
    if not (array.dtype.isnative and array.flags.c_contiguous):
        array = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("=")).reshape(array.shape)
    return array.view(_UNSIGNED[array.dtype.itemsize])


def _met_within(got: NDArray, expected: Expected) -> NDArray:
    assert expected.lo is not None and expected.open is not None
    exact, wide = expected.values, got.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.abs((wide - exact) - expected.lo) <= expected.tol
    finite = np.isfinite(exact)
    if np.count_nonzero(finite & near) == exact.size:
        return near
    special = np.where(np.isnan(exact), np.isnan(wide), wide == exact)
    return np.where(finite, near, special) | (expected.open & ~np.isfinite(wide))


def _at(got: NDArray, expected: Expected, index: tuple[int, ...], component: int | None, wrong: int) -> Difference:
    mine, theirs = got[index], expected.values[index]
    text, total = f"{mine} ({encode(np.asarray(mine))})", got.size
    if expected.wanted is not None:
        code = int(expected.wanted[index])
        asked = f"{theirs} ({encode(np.asarray(theirs))})" if code == EXACT else _ASKED[code]
        near = code == EXACT and got.dtype.kind == "f" and _steps(mine, theirs) < _NEAR * abs(float(theirs))
        return Difference("value", text, asked, component, index, wrong=wrong, total=total, near=near)
    assert expected.lo is not None and expected.tol is not None and expected.open is not None
    asked = f"{theirs}, an infinity or NaN" if expected.open[index] else str(theirs)
    error = abs((float(mine) - float(theirs)) - float(expected.lo[index]))
    allowed = float(expected.tol[index])
    near = error <= _OFTEN * allowed and _steps(mine, theirs) < _NEAR * max(1.0, abs(float(theirs)))
    return Difference("value", text, asked, component, index, error, allowed, wrong, total, near)


def _steps(got: Any, wanted: Any) -> float:
    """Return how far a float is from another, in units in the last place of 1; what is not finite is nowhere near."""
    away = abs(float(got) - float(wanted))
    return away / float(np.finfo(got.dtype).eps) if 0 < away < math.inf else math.inf
