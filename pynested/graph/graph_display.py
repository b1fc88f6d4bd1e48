"""A graph as text that reads like the function, and as a picture.

In the picture each call is a line, and each value is an arrow to the lines that read it. The colour of an arrow, and
of the bar before a line, shows the ragged structure: equal lengths have equal colours. Dense values are grey.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from string import ascii_lowercase
from typing import Any

import numpy as np

from pynested.autograd.tape import OFF
from pynested.pictures.picture import Picture
from pynested.pictures.svg import PAGE, Sheet, assign_lanes, line_color, text_width
from pynested.structure.layout import Layout

from .inputs import CONTAINERS, Value, children, values_in
from .nodes import ATTRIBUTE, METHOD, SETTING, Node, Recording

_SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "truediv": "/", "matmul": "@", "pow": "**", "floor_divide": "//",
    "floordiv": "//", "remainder": "%", "mod": "%", "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^",
    "and_": "&", "or_": "|", "xor": "^", "lshift": "<<", "rshift": ">>", "eq": "==", "ne": "!=", "lt": "<", "gt": ">",
    "le": "<=", "ge": ">=",
}  # fmt: skip
_MAX_SHOWN = 8  # elements of a constant array
_STEP, _FONT, _LANE, _GREY = 30.0, 13.0, 11.0, "currentColor"  # of the picture

Names = dict[Value, str]  # the name of each value


def variable_names(function: Callable[..., Any], recording: Recording) -> Names:
    """Return the names of parameters and variables of the function, and letters for all other values."""
    names: Names = {value: source.text for value, source in recording.captured.items()}
    names |= {value: _expression(array, {}) for value, array in recording.made.items()}
    args, kwargs = recording.inputs
    try:
        parameters = inspect.signature(function).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):  # a function of C
        parameters = {f"arg{i}": arg for i, arg in enumerate(args)} | kwargs
    waiting = list(parameters.items())
    for name, tree in waiting:
        if type(tree) is Value:
            names[tree] = name
        elif isinstance(tree, CONTAINERS):
            keys = tree if isinstance(tree, dict) else range(len(children(tree)))
            waiting += [(f"{name}[{key!r}]", item) for key, item in zip(keys, children(tree), strict=True)]
    used = set(names.values())
    letters = (name for i in range(9_999) for letter in ascii_lowercase if (name := f"{letter}{i or ''}") not in used)
    made = (value for node in recording.nodes for value in node.makes)
    return names | dict(zip(dict.fromkeys(value for value in made if value not in names), letters, strict=False))


def as_text(function: Callable[..., Any], recording: Recording) -> str:
    """Return the whole graph as text."""
    names = variable_names(function, recording)
    name = getattr(function, "__name__", type(function).__name__).replace("<lambda>", "f")
    inputs = list(values_in(recording.inputs))
    lines = [f"def {name}({', '.join(names[value] for value in inputs)}):"]
    lines += [f"    # {names[value]}: {recording.facts[value.number].text}" for value in [*inputs, *recording.captured]]
    mode = None
    for node in recording.nodes:
        if node.mode != mode and node.mode is not None:
            lines.append(f"    with {'no_grad' if node.mode == OFF else 'enable_grad'}():")
        mode = node.mode
        lines.append(("    " if mode is None else "        ") + _statement(node, names, recording))
    return "\n".join([*lines, f"    return {_expression(recording.outputs, names)}"])


def _statement(node: Node, names: Names, recording: Recording) -> str:
    """Return a node as a line of the text."""
    call, results = _call_expression(node, names), _expression(node.results, names)
    if node.effect and node.results is None:
        return call
    if not list(node.makes):
        sign = "is" if node.results is None or isinstance(node.results, bool) else "=="
        return f"assert {f'({call})' if ' ' in call else call} {sign} {results}"
    text = f"  # {recording.facts[node.results.number].text}" if type(node.results) is Value else ""
    return f"{results} = {call}{text}"


def _call_expression(node: Node, names: Names) -> str:
    """Return a call as Python code."""
    args = [_expression(arg, names) for arg in node.args]
    if node.name in ("getitem", "__setitem__"):
        index = node.args[1]
        inner = args[1][1:-1].rstrip(",") if type(index) is tuple and index else args[1]
        return f"{args[0]}[{inner}]" + (f" = {args[2]}" if node.name == "__setitem__" else "")
    if node.kind == SETTING:
        return f"{args[0]}.{node.args[1]} = {args[2]}"
    if node.kind == ATTRIBUTE or node.name == "pos":
        return args[0] + f".{node.name}" * (node.kind == ATTRIBUTE)
    if node.name in _SIGNS and len(args) == 2 and not node.kwargs:
        return f"{args[0]} {_SIGNS[node.name]} {args[1]}"
    args += [f"{name}={_expression(arg, names)}" for name, arg in node.kwargs.items()]
    if node.kind == METHOD and node.name != "__len__":
        return f"{args[0]}.{node.name}({', '.join(args[1:])})"
    return f"{node.name.strip('_')}({', '.join(args)})"


def _expression(tree: Any, names: Names) -> str:
    """Return a tree, with the names of its values."""
    if type(tree) is Value:
        return names[tree]
    if isinstance(tree, dict):
        return f"{{{', '.join(f'{key!r}: {_expression(item, names)}' for key, item in tree.items())}}}"
    if isinstance(tree, slice):
        start, stop, step = ("" if part is None else _expression(part, names) for part in children(tree))
        return f"{start}:{stop}" + f":{step}" * bool(step)
    if isinstance(tree, tuple | list):
        inner = ", ".join(_expression(item, names) for item in tree)
        return f"[{inner}]" if isinstance(tree, list) else f"({inner}{',' * (len(tree) == 1)})"
    if isinstance(tree, np.ndarray):
        return repr(tree.tolist()) if tree.size <= _MAX_SHOWN else f"<{tree.dtype} array of shape {tree.shape}>"
    if callable(tree):
        return str(getattr(tree, "__name__", type(tree).__name__))
    return str(tree) if isinstance(tree, np.dtype | Layout) else "..." if tree is ... else repr(tree)


def picture_of(function: Callable[..., Any], recording: Recording) -> Picture:
    """Draw the inputs, each call, and the results."""
    names = variable_names(function, recording)
    inputs = [*values_in(recording.inputs), *recording.captured]
    texts = [f"{names[value]}  # {recording.facts[value.number].text}" for value in inputs]
    texts += [_statement(node, names, recording) for node in recording.nodes]
    texts.append(f"return {_expression(recording.outputs, names)}")
    makes = [*([value] for value in inputs), *(list(node.makes) for node in recording.nodes), []]
    reads = [*([] for _ in inputs), *(list(node.reads) for node in recording.nodes), list(values_in(recording.outputs))]
    maker = {value: row for row in reversed(range(len(makes))) for value in makes[row]}
    arrows = [(x, maker[x], row) for row, values in enumerate(reads) for x in dict.fromkeys(values) if x in maker]
    columns = assign_lanes([(start, end) for _, start, end in arrows], apart=0.5)
    left = 20 + _LANE * (max(columns, default=0) + 1)
    sheet = Sheet(f"A graph of {len(recording.nodes)} calls: {'; '.join(texts)}")
    for row, text in enumerate(texts):
        y = 20 + row * _STEP
        sheet.rect(left, y - 12, 5, 18, _colour(makes[row], recording), round=2)
        call, sign, result = text.partition("  # ")
        longest = max(24, int((PAGE - left - 14) / text_width("m", _FONT)) - len(sign + result))
        short = call if len(call) <= longest else f"{call[: longest - 1]}…"
        sheet.text(left + 14, y, short + sign + result, size=_FONT, anchor="start", title=call)
    for (value, start, end), column in zip(arrows, columns, strict=True):
        # The arrow leaves a line at its left, goes down at x, and comes back.
        x, right, y, colour = left - 4 - _LANE * (column + 1), left - 4, 16 + end * _STEP, _colour([value], recording)
        sheet.path(f"M{right:g} {16 + start * _STEP:g}H{x:g}V{y:g}H{right:g}", stroke=colour, opacity=0.7)
        sheet.path(f"M{right - 4:g} {y - 3.5:g}L{right:g} {y:g}L{right - 4:g} {y + 3.5:g}", stroke=colour)
    return Picture(sheet)


def _colour(values: Iterable[Value], recording: Recording) -> str:
    """Return the colour of a ragged structure, by its number in the names ``j1``, ``j2``."""
    ragged = [match for value in values if (match := re.search(r"\bj(\d+)", recording.facts[value.number].text))]
    return line_color(int(ragged[0][1]) - 1) if ragged else _GREY
