"""Expected gradients: the slopes of the exact result, contracted with a cotangent that is never all ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from ..bounds import ANYTHING, ROUNDOFF, allow
from ..components import Components, is_several, of_parts, parts_of
from ..encoding import encode_value
from ..gradient_bounds import GRADIENT_BOUNDS, GRADIENT_LOST
from ..numerics import NDArray
from ..overflow import GRADIENT_ADDED, LARGEST, beyond
from ..table import load_table
from .author import Case
from .draws import word
from .exact import MP, Exact, exactly, plain, slopes_of
from .trees import as_dtype, leaves, like
from .words import bound_fields, exact_fields, representable

__all__ = ["gradient_fields"]

_WHOLE = (-3, -2, -1, 2, 3, 4)
_DRAWN: Mapping[str, Callable[[int, int], float]] = {  # from a word, and its place
    "whole": lambda w, place: _WHOLE[w % 6],
    "zeros": lambda w, place: _WHOLE[w % 6] * (place % 2),
    "fine": lambda w, place: (w % 2**12 - 2047.5) / 2**9,
    "spoilt": lambda w, place: (math.nan, math.inf, -math.inf, *_WHOLE)[(w % 9 if place else 0)],
}
Pairs = list[tuple[Any, Any]]  # slope, cotangent


def gradient_fields(case: Case, arguments: Mapping[str, Any], result: Any, exact: Any, dtype: str) -> dict[str, Any]:
    """Return `cotangent`, `gradient` and `gradient_kwargs` of a case, or nothing where no operand has a gradient."""
    wanted = _differentiable(case, arguments)
    if not wanted or not (case.gradient != "auto" or _all_finite(arguments)):
        return {}
    cotangent = case.cotangent if case.cotangent is not None else _draw(case, result, dtype)
    if case.gradient == "auto":
        fields = _automatic(case, arguments, exact, cotangent, wanted)
    else:
        fields = _by_hand(case, arguments, wanted)
    names = list(arguments)[: len(case.args)]
    entries = {
        "cotangent": encode_value(as_dtype(cotangent, dtype)),
        "gradient": [fields.get(name) for name in names],
    }
    others = {name: entry for name, entry in fields.items() if name not in names}
    tracked = {} if case.tracked is None else {"tracked": list(case.tracked)}
    return tracked | entries | ({"gradient_kwargs": others} if others else {})


def _differentiable(case: Case, arguments: Mapping[str, Any]) -> list[str]:
    """Return the operands with a gradient: those the table names, of floating dtype, or any given by hand."""
    listed = load_table()[case.op].differentiable or (tuple(arguments)[:1] if case.gradient != "auto" else ())
    given = _given(case, arguments)
    floats = [name for name in listed if _is_float(given.get(name)) and _is_float(arguments.get(name))]
    return floats if case.tracked is None else [name for name in floats if list(arguments).index(name) in case.tracked]


def _given(case: Case, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments by name as they were given, which is not in the dtype that the call asks for."""
    return dict(zip(arguments, case.args, strict=False)) | dict(case.kwargs)


def _is_float(value: Any) -> bool:
    if isinstance(value, Components):
        return value.dtype.kind == "f"
    return bool(leaves(value)) and all(leaf.dtype.kind == "f" for leaf in leaves(value))


def _all_finite(arguments: Mapping[str, Any]) -> bool:
    arrays = [leaf for value in arguments.values() for leaf in leaves(value)]
    return all(bool(np.isfinite(leaf).all()) for leaf in arrays)


def _draw(case: Case, result: Any, dtype: str) -> Any:
    """Return a cotangent shaped like the result, of the numbers that the case asks for."""
    arrays, index = [], 0
    for leaf in leaves(result):
        words = [word(f"{case.id}/cotangent", index + place) for place in range(leaf.size)]
        numbers = [_DRAWN[case.drawn](w, place) for place, w in enumerate(words)]
        arrays.append(np.array(numbers, dtype=dtype).reshape(leaf.shape))
        index += leaf.size
    return like(result, iter(arrays), dtype)


def _automatic(
    case: Case, arguments: Mapping[str, Any], exact: Any, cotangent: Any, wanted: list[str]
) -> dict[str, Any]:
    contributions = _contributions(exact, cotangent)
    special = _special(case, arguments, cotangent)
    fields, first, given = {}, 0, _given(case, arguments)
    for name, value in arguments.items():
        sizes = [leaf.size for leaf in leaves(value) if leaf.dtype.kind == "f"]
        if name in wanted:
            own = [entries.get(name) for entries in special]
            fields[name] = _field(case, (value, given[name]), first, contributions, *own)
        first += sum(sizes)
    return fields


def _special(case: Case, arguments: Mapping[str, Any], cotangent: Any) -> list[dict[str, Any]]:
    """Return by argument what the bounds of the operator say that is not said by those of a sum of products."""
    tables: list[Mapping[str, Any]] = [GRADIENT_BOUNDS, GRADIENT_LOST, GRADIENT_ADDED]
    if case.cmp == "exact":
        return [{} for _ in tables]
    exact = exactly(arguments), exactly({"": cotangent})[""]
    return [table[case.op](*exact) if case.op in table else {} for table in tables]


