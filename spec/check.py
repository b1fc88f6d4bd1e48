"""The linter of the specification: table, definitions, vectors and chapters must speak of the same things.

`python -m pynested.spec.check` prints what is wrong, and how much there is.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from .bounds import BOUNDS, NO_TOLERANCE
from .compare import Expected
from .corpus import Case, load_vectors
from .encoding import decode_value
from .render import stale_chapters
from .table import CLASSES, Clause, Operator, load_table

__all__ = ["KINDS", "counts", "lint", "lint_table", "lint_vectors"]

KINDS = (
    "ArgumentError",
    "DTypeError",
    "DeviceError",
    "DimensionError",
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
)
LAYOUTS = ("strided", "jagged")

Table = Mapping[str, Operator]
Corpus = Mapping[str, list[Case]]


def lint() -> list[str]:
    """Return everything that is wrong with the specification on disk."""
    table, corpus = load_table(), load_vectors()
    return [*lint_table(table), *lint_definitions(table), *lint_vectors(table, corpus), *stale_chapters()]


def lint_table(table: Table) -> list[str]:
    """Return what is wrong with the table itself."""
    problems = [problem for operator in table.values() for problem in _operator_problems(operator)]
    used = Counter(clause.id for operator in table.values() for clause in operator.clauses)
    return problems + [f"{id_}: used {times} times" for id_, times in used.items() if times > 1]


def _operator_problems(operator: Operator) -> Iterator[str]:
    last = 0
    for clause in operator.clauses:
        prefix, _, number = clause.id.rpartition("-")
        if prefix != operator.name.upper() or not number.isdecimal() or int(number) <= last:
            yield f"{clause.id}: the clauses of {operator.name} are {operator.name.upper()}-n with numbers that rise"
        last = int(number) if number.isdecimal() else last
        yield from _clause_problems(clause)
    if operator.is_idea:
        return
    parameters = _parameters(operator)
    if parameters is None:
        yield f"{operator.name}: the signature is not that of a function {operator.name}"
    elif set(operator.differentiable) - set(parameters):
        yield f"{operator.name}: differentiable {operator.differentiable} are not all parameters"
    if operator.precision not in (*NO_TOLERANCE, *BOUNDS):
        yield f"{operator.name}: precision {operator.precision!r} is no bound"


def _clause_problems(clause: Clause) -> Iterator[str]:
    if clause.kind_class not in CLASSES:
        yield f"{clause.id}: class {clause.kind_class!r} is none of {', '.join(CLASSES)}"
    if (clause.kind_class == "error") != (clause.error is not None):
        yield f"{clause.id}: an error clause, and no other, says its kind"
    if clause.error is not None and clause.error not in KINDS:
        yield f"{clause.id}: kind {clause.error!r} is no kind of error"


def _parameters(operator: Operator) -> list[str] | None:
    """Return the names of the parameters in the signature, or None where it cannot be read."""
    match = re.fullmatch(rf"{operator.name}\((.*)\) -> .+", operator.signature)
    return re.findall(r"(?:^|, )\**(\w+)(?=:)", match[1]) if match else None


def lint_definitions(table: Table) -> list[str]:
    """Return the operators without a definition, and definitions whose parameters are not the operator's."""
    return [problem for operator in table.values() if not operator.is_idea for problem in _definition(operator)]


def _definition(operator: Operator) -> Iterator[str]:
    try:
        module = importlib.import_module(f"pynested.spec.definitions.{operator.name}")
    except ModuleNotFoundError:
        yield f"{operator.name}: no definition"
        return
    own = list(inspect.signature(getattr(module, operator.name)).parameters)
    listed = _parameters(operator) or []
    if [name for name in listed if name in own] != own:
        yield f"{operator.name}: the definition takes {own}, the signature says {listed}"


def lint_vectors(table: Table, corpus: Corpus) -> list[str]:
    """Return dangling ids, clauses without a witness, operators without vectors and cases that are not in order."""
    clauses = {clause.id: clause for operator in table.values() for clause in operator.clauses}
    operators = {name for name, operator in table.items() if not operator.is_idea}
    problems = [f"{name}: no vectors" for name in sorted(operators - set(corpus))]
    problems += [f"{name}: vectors of an operator that the table does not know" for name in set(corpus) - operators]
    seen = Counter(case["id"] for cases in corpus.values() for case in cases)
    problems += [f"{id_}: the id of {times} cases" for id_, times in seen.items() if times > 1]
    for name, cases in corpus.items():
        accepted = {case["id"] for case in cases if "error" not in case["expect"]}
        for case in cases:
            problems += [f"{case['id']}: {problem}" for problem in _case_problems(name, case, clauses, accepted)]
    return problems + list(_unwitnessed(clauses, corpus))


