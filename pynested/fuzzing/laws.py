"""What the law says of a call without a definition: components in another order, one alone, a part, the batch twice.

``op(nest(c0, ..., cn))`` is ``nest(op(c0), ..., op(cn))``. So where the result has a component for each of the call, a
call of the same components in any `order` (a permutation, a few of them, some of them twice) must give those of the
result in that order, and so must a gradient. What is due is picked out of what was due before; nothing is computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pynested.spec.components import Components
from pynested.spec.generator.author import Case
from pynested.spec.generator.build import bound

from .chance import Chance

__all__ = ["defined", "follows", "is_by_hand", "orders", "reordered", "taken"]

Order = tuple[int, ...]
_REFUSES = (ValueError, IndexError, TypeError, KeyError)  # of a definition, which checks nothing itself


def orders(chance: Chance, batch: int) -> list[Order]:
    """Return what to ask beside a batch: another order, one component alone, a part of it, and all of it twice.

    Examples
    --------
    >>> orders(Chance(1), 3)
    [(1, 2, 0), (1,), (1, 2), (0, 1, 2, 2, 1, 0)]
    """
    if batch < 2:  # beside one component, a dense operand of one slice may be that of all or its own
        return []
    cut, every = chance.between(1, batch - 1), tuple(range(batch))
    part = every[:cut] if chance.happens(0.5) else every[cut:]
    found = [tuple(chance.order(batch)), (chance.below(batch),), part, every + every[::-1]]
    return [one for one in dict.fromkeys(found) if one != every]


# --- calls, as an author writes them


def reordered(case: Case, order: Order) -> Case:
    """Return the call of the components in an order."""
    values = [*case.args, *case.kwargs.values()]
    nested = [one for one in _flat(values) if isinstance(one, Components)]
    batch, rank = len(nested[0]), max(len(one.shape) for one in nested)

    def one(value: Any) -> Any:
        if isinstance(value, Components):
            return Components([value[i] for i in order], (len(order), *value.shape[1:]), value.dtype)
        if isinstance(value, list):
            return [one(part) for part in value]
        return value[list(order)] if isinstance(value, np.ndarray) and _batched(value.shape, batch, rank) else value

    return replace(case, args=tuple(map(one, case.args)), kwargs={name: one(v) for name, v in case.kwargs.items()})


def _flat(values: Sequence[Any]) -> list[Any]:
    return [part for one in values for part in (_flat(one) if type(one) is list else [one])]


def _batched(shape: Sequence[int | None], batch: int, rank: int) -> bool:
    """Return whether a dense operand has a slice for each component."""
    return len(shape) == rank and shape[0] == batch > 1


def defined(case: Case) -> Any:
    """Return what the definition gives of a call; None where it cannot be asked."""
    with np.errstate(all="ignore"):
        try:
            define, arguments = bound(case)
            return define(**arguments)
        except _REFUSES:
            return None


def follows(case: Case, order: Order, whole: Any) -> bool:
    """Return whether the law holds of a call: its definition gives the components of the ``whole`` in that order."""
    sizes = {len(one) for one in _flat([*case.args, *case.kwargs.values()]) if isinstance(one, Components)}
    if len(sizes) != 1 or max(order) >= max(sizes) or is_by_hand(case) or _counted(case, max(sizes)):
        return False
    picked = defined(reordered(case, order)) if isinstance(whole, Components) else None
    if not (isinstance(whole, Components) and isinstance(picked, Components)):
        return False
    if len(whole) not in sizes or len(picked) != len(order):
        return False
    return all(_same(whole[i], one) for i, one in zip(order, picked, strict=True))


def is_by_hand(case: Case) -> bool:
    """Return whether an author has written down what is due of a call, which holds of its numbers in their places."""
    by_hand = case.gradient is not None and not isinstance(case.gradient, str)
    return by_hand or case.result is not None or case.unspecified != () or case.cotangent is not None


def _counted(case: Case, batch: int) -> bool:
    """Return whether an argument may say how many components there are, as the first size of a shape does."""
    return any(isinstance(one, tuple) and one[:1] == (batch,) for one in (*case.args, *case.kwargs.values()))


def _same(a: Any, b: Any) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


# --- vectors, as they are written down


def taken(vector: Mapping[str, Any], order: Order) -> dict[str, Any]:
    """Return the vector of the components of another one in an order.

    The gradient of an operand that all components share is due where each of them is there once.
    """
    values = [*vector["args"], *vector["kwargs"].values()]
    shapes = [value["nested"]["shape"] for value in _lists(values) if "nested" in value]
    batch, rank = shapes[0][0], max(map(len, shapes))
    shared = sorted(order) == list(range(batch))

    def one(value: Any) -> Any:
        return _taken(value, order, batch, rank)

    def gradient(value: Any, argument: Any) -> Any:
        if value is None or shared or _moves(argument, batch, rank):
            return one(value)
        return None

    found = {**vector, "args": list(map(one, vector["args"])), "expect": _result(vector["expect"], order, batch)}
    found["kwargs"] = {name: one(value) for name, value in vector["kwargs"].items()}
    if "gradient" in vector:
        found["cotangent"] = _result(vector["cotangent"], order, batch)
        found["gradient"] = [gradient(*pair) for pair in zip(vector["gradient"], vector["args"], strict=True)]
    if "gradient_kwargs" in vector:
        kwargs = vector["kwargs"]
        found["gradient_kwargs"] = {name: gradient(v, kwargs[name]) for name, v in vector["gradient_kwargs"].items()}
    return found


def _lists(values: Sequence[Any]) -> list[Mapping[str, Any]]:
    """Return the forms of values, those in lists too."""
    forms = [one for one in values if isinstance(one, dict)]
    return [part for one in forms for part in (_lists(one["list"]) if "list" in one else [one])]


def _moves(argument: Any, batch: int, rank: int) -> bool:
    """Return whether an operand has something for each component."""
    return all("nested" in one or _batched(one["dense"]["shape"], batch, rank) for one in _lists([argument]))


def _taken(value: Any, order: Order, batch: int, rank: int) -> Any:
    """Return an operand, or its gradient, in an order; what all components share as it is."""
    if not isinstance(value, dict):
        return value
    if "list" in value:
        return {"list": [_taken(one, order, batch, rank) for one in value["list"]]}
    moves = "nested" in value or ("dense" in value and _batched(value["dense"]["shape"], batch, rank))
    return _result(value, order, batch) if moves else value


def _result(value: Mapping[str, Any], order: Order, batch: int) -> dict[str, Any]:
    """Return an array of which every component, or every slice, has its place in an order."""
    found = dict(value)
    if "nested" in value:
        fields = {name: own for name, own in value["nested"].items() if name != "show"}
        columns = {n: [own[i] for i in order] for n, own in fields.items() if n != "shape" and isinstance(own, list)}
        shape = {"shape": [len(order), *fields["shape"][1:]]} if "shape" in fields else {}
        found["nested"] = fields | columns | shape
    else:
        fields = {name: own for name, own in value["dense"].items() if name != "show"}
        words = {n: _cut(fields[n], order, batch) for n in ("bits", "hi", "lo", "tol", "open") if n in fields}
        found["dense"] = fields | words | {"shape": [len(order), *fields["shape"][1:]]}
    return found


def _cut(words: str, order: Order, batch: int) -> str:
    """Return the words of the slices of a dense array."""
    width = len(words) // batch
    return "".join(words[i * width : (i + 1) * width] for i in order)
