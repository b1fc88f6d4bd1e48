"""Values and gradients of sample inputs against dense PyTorch, component by component, in every layout.

The conformance kit translates the calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.autograd import backward
from pynested.conformance.adapters.base import Place
from pynested.spec.components import Components
from pynested.spec.table import load_table

from ..batches import Batch, Call, Operand
from ..calls import CALLS
from ..fuzz.campaign import campaign
from ..nests import DENSE, Kind, Numbers, place
from ..support.samples import EVERY, samples

torch = pytest.importorskip("torch")
torch.set_num_threads(1)  # tensors are tiny

from torch.nn import functional  # noqa: E402

from pynested.conformance.adapters.torch_adapter import TorchTarget  # noqa: E402
from pynested.conformance.adapters.torch_batch import Parts  # noqa: E402
from pynested.conformance.adapters.torch_dense import DenseTorch  # noqa: E402

TARGET = TorchTarget(torch)
DENSE_TORCH = DenseTorch(torch, TARGET.function, TARGET.other)

# Dense PyTorch has no call that only picks, joins or parts components, and refuses steps below 0.
APART = {"as_nested_array", "nested_array", "equal", "allclose", "unbind"}
APART |= {"narrow", "chunk-0", "split-0", "select-0", "to_padded_array-larger", "getitem-mask", "getitem-component"}
APART |= {f"getitem-{dim} slice(None, None, -1)" for dim in (0, 1, 2)} | {"getitem-1 slice(2, 0, -1)"}
# It has no function, no gradient, or a function that takes no number or one dimension at a time.
APART |= {"cbrt", "floor_divide", "remainder-number first", "clamp-dense", "logsumexp-None"}
APART |= {f"prod-{dims}" for dims in (None, (0, 1), (0, 2), (1, 2))}
TENSORS_ONLY = {"maximum", "minimum", "logaddexp", "ne", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor"}
APART |= {f"{op}-{label}" for op in TENSORS_ONLY for label in ("number", "number first")}
APART |= {"multi_head_attention", "flex_attention"}  # the layers contain the first
COMPARED = [call for call in CALLS if not {call.op, str(call)} & APART]

LENGTHS, EQUAL = ((3, 0, 4, 1), (3, 2)), ((2, 2, 2),)  # of nested arrays, and of components that are stacked
TOLERANCES = {np.float32: 3e-6, np.float64: 1e-14}  # how far two ways to add a few numbers may be apart


class Operands:
    """The arrays of a call, each built for both sides in the same order."""

    def __init__(self, kind: Kind, dtype: Any, placement: str) -> None:
        self.kind, self.dtype, self.placement = kind, dtype, placement
        self.pairs: list[tuple[Any, Any]] = []

    def build(self, argument: Any) -> Any:
        """Return our array; PyTorch's operand is kept beside it. Floats are leaves."""
        if isinstance(argument, Operand):
            components = argument.components
            numbers: Any = Components(map(self._cast, components), components.shape, self._cast(components[0]).dtype)
            is_leaf = numbers.dtype.kind == "f"
            ours: Any = place(numbers, self.kind.layout, self.placement, argument.ragged, is_leaf)
        else:
            numbers = self._cast(argument)
            is_leaf = numbers.dtype.kind == "f"
            ours = place([numbers], None, "packed", 1, is_leaf)
        self.pairs.append((ours, DENSE_TORCH.operand(numbers, Place("jagged", "packed"), is_leaf)))
        return ours.array if isinstance(argument, Operand) else ours.array[0]

    def _cast(self, numbers: Numbers) -> Numbers:
        return numbers.astype(self.dtype) if numbers.dtype.kind == "f" else numbers

    def gradients(self) -> Iterator[tuple[Numbers, Numbers]]:
        """Yield our gradient and PyTorch's of each component of a leaf, zeros where nothing arrived."""
        for ours, other in self.pairs:
            if ours.buffer.requires_grad:
                result, expected = ours.gradient(), other.gradient()
                if expected is None:
                    expected = list(map(np.zeros_like, result))
                yield from zip(result, expected if isinstance(expected, list) else [expected], strict=True)


