"""Programs are drawn as data, agree with pynested, and find faults that no call shows alone."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.cli import main
from pynested.conformance.adapters.base import PythonAdapter
from pynested.conformance.adapters.law_adapter import LawTarget
from pynested.conformance.adapters.programs import PythonProgram
from pynested.conformance.adapters.pynested_adapter import PynestedTarget
from pynested.conformance.corpus import load_corpus
from pynested.conformance.judge import DIFFERS, OK
from pynested.conformance.programs import judged
from pynested.conformance.session import InProcess
from pynested.fuzzing import campaign, command, telling
from pynested.fuzzing.asking import Question, asked_of, drawn_of
from pynested.fuzzing.programs import CHAPTERS, Draft, drafted, program, shorter
from pynested.fuzzing.settings import Settings
from pynested.fuzzing.steps import Call
from pynested.spec.encoding import encode_value
from pynested.spec.programs import OF_TAPE, QUESTIONS

SETTINGS = Settings(5, ops=CHAPTERS)
Result = Callable[[str, Sequence[Any], Any], Any]


@pytest.fixture(scope="module")
def questions() -> list[Question]:
    """Some of what a campaign asks: of many programs each in both layouts, and in a placement or two."""
    drawn = (drawn_of(SETTINGS, number) for number in range(190))
    return [one for draft in drawn for one in [*asked_of(draft, SETTINGS, "kind", COUNT)][::3]]


COUNT = campaign.Tally().unasked


def verdicts(target: PynestedTarget, questions: Sequence[Question]) -> Iterator[tuple[str, str]]:
    session = InProcess(PythonAdapter(target))
    for question, reply in zip(questions, session.answers(iter([one.request for one in questions])), strict=True):
        for finding in judged(question.job.case, question.job.layout, reply):
            yield question.plan.op, finding.verdict


# ---- what is drawn


@pytest.mark.parametrize(
    ("op", "layouts"), [("nested_array_from_jagged", ["jagged"]), ("nested_array_from_strided", ["strided"])]
)
def test_a_program_that_makes_an_array_of_one_layout_is_run_in_that_layout(op: str, layouts: list[str]) -> None:
    numbers = encode_value(np.array([[0], [2]] if op.endswith("strided") else [0, 2]))
    call = Call(op, ({"name": "row"}, numbers), outs=("made",))
    draft = Draft(1, 0, (2, 1), (2,), 1, "float32", {"x": "nested", "row": "row"}, (), (call,))
    found = program(draft)
    assert found is not None and found["layouts"] == layouts


def test_a_seed_and_a_number_are_one_program() -> None:
    first = [drafted(5, number) for number in range(12)]
    assert [drafted(5, number) for number in reversed(range(12))] == first[::-1]
    assert pickle.loads(pickle.dumps(first)) == first and [program(one) for one in first] == list(map(program, first))
    assert drafted(6, 3) != first[3] != first[4]
    assert {drafted(5, number, ("share",)).op for number in range(8)} == {"share"}


def test_programs_are_of_every_chapter_and_of_two_to_five_calls() -> None:
    found = [drafted(5, number) for number in range(60)]
    calls = [[call for call in draft.calls if call.op not in OF_TAPE] for draft in found]
    assert {draft.op for draft in found} == {*CHAPTERS} and {len(one) for one in calls} == {2, 3, 4, 5}
    ops = {call.op for draft in found for call in draft.calls}
    wanted = {"backward", "vjp", "getitem", "copy_", "setitem", "cumsum", "cat", "unbind", "split", "chunk"}
    assert len(ops) > 25 and wanted <= ops


def test_an_operator_that_makes_a_list_names_each_of_it_and_passes_begin_at_dense_arrays_too() -> None:
    found = [one for one in (drafted(5, number) for number in range(190)) if one.leaves]
    lists = [call for one in found for call in one.calls if call.op in ("unbind", "split", "chunk")]
    assert {len(call.outs) for call in lists} >= {1, 2, 3} and all(type(call.step["out"]) is list for call in lists)
    vectors = [vector for vector in map(program, found) if vector is not None and "c" in vector["inputs"]]
    assert {form for one in vectors for form in one["inputs"]["c"]} == {"nested", "dense"}


def test_every_array_and_every_gradient_is_asked_for() -> None:
    draft = next(one for one in (drafted(5, number) for number in range(40)) if len(one.leaves) > 1)
    found = program(draft)
    assert found is not None
    asked = [step["args"][0]["name"] for step in found["steps"] if step["op"] == "value"]
    made = [name for call in draft.calls for name in call.outs]
    assert asked == [*found["inputs"], *made, *(f"of_{name}" for name in draft.leaves)]


def test_some_of_all_numbers_are_programs_and_calls_are_what_they_were() -> None:
    everything, calls = Settings(5), Settings(5, ops=("neg",))
    share = sum(isinstance(drawn_of(everything, number), Draft) for number in range(400)) / 400
    assert 0.1 < share < 0.2 and not any(isinstance(drawn_of(calls, number), Draft) for number in range(40))
    assert isinstance(drawn_of(SETTINGS, 1), Draft)


def test_a_call_that_cannot_be_made_has_no_expectation() -> None:
    name = {"name": "x"}
    draft = Draft(5, 1, (2, 1), (2,), 1, "float32", {"x": "nested"}, (), (Call("select", (name, 2, 7), outs=("r",)),))
    assert program(draft) is None
    third = Call("div", (name, {"float": "3.0"}), outs=("r",))
    assert program(Draft(5, 1, (2, 1), (2,), 1, "float32", {"x": "nested"}, (), (third,))) is None


def test_shorter_programs_have_fewer_calls_components_or_elements() -> None:
    draft = next(one for one in (drafted(5, number) for number in range(40)) if len(one.calls) > 4)
    size = (len(draft.calls), len(draft.lengths), sum(draft.lengths) + sum(draft.sizes))
    for one in shorter(draft):
        less = (len(one.calls), len(one.lengths), sum(one.lengths) + sum(one.sizes))
        assert less != size and all(small <= large for small, large in zip(less, size, strict=True))


# ---- what is found


def test_right_implementations_are_not_accused(questions: list[Question]) -> None:
    assert {verdict for _, verdict in verdicts(PynestedTarget(), questions)} == {OK}
    law = InProcess(PythonAdapter(LawTarget()))
    writing = [one for one in questions if one.plan.op != "tape" and one.placement == "packed"]
    replies = law.answers(iter([one.request for one in writing]))
    found = [
        judged(one.job.case, one.job.layout, reply, "none")[0] for one, reply in zip(writing, replies, strict=True)
    ]
    assert {one.verdict for one in found} == {OK} and len(found) > 20


def copied(*ops: str) -> Result:
    return lambda op, args, result: result.clone() if op in ops and isinstance(result, pn.NestedArray) else result


def once(op: str, args: Sequence[Any], result: Any) -> Any:
    """An operand that is given twice receives the gradient of one."""
    twice = op in ("add", "sub", "mul") and args[0] is args[1]
    return getattr(pn, op)(args[0], args[0].detach()) if twice else result


def joined_once(op: str, args: Sequence[Any], result: Any) -> Any:
    return pn.cat([args[0][0], args[0][1].detach()], args[1]) if op == "cat" and args[0][0] is args[0][1] else result


def keeps_the_tape(op: str, args: Sequence[Any], result: Any) -> Any:
    return args[0] * 1 if op == "detach" and args[0].requires_grad else result


def a_clone_is_a_view(op: str, args: Sequence[Any], result: Any) -> Any:
    return args[0][...] if op == "clone" else result


def apart(op: str, args: Sequence[Any], result: Any) -> Any:
    """Components, and pieces, in memory of their own."""
    return [one.clone() for one in result] if op in ("unbind", "split", "chunk") else result


def remembers() -> Result:
    """What was computed of an array is given again, though it was written to meanwhile."""
    known: dict[int, Any] = {}

    def result(op: str, args: Sequence[Any], result: Any) -> Any:
        return known.setdefault(id(args[0]), (args[0], result))[1] if op in ("cumsum", "neg", "square") else result

    return result


def turned_once(op: str, args: Sequence[Any], result: Any) -> Any:
    """A view of a view that was turned is cut as if it had not been."""
    return result * 2 if op == "getitem" and not args[0].is_contiguous() and not args[0].is_leaf else result


def cut_off(op: str, args: Sequence[Any], result: Any) -> Any:
    """What is computed from a view has no way back to the array."""
    return result.detach() if op in ("relu", "neg", "mul") and not args[0].is_leaf else result


RESULTS: Mapping[str, Callable[[], Result]] = {
    "a slice is a copy": lambda: copied("getitem"),
    "what is detached is a copy": lambda: copied("detach"),
    "what is transposed is a copy": lambda: copied("transpose", "permute"),
    "a place that is selected is a copy": lambda: copied("select"),
    "what is detached keeps the tape": lambda: keeps_the_tape,
    "a clone is a view": lambda: a_clone_is_a_view,
    "an operand that is given twice has the gradient of one": lambda: once,
    "an array that is joined twice has the gradient of one": lambda: joined_once,
    "what was computed before a write is given after it": remembers,
    "what is taken apart is copied": lambda: apart,
    "a cut of what was turned is another": lambda: turned_once,
    "the tape is cut behind a result": lambda: cut_off,
}


class Wrong(PynestedTarget):
    """pynested, but for what becomes of the results of operators, and of the steps of programs."""

    def __init__(self, result: Result | None = None, program: type[PythonProgram] = PythonProgram) -> None:
        super().__init__()
        self._result, self._program = result, program

    def call(self, op: str, layout: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        made = super().call(op, layout, args, kwargs)
        return made if self._result is None else self._result(op, args, made)

    def program(self, layout: str, inputs: Mapping[str, Any], leaves: Sequence[str]) -> Any:
        return self._program(super().program(layout, inputs, leaves).names, layout, self)


@pytest.mark.parametrize("name", RESULTS)
def test_a_wrong_result_is_found(name: str, questions: list[Question]) -> None:
    assert any(verdict in DIFFERS for _, verdict in verdicts(Wrong(RESULTS[name]()), questions))


class Steps(PythonProgram):
    def step(self, step: Any) -> Any:
        x = self.names.get(step["args"][0].get("name"))
        return super().step(step) if x is None else self.wrong(step["op"], x, step)

    def wrong(self, op: str, x: Any, step: Any) -> Any:
        raise NotImplementedError


class WritesLast(Steps):
    """An operator that writes puts its result under the name, and leaves the memory as it was."""

    def wrong(self, op: str, x: Any, step: Any) -> Any:
        if op not in ("neg_", "relu_"):
            return super().step(step)
        self.names[step["args"][0]["name"]] = getattr(pn, op[:-1])(x)
        return None


class TakesMemory(Steps):
    """What is copied is the memory of the source."""

    def wrong(self, op: str, x: Any, step: Any) -> Any:
        if op != "copy_":
            return super().step(step)
        self.names[step["args"][0]["name"]] = self.names[step["args"][1]["name"]]
        return None


class LastPass(Steps):
    """Of what comes to a leaf by several ways the last counts."""

    def wrong(self, op: str, x: Any, step: Any) -> Any:
        super().step(step)
        if op == "grad" and step["args"][0]["name"] != "x":
            self.names[step["out"]] = self.names[step["out"]] * 0
        return None if op != "value" else super().step(step)


class NotRecorded(Steps):
    """The gradient that is differentiated is a constant along the array, and depends on the cotangent alone."""

    def wrong(self, op: str, x: Any, step: Any) -> Any:
        if op != "vjp":
            return super().step(step)
        cotangent = self.names[step["args"][2]["name"]]
        found = pn.grad(x, self.names[step["args"][1]["name"]], cotangent, retain_graph=True)
        self.names[step["out"]] = found
        return None


class MovesTwice(Steps):
    """What moves along a tangent moves twice as far."""

    def wrong(self, op: str, x: Any, step: Any) -> Any:
        super().step(step)
        if op == "jvp":
            self.names[step["out"]] = self.names[step["out"]] * 2
        return super().step(step) if op == "value" else None


class NestedRoots(Steps):
    """A pass that begins at a component comes to nothing."""

    def wrong(self, op: str, x: Any, step: Any) -> Any:
        return None if op == "backward" and isinstance(x, pn.Array) else super().step(step)


@pytest.mark.parametrize("wrong", [WritesLast, TakesMemory, LastPass, NotRecorded, NestedRoots, MovesTwice])
def test_a_wrong_step_is_found(wrong: type[PythonProgram], questions: list[Question]) -> None:
    assert any(verdict in DIFFERS for _, verdict in verdicts(Wrong(program=wrong), questions))


def test_what_differs_is_made_small_shown_and_saved(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in (campaign, telling, command):
        wrong = PythonAdapter(Wrong(copied("getitem")))
        monkeypatch.setattr(module, "opened", lambda settings, wrong=wrong: InProcess(wrong), raising=False)
    assert main(["fuzz", "--seed", "5", "--cases", "60", "--op", "write", "--out", str(tmp_path / "found")]) == 1
    told = capsys.readouterr().out
    assert re.search(r"write  forward  value", told) and "snippet" not in told and "x = pn.nested_array([" in told
    (case,) = load_corpus(tmp_path / "found").cases
    deeds = [step["op"] for step in getattr(case, "steps") if step["op"] not in QUESTIONS]  # noqa: B009
    assert len(deeds) == 2 and "getitem" in deeds and sum(np.prod(one) for one in case.args[0]["nested"]["shapes"]) < 4
    assert main(["conform", "--vectors", str(tmp_path / "found")]) == 0  # pynested itself, which is right
