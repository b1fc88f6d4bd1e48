"""The JSON Schema of the messages says what the runner writes, and whatever the runner takes from an adapter."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pynested.conformance import messages
from pynested.conformance.adapters.base import PythonAdapter
from pynested.conformance.adapters.pynested_adapter import PynestedTarget
from pynested.conformance.capabilities import RULE
from pynested.conformance.corpus import Selection, load_corpus
from pynested.conformance.placements import LAYOUTS, PLACEMENTS
from pynested.conformance.replies import GARBLED, read_reply
from pynested.conformance.runner import plan
from pynested.conformance.session import ERRORS
from pynested.spec.encoding import WIDTHS

from .hostile import NO_REPLIES
from .mutations import mutated

SCHEMA = json.loads(files("pynested.conformance").joinpath("schemas/messages.json").read_text(encoding="utf-8"))
DEFINED = SCHEMA["$defs"]

# What is wrong with a reply and no schema can say: it needs counting, or the request.
BEYOND = {
    "another seq",
    "shape huge",
    "shape beyond numbers",
    "shape beyond memory",
    "shape of 70 dimensions",
    "bits short",
    "bits of a bool",
    "components lost",
    "components of another rank",
    "components of another size",
    "shape real",  # for a schema 2.0 is an integer
    "lists in lists",
    "gradient of a name",
    "gradient too short",
    "gradient too long",
    "gradient of no argument",
    "gradient list of an array",
    "gradient cut",
    "a float beyond all",
    "an int without end",
}


@pytest.fixture(scope="module")
def validator() -> Callable[[str], Draft202012Validator]:
    Draft202012Validator.check_schema(SCHEMA)
    return lambda name: Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": DEFINED})


Validators = Callable[[str], Draft202012Validator]


def test_the_words_of_the_schema_are_those_of_the_kit() -> None:
    assert DEFINED["dtype"]["enum"] == list(WIDTHS)
    assert DEFINED["start"]["properties"]["protocol"]["const"] == messages.PROTOCOL
    assert DEFINED["started"]["oneOf"][1]["properties"]["errors"]["enum"] == list(ERRORS)
    declared = DEFINED["capabilities"]["properties"]
    assert list(declared) == [name.removesuffix("?") for name in RULE]
    assert declared["layouts"]["items"]["enum"] == list(LAYOUTS)
    assert declared["placements"]["items"]["enum"] == list(PLACEMENTS)
    words = "|".join(PLACEMENTS)
    assert DEFINED["run"]["properties"]["placement"]["pattern"] == rf"^({words})(\+({words}))*$"


def test_what_the_runner_writes_keeps_to_the_schema(validator: Validators) -> None:
    requests = validator("request")
    for message in (messages.start("cpu"), messages.stop()):
        requests.validate(message)
    for job in plan(load_corpus(), Selection(layouts=("jagged",)))[::5]:
        requests.validate(job.requests()[0])


def test_what_the_reference_answers_keeps_to_the_schema(validator: Validators) -> None:
    answers, adapter = validator("answer"), PythonAdapter(PynestedTarget())
    answers.validate(adapter.start("cpu"))
    answers.validate({"protocol": 2, "unavailable": "not here"})
    for job in plan(load_corpus(), Selection(layouts=("jagged",)))[::10]:
        answers.validate(json.loads(json.dumps(adapter.run(job.requests()[0]))))


@pytest.mark.parametrize("name", [name for name, (reply, _) in NO_REPLIES.items() if isinstance(reply, dict)])
def test_what_is_no_reply_breaks_the_schema_or_needs_counting(validator: Validators, name: str) -> None:
    reply = NO_REPLIES[name][0]
    assert isinstance(reply, dict)
    if name != "lists without end":  # where the validator, like any other, comes to the end of its stack
        assert validator("reply").is_valid({"seq": 7, **reply}) == (name in BEYOND)


def test_whatever_the_runner_takes_keeps_to_the_schema(validator: Validators) -> None:
    dice, adapter, replies = random.Random(3), PythonAdapter(PynestedTarget()), validator("reply")
    taken = refused = 0
    for job in plan(load_corpus(), Selection(layouts=("strided",)))[::20]:
        request = job.requests()[0]
        right = json.loads(json.dumps(adapter.run(request)))
        for _ in range(8):
            damaged: Any = mutated(right, dice)
            if read_reply(damaged, request).outcome == GARBLED:
                refused += 1
                continue
            replies.validate(damaged)
            taken += 1
    assert min(taken, refused) > 50
