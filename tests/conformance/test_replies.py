"""Whatever an adapter says becomes a reply, and whatever is no reply becomes one that is garbled and says why."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from pynested.conformance.adapters.base import PythonAdapter
from pynested.conformance.adapters.pynested_adapter import PynestedTarget
from pynested.conformance.asking import Job
from pynested.conformance.corpus import Selection, load_corpus
from pynested.conformance.judge import DIFFERS, OK, UNREACHED, Finding
from pynested.conformance.messages import Message
from pynested.conformance.programs import judged
from pynested.conformance.replies import ERRORED, GARBLED, MISSING, VALUE, Other, Reader, Reply, read_line, read_reply
from pynested.conformance.runner import plan
from pynested.spec.encoding import Components, encode_value

from .hostile import DENSE, NESTED, NO_REPLIES, REFUSAL, RIGHT, line
from .mutations import mutated

X = encode_value(Components([np.float32([[1, 2]]), np.float32([[3, 4], [5, 6]])]))
REQUEST: Message = {
    "seq": 7,
    "op": "sum",
    "args": [X, encode_value(1)],
    "kwargs": {"dtype": None},
    "wrt": [0],
    "cotangent": X,
}


def read(reply: dict[str, Any]) -> Reply:
    return read_line(json.dumps({"seq": 7, **reply}), REQUEST)


@pytest.mark.parametrize("name", NO_REPLIES)
def test_what_is_no_reply_is_garbled(name: str) -> None:
    sent, says = NO_REPLIES[name]
    reply = read_line(line(sent, 7), {**REQUEST, "seq": 1} if isinstance(sent, str) else REQUEST)
    assert reply.outcome == GARBLED and "which is not a reply" in reply.text and says in reply.text
    assert reply.text.isprintable() and len(reply.text) <= 600
    if isinstance(sent, dict):
        here = read_reply({"seq": 7, **sent}, REQUEST)
        assert here.outcome == GARBLED and says in here.text


def test_a_reply_that_keeps_to_the_protocol_is_decoded() -> None:
    reply = read(RIGHT)
    assert reply.outcome == VALUE and reply.gradient is None
    assert np.array_equal(reply.value, np.float32([[1, 2], [8, 10]])) and reply.value.dtype == np.float32
    nested = read({"value": {"nested": {**NESTED, "shape": [2, None]}}}).value
    assert (
        isinstance(nested, Components)
        and nested.shape == (2, None)
        and [one.tolist() for one in nested] == [[1, 2]] * 2
    )
    numbers = [{"python": one} for one in ({"float": "-Infinity"}, {"int": "-3"}, {"float": "-3"}, False, None)]
    several = read({"value": {"list": [{"dense": DENSE}, *numbers, {"other": "a set"}]}}).value
    assert [repr(one) for one in several[1:]] == ["-inf", "-3", "-3.0", "False", "None", repr(Other("a set"))]


def test_fields_that_the_protocol_does_not_name_are_left_alone() -> None:
    reply = read({"value": {"dense": {**DENSE, "show": "1 2; 8 10", "strides": [2, 1]}, "ms": 0.1}, "took": [0.1]})
    assert reply.outcome == VALUE


def test_gradients_are_found_by_their_arguments() -> None:
    reply = read({**RIGHT, "gradient": {"args": [{"nested": NESTED}, None], "kwargs": {"dtype": None}}})
    assert reply.gradient is not None
    assert list(reply.gradient.value) == [0, 1, "dtype"] and reply.gradient.value[1] is None
    assert read({**RIGHT, "gradient": {"args": [None, None]}}).gradient == Reply(VALUE, value={0: None, 1: None})
    missing = read({**RIGHT, "gradient": {"missing": "no backward"}}).gradient
    refused = read({**RIGHT, "gradient": {"error": REFUSAL}}).gradient
    assert missing == Reply(MISSING, "no backward")
    assert refused is not None and str(refused.refusal) == "ValueError: not with me"


def test_the_gradient_of_a_list_is_as_long_as_the_list() -> None:
    request = {**REQUEST, "args": [{"list": [X, X]}]}
    for count, outcome in ((1, GARBLED), (2, VALUE), (3, GARBLED)):
        reply = {"seq": 7, **RIGHT, "gradient": {"args": [{"list": [None] * count}]}}
        assert read_reply(reply, request).outcome == outcome


def test_the_gradient_of_a_mapping_has_its_names() -> None:
    request = {**REQUEST, "args": [{"mapping": {"w": X, "b": X}}]}
    for names, outcome in (("w", VALUE), ("bw", VALUE), ("wa", GARBLED)):
        pulled = {"mapping": {name: None if name == "b" else {"nested": NESTED} for name in names}}
        reply = read_reply({"seq": 7, **RIGHT, "gradient": {"args": [pulled]}}, request)
        assert reply.outcome == outcome
        assert reply.gradient is None or set(reply.gradient.value[0]) == set(names)
    listed = {"seq": 7, **RIGHT, "gradient": {"args": [{"mapping": {}}]}}
    assert read_reply(listed, {**REQUEST, "args": [X]}).outcome == VALUE  # which says nothing of any name


def test_text_of_strangers_is_shown_and_not_obeyed() -> None:
    kind, message = "\x1b[2JValueError", "half \ud800 a pair\nOK \u202e" + "x" * 1000
    refusal = read({"error": {"kind": kind, "message": message}}).refusal
    assert refusal is not None and refusal.kind == r"\x1b[2JValueError"
    assert refusal.message.startswith(r"half \ud800 a pair\nOK \u202ex") and len(refusal.message) < 600
    assert read({"missing": "\r\n"}).text == r"\r\n"
    assert read({"value": {"other": "\x07", "dtype": "\x07"}}).value == Other(r"\x07", r"\x07")
    traceback = read({"errored": "Traceback\n  line \x1b[31m1\n"})
    assert traceback == Reply(ERRORED, "Traceback\n  line \\x1b[31m1")


# --- no reply may stop the judge


@pytest.fixture(scope="module")
def answered() -> Sequence[tuple[Job, Message, Message]]:
    """Some calls of every operator, and the replies of the reference implementation."""
    corpus = load_corpus()
    adapter = PythonAdapter(PynestedTarget())
    jobs = {
        (job.case.op, job.layout, job.case.is_error, "list" in job.case.expect): job
        for job in plan(corpus, Selection())
    }
    pairs = [(job, job.requests()[0]) for job in jobs.values()]
    return [(job, request, json.loads(json.dumps(adapter.run(request)))) for job, request in pairs]


def findings(job: Job, request: Message, reply: Any) -> list[Finding]:
    found = judged(job.case, job.layout, read_reply(reply, request))
    assert found and all(one.got.isprintable() for one in found if one.verdict in DIFFERS)
    return found


def test_damaged_replies_are_judged(answered: Sequence[tuple[Job, Message, Message]]) -> None:
    dice = random.Random(1)
    verdicts = {one.verdict for each in answered for one in findings(*each)}
    assert verdicts <= {OK, UNREACHED}
    for job, request, reply in answered:
        for _ in range(32):
            verdicts |= {one.verdict for one in findings(job, request, mutated(reply, dice))}
    assert verdicts >= {"garbled", "value", "shape", "kind", "missing"}


def test_the_reply_to_another_call_is_judged(answered: Sequence[tuple[Job, Message, Message]]) -> None:
    """It keeps to the protocol, so whatever form is given where another is wanted must be compared."""
    dice = random.Random(2)
    verdicts = set()
    for job, request, _ in answered:
        for _, _, other in dice.sample(answered, 8):
            reply = {**other, "gradient": {"args": [other.get("value")] * len(request.get("args", []))}}
            verdicts |= {one.verdict for one in findings(job, request, reply)}
    assert verdicts >= {"value", "shape", "dtype", "kind", "refused", "accepted", "error-kind"}


def test_a_reply_that_is_word_for_word_the_last_one_is_read_once() -> None:
    reader, call = Reader(), {"args": [1], "kwargs": {}}
    first = reader.line('{"seq": 1, "value": {"python": true}}', {**call, "seq": 1})
    assert first.value is True
    assert reader.line('{"seq": 2, "value": {"python": true}}', {**call, "seq": 2}) is first
    assert reader.line('{"seq": 2, "value": {"python": true}}', {**call, "seq": 3}).outcome == GARBLED
    other = reader.line('{"seq": 4, "value": {"python": true}}', {**call, "args": [2], "seq": 4})
    assert other is not first and other == first

    made = reader.reply({"seq": 5, "value": {"python": True}}, {**call, "seq": 5})
    assert reader.reply({"seq": 6, "value": {"python": True}}, {**call, "seq": 6}) is made
    assert reader.reply({"seq": 6, "value": {"python": True}}, {**call, "seq": 7}).outcome == GARBLED
    assert reader.reply(["no", "reply"], {**call, "seq": 8}).outcome == GARBLED
