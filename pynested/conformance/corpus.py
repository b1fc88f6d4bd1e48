"""The cases to run: every vector of the specification, read, counted and digested."""

from __future__ import annotations

import fnmatch
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from pynested import spec
from pynested.spec.check import lint_cases, lint_table, lint_texts, lint_whole
from pynested.spec.check_programs import lint_programs
from pynested.spec.corpus import (
    SPEC,
    digest_of,
    load_digest,
    load_programs,
    load_vectors,
    read_programs,
    read_vectors,
)
from pynested.spec.table import Clause, Operator, load_table

from .placements import LAYOUTS
from .problems import KitError, UsageError, unknown

VECTORS = Path(spec.__file__).parent / "vectors"


@dataclass(frozen=True)
class Case:
    """One vector: a call, what it must give and, where there is one, the gradient it must give.

    ``tracked`` are the operands that require grad, where that is not every one that can. ``placements`` names where
    they may lie for the call to be allowed; empty for everywhere.
    """

    id: str
    op: str
    clauses: tuple[str, ...]
    layouts: tuple[str, ...]
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    expect: Mapping[str, Any]
    near: str | None = None
    cotangent: Any = None
    gradient: Sequence[Any] = ()
    gradient_kwargs: Mapping[str, Any] = field(default_factory=dict)
    tracked: Sequence[int] | None = None
    placements: tuple[str, ...] = ()

    @property
    def is_error(self) -> bool:
        """True where the call must be refused."""
        return "error" in self.expect

    @cached_property
    def dtypes(self) -> frozenset[str]:
        """The dtypes of the operands."""
        return frozenset(dtypes_of([*self.args, *self.kwargs.values()]))

    @cached_property
    def nested(self) -> Sequence[Mapping[str, Any]]:
        """The fields of the nested operands."""
        return [fields for form, fields in forms([*self.args, *self.kwargs.values()]) if form == "nested"]

    @cached_property
    def has_no_element(self) -> bool:
        """True where no component of a nested operand has an element, or there is no component."""
        return bool(self.nested) and not any(all(shape) for fields in self.nested for shape in fields["shapes"])

    @property
    def has_no_component(self) -> bool:
        """True where there are nested operands, and none of them has a component."""
        return bool(self.nested) and not any(fields["shapes"] for fields in self.nested)

    @property
    def refuses(self) -> bool:
        """True where something must be refused."""
        return self.is_error

    @property
    def gradient_expected(self) -> bool:
        """True where at least one gradient is given."""
        return any(one is not None for one in (*self.gradient, *self.gradient_kwargs.values()))


@dataclass(frozen=True)
class Program(Case):
    """One program: steps on named inputs, which are its ``args``; what is due stands in the steps."""

    inputs: Mapping[str, Any] = field(default_factory=dict)
    leaves: tuple[str, ...] = ()  # the inputs that require grad
    steps: Sequence[Mapping[str, Any]] = ()

    @property
    def refuses(self) -> bool:
        """True where a step must be refused."""
        return any("refuse" in step for step in self.steps)


@dataclass(frozen=True)
class Corpus:
    """The operator table and every case, in the order of the table."""

    table: Mapping[str, Operator]
    cases: tuple[Case, ...]
    spec: str
    digest: str

    @cached_property
    def clauses(self) -> Mapping[str, Clause]:
        """Every clause by its id."""
        return {one.id: one for operator in self.table.values() for one in operator.clauses}

    @cached_property
    def witnesses(self) -> Counter[str]:
        """How many cases cite each clause."""
        return Counter(id_ for case in self.cases for id_ in case.clauses)

    @cached_property
    def core(self) -> frozenset[str]:
        """The ids of a part that still cites every clause and has a gradient of each operator, in each layout.

        It takes each case that has what no earlier one has; beside a call to refuse, its nearest one.
        """
        seen: set[tuple[str, str]] = set()
        kept: set[str] = set()
        for case in self.cases:
            shown = [*case.clauses, f"the gradient of {case.op}"] if case.gradient_expected else case.clauses
            new = {(layout, one) for one in shown for layout in case.layouts} - seen
            if new:
                seen |= new
                kept |= {case.id, case.near or case.id}
        return frozenset(kept)


