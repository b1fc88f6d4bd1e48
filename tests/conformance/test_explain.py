"""`pynested explain`: a clause with its definition and its witnesses."""

from __future__ import annotations

import pytest

from pynested.conformance.corpus import Corpus, load_corpus
from pynested.conformance.explain import decimals, explain
from pynested.conformance.problems import UsageError


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return load_corpus()


def test_a_clause_is_shown_with_definition_and_witnesses(corpus: Corpus) -> None:
    text = explain("SOFTMAX-1", corpus)
    assert text.startswith("SOFTMAX-1   value   softmax, chapter normalization\n")
    assert corpus.table["softmax"].signature in text and "spec/runwise.py\n    def _softmax(" in text
    assert "Witnessed by" in text and "softmax(x, dim=1); x: nested float32" in text and "    expected  " in text
    assert "-v shows all" in text and len(explain("SOFTMAX-1", corpus, verbose=1)) > len(text)


def test_a_gradient_clause_shows_what_is_pulled_back(corpus: Corpus) -> None:
    text = explain("SUM-9", corpus)
    assert "    cotangent " in text and "    gradient  " in text


def test_decimals_that_a_vector_leaves_out_are_worked_out() -> None:
    exact = {"dtype": "float32", "cmp": "exact", "shape": [2, 2], "bits": "3f800000nnnnnnnnuuuuuuuu80000000"}
    assert decimals("dense", exact) == "1 nan; any -0"
    two = {"dtype": "float64", "shapes": [[1], [0]], "cmp": "bound"}
    parts = {name: ["0" * 16, ""] for name in ("lo", "tol")}
    assert decimals("nested", {**two, "hi": ["3ff8" + "0" * 12, ""], **parts}) == ["1.5", ""]
    assert decimals("dense", {"dtype": "int8", "shape": [3], "bits": "0102ff"}) == "1 2 -1"
    given = {"dtype": "bool", "shape": [2, None], "shapes": [[0], [2]], "bits": ["", "10"]}
    assert decimals("nested", given) == ["", "True False"]


def test_an_operator_lists_its_clauses(corpus: Corpus) -> None:
    text = explain("softmax", corpus)
    for clause in corpus.table["softmax"].clauses:
        assert f"{clause.id}   {clause.kind_class}" in text


def test_names_are_found_whatever_their_case(corpus: Corpus) -> None:
    assert explain("errors-1", corpus).startswith("ERRORS-1   error, DimensionError   chapter errors\n")


def test_every_clause_can_be_explained(corpus: Corpus) -> None:
    for id_ in corpus.clauses:
        assert max(map(len, explain(id_, corpus, verbose=1).split("spec/definitions")[0].splitlines()[:3])) < 110


def test_a_clause_that_does_not_exist(corpus: Corpus) -> None:
    with pytest.raises(UsageError, match="did you mean SOFTMAX-"):
        explain("SOFTMAX-99", corpus)


def test_a_case_is_shown_with_its_clauses(corpus: Corpus) -> None:
    text = explain("amax/float32/minus-inf/1", corpus)
    assert text.startswith("amax, chapter reduction\n") and "expected  -inf 2" in text and "AMAX-1   value" in text
