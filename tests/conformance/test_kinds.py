"""Every difference is of the kind that its wording, a second answer and the dense operator make it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pynested.conformance.corpus import load_corpus
from pynested.conformance.judge import Finding, judge
from pynested.conformance.kinds import CONVENTIONS, KINDS, Second, as_declared, is_internal, kind_of
from pynested.conformance.replies import Reply
from pynested.spec.components import Components

LIMITS = [
    "RuntimeError: reducing across the ragged dimension is not supported for non-contiguous nested tensors with holes",
    "RuntimeError: NestedTensor must be contiguous to get buffer.",
    "RuntimeError: NestedTensor always requires keepdim=True for now.",
    "NotImplementedError: layer_norm requires weight and bias",
    "RuntimeError: split_with_sizes for nested tensors is currently only supported for the last dimension.",
    "ValueError: NestedTensor split_with_sizes_default(self: jt): expected self to be a contiguous jagged layout",
    "AssertionError: NJT with ragged_idx != 1 not supported for contiguous clone",
    "AssertionError: MultiheadAttention does not support NestedTensor outside of its fast path",
    "AssertionError: Cannot reduce on both ragged and non-batch dimensions without also reducing on batch",
    "RuntimeError: Expected indices.dim() < 3 to be true, but got false.  (Could this error message be improved?)",
]
INTERNAL = [
    "RuntimeError: Internal error: NestedTensorImpl doesn't support sizes. Please file an issue.",
    "RuntimeError: x.is_nested() INTERNAL ASSERT FAILED at 'a.cpp'",
    "AssertionError: ",
    "AttributeError: 'bool' object has no attribute 'device'",
    "TypeError: f() missing 2 required positional arguments",
    "RuntimeError: Function AddBackward0 returned an invalid gradient at index 1 - got 2 2",
    "RuntimeError: view(): cannot view shape (3, j298, 3, 2) as [3, j297, 6]",
    "IndexError: Dimension out of range (expected to be in range of [-1, 0], but got 1)",
    "RuntimeError: Expected cond to be True, but got False. (Could this error message be improved?  If so, tell us.)",
    "RuntimeError: split_with_sizes expects split_sizes to sum exactly to 1, but got split_sizes=[2]",
    "RuntimeError: operator aten::stride does not exist",
    "RuntimeError: Expected out type to be Float but got Half",
    "RuntimeError: dim: 0target_size: 2",
    "RuntimeError: The size of tensor a (7) must match the size of tensor b (2) at non-singleton dimension 1",
    "AssertionError: _wrap_jagged_dims(): cannot iterate over dimensions of type <class 'NoneType'>",
    "AttributeError: not supported. Please file an issue.",
]
# In a backward pass nobody but the target itself has called what is refused.
OPERANDS = [
    "ValueError: NestedTensor where_self(condition: jt_all): expected condition to be a jagged layout NestedTensor",
    "RuntimeError: cannot call binary pointwise function eq.Tensor with inputs of shapes (2, j3) and (2, 1)",
    "RuntimeError: NestedTensor does not support directly calling torch.ops.aten.size",
    "RuntimeError: mul requires offsets to match when given NestedTensors",
]


def of(verdict: str, got: str = "", part: str = "forward") -> Finding:
    return Finding(part, verdict, "x", got)


@pytest.mark.parametrize("text", LIMITS)
def test_a_limit_that_is_named_is_no_internal_error(text: str) -> None:
    assert not is_internal(text) and kind_of(of("refused", text), Second()) == "limit"


@pytest.mark.parametrize("text", INTERNAL)
def test_an_error_of_code_that_did_not_foresee_the_call_is_internal(text: str) -> None:
    assert is_internal(text) and kind_of(of("refused", text), Second()) == "internal"
    assert kind_of(of("error-kind", text), Second()) == "internal"


@pytest.mark.parametrize("text", OPERANDS)
def test_what_complains_about_operands_is_internal_where_nobody_gave_any(text: str) -> None:
    assert kind_of(of("refused", text), Second()) == "limit"
    assert kind_of(of("refused", text, "gradient"), Second()) == "internal"
    called = Finding("gradient", "refused", "", text, op="where")  # by a step of a program, before any pass
    assert kind_of(called, Second()) == "limit"
    contiguous = "ValueError: NestedTensor f(x: jt): expected x to be a contiguous jagged layout NestedTensor"
    assert kind_of(of("refused", contiguous, "gradient"), Second()) == "limit"


@pytest.mark.parametrize(
    ("finding", "second", "kind"),
    [
        (of("value"), Second(), "differs"),
        (of("value"), Second(dense=of("missing")), "differs"),
        (of("value"), Second(dense=of("unreached")), "differs"),
        (of("value"), Second(dense=of("ok")), "nested"),
        (of("value"), Second(dense=of("value")), "dense"),
        (of("value", "1.0"), Second(dense=of("value", "2.0")), "nested"),  # the dense one is wrong in another way
        (of("dtype"), Second(dense=of("dtype")), "dense"),
        (of("dtype"), Second(dense=of("refused")), "nested"),  # which gives no answer
        (of("value", "1.0"), Second(dense=of("shape", "1.0")), "nested"),
        (of("refused", LIMITS[0]), Second(dense=of("refused", LIMITS[0])), "dense"),
        (
            of("refused", "IndexError: amax(): Expected dim 1"),
            Second(dense=of("refused", "IndexError: Expected dim 0")),
            "dense",
        ),
        (of("refused", LIMITS[0]), Second(dense=of("refused", "ValueError: step must be positive")), "limit"),
        (of("refused", INTERNAL[0]), Second(dense=of("refused", "ValueError: step must be positive")), "dense"),
        (of("refused", LIMITS[0]), Second(dense=of("ok")), "limit"),
        (of("refused", INTERNAL[0]), Second(dense=of("value")), "internal"),
        (of("error-kind", LIMITS[0]), Second(dense=of("ok")), "limit"),
        (of("error-kind", "RuntimeError: sizes differ"), Second(dense=of("ok")), "nested"),
        (of("crashed"), Second(dense=of("ok")), "crash"),
        (of("hung"), Second(), "crash"),
        (of("garbled"), Second(), "crash"),
        (of("corrupt"), Second(dense=of("ok")), "corrupt"),
        (of("value", "1.0"), Second(again=of("value", "2.0"), dense=of("ok")), "unsteady"),
        (of("value", "1.0"), Second(again=of("value", "1.0"), dense=of("ok")), "nested"),
        (of("value", "1.0"), Second(again=of("ok")), "unsteady"),
        (of("corrupt", "E: at 0x1"), Second(again=of("corrupt", "E: at 0x2")), "corrupt"),
        (of("refused", "E: at 0x1"), Second(again=of("refused", "E: at 0x2")), "limit"),
        (of("refused", "E: a"), Second(again=of("crashed", "SIGSEGV")), "unsteady"),
        (of("corrupt", "E: a"), Second(again=of("corrupt", "E: b"), elsewhere={"zeros": of("ok")}), "unsteady"),
        (of("value", "1.0"), Second(elsewhere={"zeros": of("value", "1.0"), "ones": of("value", "2.0")}), "unsteady"),
        (of("value", "1.0"), Second(elsewhere={"zeros": of("value", "1.0")}), "differs"),
        (of("crashed", "SIGABRT"), Second(elsewhere={"zeros": of("ok")}), "unsteady"),
        (of("crashed", "SIGABRT"), Second(elsewhere={"zeros": of("crashed", "SIGSEGV")}), "crash"),
        (of("crashed", "SIGABRT"), Second(elsewhere={"zeros": of("unasked", "given up")}), "crash"),
        (of("value", "1.0"), Second(elsewhere={"zeros": of("unreached")}), "differs"),
    ],
)
def test_kinds(finding: Finding, second: Second, kind: str) -> None:
    assert kind_of(finding, second) == kind and kind in KINDS


@pytest.mark.parametrize(
    ("nested", "dense", "kind"),
    [
        ([[1, 2], [3]], np.ones((2, 2)), "nested"),  # the second row is cut off in silence
        ([[1, 2], [3, 4]], np.ones((2, 2)), "dense"),  # the dense operator accepts it too
        (np.ones((2, 2)), [[1, 2], [3, 4]], "dense"),
        (np.ones((2, 1)), np.ones((2, 2)), "nested"),
    ],
)
def test_a_call_that_both_accept_is_told_by_what_comes(nested: Any, dense: Any, kind: str) -> None:
    case = next(one for one in load_corpus().cases if one.op == "add" and one.is_error)

    def accepted(value: Any) -> Finding:
        parts = value if isinstance(value, np.ndarray) else Components(np.asarray(one, "f8") for one in value)
        return judge(case, "jagged", Reply("value", value=parts))[0]

    assert kind_of(accepted(nested), Second(dense=accepted(dense))) == kind


def test_a_few_roundings_of_the_dense_operator_are_no_other_answer() -> None:
    nested, dense = (replace(of("value", text), near=True) for text in ("1.0", "2.0"))
    assert kind_of(nested, Second(dense=dense)) == "dense"


def test_a_convention_is_what_was_declared_and_what_the_dense_operator_does_too() -> None:
    wide, other = of("dtype", "float32"), of("dtype", "float16")
    assert as_declared(wide, Second(dense=wide), "promotion").verdict == "convention"
    assert as_declared(wide, Second(dense=wide), "") == wide
    assert as_declared(wide, Second(dense=other), "promotion") == wide
    assert as_declared(wide, Second(dense=of("ok")), "promotion") == wide
    assert as_declared(wide, Second(), "promotion") == wide
    value = of("value", "1")
    assert as_declared(value, Second(dense=value), "promotion") == value


PARSER = "TypeError: maximum(): argument 'other' (position 2) must be Tensor, not int"
MIXED = "RuntimeError: expected m1 and m2 to have the same dtype, but got: int != float"


@pytest.mark.parametrize(
    ("nested", "dense", "declared", "word"),
    [
        (PARSER, PARSER, "signature", "signature"),
        (PARSER, PARSER, "promotion", ""),
        (PARSER, "RuntimeError: no argument will do", "signature", ""),
        (MIXED, "RuntimeError: expected scalar type Half but found Float", "promotion signature", "promotion"),
        (MIXED, "RuntimeError: sizes differ", "promotion", ""),
        ("RuntimeError: both must be nested", MIXED, "promotion", "promotion"),  # no operator takes it anyhow
        ("AttributeError: no attribute 'dim'", MIXED, "promotion", "promotion"),
        ("RuntimeError: both must be nested", MIXED, "signature", ""),
        ("RuntimeError: both must be nested", "AssertionError: dtype", "promotion", ""),
        ("RuntimeError: only contiguous ones", "RuntimeError: only contiguous ones", "promotion signature", ""),
    ],
)
def test_what_the_dense_operator_refuses_for_its_dtypes_or_arguments_is_a_convention(
    nested: str, dense: str, declared: str, word: str
) -> None:
    found = as_declared(of("refused", nested), Second(dense=of("refused", dense)), declared)
    assert found == (Finding("forward", "convention", "x", f"{word}: {dense}") if word else of("refused", nested))


def test_a_refusal_of_nested_arrays_alone_is_no_convention() -> None:
    refused = of("refused", PARSER)
    for dense in (of("ok"), of("missing"), of("accepted"), None):
        assert as_declared(refused, Second(dense=dense), " ".join(CONVENTIONS)) == refused
    gradient = of("refused", MIXED, "gradient")
    assert as_declared(gradient, Second(dense=gradient), " ".join(CONVENTIONS)) == gradient


def test_a_target_that_compares_identity_refuses_operands_that_are_described_apart() -> None:
    refused = of("refused", "RuntimeError: shapes (2, j1) and (2, j2)")
    assert as_declared(refused, Second(), "promotion identity", apart=True).verdict == "convention"
    assert as_declared(refused, Second(), "identity") == refused
    assert as_declared(refused, Second(), "promotion", apart=True) == refused
    value, internal = of("value", "1"), of("refused", "AttributeError: 'int' object has no attribute 'node'")
    assert as_declared(value, Second(), "identity", apart=True) == value
    assert as_declared(internal, Second(), "identity", apart=True) == internal


def test_what_a_program_calls_is_held_to_the_signatures_of_the_target() -> None:
    text = "TypeError: maximum(): argument 'other' (position 2) must be Tensor, not float"
    called = Finding("gradient", "refused", "", text, op="maximum")
    assert as_declared(called, Second(), "promotion signature").verdict == "convention"
    assert as_declared(called, Second(), "promotion").verdict == "refused"
    for other in (
        replace(called, op=""),
        replace(called, got="RuntimeError: argument"),
        replace(called, verdict="value"),
    ):
        assert as_declared(other, Second(), "signature") == other
