"""Descriptions of arrays in the output of snippets: which findings need one, and whether it shows the record.

A description is a line of `described` of a dialect: nested or dense, a dtype, and the sizes of each component.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .corpus import Case, Program
from .judge import GRADIENT, Finding
from .snippets import GRADIENTS, RESULT, RESULT_PARTS

OF_ARRAYS = ("shape", "dtype", "kind", "accepted")  # verdicts about a whole result
ANSWER = "a result: "  # begins the record of a call that must be refused

_WHOLE = {"Components": "nested", "ndarray": "dense"}  # an array where a list of them is due
_ARRAY = re.compile(
    r"Components$|ndarray$|\(|\d+ components$|a (nested|dense) result|\w+ of shape|bool|u?int\d|float\d"
    r"|nested|dense|an array of type|a ragged tensor"
)
_LISTED = re.compile(r"an array of type (.*)|a ragged tensor [^:]*: (.*)", re.DOTALL)  # words of adapters
_LINE = re.compile(r"^(nested|dense) (?:torch\.)?(\w+)(.*)$", re.MULTILINE)
_SIZES = re.compile(r"\(\)|\(\d+,\)|\(\d+(?:, \d+)+\)")
_AT_COMPONENT = re.compile(r"  at component (\d+)")
_CUT = "…"  # ends a record that is too long


@dataclass(frozen=True)
class Description:
    """An array, or each component of one, as a snippet describes it."""

    is_nested: bool
    dtype: str
    shapes: tuple[tuple[int, ...], ...]

    @property
    def count(self) -> int:
        """The number of components, or of rows of a dense array."""
        return len(self.shapes) if self.is_nested else self.shapes[0][0] if self.shapes[0] else 0

    def shape(self, component: int | None) -> tuple[int, ...] | None:
        """Return the shape of a component, or of a dense array."""
        if component is None or not self.is_nested:
            return None if self.is_nested else self.shapes[0][0 if component is None else 1 :]
        return self.shapes[component] if component < len(self.shapes) else None


def described_in(case: Case, finding: Finding) -> str:
    """Return which arrays the snippet of a finding describes, or nothing."""
    got = finding.got.removeprefix(ANSWER)
    if finding.verdict not in OF_ARRAYS:
        return ""
    if isinstance(case, Program):
        return RESULT if finding.verdict != "accepted" and _ARRAY.match(got) else ""
    if finding.part == GRADIENT:
        return GRADIENTS if _ARRAY.match(got) else ""
    if got.startswith("a list of ") or ("list" in case.expect and got not in _WHOLE and _ARRAY.match(got)):
        return RESULT_PARTS
    return RESULT if _ARRAY.match(got) else ""


def is_described(finding: Mapping[str, Any], printed: str) -> bool:
    """Return whether a description that a snippet prints is that of the record.

    >>> is_described({"part": "forward", "want": "(3,)  at component 1", "got": "(2,)"}, "nested float32 (1,) (2,)")
    True
    >>> is_described({"part": "forward", "want": "(3,)  at component 1", "got": "(2,)"}, "nested float32 (2,) (1,)")
    False
    """
    got = finding["got"].removeprefix(ANSWER)
    if listed := _LISTED.match(got):
        return (listed[1] or listed[2]).removesuffix(_CUT) in printed
    descriptions = [
        Description(word == "nested", dtype, tuple(map(_sizes, _SIZES.findall(rest))))
        for word, dtype, rest in _LINE.findall(printed)
    ]
    if count := re.fullmatch(r"a list of (\d+)", got):
        return len(descriptions) == int(count[1])
    component = _AT_COMPONENT.search(finding["want"])
    place = int(component[1]) if component and finding["part"] != GRADIENT else None
    return any(_is_of(one, got, place, finding["part"] == GRADIENT) for one in descriptions)


def _is_of(description: Description, got: str, component: int | None, is_gradient: bool) -> bool:
    """Return whether a description agrees with a record; a gradient may be that of the values of all components."""
    word = "nested" if description.is_nested else "dense"
    if kind := re.match(r"a (nested|dense) result", got):
        return kind[1] == word
    if got in _WHOLE:
        return _WHOLE[got] == word
    if count := re.fullmatch(r"(\d+) components", got):
        return description.count == int(count[1])
    if whole := re.match(r"(nested|dense) (\w+) (?:with components|of shape) ", got):
        shapes = tuple(map(_sizes, _SIZES.findall(got)))
        seen = description.shapes[: len(shapes)] if got.endswith(_CUT) else description.shapes
        return (word, description.dtype, seen) == (whole[1], whole[2], shapes)
    if foreign := re.match(r"(\w+) of shape ", got):
        return description.dtype == foreign[1]
    if not got.startswith("("):
        return description.dtype == got
    if not _SIZES.fullmatch(got):  # of no components, of which some sizes are irregular
        return description.is_nested and not description.shapes
    if is_gradient:
        return _sizes(got) in description.shapes
    return description.shape(component) == _sizes(got) or (description.is_nested and not description.shapes)


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", text)))
