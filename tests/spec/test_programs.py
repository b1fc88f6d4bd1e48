"""Programs: their form, and what the linter asks of them."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from pynested.spec.check_programs import lint_programs
from pynested.spec.corpus import load_programs, load_vectors, read_programs, read_vectors
from pynested.spec.generator.write import FOLDER
from pynested.spec.grammar import Malformed, check
from pynested.spec.programs import CREATION, FORMAT, OF_TAPE, PROGRAM, QUESTIONS, WRITES, names_in, operator_of
from pynested.spec.table import load_table

SEVEN = {"float": "7.0"}
X = {"nested": {"dtype": "float32", "shape": [2, None], "shapes": [[1], [1]], "bits": ["3f800000", "40000000"]}}
SEVENS = {"nested": {"dtype": "float32", "shapes": [[1], [1]], "bits": ["40e00000", "40e00000"], "cmp": "exact"}}
ACCEPTED: dict[str, Any] = {
    "id": "write/float32/filled/1",
    "layouts": ["strided", "jagged"],
    "inputs": {"x": X},
    "tracked": [],
    "steps": [
        {"op": "neg", "args": [{"name": "x"}], "out": "y"},
        {"op": "fill_", "args": [{"name": "x"}, SEVEN]},
        {"op": "value", "args": [{"name": "x"}], "clauses": ["WRITE-2"], "expect": SEVENS},
        {"op": "size", "args": [{"name": "y"}, {"int": "5"}], "clauses": ["SHAPE-5"], "refuse": "DimensionError"},
    ],
}
Change = Callable[[dict[str, Any]], Any]

# What a program must not be, and what is said of it.
REFUSED: dict[str, tuple[Change, str]] = {
    "a name of nothing": (
        lambda p: p["steps"][1].update(args=[{"name": "z"}, SEVEN]),
        r"steps\[1\]: nothing is called",
    ),
    "a name too early": (lambda p: p["steps"].reverse(), "nothing is called"),
    "a name twice": (lambda p: p["steps"][0].update(out="x"), "the name of something else"),
    "a name that is none": (lambda p: p["steps"][0].update(out="2"), "a name is like"),
    "a leaf of nothing": (lambda p: p.update(tracked=["y"]), "are no inputs"),
    "nothing asked": (lambda p: p["steps"][2].pop("expect"), "names clauses"),
    "nobody to blame": (lambda p: p["steps"][2].pop("clauses"), "names clauses"),
    "two things due": (lambda p: p["steps"][2].update(open=True), "one thing is due"),
    "an answer of a deed": (lambda p: p["steps"][1].update(open=True, clauses=["WRITE-2"]), "questions, and nothing"),
    "a question that may be refused": (
        lambda p: p["steps"][3].update(may_refuse=p["steps"][3].pop("refuse")),
        "questions, and nothing",
    ),
    "a write without a value": (lambda p: p["steps"][1]["args"].pop(), "takes 2, got 1"),
    "a write with a result": (lambda p: p["steps"][1].update(out="w"), "nothing that could get a name"),
    "a tangent after a write": (
        lambda p: p["steps"].insert(2, {"op": "jvp", "args": [{"name": name} for name in "yxx"], "out": "t"}),
        r"steps\[2\]: calls are made again",
    ),
    "an array written out": (lambda p: p["steps"][1].update(args=[{"name": "x"}, X]), "exactly one of int, float"),
    "another field": (lambda p: p["steps"][1].update(note="x"), "no field 'note'"),
    "no steps": (lambda p: p.update(steps=[]), "is empty"),
    "words that do not fit": (lambda p: p["inputs"]["x"]["nested"].update(bits=["3f80", "40000000"]), "digits"),
    "two ragged dimensions in the jagged layout": (
        lambda p: p["inputs"].update(
            w={"nested": {"dtype": "bool", "shape": [0, None, None], "shapes": [], "bits": []}}
        ),
        "jagged holds one irregular dimension",
    ),
}


def changed(change: Change) -> dict[str, Any]:
    program = copy.deepcopy(ACCEPTED)
    change(program)
    return program


def test_a_program_is_accepted() -> None:
    check(ACCEPTED, PROGRAM)
    assert lint_programs(load_table(), {"write": [ACCEPTED]}) == []


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_program_is_refused(name: str) -> None:
    change, text = REFUSED[name]
    with pytest.raises(Malformed, match=text):
        check(changed(change), PROGRAM)


LINTED: dict[str, tuple[Change, str]] = {
    "an operator that is not there": (lambda p: p["steps"][0].update(op="negate"), "there is no operator negate"),
    "an idea as an operator": (lambda p: p["steps"][0].update(op="dtypes"), "there is no operator dtypes"),
    "too few arguments": (lambda p: p["steps"][0].update(op="mul"), "missing a required argument"),
    "a clause that is not there": (lambda p: p["steps"][2].update(clauses=["WRITE-99"]), "of which the table has"),
    "an answer for an error clause": (lambda p: p["steps"][2].update(clauses=["WRITE-9"]), "no refusal is due"),
    "another error than the clause": (lambda p: p["steps"][3].update(refuse="ShapeError"), "ShapeError is due"),
    "a refusal of a value clause": (lambda p: p["steps"][3].update(clauses=["SHAPE-1"]), "about no error"),
    "no kind of error": (
        lambda p: p["steps"][1].update(may_refuse="Oops", clauses=["WRITE-2"]),
        "'Oops' is no kind of error",
    ),
    "filed elsewhere": (lambda p: p.update(id="tape/float32/filled/1"), "is filed under write"),
    "nothing but refusals": (lambda p: p.update(steps=p["steps"][:1] + p["steps"][3:]), "asks nothing"),
}


@pytest.mark.parametrize("name", LINTED)
def test_the_linter_finds(name: str) -> None:
    change, text = LINTED[name]
    assert any(text in found for found in lint_programs(load_table(), {"write": [changed(change)]}))


def test_chapters_and_ids_are_checked() -> None:
    table = load_table()
    assert "a chapter that the table does not know" in lint_programs(table, {"sum": []})[0]
    assert "the id of 2 programs" in lint_programs(table, {"write": [ACCEPTED, ACCEPTED]})[0]


def test_files_of_programs_are_read_and_are_no_vectors(tmp_path: Path) -> None:
    file: dict[str, Any] = {"format": FORMAT, "spec": "0.1", "chapter": "write", "count": 1, "programs": [ACCEPTED]}
    path = tmp_path / "programs" / "write.json"
    path.parent.mkdir()
    for changes, text in (
        ({}, ""),
        ({"format": "pynested-vectors/1"}, "format: expected"),
        ({"chapter": "tape"}, "chapter: expected write"),
        ({"count": 2}, "announces 2 programs and holds 1"),
        ({"programs": [changed(REFUSED["no steps"][0])]}, "programs/write.json: write/float32/filled/1: steps"),
    ):
        path.write_text(json.dumps({**file, **changes}), encoding="utf-8")
        assert read_vectors(tmp_path) == {}
        if text:
            with pytest.raises(ValueError, match=text):
                read_programs(tmp_path)
        else:
            assert read_programs(tmp_path) == {"write": [ACCEPTED]}
    assert not set(load_programs()) & set(load_vectors())


def test_every_kind_of_step_is_in_some_program() -> None:
    steps = [step for group in load_programs().values() for program in group for step in program["steps"]]
    used = {step["op"] for step in steps}
    assert used >= {*WRITES, *OF_TAPE, *CREATION, *QUESTIONS}
    due = {name for step in steps for name in step}
    assert due >= {"expect", "open", "refuse", "may_refuse"}
    assert {operator_of(op) for op in used} - {""} <= set(load_table())


def test_names_are_found_in_lists_and_keywords() -> None:
    step = {
        "op": "cat",
        "args": [{"list": [{"name": "a"}, {"name": "b"}]}, {"int": "0"}],
        "kwargs": {"out": {"name": "c"}},
    }
    assert names_in(step) == ["a", "b", "c"]


# ---- the JSON Schema


def schema() -> Draft202012Validator:
    """The schema of a file of programs, which refers to that of the vectors."""
    folder = files("pynested.spec")
    read = [json.loads(folder.joinpath(f"{name}.schema.json").read_text("utf-8")) for name in ("programs", "vectors")]
    known = Registry().with_resources((one["$id"], Resource.from_contents(one)) for one in read)
    return Draft202012Validator(read[0], registry=known)


def as_file(program: dict[str, Any]) -> dict[str, Any]:
    return {"format": FORMAT, "spec": "0.1", "chapter": "write", "count": 1, "programs": [program]}


def test_the_programs_keep_to_the_schema() -> None:
    validator = schema()
    for path in sorted(FOLDER.glob("programs/*.json")):
        assert [error.json_path for error in validator.iter_errors(json.loads(path.read_text("utf-8")))] == []


# What is wrong with a program and no schema can say: it needs names, counting, or to know the steps.
BEYOND = {
    *("a name of nothing", "a name too early", "a name twice", "a name that is none", "a leaf of nothing"),
    *("an answer of a deed", "a question that may be refused", "a write without a value", "a write with a result"),
    *("a tangent after a write", "words that do not fit", "two ragged dimensions in the jagged layout"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_program_breaks_the_schema_or_needs_more(name: str) -> None:
    validator = schema()
    assert validator.is_valid(as_file(ACCEPTED))
    assert validator.is_valid(as_file(changed(REFUSED[name][0]))) == (name in BEYOND)
