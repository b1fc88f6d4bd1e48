"""A clause, or an operator, with its definition and the vectors that witness it; or one of these by its id."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pynested import spec
from pynested.spec.compare import expected_components
from pynested.spec.definitions import ENTRIES
from pynested.spec.encoding import decode_value, show
from pynested.spec.function import Function
from pynested.spec.pairs import Pair
from pynested.spec.reductions import Reduction
from pynested.spec.runwise import RunWise
from pynested.spec.table import Clause, Operator

from .corpus import Case, Corpus, Program
from .literals import call_in_words
from .placements import PACKED
from .problems import unknown
from .programs import in_words

_WIDTH = 98
_MOST = 5
_LONGEST = 72


def explain(name: str, corpus: Corpus, verbose: int = 0) -> str:
    """Return what the specification holds about ``SOFTMAX-3``, ``softmax`` or ``softmax/float32/ragged/1``."""
    case = next((one for one in corpus.cases if one.id == name), None)
    if case is not None:
        return "\n".join(_one_case(case, corpus)) + "\n"
    if "/" in name:
        raise unknown("case", name, [one.id for one in corpus.cases])
    by_fold = {one.casefold(): one for one in (*corpus.clauses, *corpus.table)}
    found = by_fold.get(name.casefold())
    if found is None:
        raise unknown("clause, operator or case", name, by_fold.values())
    lines = _clause(found, corpus, verbose) if found in corpus.clauses else _operator(corpus.table[found], corpus)
    return "\n".join(lines) + "\n"


def _clause(id_: str, corpus: Corpus, verbose: int) -> Iterator[str]:
    clause = corpus.clauses[id_]
    operator = next(one for one in corpus.table.values() if clause in one.clauses)
    yield f"{clause.id}   {_class(clause)}   {_place(operator)}"
    yield from _paragraph(clause.text)
    yield ""
    yield from _definition(operator)
    witnesses = [case for case in corpus.cases if id_ in case.clauses]
    yield f"Witnessed by {_count(len(witnesses))}" if witnesses else "No case witnesses it."
    for case in witnesses if verbose else witnesses[:_MOST]:
        yield from _case(case, corpus.table[case.op])
        if clause.kind_class == "gradient":
            yield from _gradient(case)
    if len(witnesses) > _MOST and not verbose:
        yield f"  and {len(witnesses) - _MOST} more; -v shows all"


def _operator(operator: Operator, corpus: Corpus) -> Iterator[str]:
    yield _place(operator)
    yield from _paragraph(operator.summary)
    yield ""
    for clause in operator.clauses:
        yield f"{clause.id}   {_class(clause)}   {_count(corpus.witnesses[clause.id])}"
        yield from _paragraph(clause.text)
    yield ""
    yield from _definition(operator)


def _one_case(case: Case, corpus: Corpus) -> Iterator[str]:
    """Yield a case, and the clauses that it bears out."""
    yield _place(corpus.table[case.op])
    yield from _case(case, corpus.table[case.op])
    yield from _gradient(case)
    for id_ in case.clauses:
        yield ""
        yield f"{id_}   {_class(corpus.clauses[id_])}"
        yield from _paragraph(corpus.clauses[id_].text)


def _place(operator: Operator) -> str:
    return f"chapter {operator.name}" if operator.is_idea else f"{operator.name}, chapter {operator.chapter}"


def _count(number: int) -> str:
    return f"{number} case{'s' * (number != 1)}"


def _class(clause: Clause) -> str:
    return f"{clause.kind_class}, {clause.error}" if clause.error else clause.kind_class


def _paragraph(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="  ")


def _definition(operator: Operator) -> Iterator[str]:
    """Yield signature and definition; an idea has neither."""
    if operator.is_idea:
        return
    file, code = definition_of(operator.name)
    yield from (operator.signature, "", file)
    yield from textwrap.indent(code, "    ").splitlines()
    yield ""


def definition_of(name: str) -> tuple[str, str]:
    """Return the file that defines an operator, and the code of the definition."""
    entry = ENTRIES.get(name)
    if entry is None:
        path = Path(spec.__file__).parent / "definitions" / f"{name}.py"
        return f"spec/definitions/{path.name}", path.read_text(encoding="utf-8").rstrip()
    value = _formula(entry)
    own = inspect.isfunction(value)  # and no function of NumPy
    code = textwrap.dedent(inspect.getsource(value)).rstrip() if own else f"numpy.{value.__name__}"
    return f"spec/{type(entry).__module__.rpartition('.')[2]}.py", code


def _formula(entry: Function | Pair | Reduction | RunWise) -> Any:
    """Return what the definition of an entry follows from."""
    if isinstance(entry, RunWise):
        return entry.along
    return entry.of_run if isinstance(entry, Reduction) else entry.value


def _case(case: Case, operator: Operator) -> Iterator[str]:
    if isinstance(case, Program):
        yield from _program(case)
        return
    request = {"op": case.op, "args": case.args, "kwargs": case.kwargs, "layout": "", "placement": PACKED}
    yield f"  {case.id}   {' and '.join(case.layouts)}"
    yield f"    {call_in_words(request, operator)}"
    shown = [_shown(value) for value in (*case.args, *case.kwargs.values())]
    yield from (f"    given     {text}" for text in shown if text)
    yield f"    expected  {_expected(case.expect)}"


def _program(program: Program) -> Iterator[str]:
    """Yield the inputs of a program, and its steps with what is due at each."""
    yield f"  {program.id}   {' and '.join(program.layouts)}"
    for name, value in program.inputs.items():
        leaf = ", requires grad" if name in program.leaves else ""
        yield f"    {name:4} {_shown(value) or 'nothing'}{leaf}"
    for number, step in enumerate(program.steps, 1):
        yield f"    {number:>3}. {in_words(step):<34}{_due(step)}".rstrip()


def _due(step: Mapping[str, Any]) -> str:
    """Return what a step must come to, and the clauses that it shows."""
    if "clauses" not in step:
        return ""
    if "expect" in step:
        due = _expected(step["expect"])
    elif "open" in step:
        due = "whatever it is"
    else:
        due = step["refuse"] if "refuse" in step else f"done, or {step['may_refuse']}"
    return f"{due}   {' '.join(step['clauses'])}"


def _gradient(case: Case) -> Iterator[str]:
    """Yield what is pulled back and what arrives at each argument."""
    if case.gradient_expected:
        yield f"    cotangent {_expected(case.cotangent)}"
        found = [*case.gradient, *case.gradient_kwargs.values()]
        yield from (f"    gradient  {_expected(one)}" for one in found if one is not None)


def _expected(expect: Mapping[str, Any]) -> str:
    if "error" in expect:
        return str(expect["error"]["kind"])
    if "python" in expect:
        return repr(decode_value(expect["python"]))
    if "list" in expect:
        return _cut("  ".join(_expected(one) for one in expect["list"]))
    if "mapping" in expect:
        return _cut("  ".join(f"{name}: {_expected(one)}" for name, one in expect["mapping"].items()))
    return _shown(expect)


def _shown(value: Any) -> str:
    """Return the decimals of an array; components are set apart by bars."""
    if not isinstance(value, dict):
        return ""
    form = next((one for one in ("nested", "dense") if one in value), None)
    if form is None:
        return ""
    fields = value[form]
    shown = fields["show"] if "show" in fields else decimals(form, fields)
    return _cut(" | ".join(one or "empty" for one in shown) if isinstance(shown, list) else shown)


def decimals(form: str, fields: Mapping[str, Any]) -> str | list[str]:
    """Return what a vector leaves out: the decimals of an array, or of each component."""
    if "cmp" in fields:
        texts = [show(one.values, one.wanted) for one in expected_components({form: fields})]
    else:
        array = decode_value({form: fields})
        texts = [show(one) for one in ([array] if form == "dense" else array)]
    return texts if form == "nested" else texts[0]


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
