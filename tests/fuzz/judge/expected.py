"""What the definitions make of a chain, and how that changes along a direction of its memories."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..draw.slopes import Slope
from ..oracle import FUNCTIONS, Nest, ask, nests
from ..oracle.slopes import STEP, sloped
from ..plan import Call, Ref, found, seen

TOLERANCE = {8: 1e-7, 4: 3e-3, 2: 0.2}  # of gradients whose narrowest numbers have so many bytes


class Expected:
    """The numbers of a chain by the definitions; `Refused` and `Silent` where they have none."""

    def __init__(self, plan: Slope) -> None:
        self.plan, self.chain = plan, plan.chain
        self.may_refuse = False
        self.known: dict[Ref, Any] = {}
        self.known = self._evaluated({})
        self.out: Nest = found(plan.out, self.known)
        finite = all(_finite(value) for value in self.known.values())
        self.finite = finite and not any(map(self._pole, self.chain.steps))
        self.unknown = any(one.unknown for value in self.known.values() for one in nests(value))
        floats = [one.dtype for value in self.known.values() for one in nests(value) if one.dtype.kind == "f"]
        widths = [dtype.itemsize for dtype in floats]
        self.tolerance = TOLERANCE[min(widths, default=8)]
        self.least = 1e-3 if self.tolerance == TOLERANCE[8] else 1.0  # what is left where narrow numbers cancel

    def along(self, directions: dict[int, Any]) -> list[Any]:
        """The derivative of every component of the result along ``directions`` of some memories."""
        floats = {i: one.numbers for i, one in enumerate(self.chain.memories) if one.numbers.dtype.kind == "f"}
        moved = {i: one + 1j * STEP * directions.get(i, 0.0) for i, one in floats.items()}
        with sloped():
            out = found(self.plan.out, self._evaluated(moved))
        return [np.imag(one) / STEP for one in out]

    def _pole(self, call: Call) -> bool:
        """Whether a slope is infinite, or none."""
        if call.op == "pow":
            base, exponent = (one if isinstance(one, int | float) else found(one, self.known) for one in call.args)
            number = isinstance(exponent, int | float)
            if isinstance(base, int | float):
                return base <= 0
            return any(bool(((x == 0) if number and exponent < 1 else (x <= 0) & (not number)).any()) for x in base)
        if call.op not in FUNCTIONS:
            return False
        one = FUNCTIONS[call.op]
        return any(bool((x == pole).any()) for x in found(call.refs[0], self.known) for pole, _ in one.poles)

    def _evaluated(self, numbers: dict[int, Any]) -> dict[Ref, Any]:
        """Every operand and result, with other ``numbers`` in some memories."""
        known: dict[Ref, Any] = {}
        for i, operand in enumerate(self.chain.operands):
            known[Ref("x", i)] = seen(self.chain.memories[operand.memory], operand, numbers.get(operand.memory))
        for i, call in enumerate(self.chain.steps):
            answer = ask(call.op, *call.known(known))
            ref = Ref("y", i)
            known[ref] = _with_reals(answer.value, self.known[ref]) if numbers else answer.value
            self.may_refuse = self.may_refuse or answer.may_refuse
        return known


def _with_reals(value: Any, real: Any) -> Any:
    """The slopes of ``value`` beside the numbers of ``real``: products of steps are tiny but not 0, where kinks are."""
    if isinstance(value, Nest):
        if not any(map(np.iscomplexobj, value)):
            return value
        return value.like([a + 1j * np.imag(b) for a, b in zip(real, value, strict=True)])  # of no keys there are reals
    return [_with_reals(a, b) for a, b in zip(value, real, strict=True)] if isinstance(value, list) else value


def _finite(value: Any) -> bool:
    return all(bool(np.isfinite(np.asarray(one)).all()) for x in nests(value) for one in x)
