"""Every operator and its gradient against dense PyTorch, component by component, in both layouts and placements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.autograd import backward, grad
from pynested.spec.components import Components, stacked
from pynested.spec.table import load_table

from ..batches import Batch, Call, Operand, of_calls
from ..calls import CALLS
from ..nests import BOTH, DENSE, JAGGED, STRIDED, Kind, Numbers, Placed, place

torch = pytest.importorskip("torch")
torch.set_num_threads(1)  # tensors are tiny

from .dense import OPERATORS  # noqa: E402

LAYERS = {"transformer_encoder_layer", "transformer_decoder_layer"}  # modules there: `test_layers.py` compares them
COMPARED = [call for call in CALLS if call.op not in LAYERS]
from .stacked import of_dense  # noqa: E402

LENGTHS = (3, 0, 4, 1), (2, 4), (1, 3)
EQUAL = (3, 3), (2, 2, 2), (1,)  # of components that are stacked
DTYPES = {np.float32: 3e-6, np.float64: 1e-14}  # and how far two ways to add a few numbers may be apart


def in_dtype(numbers: Numbers, dtype: Any) -> Numbers:
    return numbers.astype(dtype) if numbers.dtype.kind == "f" else numbers


class Operands:
    """The arguments of one call, as pynested takes them and as lists of PyTorch's tensors; leaves in one order."""

    def __init__(self, dtype: Any, kind: Kind, placement: str) -> None:
        self.dtype, self.kind, self.placement = dtype, kind, placement
        self.ours: list[Any] = []
        self.theirs: list[Any] = []

    def pair(self, argument: Any) -> tuple[Any, Any]:
        """One argument, for us and for PyTorch."""
        if isinstance(argument, Operand) and self.kind is DENSE:
            argument = stacked(argument.components)
        if isinstance(argument, Operand):
            components = [in_dtype(one, self.dtype) for one in argument.components]
            given = Components(components, argument.components.shape, components[0].dtype)
            wanted = components[0].dtype.kind == "f"
            placed = place(given, self.kind.layout, self.placement, argument.ragged, wanted)
            tensors = [torch.tensor(one, requires_grad=wanted) for one in components]
            self._remember(wanted, placed, tensors)
            return placed.array, tensors
        if isinstance(argument, np.ndarray):
            numbers = in_dtype(argument, self.dtype)
            wanted = numbers.dtype.kind == "f"
            array, tensor = pn.array(numbers, requires_grad=wanted), torch.tensor(numbers, requires_grad=wanted)
            self._remember(wanted, array, [tensor])
            return array, tensor
        if isinstance(argument, list):
            ours, theirs = zip(*map(self.pair, argument), strict=True)
            return list(ours), list(theirs)
        return argument, argument

    def _remember(self, wanted: bool, ours: Any, theirs: list[Any]) -> None:
        if wanted:
            self.ours.append(ours)
            self.theirs += theirs

    def gradients(self) -> Iterator[Numbers]:
        """What arrived at our leaves, component by component; zeros where nothing did."""
        for leaf in self.ours:
            if isinstance(leaf, Placed):
                yield from leaf.gradient()
            else:
                yield np.zeros(leaf.shape, leaf.dtype) if leaf.grad is None else leaf.grad.numpy()


def constant(value: Any, dtype: Any) -> Any:
    return torch.tensor(in_dtype(value, dtype)) if isinstance(value, np.ndarray) else value


def flat(result: Any, nested: bool) -> list[Any]:
    """All arrays of a result of ours; a dense one by its entries where PyTorch has components."""
    if isinstance(result, tuple):
        return [one for part in result for one in flat(part, nested and not isinstance(part, pn.Array))]
    return list(result.unbind()) if nested or isinstance(result, pn.NestedArray) else [result]


def flat_tensors(result: Any) -> list[Any]:
    """All tensors of a result of theirs."""
    return [one for part in result for one in flat_tensors(part)] if isinstance(result, list | tuple) else [result]


