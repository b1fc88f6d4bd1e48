"""What differs between two sides, in words: the kind first, then shapes, dtypes and values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .sides import Dense, Nest, Several, Side

Tolerance = tuple[float, float]
_Bools = NDArray[np.bool_]


def difference(
    actual: Side, expected: Side, allowed: Callable[[str], Tolerance], equal_nan: bool, check_dtype: bool
) -> str | None:
    """Return the first difference in words, or None."""
    if isinstance(actual, Several) and isinstance(expected, Several):
        for number, (a, b) in enumerate(zip(actual.sides, expected.sides, strict=True)):
            if (found := difference(a, b, allowed, equal_nan, check_dtype)) is not None:
                return f"entry {number}: {found}"
        same = actual.count == expected.count
        return (
            None
            if same
            else f"the lists differ in length: actual has {actual.count} entries, expected {expected.count}"
        )
    if isinstance(actual, Several) or isinstance(expected, Several) or type(actual) is not type(expected):
        return f"kinds differ: actual is {_kind(actual)}, expected {_kind(expected)}"
    found = _in_shape(actual, expected) or (_in_dtype(actual, expected) if check_dtype else None)
    if found is not None:
        return found
    pairs = [allowed(one.dtype) for one in (actual, expected) if one.dtype] or [allowed("float64")]
    rtol, atol = (max(column) for column in zip(*pairs, strict=True))
    return _in_values(_dense(actual), _dense(expected), (rtol, atol), equal_nan, isinstance(actual, Nest))


def _kind(side: Side) -> str:
    if isinstance(side, Several):
        return f"a list of {side.count} arrays"
    return f"nested, of {len(side.components)} components" if isinstance(side, Nest) else f"dense {side.values.shape}"


def _dense(side: Dense | Nest) -> list[NDArray[Any]]:
    return [one.values for one in side.components] if isinstance(side, Nest) else [side.values]


def _in_shape(actual: Dense | Nest, expected: Dense | Nest) -> str | None:
    """Compare the number of components, then every size of every one."""
    mine, theirs = _dense(actual), _dense(expected)
    if len(mine) != len(theirs):
        return f"the number of components differs: actual has {len(mine)}, expected {len(theirs)}"
    wrong = [number for number, (a, b) in enumerate(zip(mine, theirs, strict=True)) if a.shape != b.shape]
    nested = isinstance(actual, Nest)
    if not wrong:
        return _of_nothing(actual, expected) if nested and not mine else None
    a, b = mine[wrong[0]].shape, theirs[wrong[0]].shape
    if not nested:
        return f"shapes differ{_sizes(a, b, 0)}: actual has {a}, expected {b}"
    text = f"shapes differ at component {wrong[0]}{_sizes(a, b, 1)}: actual has {a}, expected {b}"
    return text + (f"; so do {len(wrong) - 1} more of {len(mine)} components" if len(wrong) > 1 else "")


def _sizes(a: tuple[int, ...], b: tuple[int, ...], first: int) -> str:
    """Name the first dimension that differs, counted with the batch."""
    if len(a) != len(b):
        return " in rank"
    return (
        f" along dimension {next(dim for dim, pair in enumerate(zip(a, b, strict=True), first) if pair[0] != pair[1])}"
    )


def _of_nothing(actual: Any, expected: Any) -> str | None:
    """Compare what batches of no components say of the sizes that one would have."""
    a, b = actual.shape, expected.shape
    if (
        len(a) == 1
        or len(b) == 1
        or (len(a) == len(b) and all(None in two or two[0] == two[1] for two in zip(a, b, strict=True)))
    ):
        return None
    shown = ["(" + ", ".join("*" if size is None else str(size) for size in one) + ")" for one in (a, b)]
    return f"shapes of no components differ: actual has {shown[0]}, expected {shown[1]}"


def _in_dtype(actual: Dense | Nest, expected: Dense | Nest) -> str | None:
    """Compare dtypes, also those of single components where a list has several; numbers of Python fit all."""
    same = actual.dtype == expected.dtype or not actual.dtype or not expected.dtype
    return None if same else f"dtypes differ: actual has {actual.dtype}, expected {expected.dtype}"


def _in_values(
    mine: Sequence[NDArray[Any]], theirs: Sequence[NDArray[Any]], tolerance: Tolerance, equal_nan: bool, nested: bool
) -> str | None:
    """Compare every element; tell of the first that is wrong, and of the one that is farthest off."""
    off = [_far(a, b, tolerance, equal_nan) for a, b in zip(mine, theirs, strict=True)]
    wrong = [number for number, far in enumerate(off) if far.any()]
    if not wrong:
        return None
    count, total = sum(int(far.sum()) for far in off), sum(far.size for far in off)
    text = f"values differ: {count} of {total} element{'s' if total > 1 else ''}"
    text += f", in {len(wrong)} of {len(off)} component{'s' if len(off) > 1 else ''}" if nested else ""
    places = [(number, index) for number in wrong for index in _places(off[number])]
    farthest = max(places, key=lambda one: _distance(mine, theirs, *one))
    shown = {"": places[0]} if farthest == places[0] else {"first: ": places[0], "farthest: ": farthest}
    for label, (number, index) in shown.items():
        at = f"component {number}, at {list(index)}" if nested else f"at {list(index)}"
        text += f"\n    {label}{at}: {_told(mine[number][index], theirs[number][index], tolerance)}"
    return text


def _places(far: _Bools) -> Iterator[tuple[int, ...]]:
    return (tuple(int(one) for one in place) for place in np.argwhere(far))


def _far(a: NDArray[Any], b: NDArray[Any], tolerance: Tolerance, equal_nan: bool) -> _Bools:
    """Return where two arrays of one shape are not near each other; integers are compared exactly first."""
    rtol, atol = tolerance
    with np.errstate(all="ignore"):
        far = np.asarray(a != b)
        if far.any() and (rtol or atol):
            x, y = _wide(a[far]), _wide(b[far])
            near = np.abs(x - y) <= atol + rtol * np.abs(y)
            far[far] = ~np.asarray(near & _finite(x) & _finite(y), np.bool_)
        if equal_nan:
            far &= ~(np.asarray(a != a) & np.asarray(b != b))
    return far


def _wide(values: NDArray[Any]) -> NDArray[Any]:
    """Return floats as the widest ones, integers as those of Python: neither loses anything."""
    if values.dtype.kind in "iub":
        return values.astype(object) + 0
    return values.astype(np.complex128 if values.dtype.kind == "c" else np.float64)


def _finite(values: NDArray[Any]) -> Any:
    return True if values.dtype.kind == "O" else np.isfinite(values)


def _distance(
    mine: Sequence[NDArray[Any]], theirs: Sequence[NDArray[Any]], number: int, index: tuple[int, ...]
) -> float:
    """Return how far apart two elements are; NaN beside a number is farthest."""
    off = _apart(mine[number][index], theirs[number][index])
    return np.inf if np.isnan(off) else off


def _apart(a: Any, b: Any) -> float:
    with np.errstate(all="ignore"):
        return float(abs(_number(a) - _number(b)))


def _number(value: Any) -> Any:
    """Return an element as one of Python's numbers."""
    kind = value.dtype.kind
    return int(value) if kind in "iub" else complex(value) if kind == "c" else float(value)


def _told(a: Any, b: Any, tolerance: Tolerance) -> str:
    """Say both values, how far apart they are and how far they may be."""
    rtol, atol = tolerance
    text, off = f"actual {a!s}, expected {b!s}", _apart(a, b)
    if not np.isfinite(off):
        return text
    allowed = atol + rtol * float(abs(_number(b)))
    limit = f"allowed {allowed:.3g} (rtol {rtol:.3g}, atol {atol:.3g})" if rtol or atol else "compared exactly"
    return f"{text}; off by {off:.3g}, {limit}"
