"""The linter finds nothing in the specification, and something in every specification that was spoiled."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pynested.spec.check import counts, lint, lint_cases, lint_definitions, lint_table, lint_vectors
from pynested.spec.corpus import load_programs, load_vectors
from pynested.spec.table import Clause, Operator, load_table

Corpus = dict[str, list[Any]]


def test_the_specification_is_clean() -> None:
    assert lint() == []


def test_at_least_half_of_the_values_need_no_tolerance() -> None:
    count = counts()
    assert count["cases"] == count["exact"] + count["bound"] + count["error"]
    assert count["exact"] >= count["bound"]


def spoiled(**changes: Any) -> dict[str, Operator]:
    table = dict(load_table())
    table["softmax"] = replace(table["softmax"], **changes)
    return table


def with_clause(number: int, **changes: Any) -> dict[str, Operator]:
    own = list(load_table()["softmax"].clauses)
    own[number - 1] = replace(own[number - 1], **changes)
    return spoiled(clauses=tuple(own))


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        (with_clause(1, id="SOFTMAX-2"), "SOFTMAX-2: used 2 times"),
        (with_clause(1, id="SOFTMAX-77"), "numbers that rise"),
        (with_clause(1, id="SUM-1"), "are SOFTMAX-n"),
        (with_clause(1, kind_class="opinion"), "'opinion' is none of"),
        (with_clause(1, error="DTypeError"), "an error clause, and no other"),
        (with_clause(4, error=None), "an error clause, and no other"),
        (with_clause(4, error="AxisError"), "'AxisError' is no kind"),
        (spoiled(signature="soft_max(self: Nested) -> Nested"), "signature"),
        (spoiled(differentiable=("weight",)), "differentiable"),
        (spoiled(precision="good"), "'good' is no bound"),
    ],
)
def test_a_spoiled_table_is_refused(table: dict[str, Operator], problem: str) -> None:
    assert any(problem in found for found in lint_table(table))


def test_a_missing_definition_is_found() -> None:
    table = {**load_table(), "unheard_of": replace(load_table()["softmax"], name="unheard_of")}
    assert "unheard_of: no definition" in lint_definitions(table)
    renamed = spoiled(signature="softmax(self: Nested, axis: int) -> Nested")
    assert any("the definition takes" in found for found in lint_definitions(renamed))


def error_of(cases: list[Any]) -> Any:
    return next(case for case in cases if "error" in case["expect"])


def drop_error_cases(corpus: Corpus) -> None:
    corpus["softmax"] = [case for case in corpus["softmax"] if "error" not in case["expect"]]


def repeat_id(corpus: Corpus) -> None:
    corpus["softmax"][1]["id"] = corpus["softmax"][0]["id"]


def dangle(corpus: Corpus) -> None:
    corpus["softmax"][0]["clauses"].append("SOFTMAX-99")


def other_kind(corpus: Corpus) -> None:
    error_of(corpus["softmax"])["expect"]["error"]["kind"] = "ShapeError"


def near_an_error(corpus: Corpus) -> None:
    case = error_of(corpus["softmax"])
    case["near"] = case["id"]


def only_ones(corpus: Corpus) -> None:
    nested = corpus["softmax"][0]["cotangent"]["nested"]
    nested["bits"] = ["3f800000" * (len(words) // 8) for words in nested["bits"]]


def give_too_much(corpus: Corpus) -> None:
    corpus["softmax"][0]["args"] += [None] * 9


def misspell(corpus: Corpus) -> None:
    corpus["softmax"][0]["kwargs"]["axis"] = {"int": "1"}


def forget_an_argument(corpus: Corpus) -> None:
    error_of(corpus["softmax"])["args"] = []


def misfile(corpus: Corpus) -> None:
    corpus["softmax"][0]["id"] = "sum/float32/ragged/99"


def lose_an_operator(corpus: Corpus) -> None:
    del corpus["softmax"]


def add_an_operator(corpus: Corpus) -> None:
    corpus["unheard_of"] = []


SPOILERS: list[tuple[Callable[[Corpus], None], str]] = [
    (drop_error_cases, "SOFTMAX-4: no vector witnesses it"),
    (repeat_id, "the id of 2 cases"),
    (dangle, "SOFTMAX-99"),
    (other_kind, "expects ShapeError"),
    (near_an_error, "is no accepted case"),
    (only_ones, "all ones"),
    (give_too_much, "softmax/float32/ragged/1: args and kwargs: multiple values for argument 'dim'"),
    (misspell, "unexpected keyword argument 'axis'"),
    (forget_an_argument, "missing a required argument: 'self'"),
    (misfile, "is filed under softmax"),
    (lose_an_operator, "softmax: no vectors"),
    (add_an_operator, "unheard_of: vectors of an operator"),
]


@pytest.mark.parametrize(("spoil", "problem"), SPOILERS, ids=[spoil.__name__ for spoil, _ in SPOILERS])
def test_spoiled_vectors_are_refused(spoil: Callable[[Corpus], None], problem: str) -> None:
    corpus = {**load_vectors(), "softmax": copy.deepcopy(load_vectors()["softmax"])}
    spoil(corpus)
    assert any(problem in found for found in lint_vectors(load_table(), corpus, load_programs()))


def test_a_call_may_be_refused_for_its_arguments() -> None:
    corpus = {"softmax": copy.deepcopy(load_vectors()["softmax"])}
    misspell(corpus)
    assert len(lint_cases(load_table(), corpus)) == 1
    corpus["softmax"][0] |= {"expect": {"error": {"kind": "ArgumentError"}}, "near": "softmax/float32/ragged/2"}
    assert not any("axis" in found for found in lint_cases(load_table(), corpus))


def test_damaged_vectors_are_a_problem_like_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged() -> Corpus:
        raise ValueError("reduction/sum.json: cut short")

    monkeypatch.setattr("pynested.spec.check.read_vectors", damaged)
    assert lint() == ["reduction/sum.json: cut short"]


def test_a_new_clause_needs_a_witness() -> None:
    extra = Clause("SOFTMAX-10", "value", "The sum of a run is 1.")
    table = spoiled(clauses=(*load_table()["softmax"].clauses, extra))
    assert lint_vectors(table, load_vectors(), load_programs()) == ["SOFTMAX-10: no vector witnesses it"]
