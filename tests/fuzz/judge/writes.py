"""Writes in place: what they are to do to memory, worked out before, held against what they did."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..oracle import Answer, Nest, Refused, Silent, ask, dense, flat
from ..oracle.meeting import Meeting
from ..oracle.values import holds, unfit
from ..plan import Call, Chain, Ref, found
from ..run import Outcome, Unreadable
from . import Difference, Found
from .call import too_far
from .chains import Checked
from .simulation import Placed, Simulation

NEAR = 2.0**-9  # how far, relatively, an inexact operator may be off here: its bound is the business of another mode


def check(chain: Chain, device: str = "cpu") -> tuple[int, Found | None]:
    """How many writes were judged, and the first difference."""
    checked = Checked(chain, device)
    if checked.operands() is not None:
        return 0, None  # the business of another mode
    simulation, done = Simulation(checked), 0
    for number, call in enumerate(chain.steps):
        if any(ref.whole not in checked.world.known for ref in call.refs):
            break
        if not call.writes:
            outcome = checked.world.step(number)
            if outcome.error is None and checked.keep(Ref("y", number), outcome.value) is None:
                simulation.result(number, call, outcome.value)
            continue
        try:
            now = simulation.now()
        except Unreadable:
            break
        done += 1
        difference = _written(simulation, number, call, now)
        if difference is not None:
            return done, Found(difference, chain, call.op, call, *call.known(now))
    return done, None


def _written(simulation: Simulation, number: int, call: Call, now: dict[Ref, Any]) -> Difference | None:
    """One write: what is due is worked out before it, from what the arrays hold then."""
    checked = simulation.checked
    if any(ref.whole not in simulation.known for ref in call.refs):
        return None
    target = found(call.args[0], simulation.known)
    own = found(call.args[0], checked.world.known)
    if not isinstance(target, Placed) or isinstance(own, np.ndarray | np.generic):
        return None
    due = checked.refusal(call) or (Silent() if target.doubtful else _due(call, target, now))
    return _judged(due, checked.world.step(number), target, simulation)


class Due:
    """Where numbers go, and which; the operator behind, if there is one."""

    def __init__(self, where: Any, numbers: Any, answer: Answer | None) -> None:
        self.where, self.numbers, self.answer = where, numbers, answer


def _due(call: Call, target: Placed, now: dict[Ref, Any]) -> Due | Refused | Silent:
    values, options = call.known(now)
    shown, where = values[0], target.where
    try:
        if call.op == "setitem":
            where = ask("getitem", (target.where, values[1]), {}).value
            shown = ask("getitem", (shown, values[1]), {}).value
        new, answer = _new(call, shown, values, options)
    except (Refused, Silent) as verdict:
        nothing_is_written = not any(one.size for one in shown)  # into which any number fits, or none
        return (
            Silent()
            if nothing_is_written and isinstance(verdict, Refused) and "OverflowError" in verdict.kinds
            else verdict
        )
    at = flat(where, np.int64)
    if np.unique(at).size != at.size:
        return Refused("StructureError", "GradientError")
    return Due(at.astype(np.int64), flat(new, new.dtype), answer)


def _new(call: Call, target: Nest, values: tuple[Any, ...], options: dict[str, Any]) -> tuple[Nest, Answer | None]:
    """The numbers that the target is to hold, in its own dtype."""
    if call.op in ("fill_", "zero_", "copy_", "setitem"):
        return fitted(target, spread(target, 0 if call.op == "zero_" else values[-1])), None
    answer = ask(call.op[:-1], (target, *values[1:]), options)
    new = answer.value
    if (new.dense, [np.shape(one) for one in new]) != (target.dense, [one.shape for one in target]):
        raise Refused("ShapeError", "StructureError")
    return fitted(target, new), answer


def spread(target: Nest, value: Any) -> Nest:
    """``value`` for every element of the target."""
    if type(value) is list:
        value = dense(_listed(value, target.dtype))
    if isinstance(value, np.generic):
        value = dense(np.asarray(value))
    if not isinstance(value, Nest):
        holds(target.dtype, value)
        return target.like([np.full(one.shape, value, target.dtype) for one in target])
    if target.dense and not value.dense:
        raise Silent  # perhaps as the dense array that it is
    meeting = Meeting((target, value))
    if target.dense:
        if np.broadcast_shapes(target[0].shape, value[0].shape) != target[0].shape:
            raise Refused("ShapeError", "StructureError")
        return dense(np.broadcast_to(value[0], target[0].shape), value.dtype)
    if target.count and meeting.columns != [target.column(dim) for dim in range(1, target.rank)]:
        raise Refused("ShapeError", "StructureError")
    everywhere = target.like([np.ones(one.shape, np.bool_) for one in target], np.bool_)
    return target.like(list(ask("where", (everywhere, value, value), {}).value) if target.count else [], value.dtype)


def _listed(value: list[Any], dtype: np.dtype[Any]) -> Any:
    """A list of numbers as an array; integers, and nothing at all, in the dtype that they go to."""
    try:
        made = np.asarray(value)
        own = not made.size or (made.dtype.kind in "iu" and dtype.kind in "iu")
        return np.asarray(value, dtype) if own else made
    except (OverflowError, ValueError):
        raise Refused("OverflowError", "ArgumentError") from None


def fitted(target: Nest, new: Nest) -> Nest:
    """The new numbers in the dtype of the target, where it takes them."""
    with np.errstate(all="ignore"):
        exact = [np.asarray(one).astype(new.dtype) for one in new]
        kinds = [kind for one in (np.zeros(0, new.dtype), *exact) if (kind := unfit(target.dtype, one)) is not None]
        if kinds:
            raise Refused(*kinds)
        return target.like([one.astype(target.dtype) for one in exact])


def _judged(due: Any, outcome: Outcome, target: Placed, simulation: Simulation) -> Difference | None:
    if outcome.error is not None and not outcome.refused:
        return Difference("raw error", str(outcome), "a write, or an error of pynested")
    if isinstance(due, Refused):
        if outcome.error is None:
            return Difference("accepted", "a write", " or ".join(sorted(due.kinds)))
        return simulation.differs()  # of the classes, which mistake is told first is open
    if outcome.refused:
        free = isinstance(due, Silent) or not due.where.size or (due.answer is not None and due.answer.may_refuse)
        if free or simulation.lenient(target):
            return simulation.differs()
        return Difference("refused", str(outcome), "a write")
    if isinstance(due, Silent):
        simulation.follow()
        return None
    simulation.write(target, due.where, due.numbers)
    if due.where.size and due.answer is not None and not due.answer.exact:
        came, wide = simulation.actual(target.buffer)[due.where], due.numbers.astype(np.float64)
        near = ~too_far(came, wide, np.abs(wide) * NEAR + 4.0 * np.finfo(came.dtype).smallest_subnormal)
        simulation.write(target, due.where[near], came[near])
    return simulation.differs()
