"""Structures: malformed input is refused with an error of pynested, and what is accepted reads what it says.

What a constructor is to make of integers is worked out here with Python's, which have no width.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

import pynested as pn

from ..oracle import Answer, Nest, Refused, Silent, dense
from ..plan import Call, strided_places
from ..run import LAYOUTS, Outcome, Unreadable, attempt, read
from . import Difference, Found
from .call import expected, judged

MOST = 2**26  # elements; more are not laid out
TEXTS = {  # the arrays that calls are made of which are no constructors
    "dense": "pn.array(np.arange(12.0).reshape(2, 6))",
    "jagged": "pn.nested_array([np.arange(6.0).reshape(3, 2), np.ones((1, 2))], layout=pn.jagged)",
    "strided": "pn.nested_array([np.arange(6.0).reshape(3, 2), np.ones((1, 4))])",
    "empty": "pn.nested_array([np.zeros((0, 4)), np.zeros((0, 4))], layout=pn.jagged)",
    "nothing": "pn.nested_array_from_jagged(np.zeros((0, 4)), [0])",
}
CODES = {name: compile(text, name, "eval") for name, text in TEXTS.items()}


def check(call: Call, device: str = "cpu") -> tuple[int, Found | None]:
    """One call: how many were judged, and the difference."""
    rule = RULES.get(call.op, _new)
    args: tuple[Any, ...] = call.args
    if isinstance(args[0], str) and args[0] in CODES:
        args = (eval(CODES[args[0]], {"np": np, "pn": pn}), *args[1:])
        rule = _of_array
    options = {name: LAYOUTS[v] if name == "layout" else v for name, v in call.kwargs.items()}
    verdict = _verdict(rule, Call(call.op, args, call.kwargs))
    outcome = attempt(lambda: args[0][args[1]] if call.op == "getitem" else getattr(pn, call.op)(*args, **options))
    difference = _judged(verdict, outcome)
    return 1, None if difference is None else Found(difference, call, call.op, call, call.args, call.kwargs)


def _verdict(rule: Callable[[Call], Any], call: Call) -> Any:
    """What is due: a `Nest`, an `Answer`, or a refusal; masked arrays are refused wherever they are."""
    if any(map(_masked, (*call.args, *call.kwargs.values()))):
        return Refused("PynestedError")
    try:
        with np.errstate(all="ignore"):
            return rule(call)
    except (Refused, Silent) as verdict:
        return verdict
    except (MemoryError, ValueError, OverflowError, IndexError):  # numbers that the definitions are not made for
        return Silent()


def _judged(verdict: Any, outcome: Outcome) -> Difference | None:
    if isinstance(verdict, Silent) and isinstance(outcome.error, MemoryError):
        return None  # honest: so much was asked for
    if outcome.error is not None and not outcome.refused:
        return Difference("raw error", str(outcome), "an answer, or an error of pynested")
    if isinstance(verdict, Refused):
        due = " or ".join(sorted(verdict.kinds))
        return None if outcome.refused else Difference("accepted", str(outcome), due)
    if isinstance(verdict, Silent) or (isinstance(verdict, Answer) and verdict.may_refuse and outcome.refused):
        return None
    if outcome.refused:
        return Difference("refused", str(outcome), "an answer")
    try:
        got = read(outcome.value)
    except Unreadable as error:
        return Difference("unreadable", str(error), "an array that can be read")
    if isinstance(verdict, Answer):
        return judged(verdict, outcome, got)
    same = (got.layout, got.ragged) == (verdict.layout, verdict.ragged) and _same(list(got), verdict)
    return _taken_apart(outcome.value, verdict) if same else Difference("value", repr(list(got)), repr(list(verdict)))


def _same(parts: list[Any], due: Nest) -> bool:
    pairs = zip(parts, due, strict=False)
    return len(parts) == len(due) and all(a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in pairs)


def _taken_apart(value: Any, due: Nest) -> Difference | None:
    """What everybody does with an array: its components, one after the other."""
    apart = attempt(lambda: [one.numpy() for one in value.unbind()])
    if apart.error is None and _same(apart.value, due):
        return None
    return Difference("reading", str(apart), repr(list(due)))


# ---- integers --------------------------------------------------------------------------------------------------------


def _array(value: Any) -> Any:
    """What NumPy makes of an argument, which has to have integers."""
    try:
        array = np.asarray(value)
    except (ValueError, OverflowError, TypeError):
        raise Refused("PynestedError") from None
    if array.dtype.names is not None or (array.dtype.kind not in "iu" and not array.size and array.dtype != np.float64):
        raise Silent  # nothing, of an odd dtype
    if array.dtype.kind not in "iu" and array.size:
        raise Refused("PynestedError")
    return array


def _masked(value: Any) -> bool:
    """Whether this is a masked array, or a list with one somewhere inside."""
    return isinstance(value, np.ma.MaskedArray) or (isinstance(value, list | tuple) and any(map(_masked, value)))


def _ints(value: Any, rank: int) -> Any:
    """Nested lists of Python's integers, as NumPy reads them."""
    array = _array(value)
    if array.ndim != rank:
        raise Refused("PynestedError")
    return array.tolist()