def _case_problems(op: str, case: Case, clauses: Mapping[str, Clause], accepted: set[str]) -> Iterator[str]:
    if not case["id"].startswith(f"{op}/"):
        yield f"is filed under {op}"
    if not case["layouts"] or set(case["layouts"]) - set(LAYOUTS):
        yield f"layouts {case['layouts']}"
    if not case["clauses"]:
        yield "cites no clause"
    dangling = [id_ for id_ in case["clauses"] if id_ not in clauses]
    if dangling:
        yield f"cites {dangling}, which the table does not have"
    cited = [clauses[id_] for id_ in case["clauses"] if id_ in clauses]
    if "error" in case["expect"]:
        yield from _error_problems(case, cited, accepted)
    elif any(clause.kind_class == "error" for clause in cited) and "near" in case:
        yield "an accepted case has no nearest accepted call"
    yield from _word_problems(case)


def _error_problems(case: Case, cited: list[Clause], accepted: set[str]) -> Iterator[str]:
    kind = case["expect"]["error"].get("kind")
    if kind not in KINDS:
        yield f"kind {kind!r} is no kind of error"
    if case.get("near") not in accepted:
        yield f"near {case.get('near')!r} is no accepted case of the operator"
    kinds = {clause.error for clause in cited if clause.kind_class == "error"}
    if kind not in kinds:
        yield f"expects {kind}, but cites clauses of {sorted(str(one) for one in kinds)}"


def _word_problems(case: Case) -> Iterator[str]:
    try:
        for value in [*case["args"], *case["kwargs"].values(), *([case["cotangent"]] if "cotangent" in case else [])]:
            decode_value(value)
        for expected in [case["expect"], *case.get("gradient", []), *case.get("gradient_kwargs", {}).values()]:
            _read_expected(expected)
    except (KeyError, TypeError, ValueError) as problem:
        yield f"cannot be read: {problem}"
        return
    if _all_ones(case.get("cotangent")):
        yield "the cotangent is all ones, which hides what is summed in the wrong place"


def _read_expected(expected: Any) -> None:
    if expected is None or "python" in expected or "error" in expected:
        return
    if "list" in expected:
        for part in expected["list"]:
            _read_expected(part)
    elif "dense" in expected:
        Expected.from_words(expected["dense"])
    else:
        for number in range(len(expected["nested"]["shapes"])):
            Expected.from_words(expected["nested"], number)


def _all_ones(cotangent: Any) -> bool:
    if cotangent is None:
        return False
    value = decode_value(cotangent)
    numbers = [number for array in (value if isinstance(value, list) else [value]) for number in _flat(array)]
    return len(numbers) > 1 and all(number == 1 for number in numbers)


def _flat(value: Any) -> list[float]:
    return [number for part in value for number in _flat(part)] if isinstance(value, list) else value.ravel().tolist()


def _unwitnessed(clauses: Mapping[str, Clause], corpus: Corpus) -> Iterator[str]:
    cases = [case for group in corpus.values() for case in group]
    values = {id_ for case in cases if "error" not in case["expect"] for id_ in case["clauses"]}
    errors = {id_ for case in cases if "error" in case["expect"] for id_ in case["clauses"]}
    for clause in clauses.values():
        if clause.id not in (errors if clause.kind_class == "error" else values):
            yield f"{clause.id}: no vector witnesses it"


def counts() -> dict[str, int]:
    """Return how much there is: operators, clauses, cases, and cases by the way they are judged."""
    table, cases = load_table(), [case for group in load_vectors().values() for case in group]
    judged = Counter(_judged(case["expect"]) for case in cases)
    return {
        "operators": sum(not operator.is_idea for operator in table.values()),
        "clauses": sum(len(operator.clauses) for operator in table.values()),
        "cases": len(cases),
        **{name: judged[name] for name in ("exact", "bound", "error")},
        "gradients": sum("gradient" in case for case in cases),
    }


def _judged(expected: Any) -> str:
    if "list" in expected:
        return "bound" if any(_judged(part) == "bound" for part in expected["list"]) else "exact"
    if "error" in expected:
        return "error"
    fields = expected.get("nested") or expected.get("dense") or {}
    return str(fields.get("cmp", "exact"))


def main() -> int:
    """Print the problems and the counts; 1 where there is a problem."""
    problems = lint()
    print("\n".join([*problems, ", ".join(f"{count} {name}" for name, count in counts().items())]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
