"""What every adapter in Python shares: open the message, make the call, read the result and the gradients.

A `Target` says how operands are built and results are read; everything about messages, and what counts as a refusal, as
missing, or as the adapter's own fault, is here.
"""

from __future__ import annotations

import functools
import itertools
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pynested.spec.components import is_several, of_parts, parts_of
from pynested.spec.encoding import Components, decode_value
from pynested.spec.programs import QUESTIONS

from ..contradictions import SECOND, TRACKED, TWICE, USED
from ..messages import PROTOCOL, Message
from ..placements import BARE, HOLES_NAN, PACKED, REVERSED, VIEW, in_turn, words
from .moved import Moved, arguments, in_call
from .programs import PythonProgram, Runs, attribute, feasible
from .stopped import Stopped, contradiction, first_line
from .values import (
    Operand,
    Place,
    Plain,
    doubled,
    encode_gradient,
    encode_result,
    freeze,
    is_read_as,
    left_on,
    same,
)

__all__ = ["Operand", "Place", "Plain", "PythonAdapter", "Stopped", "Target"]

# More of the life of a result is looked at in some placements only, for it takes time: where memory is as plain as can
# be, and where there are holes, where operands lie differently, or where the leaf is not the operand.
_USED_IN, _TWICE_IN, _PUSHED_IN = (PACKED, HOLES_NAN), (PACKED, VIEW), (BARE, REVERSED)

CANNOT_HOLD = "the adapter cannot hold an operand: what is read of it is another value"


@dataclass(frozen=True)
class _Forward:
    """A call that was made: its operands as they were built, its result, and the result as read and as it is sent."""

    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    result: Any
    read: Any
    encoded: Message


