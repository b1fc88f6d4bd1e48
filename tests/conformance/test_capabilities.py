"""What an adapter says that it can do: nothing beyond that is sent to it, and nothing is held against it."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pynested.conformance.adapters.base import PythonAdapter
from pynested.conformance.adapters.pynested_adapter import PynestedTarget
from pynested.conformance.capabilities import Capabilities, Within
from pynested.conformance.conform import conform
from pynested.conformance.corpus import Selection, load_corpus
from pynested.conformance.records import Run
from pynested.conformance.replies import MISSING, VALUE, Reply
from pynested.conformance.report import Report
from pynested.conformance.session import InProcess

X = {"nested": {"dtype": "float32", "shape": [1, 1], "shapes": [[1]], "bits": ["3f800000"]}}
REQUEST: dict[str, Any] = {
    "op": "sum",
    "layout": "jagged",
    "placement": "packed",
    "args": [X, {"int": "1"}],
    "kwargs": {"dtype": {"dtype": "float64"}},
    "wrt": [0],
    "cotangent": X,
}


@pytest.mark.parametrize(
    ("fields", "lacks"),
    [
        ({}, ""),
        ({"operators": ["sum"], "layouts": ["jagged"], "placements": ["packed"]}, ""),
        ({"dtypes": ["float32", "float64"]}, ""),
        ({"operators": ["exp"]}, "sum among its operators"),
        ({"operators": []}, "sum among its operators"),
        ({"layouts": ["strided"]}, "jagged among its layouts"),
        ({"placements": ["holes-nan"]}, "packed among its placements"),
        ({"dtypes": ["float64"]}, "float32 among its dtypes"),
        ({"dtypes": ["float32"]}, "float64 among its dtypes"),
    ],
)
def test_what_is_not_listed_is_lacking(fields: dict[str, Any], lacks: str) -> None:
    found = Capabilities.from_fields(fields).lacks(REQUEST)
    assert found.endswith(lacks) and bool(found) == bool(lacks)


@pytest.mark.parametrize(
    "ops", [[], ["away"], ["here", "away"], ["away", "here", "away", "away", "here"], ["here"] * 3]
)
@pytest.mark.parametrize("window", [1, 3, 100])
def test_replies_stay_in_order(ops: list[str], window: int) -> None:
    """An adapter that takes several requests before it answers still has its replies beside the right requests."""

    def answers(requests: Iterable[dict[str, Any]]) -> Iterator[Reply]:
        taken: list[dict[str, Any]] = []
        for request in requests:
            taken.append(request)
            if len(taken) == window:
                yield Reply(VALUE, str(taken.pop(0)["seq"]))
        yield from (Reply(VALUE, str(one["seq"])) for one in taken)

    within = Within(
        Capabilities(operators=("here",)), ({**REQUEST, "op": op, "seq": seq} for seq, op in enumerate(ops))
    )
    found = [one.text if one.outcome == VALUE else one.outcome for one in within.answers(answers(within))]
    assert found == [MISSING if op == "away" else str(seq) for seq, op in enumerate(ops)]


def ran(vectors: Path, miniature: ModuleType, name: str = "Right", **more: Any) -> tuple[Run, list[dict[str, Any]]]:
    """The run of a miniature that declares something, and what it was asked."""
    asked: list[dict[str, Any]] = []

    class Declares(PythonAdapter):
        def start(self, device: str) -> dict[str, Any]:
            return {**super().start(device), **more}

        def run(self, message: dict[str, Any]) -> dict[str, Any]:
            asked.append(message)
            return super().run(message)

    def start() -> InProcess:
        return InProcess(Declares(getattr(miniature, name)()))

    return conform(load_corpus(vectors), Selection(), start, None, io.StringIO()), asked


def parts(run: Run) -> set[tuple[str, str, str]]:
    return {(one["layout"], part, verdict) for one in run.results for part, verdict in one["parts"].items()}


def test_what_is_not_declared_is_missing_and_never_asked(vectors: Path, miniature: ModuleType) -> None:
    run, asked = ran(vectors, miniature, capabilities={"layouts": ["jagged"], "placements": ["packed"]})
    assert {(one["layout"], one["placement"]) for one in asked} == {("jagged", "packed")}
    assert run.exit_code == 0
    assert {one for one in parts(run) if one[0] == "jagged"} == {
        ("jagged", "forward", "ok"),
        ("jagged", "gradient", "ok"),
        ("jagged", "error", "ok"),
    }
    assert {verdict for layout, _, verdict in parts(run) if layout == "strided"} == {"missing", "unreached"}


def test_gradients_that_are_not_there_are_missing(vectors: Path, miniature: ModuleType) -> None:
    run, asked = ran(vectors, miniature, capabilities={"gradients": False})
    assert not any("cotangent" in one for one in asked)
    assert {verdict for _, part, verdict in parts(run) if part == "gradient"} == {"missing"}
    assert {verdict for _, part, verdict in parts(run) if part != "gradient"} == {"ok"}


@pytest.mark.parametrize(
    ("errors", "verdict"), [("kind", "error-kind"), ("builtin", "error-kind"), ("any", "ok"), ("none", "")]
)
def test_an_adapter_says_which_refusals_count(vectors: Path, miniature: ModuleType, errors: str, verdict: str) -> None:
    run, asked = ran(vectors, miniature, "WrongErrorKind", errors=errors)
    assert {one for _, part, one in parts(run) if part == "error"} == ({verdict} if verdict else set())
    assert any(one["args"][1] == {"int": "5"} for one in asked) == (errors != "none")


def test_accepting_a_bad_call_counts_where_any_refusal_would_do(vectors: Path, miniature: ModuleType) -> None:
    run, _ = ran(vectors, miniature, "AcceptsBad", errors="any")
    assert {one for _, part, one in parts(run) if part == "error"} == {"accepted"}


def declaring(capabilities: dict[str, Any], *ops: str, quick: bool = True) -> tuple[Run, list[dict[str, Any]]]:
    """The run of a target that is right, so that nothing is asked a second time, and all that was sent to it."""
    sent: list[dict[str, Any]] = []

    class Declares(PythonAdapter):
        def start(self, device: str) -> dict[str, Any]:
            return {**super().start(device), "capabilities": capabilities}

        def run(self, message: dict[str, Any]) -> dict[str, Any]:
            sent.append(message)
            return super().run(message)

    chosen = Selection(ops=ops, quick=quick)
    return conform(load_corpus(), chosen, lambda: InProcess(Declares(PynestedTarget())), None, None), sent


@pytest.mark.parametrize("declared", [{"operators": ["softmax"]}, {"placements": ["packed"]}, {"dtypes": ["float64"]}])
@pytest.mark.parametrize("programs", [False, True])
def test_the_summary_counts_only_calls_that_were_sent(declared: dict[str, Any], programs: bool) -> None:
    """All of them but refusals that say nothing, since the call beside them was not sent."""
    quick = "dtypes" not in declared  # refusals are many among the cases of a quick look
    done, sent = declaring({**declared, "programs": programs}, "softmax", "amax", "tape", "write", quick=quick)
    summary = " ".join(Report(done).text().split()).partition(" calls in ")
    calls = int(summary[0].rpartition(" ")[2].replace(",", ""))
    assert calls == len(sent) if "dtypes" not in declared else 0.8 * len(sent) < calls <= len(sent)
    counted = dict(re.findall(r"([\w-]+|gaps of NaN) ([\d,]+)[,.]", summary[2].partition("Dtypes:")[0]))
    words = {"gaps of NaN": "holes-nan", "number": "holes-max", "way": ""}  # each operand in its own way
    found = Counter({words.get(word, word): int(count.replace(",", "")) for word, count in counted.items()})
    assert found <= Counter("" if "+" in one["placement"] else one["placement"] for one in sent)
    dtypes = re.findall(r"(bool|u?int\d+|float\d+) ", summary[2].partition("Dtypes:")[2].partition(".")[0])
    assert dtypes == ["float64"] if "dtypes" in declared else len(dtypes) > 2


def test_no_refusal_counts_of_a_call_that_was_not_sent() -> None:
    """A call that must be refused can need a dtype that the call beside it does not need."""
    done, _ = declaring({"dtypes": ["float32"]}, "amax", quick=False)
    agree = [one for one in done.results if one["parts"].get("error") == "ok"]
    assert {dtype for one in agree for dtype in one["dtypes"]} == {"float32"}
