"""The operator table: what `spec/operators/*.toml` says, as frozen dataclasses.

One file is one chapter and one table in it is one operator. Most functions of one element are entries of
`functions.py`, many of two entries of `pairs.py`, and reductions that are said run by run entries of `reductions.py`.
A table that holds nothing but clauses is an idea (values, layouts, gradients ...); the file `ideas.toml` collects them,
and each is a chapter of its own. So is each table of `programs.toml`, whose clauses are shown by programs.
"""

from __future__ import annotations

import ast
import functools
import inspect
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .function import Function
from .functions import FUNCTIONS
from .pairs import Pair, pairs_of
from .reductions import REDUCTIONS, Reduction
from .runwise import RUNWISE, RunWise

__all__ = [
    "CLASSES",
    "ENTRIES",
    "ERRORS",
    "FAMILIES",
    "TESTS",
    "VECTORS",
    "Clause",
    "Operator",
    "chapters",
    "clause",
    "clauses",
    "load_table",
    "read_tables",
    "run_wise",
]

ERRORS = (
    "ArgumentError",
    "DTypeError",
    "DeviceError",
    "DimensionError",
    "DivisionByZero",
    "EmptyReductionError",
    "ExchangeError",
    "GradientError",
    "IndexOutOfRange",
    "LayoutError",
    "MissingDependency",
    "OverflowError",
    "ReadOnlyError",
    "ShapeError",
    "StructureError",
    "TraceError",
)
CLASSES = ("shape", "dtype", "value", "edge", "error", "gradient", "unspecified")
IDEAS, PROGRAMS = "ideas", "programs"  # the files whose tables hold nothing but clauses

# The chapters that hold operators, in reading order.
FAMILIES = (
    "elementwise",
    "comparison",
    "reduction",
    "normalization",
    "products",
    "movement",
    "conversion",
    "losses",
    "scan",
    "attention",
)

# The tables of Python, by the chapter that they belong to.
Entries = Mapping[str, Function | Pair | Reduction | RunWise]
ENTRIES: Mapping[str, Entries] = {
    "elementwise": {**FUNCTIONS, **pairs_of("elementwise")},
    "comparison": pairs_of("comparison"),
    "reduction": REDUCTIONS,
    "normalization": RUNWISE,
}

_FOLDER = Path(__file__).parent / "operators"
_NAMED, _SEVERAL = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.VAR_POSITIONAL
_BY_NAME = inspect.Parameter.KEYWORD_ONLY
_FIELDS = {"signature", "summary", "since", "torch", "peers", "precision", "differentiable", "clauses"}
_CLAUSE_FIELDS = {"class", "kind", "text", "shown_by"}
VECTORS, TESTS = "vectors", "tests"  # what shows a clause


@dataclass(frozen=True)
class Clause:
    """A numbered sentence: `SOFTMAX-3`, its class, its text, and for errors the kind of error.

    ``shown_by`` is "vectors", or "tests" where no vector can show it: those of an implementation, which name the
    clause. What a program would have to be handed for it, a function or a generator, has no form in JSON.
    """

    id: str
    kind_class: str
    text: str
    error: str | None = None
    shown_by: str = VECTORS


@dataclass(frozen=True)
class Operator:
    """One operator of the table; an idea is an operator without signature, definition and vectors."""

    name: str
    chapter: str
    summary: str
    signature: str
    since: str
    torch: str
    peers: Mapping[str, str]
    precision: str
    differentiable: tuple[str, ...]
    clauses: tuple[Clause, ...]

    @property
    def is_idea(self) -> bool:
        """True for a table that holds clauses only."""
        return self.chapter in (IDEAS, PROGRAMS)

    @property
    def has_programs(self) -> bool:
        """True for a table whose clauses are shown by programs."""
        return self.chapter == PROGRAMS

    @property
    def call(self) -> inspect.Signature:
        """The parameters of the signature; a `ValueError` where it is not that of a function of this name."""
        return _call(self.name, self.signature)


@functools.cache
def _call(name: str, signature: str) -> inspect.Signature:
    try:
        (definition,) = ast.parse(f"def {signature}: ...").body
    except SyntaxError as error:
        raise ValueError(f"{name}: the signature {signature!r} cannot be read") from error
    if not isinstance(definition, ast.FunctionDef) or definition.name != name:
        raise ValueError(f"{name}: the signature is not that of a function {name}")
    return _signature(definition.args)


