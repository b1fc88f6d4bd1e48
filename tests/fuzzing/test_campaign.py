"""A campaign finds what is planted, makes it small and saves it; its tally does not depend on who asks."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.cli import main
from pynested.conformance.corpus import Selection, load_corpus
from pynested.conformance.judge import Finding
from pynested.conformance.replies import VALUE, Reply
from pynested.conformance.runner import plan as planned
from pynested.fuzzing import asking, telling
from pynested.fuzzing.campaign import Tally, ask, chunks
from pynested.fuzzing.plan import Plan, drawn
from pynested.fuzzing.settings import Settings
from pynested.fuzzing.smaller import Spot
from pynested.spec.components import Components
from tests.mutation.plant import environment, load
from tests.mutation.suites import SMALL

from .conftest import off_by_a_thousandth

Plant = Callable[[Any], None]
NEG = Settings(3, ops=("neg",))


def small_of(settings: Settings, end: int) -> tuple[Tally, telling.Small]:
    tally = ask(settings, 0, end)
    (small,) = telling.shrink(tally, settings, 5)
    return tally, small


def sizes(vector: Any) -> list[list[int]]:
    return [shape for value in vector["args"] if "nested" in value for shape in value["nested"]["shapes"]]


def test_a_wrong_value_is_found_and_shrunk_to_as_many_components_as_it_takes(plant: Plant) -> None:
    plant(off_by_a_thousandth)
    tally, small = small_of(NEG, 12)
    assert small.kind == ("neg", "forward", "value", "") and small.steady
    assert tally.differ == tally.kinds[small.kind] > 1 and tally.exit_code == 1
    assert len(sizes(small.vector)) == 2 and np.prod(sizes(small.vector), axis=1).sum() <= 4


def test_a_fault_that_only_shows_where_components_are_not_packed_stays_there(plant: Plant) -> None:
    def fault(op: str, layout: str, args: Sequence[Any], result: Any) -> Any:
        x = args[0]
        holes = layout == "jagged" and isinstance(x, pn.NestedArray) and x.lengths() is not None
        return result + 1 if op == "tanh" and holes else result

    plant(fault)
    settings = Settings(3, ops=("tanh",))
    _, small = small_of(settings, 6)
    assert small.spot.placement == "holes-nan" and len(sizes(small.vector)) == 1
    assert "only where gaps lie between the components" in telling.differences([small], settings)


def test_a_wrong_gradient_is_a_difference_of_its_own(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(op: str, layout: str, args: Sequence[Any], result: Any) -> Any:
        cut = op == "square" and isinstance(result, pn.NestedArray) and result.requires_grad and len(result) > 1
        return result.detach() + (args[0] - args[0].detach()) if cut else result

    plant(fault)
    _, small = small_of(Settings(3, ops=("square",)), 8)
    assert small.kind == ("square", "gradient", "value", "") and len(sizes(small.vector)) == 2
    assert small.vector["id"].startswith("square/fuzz-3-1/")


def test_a_call_that_is_refused_wrongly_is_found_and_kept_a_call_that_is_allowed(plant: Plant) -> None:
    def fault(op: str, layout: str, args: Sequence[Any], result: Any) -> Any:
        if op == "mul" and all(isinstance(one, pn.NestedArray) for one in args):
            raise RuntimeError("no two of them")
        return result

    plant(fault)
    _, small = small_of(Settings(3, ops=("mul",)), 12)
    assert small.kind == ("mul", "forward", "refused", "RuntimeError: no two of them")
    assert len(sizes(small.vector)) == 2 == len([one for one in small.vector["args"] if "nested" in one])


def test_what_agrees_when_it_is_asked_again_is_said_to(plant: Plant) -> None:
    count = [0]

    def fault(op: str, layout: str, args: Sequence[Any], result: Any) -> Any:
        count[0] += 1
        return result + 1 if op == "tanh" and count[0] == 1 else result

    plant(fault)
    tally, small = small_of(Settings(3, ops=("tanh",)), 4)
    assert tally.differ == 1 and not small.steady
    assert "asked again, it agreed" in telling.ways([small], tally)


def test_what_is_saved_is_run_by_conform(plant: Plant, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plant(off_by_a_thousandth)
    folder = tmp_path / "found"
    options = ["--seed", "3", "--cases", "12", "--op", "neg", "--op", "add", "--out", str(folder)]
    assert main(["fuzz", *options]) == 1
    told = capsys.readouterr().out
    assert re.search(r"12 cases \(numbers 0 to 11\), \d+ judged calls in .* differ\.", told.replace("\n", " "))
    assert "pn.neg(x" in told and f"pynested conform --vectors {folder}" in told
    (case,) = load_corpus(folder).cases
    assert case.op == "neg"
    assert main(["conform", "--vectors", str(folder)]) == 0  # pynested itself, which is right
    assert main(["fuzz", *options]) == 2  # there are vectors in the folder now


def test_a_call_that_must_be_refused_is_saved_with_one_that_must_not(plant: Plant, tmp_path: Path) -> None:
    def fault(op: str, layout: str, args: Sequence[Any], result: Any) -> Any:
        return result

    plant(fault)
    vector = next(
        asked.job.case
        for number in range(200)
        for asked in asking.asked_of(drawn(3, number), Settings(3), "kind", asking.Counter())
        if asked.job.case.is_error
    )
    fields = {name: getattr(vector, name) for name in ("id", "clauses", "layouts", "args", "kwargs", "expect", "near")}
    fields |= {name: list(fields[name]) for name in ("clauses", "layouts", "args")}
    small = telling.Small(
        (vector.op, "error", "accepted", ""), Spot(Plan(3, 1, "", vector.op, {}), "jagged", "packed"), fields, True, 1
    )
    telling.save([small], tmp_path)
    assert [case.is_error for case in load_corpus(tmp_path).cases] == [False, True]


def test_nothing_that_could_be_asked_is_no_agreement(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", "--target", "law", "--cases", "4", "--op", "misfit"]) == 2
    assert main(["fuzz", "--cases", "0"]) == 4
    assert "no call could be judged" in capsys.readouterr().out
    assert main(["fuzz", "--op", "soft"]) == 2


def test_one_number_is_asked_again_by_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", "--seed", "3", "--only", "40"]) == 0
    assert "1 cases (numbers 40 to 40)" in capsys.readouterr().out.replace("\n", " ")


def test_chunks_are_all_the_numbers_in_order() -> None:
    for count, workers in ((0, 1), (1, 1), (1700, 1), (1700, 2), (7, 3)):
        found = list(chunks(5, count, None, workers))
        assert [number for first, end in found for number in range(first, end)] == list(range(5, 5 + count))
    assert next(chunks(0, None, 1e-9, 1), None) is None


def test_the_tally_of_two_parts_is_that_of_the_whole(plant: Plant) -> None:
    plant(off_by_a_thousandth)
    parts, whole = ask(NEG, 0, 5), ask(NEG, 0, 12)
    parts.add(ask(NEG, 5, 12))
    assert parts == whole and whole.differ


# ---- recognising an answer


def reply(value: Any, gradient: Any = None) -> Reply:
    return Reply(VALUE, value=value, gradient=None if gradient is None else Reply(VALUE, value={0: gradient}))


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (np.float32([0.0]), np.float32([0.0]), True),
        (np.float32([0.0]), np.float32([-0.0]), False),
        (np.float32([np.nan]), np.float32([np.nan]), True),  # the same bits
        (np.float32([1]), np.float64([1]), False),
        (np.float32([1]), np.float32([[1]]), False),
        (np.float32([1]), Components([np.float32([1])]), False),
        (Components([np.float32([1])]), Components([np.float32([1])]), True),
        (Components([np.float32([1])], (1, None)), Components([np.float32([1])], (1, 1)), False),
        ([np.float32([1])], [np.float32([1]), np.float32([1])], False),
        (2, 2, True),
        (2, 2.0, False),
    ],
)
def test_an_answer_is_recognised_by_its_bits(a: Any, b: Any, same: bool) -> None:
    assert asking._same_reply(reply(a), reply(b)) == same
    one = np.float32([1])
    assert asking._same_reply(reply(one, a), reply(one, b)) == same
    assert not asking._same_reply(reply(one, a), reply(one))


def test_no_verdict_rests_on_an_answer_that_was_wrong() -> None:
    corpus = load_corpus()
    job = next(job for job in planned(corpus, Selection(ops=("neg",))) if not job.case.is_error)
    question = asking.Question(drawn(1, 1), job, "packed")
    right: dict[Any, Reply] = {}
    wrong = reply(np.float32([[123]]))
    for _ in range(2):
        found: Sequence[Finding] = asking._asked(question, wrong, right, "kind").findings
        assert found[0].verdict != "ok" and not right


def test_every_question_of_a_number_is_another_call() -> None:
    orders = set()
    for number in range(24):
        questions = list(asking.asked_of(drawn(5, number), Settings(5), "kind", asking.Counter()))
        keys = [(one.plan.order, one.job.layout, one.placement) for one in questions]
        assert len(set(keys)) == len(keys)
        orders |= {one.plan.order for one in questions}
    assert len(orders) > 8


# ---- a stranger's program


def test_a_single_fault_of_a_small_implementation_is_found_through_the_protocol(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ["--adapter", shlex.join(SMALL), "--layout", "jagged", "--op", "mean"]
    options += ["--seed", "3", "--start", "263", "--cases", "1"]
    with environment(load("small")["the mean of nothing is 0"]) as variables:
        monkeypatch.chdir(variables["PYTHONPATH"])
        assert main(["fuzz", *options, "--out", str(tmp_path / "found")]) == 1
    told = capsys.readouterr().out
    assert "mean  forward  value" in told and "expected  nan" in told and "got       0.0" in told
    (case,) = load_corpus(tmp_path / "found").cases
    assert len(case.args[0]["nested"]["shapes"]) <= 2
