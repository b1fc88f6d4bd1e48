"""Values: every call of a chain against the specification, against laws, and against what it must leave alone."""

from __future__ import annotations

from typing import Any

import numpy as np

import pynested as pn

from ..draw.elements import BINARY
from ..oracle import Nest, Refused, Silent
from ..plan import Call, Chain, Dense, Ref
from ..run import Outcome, Unreadable, World, attempt, read
from . import Difference, Found
from .call import Verdict, expected, judged
from .laws import Met, broken_law

ERRSTATE = np.geterr()
WITH_NUMBERS = (*BINARY, "where")  # where a scalar of NumPy is a number; elsewhere it may count as an array of the CPU
ANYWHERE = "anywhere"
MOVING = ("nested_array", "as_nested_array", "reshape_as")  # these may move arrays to one device, or take a shape only


class Checked:
    """A chain on its way through pynested: what is known so far, as pynested has it and as plain data."""

    def __init__(self, chain: Chain, device: str = "cpu") -> None:
        self.chain, self.world = chain, World(chain, device)
        self.plain: dict[Ref, Any] = {}

    def operands(self) -> Difference | None:
        """Read every operand; one that cannot be made, or not be read, is a difference."""
        for ref, outcome in self.world.failed.items():
            return Difference("refused", f"{ref}: {outcome}", "an operand")
        found = (self.keep(ref, value) for ref, value in self.world.known.items())
        return next((one for one in found if one is not None), None)

    def keep(self, ref: Ref, value: Any) -> Difference | None:
        """Read a value; one that cannot be read is a difference."""
        try:
            self.plain[ref] = read(value)
        except Unreadable as error:
            return Difference("unreadable", str(error), "an array that can be read")
        return None

    def ready(self, call: Call) -> bool:
        """Whether everything that the call takes came out."""
        return all(ref.whole in self.plain for ref in call.refs)

    def verdict(self, call: Call) -> Verdict:
        """What is due; masks would be lost, and arrays of several devices do not meet, whatever the call."""
        return self.refusal(call) or expected(call, *call.known(self.plain))

    def refusal(self, call: Call) -> Refused | Silent | None:
        """What is refused, or left open, whatever the operator does."""
        if self._masked(call):
            return Refused("PynestedError")
        devices = self._devices(call)
        if len(devices - {ANYWHERE}) < 2:
            return Silent() if len(devices) > 1 and call.op not in WITH_NUMBERS else None
        whatever_is_told_first = "DeviceError", "PynestedError", "OverflowError"
        open_ = call.op in MOVING or (call.spelling in ("infix", "numpy") and self._scalars_alone(call))
        return Silent() if open_ else Refused(*whatever_is_told_first)

    def _masked(self, call: Call) -> bool:
        """Whether an argument is a masked array, even one that hides nothing."""
        operands = [self.chain.operands[ref.number] for ref in call.refs if ref.kind == "x"]
        return any(isinstance(one, Dense) and one.spelling == "masked" for one in operands)

    def _scalars_alone(self, call: Call) -> bool:
        """Whether arrays without dimensions are all that comes from NumPy, which may hand them over as its scalars."""
        given = [self.world.known[ref.whole] for ref in call.refs]
        return all(one.ndim == 0 for one in given if isinstance(one, np.ndarray))

    def _devices(self, call: Call) -> set[str]:
        """Where the arrays of a call lie; NumPy's lie on the CPU, its scalars anywhere."""
        if self.world.device == "cpu":
            return {"cpu"}
        given = Call(call.op, tuple(call.refs)).known(self.world.known)[0]
        return {ANYWHERE if isinstance(one, np.generic) else getattr(one, "device", "cpu") for one in given}

    def step(self, number: int, laws: bool) -> Found | None:
        """One call, judged."""
        call = self.chain.steps[number]
        values, options = call.known(self.plain)
        verdict = self.verdict(call)
        outcome = self.world.step(number)
        found = self._answer(number, verdict, outcome) or self._aftermath() or self._reading(number)
        if found is None and laws and self.refusal(call) is None:
            met = Met(call, values, options, verdict, outcome, self.plain.get(Ref("y", number)))
            found = broken_law(met, self.world.device)
        return None if found is None else Found(found, self.chain, call.op, call, values, options)

    def _answer(self, number: int, verdict: Verdict, outcome: Outcome) -> Difference | None:
        ref = Ref("y", number)
        found = None if outcome.error is not None else self.keep(ref, outcome.value)
        return found or judged(verdict, outcome, self.plain.get(ref))

    def _aftermath(self) -> Difference | None:
        """What a call must leave as it was: every buffer with its holes, and the modes."""
        changed = self.world.changed()
        if changed is not None:
            return Difference("operand changed", f"memory {changed}", "memory as it was")
        if not pn.is_grad_enabled() or np.geterr() != ERRSTATE:
            return Difference("mode changed", f"{pn.is_grad_enabled()}, {np.geterr()}", "modes as they were")
        return None

    def _reading(self, number: int) -> Difference | None:
        """What everybody does with a result: print it, look at its shape, take it apart."""
        value = self.world.known.get(Ref("y", number))
        if not isinstance(value, pn.NestedArray):
            return None
        plain: Nest = self.plain[Ref("y", number)]
        apart = lambda: [one.detach().to("cpu").numpy() for one in value.unbind()]  # noqa: E731
        seen = attempt(lambda: (repr(value), value.shape, value.numel(), len(value), apart()))
        if seen.error is not None:
            return Difference("raw error", str(seen), "a result that can be printed and taken apart")
        _, shape, elements, count, parts = seen.value
        if (elements, count, len(shape)) != (sum(one.size for one in plain), len(plain), plain.rank):
            return Difference("reading", str(seen.value[1:4]), str([one.shape for one in plain]))
        same = all(a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in zip(parts, plain, strict=True))
        return None if same else Difference("reading", repr(parts), repr(list(plain)))


def check(chain: Chain, device: str = "cpu", laws: bool = True) -> tuple[int, Found | None]:
    """How many calls were judged, and the first difference."""
    checked = Checked(chain, device)
    difference = checked.operands()
    if difference is not None:
        return 0, Found(difference, chain, "operand")
    for number, call in enumerate(chain.steps):
        if not checked.ready(call):
            return number, None
        found = checked.step(number, laws)
        if found is not None:
            return number + 1, found
    return len(chain.steps), None
