"""What programs owe the operator table: chapters, clauses and operators that are there, and calls that fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from .programs import CREATION, OF_TAPE, QUESTIONS, WRITES, Program, Step, operator_of
from .table import ERRORS, Clause, Operator

__all__ = ["lint_programs", "witnessed"]

Table = Mapping[str, Operator]
Programs = Mapping[str, list[Program]]


def lint_programs(table: Table, programs: Programs) -> list[str]:
    """Return what is wrong with programs; the form of each was checked when it was read."""
    strange = [name for name in programs if name not in table or not table[name].has_programs]
    problems = [f"{name}: programs of a chapter that the table does not know" for name in strange]
    seen = Counter(program["id"] for group in programs.values() for program in group)
    problems += [f"{id_}: the id of {times} programs" for id_, times in seen.items() if times > 1]
    clauses = {clause.id: clause for operator in table.values() for clause in operator.clauses}
    for name, group in programs.items():
        for program in group:
            problems += [f"{program['id']}: {one}" for one in _program_problems(name, program, table, clauses)]
    return problems


def _program_problems(name: str, program: Program, table: Table, clauses: Mapping[str, Clause]) -> Iterator[str]:
    steps = program["steps"]
    if not program["id"].startswith(f"{name}/"):
        yield f"is filed under {name}"
    if not any("expect" in step for step in steps):
        yield "asks nothing, and refusing everything is no merit"
    for number, step in enumerate(steps):
        yield from (f"steps[{number}]: {one}" for one in _step_problems(step, table, clauses))


def _step_problems(step: Step, table: Table, clauses: Mapping[str, Clause]) -> Iterator[str]:
    op = operator_of(step["op"])
    if op and (op not in table or table[op].is_idea):
        yield f"there is no operator {op}"
    elif step["op"] not in {*WRITES, *OF_TAPE, *CREATION, *QUESTIONS}:
        yield from _call_problems(table[op], step)
    cited = [clauses[id_] for id_ in step.get("clauses", []) if id_ in clauses]
    if len(cited) < len(step.get("clauses", [])):
        yield f"cites {step['clauses']}, of which the table has {[clause.id for clause in cited]}"
    if kind := {step.get("refuse", ""), step.get("may_refuse", "")} - {"", *ERRORS}:
        yield f"{kind.pop()!r} is no kind of error"
    errors = {clause.error for clause in cited if clause.kind_class == "error"}
    if errors != ({step["refuse"]} if "refuse" in step else set()):
        due = step.get("refuse", "no refusal")
        yield f"{due} is due, and the clauses that are cited are about {sorted(map(str, errors)) or 'no error'}"


def _call_problems(operator: Operator, step: Step) -> Iterator[str]:
    try:
        operator.call.bind(*step["args"], **step.get("kwargs", {}))
    except TypeError as wrong:
        yield f"{wrong}; the signature is {operator.signature}"


def witnessed(programs: Programs, refused: bool) -> set[str]:
    """Return the clauses that a step shows which is refused, or one that is not."""
    steps = (step for group in programs.values() for program in group for step in program["steps"])
    return {id_ for step in steps if ("refuse" in step) == refused for id_ in step.get("clauses", [])}