def check(got: Numbers, expected: Numbers, tolerance: float) -> None:
    """Equal shapes and dtypes, and values within ``tolerance`` of the largest one."""
    assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
    scale = np.abs(expected[np.isfinite(expected)]).max(initial=1.0) if expected.dtype.kind == "f" else 1.0
    np.testing.assert_allclose(got, expected, rtol=10 * tolerance, atol=10 * tolerance * scale)


def compared(call: Call, kind: Kind, lengths: tuple[int, ...], dtype: Any, placement: str) -> None:
    operands = Operands(dtype, kind, placement)
    ours, theirs = zip(*map(operands.pair, call.arguments(Batch(kind, lengths))), strict=True)
    result = call.function(*ours, **call.keywords)
    known = {name: constant(value, dtype) for name, value in call.keywords.items() if name != "layout"}
    expected = (of_dense(call.op) if kind is DENSE else OPERATORS[call.op])(*theirs, **known)
    if isinstance(expected, bool):
        assert result is expected
        return
    mine, tensors = flat(result, isinstance(expected, list) and kind is not DENSE), flat_tensors(expected)
    assert len(mine) == len(tensors)
    for one, tensor in zip(mine, tensors, strict=True):
        check(one.detach().numpy(), tensor.detach().numpy(), DTYPES[dtype])
    pulled(operands, mine, tensors, DTYPES[dtype])


def pulled(operands: Operands, mine: list[Any], tensors: list[Any], tolerance: float) -> None:
    """The same random cotangents through both tapes."""
    assert [one.requires_grad for one in mine] == [one.requires_grad for one in tensors]
    kept = [i for i, one in enumerate(mine) if one.requires_grad]
    if not kept:
        return
    generator = np.random.default_rng(len(kept))
    cotangents = [generator.standard_normal(mine[i].shape).astype(mine[i].dtype) for i in kept]
    backward([mine[i] for i in kept], list(map(pn.array, cotangents)))
    expected = torch.autograd.grad(
        [tensors[i] for i in kept], operands.theirs, list(map(torch.tensor, cotangents)), allow_unused=True
    )
    for got, wanted, leaf in zip(operands.gradients(), expected, operands.theirs, strict=True):
        check(got, (torch.zeros_like(leaf) if wanted is None else wanted).numpy(force=True), tolerance)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.__name__)
@of_calls(COMPARED)
def test_values_and_gradients(call: Call, kind: Kind, dtype: Any) -> None:
    possible = [
        lengths for lengths in (EQUAL if kind is DENSE else LENGTHS) if call.refuses(Batch(kind, lengths)) is None
    ]
    assert possible
    for lengths in possible:
        for placement in ("packed", "holes"):
            compared(call, kind, lengths, dtype, placement)


def second(grad: Any, results: list[Any], leaves: list[Any], vectors: list[Any]) -> Any:
    """The gradient along ``vectors`` of the gradient of the sum of the cubes."""
    loss = sum((one * one * one).sum() for one in results if one.requires_grad)
    slopes = grad(loss, leaves, create_graph=True, allow_unused=True)
    along = sum((slope * v).sum() for slope, v in zip(slopes, vectors, strict=True) if slope is not None)
    return grad(along, leaves, allow_unused=True) if along.requires_grad else [None] * len(leaves)


@pytest.mark.parametrize("call", [call for call in COMPARED if DENSE in call.forms], ids=str)
def test_second_derivatives(call: Call) -> None:
    operands = Operands(np.float64, DENSE, "packed")
    ours, theirs = zip(*map(operands.pair, call.arguments(Batch(DENSE, (2, 2)))), strict=True)
    known = {name: constant(value, np.float64) for name, value in call.keywords.items()}
    mine = flat(call.function(*ours, **call.keywords), False)
    tensors = flat_tensors(of_dense(call.op)(*theirs, **known))
    if not any(getattr(one, "requires_grad", False) for one in mine):
        return
    generator = np.random.default_rng(0)
    vectors = [generator.standard_normal(leaf.shape) for leaf in operands.ours]
    found = second(grad, mine, operands.ours, list(map(pn.array, vectors)))
    expected = second(torch.autograd.grad, tensors, operands.theirs, list(map(torch.tensor, vectors)))
    for got, wanted, leaf in zip(found, expected, operands.theirs, strict=True):
        due = (torch.zeros_like(leaf) if wanted is None else wanted).numpy(force=True)
        check(np.zeros(leaf.shape) if got is None else got.numpy(), due, 1e-11)