class Target(ABC):
    """What differs from one target to the next.

    ``accumulates`` says that a cotangent can be pulled back again, and that what comes is added to what is there.
    ``reads_operands`` says that `read` reads operands too: a call is made only if what is read of them is their value.
    """

    accumulates = False
    reads_operands = False

    @abstractmethod
    def identity(self, device: str) -> Message:
        """Return the answer to `start` without the protocol, or `unavailable`."""

    @abstractmethod
    def operand(self, value: Plain, place: Place, tracked: bool) -> Operand:
        """Build one nested or dense operand; ``tracked`` ones collect a gradient."""

    def held(self, value: Plain, place: Place, tracked: bool) -> Operand:
        """Build an operand; one that is read as another value ends the call, which says nothing of the target then."""
        built = self.operand(value, place, tracked)
        if self.reads_operands and not tracked and not self._holds(built, value):
            raise Stopped({"missing": CANNOT_HOLD, "phase": "construct"})
        return built

    def _holds(self, built: Operand, value: Plain) -> bool:
        """Return whether what is read of an operand is its value; one that cannot be read is not held either."""
        try:
            return is_read_as(self.read(built.value), value)
        except Exception:
            return False

    @abstractmethod
    def other(self, value: Any) -> Any:
        """Translate an argument that is no array: a dtype, an index, a number."""

    @abstractmethod
    def call(self, op: str, layout: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Call the operator."""

    @abstractmethod
    def read(self, result: Any) -> Any:
        """Return a result as components, an array, a Python number, or a list of these."""

    def program(self, layout: str, inputs: Mapping[str, tuple[Plain, Place]], leaves: Sequence[str]) -> Runs:
        """Build the inputs of a program, and return what carries out its steps; ``leaves`` require grad."""
        names = {name: self.held(*one, False).value for name, one in inputs.items()}
        for name in leaves:
            names[name].requires_grad_()
        return PythonProgram(names, layout, self)

    def part(self, op: str, array: Any) -> Any:
        """Return what an array is made of: its values, offsets, lengths, sizes or strides."""
        return attribute(array, op)()

    def pull_back(self, result: Any, cotangent: Any, retain: bool) -> None:
        """Pull a cotangent, which is an array of the target, back from a result; ``retain`` keeps the graph."""
        result.backward(cotangent, retain_graph=retain)

    def pull_to(self, array: Any, result: Any, cotangent: Any) -> Any:
        """Return what a cotangent of a result is when it comes to an array, recorded; or None where nothing comes."""
        raise NotImplementedError("no gradient of a gradient")

    def push(self, call: Callable[[Any], Any], array: Any, tangent: Any) -> Any:
        """Return how the result of a call of an array moves where that moves along a tangent."""
        raise NotImplementedError("no forward mode in programs")

    @abstractmethod
    def backward(self, results: Sequence[Any], cotangents: Sequence[Plain]) -> None:
        """Pull the cotangents back to the tracked operands."""

    def used(self, result: Any, read: Any) -> Iterator[tuple[str, Any]]:
        """Yield what operators make of a result that must leave it as it was ``read``, each with its name."""
        yield from ()

    def pushed(self, call: Callable[..., Any], operands: Sequence[Operand], tangents: Sequence[Plain]) -> Any:
        """Return how the result of a call moves along tangents of its operands, or None without forward mode."""
        return None

    def missing(self, error: Exception) -> bool:
        """Return whether the error says that the target does not have the operator at all."""
        return isinstance(error, NotImplementedError)

    def kind(self, error: Exception) -> str:
        """Return the name of the kind of error."""
        return type(error).__name__


class PythonAdapter:
    """An adapter over a `Target`, and perhaps over a second one: its dense operators, called for each component."""

    def __init__(self, target: Target, dense: Target | None = None) -> None:
        self._target = target
        self._dense = None if dense is None else PythonAdapter(dense)
        # The arguments of a call as they were sent, and decoded.
        self._last: tuple[Any, tuple[Sequence[Any], Mapping[str, Any]]] = None, ([], {})
        self._laid: dict[Any, Any] = {}  # what is laid out for the call that is made

    def start(self, device: str) -> Message:
        """Answer the start message."""
        return {"protocol": PROTOCOL, **self._target.identity(device)}

    def run(self, message: Message) -> Message:
        """Answer one run message."""
        if message.get("dense") and self._dense is not None:
            return self._dense.run({name: value for name, value in message.items() if name != "dense"})
        reply = {"seq": message["seq"]}
        try:
            return {**reply, **(self._program(message) if "steps" in message else self._run(message))}
        except Stopped as stopped:
            return {**reply, **stopped.fields}
        except Exception:  # whatever else goes wrong is the fault of this adapter, and the runner must know
            return {**reply, "errored": traceback.format_exc()}

    def _run(self, message: Message) -> Message:
        """Make the call without gradients, use the result, and call again with gradients where they are asked for."""
        self._laid = {}
        made = self._forward(message, set())
        if message["placement"] in _USED_IN or len(words(message["placement"])) > 1:
            self._attempt("read", lambda: self._use(made))
        reply: Message = {"value": made.encoded}
        if "cotangent" in message:
            try:
                reply["gradient"] = self._gradient(message, made)
            except Stopped as stopped:
                reply["gradient"] = stopped.fields
        return reply

    def _program(self, message: Message) -> Message:
        """Carry out the steps of a program, as far as each has what it needs."""
        layout, places = message["layout"], _Places(message, {})
        given = {name: decode_value(value) for name, value in message["inputs"].items()}
        inputs = {name: (value, places.of(value)) for name, value in given.items()}
        program = self._attempt("construct", lambda: self._target.program(layout, inputs, message["tracked"]))
        answers: list[Message | None] = []
        for step in itertools.takewhile(lambda one: feasible(program, one), message["steps"]):
            answers.append(self._answer(program, step))
        return {"answers": answers}

    def _answer(self, program: Runs, step: Mapping[str, Any]) -> Message | None:
        question = step["op"] in QUESTIONS
        phase = "read" if step["op"] == "value" else "run"
        try:
            found = self._attempt(phase, lambda: program.step(step))
        except Stopped as stopped:
            if "error" in stopped.fields:
                return stopped.fields
            raise
        if not question:
            return None
        return {"value": {"python": None} if found is None else encode_result(found)}

    def _forward(self, message: Message, wrt: set[int | str]) -> _Forward:
        layout, places = message["layout"], _Places(message, self._laid)
        given, named = self._decoded(message)
        args = [self._build(one, places, number in wrt) for number, one in enumerate(given)]
        kwargs = {name: self._build(one, places, name in wrt) for name, one in named.items()}
        plain_args = [in_call(one) for one in args]
        plain_kwargs = {name: in_call(one) for name, one in kwargs.items()}
        result = self._attempt("run", lambda: self._target.call(message["op"], layout, plain_args, plain_kwargs))
        read = self._attempt("read", lambda: self._target.read(result))
        return _Forward(args, kwargs, result, read, encode_result(read))

    def _use(self, made: _Forward) -> None:
        """Hold what others make of the result against what was read of it."""
        for name, found in self._target.used(made.result, made.read):
            if not same(found, made.read):
                raise contradiction(USED.format(name))

    def _decoded(self, message: Message) -> tuple[Sequence[Any], Mapping[str, Any]]:
        """Return the arguments; a call comes in one placement after the other, and is decoded once."""
        said = message["args"], message["kwargs"]
        last, decoded = self._last
        if said != last:
            kwargs = {name: decode_value(one) for name, one in message["kwargs"].items()}
            decoded = [decode_value(one) for one in message["args"]], kwargs
            freeze(decoded)
            self._last = said, decoded
        return decoded

    def _build(self, value: Any, places: _Places, tracked: bool) -> Any:
        """Return the operand, or list or mapping of these, that a value stands for; each nested one has a place."""
        if is_several(value):
            return of_parts(value, [self._build(one, places, tracked) for one in parts_of(value)])
        if not isinstance(value, (Components, np.ndarray)):
            return self._target.other(value)
        tracked = tracked and value.dtype.kind == "f"
        return self._attempt("construct", lambda: self._target.held(value, places.of(value), tracked))

    def _gradient(self, message: Message, untracked: _Forward) -> Message:
        wrt = message["wrt"]
        made = self._forward(message, set(wrt))
        if made.encoded != untracked.encoded:
            raise contradiction(TRACKED)
        cotangent = decode_value(message["cotangent"])
        results, cotangents = (list(made.result), cotangent) if is_several(cotangent) else ([made.result], [cotangent])
        operands = {place: arguments(made.args, made.kwargs)[place] for place in wrt}

        def pulled() -> dict[int | str, Any]:
            self._attempt("backward", lambda: self._target.backward(results, cotangents))
            return {place: self._attempt("read", functools.partial(left_on, one)) for place, one in operands.items()}

        once = pulled()
        again = self._target.accumulates and message["placement"] in _TWICE_IN
        if again and not all(map(same, map(doubled, once.values()), _again(pulled).values())):
            raise contradiction(TWICE)
        if message["placement"] in _PUSHED_IN:
            self._push(message, untracked, once, cotangent)
        by_place = {place: encode_gradient(one) for place, one in once.items()}
        return {
            "args": [by_place.get(number) for number in range(len(made.args))],
            "kwargs": {name: by_place[name] for name in wrt if isinstance(name, str)},
        }

    def _push(self, message: Message, made: _Forward, gradients: Mapping[int | str, Any], cotangent: Any) -> None:
        """Hold forward mode, where there is one, against the gradient."""
        given = arguments(*self._decoded(message))
        built = arguments(made.args, made.kwargs)
        moved = Moved(made.args, made.kwargs, [(built[one], given[one], found) for one, found in gradients.items()])
        call = functools.partial(self._target.call, message["op"], message["layout"])
        if moved.is_plain(cotangent):
            pushed = self._attempt("backward", lambda: self._target.pushed(*moved.question(call)))
            if wrong := moved.disagreement(pushed, cotangent):
                raise contradiction(wrong)

    def _attempt(self, phase: str, step: Callable[[], Any]) -> Any:
        try:
            return step()
        except Stopped:
            raise
        except Exception as error:
            if self._target.missing(error):
                raise Stopped({"missing": f"{type(error).__name__}: {first_line(error)}"}) from error
            raise Stopped({"error": self._refusal(error, phase)}) from error

    def _refusal(self, error: Exception, phase: str) -> Message:
        bases = [base.__name__ for base in type(error).__mro__ if base.__module__ == "builtins"]
        kind = self._target.kind(error)
        return {"kind": kind, "message": first_line(error), "phase": phase, "bases": bases}


class _Places:
    """Where the operands of one call are to lie: the nested ones as the words of the request say in turn."""

    def __init__(self, message: Message, laid: dict[Any, Any]) -> None:
        self._layout, self._words = message["layout"], in_turn(message["placement"])
        self._shared, self._laid = dict[Any, Any](), laid

    def of(self, value: Plain) -> Place:
        """Return the place of the next operand; what a call shares, dense operands share too."""
        placement = next(self._words) if isinstance(value, Components) else PACKED
        return Place(self._layout, placement, self._shared, self._laid)


def _again(pulled: Callable[[], dict[int | str, Any]]) -> dict[int | str, Any]:
    """Pull back once more; a refusal says that it is one of the second time."""
    try:
        return pulled()
    except Stopped as stopped:
        if error := stopped.fields.get("error"):
            error["message"] += SECOND
        raise
