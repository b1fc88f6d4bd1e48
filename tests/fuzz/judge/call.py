"""Judging one call: refused or answered, and if answered: the kind of array, its shape, its dtype, every element."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from pynested.spec.run_bounds import RUN_BOUNDS

from ..oracle import FUNCTIONS, TABLE, Answer, Nest, Refused, Silent, ask
from ..plan import Call
from ..run import Outcome
from . import Difference

EITHER_ZERO = ("relu", "sgn", "amax", "amin", "maximum", "minimum", "clamp", "dropout")  # the sign of a zero is open
# Inexact, but a zero stays the zero that it is.
KEEPS_ZERO = tuple(name for name, one in FUNCTIONS.items() if any(x == 0 == y for x, y in one.special))
ADDING = (
    "sum",
    "mean",
    "matmul",
    "linear",
    "layer_norm",
    "softmax",
    "cross_entropy",
    "attention",
    "flex_attention",
    "multi_head_attention",
    *RUN_BOUNDS,
)  # precisions


Verdict: TypeAlias = Answer | Refused | Silent


def expected(call: Call, args: tuple[Any, ...], options: dict[str, Any]) -> Verdict:
    """What the specification says of a call whose arrays are plain data."""
    try:
        return ask(call.op, args, options)
    except (Refused, Silent) as verdict:
        return verdict


def judged(verdict: Verdict, outcome: Outcome, got: Any) -> Difference | None:
    """Whether the outcome of a call is what the specification says; ``got`` is the answer as plain data."""
    if outcome.error is not None and not outcome.refused:
        return Difference("raw error", str(outcome), "an answer, or an error of pynested")
    if isinstance(verdict, Silent):
        return None
    if isinstance(verdict, Refused):
        return _refused(verdict, outcome)
    if outcome.error is not None:
        return None if verdict.may_refuse else Difference("refused", str(outcome), "an answer")
    return compared(verdict, got)


def _refused(verdict: Refused, outcome: Outcome) -> Difference | None:
    due = " or ".join(sorted(verdict.kinds))
    if outcome.error is None:
        return Difference("accepted", str(outcome), due)
    names = {one.__name__ for one in type(outcome.error).__mro__}
    if not names & verdict.kinds:
        return Difference("error class", str(outcome), due)
    return None if str(outcome.error) else Difference("no message", str(outcome), due)


def compared(answer: Answer, got: Any) -> Difference | None:
    """An answer against the expected one."""
    return _compared(answer, got, answer.value, None)


def _compared(answer: Answer, got: Any, due: Any, item: int | None) -> Difference | None:
    if isinstance(due, list) and not isinstance(due, Nest):
        if not isinstance(got, list) or isinstance(got, Nest) or len(got) != len(due):
            return Difference("kind", f"{type(got).__name__} of {len(got)}", f"{len(due)} arrays")
        pairs = enumerate(zip(got, due, strict=True))
        return next((found for i, (a, b) in pairs if (found := _compared(answer, a, b, i))), None)
    if not isinstance(due, Nest):
        same = type(got) is type(due) and got == due
        return None if same else Difference("value", repr(got), repr(due))
    return _form(got, due, answer.may_refuse) or _values(answer, got, due, item)


def _form(got: Any, due: Nest, unknown: bool) -> Difference | None:
    """Dense or nested, the layout, the number of components, dtype and shapes.

    No components of sizes that nobody knows can have any layout.
    """
    if unknown and not due and isinstance(got, Nest) and not got.dense:
        got = Nest(got, due.layout, got.dtype, due.ragged, due.shape[1:])
    if not isinstance(got, Nest) or (got.layout, got.ragged) != (due.layout, due.ragged):
        return Difference("kind", _kind(got), _kind(due))
    if got.dtype != due.dtype:
        return Difference("dtype", str(got.dtype), str(due.dtype))
    if len(got) != len(due):
        return Difference("count", f"{len(got)} components", f"{len(due)}")
    shapes = [tuple(one.shape) for one in got], [tuple(np.shape(one)) for one in due]
    if shapes[0] != shapes[1]:
        return Difference("shape", str(shapes[0]), str(shapes[1]))
    if not due.unknown and not got.unknown and got.shape != due.shape:
        return Difference("shape", str(got.shape), str(due.shape))
    return None


def _kind(value: Any) -> str:
    if not isinstance(value, Nest):
        return type(value).__name__
    return value.layout + ("" if value.ragged is None else f", ragged dimension {value.ragged}")


def _values(answer: Answer, got: Nest, due: Nest, item: int | None) -> Difference | None:
    allowed: Any = None
    for i, (mine, wide) in enumerate(zip(got, due, strict=True)):
        with np.errstate(all="ignore"):
            exact = np.asarray(wide).astype(due.dtype)
        if mine.tobytes() == exact.tobytes():
            continue
        wrong = _unequal(answer.op, mine, exact)
        if wrong.any() and not answer.exact:
            if allowed is None:
                allowed = answer.tolerance() if item is None else answer.tolerance()[item]
            sign_lost = mine == exact if answer.op in KEEPS_ZERO else False
            wrong &= too_far(mine, np.asarray(wide), np.asarray(allowed[i])) | sign_lost
        if wrong.any():
            wrong &= ~_open(answer, mine, exact, i)
        if wrong.any():
            at = tuple(int(k) for k in np.argwhere(wrong)[0])
            place = f" of component {i} at {list(at)}" if not due.dense else f" at {list(at)}"
            return Difference("value", repr(mine[at]), repr(exact[at]), place)
    return None


def _unequal(op: str, mine: Any, exact: Any) -> Any:
    """Where two arrays of one dtype differ; any NaN is as good as any other."""
    if mine.dtype.kind != "f":
        return np.asarray(mine != exact)
    same = (mine == exact) & ((np.signbit(mine) == np.signbit(exact)) | (mine != 0) | (op in EITHER_ZERO))
    return np.asarray(~(same | (np.isnan(mine) & np.isnan(exact))))


def too_far(mine: Any, wide: Any, allowed: Any) -> Any:
    """Where a result is farther from the exact one than is allowed; a bound that is no number allows everything."""
    with np.errstate(all="ignore"):
        mine64, most = mine.astype(np.float64), np.finfo(mine.dtype).max
        near = np.abs(mine64 - wide) <= allowed
        near |= (mine64 == wide) | ~np.isfinite(allowed)
        near |= np.isinf(mine64) & (np.sign(mine64) == np.sign(wide)) & (np.abs(wide) + allowed >= most)
    return ~near


def _open(answer: Answer, mine: Any, exact: Any, i: int) -> Any:
    """Where the specification leaves the result open."""
    if answer.op in ("silu", "sigmoid") and exact.dtype == np.float64:  # exp(-x) overflows, x / exp(-x) need not
        return np.asarray(answer.arguments["self"][i]) < -700
    if answer.op in ("gelu", "silu"):
        return np.isneginf(answer.arguments["self"][i])
    if answer.may_drop:  # which multiplies by 0
        return np.asarray((mine == 0) | (np.isnan(mine) & ~np.isfinite(answer.arguments["self"][i])))
    if TABLE[answer.op].precision in ADDING and exact.dtype.kind == "f":
        unknown = ~np.isfinite(exact) & (exact.dtype == np.float64)  # for the definition computes no wider
        vanished = (mine == 0) & (answer.op == "prod")  # before what is large could be multiplied
        return (~np.isfinite(mine) | vanished | unknown) & np.asarray(answer.overflowing()[i], np.bool_)
    return np.zeros(np.shape(exact), np.bool_)
