"""A clause that begins with one value of an argument speaks of no call that lacks it."""

from __future__ import annotations

import dataclasses

import pytest

from pynested.conformance.conditions import speaks_of
from pynested.conformance.corpus import Case, Corpus, load_corpus

X = {"nested": {"dtype": "float32", "shape": [1, None, 2], "shapes": [[1, 2]], "bits": ["3f8000003f800000"]}}
Y = {"dense": {"dtype": "float32", "shape": [2], "bits": "3f8000003f800000"}}
ONE, TWO, NONE, FALSE = {"int": "1"}, {"int": "2"}, None, False


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return load_corpus()


def call(op: str, *args: object, **kwargs: object) -> Case:
    return Case(f"{op}/float32/made/1", op, (), ("jagged",), args, kwargs, {"python": None})


@pytest.mark.parametrize(
    ("clause", "speaks", "args", "kwargs"),
    [
        ("MEAN-2", True, [X], {}),  # `dim` is None where nothing is said
        ("MEAN-2", True, [X, NONE], {}),
        ("MEAN-2", False, [X, {"int": "-3"}], {}),
        ("MEAN-2", False, [X], {"dim": {"list": [ONE, TWO]}}),
        ("MEAN-3", True, [X, {"int": "-3"}], {}),
        ("MEAN-3", True, [X], {"dim": {"list": [TWO, {"int": "0"}]}}),
        ("MEAN-3", True, [X, NONE], {}),
        ("MEAN-3", False, [X, {"int": "-2"}], {}),
        ("MEAN-1", True, [X, ONE], {}),
        ("SUM-4", True, [X, ONE], {"keepdim": True}),
        ("SUM-4", False, [X, ONE], {"keepdim": FALSE}),
        ("SUM-6", True, [X], {"dtype": {"dtype": "float64"}}),
        ("SUM-6", False, [X], {}),
        ("CAT-1", True, [{"list": [X, X]}], {}),
        ("CAT-1", False, [{"list": [X, X]}], {"dim": {"int": "-2"}}),
        ("CAT-2", True, [{"list": [X, X]}], {"dim": {"int": "-2"}}),
        ("CAT-2", False, [{"list": [X, X]}], {"dim": {"int": "-3"}}),
        ("STACK-5", True, [{"list": [X, X]}, {"int": "-4"}], {}),  # counted in the shape of the result
        ("STACK-5", False, [{"list": [X, X]}, {"int": "-3"}], {}),
        ("SELECT-2", False, [X, ONE, {"int": "0"}], {}),
        ("SPLIT-1", True, [X, {"list": [ONE, ONE]}], {"dim": TWO}),
        ("SPLIT-1", False, [X, ONE], {"dim": TWO}),
        ("SPLIT-2", False, [X, {"list": [ONE, ONE]}], {"dim": TWO}),
        ("SPLIT-2", True, [X, ONE], {"dim": TWO}),
        ("GELU-1", True, [X], {}),
        ("GELU-1", False, [X], {"approximate": "tanh"}),
        ("GELU-2", True, [X], {"approximate": "tanh"}),
        ("DROPOUT-3", False, [X, {"float": "0.5"}], {}),
        ("DROPOUT-3", True, [X, {"float": "0.5"}, FALSE], {}),
        ("ADD-2", False, [X, Y], {}),
        ("ADD-2", True, [X, Y], {"alpha": TWO}),
        ("CROSS_ENTROPY-3", True, [X, X], {"reduction": "none"}),  # the second value that it names
        ("CROSS_ENTROPY-3", False, [X, X], {}),
        ("NESTED_ARRAY-3", True, [{"list": [X]}], {"dtype": NONE}),
        ("NESTED_ARRAY-3", False, [{"list": [X]}], {"dtype": {"dtype": "float64"}}),
        ("TO_PADDED_ARRAY-2", True, [X, ONE], {"output_size": {"list": [ONE, ONE, TWO]}}),  # "with it" comes later
        ("MEAN-2", True, [X, X, X, X, X], {}),  # fits no signature: nobody can say
    ],
)
def test_which_calls_a_clause_speaks_of(
    corpus: Corpus, clause: str, speaks: bool, args: list[object], kwargs: dict[str, object]
) -> None:
    op = clause.rpartition("-")[0].lower()
    assert speaks_of(corpus.clauses[clause], call(op, *args, **kwargs), corpus.table[op]) is speaks


def test_a_step_of_a_program_is_a_call(corpus: Corpus) -> None:
    """It joins along 0 first, where it is step 0; along a dimension counted from the end nobody can say."""
    program = next(one for one in corpus.cases if one.id == "tape/float32/joined-twice/1")
    cat, clauses = corpus.table["cat"], [corpus.clauses[f"CAT-{number}"] for number in (1, 2)]
    assert [speaks_of(one, program, cat, 0) for one in clauses] == [True, False]
    assert [speaks_of(one, program, cat) for one in clauses] == [True, True]
    steps = [{"op": "cat", "args": [{"list": [{"name": "x"}]}, {"int": "-3"}], "out": "y"}]
    unknown = dataclasses.replace(program, steps=steps)
    assert [speaks_of(one, unknown, cat, 0) for one in clauses] == [True, True]
