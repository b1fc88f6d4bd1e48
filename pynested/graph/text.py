"""A graph as text that reads like the function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from pynested.autograd.tape import OFF
from pynested.structure.layouts import Layout

from .forms import CONTAINERS, Made, Same, Value, parts, values_in
from .nodes import ATTRIBUTE, CALLED, METHOD, NUMBER, SETTING, Node, Recording

_SIGN = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "matmul": "@", "pow": "**", "floor_divide": "//",
    "remainder": "%", "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^", "eq": "==", "ne": "!=", "lt": "<",
    "gt": ">", "le": "<=", "ge": ">=", "truediv": "/", "floordiv": "//", "mod": "%",
}  # fmt: skip
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_SHORT = 8  # elements of a constant array that are shown


class Names:
    """What each value is called: by the function where it has a name there, and else by letters."""

    def __init__(self, function: Callable[..., Any], recording: Recording) -> None:
        self.names: dict[Value, str] = {one.value: one.place.text or "_" for one in recording.captured}
        args, kwargs = recording.inputs
        for name, form in (*zip(parameters(function, len(args)), args, strict=True), *kwargs.items()):
            self._name(name, form)
        self.used = set(self.names.values())
        self.letters = self._letters()

    def _name(self, name: str, form: Any) -> None:
        if type(form) is Value:
            self.names[form] = name
        elif isinstance(form, CONTAINERS):
            keys = list(form) if isinstance(form, dict) else range(len(parts(form)))
            for key, one in zip(keys, parts(form), strict=True):
                self._name(f"{name}[{key!r}]", one)

    def _letters(self) -> Iterator[str]:
        for round_ in range(1_000_000):
            for letter in _LETTERS:
                name = f"{letter}{round_ or ''}"
                if name not in self.used:
                    yield name

    def __getitem__(self, value: Value) -> str:
        if value not in self.names:
            self.names[value] = next(self.letters)
        return self.names[value]


def parameters(function: Callable[..., Any], count: int) -> list[str]:
    """The names of the first ``count`` arguments."""
    try:
        found = [
            f"{one.name}[{i}]" if one.kind is one.VAR_POSITIONAL else one.name
            for one in inspect.signature(function).parameters.values()
            for i in (range(count) if one.kind is one.VAR_POSITIONAL else (0,))
        ]
    except (TypeError, ValueError):  # a function of C
        found = []
    return [*found, *(f"arg{i}" for i in range(len(found), count))][:count]


def as_text(function: Callable[..., Any], recording: Recording) -> str:
    """The whole graph."""
    names, shown = Names(function, recording), recording.shown
    name = getattr(function, "__name__", type(function).__name__)
    inputs = [names[value] for value in _inputs(recording)]
    lines = [f"def {name.replace('<lambda>', 'f')}({', '.join(inputs)}):"]
    about = [*_inputs(recording), *(one.value for one in recording.captured)]
    lines += [f"    # {names[value]}: {shown[value.number]}" for value in about]
    mode = None
    for node in recording.nodes:
        if node.mode != mode and node.mode is not None:
            lines.append(f"    with {'no_grad' if node.mode == OFF else 'enable_grad'}():")
        mode = node.mode
        lines.append(("    " if mode is None else "        ") + line(node, names, shown))
    lines.append(f"    return {text(recording.outputs, names)}")
    return "\n".join(lines)


def _inputs(recording: Recording) -> Iterator[Value]:
    return values_in(recording.inputs)


def line(node: Node, names: Names, shown: Mapping[int, str]) -> str:
    """One node."""
    call = written(node, names)
    if node.kind == SETTING or node.results is None or type(node.results) is Same:
        return call
    if not list(node.makes):
        sign = "is" if node.results is None or isinstance(node.results, bool) else "=="
        return f"assert {f'({call})' if ' ' in call else call} {sign} {text(node.results, names)}"
    what = f"  # {shown[node.results.number]}" if type(node.results) is Value else ""
    return f"{text(node.results, names)} = {call}{what}"


def written(node: Node, names: Names) -> str:
    """A call as one would write it."""
    args = [text(one, names) for one in node.args]
    last = node.name.rpartition(".")[2]
    if node.kind == SETTING:
        return f"{args[0]}.{last[:-1]} = {args[1]}"
    if node.kind == ATTRIBUTE:
        return f"{args[0]}.{last}"
    if last == "__getitem__":
        return f"{args[0]}[{_index(node.args[1], names)}]"
    if last == "__setitem__":
        return f"{args[0]}[{_index(node.args[1], names)}] = {args[2]}"
    if node.kind == CALLED:
        return f"{args[0]}({', '.join(args[1:])})"
    if last == "__len__":
        return f"len({args[0]})"
    if node.name == "pos":
        return args[0]
    if len(args) == 2 and not node.kwargs and (last in _SIGN or node.kind == NUMBER):
        return f"{args[0]} {_SIGN.get(last, last)} {args[1]}"
    args += [f"{name}={text(one, names)}" for name, one in node.kwargs.items()]
    if node.kind == METHOD and last != "apply":
        return f"{args[0]}.{last}({', '.join(args[1:])})"
    return f"{last}({', '.join(args)})"


def _index(form: Any, names: Names) -> str:
    """An index, without the parentheses around several."""
    return ", ".join(text(one, names) for one in form) if type(form) is tuple and form else text(form, names)


def text(form: Any, names: Names) -> str:
    """A form, with the names of its values."""
    if type(form) is Value:
        return names[form]
    if type(form) is Same:
        return names[form.value]
    if isinstance(form, dict):
        return f"{{{', '.join(f'{key!r}: {text(one, names)}' for key, one in form.items())}}}"
    if isinstance(form, slice):
        start, stop, step = ("" if one is None else text(one, names) for one in parts(form))
        return f"{start}:{stop}" + f":{step}" * bool(step)
    if isinstance(form, tuple | list):
        inner = ", ".join(text(one, names) for one in form)
        if hasattr(form, "_fields") and not any(type(one) is Value for one in form):
            return f"{type(form).__name__}({inner})"  # an option that is given by its class
        return f"[{inner}]" if isinstance(form, list) else f"({inner}{',' * (len(form) == 1)})"
    if isinstance(form, np.ndarray):
        return repr(form.tolist()) if form.size <= _SHORT else f"<{form.dtype} array of shape {form.shape}>"
    if isinstance(form, Made) or callable(form):
        made = form.function if isinstance(form, Made) else form
        return str(getattr(made, "__name__", type(made).__name__))
    return str(form) if isinstance(form, np.dtype | Layout) else "..." if form is ... else repr(form)
