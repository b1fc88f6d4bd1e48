"""Expected gradients: the slopes of the exact result, contracted with a cotangent that is never all ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..bounds import ROUNDOFF, allow
from ..encoding import Components, encode_value
from ..gradient_bounds import GRADIENT_BOUNDS
from ..numerics import NDArray
from ..table import load_table
from .author import Case
from .draws import word
from .exact import MP, Exact, exactly, slopes_of
from .trees import as_dtype, leaves, like
from .words import bound_fields, exact_fields, representable

__all__ = ["gradient_fields"]

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
    return entries | ({"gradient_kwargs": others} if others else {})


def _differentiable(case: Case, arguments: Mapping[str, Any]) -> list[str]:
    """Return the operands with a gradient: those the table names, of floating dtype, or any given by hand."""
    listed = load_table()[case.op].differentiable or (tuple(arguments)[:1] if case.gradient != "auto" else ())
    given = dict(zip(arguments, case.args, strict=False)) | dict(case.kwargs)
    return [name for name in listed if _is_float(given.get(name)) and _is_float(arguments.get(name))]


def _is_float(value: Any) -> bool:
    if isinstance(value, Components):
        return value.dtype.kind == "f"
    return bool(leaves(value)) and all(leaf.dtype.kind == "f" for leaf in leaves(value))


def _all_finite(arguments: Mapping[str, Any]) -> bool:
    arrays = [leaf for value in arguments.values() for leaf in leaves(value)]
    return all(bool(np.isfinite(leaf).all()) for leaf in arrays)


def _draw(case: Case, result: Any, dtype: str) -> Any:
    """Return a cotangent of small integers, none of them 0, shaped like the result."""
    arrays, index = [], 0
    for leaf in leaves(result):
        words = [word(f"{case.id}/cotangent", index + place) for place in range(leaf.size)]
        arrays.append(np.array([(-3, -2, -1, 2, 3, 4)[w % 6] for w in words], dtype=dtype).reshape(leaf.shape))
        index += leaf.size
    return like(result, iter(arrays), dtype)


def _automatic(
    case: Case, arguments: Mapping[str, Any], exact: Any, cotangent: Any, wanted: list[str]
) -> dict[str, Any]:
    contributions = _contributions(exact, cotangent)
    special = GRADIENT_BOUNDS.get(case.op)
    terms = special(exactly(arguments), cotangent) if special and case.cmp == "bound" else {}
    fields, first = {}, 0
    for name, value in arguments.items():
        sizes = [leaf.size for leaf in leaves(value) if leaf.dtype.kind == "f"]
        if name in wanted:
            fields[name] = _field(case, value, first, contributions, terms.get(name))
        first += sum(sizes)
    return fields


def _contributions(exact: Any, cotangent: Any) -> dict[int, Pairs]:
    """Return, for every input number, the slopes and cotangents whose products add up to its gradient."""
    found: dict[int, Pairs] = {}
    for numbers, weights in zip(leaves(exact), leaves(cotangent), strict=True):
        for number, weight in zip(numbers.ravel(), weights.ravel().tolist(), strict=True):
            for key, slope in slopes_of(number).items():
                found.setdefault(key, []).append((slope, MP.mpf(weight)))
    return found


def _field(case: Case, value: Any, first: int, contributions: Mapping[int, Pairs], terms: Any) -> Any:
    gradients, defaults = [], []
    for leaf in leaves(value):
        pairs = [contributions.get(first + place, []) for place in range(leaf.size)]
        gradients.append(_objects([Exact(MP.fsum(s * c for s, c in one)) for one in pairs], leaf))
        defaults.append(_objects([(len(one) + 4) * MP.fsum(abs(s * c) for s, c in one) for one in pairs], leaf))
        first += leaf.size
    dtype = leaves(value)[0].dtype.name if leaves(value) else value.dtype.name
    gradient = like(value, iter(gradients), object)
    if case.cmp == "exact" and representable(gradient, dtype):
        return exact_fields(gradient, gradient, dtype, strict=True, zeros="either", open_places=())
    errors = leaves(terms) if terms is not None else defaults
    pairs_of = zip(errors, gradients, strict=True)
    allowed = [allow(_floats(error), _floats(exact), ROUNDOFF[dtype], dtype) for error, exact in pairs_of]
    return bound_fields(gradient, gradient, like(value, iter(allowed)), dtype)


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
