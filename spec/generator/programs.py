"""How a program is written down, and how it becomes a vector: what is due is computed, but for refusals."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..components import Components
from ..corpus import SPEC
from ..encoding import encode_value
from ..programs import FORMAT
from .taped import Taped, floats_of, is_exact
from .words import exact_fields

__all__ = ["Chapter", "Draft", "chapter_text", "file_text"]

# What builds an array of one layout, whatever the others have: a program that calls it is run in that layout only.
_OF_ONE_LAYOUT = {"nested_array_from_jagged": "jagged", "nested_array_from_strided": "strided"}


@dataclass
class Draft:
    """A program while it is written down. Names of arrays are given as text; ``clauses`` by number, or in full."""

    chapter: str
    id: str
    inputs: dict[str, Any]
    tracked: list[str]
    layouts: list[str]
    placements: list[str]
    steps: list[dict[str, Any]] = field(default_factory=list)

    def do(self, op: str, *args: Any, out: Any = None, **kwargs: Any) -> Draft:
        """Add a step that has to succeed."""
        return self._add(op, args, kwargs, {} if out is None else {"out": out})

    def ask(self, clauses: str, op: str, *args: Any) -> Draft:
        """Add a question."""
        return self._add(op, args, {}, {"clauses": self._ids(clauses), "expect": {}})

    def ask_kind(self, clauses: str, name: str) -> Draft:
        """Add the question what an array is, of which the shape and the dtype are due and no element is."""
        return self._add("value", (name,), {}, {"clauses": self._ids(clauses), "expect": {"elements": "any"}})

    def refuse(self, clauses: str, kind: str, op: str, *args: Any, **kwargs: Any) -> Draft:
        """Add a step that has to be refused."""
        return self._add(op, args, kwargs, {"clauses": self._ids(clauses), "refuse": kind})

    def may_refuse(self, clauses: str, kind: str, op: str, *args: Any, **kwargs: Any) -> Draft:
        """Add a step that may be refused, which ends the program."""
        return self._add(op, args, kwargs, {"clauses": self._ids(clauses), "may_refuse": kind})

    def ask_open(self, clauses: str, op: str, *args: Any) -> Draft:
        """Add a question whose answer is left open."""
        return self._add(op, args, {}, {"clauses": self._ids(clauses), "open": True})

    def _ids(self, clauses: str) -> list[str]:
        return [one if "-" in one else f"{self.chapter.upper()}-{one}" for one in clauses.split()]

    def _add(self, op: str, args: Any, kwargs: Any, due: dict[str, Any]) -> Draft:
        step: dict[str, Any] = {"op": op, "args": [_written(one) for one in args]}
        if kwargs:
            step["kwargs"] = {name: _written(value) for name, value in kwargs.items()}
        return self.step(step | due)

    def step(self, step: dict[str, Any]) -> Draft:
        """Add a step as data; a program that makes an array of one layout is run in that layout only."""
        self.layouts = [one for one in self.layouts if one == _OF_ONE_LAYOUT.get(step["op"], one)]
        self.steps.append(step)
        return self

    def vector(self) -> dict[str, Any]:
        """Return the program as data, with what is due."""
        inputs = {name: encode_value(value) for name, value in self.inputs.items()}
        machine = Taped(self.inputs, self.tracked, self.layouts[0])
        for step in self.steps:
            if "refuse" in step or "open" in step:
                continue
            answer = machine.step(step)
            if "expect" in step:
                asked = machine.names[step["args"][0]["name"]]
                if asked.drawn and step["op"] == "value" and not step["expect"]:
                    raise ValueError("the elements of a new array that is random or empty are nobody's to expect")
                step["expect"] = _expected(answer, asked.dtype.name, open_places=bool(step["expect"]))
        placed = {"placements": self.placements} if self.placements else {}
        head = {"id": self.id, "layouts": self.layouts, **placed, "inputs": inputs, "tracked": self.tracked}
        return {**head, "steps": self.steps}


def _written(value: Any) -> Any:
    """Return an argument as data: a text is the name of an array."""
    if isinstance(value, str):
        return {"name": value}
    if isinstance(value, list):
        return {"list": [_written(one) for one in value]}
    return encode_value(value)


def _expected(answer: Any, dtype: str, open_places: bool) -> dict[str, Any]:
    if not isinstance(answer, (Components, np.ndarray)):
        return {"python": encode_value(answer)}
    if not is_exact(answer) or np.dtype(dtype).kind != "f":
        dtype = dtype if isinstance(answer, Components) else answer.dtype.name  # offsets are integers
        return exact_fields(answer, None, dtype, strict=True, zeros="signed", open_places=open_places or ())
    return exact_fields(
        floats_of(answer, dtype), answer, dtype, strict=True, zeros="either", open_places=open_places or ()
    )


@dataclass
class Chapter:
    """The programs of one chapter, numbered within their group."""

    name: str
    drafts: list[Draft] = field(default_factory=list)

    def program(
        self, group: str, tracked: str = "", *, layouts: str = "strided jagged", placements: str = "", **inputs: Any
    ) -> Draft:
        """Begin a program; ``inputs`` are its arrays by name."""
        start = f"{self.name}/{next(iter(inputs.values())).dtype.name}/{group}/"
        number = 1 + sum(draft.id.rpartition("/")[0] + "/" == start for draft in self.drafts)
        wanted = tracked.split(), layouts.split(), placements.split()
        self.drafts.append(Draft(self.name, f"{start}{number}", inputs, *wanted))
        return self.drafts[-1]


def chapter_text(chapter: Chapter, line: Any) -> str:
    """Return the file of a chapter; ``line`` writes one value."""
    lines = []
    for draft in chapter.drafts:
        try:
            lines.append(line(draft.vector()))
        except Exception as problem:
            problem.add_note(f"while building {draft.id}")
            raise
    return file_text(chapter.name, lines, line)


def file_text(chapter: str, lines: list[str], line: Any) -> str:
    """Return the file of a chapter, given the text of each program."""
    head = {"format": FORMAT, "spec": SPEC, "chapter": chapter, "count": len(lines)}
    return str(line(head))[:-1] + ',\n"programs":[\n' + ",\n".join(lines) + "\n]}\n"
