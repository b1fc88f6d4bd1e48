"""Laws that need no expectation: the same call again, with its arrays laid down elsewhere, reordered, or in part.

Placement never shows; nor does the layout, but in the layout of the result. No component sees another, so components
may be exchanged, or left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pynested.fuzzing.chance import Chance
from pynested.spec.table import run_wise

from ..draw import arrays
from ..draw.elements import BINARY, UNARY
from ..oracle import Answer, Nest, nests
from ..plan import Call, Chain, Dense, Memory, Ref
from ..run import Outcome, Unreadable, World, attempt, read, run
from . import Difference

LAW = 77  # the first number of a key
ONE_BY_ONE = (
    *UNARY, *BINARY, "where", "masked_fill", *run_wise(), "layer_norm", "linear", "transpose", "unsqueeze",
    "unflatten", "permute", "squeeze", "flatten", "reshape_as", "embedding", "matmul", "bmm",
)  # fmt: skip
FREE = ("dropout", "view", "nested_array_from_jagged", "nested_array_from_strided")  # drawn at random; about memory
WHOLE = ("embedding", "linear", "layer_norm")  # their dense operands serve all components


RESHAPING = ("reshape", "view")


@dataclass(frozen=True)
class Law:
    """What is done to the arrays of a call; ``picks`` are the components that stay, in their new order."""

    name: str
    picks: list[int] | None = None
    batch: tuple[int, int] | None = None  # rank and size of dense operands that have a slice for each component


@dataclass(frozen=True)
class Met:
    """A call that was judged: its arguments as plain data, what is due, what it came to, the answer as plain data."""

    call: Call
    values: tuple[Any, ...]
    options: dict[str, Any]
    verdict: Any
    outcome: Outcome
    got: Any


def broken_law(met: Met, device: str) -> Difference | None:
    """One law, drawn from the call itself, so that the same call always meets the same."""
    call, got = met.call, met.got
    nested = [one for one in nests((*met.values, *met.options.values())) if not one.dense]
    if not nested or call.op in FREE or any(map(_cannot_be_laid, nested)):
        return None
    first = nested[0]
    chance = Chance(LAW, len(nested), first.count, sum(one.size for one in first), len(call.op), first.rank)
    laws = ["placement", "layout"] if all(map(_says_what_is_irregular, nested)) else ["placement"]
    if call.op in ONE_BY_ONE and first.count > 1 and isinstance(got, Nest) and got.count == first.count:
        laws += ["order", "part"]
    law = _law(chance, chance.one(laws), call, first)
    return _differs(law, met, _again(met, chance, law, device))


def _law(chance: Chance, name: str, call: Call, first: Nest) -> Law:
    if name in ("placement", "layout"):
        return Law(name)
    picks = chance.order(first.count)
    if name == "part":
        alone = chance.happens(0.5)
        picks = picks[:1] if alone else list(range(chance.between(1, first.count - 1)))
    return Law(name, picks, None if call.op in WHOLE else (first.rank, first.count))


def _says_what_is_irregular(x: Nest) -> bool:
    """Whether the lengths tell the one irregular dimension, so that both layouts agree on what is regular."""
    differ = [dim for dim in range(1, x.rank) if len(set(x.column(dim))) > 1]
    return len(differ) == 1 and x.ragged in (None, differ[0])


def _cannot_be_laid(x: Nest) -> bool:
    """Whether there are no components, but regular sizes, which strided arrays get from operators alone."""
    return x.layout == "strided" and not x.count and any(size is not None for size in x.shape[1:])


def _again(met: Met, chance: Chance, law: Law, device: str) -> Outcome:
    """The call once more, of arrays that are made anew."""
    memories, operands = [], []

    def made(value: Any) -> Any:
        if not isinstance(value, Nest):
            return value
        memory, operand = _laid(value, chance, law)
        operands.append(replace(operand, memory=len(memories)))
        memories.append(memory)
        return Ref("x", len(operands) - 1)

    anew = Call(met.call.op, met.values, met.options, met.call.spelling).mapped(made)
    world = World(Chain(tuple(memories), tuple(operands), ()), device)
    return attempt(lambda: run(anew, world.known))


def _laid(x: Nest, chance: Chance, law: Law) -> Any:
    """The picked components of an array somewhere else; dense arrays that have a slice for each lose the others too."""
    if x.dense:
        whole = np.asarray(x[0])
        if law.batch is not None and (whole.ndim, *whole.shape[:1]) == law.batch:
            whole = whole[law.picks]
        return Memory(whole), Dense(0)
    part = x if law.picks is None else x.like([x[i] for i in law.picks])
    other = {"jagged": "strided", "strided": "jagged"}
    return arrays.placed(chance, part, other[x.layout] if law.name == "layout" else x.layout)


def _differs(law: Law, met: Met, again: Outcome) -> Difference | None:
    """Whether the second outcome is that of the first, as far as the law says."""
    verdict, outcome = met.verdict, met.outcome
    aspect = f"law: {law.name}"
    if again.error is not None and not again.refused:
        return Difference(f"{aspect}, raw error", str(again), str(outcome))
    if again.refused or outcome.refused:
        open_ = law.picks is not None or (isinstance(verdict, Answer) and verdict.may_refuse)
        open_ = open_ or (law.name == "layout" and met.call.op in RESHAPING)  # a ragged dimension keeps its place
        return None if again.refused == outcome.refused or open_ else Difference(aspect, str(again), str(outcome))
    try:
        second = read(again.value)
    except Unreadable as error:
        return Difference(f"{aspect}, unreadable", str(error), str(outcome))
    tolerance = verdict.tolerance if isinstance(verdict, Answer) and not verdict.exact else None
    return _compared(law, met.got, second, tolerance)


def _compared(law: Law, first: Any, second: Any, tolerance: Callable[[], Any] | None) -> Difference | None:
    """The second answer against the first one, item by item of a list and component by component."""
    if not isinstance(first, Nest):
        if not isinstance(first, list):
            return None if first == second else Difference(f"law: {law.name}", repr(second), repr(first))
        pairs = enumerate(zip(first, second, strict=False))
        found = (_compared(law, a, b, tolerance and (lambda i=i: tolerance()[i])) for i, (a, b) in pairs)
        return next((one for one in found if one is not None), None)
    mine, theirs = _rows(second), _picked(law, _rows(first))
    forms = [[(one.shape, one.dtype) for one in parts] for parts in (mine, theirs)]
    kinds = [(one.layout, one.ragged) for one in (first, second)]
    if forms[0] != forms[1] or (law.name == "placement" and kinds[0] != kinds[1]):
        return Difference(f"law: {law.name}", f"{kinds[1]} {forms[0]}", f"{kinds[0]} {forms[1]}")
    wrong = [i for i, (a, b) in enumerate(zip(mine, theirs, strict=True)) if not _equal(a, b)]
    if wrong and tolerance is not None:
        allowed = _picked(law, _rows(tolerance()))
        wrong = [i for i in wrong if not _near(mine[i], theirs[i], allowed[i])]
    return Difference(f"law: {law.name}", repr(mine[wrong[0]]), repr(theirs[wrong[0]])) if wrong else None


def _rows(x: Nest) -> list[Any]:
    """Components; of a dense array its rows, so that both layouts can be compared."""
    return [np.asarray(one) for one in (x[0] if x.dense and x.rank else x)]


def _picked(law: Law, parts: list[Any]) -> list[Any]:
    return parts if law.picks is None else [parts[i] for i in law.picks]


def _equal(a: Any, b: Any) -> bool:
    return bool(np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))


def _near(a: Any, b: Any, allowed: Any) -> bool:
    with np.errstate(all="ignore"):
        near = np.abs(a.astype(np.float64) - b) <= 2 * np.asarray(allowed)
        near |= (a == b) | (np.isnan(a) & np.isnan(b)) | ~np.isfinite(allowed) | ~np.isfinite(a) | ~np.isfinite(b)
    return bool(near.all())
