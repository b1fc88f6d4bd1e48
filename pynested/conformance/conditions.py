"""Which calls a clause speaks of: many begin with one value of an argument, and say nothing of calls that lack it.

    `dim=None` is the mean of all elements             only of calls whose `dim` is None
    With `keepdim=True` every reduced dimension stays  only of calls whose `keepdim` is true
    Without `dtype` the result has the dtype of ...    only of calls that do not give it
    With a sequence of `sizes` the elements along ...  only of calls that give several, and "With one size" one
    Along dimension 0 the batches are joined           only of calls along the batch

A clause that begins otherwise speaks of every call.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pynested.spec.encoding import decode_value
from pynested.spec.table import Clause, Operator

from .corpus import Case, Program, forms
from .spelling import OF_RESULT, defaults

# How a clause begins that speaks of one value of an argument, by what it says of it.
_OPENINGS = {
    "equal": re.compile(r"(?:With )?`(\w+)=([^`]+)`"),
    "given": re.compile(r"With `(\w+)`"),
    "missing": re.compile(r"Without `(\w+)`(?!.*; with it )"),  # or it goes on with the other calls
    "several": re.compile(r"With a sequence of `(\w+)`"),
    "one": re.compile(r"With one (\w+) n\b"),
    "batch": re.compile(r"(?:Along|With) dimension 0\b|`dim` 0\b"),
    "others": re.compile(r"Along any other dimension\b"),
}


def is_of_some_calls(clause: Clause) -> bool:
    """Return whether a clause begins with what the calls are like that it speaks of."""
    return bool(_opening(clause.text)[0])


def speaks_of(clause: Clause, case: Case, operator: Operator, step: int | None = None) -> bool:
    """Return whether a clause of an operator speaks of a call of it: the one of a case, or of a step of a program.

    Where a call does not fit the signature, or its dimension cannot be counted, the clause is taken to speak of it.
    """
    says, names = _opening(clause.text)
    if not says or operator.is_idea:
        return True
    try:
        given = _arguments(case, operator, step)
    except TypeError:
        return True
    taken = {**defaults(operator), **given}
    if says in ("batch", "others"):
        batch = _along_batch(taken, case, more=operator.name in OF_RESULT)
        return batch is None or batch == (says == "batch")
    name = f"{names[0]}s" if says == "one" else names[0]
    if name not in operator.call.parameters:
        return True
    if says == "equal":
        values = [text for one, text in _OPENINGS["equal"].findall(clause.text) if one == name]
        return any(_is(taken.get(name), text) for text in values)
    if says in ("several", "one"):
        return isinstance(taken.get(name), (list, tuple)) == (says == "several")
    return (given.get(name) is None) == (says == "missing")


def gives(case: Case, operator: Operator, name: str) -> bool:
    """Return whether the call of a case gives an argument of this name; a program gives none."""
    return not operator.is_idea and name in operator.call.parameters and name in _arguments(case, operator)


@functools.cache
def _opening(text: str) -> tuple[str, tuple[str, ...]]:
    """Return what a clause says of an argument where it begins, and the names in it; nothing if it begins otherwise."""
    matches = ((says, pattern.match(text)) for says, pattern in _OPENINGS.items())
    return next(((says, found.groups()) for says, found in matches if found), ("", ()))


def _arguments(case: Case, operator: Operator, step: int | None = None) -> Mapping[str, Any]:
    """Return what a call gives, by name; arrays, and what a program has made, stay as the vector has them."""
    args, kwargs = case.args, case.kwargs
    if isinstance(case, Program):
        if step is None or case.steps[step]["op"] != operator.name:
            raise TypeError("it is no call of the operator")
        args, kwargs = case.steps[step]["args"], case.steps[step].get("kwargs", {})
    bound = operator.call.bind(*map(_plain, args), **{name: _plain(value) for name, value in kwargs.items()})
    return bound.arguments


def _plain(value: Any) -> Any:
    """Return the value of an argument that holds no array."""
    return value if any(_holds_array(one) for one in _flat(value)) else decode_value(value)


def _holds_array(value: Any) -> bool:
    return isinstance(value, dict) and bool({"nested", "dense", "name"} & set(value))


def _flat(value: Any) -> Sequence[Any]:
    if isinstance(value, dict) and "mapping" in value:
        return list(value["mapping"].values())
    return value["list"] if isinstance(value, dict) and "list" in value else [value]


def _is(value: Any, text: str) -> bool:
    """Return whether an argument is the value that a clause writes."""
    wanted = ast.literal_eval(text)
    return isinstance(value, bool) == isinstance(wanted, bool) and bool(value == wanted)


def _along_batch(taken: Mapping[str, Any], case: Case, more: bool) -> bool | None:
    """Return whether dimension 0 is among those of a call; None where nobody can say."""
    if "dim" not in taken:
        return None
    dim = taken["dim"]
    dims = dim if isinstance(dim, (list, tuple)) else [dim]
    if dim is None or 0 in dims:
        return True
    operands = [fields for form, fields in forms([*case.args, *case.kwargs.values()]) if form in ("nested", "dense")]
    unknown = isinstance(case, Program) and any(isinstance(one, int) and one < 0 for one in dims)
    return None if unknown else any(-len(fields["shape"]) - more in dims for fields in operands)