def _contributions(exact: Any, cotangent: Any) -> dict[int, Pairs]:
    """Return, for every input number, the slopes and cotangents whose products add up to its gradient."""
    found: dict[int, Pairs] = {}
    for numbers, weights in zip(leaves(exact), leaves(cotangent), strict=True):
        for number, weight in zip(numbers.ravel(), weights.ravel().tolist(), strict=True):
            slopes = slopes_of(number)
            factor = MP.mpf(weight) if slopes else None
            for key, slope in slopes.items():
                found.setdefault(key, []).append((slope, factor))
    return found


def _field(
    case: Case, pair: tuple[Any, Any], first: int, contributions: Mapping[int, Pairs], *special: Any
) -> dict[str, Any]:
    """Return the gradient of one operand, as it was computed with and as it was given, whose dtype it has.

    `special` is what holds for its operator and not for sums of products.
    """
    value, given = pair
    if is_several(value):
        parts = parts_of(value)
        starts = accumulate((sum(leaf.size for leaf in leaves(one)) for one in parts), initial=first)
        own = zip(*([None] * len(parts) if one is None else parts_of(one) for one in special), strict=True)
        rows = zip(zip(parts, parts_of(given), strict=True), starts, own, strict=False)
        fields = [_field(case, pair, start, contributions, *known) for pair, start, known in rows]
        return {"mapping" if isinstance(value, dict) else "list": of_parts(value, fields)}
    arrays = leaves(value)
    pairs: list[list[Pairs]] = []
    for leaf in arrays:
        pairs.append([contributions.get(first + place, []) for place in range(leaf.size)])
        first += leaf.size
    sums = [_objects([Exact(MP.fsum(s * c for s, c in one)) for one in own], leaf) for own, leaf in _zip(pairs, arrays)]
    slopes = [slope for own in pairs for one in own for slope, _ in one]
    dtype, computing = given.dtype.name, value.dtype.name
    gradient = like(value, iter(sums), object)
    plain = representable(gradient, dtype) and representable(np.array(slopes, object), dtype)
    if case.cmp == "exact" and plain:  # a sum may be a float where what is added has to be rounded
        return exact_fields(gradient, gradient, dtype, strict=True, zeros="either", open_places=())
    reached = [[_reach_of_products(one) for one in own] for own in pairs]
    columns = ([_objects([one[n] for one in own], leaf) for own, leaf in _zip(reached, arrays)] for n in range(3))
    errors, lost, added = (column if own is None else leaves(own) for column, own in zip(columns, special, strict=True))
    places = zip(errors, sums, lost, strict=True)
    allowed = like(value, iter([_allowed(error, exact, dtype, computing, lost) for error, exact, lost in places]))
    narrower = min(dtype, computing, key=LARGEST.__getitem__)  # it passes through both
    open_places = like(value, iter([beyond(_floats(one), narrower) for one in added]))
    return bound_fields(gradient, gradient, allowed, dtype, open_places)


def _allowed(error: Any, exact: Any, dtype: str, computing: str, lost: Any) -> NDArray:
    """Return the tolerance; of a gradient beyond every float64 it is anything, if that may be off by half of itself."""
    floats = _floats(exact)
    pairs = zip(plain(exact).ravel(), plain(np.broadcast_to(error, floats.shape)).ravel(), strict=True)
    unsure = [abs(number) > ANYTHING and 2 * ROUNDOFF[computing] * off > abs(number) for number, off in pairs]
    known = allow(error, floats, dtype, computing, lost)
    return np.where(np.reshape(unsure, floats.shape), ANYTHING, known)


def _zip(columns: Sequence[Any], arrays: Sequence[NDArray]) -> Iterator[tuple[Any, NDArray]]:
    return zip(columns, arrays, strict=True)


def _reach_of_products(pairs: Pairs) -> tuple[Any, Any, Any]:
    """Return of slopes times cotangents the error in units of u, what is lost in floors, and what is the most."""
    slopes, cotangents = [abs(s) for s, _ in pairs], [abs(c) for _, c in pairs]
    reach = MP.fdot(slopes, cotangents)
    lost = len(pairs) + MP.fsum(slopes) + MP.fsum(cotangents)
    return (len(pairs) + 4) * reach, lost, max(reach, *slopes) if slopes else reach


def _objects(numbers: list[Any], leaf: NDArray) -> NDArray:
    array = np.empty(len(numbers), dtype=object)
    array[:] = numbers
    return array.reshape(leaf.shape)


def _floats(array: NDArray) -> NDArray:
    return np.array([float(number) for number in array.ravel()], dtype=np.float64).reshape(array.shape)


def _by_hand(case: Case, arguments: Mapping[str, Any], wanted: list[str]) -> dict[str, Any]:
    fields = {}
    for name, gradient in zip(wanted, case.gradient, strict=True):
        value = arguments[name]
        dtype = value.dtype.name if isinstance(value, Components) else leaves(value)[0].dtype.name
        arrays = [np.array(numbers, dtype=dtype) for numbers in (gradient if isinstance(value, list) else [gradient])]
        tree = like(value, iter(arrays))
        fields[name] = exact_fields(
            tree, None, dtype, strict=False, zeros="either", open_places=case.unspecified_gradient
        )
    return fields
