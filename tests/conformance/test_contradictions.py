"""An answer that contradicts itself is told in words of the kit, blamed on the sentence it breaks, and shown again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pynested.conformance.adapters.values import encode_result
from pynested.conformance.blame import blame
from pynested.conformance.contradictions import OUTSIDE, TRACKED, TWICE, USED, is_shown, told, used_by
from pynested.conformance.corpus import Corpus, load_corpus
from pynested.conformance.judge import Finding, judge
from pynested.conformance.pasted import mismatches
from pynested.conformance.records import Run
from pynested.conformance.replies import REFUSAL, VALUE, Refusal, Reply
from pynested.conformance.snippets import snippet
from pynested.spec.components import Components
from pynested.spec.encoding import encode_value
from pynested.spec.table import load_table

RAGGED = Components([np.float32([1, 2]), np.float32([3])])


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return load_corpus()


@pytest.fixture
def exp(corpus: Corpus) -> Any:
    return next(one for one in corpus.cases if one.id == "exp/float32/ragged/1")


def code(dialect: str, got: str = "", **how: bool) -> str:
    operand = encode_result(RAGGED)
    request = {"op": "exp", "layout": "jagged", "placement": "packed", "args": [operand], "kwargs": {}}
    request |= {"wrt": [0], "cotangent": encode_value(RAGGED)}
    return snippet(request, load_table()["exp"], dialect, got=got, **how)


def test_a_report_says_it_without_a_class_of_error_that_is_none_of_the_target(exp: Any) -> None:
    unreadable = Refusal("IndexError", "out of range", "read")
    for refusal, text in (
        (Refusal("Contradiction", TRACKED, "read"), TRACKED),
        (unreadable, "IndexError: out of range"),
    ):
        forward = judge(exp, "jagged", Reply(REFUSAL, refusal=refusal))[0]
        assert (forward.verdict, forward.got) == ("corrupt", text)
        value = judge(exp, "jagged", Reply(REFUSAL, refusal=replace(refusal, phase="run")))[0]
        assert value.verdict == "refused"
    assert told(f"Contradiction: {TWICE}") == TWICE


@pytest.mark.parametrize(
    ("layout", "clause"), [("jagged", "NESTED_ARRAY_FROM_JAGGED-11"), ("strided", "NESTED_ARRAY_FROM_STRIDED-7")]
)
def test_a_gradient_beside_all_components_breaks_the_sentence_on_holes(
    corpus: Corpus, exp: Any, layout: str, clause: str
) -> None:
    outside = Finding("gradient", "corrupt", "a gradient", OUTSIDE.format(np.nan))
    assert blame(exp, layout, outside, corpus, placed=True).id == clause
    twice = replace(outside, got=TWICE)
    assert blame(exp, layout, twice, corpus, placed=True).id == "TAPE-1"  # packed components may be pulled once only


@pytest.mark.parametrize("dialect", ["torch", "pynested"])
def test_a_snippet_pulls_back_twice_where_that_is_what_differs(dialect: str) -> None:
    *_, loop, pull, shown = code(dialect, TWICE, gradient=True).splitlines()
    assert loop == "for _ in range(2):" and shown.startswith("    print(x") and shown.endswith("grad)")
    assert pull.startswith("    ") and pull.endswith(", retain_graph=True)")
    assert "range" not in code(dialect, TRACKED, gradient=True)


def test_a_snippet_uses_the_result_where_that_is_what_differs() -> None:
    for dialect, name in (("torch", "to_padded_tensor"), ("pynested", "to_padded_array")):
        line = code(dialect, USED.format(name)).splitlines()[-1]
        assert f"{name}(out, 0" in line and name not in code(dialect, USED.format("where"))
    assert used_by(TWICE) == ""


def test_a_jagged_result_of_torch_is_printed_with_its_numbers() -> None:
    assert code("torch", nested=True).splitlines()[-1] == "print(*out.unbind())"
    assert code("torch").splitlines()[-1] == code("pynested", nested=True).splitlines()[-1] == "print(out)"


def test_a_snippet_that_ends_in_an_error_shows_no_contradiction() -> None:
    known = [TWICE, USED.format("f"), OUTSIDE.format("nan")]
    code = "import math\n\nraise ValueError('x')"
    findings = [{"verdict": "corrupt", "snippet": code, "got": got, "kind": "corrupt"} for got in (*known, "E: what")]
    wrong = mismatches(Run({}, [{"id": "a", "findings": findings}]))
    assert [finding["got"] for _, finding, _ in wrong] == known
    assert [is_shown(one["got"]) for one in findings] == [True, True, True, False]


def test_a_value_is_no_contradiction(exp: Any) -> None:
    found = judge(exp, "jagged", Reply(VALUE, value=RAGGED))
    assert "corrupt" not in {one.verdict for one in found}
