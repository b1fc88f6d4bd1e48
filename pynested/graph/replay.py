"""Replay: a graph becomes one Python function, a line for each node, which the interpreter runs without looking at it.

    def replay(v0, v1):
        v2 = f0(v0)
        v3 = f1(v2, v1)
        del v2
        return v3

A value is forgotten after the line that reads it last, so that its memory is used again.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Sequence
from functools import partial
from types import CodeType, TracebackType
from typing import Any

from pynested.autograd.modes import Mode
from pynested.backends.errors import TraceError

from .forms import CONTAINERS, Same, Value, alike, filled, parts, values_in
from .nodes import Node, Spot

_RECORDED = "In the function that was recorded,"
_LITERALS = (int, bool, str, type(None), type(...))
Run = Callable[..., Any]


class Changed(TraceError):
    """A replay found something else than the function had seen when it was recorded."""


def runner(inputs: Sequence[Value], nodes: Sequence[Node], outputs: Any) -> Run:
    """The function of ``inputs`` that calls ``nodes`` one after the other and gives what ``outputs`` says."""
    return _Writer(inputs, nodes, outputs).function()


class _Writer:
    """The text of one replay, and the objects that it names."""

    def __init__(self, inputs: Sequence[Value], nodes: Sequence[Node], outputs: Any) -> None:
        self.names: dict[str, Any] = {"Mode": Mode}
        self.lines = [f"def replay({', '.join(map(repr, inputs))}):"]
        self.spots: list[Spot | None] = [None]
        self.mode: int | None = None
        last = _last_readers(nodes, outputs)
        for i, node in enumerate(nodes):
            self._write(node)
            gone = [value for value in last.get(i, ()) if value not in inputs]
            if gone:
                self._line(f"del {', '.join(map(repr, gone))}", None)
        self.mode = None
        self._line(f"return {self._text(outputs)}", None)

    def _line(self, text: str, where: Spot | None) -> None:
        self.lines.append(("    " if self.mode is None else "        ") + text)
        self.spots.append(where)

    def _write(self, node: Node) -> None:
        if node.mode != self.mode:
            self.mode = None
            if node.mode is not None:
                self._line(f"with Mode({node.mode}):", None)
            self.mode = node.mode
        call = f"{self._named(node.function)}({self._arguments(node)})"
        if type(node.results) is Value:
            self._line(f"{node.results!r} = {call}", node.spot)
        elif node.effect and not _looked_at(node.results):
            self._line(call, node.spot)
        else:
            check = self._named(partial(_taken, node))
            made = list(_new_values(node.results))
            back = [value for value in values_in(node.results) if value not in made]
            call = f"{check}({call}, {self._text(tuple(back))})"
            self._line(f"{', '.join(map(repr, made))}, = {call}" if made else call, node.spot)

    def _arguments(self, node: Node) -> str:
        given = [self._text(one) for one in node.args]
        return ", ".join([*given, *(f"{name}={self._text(one)}" for name, one in node.kwargs.items())])

    def _text(self, form: Any) -> str:
        """A form as an expression."""
        if type(form) is Value or type(form) in _LITERALS:
            return repr(form)
        inner = list(dict.fromkeys(values_in(form)))
        if type(form) in (tuple, list):
            texts = [self._text(one) for one in form]
            return f"[{', '.join(texts)}]" if type(form) is list else f"({''.join(text + ', ' for text in texts)})"
        if type(form) is slice:
            return f"slice({', '.join(self._text(one) for one in parts(form))})"
        if not inner:
            return self._named(form)
        things = ", ".join(f"{value.number}: {value!r}" for value in inner)
        return f"{self._named(partial(filled, form))}({{{things}}})"

    def _named(self, thing: Any) -> str:
        name = f"_{len(self.names)}"
        self.names[name] = thing
        return name

    def function(self) -> Run:
        """Compile the text; an error in it says the line of the user's code that it comes from."""
        text = "\n".join(self.lines) + "\n"
        file = f"<graph {id(self)}>"
        code: CodeType = compile(text, file, "exec")
        exec(code, self.names)
        replay, spots = self.names["replay"], self.spots

        def run(*given: Any) -> Any:
            try:
                return replay(*given)
            except Exception as error:
                _say_where(error, file, spots)
                raise

        run.__doc__ = text
        return run


def _looked_at(results: Any) -> bool:
    """Whether there is anything to see in what a call with an effect gave: ``x.add_(1)`` gives x."""
    return type(results) is not Same and results is not None


def _new_values(form: Any) -> list[Value]:
    """The values that a result makes, without those that it gives back."""
    if type(form) is Value:
        return [form]
    if isinstance(form, CONTAINERS):
        return [value for one in parts(form) for value in _new_values(one)]
    return []


def _last_readers(nodes: Sequence[Node], outputs: Any) -> dict[int, list[Value]]:
    """For each node the values that nobody needs after it."""
    last: dict[Value, int] = {}
    for i, node in enumerate(nodes):
        for value in (*_new_values(node.results), *node.reads, *node.makes):
            last[value] = i
    for value in values_in(outputs):
        last.pop(value, None)
    gone: dict[int, list[Value]] = {}
    for value, i in last.items():
        gone.setdefault(i, []).append(value)
    return gone


def _taken(node: Node, result: Any, back: tuple[Any, ...]) -> list[Any]:
    """The values in a result, if it is as it was when it was recorded; ``back`` are those it may give back."""
    found: list[Any] = []
    if not _fits(node.results, result, list(back), found):
        seen = "the same array again" if type(node.results) is Same else repr(node.results)
        raise Changed(
            f"graph: {node.name} gives {result!r} here, and gave {seen} when the function was recorded, which may do "
            f"something else now, at {node.spot}. Trace it again with such arguments, or compile it, which does so."
        )
    return found


def _fits(form: Any, result: Any, back: list[Any], found: list[Any]) -> bool:
    if type(form) is Value:
        found.append(result)
        return True
    if type(form) is Same:
        return result is back.pop(0)
    if isinstance(form, CONTAINERS):
        if type(result) is not type(form) or len(parts(form)) != len(parts(result)):
            return False
        return all(_fits(one, other, back, found) for one, other in zip(parts(form), parts(result), strict=True))
    return alike(form, result)


def _say_where(error: Exception, file: str, spots: Sequence[Spot | None]) -> None:
    """Add the line of the user's code to an error of a replay, if one inside of it has not done so."""
    if any(note.startswith(_RECORDED) for note in getattr(error, "__notes__", ())):
        return
    trace: TracebackType | None = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            where = spots[trace.tb_lineno - 1]
            if where is not None and not isinstance(error, Changed):
                text = linecache.getline(where.file, where.line).strip()
                error.add_note(f"{_RECORDED} at {where}:\n    {text}")
        trace = trace.tb_next