@dataclass(frozen=True)
class Selection:
    """Which cases and layouts to run; an empty field selects everything, ``quick`` the core of the corpus."""

    ops: tuple[str, ...] = ()
    layouts: tuple[str, ...] = LAYOUTS
    match: str = ""
    kind_class: str = ""
    exclude: tuple[str, ...] = ()
    placements: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    quick: bool = False

    def pick(self, corpus: Corpus) -> Iterator[tuple[Case, str]]:
        """Yield each selected case with each selected layout that it lists."""
        for case in corpus.cases:
            wanted = (not self.ops or case.op in self.ops) and (not self.quick or case.id in corpus.core)
            wanted = wanted and (not self.match or fnmatch.fnmatchcase(case.id, self.match))
            wanted = wanted and (not self.kind_class or self.kind_class in _classes(case, corpus))
            wanted = wanted and not any(fnmatch.fnmatchcase(case.id, one) for one in self.exclude)
            if wanted and (not self.dtypes or case.dtypes & set(self.dtypes)):
                yield from ((case, layout) for layout in self.layouts if layout in case.layouts)

    def check(self, corpus: Corpus) -> None:
        """Refuse operators that the specification does not have, and a selection of nothing."""
        operators = [name for name, one in corpus.table.items() if one.has_programs or not one.is_idea]
        for name in self.ops:
            if name not in operators:
                raise unknown("operator", name, operators)
        if next(self.pick(corpus), None) is None:
            raise UsageError("no case is selected; loosen --op, --layout, --match, --class, --exclude or --dtype")


def _classes(case: Case, corpus: Corpus) -> set[str]:
    """Return the classes of the clauses that a case is about."""
    return {corpus.clauses[id_].kind_class for id_ in case.clauses}


def load_corpus(folder: Path = VECTORS, table: Mapping[str, Operator] | None = None) -> Corpus:
    """Read every vector file under ``folder`` and all that is in it; whatever does not add up is a `KitError`."""
    table = load_table() if table is None else table
    if not folder.is_dir() or not any(folder.glob("*/*.json")):
        raise UsageError(f"{folder}: holds no vectors; give a folder of chapters with JSON files in them")
    try:
        if folder == VECTORS:
            files, programs, digest = load_vectors(), load_programs(), load_digest()
        else:
            files, programs, digest = read_vectors(folder), read_programs(folder), digest_of(folder)
    except (ValueError, OSError) as damaged:
        raise KitError(f"{folder}: damaged vectors: {damaged}") from damaged
    _refuse([*lint_cases(table, files), *lint_programs(table, programs)])
    order = {name: number for number, name in enumerate(table)}
    cases = [case_of(op, entry) for op in sorted(files, key=order.__getitem__) for entry in files[op]]
    cases += [program_of(name, one) for name in sorted(programs, key=order.__getitem__) for one in programs[name]]
    return Corpus(table, tuple(cases), SPEC, digest)


def check_kit(corpus: Corpus, folder: Path) -> None:
    """Refuse to judge anybody by a specification that contradicts itself; other vectors than its own may be a part.

    Each case was held against the table when it was read.
    """
    if folder != VECTORS:
        _refuse(lint_table(corpus.table))
    else:
        _refuse([*lint_texts(corpus.table), *lint_whole(corpus.table, load_vectors(), load_programs())])


def _refuse(problems: Sequence[str]) -> None:
    if problems:
        more = f" (and {len(problems) - 1} more; python -m pynested.spec.check)" if len(problems) > 1 else ""
        raise KitError(f"{problems[0]}{more}")


def case_of(op: str, entry: Mapping[str, Any]) -> Case:
    """Return the case of an entry, whose form was checked when it was read."""
    lists = {name: tuple(entry[name]) for name in ("clauses", "layouts", "placements") if name in entry}
    return Case(op=op, **{**entry, **lists})


def program_of(chapter: str, entry: Mapping[str, Any]) -> Program:
    """Return the program of an entry, whose form was checked when it was read; its clauses are those of its steps."""
    return Program(
        id=entry["id"],
        op=chapter,
        clauses=tuple(dict.fromkeys(id_ for step in entry["steps"] for id_ in step.get("clauses", ()))),
        layouts=tuple(entry["layouts"]),
        args=list(entry["inputs"].values()),
        kwargs={},
        expect={},
        placements=tuple(entry.get("placements", ())),
        inputs=entry["inputs"],
        leaves=tuple(entry["tracked"]),
        steps=entry["steps"],
    )


def forms(value: object) -> Iterator[tuple[str, Any]]:
    """Yield the form of each JSON value that has one, and its fields; lists and mappings are gone through."""
    if isinstance(value, dict):
        ((form, fields),) = value.items()
        if form not in ("list", "mapping"):
            yield form, fields
            return
        value = list(fields.values()) if form == "mapping" else fields
    if isinstance(value, list):
        for one in value:
            yield from forms(one)


def dtypes_of(values: object) -> set[str]:
    """Return the dtypes of the arrays in JSON values."""
    return {str(fields["dtype"]) for form, fields in forms(values) if form in ("nested", "dense")}
