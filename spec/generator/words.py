"""The words of expectations: values rounded once, zeros of either sign, any NaN, and exact values with tolerances."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..bounds import ANYTHING
from ..encoding import WIDTHS, Components, encode, show
from ..numerics import NDArray
from ..overflow import LARGEST
from .exact import MP, plain
from .nearest import is_float_of, round_to, split
from .trees import leaves

__all__ = ["Inexact", "bound_fields", "exact_fields", "fields_of", "representable"]

Leaf = dict[str, Any]


class Inexact(ValueError):
    """An authored case asks for exact words where the exact value is not a float of the dtype."""


def exact_fields(
    signs: Any, exact: Any, dtype: str, *, strict: bool, zeros: str, open_places: Sequence[Sequence[int]] | bool
) -> dict[str, Any]:
    """Return an expectation in exact words: `exact` rounded once, signs of zeros and special values from `signs`.

    `strict` demands that nothing had to be rounded, as every order of evaluation must give these words. `open_places`
    lists, leaf by leaf, the flat positions that are unspecified; True means all.
    """
    rounded = leaves(signs) if exact is None else [_rounded(*pair, dtype, strict) for pair in _pairs(signs, exact)]
    parts = [_leaf(leaf.astype(dtype), zeros) for leaf in rounded]
    for number, part in enumerate(parts):
        places = range(rounded[number].size) if open_places is True else _places(open_places, number)
        part["bits"] = _with_open(part["bits"], places, WIDTHS[dtype])
    return fields_of(signs, iter(parts), dtype, "exact")


def bound_fields(signs: Any, exact: Any, allowed: Any, dtype: str, open_places: Any) -> dict[str, Any]:
    """Return an expectation within a bound: hi, lo and tol as float64 words.

    `open_places` is a tree of bools: where an infinity or NaN is right as well. The words say so where there are any. A
    value beyond the largest float of the dtype is an infinity, and one that is not clearly beyond or below it is open.
    """
    if not all(np.isfinite(leaf).all() for leaf in leaves(allowed)):
        raise Inexact("the bound of a finite value must be finite")
    columns = zip(leaves(signs), leaves(exact), leaves(allowed), leaves(open_places), strict=True)
    parts = [_bounded(*column, LARGEST[dtype]) for column in columns]
    if not any("1" in part["open"] for part in parts):
        parts = [{name: words for name, words in part.items() if name != "open"} for part in parts]
    return fields_of(signs, iter(parts), dtype, "bound")


def fields_of(tree: Any, parts: Iterable[Leaf], dtype: str, cmp: str) -> dict[str, Any]:
    """Arrange the parts of the leaves as nested, dense or list."""
    parts = iter(parts)
    if isinstance(tree, Components):
        own = [next(parts) for _ in tree]
        names = own[0] if own else ("bits", "show") if cmp == "exact" else ("hi", "lo", "tol")
        batch = {} if own else {"shape": list(tree.shape)}
        shapes = {"shapes": [list(component.shape) for component in tree]}
        columns = {name: [part[name] for part in own] for name in names}
        return {"nested": {"dtype": dtype} | batch | shapes | columns | {"cmp": cmp}}
    if isinstance(tree, list):
        return {"list": [fields_of(part, parts, dtype, cmp) for part in tree]}
    return {"dense": {"dtype": dtype, "shape": list(np.shape(tree))} | next(parts) | {"cmp": cmp}}


def representable(exact: Any, dtype: str) -> bool:
    """Say whether every number of the tree is a float of `dtype` exactly."""
    return all(is_float_of(value, dtype) for leaf in leaves(exact) for value in plain(leaf).ravel())


def _pairs(signs: Any, exact: Any) -> Iterable[tuple[NDArray, NDArray]]:
    return zip(leaves(signs), leaves(exact), strict=True)


def _rounded(signs: NDArray, exact: NDArray, dtype: str, strict: bool) -> NDArray:
    if signs.shape != exact.shape:
        raise Inexact(f"the float64 run gives {signs.shape}, the exact run {exact.shape}")
    pairs = zip(signs.astype(np.float64).ravel().tolist(), plain(exact).ravel(), strict=True)
    numbers = [_number(sign, value, dtype, strict) for sign, value in pairs]
    return np.array(numbers, dtype=np.float64).reshape(signs.shape)


def _number(sign: float, value: Any, dtype: str, strict: bool) -> float:
    if not MP.isfinite(value):
        if math.isfinite(sign):
            raise Inexact(f"the float64 run gives {sign}, the exact run {value}")
        return sign
    once = round_to(value, dtype)
    if strict and not is_float_of(value, dtype):
        raise Inexact(f"{MP.nstr(value, 20)} is no {dtype}: compare it within a bound")
    if sign != once and math.isfinite(sign) and round_to(MP.mpf(sign), dtype) != once:
        raise Inexact(f"the float64 run rounds to {round_to(MP.mpf(sign), dtype)}, the exact run to {once}")
    return math.copysign(0.0, sign) if once == 0 else once


def _leaf(array: NDArray, zeros: str) -> Leaf:
    words, width = encode(array), WIDTHS[array.dtype.name]
    if array.dtype.kind == "f":
        flat = array.ravel().tolist()
        pieces = [words[start : start + width] for start in range(0, len(words), width)]
        wild = ["n" if number != number else "z" if number == 0 and zeros == "either" else "" for number in flat]
        words = "".join(letter * width or piece for letter, piece in zip(wild, pieces, strict=True))
    return {"bits": words, "show": show(array)}


def _places(open_places: Any, number: int) -> Sequence[int]:
    return open_places[number] if number < len(open_places) else ()


def _with_open(words: str, places: Iterable[int], width: int) -> str:
    for place in places:
        words = words[: place * width] + "u" * width + words[(place + 1) * width :]
    return words


def _bounded(signs: NDArray, exact: NDArray, allowed: NDArray, open_places: NDArray, largest: float) -> Leaf:
    columns = signs.astype(np.float64).ravel().tolist(), plain(exact).ravel(), allowed.ravel().tolist()
    halves = [_halves(*number, largest) for number in zip(*columns, strict=True)]
    high, low, near = ([half[part] for half in halves] for part in range(3))
    return {
        "hi": _float64(high),
        "lo": _float64(low),
        "tol": encode(np.asarray(allowed, dtype=np.float64)),
        "open": encode(open_places.ravel() | np.array(near, dtype=np.bool_)),
    }


def _halves(sign: float, value: Any, tol: float, largest: float) -> tuple[float, float, bool]:
    """Return hi and lo, an infinity where even the bound is beyond the largest float; and whether the value may be.

    Of a value that is beyond every float64, but may be off by anything, whatever comes is right.
    """
    high, low = split(value)
    if abs(high) + tol < largest / 2:  # far from all that follows
        return high, low, False
    if not MP.isfinite(value):
        return sign, 0.0, False
    if tol < ANYTHING and abs(value) - tol > largest:
        return (-math.inf if value < 0 else math.inf), 0.0, False
    if abs(value) > ANYTHING:
        return 0.0, 0.0, True
    return high, low, bool(abs(value) + tol > largest)


def _float64(numbers: Sequence[float]) -> str:
    canonical: Callable[[float], float] = lambda number: math.nan if number != number else number  # noqa: E731
    return encode(np.array([canonical(number) for number in numbers], dtype=np.float64))
