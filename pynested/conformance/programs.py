"""A program against what is due at its steps, and a program in words: the first step that differs is what counts.

A step is due to answer, to be refused, or to be carried out. What comes after the first that is otherwise says nothing
any more, for it goes on from a wrong state: the parts of a program that lie behind are *unreached*.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pynested.spec.encoding import Index, decode_value
from pynested.spec.programs import OF_TAPE, QUESTIONS, WRITES, operator_of, outs

from . import literals
from .corpus import Case, Program
from .judge import (
    ADAPTER,
    CORRUPT,
    DAMAGED,
    ERROR,
    FORWARD,
    GRADIENT,
    OK,
    PARTS,
    UNREACHED,
    Finding,
    compared,
    describe,
    filled,
    form_of,
    judge,
    refusal_of,
)
from .replies import CRASHED, ERRORED, GARBLED, MISSING, UNASKED, VALUE, Refusal, Reply

Step = Mapping[str, Any]


def judged(case: Case, layout: str, reply: Reply, errors_are: str = "kind", kinds: bool = True) -> list[Finding]:
    """Return what a reply comes to: of a call as `judge` does, or of a program."""
    if isinstance(case, Program):
        return judge_program(case, layout, reply, errors_are)
    return judge(case, layout, reply, errors_are, kinds)


def judge_program(program: Program, layout: str, reply: Reply, errors_are: str = "kind") -> list[Finding]:
    """Return a finding for each part that a program has: its results, its gradients, its refusals."""
    parts = parts_of(program.steps)
    if reply.outcome in (MISSING, UNASKED):
        return [Finding(part, reply.outcome, "answers", reply.text) for part in PARTS if part in parts]
    found = _first(program, parts, layout, reply, errors_are)
    reached = len(parts) if found.step is None else found.step
    last = {part: number for number, part in enumerate(parts)}
    of = found.part
    others = (Finding(part, OK if last[part] < reached else UNREACHED) for part in PARTS if part in last and part != of)
    return [found, *others]


def parts_of(steps: Sequence[Step]) -> list[str]:
    """Return the part that each step belongs to; what is only done belongs to what is asked next."""
    gradients = {name for step in steps if step["op"] in ("grad", "vjp", "jvp") for name in outs(step)}
    found: list[str] = []
    part = FORWARD
    for step in reversed(steps):
        if "refuse" in step:
            part = ERROR
        elif "expect" in step:
            part = GRADIENT if step["args"][0]["name"] in gradients else FORWARD
        found.append(part)
    return found[::-1]


def _first(program: Program, parts: Sequence[str], layout: str, reply: Reply, errors_are: str) -> Finding:
    """Return the finding about the first step that differs, or that there is none."""
    if reply.unsteady:
        return Finding(parts[0], CRASHED, "answers", f"{reply.unsteady}; {DAMAGED}", step=0)
    if reply.refusal is not None:
        return Finding(parts[0], "refused", "inputs", f"{reply.refusal} (while building the operand)", step=0)
    if reply.outcome != VALUE:
        return Finding(parts[0], ADAPTER if reply.outcome == ERRORED else reply.outcome, "answers", reply.text, step=0)
    for number, (step, answer) in enumerate(zip(program.steps, reply.value, strict=False)):
        found = _judged(step, answer, parts[number], layout, errors_are)
        if "may_refuse" in step and answer.refusal is not None and found.verdict == OK:
            break
        if found.verdict != OK:
            want = f"step {number + 1}, {in_words(step)}: {found.want}"
            op = step["op"] if operator_of(step["op"]) == step["op"] else ""
            return replace(found, want=want, step=number, clauses=_clauses_at(program.steps, number), op=op)
    else:
        if len(reply.value) == len(program.steps):
            return Finding(parts[-1], OK)
        number = len(reply.value)
        got = f"answers to {number} of {len(program.steps)} steps, though every step before was as it must be"
        return Finding(
            parts[number], GARBLED, f"step {number + 1}, {in_words(program.steps[number])}", got, step=number
        )
    return Finding(parts[-1], OK)


def _clauses_at(steps: Sequence[Step], number: int) -> tuple[str, ...]:
    """Return the clauses that a step shows, or those of the next step that shows any."""
    return next((tuple(step["clauses"]) for step in steps[number:] if "clauses" in step), ())


def _judged(step: Step, answer: Reply, part: str, layout: str, errors_are: str) -> Finding:
    if "refuse" in step:
        return _refused(step["refuse"], answer, errors_are)
    if "may_refuse" in step and answer.refusal is not None:
        return replace(refusal_of(step["may_refuse"], answer.refusal, errors_are), part=part)
    if answer.refusal is not None:
        return _not_done(step, answer.refusal, part)
    if step["op"] not in QUESTIONS:
        return Finding(part, OK)
    if answer.outcome != VALUE:
        return Finding(part, GARBLED, "an answer", "nothing")
    if "open" in step:
        return Finding(part, OK)
    wanted = step["expect"]
    came = filled(answer.value, wanted) if part == GRADIENT else answer.value
    found = compared(part, came, wanted, layout, kinds=False)
    return replace(found, got="no gradient, which counts as zero") if answer.value is None and found.got else found


def _refused(wanted: str, answer: Reply, errors_are: str) -> Finding:
    if answer.refusal is not None:
        return refusal_of(wanted, answer.refusal, errors_are)
    got = "it is carried out" if answer.outcome != VALUE else f"a result: {describe(answer.value)}"
    return Finding(ERROR, "accepted", wanted, got)


def _not_done(step: Step, refusal: Refusal, part: str) -> Finding:
    wanted = f"a {form_of(step['expect'])} result" if "expect" in step else "it is carried out"
    return Finding(part, CORRUPT if refusal.phase == "read" else "refused", wanted, str(refusal))


# --- in words


def in_words(step: Step) -> str:
    """Return a step as it would be typed, operators by their names.

    >>> in_words({"op": "select", "args": [{"name": "x"}, {"int": "2"}, {"int": "0"}], "out": "v"})
    'v = select(x, 2, 0)'
    >>> in_words({"op": "fill_", "args": [{"name": "v"}, {"float": "7.0"}]})
    'v.fill_(7.0)'
    """
    if step["op"] == "value":
        return f"the value of {argument(step['args'][0])}"
    return spelled(step, lambda op, texts: f"{op}({', '.join(texts)})")


def program_in_words(program: Program, last: int) -> str:
    """Return the steps of a program on one line, up to step number ``last``, and what its inputs are."""
    steps = program.steps[: last + 1]
    inputs = (f"{name}: {literals.in_words(decode_value(value))}" for name, value in program.inputs.items())
    leaves = f"; {', '.join(program.leaves)} require{'s' * (len(program.leaves) == 1)} grad" if program.leaves else ""
    return f"{'; '.join(map(in_words, steps))}; {'; '.join(inputs)}{leaves}"


def spelled(step: Step, call: Callable[[str, Sequence[str]], str]) -> str:
    """Return a step as code; ``call`` spells the call of an operator, and of a backward pass."""
    op, texts = step["op"], [argument(one) for one in step["args"]]
    if op == "setitem":
        return f"{texts[0]}[{texts[1]}] = {texts[2]}"
    if op in QUESTIONS or op in OF_TAPE:
        asked = {
            "value": "{0}",
            "len": "len({0})",
            "grad": "{0}.grad",
            "requires_grad": "{0}.requires_grad",
            "hook": "{0}.register_hook(lambda g: g * {1})",
        }
        texts += list(_keywords(step))
        rest = ", ".join(texts[1:])
        text = (
            asked[op].format(*texts)
            if op in asked
            else call(op, texts)
            if op in ("backward", "vjp", "jvp")
            else f"{texts[0]}.{op}({rest})"
        )
    elif op in WRITES:
        return f"{texts[0]}.{op}({', '.join(texts[1:])})"
    else:
        text = f"{texts[0]}[{texts[1]}]" if op == "getitem" else call(op, [*texts, *_keywords(step)])
    names = ", ".join(outs(step)) + ("," if isinstance(step.get("out"), list) and len(outs(step)) == 1 else "")
    return f"{names} = {text}" if names else text


def _keywords(step: Step) -> Iterator[str]:
    return (f"{name}={argument(value)}" for name, value in step.get("kwargs", {}).items())


def argument(value: Any) -> str:
    """Return an argument as it would be typed."""
    if isinstance(value, dict) and "name" in value:
        return str(value["name"])
    if isinstance(value, dict) and "list" in value:
        return f"[{', '.join(map(argument, value['list']))}]"
    found = decode_value(value)
    return literals.index(found.items) if isinstance(found, Index) else literals.plain(found, repr, str)
