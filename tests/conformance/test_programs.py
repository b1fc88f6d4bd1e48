"""Programs are asked, judged at the first step that differs, and shown as code that does what is said."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.cli import main
from pynested.conformance import messages
from pynested.conformance.adapters.base import PythonAdapter
from pynested.conformance.adapters.law_adapter import LawTarget
from pynested.conformance.adapters.programs import PythonProgram
from pynested.conformance.adapters.pynested_adapter import PynestedTarget
from pynested.conformance.capabilities import Capabilities
from pynested.conformance.conform import conform
from pynested.conformance.corpus import Corpus, Program, Selection, load_corpus
from pynested.conformance.differences import causes
from pynested.conformance.explain import explain
from pynested.conformance.judge import ERROR, FORWARD, GRADIENT, OK, UNREACHED, Finding
from pynested.conformance.pasted import mismatches
from pynested.conformance.problems import KitError
from pynested.conformance.program_snippets import program_snippet
from pynested.conformance.programs import judge_program, parts_of
from pynested.conformance.records import Run
from pynested.conformance.replies import CRASHED, DONE, ERRORED, GARBLED, MISSING, VALUE, Refusal, Reply, read_reply
from pynested.conformance.report import Report
from pynested.conformance.session import InProcess

CHAPTERS = ("write", "tape", "shape", "share")


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return load_corpus()


def program(corpus: Corpus, id_: str) -> Program:
    found = next(one for one in corpus.cases if one.id == id_)
    assert isinstance(found, Program)
    return found


def answers(case: Program, target: Any = None) -> list[Any]:
    """What pynested answers, or another target."""
    return PythonAdapter(target or PynestedTarget()).run(request(case))["answers"]


def request(case: Program) -> dict[str, Any]:
    return messages.run(case, "jagged", "packed", [])


def judged(case: Program, given: list[Any]) -> dict[str, Finding]:
    reply = read_reply({"seq": 0, "answers": given}, request(case))
    return {one.part: one for one in judge_program(case, "jagged", reply)}


# --- asking


def test_a_request_holds_the_program_and_nothing_that_is_due(corpus: Corpus) -> None:
    asked = request(program(corpus, "write/int32/refused-floats/1"))
    assert set(asked) == {"cmd", "seq", "layout", "placement", "inputs", "tracked", "steps"}
    assert all(set(step) <= {"op", "args", "kwargs", "out"} for step in asked["steps"])
    assert not [word for word in ("clauses", "DTypeError", "expect", "show", "WRITE") if word in json.dumps(asked)]
    with pytest.raises(KitError, match=r"the request for a program would show the adapter \['refuse'\]"):
        messages.seal({**asked, "steps": [{**asked["steps"][0], "refuse": "DTypeError"}]})
    with pytest.raises(KitError, match="would show the adapter"):
        messages.seal({**asked, "inputs": {"x": {"nested": {"cmp": "exact"}}}})


@pytest.mark.parametrize(
    ("id_", "fields", "lacks"),
    [
        ("write/float32/copies/1", {}, "runs programs"),
        ("write/float32/copies/1", {"programs": True}, ""),
        ("write/float32/copies/1", {"programs": True, "gradients": False}, ""),
        ("tape/float32/two-passes/1", {"programs": True, "gradients": False}, "no gradients"),
        ("write/float32/copies/1", {"programs": True, "operators": ["clone"]}, "among its operators"),
        ("write/float32/in-place/1", {"programs": True, "operators": ["add", "mul", "sub", "neg"]}, "relu among"),
        ("write/float32/rounded/1", {"programs": True, "dtypes": ["float32"]}, ""),
        ("write/float16/rounded/1", {"programs": True, "dtypes": ["float32"]}, "float16 among its dtypes"),
    ],
)
def test_who_is_asked(corpus: Corpus, id_: str, fields: dict[str, Any], lacks: str) -> None:
    case = next((one for one in corpus.cases if one.id == id_), None) or program(corpus, "write/float32/copies/1")
    assert isinstance(case, Program)
    found = Capabilities.from_fields(fields).lacks(request(case))
    assert lacks in found and bool(found) == bool(lacks)


def test_an_adapter_that_runs_no_programs_is_not_asked_and_the_claim_says_so(corpus: Corpus) -> None:
    class Calls(PynestedTarget):
        def identity(self, device: str) -> Any:
            return {name: value for name, value in super().identity(device).items() if name != "capabilities"}

    run = conform(corpus, Selection(ops=("share",), layouts=("jagged",)), opened(Calls()), None, None)
    assert {result["parts"][FORWARD] for result in run.results} == {MISSING} and run.exit_code == 4
    text = Report(run).text()
    assert "not implemented, jagged: share" in text and "no check could be made" in text


# --- judging


def test_pynested_and_the_law_agree(corpus: Corpus) -> None:
    for target, ops in ((PynestedTarget(), CHAPTERS), (LawTarget(), ("write", "share"))):
        chosen = Selection(ops=ops, layouts=("jagged",), placements=("packed", "holes-nan"))
        run = conform(corpus, chosen, opened(target), None, None)
        assert run.exit_code == 0 and len(run.results) > 20
    assert main(["conform", "--op", "tape", "--layout", "strided", "--match", "tape/float32/o*"]) == 0


def test_the_first_step_that_differs_is_named_with_its_clause(corpus: Corpus) -> None:
    case = program(corpus, "write/float32/through-components/1")
    given = answers(case)
    assert judged(case, given) == {FORWARD: Finding(FORWARD, OK)}
    given[2]["value"]["nested"]["bits"][0] = "f" * len(given[2]["value"]["nested"]["bits"][0])
    given[4] = {"error": {"kind": "ValueError", "message": "later"}}
    found = judged(case, given)[FORWARD]
    assert (found.verdict, found.step, found.clauses) == ("value", 2, ("WRITE-3", "WRITE-4"))
    assert found.want.startswith("step 3, the value of x: ")


def test_a_step_that_is_refused_names_the_clause_that_it_was_to_lead_to(corpus: Corpus) -> None:
    case = program(corpus, "write/float32/through-components/1")
    found = judged(case, [None, {"error": {"kind": "RuntimeError", "message": "no"}}])[FORWARD]
    assert (found.verdict, found.step, found.got) == ("refused", 1, "RuntimeError: no")
    assert found.want == "step 2, v.add_(100.0): it is carried out" and found.clauses[0] == "WRITE-3"
    called = judged(program(corpus, "tape/float32/joined-twice/2"), [{"error": {"kind": "E", "message": "no"}}])
    assert [one.op for one in (found, *called.values()) if one.got] == ["", "cat"]  # to write is no call


def test_a_refusal_that_is_due(corpus: Corpus) -> None:
    case = program(corpus, "write/int32/refused-floats/1")
    given = answers(case)
    assert {part: one.verdict for part, one in judged(case, given).items()} == {FORWARD: OK, ERROR: OK}
    accepted = judged(case, [None, *given[1:]])
    assert (accepted[ERROR].verdict, accepted[ERROR].clauses) == ("accepted", ("WRITE-9",))
    assert accepted[FORWARD].verdict == UNREACHED
    other = judged(case, [{"error": {"kind": "ShapeError", "message": ""}}, *given[1:]])
    assert other[ERROR].verdict == "error-kind"
    builtin = Reply(VALUE, value=[Reply("error", refusal=Refusal("Mine", "", "", frozenset({"TypeError"})))])
    for errors, verdict in (("builtin", OK), ("any", OK), ("kind", "error-kind")):
        found = {one.part: one for one in judge_program(case, "jagged", builtin, errors)}
        assert (found[ERROR].verdict if ERROR in found else OK) in (verdict, UNREACHED, OK)


def test_a_refusal_that_is_allowed_ends_a_program_that_is_right(corpus: Corpus) -> None:
    case = program(corpus, "tape/float32/overwritten/1")
    refused = {"error": {"kind": "GradientError", "message": "overwritten"}}
    assert judged(case, [None, None, refused]) == {GRADIENT: Finding(GRADIENT, OK)}
    assert judged(case, [None, None, {"error": {"kind": "KeyError", "message": ""}}])[GRADIENT].verdict == "error-kind"
    zeros = {"nested": {"dtype": "float32", "shape": [3, None, 3], "shapes": [[2, 3], [0, 3], [3, 3]]}}
    zeros["nested"]["bits"] = ["0" * 48, "", "0" * 72]
    wrong = judged(case, [None, None, None, None, {"value": zeros}])[GRADIENT]
    assert (wrong.verdict, wrong.clauses) == ("value", ("TAPE-17",))


def test_no_gradient_counts_as_zero(corpus: Corpus) -> None:
    case = program(corpus, "tape/float32/two-passes/1")
    given = answers(case)
    given[3] = {"value": {"python": None}}
    found = judged(case, given)[GRADIENT]
    assert (found.verdict, found.got) == ("value", "no gradient, which counts as zero")


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        (Reply(MISSING, "no setitem"), MISSING),
        (Reply(ERRORED, "Traceback"), "adapter"),
        (Reply(CRASHED, "signal 11"), CRASHED),
        (Reply("error", refusal=Refusal("RuntimeError", "cannot be built", "construct")), "refused"),
        (Reply(VALUE, value=[Reply(DONE)]), GARBLED),
        (Reply(VALUE, value=[], unsteady="died"), CRASHED),
    ],
)
def test_what_is_no_answer_is_about_the_first_part(corpus: Corpus, reply: Reply, verdict: str) -> None:
    case = program(corpus, "write/int32/refused-floats/1")
    assert parts_of(case.steps)[0] == ERROR
    found = {one.part: one.verdict for one in judge_program(case, "jagged", reply)}
    if verdict == GARBLED:
        assert found == {ERROR: "accepted", FORWARD: UNREACHED}
    else:
        assert found == {ERROR: verdict, FORWARD: MISSING if verdict == MISSING else UNREACHED}


def test_answers_that_break_off_are_garbled(corpus: Corpus) -> None:
    case = program(corpus, "write/float32/through-components/1")
    found = judged(case, answers(case)[:3])[FORWARD]
    assert (found.verdict, found.step) == (GARBLED, 3) and "answers to 3 of 5 steps" in found.got
    assert judged(case, [*answers(case)[:2], None])[FORWARD].verdict == GARBLED


@pytest.mark.parametrize(
    "reply",
    [
        {"answers": [None] * 9},
        {"answers": {}},
        {"answers": [1]},
        {"answers": [{"value": 1}]},
        {"value": {"python": True}},
    ],
)
def test_what_is_no_reply_to_a_program_is_garbled(corpus: Corpus, reply: dict[str, Any]) -> None:
    asked = request(program(corpus, "write/float32/through-components/1"))
    assert read_reply({"seq": 0, **reply}, asked).outcome == GARBLED


# --- adapters


def test_an_adapter_stops_where_something_is_not_there() -> None:
    x = {"nested": {"dtype": "float32", "shape": [1, None], "shapes": [[1]], "bits": ["3f800000"]}}
    steps = [
        {"op": "transpose", "args": [{"name": "x"}, {"int": "1"}, {"int": "5"}], "out": "t"},
        {"op": "fill_", "args": [{"name": "x"}, {"float": "2.0"}]},
        {"op": "fill_", "args": [{"name": "t"}, {"float": "3.0"}]},
        {"op": "value", "args": [{"name": "x"}]},
    ]
    asked = {"cmd": "program", "seq": 1, "layout": "jagged", "placement": "packed", "inputs": {"x": x}, "tracked": []}
    found = PythonAdapter(PynestedTarget()).run({**asked, "steps": steps})["answers"]
    assert len(found) == 2 and found[0]["error"]["kind"] == "DimensionError" and found[1] is None
    unknown = [{"op": "no_such_operator", "args": [{"name": "x"}], "out": "y"}]
    assert "no_such_operator" in PythonAdapter(PynestedTarget()).run({**asked, "steps": unknown})["missing"]


# --- what is wrong is found, and shown as code


class Forgetful(PynestedTarget):
    """Writes through slices of the batch into copies, and detaches without forgetting the tape."""

    def call(self, op: str, layout: str, args: Any, kwargs: Any) -> Any:
        made = super().call(op, layout, args, kwargs)
        if op == "getitem" and isinstance(made, pn.NestedArray):
            return made.clone()
        return args[0] * 1 if op == "detach" and args[0].requires_grad else made


def opened(target: Any) -> Callable[[], InProcess]:
    return lambda: InProcess(PythonAdapter(target))


@pytest.fixture(scope="module")
def forgetful(corpus: Corpus) -> Run:
    chosen = Selection(ops=("write", "tape"), layouts=("jagged",), placements=("packed",))
    return conform(corpus, chosen, opened(Forgetful()), None, None)


def test_what_a_wrong_target_does_is_found_and_explained(forgetful: Run) -> None:
    assert forgetful.exit_code == 1
    blamed = {cause.clause for cause in causes(forgetful)}
    assert {"WRITE-3", "TAPE-12"} <= blamed
    text = Report(forgetful).text(verbose=1)
    assert "step 3, the value of x" in text and "v = x[1:]" in text and "v.add_(100.0)" in text


def test_every_snippet_runs(forgetful: Run) -> None:
    """The target is pynested but for what it does wrong: the code runs, and shows the right answer."""
    said = {said[:11] for _, finding, said in mismatches(forgetful) if finding["verdict"] in ("value", "refused")}
    assert said == {"exit code 0"}


def test_code_of_a_program_gives_what_its_last_step_asks(corpus: Corpus, capsys: pytest.CaptureFixture[str]) -> None:
    case = program(corpus, "tape/float32/write-to-leaf/1")
    code = program_snippet(case, "jagged", "holes-nan", "pynested", len(case.steps) - 1)
    assert "x.requires_grad_()" in code and "try:\n    x.add_(1.0)" in code and code.endswith("print(x)")
    exec(code, {})
    printed = capsys.readouterr().out
    assert printed.count("refused:") == 3 and "x.add(" in printed
    torch = program_snippet(case, "strided", "packed", "torch", 3)
    assert "torch.autograd.backward(y.unbind(), c.unbind())" in program_snippet(case, "jagged", "packed", "torch", 4)
    assert "print(*x.unbind())" in torch and torch.endswith("y = torch.mul(x, x)")


def test_steps_of_python_in_the_order_of_their_arguments() -> None:
    x = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged)
    target = PynestedTarget()
    built = target.program("jagged", {}, [])
    assert isinstance(built, PythonProgram)
    built.names["x"] = x
    built.step({"op": "setitem", "args": [{"name": "x"}, {"index": [{"int": "0"}]}, {"float": "5.0"}]})
    built.step({"op": "unbind", "args": [{"name": "x"}], "out": ["a", "b"]})
    assert (
        built.names["a"].tolist() == [5, 5] and built.step({"op": "size", "args": [{"name": "a"}, {"int": "0"}]}) == 2
    )
    assert np.asarray(built.step({"op": "value", "args": [{"name": "b"}]})).tolist() == [3]


def test_programs_can_be_explained(corpus: Corpus) -> None:
    text = explain("write/int32/refused-floats/1", corpus)
    assert "1. x.add_(1.5)" in text and "DTypeError   WRITE-9" in text and "3. x.add_(1)" in text
    assert "done, or GradientError   TAPE-17" in explain("TAPE-17", corpus)
    assert "whatever it is   SHARE-8" in explain("SHARE-8", corpus)


def test_a_program_that_builds_an_array_of_one_layout_is_run_in_that_layout_only() -> None:
    built = {"nested_array_from_jagged": ("jagged",), "nested_array_from_strided": ("strided",)}
    programs = [one for one in load_corpus().cases if isinstance(one, Program)]
    pairs = [(one, step["op"]) for one in programs for step in one.steps if step["op"] in built]
    assert {op for _, op in pairs} == set(built)
    for program, op in pairs:
        assert tuple(program.layouts) == built[op], program.id