def _signature(arguments: ast.arguments) -> inspect.Signature:
    """Return names, kinds and which have a default; nothing is evaluated."""

    def parameter(name: str, kind: Any, default: bool) -> inspect.Parameter:
        return inspect.Parameter(name, kind, default=... if default else inspect.Parameter.empty)

    positional = [*arguments.posonlyargs, *arguments.args]
    required = len(positional) - len(arguments.defaults)
    by_name = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return inspect.Signature(
        [
            *(parameter(one.arg, _NAMED, number >= required) for number, one in enumerate(positional)),
            *([parameter(arguments.vararg.arg, _SEVERAL, False)] if arguments.vararg else []),
            *(parameter(one.arg, _BY_NAME, default is not None) for one, default in by_name),
        ]
    )


def read_tables(folder: Path = _FOLDER, entries: Mapping[str, Entries] = ENTRIES) -> dict[str, Operator]:
    """Read every table under `folder`, chapters in reading order and then ideas; unknown fields are refused."""
    files = sorted(folder.glob("*.toml"), key=lambda path: (_rank(path.stem), path.stem))
    table: dict[str, Operator] = {}
    for path in files:
        for name, fields in tomllib.loads(path.read_text(encoding="utf-8")).items():
            if name in table:
                raise ValueError(f"{path.name}: [{name}] is already a table of {table[name].chapter}")
            table[name] = _operator(name, path.stem, fields)
        of_chapter = entries.get(path.stem, {})
        table |= {name: _operator(name, path.stem, one.fields()) for name, one in of_chapter.items()}
    return table


def _rank(chapter: str) -> int:
    return FAMILIES.index(chapter) if chapter in FAMILIES else len(FAMILIES)


def _operator(name: str, chapter: str, fields: Mapping[str, Any]) -> Operator:
    unknown = set(fields) - _FIELDS
    missing = {"clauses"} if chapter in (IDEAS, PROGRAMS) else _FIELDS - {"peers", "torch"}
    missing -= set(fields)
    if unknown or missing:
        raise ValueError(f"{chapter}.toml [{name}]: unknown fields {sorted(unknown)}, missing {sorted(missing)}")
    return Operator(
        name=name,
        chapter=chapter,
        summary=fields.get("summary", ""),
        signature=fields.get("signature", ""),
        since=fields.get("since", "0.1"),
        torch=fields.get("torch", ""),
        peers=dict(fields.get("peers", {})),
        precision=fields.get("precision", ""),
        differentiable=tuple(fields.get("differentiable", ())),
        clauses=tuple(_clause(chapter, id_, entry) for id_, entry in fields["clauses"].items()),
    )


def _clause(chapter: str, id_: str, entry: Mapping[str, str]) -> Clause:
    unknown, missing = set(entry) - _CLAUSE_FIELDS, {"class", "text"} - set(entry)
    if unknown or missing:
        raise ValueError(f"{chapter}.toml {id_}: unknown fields {sorted(unknown)}, missing {sorted(missing)}")
    return Clause(id_, entry["class"], entry["text"], entry.get("kind"), entry.get("shown_by", VECTORS))


@functools.cache
def load_table() -> dict[str, Operator]:
    """Return the table of this specification, operators in reading order, then ideas."""
    return read_tables()


def run_wise() -> list[str]:
    """Return the names of the operators that keep the shape and work along one dimension."""
    table = load_table().values()
    return [one.name for one in table if one.signature and list(one.call.parameters) == ["self", "dim", "dtype"]]


def clauses() -> dict[str, Clause]:
    """Return every clause by its id."""
    return {one.id: one for operator in load_table().values() for one in operator.clauses}


def clause(id_: str) -> Clause:
    """Return the clause with this id, for example `clause("SOFTMAX-3")`."""
    found = clauses().get(id_)
    if found is None:
        raise KeyError(f"clause: the table has no {id_!r}")
    return found


def chapters() -> tuple[str, ...]:
    """Return the names of all chapters: the ideas in table order, then the families in reading order."""
    table = load_table().values()
    ideas = [operator.name for operator in table if operator.is_idea]
    return *ideas, *(family for family in FAMILIES if any(operator.chapter == family for operator in table))
