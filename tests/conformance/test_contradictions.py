"""An answer that contradicts itself is told in words of the kit, blamed on the sentence it breaks, and shown again."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from pynested.conformance.adapters.torch_adapter import TorchTarget
from pynested.conformance.adapters.values import encode_result
from pynested.conformance.blame import blame
from pynested.conformance.contradictions import OUTSIDE, TRACKED, TWICE, USED, Contradiction, is_shown, told, used_by
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
    assert loop == "for time in ('first', 'second'):"
    assert shown.startswith("    print(time, x") and shown.endswith("grad)")
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


@pytest.mark.parametrize("dialect", ["torch", "pynested"])
def test_a_number_that_is_off_by_a_rounding_is_printed_with_all_digits(dialect: str) -> None:
    line = {"torch": "torch.set_printoptions(precision=17)", "pynested": "np.set_printoptions(precision=17)"}[dialect]
    assert line in code(dialect, precise=True).splitlines() and line not in code(dialect)


@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed here")
@pytest.mark.parametrize(
    ("offsets", "lengths", "agrees"),
    [([0, 2, 3], None, True), ([0, 2], None, False), ([1, 3], None, False), ([1, 3], [1], True)],
)
def test_offsets_of_torch_that_leave_values_out_contradict_them(offsets: Any, lengths: Any, agrees: bool) -> None:
    import torch

    parts = [None if one is None else torch.tensor(one) for one in (offsets, lengths)]
    made = torch.nested.nested_tensor_from_jagged(torch.zeros(3), *parts)
    with contextlib.nullcontext() if agrees else pytest.raises(Contradiction, match="do not run from 0 to 3"):
        assert len(TorchTarget(torch).read(made)) == len(offsets) - 1


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