def check(result: Numbers, expected: Numbers, tolerance: float, where: str) -> None:
    """Check that shapes and dtypes are equal, and values within ``tolerance`` of the greatest value."""
    assert (result.shape, result.dtype) == (expected.shape, expected.dtype), where
    scale = np.abs(expected[np.isfinite(expected)]).max(initial=1.0)
    np.testing.assert_allclose(result, expected, 10 * tolerance, 10 * tolerance * scale, err_msg=where)


def parts(ours: Any, theirs: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the components of a result, or of each in a list of results, of both sides."""
    if isinstance(theirs, list):
        for pair in zip(ours, theirs, strict=True):
            yield from parts(*pair)
    elif isinstance(theirs, Parts):
        yield from zip(ours.unbind(), theirs.tensors, strict=True)
    else:
        yield ours, theirs


def cross_entropy(x: Any, target: Any, reduction: str, **options: Any) -> Any:
    """Compute the losses of the rows of each component, or of the rows of all components at once."""
    if reduction == "none":
        pairs = zip(x.tensors, target.tensors, strict=True)
        return Parts([functional.cross_entropy(*pair, reduction="none", **options) for pair in pairs], x.shape[:-1])
    rows, classes = torch.cat(x.tensors), torch.cat(target.tensors)
    return functional.cross_entropy(rows, classes, reduction=reduction, **options)


def compare(call: Call, batch: Batch, dtype: Any, placement: str) -> None:
    operands, where = Operands(batch.kind, dtype, placement), f"{call} {batch.kind} {batch.lengths}"
    ours = call.function(*call.given(batch, operands.build), **call.keywords)
    built = iter(operands.pairs)
    args = [DENSE_TORCH.other(argument) for argument in call.given(batch, lambda _: next(built)[1].value)]
    constants = {
        name: torch.tensor(value.astype(dtype)) if isinstance(value, np.ndarray) else value
        for name, value in call.keywords.items()
    }
    is_loss = call.op == "cross_entropy"
    theirs = cross_entropy(*args, **constants) if is_loss else DENSE_TORCH.call(call.op, "jagged", args, constants)
    pairs = list(parts(ours, theirs))
    for result, expected in pairs:
        check(result.detach().numpy(), expected.numpy(force=True), TOLERANCES[dtype], where)
        assert result.requires_grad == expected.requires_grad
    tracked = [pair for pair in pairs if pair[0].requires_grad]
    if tracked:
        generator = np.random.default_rng(len(tracked))
        results, expected_results = (list(side) for side in zip(*tracked, strict=True))
        cotangents = [np.asarray(generator.standard_normal(result.shape), result.dtype) for result in results]
        backward(results, list(map(pn.array, cotangents)))
        torch.autograd.backward(expected_results, list(map(torch.tensor, cotangents)))
    for gradient, expected in operands.gradients():
        check(gradient, expected, TOLERANCES[dtype], f"{where}, gradient")


@pytest.mark.filterwarnings("ignore:var\\(\\)|std\\(\\)")  # of variances of one element
@pytest.mark.parametrize(("dtype", "placement"), [(np.float32, "packed"), (np.float64, "holes")], ids=["32", "64"])
@pytest.mark.parametrize("op", sorted({call.op for call in COMPARED}))
@EVERY
def test_values_and_gradients(every: bool, op: str, dtype: Any, placement: str) -> None:
    for call, kind in samples(every, turn=dtype is np.float64):
        batches = [Batch(kind, lengths) for lengths in (EQUAL if kind is DENSE else LENGTHS)]
        for batch in batches if call.op == op and call in COMPARED else ():
            if call.refuses(batch) is None:
                compare(call, batch, dtype, placement)


def test_every_operator_is_compared() -> None:
    operators = {operator.name for operator in load_table().values() if not operator.is_idea}
    missing = operators - {call.op for call in COMPARED} - APART
    created = {"nested_array_from_jagged", "nested_array_from_strided", "create_nested_block_mask"}
    assert missing == {"masked_select", *created}


def test_gradients_of_chains_that_are_drawn() -> None:
    report = campaign("torch", seed=0, calls=20)
    assert (report.calls, report.differences) == (20, 0), report.kinds
