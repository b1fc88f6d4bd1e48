"""The clause of a difference is one that the call breaks: never an unspecified one, and placement where it is that."""

from __future__ import annotations

import pytest

from pynested.conformance.blame import blame
from pynested.conformance.corpus import Case, Corpus, load_corpus
from pynested.conformance.judge import Finding

WAYS = ("value", "refused", "dtype", "shape", "accepted", "error-kind", "crashed", "corrupt")


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return load_corpus()


def case(corpus: Corpus, id_: str) -> Case:
    return next(one for one in corpus.cases if one.id == id_)


def test_no_case_blames_an_unspecified_clause(corpus: Corpus) -> None:
    for one in corpus.cases:
        for part in ("error",) if one.is_error else ("forward", "gradient"):
            for verdict in WAYS:
                found = blame(one, Finding(part, verdict), corpus)
                assert found.kind_class != "unspecified", (one.id, verdict)


def test_what_differs_only_where_not_packed_is_about_placement(corpus: Corpus) -> None:
    one = case(corpus, "sum/float32/ragged/1")
    assert blame(one, Finding("forward", "value"), corpus, only_placed=True).id == "LAYOUTS-4"
    assert blame(one, Finding("forward", "value"), corpus).id == "SUM-1"
    assert blame(one, Finding("gradient", "value"), corpus).kind_class == "gradient"


@pytest.mark.parametrize("want", ["nan (7fc00000)", "inf (7f800000)", "-inf (ff800000)"])
def test_a_value_that_is_not_finite_is_about_an_edge(corpus: Corpus, want: str) -> None:
    special = case(corpus, "add/float32/special/1")
    assert blame(special, Finding("forward", "value", want), corpus).kind_class == "edge"
    assert blame(special, Finding("forward", "value", "1.0"), corpus).kind_class == "value"
