"""Sample inputs have the same results on a device as on the CPU; the results lie there, and nothing waits for it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import pynested as pn
from pynested.autograd import flatten

from ...batches import Batch, Call
from ...calls import CALLS
from ...nests import DENSE, PLACEMENTS, Kind, plain
from ...support.samples import sample_arguments
from .stand_in import synchronized
from .test_device_errors import KINDS, elsewhere

BATCHES = (1, 3, 2, 0), (2, 1, 3), (3, 2, 2)  # the first that the sample input accepts
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
# Operators, or sample inputs of them, that must look at values: to compare, to check labels, or to size a result.
WAITING = {
    "equal", "allclose", "embedding", "cross_entropy", "getitem-mask", "flex_attention-function",
    "flex_attention-function across",
}  # fmt: skip


def samples(without: str = "") -> list[Any]:
    """Return sample inputs with one kind of arrays each; kinds and placements take turns."""
    cases = []
    for number, call in enumerate(CALLS):
        kind = call.forms[-number % len(call.forms)]
        placement = number % 3 if call.op != "view" else 0  # of other placements there is no view
        if call.op != without:
            cases.append(pytest.param(call, kind, placement, id=f"{call} {kind}"))
    return cases


def computed(
    call: Call, kind: Kind, placement: int, device: str, dtype: Any = np.float64, again: bool = False
) -> tuple[Any, list[Any]]:
    """Return the result of a sample input on a device, and the gradients of its operands.

    With ``again`` the gradients of their cubes follow, which are second derivatives.
    """
    leaves = []

    def moved(x: Any) -> Any:
        if not x.requires_grad:
            return x.to(device, dtype) if x.dtype.kind == "f" else x.to(device)
        leaves.append(x.to(device, dtype).detach().requires_grad_())
        return leaves[-1]

    batches = [Batch(kind, (2, 2))] if kind is DENSE else [Batch(kind, lengths) for lengths in BATCHES]
    batch = next(batch for batch in batches if call.refuses(batch) is None)
    arguments, keywords, _ = sample_arguments(call, batch, PLACEMENTS[placement], True, convert=moved)
    synchronized.clear()
    result = call.function(*arguments, **keywords)
    outputs = [y for y in flatten(result)[0] if y.requires_grad]
    seeds = [y.detach() * 0.5 + 1 for y in outputs]
    gradients = gradients_of(outputs, leaves, seeds, retain_graph=again)
    if again:
        recorded = gradients_of(outputs, leaves, seeds, create_graph=True)
        gradients += gradients_of([pn.sum(x * x * x) for x in recorded if x.requires_grad], leaves)
    return result, gradients


def gradients_of(outputs: list[Any], leaves: list[Any], seeds: list[Any] | None = None, **options: Any) -> list[Any]:
    used = pn.grad(outputs, leaves, seeds, allow_unused=True, **options) if outputs else []
    return [x for x in used if x is not None]


def on_host(tree: Any) -> Any:
    """Return results as NumPy arrays, components of nested ones one by one."""
    if isinstance(tree, list | tuple):
        return [on_host(member) for member in tree]
    if not isinstance(tree, pn.Array | pn.NestedArray):
        return tree
    return plain(tree.detach().to("cpu", pn.float64 if tree.dtype == BFLOAT16 else tree.dtype))


def compare(results: Any, expected: Any, rtol: float) -> None:
    if isinstance(expected, list):
        assert len(results) == len(expected)
        for pair in zip(results, expected, strict=True):
            compare(*pair, rtol)
    else:
        results, expected = np.asarray(results), np.asarray(expected)
        assert (results.shape, results.dtype) == (expected.shape, expected.dtype)
        atol = rtol * np.abs(expected[np.isfinite(expected)]).max(initial=1.0)
        np.testing.assert_allclose(results, expected, rtol, atol, strict=True)


@pytest.mark.parametrize(("call", "kind", "placement"), samples())
def test_sample(call: Call, kind: Kind, placement: int, cupy: ModuleType) -> None:
    results = computed(call, kind, placement, "cuda")
    assert bool(+synchronized) == bool(WAITING & {call.op, str(call)}), +synchronized
    # An operator reads neither the default device nor memory that it did not write.
    with pn.set_default_device("cuda"), pn.allocators.filled(0xFF, "cpu"):
        expected = computed(call, kind, placement, "cpu")
    for got, device in ((results, "cuda"), (expected, "cpu")):
        assert {y.device for y in flatten(got)[0]} <= {device}
    compare(on_host(results), on_host(expected), 1e-12)


@pytest.mark.parametrize(("call", "kind", "placement"), samples(without="to"))
def test_sample_of_bfloat16(call: Call, kind: Kind, placement: int, compiled: None) -> None:
    results = computed(call, kind, placement, "emulated", BFLOAT16)
    expected = computed(call, kind, placement, "cpu")
    for y, wide in zip(flatten(results)[0], flatten(expected)[0], strict=True):
        assert (y.device, y.dtype) == ("emulated", BFLOAT16 if wide.dtype.kind == "f" else wide.dtype)
    compare(on_host(results), on_host(expected), 6 * 2.0**-8)


SCALARS = (np.float64(2), np.sqrt(np.float32(4)), np.int64(3), np.int8(1), np.bool_(True))

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "signs": lambda x, v: [x + v, x / v, x == v, x < v],
    "reflected signs": lambda x, v: [v - x, v / x, v == x, v >= x, np.multiply(v, x)],
    "in place": lambda x, v: [x.clone().add_(v), x.clone().div_(v), x.clone().fill_(v), x.clone().copy_(v)],
    "alpha": lambda x, v: [pn.add(x, v, alpha=3), pn.sub(v, x, alpha=3)],
    "where": lambda x, v: [pn.where(x > 0, x, v), pn.where(x > 0, v, x), pn.where(x > 0, v, v)],
    "masked_fill": lambda x, v: pn.masked_fill(x, x > 0, v),
    "mask": lambda x, v: [pn.where(np.bool_(v > 1), x, x + 1), pn.masked_fill(x, np.bool_(v > 1), 7)],
    "assignment": lambda x, v: [y := x.clone(), y.__setitem__(0, v)][0],
    "full_like": lambda x, v: pn.full_like(x, v),
    "joined": lambda x, v: pn.stack([x.sum(), v, x.mean()]),
    "elementwise": lambda x, v: pn.elementwise("f", lambda a, b: a * b, pn.as_nested_array([x.sum()]), v),
    "map_components": lambda x, v: pn.map_components(lambda a, b: a * b, pn.as_nested_array([x.sum()]), v),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_numpy_scalars_are_copied_to_the_device_of_the_other_operand(name: str, device: str) -> None:
    function = OPERATORS[name]
    for make in KINDS.values():
        for value in SCALARS:
            results, expected = (flatten(function(x, value))[0] for x in (make(device=device), make()))
            assert {y.device for y in results} == {device}
            for got, due in zip(results, expected, strict=True):
                np.testing.assert_array_equal(on_host(got), on_host(due), strict=True)
    if name == "reflected signs":  # a scalar of ml_dtypes that is first computes by itself
        return
    x = KINDS["dense"](device=device).to(dtype="bfloat16")
    for got, due in zip(*(flatten(function(x, value))[0] for value in (ml_dtypes.bfloat16(2), 2)), strict=True):
        assert got.device == device and pn.equal(got, due)
        assert got.dtype == (np.bool_ if due.dtype == np.bool_ else BFLOAT16)


@pytest.mark.parametrize("number", [2, 2.5, np.float64(2), np.int8(2)])
def test_equal_takes_numbers(number: Any, device: str) -> None:
    for where in ("cpu", device):
        x = pn.array(float(number), device=where)
        assert pn.equal(x, number) and pn.equal(number, x) and not pn.equal(x + 1, number)
        assert not pn.equal(KINDS["jagged"](device=where), number)


def test_components_are_collected_from_and_on_any_device(device: str) -> None:
    on_cpu, on_device = pn.ones(2), pn.zeros(1, device=device)
    for where in ("cpu", device):
        for layout in (pn.jagged, pn.strided):
            nested = pn.nested_array([on_cpu, on_device, [7.0]], layout=layout, device=where)
            moved = pn.as_nested_array([on_cpu, on_device, [7.0]], layout=layout, device=where)
            assert nested.device == moved.device == where
            assert nested.values().tolist() == moved.values().tolist() == [1, 1, 0, 7]


def test_moves_are_copies_and_structures_lie_on_the_device(device: str) -> None:
    x = pn.nested_array_from_jagged(pn.arange(6.0, device=device), pn.array([0, 2, 6], device=device))
    assert {x.device, x.offsets().device, x.unbind()[0].device, x.to(device).device} == {device}
    back = x.to("cpu")
    back.values().data[...] = 7
    assert back.device == "cpu"
    assert [component.tolist() for component in x.unbind()] == [[0.0, 1.0], [2.0, 3.0, 4.0, 5.0]]


@pytest.mark.parametrize("home", ["cpu", "emulated"])
def test_checkpoint_repeats_the_call_on_its_default_device(home: str, compiled: None) -> None:
    x = pn.array([1.0, 2.0], device=home, requires_grad=True)
    with pn.set_default_device(home):
        y = pn.checkpoint(lambda x: x * pn.ones(2) + pn.nested_array([[1.0, 2.0]]).to_padded_array(0.0)[0], x)

    def differentiate() -> None:
        with pn.set_default_device(elsewhere(home)):
            pn.sum(y).backward(retain_graph=True)
            assert pn.get_default_device() == elsewhere(home)

    differentiate()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(differentiate).result()
    assert x.grad is not None and x.grad.tolist() == [2, 2]


def test_one_structure_on_several_devices(cupy: ModuleType) -> None:
    x = pn.nested_array([[1.0, 2.0], [], [3.0]], layout=pn.jagged)
    for device in ("emulated", "cuda", "cpu", "emulated"):  # what a device keeps with a structure is its own
        y = pn.softmax(x.to(device), 1)
        assert y.device == device and y.sum(1).tolist() == pytest.approx([1, 0, 1])
