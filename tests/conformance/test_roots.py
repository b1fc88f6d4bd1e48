"""Differences that have one root are told once, and no others are."""

from __future__ import annotations

from typing import Any

import pytest

from pynested.conformance.roots import grouped
from pynested.conformance.wording import normal


def pair(
    op: str = "add",
    verdict: str = "refused",
    got: str = "",
    chapter: str = "elementwise",
    layout: str = "jagged",
    **more: Any,
) -> tuple[dict[str, Any], dict[str, Any]]:
    result = {"op": op, "chapter": chapter, "layout": layout}
    finding = {"verdict": verdict, "part": "forward", "kind": "limit", "got": got, "call": "f(x)", "clause": "ADD-1"}
    return result, {**finding, "text": "Each element is a sum.", "want": "a nested result", **more}


def sizes(*pairs: Any) -> list[int]:
    return sorted(len(members) for _, _, members in grouped(pairs))


SHAPES = "cannot call binary pointwise function {}.Tensor with inputs of shapes {} and torch.Size([2, 2])"
ALONE = "NestedTensor {}(self: jt, dim: any): expected {} to be a contiguous jagged layout NestedTensor"


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        (SHAPES.format("add", "(2, j7)"), SHAPES.format("mul", "(1, j9, 4)"), True),
        (ALONE.format("squeeze_dim", "self"), ALONE.format("_softmax_backward", "grad_output"), True),
        (
            "all only supports bool tensor for result, got: Double",
            "all only supports bool tensor for result, got: Int",
            True,
        ),
        ("NestedTensor must be contiguous to get buffer.", SHAPES.format("add", "(2, 3)"), False),
        ("only one dimension can be inferred", "empty nested tensor cannot be reshaped", False),
    ],
)
def test_refusals_in_the_same_words_have_one_root(one: str, other: str, together: bool) -> None:
    pairs = [pair("add", got=f"E: {one}"), pair("mul", got=f"E: {other}")]
    assert sizes(*pairs) == ([2] if together else [1, 1])


def test_another_class_of_error_is_another_text() -> None:
    assert sizes(pair(got="ValueError: "), pair(got="AssertionError: ")) == [1, 1]


def test_a_gradient_that_is_refused_is_not_the_call_that_is() -> None:
    assert sizes(pair(got="E: no"), pair(got="E: no", part="gradient")) == [1, 1]


def test_values_have_one_root_where_one_sentence_is_broken() -> None:
    shifted = (
        "The gradient of a run is {} * (g - sum(y * g)), with y its {} and g its cotangent; an empty run has none."
    )
    soft = pair("softmax", "value", kind="nested", text=shifted.format("y", "softmax"))
    assert sizes(soft, pair("softmin", "value", kind="nested", text=shifted.format("-y", "softmin"))) == [2]
    assert sizes(soft, pair("sum", "value", kind="nested", text="Each element is the sum of one run.")) == [1, 1]


def test_placement_is_one_root_in_a_chapter() -> None:
    placed = {"verdict": "value", "clause": "LAYOUTS-4", "text": "Placement has no influence.", "kind": "nested"}
    assert sizes(pair("sum", chapter="reduction", **placed), pair("amax", chapter="reduction", **placed)) == [2]
    assert sizes(pair("sum", chapter="reduction", **placed), pair("mul", **placed)) == [1, 1]


def test_what_is_accepted_has_one_root_in_a_chapter_for_each_error() -> None:
    kept = {"verdict": "accepted", "kind": "nested", "part": "error"}
    empty = pair("amax", want="EmptyReductionError", text="A run without elements is refused.", **kept)
    assert sizes(empty, pair("argmax", want="EmptyReductionError", text="Nothing has no place.", **kept)) == [2]
    assert sizes(empty, pair("amax", want="DimensionError", text="A run without elements is refused.", **kept)) == [
        1,
        1,
    ]


def test_crashes_have_one_root_for_each_signal_and_emptiness() -> None:
    def crash(op: str, got: str, call: str = "f(x)", layout: str = "strided") -> Any:
        return pair(op, "crashed", got, layout=layout, kind="crash", call=call)

    none = "f(x); x: nested float32, no components, (0, *)"
    assert sizes(crash("add", "SIGSEGV", none), crash("mul", "SIGSEGV: said something", none)) == [2]
    assert sizes(crash("add", "SIGSEGV", none), crash("add", "SIGSEGV")) == [1, 1]
    assert sizes(crash("add", "SIGSEGV"), crash("add", "SIGABRT: free()")) == [1, 1]


def test_what_the_dense_operator_could_not_be_asked_joins_what_it_was_asked() -> None:
    known, unknown = pair(verdict="value", kind="nested"), pair(verdict="value", kind="differs")
    ((kind, _, members),) = grouped([unknown, known, unknown])
    assert kind == "nested" and len(members) == 3
    assert [kind for kind, _, _ in grouped([unknown])] == ["differs"]
    assert sizes(known, pair(verdict="value", kind="dense")) == [1, 1]


def test_a_root_is_told_as_the_kind_of_most_of_it() -> None:
    pairs = [pair(got="E: no", kind=kind) for kind in ("limit", "dense", "limit")]
    assert [kind for kind, _, _ in grouped(pairs)] == ["limit"]


def test_messages_without_what_varies() -> None:
    assert normal("E: f(): at (2, 3) of 'x' 4.5") == "E: at … of … …"
