"""Gradients as programs."""

from __future__ import annotations

from typing import Any

from ..draw.slopes import Slope, cotangent, directions
from ..judge import Difference
from ..judge.expected import Expected
from ..judge.second import SECOND
from ..oracle import Nest
from ..plan import Ref, found
from . import program
from .chains import memories, memory, numbers, operand, operands, steps

HOOKS = {"keep": "lambda g: None", "double": "lambda g: g * 2", "write": "lambda g: [g.mul_(10), None][1]"}


def told(plan: Slope, difference: Difference, device: str = "cpu") -> str:
    """The plan as a program: reverse mode, or the forward mode or the second order in which it differs."""
    chain = plan.chain
    lines, names = memories(chain, device), ", ".join(f"a{i}" for i in chain.leaves)
    body = [*operands(chain, device), *steps(chain.steps), f"y = {plan.out}"]
    if difference.aspect == "forward mode":
        return program([*lines, *_function(body, names), *_forward(plan, device)], difference)
    expected = Expected(plan)
    place, given = cotangent(plan, expected.out)[1]
    ready = device != "cpu"
    after = [
        f"g0 = {memory(place)}",
        f"g = {operand(given, f'pn.array(g0, device={device!r})' if ready else 'g0', ready)}",
    ]
    if difference.aspect == "second order":
        return program([*lines, *_function(body, names), *after, *_twice(plan, names, device)], difference)
    lines += body if plan.checkpoint is None else _checkpoint(plan, body)
    after += _between(plan, expected)
    again = ["y.backward(g)"] if difference.aspect == "second pass" else []
    after += ["y.backward(g, retain_graph=True)", *again, *[f"print(a{i}.grad)" for i in chain.leaves]]
    return program([*lines, *after], difference)


def _function(body: list[str], parameters: str) -> list[str]:
    """The calls as a function ``f`` of leaves."""
    return [f"def f({parameters}):", *[f"    {line}" for line in (*body, "return y")]]


def _checkpoint(plan: Slope, body: list[str]) -> list[str]:
    order = plan.chain.leaves
    given = {"given": order, "closed over": [], "half": order[::2]}[str(plan.checkpoint)]
    names = ", ".join(f"a{i}" for i in given)
    return [*_function(body, names), f"y = pn.checkpoint({', '.join(['f', names] if names else ['f'])})"]


def _between(plan: Slope, expected: Expected) -> list[str]:
    """What is done between the calls and the backward pass."""
    lines = [line for way, ref in plan.writes for line in _write(plan, way, ref, expected)]
    if plan.hook is not None:
        leaf = plan.chain.operands[plan.hook[0]].memory
        lines.append(f"a{leaf}.register_hook({HOOKS[plan.hook[1]]})")
    return lines


def _write(plan: Slope, way: str, ref: Ref, expected: Expected) -> list[str]:
    """A write as `judge.interference` does it: into the memory of an operand, or into a result."""
    if ref.kind == "y":
        if plan.checkpoint is not None or way.startswith("second"):
            return []
        known = found(ref, expected.known)
        several = not isinstance(known, Nest)
        return _written(way, f"{ref}[0]" if several else str(ref), (known[0] if several else known).dense)
    number = plan.chain.operands[ref.number].memory
    leaf = plan.chain.memories[number].leaf
    place = f"{'m' if leaf else 'a'}{number}"
    if way == "second nested array":
        return [f"pn.nested_array_from_jagged({place}, [0, len({place})]).mul_(3)"]
    if way == "second array" or not leaf:
        return [f"pn.array({place}, copy=False).mul_(3)"]
    return _written(way, f"a{number}", True)


def _written(way: str, value: str, dense: bool) -> list[str]:
    if way == "view made in no_grad":
        return ["with pn.no_grad():", f"    view = {value}[0:1]", "view.mul_(3)"]
    if way == "no_grad":
        return ["with pn.no_grad():", f"    {value}.mul_(3)"]
    if way == "detach":
        return [f"{value}.detach().mul_(3)"]
    plain = f"{value}.detach()" if dense else f"{value}.detach().values()"
    return [f"pn.from_dlpack({plain}).mul_(3)"]


def _forward(plan: Slope, device: str) -> list[str]:
    order = plan.chain.leaves
    along = directions(plan, 2)[0]
    given = ", ".join(f"a{i}.detach()" for i in order)
    moved = ", ".join(_array(along[i].astype(plan.chain.memories[i].numbers.dtype), device) for i in order)
    return [f"print(pn.jvp(f, ({given},), ({moved},))[1])"]


def _twice(plan: Slope, names: str, device: str) -> list[str]:
    weights = directions(plan, SECOND, 2)[1]
    terms = [f"(one[{k}] * {_array(weights[i], device)}).sum()" for k, i in enumerate(plan.chain.leaves)]
    return [
        f"one = pn.grad(f({names}), [{names}], g, create_graph=True)",
        f"print(pn.grad({' + '.join(terms)}, [{names}]))",
    ]


def _array(values: Any, device: str) -> str:
    return f"pn.array({numbers(values)}, device={device!r})"
