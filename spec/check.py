"""The linter of the specification: table, definitions, vectors and chapters must speak of the same things.

`python -m pynested.spec.check` prints what is wrong, and how much there is.
"""

from __future__ import annotations

import inspect
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from .bounds import BOUNDS, NO_TOLERANCE
from .check_programs import lint_programs, witnessed
from .corpus import Case, load_programs, load_vectors, read_programs, read_vectors
from .definitions import definition
from .encoding import decode_value
from .programs import Program
from .render import stale_chapters
from .table import CLASSES, TESTS, VECTORS, Clause, Operator, load_table
from .table import ERRORS as KINDS

__all__ = ["KINDS", "counts", "lint", "lint_cases", "lint_table", "lint_texts", "lint_vectors", "lint_whole"]

Table = Mapping[str, Operator]
Corpus = Mapping[str, list[Case]]


def lint() -> list[str]:
    """Return everything that is wrong with the specification on disk."""
    table = load_table()
    problems = lint_texts(table)
    try:
        return problems + lint_vectors(table, read_vectors(), read_programs())
    except ValueError as damaged:
        return [*problems, str(damaged)]


def lint_texts(table: Table) -> list[str]:
    """Return what is wrong with what people write: table, definitions and chapters."""
    return [*lint_table(table), *lint_definitions(table), *stale_chapters()]


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
    if clause.shown_by not in (VECTORS, TESTS):
        yield f"{clause.id}: shown_by {clause.shown_by!r} is neither {VECTORS} nor {TESTS}"
    if clause.error is not None and clause.error not in KINDS:
        yield f"{clause.id}: kind {clause.error!r} is no kind of error"


def _parameters(operator: Operator) -> list[str] | None:
    """Return the names of the parameters in the signature, or None where it cannot be read."""
    try:
        return list(operator.call.parameters)
    except ValueError:
        return None


def lint_definitions(table: Table) -> list[str]:
    """Return the operators without a definition, and definitions whose parameters are not the operator's."""
    return [problem for operator in table.values() if not operator.is_idea for problem in _definition(operator)]


def _definition(operator: Operator) -> Iterator[str]:
    try:
        define = definition(operator.name)
    except ModuleNotFoundError:
        yield f"{operator.name}: no definition"
        return
    own = list(inspect.signature(define).parameters)
    listed = _parameters(operator) or []
    if [name for name in listed if name in own] != own:
        yield f"{operator.name}: the definition takes {own}, the signature says {listed}"


def lint_vectors(table: Table, corpus: Corpus, programs: Mapping[str, list[Program]]) -> list[str]:
    """Return what is wrong with cases and programs, operators without vectors and clauses without a witness."""
    return [*lint_cases(table, corpus), *lint_programs(table, programs), *lint_whole(table, corpus, programs)]


def lint_whole(table: Table, corpus: Corpus, programs: Mapping[str, list[Program]]) -> list[str]:
    """Return what only all of the vectors can lack: operators without any, and clauses without a witness."""
    missing = [name for name, operator in table.items() if not operator.is_idea and name not in corpus]
    missing += [name for name, operator in table.items() if operator.has_programs and name not in programs]
    return [*(f"{name}: no vectors" for name in sorted(missing)), *_unwitnessed(_clauses(table), corpus, programs)]


def lint_cases(table: Table, corpus: Corpus) -> list[str]:
    """Return ids used twice, dangling clauses, calls that no operator takes and errors without a call to accept.

    The form of each case was checked when it was read.
    """
    known = [name for name in corpus if name in table and not table[name].is_idea]
    problems = [f"{name}: vectors of an operator that the table does not know" for name in corpus if name not in known]
    seen = Counter(case["id"] for cases in corpus.values() for case in cases)
    problems += [f"{id_}: the id of {times} cases" for id_, times in seen.items() if times > 1]
    clauses = _clauses(table)
    for name in known:
        accepted = {case["id"] for case in corpus[name] if "error" not in case["expect"]}
        for case in corpus[name]:
            problems += [f"{case['id']}: {one}" for one in _case_problems(table[name], case, clauses, accepted)]
    return problems


