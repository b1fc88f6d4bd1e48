"""Sample inputs on a device give what they give on the CPU, on that device, and nothing waits for it."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import pynested as pn
from pynested.autograd import flatten

from ...batches import Batch, Call, Operand, mapped
from ...calls import CALLS
from ...nests import DENSE, PLACEMENTS, Kind, place, plain
from .stand_in import synchronized

BATCHES = (2, 0, 3), (2, 1, 3), (3, 2, 2)  # the first that the sample input accepts
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
# Operators, or sample inputs of them, that must look at values: to compare, to check labels, or to size a result.
WAITING = {
    "equal", "allclose", "embedding", "cross_entropy", "getitem-mask", "flex_attention-function",
    "flex_attention-function across",
}  # fmt: skip


def samples() -> list[Any]:
    """Return sample inputs with one kind of arrays each, which takes turns; the other kinds are exhaustive."""
    return [
        pytest.param(call, kind, number % 3, id=f"{call} {kind}", marks=[pytest.mark.exhaustive][: turn > 0])
        for number, call in enumerate(CALLS)
        for turn, kind in enumerate(np.roll(np.array(call.forms, object), number))
    ]


def computed(call: Call, kind: Kind, placement: int, device: str, dtype: Any = np.float64) -> tuple[Any, list[Any]]:
    """Return the result of a sample input on a device, and the gradients of its operands."""
    leaves = []

    def made(operand: Any) -> Any:
        if isinstance(operand, Operand):
            x = place(operand.components, kind.layout, PLACEMENTS[placement], operand.ragged).array
        else:
            x = pn.array(operand, device="cpu")
        if x.dtype.kind != "f":
            return x.to(device)
        leaves.append(x.to(device, dtype).detach().requires_grad_())
        return leaves[-1]

    def argument(value: Any) -> Any:
        return {name: made(one) for name, one in value.items()} if isinstance(value, dict) else mapped(made, value)

    batches = [Batch(kind, (2, 2))] if kind is DENSE else [Batch(kind, lengths) for lengths in BATCHES]
    batch = next(one for one in batches if call.refuses(one) is None)
    arguments = [argument(value) for value in call.arguments(batch)]
    keywords = {name: argument(value) for name, value in call.keywords.items()}
    synchronized.clear()
    result = call.function(*arguments, **keywords)
    outputs = [y for y in flatten(result)[0] if y.requires_grad]
    seeds = [y.detach() * 0.5 + 1 for y in outputs]
    used = pn.grad(outputs, leaves, seeds, allow_unused=True) if outputs else []
    return result, [one for one in used if one is not None]


def on_host(tree: Any) -> Any:
    """Return results as NumPy arrays, components of nested ones one by one."""
    if isinstance(tree, list | tuple):
        return [on_host(one) for one in tree]
    if not isinstance(tree, pn.Array | pn.NestedArray):
        return tree
    return plain(tree.detach().to("cpu", pn.float64 if tree.dtype == BFLOAT16 else tree.dtype))


def compare(found: Any, expected: Any, rtol: float) -> None:
    if isinstance(expected, list):
        assert len(found) == len(expected)
        for pair in zip(found, expected, strict=True):
            compare(*pair, rtol)
    else:
        found, expected = np.asarray(found), np.asarray(expected)
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
        np.testing.assert_allclose(found, expected, rtol, rtol * np.abs(expected[np.isfinite(expected)]).max(initial=1.0), strict=True)


@pytest.mark.parametrize(("call", "kind", "placement"), samples())
def test_sample(call: Call, kind: Kind, placement: int, cupy: ModuleType) -> None:
    found = computed(call, kind, placement, "cuda")
    assert bool(+synchronized) == bool(WAITING & {call.op, str(call)}), +synchronized
    with pn.set_default_device("cuda"):  # an operator does not look at it
        expected = computed(call, kind, placement, "cpu")
    for got, device in ((found, "cuda"), (expected, "cpu")):
        assert {y.device for y in flatten(got)[0]} <= {device}
    compare(on_host(found), on_host(expected), 1e-12)


@pytest.mark.parametrize(("call", "kind", "placement"), samples())
def test_sample_of_bfloat16(call: Call, kind: Kind, placement: int, compiled: None) -> None:
    found = computed(call, kind, placement, "emulated", BFLOAT16)
    expected = computed(call, kind, placement, "cpu")
    for y, wide in zip(flatten(found)[0], flatten(expected)[0], strict=True):
        kept = wide.dtype.kind != "f" or call.op == "to"
        assert (y.device, y.dtype) == ("emulated", wide.dtype if kept else BFLOAT16)
    compare(on_host(found), on_host(expected), 6 * 2.0**-8)
