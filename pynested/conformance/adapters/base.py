"""What every adapter in Python shares: open the message, make the call, read the result and the gradients.

A `Target` says how operands are built and results are read; everything about messages, and what counts as a refusal, as
missing, or as the adapter's own fault, is here.
"""

from __future__ import annotations

import functools
import itertools
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pynested.spec.encoding import WIDTHS, Components, decode_value, encode, encode_value
from pynested.spec.programs import QUESTIONS

from ..messages import PROTOCOL, Message
from ..placements import Array
from .programs import PythonProgram, Runs, feasible

Plain = Components | Array

_DISAGREES = "the call gives another result where its operands track gradients"


@dataclass(frozen=True)
class Operand:
    """One operand as the target sees it, and how to read the gradient that was left on it."""

    value: Any
    gradient: Callable[[], Plain | None]


@dataclass(frozen=True)
class Described:
    """A result that the words of the specification cannot express, in words."""

    text: str


@dataclass(frozen=True)
class Place:
    """How the nested operands of one call are to be stored; ``shared`` holds what they have in common."""

    layout: str
    placement: str
    shared: dict[Any, Any] = field(default_factory=dict)


class Stopped(Exception):
    """A step ended without a value; ``fields`` is what the reply says instead."""

    def __init__(self, fields: Message) -> None:
        super().__init__(str(fields))
        self.fields = fields


@dataclass(frozen=True)
class _Forward:
    """A call that was made: its operands as they were built, its result, and the result as it is sent."""

    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    result: Any
    encoded: Message