@pytest.mark.parametrize("kind", [JAGGED, STRIDED, BOTH], ids=str)
def test_a_maximum_attained_twice(kind: Kind) -> None:
    def tied(b: Batch) -> tuple[Any, ...]:
        return b.of(lambda x: np.sign(x)), 1

    for lengths in ((3, 5), (6, 4)):
        compared(Call("amax", "tied", tied), kind, lengths, np.float64, "packed")


@pytest.mark.parametrize("layout", [pn.jagged, pn.strided], ids=["jagged", "strided"])
def test_dropout_with_the_mask_that_was_drawn(layout: Any) -> None:
    components = [np.random.default_rng(i).standard_normal((5 * i, 3)) for i in range(3)]
    x = pn.nested_array(components, layout=layout, requires_grad=True)
    masks = pn.dropout(pn.ones_like(x), 0.25, generator=np.random.default_rng(1)).unbind()
    result = pn.dropout(x, 0.25, generator=np.random.default_rng(1))
    result.backward(pn.nested_array([np.ones((5 * i, 3)) for i in range(3)], layout=layout))
    assert x.grad is not None
    for component, mask, one, slope in zip(components, masks, result.unbind(), x.grad.unbind(), strict=True):
        leaf = torch.tensor(component, requires_grad=True)
        expected = leaf * torch.tensor(mask.numpy() != 0) / 0.75
        expected.sum().backward()
        check(one.detach().numpy(), expected.detach().numpy(), 1e-14)
        check(slope.numpy(), leaf.grad.numpy(), 1e-14)


def test_views_of_buffers() -> None:
    buffer = np.random.default_rng(0).standard_normal(12)
    ours, theirs = pn.array(buffer, requires_grad=True), torch.tensor(buffer, requires_grad=True)
    sizes, strides, starts = [[2, 3], [3, 2]], [[1, 2], [0, 3]], [1, 4]
    nested = pn.nested_array_from_strided(ours, sizes, strides, starts)
    tensors = [torch.as_strided(theirs, *one) for one in zip(sizes, strides, starts, strict=True)]
    for one, tensor in zip(nested.unbind(), tensors, strict=True):
        check(one.detach().numpy(), tensor.detach().numpy(), 0.0)
    (nested * nested).sum().backward()
    torch.stack([(tensor * tensor).sum() for tensor in tensors]).sum().backward()
    check(ours.grad.numpy(), theirs.grad.numpy(), 1e-14)


def test_masked_select_row_by_row() -> None:
    generator = np.random.default_rng(0)
    numbers, mask = generator.standard_normal((4, 5)), generator.random((4, 5)) < 0.5
    ours, theirs = pn.array(numbers, requires_grad=True), torch.tensor(numbers, requires_grad=True)
    nested = pn.masked_select(ours, mask)
    tensors = [torch.masked_select(row, torch.tensor(chosen)) for row, chosen in zip(theirs, mask, strict=True)]
    for one, tensor in zip(nested.unbind(), tensors, strict=True):
        check(one.detach().numpy(), tensor.detach().numpy(), 0.0)
    nested.exp().sum().backward()
    torch.cat(tensors).exp().sum().backward()
    check(ours.grad.numpy(), theirs.grad.numpy(), 1e-14)


def test_every_operator_is_compared() -> None:
    apart = {"masked_select", "nested_array_from_jagged", "nested_array_from_strided", "create_nested_block_mask"}
    missing = {one.name for one in load_table().values() if not one.is_idea} - apart - LAYERS - set(OPERATORS)
    assert not missing, f"without what PyTorch has for them in tests/against_torch/dense.py: {sorted(missing)}"
