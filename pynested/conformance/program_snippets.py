"""A program as code that can be pasted: its inputs as the adapter builds them, its steps up to the one that differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from pynested.spec.encoding import decode_value
from pynested.spec.programs import CREATION, OF_TAPE, QUESTIONS, outs
from pynested.spec.table import load_table

from .corpus import Program
from .numpy_dialect import NumpyDialect, Own
from .pasting import ACCEPTED
from .programs import argument, spelled
from .snippets import Dialect, PynestedDialect, laid
from .torch_dialect import TorchDialect

Step = Mapping[str, Any]


class ProgramDialect(Dialect, Protocol):
    """How a library that is asked programs spells their steps."""

    def pull(self, texts: Sequence[str]) -> str:
        """Return the line that pulls a cotangent back, given result, cotangent and keywords as text."""

    def pull_to(self, result: str, array: str, cotangent: str) -> str:
        """Return what a cotangent is when it comes from a result to an array, recorded."""

    def push(self, function: str, array: str, tangent: str) -> str:
        """Return how the result of a function moves where the array that it is given moves along a tangent."""


DIALECTS: Mapping[str, ProgramDialect] = {"pynested": PynestedDialect(), "torch": TorchDialect()}


def program_snippet(
    program: Program, layout: str, placement: str, dialect: str, last: int, described: bool = False
) -> str:
    """Return a program as code, up to step number ``last``; the refusals that are due before it are caught.

    The answer to the last step is ``described`` if dtype and sizes are what differs.
    """
    speak = DIALECTS.get(dialect) or NumpyDialect(Own())
    inputs = {name: decode_value(value) for name, value in program.inputs.items()}
    operands = laid(speak, layout, placement, inputs, [False] * len(inputs))
    lines = [speak.head, *(line for one in operands for line in one.lines)]
    lines += [f"{name}.requires_grad_()" for name in program.leaves]
    gradients = {name for step in program.steps if step["op"] in ("grad", "vjp", "jvp") for name in outs(step)}
    for number, step in enumerate(program.steps[: last + 1]):
        if step["op"] == "jvp":
            lines += _again(program.steps[:number], step, speak)
        lines += _lines(step, speak, gradients, caught=number < last and bool({"refuse", "may_refuse"} & set(step)))
    if described:
        lines.append(speak.described(_code(program.steps[last], speak)))
    if "refuse" in program.steps[last]:
        lines.append(f"print({ACCEPTED!r})")
    return "\n".join(lines)


def _keyword(text: str, speak: ProgramDialect) -> str:
    """Return an argument as text, a dtype as the library spells it."""
    return f"dtype={speak.name(text.removeprefix('dtype='))}" if text.startswith("dtype=") else text


def _again(steps: Sequence[Step], last: Step, speak: ProgramDialect) -> Iterator[str]:
    """Yield the calls so far as a function of the input that moves, of what they make of it."""
    result, array, _ = map(argument, last["args"])
    yield f"def again({array}):"
    for step in steps:
        if step["op"] not in (*QUESTIONS, *OF_TAPE):
            yield from (f"    {line}" for line in _lines(step, speak, set(), caught=False))
    yield f"    return {result}"


def _code(step: Step, speak: ProgramDialect) -> str:
    """Return a step as code."""

    def call(op: str, texts: Sequence[str]) -> str:
        if op == "vjp":
            return speak.pull_to(*texts)
        if op == "jvp":
            return speak.push("again", *texts[1:])
        if op in CREATION:
            operator = replace(load_table()["clone"], name=op, torch=f"torch.{op}")
            return speak.call(operator, [_keyword(text, speak) for text in texts])
        return speak.pull(texts) if op == "backward" else speak.call(load_table()[op], texts)

    return spelled(step, call)


def _lines(step: Step, speak: ProgramDialect, gradients: set[str], caught: bool) -> Iterator[str]:
    """Yield the lines of a step; what it shows is printed."""
    code = _code(step, speak)
    if step["op"] == "value":
        name = argument(step["args"][0])
        code = speak.shown(name)
        if name in gradients:  # of which there may be none
            code = f"{code} if {name} is not None else print(None)" if "nested" in step["expect"] else f"print({name})"
    elif step["op"] in QUESTIONS:
        code = f"print({code})"
    if not caught:
        yield code
        return
    yield from ("try:", f"    {code}", "except Exception as error:", '    print("refused:", error)')
