"""How a case is authored: inputs, clause ids and what to compare; the expectation is computed, rarely given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..components import Components, is_several, of_parts, parts_of

__all__ = ["BOTH", "Book", "Case", "shapes_of"]

AUTO = "auto"
Layouts = tuple[str, ...]
BOTH: Layouts = ("strided", "jagged")


@dataclass(frozen=True)
class Case:
    """One call and how its answer is to be expected.

    `cmp` is exact or bound. `dtype` is the dtype of the result where it is not the promoted one. `kind` says dense or
    nested, or which for each layout; plain is one dense operand in, one array out. `result` overrides the definition (a
    batch of no components, for instance). `zeros` is "either" where the sign of a zero is open; `unspecified` lists the
    flat positions, leaf by leaf, whose value is open (True: all), `unspecified_gradient` the same of gradients given by
    hand. `gradient` is "auto", None, or the gradients by hand, one per differentiable operand, as trees of numbers.
    `drawn` says which cotangent is drawn: whole numbers, of which none is 0, with zeros among them, or fine ones.
    `tracked` are the positions that require grad, if not all do that can. `several` says that the result is a list;
    `placements` are all unless some are named.
    """

    op: str
    id: str
    clauses: tuple[str, ...]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    layouts: Layouts
    cmp: str = "exact"
    dtype: str | None = None
    kind: Any = None
    result: Any = None
    zeros: str = "signed"
    unspecified: Any = ()
    unspecified_gradient: Any = ()
    gradient: Any = AUTO
    cotangent: Any = None
    drawn: str = "whole"
    tracked: tuple[int, ...] | None = None
    error: str | None = None
    near: str | None = None
    several: bool = False
    placements: tuple[str, ...] = ()


@dataclass
class Book:
    """The cases of one operator, numbered within their group in the order in which they are written down.

    What the operator's cases have in common: `zeros`, whether signs of zeros are open; `several`, whether it returns a
    list of arrays; `placements`, where components may lie in memory if not anywhere; `cmp`, as of a case. `part` names
    the file of cases that came when others were frozen.
    """

    op: str
    zeros: str = "signed"
    several: bool = False
    placements: tuple[str, ...] = ()
    cmp: str = "exact"
    part: str = ""
    cases: list[Case] = field(default_factory=list)
    counted: Counter[str] = field(default_factory=Counter)  # the cases of each group

    def value(self, group: str, clauses: str, args: Sequence[Any], /, **options: Any) -> str:
        """Add a case with a value and return its id; `kw` in the options holds the keyword arguments."""
        return self._add(group, clauses, args, options)

    def error(self, group: str, clauses: str, kind: str, near: str, args: Sequence[Any], /, **options: Any) -> None:
        """Add a refused call, and the same call without components; `near` is the id of the nearest accepted one."""
        self.error_inside(group, clauses, kind, near, args, **options)
        kwargs = options.get("kw", {})
        nested = [one for value in (*args, *kwargs.values()) for one in _nested(value)]
        if any(nested):
            batches = {(len(one), len(one.shape)) for one in nested}
            options["kw"] = {name: _without_components(value, batches) for name, value in kwargs.items()}
            options["layouts"] = self.cases[-1].layouts
            empty = [_without_components(value, batches) for value in args]
            self.error_inside(f"{group}-batch0", clauses, kind, near, empty, **options)

    def error_inside(
        self, group: str, clauses: str, kind: str, near: str, args: Sequence[Any], /, **options: Any
    ) -> None:
        """Add a call that is refused for what a component is: without components there is nothing to refuse."""
        self._add(f"error/{group}", clauses, args, {**options, "error": kind, "near": near, "gradient": None})

    def _add(self, group: str, clauses: str, args: Sequence[Any], options: dict[str, Any]) -> str:
        id_ = f"{self.op}/{group}/{self.counted[f'{self.op}/{group}'] + 1}"
        kwargs = options.pop("kw", {})
        layouts = options.pop("layouts", None) or _layouts([*args, *kwargs.values()])
        common: dict[str, Any] = {"zeros": self.zeros, "several": self.several, "placements": self.placements}
        common["cmp"] = self.cmp
        ids = tuple(one if "-" in one else f"{self.op.upper()}-{one}" for one in clauses.split())
        self.append(Case(self.op, id_, ids, tuple(args), kwargs, layouts, **(common | options)))
        return id_

    def append(self, case: Case) -> None:
        """Add a case that has its id."""
        self.cases.append(case)
        self.counted[case.id.rpartition("/")[0]] += 1


def _layouts(values: Sequence[Any]) -> Layouts:
    """Return the layouts that can express every nested operand: jagged has exactly one irregular dimension."""
    nested = [one for value in values for one in _nested(value)]
    jagged = all(sum(size is None for size in one.shape) == 1 for one in nested)
    return BOTH if jagged else BOTH[:1]


def _nested(value: Any) -> list[Components]:
    if isinstance(value, Components):
        return [value]
    return [one for part in parts_of(value) for one in _nested(part)]


def _without_components(value: Any, batches: Collection[tuple[int, int]]) -> Any:
    """Return an argument whose nested operands, and dense ones with the size and rank of a batch, are empty."""
    if isinstance(value, Components) or (isinstance(value, np.ndarray) and (*value.shape[:1], value.ndim) in batches):
        return value[:0]
    parts = [_without_components(part, batches) for part in parts_of(value)]
    return of_parts(value, parts) if is_several(value) else value


def shapes_of(value: Any) -> list[tuple[int | None, ...]]:
    """Return the logical shapes of every nested and dense operand in a value."""
    if isinstance(value, (Components, np.ndarray)):
        return [value.shape]
    return [shape for part in parts_of(value) for shape in shapes_of(part)]
