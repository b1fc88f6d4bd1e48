"""A call in words, and as code that runs when it is pasted."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from pynested.conformance import literals
from pynested.conformance.adapters.base import PythonAdapter
from pynested.conformance.adapters.pynested_adapter import PynestedTarget
from pynested.conformance.conform import conform
from pynested.conformance.corpus import Corpus, Program, Selection, load_corpus, program_of
from pynested.conformance.placements import HOLES_NAN, PACKED, PLACEMENTS, TRANSPOSED
from pynested.conformance.program_snippets import program_snippet
from pynested.conformance.replies import CRASHED, Reply
from pynested.conformance.runner import plan
from pynested.conformance.session import InProcess
from pynested.conformance.snippets import snippet
from pynested.spec.corpus import SPEC, load_programs
from pynested.spec.encoding import Components, Index, encode_value
from pynested.spec.table import load_table

RAGGED = Components([np.array([[1, 2], [np.nan, -0.0]], np.float32), np.zeros((0, 2), np.float32)])
WORDS = "nested float32, (2, 2) (0, 2)"


def request(op: str, *args: Any, layout: str = "jagged", placement: str = PACKED, **kwargs: Any) -> dict[str, Any]:
    encoded = {name: encode_value(value) for name, value in kwargs.items()}
    return {
        "op": op,
        "layout": layout,
        "placement": placement,
        "args": [encode_value(one) for one in args],
        "kwargs": encoded,
    }


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (request("softmax", RAGGED, 1), f"softmax(x, dim=1); x: {WORDS}"),
        (request("sum", RAGGED, (0, 1), keepdim=True), f"sum(x, dim=(0, 1), keepdim=True); x: {WORDS}"),
        (request("add", 2, np.array(1.5)), "add(2, x); x: float64 1.5"),
        (
            request("cat", [RAGGED, RAGGED], 1),
            f"cat([x, y], dim=1); x: {WORDS}; y: {WORDS}",
        ),
        (
            request("getitem", RAGGED, Index((slice(None), 0, slice(1, None, -2), Ellipsis, None))),
            f"x[:, 0, 1::-2, ..., None]; x: {WORDS}",
        ),
    ],
    ids=lambda value: value["op"] if isinstance(value, dict) else "",
)
def test_calls_in_words(call: dict[str, Any], words: str) -> None:
    assert literals.call_in_words(call, load_table()[call["op"]]) == words


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float32(0.1), "0.1"),
        (np.float64(3), "3.0"),
        (np.float16(-0.0), "-0.0"),
        (np.float32(-np.inf), "-inf"),
        (np.float64(1e300), "1e+300"),
        (np.int64(-(2**63)), "-9223372036854775808"),
        (np.bool_(True), "True"),
        (2, "2"),
    ],
)
def test_numbers(value: Any, text: str) -> None:
    assert literals.number(value) == text


def test_a_packed_jagged_operand_in_both_dialects() -> None:
    softmax = load_table()["softmax"]
    call = request("softmax", RAGGED, 1)
    ours, theirs = snippet(call, softmax, "pynested"), snippet(call, softmax, "torch")
    assert (
        "x = pn.nested_array([np.array([[1.0, 2.0], [nan, -0.0]], np.float32), np.zeros((0, 2), np.float32)], " in ours
    )
    assert "layout=pn.jagged)\nout = pn.softmax(x, 1)\n" in ours
    made = "torch.nested.nested_tensor_from_jagged(torch.tensor([[1.0, 2.0], [nan, -0.0]]), offsets, "
    assert f"offsets = torch.tensor([0, 2, 2])\nx = {made}min_seqlen=0, max_seqlen=2)\n" in theirs
    assert "out = torch.nn.functional.softmax(x, 1)\n" in theirs


def test_gaps_and_transposed_storage_are_written_out() -> None:
    table = load_table()
    holes = snippet(request("sum", RAGGED, 1, placement=HOLES_NAN), table["sum"], "torch")
    assert "torch.nested.nested_tensor_from_jagged(torch.tensor([[nan, nan], [nan, nan], [1.0, 2.0]" in holes
    assert "offsets = torch.tensor([2, 5, 5])\nlengths = torch.tensor([2, 0])\n" in holes
    assert ", offsets, lengths, min_seqlen=0, max_seqlen=2)" in holes
    turned = snippet(request("sum", RAGGED, 1, placement=TRANSPOSED), table["sum"], "torch")
    assert ".permute(1, 0).contiguous().permute(1, 0), offsets, " in turned
    flat = snippet(request("sum", RAGGED, 1, layout="strided", placement=TRANSPOSED), table["sum"], "pynested")
    assert "x_buffer = pn.array(np.array([1.0, nan, 2.0, -0.0], np.float32))\n" in flat


def test_methods_and_indices_read_as_people_write_them() -> None:
    table = load_table()
    assert "out = x.masked_fill(y, 0.5)" in snippet(
        request("masked_fill", RAGGED, np.ones(2, bool), 0.5), table["masked_fill"], "torch"
    )
    assert "out = x[0, ::2]" in snippet(
        request("getitem", RAGGED, Index((0, slice(None, None, 2)))), table["getitem"], "torch"
    )


def test_operands_of_equal_lengths_share_their_offsets_as_in_the_adapter() -> None:
    add = load_table()["add"]
    other = Components([np.ones((1, 2), np.float32), np.ones((1, 2), np.float32)])
    same = snippet(request("add", RAGGED, RAGGED), add, "torch")
    assert same.count("offsets = ") == 1 and same.count(", offsets, ") == 2
    apart = snippet(request("add", RAGGED, other), add, "torch")
    assert "offsets = torch.tensor([0, 2, 2])" in apart and "offsets1 = torch.tensor([0, 1, 2])" in apart


def test_a_number_comes_first_by_its_symbol() -> None:
    code = snippet(request("sub", 2, RAGGED), load_table()["sub"], "torch")
    assert "out = 2 - x\n" in code
    assert "out = torch.sub(x, 2)\n" in snippet(request("sub", RAGGED, 2), load_table()["sub"], "torch")


def test_the_private_function_gets_all_that_it_wants() -> None:
    made, values = load_table()["nested_array_from_strided"], np.ones(3, np.float32)
    sizes, offsets = np.array([[3]], np.int32), np.array([0])
    pack = "torch._nested_compute_contiguous_strides_offsets(y.long())"
    short = snippet(request(made.name, values, sizes), made, "torch")
    assert f"out = torch._nested_view_from_buffer(x, y.long(), *{pack})\n" in short
    named = snippet(request(made.name, values, sizes, offsets=offsets), made, "torch")
    assert f"out = torch._nested_view_from_buffer(x, y.long(), {pack}[0], z.long())\n" in named


def gradient_request(layout: str, placement: str) -> dict[str, Any]:
    values = Components([np.array([[1, 2], [3, 4]], np.float32), np.array([[5, 6]], np.float32)])
    call = request("exp", values, layout=layout, placement=placement)
    return {**call, "wrt": [0], "cotangent": encode_value(values)}


def test_every_case_can_be_written_down() -> None:
    """In one of its placements and one dialect, with its gradient; a list of no results has none to pull back."""
    corpus = load_corpus()
    for number, job in enumerate(plan(corpus, Selection())):
        call = job.requests()[number // 2 % len(job.placements)]
        operator, dialect = corpus.table[job.case.op], ("pynested", "torch")[number % 2]
        if isinstance(job.case, Program):
            code = program_snippet(job.case, call["layout"], call["placement"], dialect, len(job.case.steps) - 1)
            assert f"{dialect}" in code and len(code.splitlines()) > len(job.case.steps), job.case.id
            continue
        assert literals.call_in_words(call, operator)
        assert "out = " in snippet(call, operator, dialect, gradient="cotangent" in call), job.case.id


def test_a_list_of_nothing_has_nothing_to_pull_back() -> None:
    nothing = Components([], (0, None), np.float32)
    call = {**request("unbind", nothing), "wrt": [0], "cotangent": encode_value([])}
    for dialect in ("pynested", "torch"):
        code = snippet(call, load_table()["unbind"], dialect, gradient=True)
        assert ".backward" not in code and code.endswith(("print(x.grad)", "print(x_values.grad)"))


def test_a_list_of_results_is_pulled_back_from_all_of_them() -> None:
    x = Components([np.array([[1, 2]], np.float32), np.array([[5, 6]], np.float32)])
    halves = [Components([one[:, i : i + 1] for one in x], dtype=np.float32) for i in range(2)]
    call = {**request("split", x, 1, dim=2), "wrt": [0], "cotangent": encode_value(halves)}
    code = snippet(call, load_table()["split"], "pynested", gradient=True)
    found: dict[str, Any] = {}
    exec(code, found)
    assert [one.tolist() for one in found["x"].grad.unbind()] == [[[1, 2]], [[5, 6]]]
    torch = snippet(call, load_table()["split"], "torch", gradient=True)
    assert "torch.autograd.backward([*out[0].unbind(), *out[1].unbind()], [" in torch


@pytest.mark.parametrize("dialect", ["pynested", "torch"])
def test_snippets_run(dialect: str) -> None:
    if find_spec(dialect) is None:
        pytest.skip(f"{dialect} is not installed")
    codes = [
        snippet(gradient_request(layout, placement), load_table()["exp"], dialect, gradient=True)
        for layout in (("jagged", "strided") if dialect == "pynested" else ("jagged",))
        for placement in PLACEMENTS
    ]
    ended = subprocess.run([sys.executable, "-c", "\n".join(codes)], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def test_the_snippet_of_a_program_that_crashed_has_all_its_steps() -> None:
    class Lost(InProcess):
        def answers(self, requests: Any) -> Any:
            return (Reply(CRASHED, "SIGSEGV") for _ in requests)

    views = next(one for one in load_programs()["tape"] if one["id"].endswith("/two-views/1"))
    corpus = Corpus(load_table(), (program_of("tape", views),), SPEC, "")
    run = conform(corpus, Selection(), lambda: Lost(PythonAdapter(PynestedTarget())), None, None)
    first = run.results[0]["findings"][0]
    assert first["verdict"] == "crashed" and "y.backward(c)" in first["snippet"]
