"""The tape as text: one line for each node, written as the call of a public function."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature

import numpy as np
import pytest

import pynested as pn
from pynested.autograd import grad, tape
from pynested.autograd.primitives.primitive import PRIMITIVES
from pynested.backends.errors import DeviceError

EXPECTED = """\
#  call           output          primitive
x  leaf           float64 (3, 2)
w  leaf           float64 (2,)
1  mul(x, w)      float64 (3, 2)
2  unbind(#1, 0)  3 parts
3  #2[0]          float64 (2,)
4  #2[1]          float64 (2,)
y  tanh(#4)       float64 (2,)
6  mul(#3, y)     float64 (2,)
7  add(#6, 2.0)   float64 (2,)
8  sum(#7, 0)     float64 ()"""


def test_text() -> None:
    x = pn.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], requires_grad=True)
    w = pn.array([0.5, 1.5], requires_grad=True)
    a, b, _ = (x * w).unbind()
    y = b.tanh()
    z = (a * y + 2.0).sum()
    assert str(tape(z, x=x, w=w, y=y)) == repr(tape(z, x=x, w=w, y=y)) == EXPECTED
    assert len(tape(z)) == 10
    assert [line.split()[0] for line in str(tape(z)).splitlines()] == ["#", "x0", "x1", *"12345678"]


def test_containers_nested_arrays_gradients_counts_of_outputs_and_names_of_leaves() -> None:
    x, y = pn.array(1.0, requires_grad=True), pn.array([1.0, 2.0], requires_grad=True)
    assert str(tape(pn.array(1.0))) == "#  call  output  primitive"
    assert len(tape({"a": x * 2, "b": [x.sin()]})) == 3
    nested = pn.nested_array([[1.0], [2.0, 3.0]], layout=pn.jagged, requires_grad=True)
    assert "nt  leaf     float64 (3,)" in str(tape(nested.sin(), nt=nested))
    assert "mul" in str(tape(grad(x * x * x, x, create_graph=True), x=x))
    assert [tape(z).records[1].output for z in (Named.apply(y), y.unbind()[0])] == ["1 part", "2 parts"]
    assert [record.name for record in tape(x * y, x0=y).records] == ["x1", "x0", "1"]


Named = type("transpose", (pn.Function,), {"forward": staticmethod(lambda context, x: x * 2)})
CALLS: dict[str, tuple[Callable[[pn.Array], pn.Array], str]] = {
    "an index": (lambda x: x[0, 1:], "getitem(x, (0, 1:))"),
    "rows": (lambda x: x[[1, 0]], "getitem(x)"),
    "dimensions": (lambda x: x.sum((0, 1)), "sum(x, (0, 1))"),
    "a number": (lambda x: x * 3, "mul(x, 3)"),
    "bounds": (lambda x: x.clamp(min=0), "clamp(x, 0)"),
    "another dtype": (lambda x: x.to(pn.float32), "to(x, float32)"),
    "arrays together": (lambda x: pn.cat([x, x], 1), "cat(x, x, 1)"),
    "an option": (lambda x: pn.gelu(x, "tanh"), "gelu(x)"),
    "the order": (lambda x: x.transpose(0, 1), "permute(x, (1, 0))"),
    "a function of the user": (Named.apply, "transpose(x)"),
    "a mask": (lambda x: pn.where(x > 1, x, 0.0), "where(x, 0.0)"),
    "a constant": (lambda x: x * pn.array([3.0, 4.0]), "mul(x, const)"),
    "freed arguments": (lambda x: [y := x * pn.array([3.0, 4.0]), y.sum().backward()][0], "mul(x, const)"),
}  # fmt: skip


@pytest.mark.parametrize(("function", "written"), CALLS.values(), ids=CALLS)
def test_a_node_is_written_as_the_call_that_made_it(function: Callable[[pn.Array], pn.Array], written: str) -> None:
    x = pn.array([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    assert [record.call for record in tape(function(x), x=x).records[:2]] == ["leaf", written]


def test_a_primitive_is_named_if_the_operator_has_another_name() -> None:
    x = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged, requires_grad=True)
    _, softmax, doubled = tape(x.softmax(1) * 2, x=x).records
    assert (softmax.call, softmax.primitive) == ("softmax(x)", "segment_softmax")
    assert (doubled.call, doubled.primitive) == ("mul(#1, 2)", "")


STEPS = frozenset({
    "add_rows", "alias", "components", "gather", "gelu_backward", "gelu_tanh_backward", "layer_norm_backward",
    "attention_backward", "cross_entropy_backward", "one_minus_square", "pair_products", "pieces", "place",
    "reciprocal_std", "relu_backward", "scatter", "segment_max_backward", "segment_softmax_backward", "silu_backward",
    "softmax_last_backward", "spread", "sum_to", "unpad", "weighted_rows",
})  # fmt: skip


def test_every_primitive_names_a_public_operator_or_is_a_step_of_one() -> None:
    public = {*pn.__all__, *dir(pn.Array), "getitem"}
    for name, primitive in PRIMITIVES.items():
        assert (primitive.public in public) != (name in STEPS), name


def test_errors_of_primitives_name_the_public_operator() -> None:
    on_cpu, on_plain, small = pn.ones(2), pn.ones(2, device="plain"), pn.array(np.ones(2, np.int8))
    binary = [x for x in PRIMITIVES.values() if [*signature(x.compute).parameters][1:3] == ["a", "b"]]
    assert {"add", "clamp_min", "matmul_components"} <= {primitive.name for primitive in binary}
    for primitive in binary:
        with pytest.raises(DeviceError, match=f"^{primitive.public}: the operands lie on different devices"):
            primitive(on_cpu, on_plain)
    for primitive in (PRIMITIVES[name] for name in ("add", "clamp_min", "clamp_max", "floor_divide", "bitwise_or")):
        with pytest.raises(OverflowError, match=f"^{primitive.public}: 300 is out of bounds for int8"):
            primitive(small, 300)
