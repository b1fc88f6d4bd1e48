"""Cases are asked in few placements, and over the cases of an operator every two of them meet."""

from __future__ import annotations

from itertools import permutations

import pytest

from pynested.conformance.arranging import arranged, mixed, placements_for
from pynested.conformance.asking import Job
from pynested.conformance.corpus import Corpus, Selection
from pynested.conformance.placements import PLACEMENTS, words
from pynested.conformance.runner import plan

MEET = ("packed", "holes-nan", "holes-max", "transposed", "reversed", "view", "bare")


@pytest.fixture(scope="module")
def corpus(some_operators: Corpus) -> Corpus:
    return some_operators


@pytest.fixture(scope="module")
def jobs(some_operators: Corpus) -> list[Job]:
    return plan(some_operators, Selection())


def of(jobs: list[Job], op: str, layout: str) -> list[Job]:
    return [job for job in jobs if (job.case.op, job.layout) == (op, layout)]


@pytest.mark.parametrize("operands", [2, 3, 7])
def test_every_two_words_meet_at_any_two_operands(operands: int) -> None:
    rows = [words(mixed(row, operands)) for row in range(42)]
    for first, second in permutations(range(operands), 2):
        assert {(row[first], row[second]) for row in rows} == set(permutations(MEET, 2))


@pytest.mark.parametrize("layout", ["jagged", "strided"])
@pytest.mark.parametrize("op", ["add", "matmul", "where", "maximum", "stack"])
def test_over_the_cases_of_an_operator_its_first_two_operands_lie_in_every_way(
    jobs: list[Job], op: str, layout: str
) -> None:
    found = {tuple(words(one)[:2]) for job in of(jobs, op, layout) for one in job.placements if "+" in one}
    assert found >= set(permutations(MEET, 2))


def test_every_operator_is_asked_for_every_word_that_makes_a_difference(jobs: list[Job]) -> None:
    for op in ("relu", "softmax", "sum", "unbind", "linear"):
        for layout in ("jagged", "strided"):
            found = {word for job in of(jobs, op, layout) if not job.case.is_error for word in job.placements}
            assert found >= set(MEET), (op, layout)
    assert {word for job in jobs for one in job.placements for word in words(one)} == set(PLACEMENTS)


def test_a_call_is_packed_first_and_one_to_refuse_has_few_placements(jobs: list[Job]) -> None:
    assert all(job.placements[0] == "packed" for job in jobs)
    assert all(len(set(job.placements)) == len(job.placements) for job in jobs)
    assert max(len(job.placements) for job in jobs if job.case.is_error) == 3


def test_a_case_by_itself_is_asked_as_in_a_whole_run(corpus: Corpus, jobs: list[Job]) -> None:
    wanted = {(job.case.id, job.layout): job.placements for job in jobs if job.case.id.endswith("axes/7")}
    alone = plan(corpus, Selection(match="*/axes/7"))
    assert {(job.case.id, job.layout): job.placements for job in alone} == wanted
    assert len(wanted) > 10


def test_a_selection_of_words_keeps_what_is_made_of_them(corpus: Corpus) -> None:
    few = plan(corpus, Selection(ops=("add",), placements=("packed", "bare")))
    found = {one for job in few for one in job.placements}
    assert found == {"packed", "bare", "packed+bare", "bare+packed"}


def test_what_overlaps_has_no_gradient(jobs: list[Job]) -> None:
    overlapping = [job for job in jobs if "overlapping" in job.placements]
    assert len(overlapping) > 10
    for job in overlapping:
        assert "cotangent" not in job.request("overlapping")
        assert ("cotangent" in job.request("packed")) == (job.case.cotangent is not None)


def test_words_that_change_nothing_are_not_asked(corpus: Corpus) -> None:
    cases = {case.id: case for case in corpus.cases}
    vectors = placements_for(cases["relu/float32/batch1-len1/1"])
    assert "transposed" not in vectors and "apart" not in vectors and "view" in vectors
    assert "apart" in placements_for(cases["add/float32/ragged/1"])
    dense = cases["add/float32/plain/1"]
    assert placements_for(dense) == ("packed",)
    assert all(one == ("packed",) for one in arranged([dense]).values())


def test_a_refusal_is_asked_where_the_nearest_allowed_call_is(jobs: list[Job]) -> None:
    placed = {(job.case.id, job.layout): job.placements for job in jobs}
    near = [(job, placed[job.case.near, job.layout]) for job in jobs if job.case.near]
    assert len(near) > 100
    beside = [job for job, allowed in near if set(job.placements) <= set(allowed)]
    assert len(beside) > 0.8 * len(near)  # the others have operands of another kind than the call beside them