def _clauses(table: Table) -> dict[str, Clause]:
    return {clause.id: clause for operator in table.values() for clause in operator.clauses}


def _case_problems(operator: Operator, case: Case, clauses: Mapping[str, Clause], accepted: set[str]) -> Iterator[str]:
    if not case["id"].startswith(f"{operator.name}/"):
        yield f"is filed under {operator.name}"
    dangling = [id_ for id_ in case["clauses"] if id_ not in clauses]
    if dangling:
        yield f"clauses: cites {dangling}, which the table does not have"
    if "error" in case["expect"]:
        cited = [clauses[id_] for id_ in case["clauses"] if id_ in clauses]
        yield from _error_problems(case, cited, accepted)
    if case["expect"].get("error") != {"kind": "ArgumentError"}:  # which may be about the arguments themselves
        yield from _call_problems(operator, case)
    if _all_ones(case.get("cotangent")):
        yield "the cotangent is all ones, which hides what is summed in the wrong place"


def _error_problems(case: Case, cited: list[Clause], accepted: set[str]) -> Iterator[str]:
    kind = case["expect"]["error"]["kind"]
    if kind not in KINDS:
        yield f"expect.error: kind {kind!r} is no kind of error"
    if case["near"] not in accepted:
        yield f"near: {case['near']!r} is no accepted case of the operator"
    kinds = {clause.error for clause in cited if clause.kind_class == "error"}
    if kind not in kinds:
        yield f"expects {kind}, but cites clauses of {sorted(str(one) for one in kinds)}"


def _call_problems(operator: Operator, case: Case) -> Iterator[str]:
    try:
        operator.call.bind(*case["args"], **case["kwargs"])
    except (TypeError, ValueError) as wrong:
        yield f"args and kwargs: {wrong}; the signature is {operator.signature}"


def _all_ones(cotangent: Any) -> bool:
    if cotangent is None:
        return False
    value = decode_value(cotangent)
    numbers = [number for array in (value if isinstance(value, list) else [value]) for number in _flat(array)]
    return len(numbers) > 1 and all(number == 1 for number in numbers)


def _flat(value: Any) -> list[float]:
    return [number for part in value for number in _flat(part)] if isinstance(value, list) else value.ravel().tolist()


def _unwitnessed(clauses: Mapping[str, Clause], corpus: Corpus, programs: Mapping[str, list[Program]]) -> Iterator[str]:
    cases = [case for group in corpus.values() for case in group]
    values = {id_ for case in cases if "error" not in case["expect"] for id_ in case["clauses"]}
    errors = {id_ for case in cases if "error" in case["expect"] for id_ in case["clauses"]}
    values |= witnessed(programs, refused=False)
    errors |= witnessed(programs, refused=True)
    for clause in clauses.values():
        shown = clause.id in (errors if clause.kind_class == "error" else values)
        if shown != (clause.shown_by == VECTORS):
            wrong = f"a vector witnesses it, and shown_by is {TESTS}" if shown else "no vector witnesses it"
            yield f"{clause.id}: {wrong}"


def counts() -> dict[str, int]:
    """Return how much there is: operators, clauses, cases, and cases by the way they are judged."""
    table, cases = load_table(), [case for group in load_vectors().values() for case in group]
    judged = Counter(_judged(case["expect"]) for case in cases)
    return {
        "operators": sum(not operator.is_idea for operator in table.values()),
        "clauses": sum(len(operator.clauses) for operator in table.values()),
        "cases": len(cases),
        "programs": sum(map(len, load_programs().values())),
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
    try:
        summary = ", ".join(f"{count} {name}" for name, count in counts().items())
    except ValueError:  # which is one of the problems
        summary = "the cases cannot be counted"
    print("\n".join([*problems, summary]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
