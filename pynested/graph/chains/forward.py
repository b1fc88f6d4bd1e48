"""One block of a chain, forwards: a function of Python, written as text, with a line for each step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .steps import Step, Steps, kept, ufunc_of


@kept
def whole(steps: Steps, wanted: tuple[int, ...]) -> Callable[..., Any]:
    """``f(*inputs) -> wanted registers``, each in memory of its own: for what is small."""
    names: dict[str, Any] = {}
    lines = [f"def chain({', '.join(f'r{i}' for i in range(steps.inputs))}):"]
    lines += [f"    r{step.register} = {called(step, names)}" for step in steps.steps]
    lines.append(f"    return {''.join(f'r{i}, ' for i in wanted)}")
    return compiled(lines, names)


@kept
def by_blocks(steps: Steps, wanted: tuple[int, ...]) -> tuple[Callable[..., Any], int]:
    """``f(*inputs, *outputs, *scratch)``, which writes, and how many scratch arrays there are.

    ``wanted`` are the registers that are written out. A scratch array serves again when its register is read last.
    """
    names: dict[str, Any] = {}
    last = {register: i for i, step in enumerate(steps.steps) for register in (step.register, *step.reads)}
    place = {register: f"o{k}" for k, register in enumerate(wanted)}
    free: list[str] = []
    count = 0
    lines = []
    for i, step in enumerate(steps.steps):
        if step.register not in place:
            if not free:
                free, count = [f"s{count}"], count + 1
            place[step.register] = free.pop()
        lines.append(f"    {written(step, place, names)}")
        gone = [one for one in dict.fromkeys((step.register, *step.reads)) if last[one] == i and one >= steps.inputs]
        free += [place[one] for one in gone if place[one].startswith("s")]
    parameters = [f"r{i}" for i in range(steps.inputs)]
    parameters += [f"o{k}" for k in range(len(wanted))] + [f"s{k}" for k in range(count)]
    return compiled([f"def chain({', '.join(parameters)}):", *lines], names), count


def operand(one: int | tuple[float], place: dict[int, str] | None = None) -> str:
    """An operand as text."""
    if type(one) is int:
        return (place or {}).get(one, f"r{one}")
    return number(one[0])  # type: ignore[index]


def number(value: float) -> str:
    """A number of Python's as text that gives the same number, an infinity or NaN too."""
    return repr(value) if isinstance(value, int) or value - value == 0 else f"float({str(value)!r})"


def called(step: Step, names: dict[str, Any], place: dict[int, str] | None = None) -> str:
    """A step as a call that makes a new array."""
    name = named(ufunc_of(step.rule) or step.rule.compute, names)
    return f"{name}({', '.join(operand(one, place) for one in step.operands)})"


def written(step: Step, place: dict[int, str], names: dict[str, Any]) -> str:
    """A step as a call that writes into the place of its register."""
    out = place[step.register]
    if ufunc_of(step.rule) is None:
        return f"{out}[...] = {called(step, names, place)}"
    return f"{called(step, names, place)[:-1]}, out={out})"


def named(thing: Any, names: dict[str, Any]) -> str:
    """The name under which the text knows a function."""
    for name, one in names.items():
        if one is thing:
            return name
    name = f"f{len(names)}"
    names[name] = thing
    return name


def compiled(lines: list[str], names: dict[str, Any]) -> Callable[..., Any]:
    """The function that the text defines."""
    text = "\n".join(lines) + "\n"
    space = dict(names)
    exec(compile(text, "<chain>", "exec"), space)
    made: Callable[..., Any] = space["chain"]
    made.__doc__ = text
    return made
