"""The page for those who write an adapter: its session is what is sent and answered, its example agrees."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pynested.cli import main
from pynested.conformance import messages
from pynested.conformance.adapters.base import PythonAdapter
from pynested.conformance.adapters.pynested_adapter import PynestedTarget
from pynested.conformance.corpus import Selection, load_corpus
from pynested.conformance.judge import MISSING, OK, judge
from pynested.conformance.placements import SAYS
from pynested.conformance.records import read
from pynested.conformance.replies import read_reply
from pynested.conformance.runner import plan
from pynested.conformance.session import Identity
from pynested.spec.programs import CREATION, OF_TAPE, QUESTIONS, WRITES

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed here; it runs docs/adapter.mjs")
CASES = ("square/float32/batch1-len1/1", "sum/float32/vectors/1", "sum/error/range-batch0/1", "sum/float32/batch0/2")
Message = dict[str, Any]


@pytest.fixture
def page(root: Path) -> str:
    return (root / "docs" / "adapters.md").read_text(encoding="utf-8")


def session(page: str, heading: str = "A session") -> tuple[list[Message], list[Message]]:
    """What the page shows as written by the runner, and as written by the adapter; a line may be broken."""
    section = page.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    shown = re.findall(r"^    (->|<-) (.*(?:\n       .*)*)", section, re.MULTILINE)
    lines = [(sign, json.loads(re.sub(r"\n\s+", " ", text))) for sign, text in shown]
    return [line for sign, line in lines if sign == "->"], [line for sign, line in lines if sign == "<-"]


def test_the_session_shows_what_the_runner_sends(page: str) -> None:
    sent, _ = session(page)
    jobs = {job.case.id: job for job in plan(load_corpus(), Selection(layouts=("jagged",)))}
    runs = [{**jobs[name].requests()[0], "seq": number} for number, name in enumerate(CASES, 1)]
    assert sent == [messages.start("cpu"), *runs, messages.stop()]
    assert all(name in page for name in CASES)


def test_the_session_shows_what_agrees(page: str) -> None:
    sent, (hello, *replies) = session(page)
    schema = json.loads(files("pynested.conformance").joinpath("schemas/messages.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(hello)
    assert Identity.from_reply(hello).capabilities.operators == ("neg", "square", "exp", "sum")
    jobs = {job.case.id: job for job in plan(load_corpus(), Selection(layouts=("jagged",)))}
    verdicts = []
    for name, request, reply in zip(CASES, sent[1:-1], replies, strict=True):
        Draft202012Validator(schema).validate(reply)
        verdicts.append([one.verdict for one in judge(jobs[name].case, "jagged", read_reply(reply, request))])
    assert verdicts[:3] == [[OK, OK], [OK, OK], [OK]] and verdicts[3][0] == MISSING


@needs_node
def test_the_example_answers_as_the_page_shows(page: str, root: Path) -> None:
    sent, answers = session(page)
    text = "".join(json.dumps(one) + "\n" for one in sent)
    command = [str(NODE), str(root / "docs" / "adapter.mjs")]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=True)
    assert [json.loads(line) for line in done.stdout.splitlines()] == answers and not done.stderr


@needs_node
def test_the_example_agrees_with_the_specification(root: Path, tmp_path: Path) -> None:
    kept, command = tmp_path / "run.ndjson", f"{NODE} '{root / 'docs' / 'adapter.mjs'}'"
    chosen = [part for op in ("neg", "square", "exp", "sum") for part in ("--op", op)]
    assert main(["conform", "--adapter", command, *chosen, "--json", str(kept)]) == 0
    parts = [pair for result in read(kept).results for pair in result["parts"].items()]
    assert {pair for pair in parts if pair[1] == OK} == {("forward", OK), ("gradient", OK), ("error", OK)}
    assert main(["adapter", "smoke", command]) == 0


@needs_node
def test_a_fault_in_the_example_is_found(root: Path, tmp_path: Path) -> None:
    text = (root / "docs" / "adapter.mjs").read_text(encoding="utf-8")
    assert text.count("=> 2 * v)") == 1
    wrong = tmp_path / "adapter.mjs"
    wrong.write_text(text.replace("=> 2 * v)", "=> 3 * v)"), encoding="utf-8")
    assert main(["conform", "--adapter", f"{NODE} '{wrong}'", "--op", "square"]) == 1


def test_what_the_page_says_of_names_is_what_there_is(page: str) -> None:
    schema = json.loads(files("pynested.conformance").joinpath("schemas/messages.json").read_text(encoding="utf-8"))
    said = set(re.findall(r"`([\w-]+)`", page))
    defined = schema["$defs"]
    names = {*defined["capabilities"]["properties"], *defined["run"]["properties"], *defined["start"]["properties"]}
    names |= {*defined["started"]["oneOf"][1]["properties"], *defined["error"]["properties"]}
    names |= {*defined["capabilities"]["properties"]["placements"]["items"]["enum"]}
    assert names - said <= {"cmd"}
    assert [f"| `{word}` | {what} |" for word, what in SAYS.items() if f"| `{word}` | {what} |" not in page] == []


def test_the_program_on_the_page_is_answered_so(page: str) -> None:
    """By pynested; the numbers are those of the page."""
    (request,), (shown,) = session(page, "Programs")
    schema = json.loads(files("pynested.conformance").joinpath("schemas/messages.json").read_text(encoding="utf-8"))
    for message in (request, shown):
        Draft202012Validator(schema).validate(message)
    assert PythonAdapter(PynestedTarget()).run(request) == shown


def test_the_page_names_every_step_that_is_no_operator(page: str) -> None:
    section = page.partition("## Programs\n")[2].partition("\n## ")[0]
    assert [name for name in (*WRITES, *OF_TAPE, *CREATION, *QUESTIONS) if f"`{name}`" not in section] == []
