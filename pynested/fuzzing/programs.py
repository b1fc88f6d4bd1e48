"""Programs: a few calls drawn one after the other, each on what the calls before it have made, and what is due of them.

A `Draft` is a plan as data: what the inputs are like, and the calls. What is asked is added to it: the components of
every array that has a name, once all calls are made, and what the leaves have collected. So a write that goes where it
must not, a result that changes later, and a gradient that is lost on its way are seen, whatever the calls are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pynested.spec.components import Components
from pynested.spec.generator.draws import integers, word
from pynested.spec.generator.programs import Draft as Written
from pynested.spec.generator.taped import Taped
from pynested.spec.generator.words import Inexact
from pynested.spec.memory import Held
from pynested.spec.programs import names_in

from .chance import Chance
from .steps import Call, Seen, proposed

__all__ = ["CHAPTERS", "Draft", "drafted", "program", "shorter"]

CHAPTERS = ("write", "tape", "share")  # where the programs belong that write, that have gradients, and all others
_FIRST_ONLY = ("relu", "detach")  # the one has no second derivative at 0; of the other `Taped` does not reckon it
_TRIES = 40  # of a call that fits
# What the definitions say of a call that cannot be made, and what cannot be expected: the next one is tried.
_UNFIT = (Inexact, ValueError, IndexError, TypeError, KeyError, OverflowError, AttributeError)
_DUE = {
    "share": "VALUES-1 LAYOUTS-4",
    "write": "WRITE-3 WRITE-4 WRITE-5",
    "tape": "VALUES-1 LAYOUTS-4",
}


@dataclass(frozen=True)
class Draft:
    """What a seed and a number stand for, where that is a program.

    Components have ``sizes``, and beside these at place ``ragged`` one of the ``lengths``. ``inputs`` says of each what
    it is like: `nested` as these components, a `mask` of them, a `row` that serves every component, a `matrix`; or, by
    the name of an array, a cotangent of it. The inputs in ``leaves`` require grad.
    """

    seed: int
    number: int
    lengths: tuple[int, ...]
    sizes: tuple[int, ...]
    ragged: int
    dtype: str
    inputs: Mapping[str, str]
    leaves: tuple[str, ...]
    calls: tuple[Call, ...] = field(default=())

    order = ()  # of the components; no law says what becomes of a program whose components have another one

    @property
    def op(self) -> str:
        """The chapter."""
        if self.leaves:
            return "tape"
        return "write" if any(call.writes for call in self.calls) else "share"

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """The shapes of the components."""
        before, after = self.sizes[: self.ragged - 1], self.sizes[self.ragged - 1 :]
        return [(*before, length, *after) for length in self.lengths]

    def input(self, kind: str, name: str) -> Any:
        """Return an input; small whole numbers, so that little has to be rounded."""
        key = f"fuzz {self.seed} {self.number} {name}"
        dtype = "bool" if kind == "mask" else self.dtype
        if kind in ("nested", "mask"):
            sizes = (*self.sizes[: self.ragged - 1], None, *self.sizes[self.ragged - 1 :])
            return integers(dtype, self.shapes, key, -4, 4, shape=(len(self.lengths), *sizes))
        last = self.sizes[-1]
        return _whole((last,) if kind == "row" else (last, 2), key, dtype)


def _whole(shape: tuple[int, ...], key: str, dtype: str, low: int = -4, high: int = 4) -> Any:
    count = math.prod(shape)
    return np.array([low + word(key, place) % (high - low + 1) for place in range(count)], dtype).reshape(shape)


def drafted(seed: int, number: int, chapters: Sequence[str] = CHAPTERS) -> Draft:
    """Return the program of a number, of one of these chapters."""
    for attempt in range(_TRIES):
        found = _drafted(Chance(seed, number, 3, attempt), seed, number, chapters)
        if found.op in chapters and found.calls:
            return found
    raise ValueError(f"number {number} of seed {seed} stands for no program of {', '.join(chapters)}")


class _FloatResults(Taped):
    """A machine that computes floats only, so that programs of integers are made of views and writes."""

    def _check(self, numbers: Any, dtype: str) -> None:
        if np.dtype(dtype).kind != "f":
            raise Inexact(f"a drawn program computes no {dtype}")
        super()._check(numbers, dtype)


def _drafted(chance: Chance, seed: int, number: int, chapters: Sequence[str]) -> Draft:
    tape = "tape" in chapters and (len(chapters) == 1 or chance.happens(0.5))
    sizes = tuple(chance.between(1, 3) for _ in range(chance.one((1, 1, 2))))
    inputs = {"x": "nested"} | {name: kind for name, kind in _MORE if chance.happens(0.4)}
    draft = Draft(
        seed,
        number,
        tuple(chance.between(0, 3) for _ in range(chance.between(1, 3))),
        sizes,
        chance.one((1, 1, len(sizes))),
        chance.one(("float32", "float32", "float64") if tape else ("float32", "float64", "int64")),
        inputs,
        tuple(name for name in inputs if name != "mask" and (name == "x" or chance.happens(0.5))) if tape else (),
    )
    calls: tuple[Call, ...] = ()
    machine = _FloatResults({name: draft.input(kind, name) for name, kind in inputs.items()}, draft.leaves)
    wanted = chance.between(2, 5)
    for _ in range(_TRIES):
        if len(calls) == wanted:
            break
        call = proposed(chance, [_seen(name, held) for name, held in machine.names.items()], tape, len(calls))
        if call is not None and _done(machine, call):
            calls += (call,)
    made = [name for call in calls if call.op != "detach" for name in call.outs]
    roots = [name for name in made if _is_root(machine.names[name])]
    return _with_a_pass(draft, calls, roots, chance) if tape and roots else _without_idle(replace(draft, calls=calls))


_MORE = (("y", "nested"), ("mask", "mask"), ("row", "row"), ("matrix", "matrix"))


def _seen(name: str, held: Held) -> Seen:
    shapes = tuple(one.shape for one in held.places) if isinstance(held.places, Components) else None
    return Seen(name, held.places.shape, shapes, held.dtype.name, held.history is not None)


def _done(machine: Taped, call: Call) -> bool:
    """Return whether a call can be made, and has been."""
    try:
        with np.errstate(all="ignore"):
            machine.step(call.step)
    except _UNFIT:
        return False
    return True


def _is_root(held: Held) -> bool:
    """Return whether a pass may begin here: a cotangent is nested in both layouts, or dense."""
    return held.history is not None and _is_one_kind(held.places)


def _is_one_kind(places: Any) -> bool:
    return not isinstance(places, Components) or None in places.shape


def _with_a_pass(draft: Draft, calls: tuple[Call, ...], roots: Sequence[str], chance: Chance) -> Draft:
    """Return a draft that ends with a pass from one of the results, or with two, or with a tangent that goes to one."""
    root = roots[-1] if chance.happens(0.7) else chance.one(roots)
    if chance.happens(0.15) and root in _reached(calls) and not any(call.writes for call in calls):
        calls += (Call("jvp", ({"name": root}, {"name": "x"}, {"name": "v"}), outs=("t",)),)
        return _without_idle(replace(draft, inputs={**draft.inputs, "v": "x"}, calls=calls))
    inputs = {**draft.inputs, "c": root}
    reckoned = not any(call.op in _FIRST_ONLY or call.writes for call in calls) and root in _reached(calls)
    if not (reckoned and chance.happens(0.3)):
        calls += (Call("backward", ({"name": root}, {"name": "c"})),)
        return _without_idle(replace(draft, inputs=inputs, calls=calls))
    names = ({"name": root}, {"name": "x"}, {"name": "c"})
    calls += (Call("vjp", names, outs=("g",)), Call("backward", ({"name": "g"}, {"name": "d"})))
    leaves = (*draft.leaves, "c")  # in which what comes back is linear, so that it always requires grad
    return _without_idle(replace(draft, inputs={**inputs, "d": "x"}, leaves=leaves, calls=calls))


def _reached(calls: Sequence[Call]) -> set[str]:
    """Return the results that depend on x, as far as their tape says."""
    found = {"x"}
    for call in calls:
        if call.op != "detach" and found & set(names_in(call.step)):
            found |= set(call.outs)
    return found


def _without_idle(draft: Draft) -> Draft:
    """Return a draft without the inputs that no call is given."""
    used = {name for call in draft.calls for name in names_in(call.step)} | {"x"}
    inputs = {name: kind for name, kind in draft.inputs.items() if name in used}
    return replace(draft, inputs=inputs, leaves=tuple(name for name in draft.leaves if name in used))


def shorter(draft: Draft) -> Iterator[Draft]:
    """Yield smaller programs, those that cannot be run among them: fewer calls, components, rows and columns."""
    for place, call in reversed(list(enumerate(draft.calls))):
        gone, kept = set(call.outs), [*draft.calls[:place]]
        for later in draft.calls[place + 1 :]:
            if gone & {*names_in(later.step)}:
                gone |= set(later.outs)
            else:
                kept.append(later)
        yield _without_idle(replace(draft, calls=tuple(kept)))
    for place, length in enumerate(draft.lengths):
        if len(draft.lengths) > 1:
            yield replace(draft, lengths=(*draft.lengths[:place], *draft.lengths[place + 1 :]))
        if length:
            yield replace(draft, lengths=(*draft.lengths[:place], length - 1, *draft.lengths[place + 1 :]))
    for place, size in enumerate(draft.sizes):
        if size > 1:
            yield replace(draft, sizes=(*draft.sizes[:place], size - 1, *draft.sizes[place + 1 :]))


# --- what is due


def program(draft: Draft) -> Mapping[str, Any] | None:
    """Return a program with what is due of it; None where a call cannot be made, or nothing exact can be expected."""
    try:
        with np.errstate(all="ignore"):
            inputs = _inputs(draft)
            return None if inputs is None else _written(draft, inputs).vector()
    except _UNFIT:
        return None


_LIKE = ("c", "d", "v")  # inputs that are like another array: cotangents, and a tangent


def _inputs(draft: Draft) -> dict[str, Any] | None:
    """Return the inputs; a cotangent is like the result that it belongs to, so the calls before it are made first."""
    found = {name: draft.input(kind, name) for name, kind in draft.inputs.items() if name not in _LIKE}
    for cotangent in [name for name in _LIKE if name in draft.inputs]:
        machine, root = Taped(found, [name for name in draft.leaves if name in found]), draft.inputs[cotangent]
        for call in draft.calls:
            if root in machine.names:
                break
            machine.step(call.step)
        if root not in machine.names:
            return None
        key = f"fuzz {draft.seed} {draft.number} {cotangent}"
        like = machine.names[root].places
        if not _is_one_kind(like):
            return None
        found[cotangent] = (
            integers(draft.dtype, [one.shape for one in like], key, 1, 6, shape=like.shape)
            if isinstance(like, Components)
            else _whole(like.shape, key, draft.dtype, 1, 6)
        )
    return found


def _written(draft: Draft, inputs: Mapping[str, Any]) -> Written:
    """Return the program as an author would write it: the calls, and then the questions."""
    id_ = f"{draft.op}/fuzz-{draft.seed}/{draft.number}"
    written = Written(draft.op, id_, dict(inputs), list(draft.leaves), ["strided", "jagged"], [])
    overwritten = False
    for call in draft.calls:
        stale = overwritten and call.op in ("backward", "vjp")
        due = {"clauses": ["TAPE-17"], "may_refuse": "GradientError"} if stale else {}
        written.step(call.step | due)
        overwritten |= call.writes
    shown = {"vjp": "TAPE-15", "jvp": "TAPE-16"}
    gradients = {name: shown[call.op] for call in draft.calls if call.op in shown for name in call.outs}
    for name in [*inputs, *(name for call in draft.calls for name in call.outs)]:
        written.ask(gradients.get(name, _DUE[draft.op]), "value", name)
        if draft.leaves and name not in gradients:
            written.ask("TAPE-12", "requires_grad", name)
    if any(call.op == "backward" for call in draft.calls):
        for name in draft.leaves:
            written.do("grad", name, out=f"of_{name}").ask("TAPE-1 TAPE-5 TAPE-14", "value", f"of_{name}")
    return written