def _integer(value: Any) -> int | None:
    if value is not None and (isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer)):
        raise Refused("ArgumentError")
    return None if value is None else int(value)


def _jagged(call: Call) -> Nest:
    """Clauses NESTED_ARRAY_FROM_JAGGED-1 to -10."""
    (values,), given = call.args, call.kwargs
    at = _integer(given.get("jagged_dim")) or (1 if given.get("jagged_dim") is None else 0)
    if given.get("offsets") is None and given.get("lengths") is None:
        raise Refused("StructureError")
    starts, lengths = (None if given.get(n) is None else _ints(given[n], 1) for n in ("offsets", "lengths"))
    if not 1 <= at <= values.ndim or starts == []:
        raise Refused("PynestedError")
    rows, alone = values.shape[at - 1], starts is None
    if starts is None:
        starts = [sum(lengths[:i]) for i in range(len(lengths) + 1)]
    elif lengths is None:
        lengths = [b - a for a, b in pairwise(starts)]
        if starts[0] or starts[-1] != rows:
            raise Refused("StructureError")
    inside = len(lengths) + 1 == len(starts) and all(-(2**63) <= n < 2**63 for n in (*starts, *lengths))
    if not inside or any(n < 0 or a < 0 or a + n > rows for a, n in zip(starts, lengths, strict=False)):
        raise Refused("StructureError")
    if alone and starts[-1] != rows:
        raise Silent  # a tail that no component holds
    least, most = (_integer(given.get(name)) for name in ("min_seqlen", "max_seqlen"))
    if lengths and ((least is not None and least > min(lengths)) or (most is not None and most < max(lengths))):
        raise Refused("StructureError")
    before = (slice(None),) * (at - 1)
    parts = [values[(*before, slice(a, a + n))] for a, n in zip(starts, lengths, strict=False)]
    return Nest(parts, "jagged", values.dtype, at, values.shape)


def _strided(call: Call) -> Nest:
    """Clauses NESTED_ARRAY_FROM_STRIDED-1 to -6."""
    (values,), given = call.args, call.kwargs
    if values.ndim != 1:
        raise Refused("StructureError")
    sizes, shape = _ints(given["sizes"], 2), _array(given["sizes"]).shape
    strides, offsets = given.get("strides"), given.get("offsets")
    if strides is not None and (_ints(strides, 2), _array(strides).shape)[1] != shape:
        raise Refused("StructureError")
    steps = (
        _ints(strides, 2)
        if strides is not None
        else [[math.prod(one[d + 1 :]) for d in range(shape[1])] for one in sizes]
    )
    counts = [math.prod(one) for one in sizes]
    starts = [sum(counts[:i]) for i in range(len(counts))] if offsets is None else _ints(offsets, 1)
    numbers = [n for rows in ([starts], sizes, [] if strides is None else steps) for row in rows for n in row]
    beyond = any(n >= 2**63 for n in numbers) or any(count >= 2**62 for count in counts)
    if len(starts) != len(sizes) or beyond or any(n < 0 for one in sizes for n in one):
        raise Refused("StructureError")
    parts = [_component(values, *one) for one in zip(sizes, steps, starts, strict=True)]
    return Nest(parts, "strided", values.dtype, sizes=(None,) * shape[1])


def _component(values: Any, size: list[int], stride: list[int], offset: int) -> Any:
    if 0 in size:
        if min(stride) < 0 or math.prod(max(n, 1) for n in size) > 2**31:
            raise Silent
        return np.zeros(size, values.dtype)
    last = offset + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    if min(stride, default=0) < 0 or offset < 0 or last >= values.size:
        raise Refused("StructureError")
    if math.prod(size) > MOST:
        raise Silent
    return values[strided_places(size, [s if n > 1 else 0 for n, s in zip(size, stride, strict=True)], offset)]


# ---- lists, shapes, new arrays ---------------------------------------------------------------------------------------


def _listed(call: Call) -> Any:
    """Of lists of components only errors are judged."""
    raise Silent


def _of_array(call: Call) -> Any:
    """An operator of the table, of one of `TEXTS`."""
    rest = [dense(one) if isinstance(one, np.ndarray) and call.op != "narrow" else one for one in call.args[1:]]
    return expected(call, (read(call.args[0]), *rest), {})


def _new(call: Call) -> Any:
    """Of new arrays only errors are judged."""
    raise Silent


RULES: dict[str, Callable[[Call], Any]] = {
    "nested_array_from_jagged": _jagged,
    "nested_array_from_strided": _strided,
    "nested_array": _listed,
    "as_nested_array": _listed,
}
