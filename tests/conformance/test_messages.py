"""What an adapter is told: the call, and never what must come out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pynested.conformance import messages
from pynested.conformance.corpus import Case, Selection, load_corpus
from pynested.conformance.problems import KitError
from pynested.conformance.runner import plan


def test_a_request_holds_the_call_and_nothing_else(vectors: Path) -> None:
    corpus = load_corpus(vectors)
    requests = [request for job in plan(corpus, Selection()) for request in job.requests()]
    assert len(requests) == 2 * (2 * 5 + 2)  # two calls in five placements, and one to refuse in two
    allowed = {"cmd", "seq", "op", "layout", "placement", "args", "kwargs", "wrt", "cotangent"}
    assert all(set(request) <= allowed for request in requests)
    text = json.dumps(requests)
    for word in ("expect", "clauses", "near", "cmp", "kind", "show", "SUM-1", "sum/float32"):
        assert word not in text


@pytest.mark.parametrize(
    "leak",
    [
        {"expect": {}},
        {"clauses": ["SUM-1"]},
        {"args": [{"dense": {"dtype": "float32", "shape": [], "bits": "00000000", "cmp": "exact"}}]},
        {"kwargs": {"dim": {"tol": "00"}}},
        {"cotangent": {"list": [{"nested": {"hi": []}}]}},
    ],
)
def test_a_request_that_shows_more_is_refused(leak: dict[str, Any]) -> None:
    with pytest.raises(KitError, match="would show the adapter"):
        messages.seal({"cmd": "run", "seq": 1, "op": "sum", "args": [], "kwargs": {}, **leak})


def test_names_of_a_mapping_show_nothing_and_are_kept() -> None:
    array = {"dense": {"dtype": "float32", "shape": [], "bits": "00000000"}}
    shown = {"mapping": {"show": {"dense": {**array["dense"], "show": "0"}}, "tol": array}}
    case = Case("f", "f/x/1", ("F-1",), ("jagged",), [shown], {}, {"python": True})
    assert messages.run(case, "jagged", "packed", [])["args"] == [{"mapping": {"show": array, "tol": array}}]
    with pytest.raises(KitError, match="would show the adapter"):
        messages.seal({"seq": 1, "op": "f", "args": [{"mapping": {"w": {"dense": {"hi": ""}}}}], "kwargs": {}})


def test_a_cotangent_that_carries_an_expectation_stops_the_run(rewrite: Callable[..., Path]) -> None:
    def leak(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**cases[0], "cotangent": {"nested": {**cases[0]["cotangent"]["nested"], "cmp": "exact"}}}]

    with pytest.raises(KitError, match="cotangent.nested: has no field 'cmp'"):
        load_corpus(rewrite(leak))


def test_a_case_may_say_where_its_operands_may_lie(rewrite: Callable[..., Path]) -> None:
    folder = rewrite(lambda cases: [{**cases[0], "placements": ["packed", "holes"]}])
    requests = plan(load_corpus(folder), Selection(layouts=("jagged",)))[0].requests()
    assert [one["placement"] for one in requests] == ["packed", "holes-nan", "holes-max", "bare"]


def test_a_case_may_say_which_operands_require_grad() -> None:
    jobs = {job.case.id: job for job in plan(load_corpus(), Selection(ops=("add",), layouts=("strided",)))}
    alone = {id_: job for id_, job in jobs.items() if job.case.tracked is not None}
    assert {tuple(job.wrt) for job in alone.values()} == {(0,), (1,)}
    for job in alone.values():
        assert job.wrt == job.case.tracked
        assert [number for number, one in enumerate(job.case.gradient) if one is not None] == job.wrt
    assert jobs["add/float32/ragged/1"].wrt == [0, 1]


def test_a_cotangent_that_cannot_be_read_is_a_fault_of_the_kit(rewrite: Callable[..., Path]) -> None:
    def wild(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
        cases[0]["cotangent"]["nested"]["bits"][0] = "n" * 16
        return cases

    with pytest.raises(KitError, match=r"sum/float32/ragged/1: cotangent.nested: decode: wildcard words"):
        load_corpus(rewrite(wild))
