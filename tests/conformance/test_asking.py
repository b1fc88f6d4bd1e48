"""A call that differs is asked again, and its dense operator is asked; a target that is right is asked once."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from pynested.conformance.adapters.base import PythonAdapter
from pynested.conformance.asking import Asked, Job, agrees_where, is_of_descriptions
from pynested.conformance.conform import conform
from pynested.conformance.corpus import Selection, load_corpus
from pynested.conformance.judge import Finding, judge
from pynested.conformance.kinds import Second, kind_of
from pynested.conformance.records import Record, Run
from pynested.conformance.replies import Refusal, Reply
from pynested.conformance.report import Report
from pynested.conformance.session import InProcess
from pynested.spec.components import each
from pynested.spec.encoding import decode_value


class Offers(PythonAdapter):
    """An adapter that offers the dense operator, declares a convention, and counts what it is asked."""

    asked = 0

    def start(self, device: str) -> dict[str, Any]:
        return {**super().start(device), "dense": "the dense one", "conventions": "promotion"}

    def run(self, message: dict[str, Any]) -> dict[str, Any]:
        self.asked += 1
        return super().run(message)


def kinds(run: Run) -> set[str]:
    return {finding["kind"] for one in run.results for finding in one["findings"] if "kind" in finding}


def first(run: Run) -> Record:
    return next(finding for one in run.results for finding in one["findings"])


def held(vectors: Path, target: Any, dense: Any = None) -> tuple[Run, Offers | PythonAdapter]:
    adapter = PythonAdapter(target) if dense is None else Offers(target, dense)
    return conform(load_corpus(vectors), Selection(), lambda: InProcess(adapter), None, io.StringIO()), adapter


def test_the_dense_operator_says_whose_difference_it_is(vectors: Path, miniature: ModuleType) -> None:
    own, _ = held(vectors, miniature.DropsRow(), miniature.Right())
    assert kinds(own) == {"nested"} and first(own)["dense"] == "as specified"
    assert "the dense one: as specified" in Report(own).text()
    both, _ = held(vectors, miniature.DropsRow(), miniature.DropsRow())
    assert kinds(both) == {"dense"} and first(both)["dense"].startswith("value: 1.0")
    neither, _ = held(vectors, miniature.DropsRow())
    assert kinds(neither) == {"differs"} and "dense" not in first(neither)


def test_a_declared_convention_is_no_difference(vectors: Path, miniature: ModuleType) -> None:
    run, _ = held(vectors, miniature.WrongDType(), miniature.WrongDType())
    assert run.exit_code == 0 and not kinds(run)
    assert {one["parts"]["forward"] for one in run.results if "forward" in one["parts"]} == {"convention"}
    text = " ".join(Report(run).text().split())
    assert "Conventions of its own that WrongDType declares, which are no differences: promotion (dtypes as " in text
    assert "as its dense operators have them) in 4 checks of sum, as float64 where float32" in text
    other, _ = held(vectors, miniature.WrongDType(), miniature.Right())
    assert kinds(other) == {"nested"}


def test_a_target_that_is_right_is_asked_nothing_twice(vectors: Path, miniature: ModuleType) -> None:
    right, adapter = held(vectors, miniature.Right(), miniature.Right())
    assert not kinds(right) and isinstance(adapter, Offers)
    assert adapter.asked == sum(len(one["placements"]) for one in right.results)


def test_what_the_dense_operator_was_not_asked_is_not_said_of_its_gradient(
    vectors: Path, miniature: ModuleType
) -> None:
    class Cannot(miniature.Right):  # type: ignore[name-defined, misc]
        def rows(self, number: int) -> Any:
            raise NotImplementedError("it joins components")

    run, _ = held(vectors, miniature.RefusesGradient(), Cannot())
    found = [one for row in run.results for one in row["findings"] if one["part"] == "gradient"]
    assert {(one["verdict"], one["kind"], one["dense"]) for one in found} == {
        ("refused", "limit", "not asked: it joins components")
    }


@pytest.mark.parametrize(
    ("answered", "parts"),
    [
        (True, [("forward", "ok"), ("gradient", "crashed")]),  # there is a value, and nobody has lost it
        (False, [("forward", "crashed"), ("gradient", "unreached")]),
    ],
)
def test_a_loss_that_does_not_come_again_is_of_what_was_asked_last(answered: bool, parts: list[Any]) -> None:
    case = next(one for one in load_corpus().cases if one.id == "neg/float32/ragged/1")
    value = each(np.negative, decode_value(case.args[0]))
    reply = Reply("value", value=value) if answered else Reply("error", refusal=Refusal("ValueError", "no"))
    found = judge(case, "jagged", replace(reply, unsteady="SIGSEGV"))
    assert [(one.part, one.verdict) for one in found] == parts
    assert [kind_of(one, Second()) for one in found if one.verdict == "crashed"] == ["unsteady"]


@pytest.mark.parametrize("phase", ["read", "gradient"])
def test_a_result_that_cannot_be_read_is_no_refusal(vectors: Path, miniature: ModuleType, phase: str) -> None:
    class Unreadable(miniature.Right):  # type: ignore[name-defined, misc]
        def read(self, result: Any) -> Any:
            raise IndexError("offsets beyond the values")

        def refuse(self, dim: int) -> None:
            return None

    class OtherWhenTracked(miniature.Right):  # type: ignore[name-defined, misc]
        def operand(self, value: Any, place: Any, tracked: bool) -> Any:
            self.tracked = tracked
            return super().operand(value, place, tracked)

        def one(self, number: int) -> Any:
            return super().one(number) + np.float32(self.tracked)

    run, _ = held(vectors, Unreadable() if phase == "read" else OtherWhenTracked())
    assert kinds(run) == {"corrupt"}
    verdicts = {(part, verdict) for one in run.results for part, verdict in one["parts"].items()}
    if phase == "read":
        assert verdicts == {("forward", "corrupt"), ("error", "corrupt"), ("gradient", "unreached")}
    else:
        assert verdicts == {("forward", "ok"), ("error", "ok"), ("gradient", "corrupt")}


def test_an_answer_that_changes_is_unsteady(vectors: Path, miniature: ModuleType) -> None:
    class Changes(miniature.Right):  # type: ignore[name-defined, misc]
        calls = 0

        def call(self, op: str, layout: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
            self.calls += 1
            found = super().call(op, layout, args, kwargs)
            return found + self.calls if isinstance(found, np.ndarray) else type(found)(x + self.calls for x in found)

    run, _ = held(vectors, Changes())
    assert "unsteady" in kinds(run)
    changed = next(one for row in run.results for one in row["findings"] if one.get("kind") == "unsteady")
    assert changed["again"].startswith(changed["verdict"]) and changed["got"] not in changed["again"]
    assert "\n  again     " in Report(run).text(verbose=1)


def test_causes_are_shared_by_what_is_said(vectors: Path, miniature: ModuleType) -> None:
    class Limited(miniature.Right):  # type: ignore[name-defined, misc]
        def rows(self, number: int) -> Any:
            raise ValueError(f"sum(): component {number} of shape (2, {number}) is not supported")

    run, _ = held(vectors, Limited())
    text = Report(run).text()
    assert kinds(run) == {"limit"} and "limit       4 in   1 entry    refuses, and says so" in text
    assert "jagged and strided" in text


def test_a_gradient_that_comes_once_and_is_refused_when_pulled_back_again_says_so(
    vectors: Path, miniature: ModuleType
) -> None:
    class Once(miniature.Right):  # type: ignore[name-defined, misc]
        accumulates = True

        def backward(self, results: Any, cotangents: Any) -> None:
            if self.x.gradient is not None:
                raise RuntimeError("gone")
            super().backward(results, cotangents)

    run, _ = held(vectors, Once())
    found = [one for result in run.results for one in result["findings"] if one["part"] == "gradient"]
    assert {one["got"] for one in found} == {"RuntimeError: gone (when it is pulled back again)"}
    assert all("for time in " in one["snippet"] for one in found)


@pytest.mark.parametrize(
    ("packed", "elsewhere", "found"),
    [
        (NotImplementedError, ValueError, set()),  # that it is not taken, whatever is said first of the strides
        (NotImplementedError, AttributeError, {"internal"}),
        (ValueError, RuntimeError, {"limit"}),
    ],
)
def test_what_is_not_implemented_is_not_refused_anew_where_operands_lie_otherwise(
    vectors: Path, miniature: ModuleType, packed: type[Exception], elsewhere: type[Exception], found: set[str]
) -> None:
    class Limited(miniature.Right):  # type: ignore[name-defined, misc]
        def operand(self, value: Any, place: Any, tracked: bool) -> Any:
            self.error = packed if place.placement == "packed" else elsewhere
            return super().operand(value, place, tracked)

        def rows(self, number: int) -> Any:
            raise self.error("these components are not taken")

    run, _ = held(vectors, Limited())
    assert kinds(run) == found
    placements = {one for result in run.results for one in result["placements"]}
    assert placements > {"packed"}


@pytest.mark.parametrize("elsewhere", [ValueError, AttributeError])
def test_what_no_operator_takes_is_not_refused_anew_where_operands_lie_otherwise(
    vectors: Path, miniature: ModuleType, elsewhere: type[Exception]
) -> None:
    """The dense operator refuses the dtypes, as was declared: what is said first of the strides is no difference."""

    class Limited(miniature.Right):  # type: ignore[name-defined, misc]
        def operand(self, value: Any, place: Any, tracked: bool) -> Any:
            self.error = TypeError("no such dtype") if place.placement == "packed" else elsewhere("not contiguous")
            return super().operand(value, place, tracked)

        def rows(self, number: int) -> Any:
            raise self.error

    class Strict(miniature.Right):  # type: ignore[name-defined, misc]
        def rows(self, number: int) -> Any:
            raise TypeError("no such dtype")

    run, _ = held(vectors, Limited(), Strict())
    assert not kinds(run) and {one["parts"].get("forward", "convention") for one in run.results} == {"convention"}


def test_a_refusal_in_words_that_operands_alike_hear_too_is_not_of_their_descriptions() -> None:
    case = next(one for one in load_corpus().cases if one.id == "mul/float32/ragged/1")

    def refused(text: str, part: str = "forward") -> list[Finding]:
        return [Finding(part, "refused", "", f"RuntimeError: {text}")]

    found = {"packed": [Finding("forward", "ok")], "holes-nan": refused("not contiguous"), "view+packed": []}
    found["holes-max"] = refused("offset 3 differs", "gradient")
    asked = Asked(Job(case, "strided", tuple(found), []), found)
    assert is_of_descriptions(asked, "view+packed", *refused("offset 7 differs"))
    assert not is_of_descriptions(asked, "view+packed", *refused("not contiguous"))
    assert not is_of_descriptions(asked, "holes-max", *refused("offset 7 differs"))
    found["packed"] = refused("of another kind")
    assert not is_of_descriptions(asked, "view+packed", *refused("offset 7 differs"))


@pytest.mark.parametrize(("verdict", "agrees"), [("ok", True), ("dtype", True), ("value", False), ("refused", False)])
def test_a_dtype_does_not_hide_that_operands_are_only_described_apart(verdict: str, agrees: bool) -> None:
    asked = Asked(None, {"packed": [Finding("forward", verdict)]})  # type: ignore[arg-type]
    assert agrees_where(asked, "forward", "packed") is agrees
    assert not agrees_where(asked, "gradient", "packed") and not agrees_where(asked, "forward", "bare")