class Target(ABC):
    """What differs from one target to the next."""

    @abstractmethod
    def identity(self, device: str) -> Message:
        """Return the answer to `start` without the protocol, or `unavailable`."""

    @abstractmethod
    def operand(self, value: Plain, place: Place, tracked: bool) -> Operand:
        """Build one nested or dense operand; ``tracked`` ones collect a gradient."""

    @abstractmethod
    def other(self, value: Any) -> Any:
        """Translate an argument that is no array: a dtype, an index, a number."""

    @abstractmethod
    def call(self, op: str, layout: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Call the operator."""

    @abstractmethod
    def read(self, result: Any) -> Any:
        """Return a result as components, an array, a Python number, or a list of these."""

    def program(self, inputs: Mapping[str, Plain], leaves: Sequence[str], place: Place) -> Runs:
        """Build the inputs of a program, and return what carries out its steps; ``leaves`` require grad."""
        names = {name: self.operand(value, place, False).value for name, value in inputs.items()}
        for name in leaves:
            names[name].requires_grad_()
        layout = place.layout
        return PythonProgram(
            names, lambda *call: self.call(call[0], layout, *call[1:]), self.other, self.read, self.pull_back
        )

    def pull_back(self, result: Any, cotangent: Any, retain: bool) -> None:
        """Pull a cotangent, which is an array of the target, back from a result; ``retain`` keeps the graph."""
        result.backward(cotangent, retain_graph=retain)

    @abstractmethod
    def backward(self, results: Sequence[Any], cotangents: Sequence[Plain]) -> None:
        """Pull the cotangents back to the tracked operands."""

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
        """Make the call without gradients, and once more with them where they are asked for."""
        reply: Message = {"value": self._forward(message, set()).encoded}
        if "cotangent" in message:
            try:
                reply["gradient"] = self._gradient(message, reply["value"])
            except Stopped as stopped:
                reply["gradient"] = stopped.fields
        return reply

    def _program(self, message: Message) -> Message:
        """Carry out the steps of a program, as far as each has what it needs."""
        place = Place(message["layout"], message["placement"])
        inputs = {name: decode_value(value) for name, value in message["inputs"].items()}
        program = self._attempt("construct", lambda: self._target.program(inputs, message["tracked"], place))
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
        place = Place(message["layout"], message["placement"])
        args = [self._build(decode_value(one), place, number in wrt) for number, one in enumerate(message["args"])]
        kwargs = {name: self._build(decode_value(one), place, name in wrt) for name, one in message["kwargs"].items()}
        plain_args = [_values(one) for one in args]
        plain_kwargs = {name: _values(one) for name, one in kwargs.items()}
        result = self._attempt("run", lambda: self._target.call(message["op"], place.layout, plain_args, plain_kwargs))
        return _Forward(args, kwargs, result, encode_result(self._attempt("read", lambda: self._target.read(result))))

    def _build(self, value: Any, place: Place, tracked: bool) -> Any:
        """Return the operand, or list of operands, that a value stands for."""
        if isinstance(value, list) and not isinstance(value, Components):
            return [self._build(one, place, tracked) for one in value]
        if not isinstance(value, (Components, np.ndarray)):
            return self._target.other(value)
        tracked = tracked and value.dtype.kind == "f"
        return self._attempt("construct", lambda: self._target.operand(value, place, tracked))

    def _gradient(self, message: Message, untracked: Message) -> Message:
        wrt = message["wrt"]
        made = self._forward(message, set(wrt))
        if made.encoded != untracked:
            raise Stopped({"error": {"kind": "Disagreement", "message": _DISAGREES, "phase": "read", "bases": []}})
        cotangent = decode_value(message["cotangent"])
        several = isinstance(cotangent, list) and not isinstance(cotangent, Components)
        results, cotangents = (list(made.result), cotangent) if several else ([made.result], [cotangent])
        self._attempt("backward", lambda: self._target.backward(results, cotangents))
        operands = {place: made.args[place] if isinstance(place, int) else made.kwargs[place] for place in wrt}
        by_place = {place: self._attempt("read", functools.partial(_gradients, one)) for place, one in operands.items()}
        return {
            "args": [by_place.get(number) for number in range(len(made.args))],
            "kwargs": {name: by_place[name] for name in wrt if isinstance(name, str)},
        }

    def _attempt(self, phase: str, step: Callable[[], Any]) -> Any:
        try:
            return step()
        except Exception as error:
            if self._target.missing(error):
                raise Stopped({"missing": f"{type(error).__name__}: {first_line(error)}"}) from error
            raise Stopped({"error": self._refusal(error, phase)}) from error

    def _refusal(self, error: Exception, phase: str) -> Message:
        bases = [base.__name__ for base in type(error).__mro__ if base.__module__ == "builtins"]
        kind = self._target.kind(error)
        return {"kind": kind, "message": first_line(error), "phase": phase, "bases": bases}


def first_line(error: Exception) -> str:
    """Return the first line of the text of an error, cut to a readable length."""
    lines = str(error).strip().splitlines() or [""]
    return lines[0][:300]


def _values(built: Any) -> Any:
    if isinstance(built, list):
        return [_values(one) for one in built]
    return built.value if isinstance(built, Operand) else built


def _gradients(built: Any) -> Any:
    """Return the gradients of an operand, or of each in a list, as they are sent."""
    if isinstance(built, list):
        return {"list": [_gradients(one) for one in built]}
    gradient = built.gradient()
    return None if gradient is None else encode_result(gradient)


def encode_result(result: Any) -> Any:
    """Return the JSON form of a result; an array of a dtype that the specification lacks is only described."""
    if isinstance(result, (Components, np.ndarray)):
        return _encode_array(result)
    if isinstance(result, (list, tuple)):
        return {"list": [encode_result(one) for one in result]}
    if isinstance(result, Described):
        return {"other": result.text, "dtype": ""}
    if isinstance(result, (bool, int, float, str)):
        return {"python": encode_value(result)}
    return {"other": f"a {type(result).__name__}", "dtype": ""}


def _encode_array(array: Plain) -> Message:
    name, shape = array.dtype.name, list(array.shape)
    if name not in WIDTHS:
        return {"other": f"{name} of shape {tuple(shape)}", "dtype": name}
    if not isinstance(array, Components):
        return {"dense": {"dtype": name, "shape": shape, "bits": encode(array)}}
    shapes, bits = [list(one.shape) for one in array], [encode(one) for one in array]
    return {"nested": {"dtype": name, "shape": shape, "shapes": shapes, "bits": bits}}
