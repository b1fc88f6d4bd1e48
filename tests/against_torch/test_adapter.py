"""The adapters for PyTorch: nested tensors that they read, and calls of dense operators that no sample input makes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pynested.conformance.adapters.base import Place
from pynested.conformance.adapters.torch_adapter import TorchTarget
from pynested.conformance.adapters.torch_dense import DenseTorch
from pynested.conformance.adapters.values import same
from pynested.spec.components import Components
from pynested.spec.encoding import Index

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore")

PACKED = Place("jagged", "packed")
TARGET = TorchTarget(torch)
DENSE = DenseTorch(torch, TARGET.function, TARGET.other)


def jagged(values: Any, **known: int) -> Any:
    return torch.nested.nested_tensor_from_jagged(values, torch.tensor([0, 2, 5]), **known)


def parts(*components: Any, dtype: Any = np.float32, shape: Any = None) -> Any:
    numbers = Components([np.array(component, dtype) for component in components], shape, dtype)
    return DENSE.operand(numbers, PACKED, False).value


def test_without_components_the_number_of_dimensions_is_known_and_no_size() -> None:
    read = TARGET.read(torch.nested.nested_tensor([torch.zeros(2, 3, dtype=torch.int8)]).narrow(0, 0, 0))
    assert read.shape == (0, None, None) and read.dtype == np.int8 and len(read) == 0


def test_zeros_without_memory_are_read() -> None:
    x = torch.tensor([1.0, -2.0]).requires_grad_()
    torch.sgn(x).backward(torch.ones(2))
    assert TARGET.read(x.grad).tolist() == [0, 0]
    leaf = DENSE.operand(np.float32([1, -2]), PACKED, True)
    torch.sgn(leaf.value).backward(torch.ones(2))
    assert np.asarray(leaf.gradient()).tolist() == [0, 0]


@pytest.mark.parametrize(("longest", "right"), [(3, True), (2, False), (4, False)])
def test_padding_is_compared_where_the_longest_length_is_known(longest: int, right: bool) -> None:
    nested = jagged(torch.arange(1.0, 6.0), min_seqlen=2, max_seqlen=longest)
    read = TARGET.read(nested)
    ((name, padded),) = TARGET.used(nested, read)
    assert name == "to_padded_tensor" and same(padded, read) is right


@pytest.mark.parametrize("dim", [1, 2])
def test_padding_is_not_compared_where_pytorch_guesses_the_longest_length(dim: int) -> None:
    nested = jagged(torch.arange(1.0, 6.0) if dim == 1 else torch.ones(2, 5), jagged_dim=dim)
    assert list(TARGET.used(nested, TARGET.read(nested))) == []
    assert torch.nested.to_padded_tensor(nested, 0.0).shape[dim] != 3


def test_arguments_go_by_their_names_in_torch() -> None:
    pieces = TARGET.call("split", "strided", [torch.arange(4)], {"sizes": 3})
    assert [piece.tolist() for piece in pieces] == [[0, 1, 2], [3]]


def test_an_index_of_one_entry_is_no_tuple() -> None:
    assert TARGET.other(Index(([0, 2],))) == [0, 2] and TARGET.other(Index((0, 1))) == (0, 1)


def test_a_backward_pass_that_is_recorded_is_differentiated_again() -> None:
    x = jagged(torch.arange(1.0, 6.0), min_seqlen=2, max_seqlen=3).requires_grad_()
    cotangent = torch.nested.nested_tensor_from_jagged(torch.arange(5.0), x.offsets(), min_seqlen=2, max_seqlen=3)
    cotangent.requires_grad_()
    first = TARGET.pull_to(x, x * x, cotangent)
    assert np.concatenate(TARGET.read(first)).tolist() == [0, 4, 12, 24, 40]  # 2 x c
    second = TARGET.pull_to(x, first, cotangent)
    assert np.concatenate(TARGET.read(second)).tolist() == [0, 2, 8, 18, 32]  # 2 c c


ONES, ROWS = parts(np.ones((2, 3)), np.ones((1, 3))), parts([1, 2, 3], [4, 5])
INTEGERS, NOTHING = parts([1, 2], [3], dtype=np.int32), parts(shape=(0, None))
THREES = parts(np.ones((3, 2)), np.ones((3, 2)))
MATRIX = torch.tensor([[1, 2], [3, 4]])
CALLS: list[tuple[str, list[Any], dict[str, Any], Any]] = [
    ("prod", [ONES], {"dim": (1, 0)}, TypeError),  # PyTorch takes one dimension
    ("allclose", [ONES, 2.0], {}, TypeError),  # and two tensors
    ("equal", [ONES, ONES], {}, NotImplementedError),
    ("nanmean", [INTEGERS], {"dim": (1, 0)}, RuntimeError),  # of integers
    ("sum", [ONES], {"dim": (1, 0)}, [3, 3, 3]),
    ("sum", [NOTHING], {"dim": 0}, []),
    ("sum", [parts(shape=(0, None, 2))], {"dim": (0, 1)}, [0, 0]),
    ("amax", [parts(shape=(0, None, 2))], {"dim": (0, 1)}, IndexError),  # of no elements
    ("sum", [ROWS], {"dim": (0, 0)}, NotImplementedError),
    ("sum", [ROWS], {"dim": (0, 2)}, NotImplementedError),
    ("squeeze", [parts(np.ones((2, 3)), np.ones((1, 3))), 1], {}, NotImplementedError),  # of one component alone
    ("bmm", [THREES, torch.ones(2, 2, 4, dtype=torch.float64)], {}, RuntimeError),
    ("bmm", [parts(np.ones((3, 0))), torch.ones(1, 0, 4, dtype=torch.float64)], {}, RuntimeError),
    ("getitem", [ROWS, ([True, False], None)], {}, [[[1, 2, 3]]]),
    ("getitem", [ROWS, slice(None, None, -1)], {}, ValueError),  # of steps below 0
    ("getitem", [NOTHING, (slice(0, 1), slice(None, None, -1))], {}, NotImplementedError),
    ("to_padded_array", [INTEGERS, 0.5], {}, [[1, 2], [3, 0]]),  # a fraction is cut off
    ("to_padded_array", [INTEGERS, float("inf")], {}, RuntimeError),
    ("to_padded_array", [parts(shape=(0, None, 4)), 1.0], {}, []),
    ("cat", [[INTEGERS, parts([0.5])]], {}, [[1, 2], [3], [0.5]]),
    ("cat", [[NOTHING, INTEGERS]], {}, NotImplementedError),
    ("masked_select", [MATRIX, torch.tensor([True, False])], {}, [[1], [3]]),
    ("masked_select", [torch.tensor(5), torch.tensor(True)], {}, [[5]]),
    ("masked_select", [MATRIX, torch.tensor([1, 0])], {}, RuntimeError),
    ("nested_array", [[]], {}, []),
]


@pytest.mark.parametrize(("op", "args", "kwargs", "expected"), CALLS)
def test_a_call_of_components(op: str, args: list[Any], kwargs: dict[str, Any], expected: Any) -> None:
    if isinstance(expected, type):
        with pytest.raises(expected):
            DENSE.call(op, "jagged", args, kwargs)
        return
    read = DENSE.read(DENSE.call(op, "jagged", args, kwargs))
    assert (read.tolist() if isinstance(read, np.ndarray) else [component.tolist() for component in read]) == expected


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((2, 4, 3), RuntimeError),  # of the empty component, which has none of 12
        ((2, -1, 2, 2), [(3, 2, 2), (0, 2, 2)]),  # -1 keeps the size
        ((-1, -1, 2, -1), [(3, 2, 2), (0, 2, 2)]),  # and beyond the sizes it is inferred, also of no elements
        ((2, -1, -1, -1), [(3, 4, 1), (0, 4, 1)]),
        ((2, -1, 3, -1), RuntimeError),
        ((3, -1, 4), NotImplementedError),  # of another number of components
    ],
)
@pytest.mark.parametrize("op", ["reshape", "view"])
def test_each_component_is_reshaped_with_the_sizes_that_stay(op: str, shape: Any, expected: Any) -> None:
    args = [parts(np.ones((3, 4)), np.ones((0, 4))), shape]
    if isinstance(expected, type):
        with pytest.raises(expected):
            DENSE.call(op, "strided", args, {})
    else:
        assert [component.shape for component in DENSE.read(DENSE.call(op, "strided", args, {}))] == expected


def test_no_memory_is_pinned_without_a_device() -> None:
    if not torch.accelerator.is_available():
        with pytest.raises(RuntimeError):
            DENSE.call("nested_array", "strided", [[[1.0]]], {"pin_memory": True})
