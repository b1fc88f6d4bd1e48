"""Gradients: reverse and forward mode against the slopes of the definitions, and against each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

import pynested as pn

from ..draw.slopes import Slope, cotangent, directions
from ..oracle import Refused, Silent, flat
from ..plan import Chain, Dense, Ref, found, places
from ..run import Outcome, Unreadable, World, attempt, bare, read
from . import Difference, Found
from .expected import Expected
from .interference import interfere
from .second import second_order

FEW = 6  # elements, of which each is asked on its own


def check(plan: Slope, device: str = "cpu") -> tuple[int, Found | None]:
    """How many gradients were judged, and the first difference."""
    try:
        expected = Expected(plan)
    except (Refused, Silent):
        return 0, None
    if expected.unknown:
        return 0, None
    judged = Judged(plan if device == "cpu" else _moved(plan), expected, device)
    made = attempt(judged.run)
    if made.error is not None:
        open_ = made.refused and expected.may_refuse
        difference = Difference("refused" if made.refused else "raw error", str(made), "an answer")
        return 1, None if open_ else judged.found(difference)
    if not judged.out.requires_grad:
        return 1, None
    for checks in (judged.reverse(), judged.forward(), second_order(judged)):
        difference = next(checks, None)
        if difference is not None:
            return 1, judged.found(difference)
    return 1, None


def _moved(plan: Slope) -> Slope:
    """The plan with all of its arrays on one device: those of NumPy would lie on another."""
    operands = [replace(one, spelling="array") if isinstance(one, Dense) else one for one in plan.chain.operands]
    return replace(plan, chain=replace(plan.chain, operands=tuple(operands)))


class Judged:
    """One plan on pynested."""

    def __init__(self, plan: Slope, expected: Expected, device: str) -> None:
        self.plan, self.expected, self.device = plan, expected, device
        self.world = World(plan.chain, device)
        self.cotangent, (memory, operand) = cotangent(plan, expected.out)
        self.given = World(Chain((memory,), (operand,), ()), device)
        self.seed = self.given.known[Ref("x", 0)]
        self.out: Any = None

    @property
    def disturbed(self) -> bool:
        """Whether what happens in between may be refused."""
        return bool(self.plan.writes) or (self.plan.hook is not None and self.plan.hook[1] == "write")

    def found(self, difference: Difference) -> Found:
        """The difference, named by the call if there is but one."""
        steps = self.plan.chain.steps
        return Found(difference, self.plan, steps[0].op if len(steps) == 1 else "several calls", steps[-1])

    def run(self) -> None:
        """The chain, recorded."""
        if self.plan.checkpoint is None:
            self.world.known = self.world.again({})
            self.out = found(self.plan.out, self.world.known)
            return
        order = self.plan.chain.leaves
        given = {"given": order, "closed over": [], "half": order[::2]}[self.plan.checkpoint]

        def function(*leaves: Any) -> Any:
            return self.of(dict(zip(given, leaves, strict=True)))

        self.out = pn.checkpoint(function, *[self.world.leaves[i] for i in given])

    def of(self, leaves: dict[int, Any]) -> Any:
        """What is differentiated, as a function of the leaves."""
        return found(self.plan.out, self.world.again(leaves))

    # ---- reverse -----------------------------------------------------------------------------------------------------

    def reverse(self) -> Iterator[Difference]:
        """One backward pass against the slopes; and a second one, which must add the same again."""
        interfere(self.plan, self.world)
        first = attempt(lambda: self.out.backward(self.seed, retain_graph=True))
        if first.error is not None:
            yield from self._refused(first)
            return
        got = self.gradients()
        yield from self.against_slopes(got)
        yield from self.in_holes(got)
        changed = self.world.changed() if not self.plan.writes else None
        if changed is not None:
            yield Difference("operand changed", f"memory {changed}", "memory as it was")
        if self.given.changed() is not None:
            yield Difference("cotangent changed", "another one", "the cotangent as it was")
        if not pn.is_grad_enabled():
            yield Difference("mode changed", "nothing is recorded", "the mode as it was")
        second = attempt(lambda: self.out.backward(self.seed))
        if second.error is not None:
            yield Difference("second pass", str(second), "a gradient")
            return
        for i, one in self.gradients().items():
            if not np.array_equal(one, 2 * got[i], equal_nan=True):
                yield Difference("second pass", repr(one), repr(2 * got[i]), f" of a{i}")

    def _refused(self, outcome: Outcome) -> Iterator[Difference]:
        if not (self.disturbed and outcome.refused):
            yield Difference("refused" if outcome.refused else "raw error", str(outcome), "a gradient")

    def gradients(self) -> dict[int, Any]:
        """The gradient of every leaf, zeros where none arrived."""
        grads = {i: leaf.grad for i, leaf in self.world.leaves.items()}
        return {
            i: np.zeros(leaf.shape, leaf.dtype) if grads[i] is None else bare(grads[i].detach()).copy()
            for i, leaf in self.world.leaves.items()
        }

    def against_slopes(self, got: dict[int, Any]) -> Iterator[Difference]:
        """The gradient along directions is the slope of the result along them, weighted by the cotangent."""
        for i, one in got.items():
            if one.dtype != self.plan.chain.memories[i].numbers.dtype:
                yield Difference("dtype", str(one.dtype), str(self.plan.chain.memories[i].numbers.dtype), f" of a{i}")
        hook = self.plan.hook
        doubled = self.plan.chain.operands[hook[0]].memory if hook is not None and hook[1] == "double" else None
        for along in self.along() if self.expected.finite else ():
            halved = {i: got[i] / 2 if i == doubled else got[i] for i in got}
            came, size = weighted([halved[i] for i in along], list(along.values()))
            due, other = weighted(self.expected.along(along), self.cotangent)
            scale = self.expected.least + size + other
            if np.isfinite(due) and not abs(came - due) <= self.expected.tolerance * scale:
                yield Difference("gradient", repr(came), repr(due), _where(along))

    def along(self) -> Iterator[dict[int, Any]]:
        """Every element of a few on its own; otherwise some directions drawn at random."""
        shapes = {i: leaf.shape for i, leaf in self.world.leaves.items()}
        sizes = {i: int(np.prod(shape)) for i, shape in shapes.items()}
        if sum(sizes.values()) > FEW:
            yield from directions(self.plan, 1, 2)
            return
        for i in shapes:
            for at in range(sizes[i]):
                unit = {k: np.zeros(shape) for k, shape in shapes.items()}
                unit[i].reshape(-1)[at] = 1.0
                yield unit

    def in_holes(self, got: dict[int, Any]) -> Iterator[Difference]:
        """Where no operand looks, the gradient is +0."""
        for i, one in got.items():
            free = np.ones(one.size, np.bool_)
            for operand in self.plan.chain.operands:
                if operand.memory == i:
                    free[... if isinstance(operand, Dense) else flat(places(operand, one.shape), np.int64)] = False
            holes = one.reshape(-1)[free]
            if (holes != 0).any() or np.signbit(holes).any():
                yield Difference("holes", repr(holes), "+0", f" of a{i}")

    # ---- forward -----------------------------------------------------------------------------------------------------

    def forward(self) -> Iterator[Difference]:
        """Forward mode against the slopes, element by element."""
        if self.plan.writes:
            return
        order = self.plan.chain.leaves
        given = tuple(self.world.leaves[i].detach() for i in order)
        along = directions(self.plan, 2)[0]
        moved = tuple(
            pn.array(along[i], dtype=one.dtype, device=self.device) for i, one in zip(order, given, strict=True)
        )
        outcome = attempt(lambda: pn.jvp(lambda *leaves: self.of(dict(zip(order, leaves, strict=True))), given, moved))
        if outcome.error is not None:
            yield Difference("forward mode", str(outcome), "a tangent")
            return
        try:
            got = [np.asarray(one, np.float64) for one in read(outcome.value[1])]
        except Unreadable as error:
            yield Difference("forward mode", str(error), "a tangent that can be read")
            return
        if self.expected.finite:
            due = self.expected.along({i: bare(one).astype(np.float64) for i, one in zip(order, moved, strict=True)})
            yield from self._tangents(got, due)

    def _tangents(self, got: list[Any], due: list[Any]) -> Iterator[Difference]:
        scale = self.expected.least + max(
            (float(np.abs(one[np.isfinite(one)]).max(initial=0.0)) for one in due), default=0.0
        )
        for i, (mine, theirs) in enumerate(zip(got, due, strict=True)):
            if mine.shape != theirs.shape:
                yield Difference("forward mode", str(mine.shape), str(theirs.shape), f" of component {i}")
                return
            wrong = ~(np.abs(mine - theirs) <= self.expected.tolerance * scale) & np.isfinite(theirs)
            if wrong.any():
                at = tuple(map(int, np.argwhere(wrong)[0]))
                yield Difference("forward mode", repr(mine[at]), repr(theirs[at]), f" of component {i} at {list(at)}")


def _where(along: dict[int, Any]) -> str:
    """The first element that a direction moves."""
    i, v = next(((i, v) for i, v in along.items() if v.any()), (0, np.zeros(0)))
    return f" of a{i} at {[int(k) for k in np.argwhere(v)[0]]}" if v.any() else ""


def weighted(parts: list[Any], weights: list[Any]) -> tuple[float, float]:
    """The sum of all numbers times their weights, and that of the magnitudes; at a pole these are no numbers."""
    with np.errstate(invalid="ignore"):
        whole = flat(parts, np.float64) * flat(weights, np.float64)
        return float(whole.sum()), float(np.abs(whole).sum())
