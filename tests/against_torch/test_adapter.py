"""The adapter reads what PyTorch says, no less and no more, and asks for what PyTorch has a name for."""

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

OFFSETS = [0, 2, 5]
PACKED = Place("jagged", "packed")


@pytest.fixture(scope="module")
def target() -> Any:
    return TorchTarget(torch)


def jagged(**known: int) -> Any:
    return torch.nested.nested_tensor_from_jagged(torch.arange(1.0, 6.0), torch.tensor(OFFSETS), **known)


def test_without_components_the_number_of_dimensions_is_known_and_no_size(target: Any) -> None:
    none = torch.nested.nested_tensor([torch.zeros(2, 3, dtype=torch.int8)]).narrow(0, 0, 0)
    read = target.read(none)
    assert read.shape == (0, None, None) and read.dtype == np.int8 and len(read) == 0


def test_zeros_of_which_no_memory_exists_are_read(target: Any) -> None:
    x = torch.tensor([1.0, -2.0]).requires_grad_()
    torch.sgn(x).backward(torch.ones(2))
    assert target.read(x.grad).tolist() == [0, 0]
    dense = DenseTorch(torch, target.function, target.other)
    operand = dense.operand(np.float32([1, -2]), PACKED, True)
    torch.sgn(operand.value).backward(torch.ones(2))
    assert np.asarray(operand.gradient()).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("known", "right"),
    [
        ({"min_seqlen": 2, "max_seqlen": 3}, True),
        ({"min_seqlen": 2, "max_seqlen": 2}, False),
        ({"min_seqlen": 2, "max_seqlen": 4}, False),
    ],
)
def test_padding_is_held_to_the_longest_length_where_that_was_told(target: Any, known: Any, right: bool) -> None:
    nested = jagged(**known)
    read = target.read(nested)
    ((name, found),) = target.used(nested, read)
    assert name == "to_padded_tensor" and same(found, read) is right


@pytest.mark.parametrize("dim", [1, 2])
def test_padding_says_nothing_of_what_was_not_told_its_longest_length(target: Any, dim: int) -> None:
    values = torch.arange(1.0, 6.0) if dim == 1 else torch.ones(2, 5)
    nested = torch.nested.nested_tensor_from_jagged(values, torch.tensor(OFFSETS), jagged_dim=dim)
    assert list(target.used(nested, target.read(nested))) == []
    assert torch.nested.to_padded_tensor(nested, 0.0).shape[dim] != 3  # five columns, or as many as other sizes say


def test_arguments_go_by_their_names_in_torch(target: Any) -> None:
    pieces = target.call("split", "strided", [torch.arange(4)], {"sizes": 3})
    assert [one.tolist() for one in pieces] == [[0, 1, 2], [3]]


@pytest.mark.parametrize(
    ("op", "args", "kwargs", "error"),
    [
        ("prod", [], {"dim": (1, 0)}, TypeError),  # takes one dimension, dense too
        ("sum", [], {"dim": (1, 0)}, NotImplementedError),
        ("nanmean", [], {"dim": (1, 0)}, NotImplementedError),
        ("allclose", [2.0], {}, TypeError),  # takes tensors only, dense too
        ("equal", [], {}, NotImplementedError),
    ],
)
def test_what_no_component_can_be_asked_is_refused_where_its_arguments_always_are(
    target: Any, op: str, args: list[Any], kwargs: Any, error: type[Exception]
) -> None:
    dense = DenseTorch(torch, target.function, target.other)
    x = Components([np.ones((2, 3), np.float32), np.ones((1, 3), np.float32)])
    operand = dense.operand(x, PACKED, False).value
    args = [operand, *args] if op != "equal" else [operand, operand]
    with pytest.raises(error):
        dense.call(op, "jagged", args, kwargs)


def test_integers_whose_mean_no_dense_operator_takes_are_refused_for_their_dtype(target: Any) -> None:
    dense = DenseTorch(torch, target.function, target.other)
    operand = dense.operand(Components([np.ones((2, 3), np.int32)]), PACKED, False).value
    with pytest.raises(RuntimeError, match="dtype"):
        dense.call("nanmean", "jagged", [operand], {"dim": (1, 0)})


def test_results_that_make_no_nested_array_are_no_answer(target: Any) -> None:
    """Dense PyTorch squeezes the second component alone; nobody can say what that is of both."""
    dense = DenseTorch(torch, target.function, target.other)
    two, one = (
        dense.operand(Components([np.ones((2, 3)), np.ones((size, 3))]), PACKED, False).value for size in (2, 1)
    )
    with pytest.raises(NotImplementedError, match="numbers of dimensions"):
        dense.call("squeeze", "strided", [one, 1], {})
    assert [part.shape for part in dense.read(dense.call("squeeze", "strided", [two, 1], {}))] == [(2, 3), (2, 3)]


@pytest.mark.parametrize("inner", [0, 2])
def test_products_of_dtypes_that_differ_are_refused_with_and_without_elements(target: Any, inner: int) -> None:
    dense = DenseTorch(torch, target.function, target.other)
    x = dense.operand(Components([np.ones((3, inner), np.float32)] * 2), PACKED, False).value
    for dtype in (np.float32, np.float64):
        y = dense.operand(np.ones((2, inner, 4), dtype), PACKED, False).value
        if dtype is np.float32:
            assert [one.tolist() for one in dense.read(dense.call("bmm", "jagged", [x, y], {}))] == [
                [[inner] * 4] * 3
            ] * 2
            continue
        with pytest.raises(RuntimeError, match="scalar type"):
            dense.call("bmm", "jagged", [x, y], {})


def test_what_comes_after_an_argument_that_is_left_out_goes_by_its_name(target: Any) -> None:
    dense = DenseTorch(torch, target.function, target.other)
    x, bias = np.array([[1, 2, 4]], np.float32), np.array([5, 0, 0], np.float32)
    operand = dense.operand(Components([x]), PACKED, False).value
    found = dense.call("layer_norm", "jagged", [operand, (3,)], {"bias": torch.from_numpy(bias), "eps": 0.0})
    mean, deviation = 7 / 3, np.sqrt(14 / 9)
    assert np.allclose(dense.read(found)[0], (x - mean) / deviation + bias, atol=1e-6)


def test_an_index_of_one_entry_is_no_tuple(target: Any) -> None:
    assert target.other(Index(([0, 2],))) == [0, 2] and target.other(Index((0, 1))) == (0, 1)


def test_a_pass_that_is_recorded_is_recorded_twice(target: Any) -> None:
    x = jagged(min_seqlen=2, max_seqlen=3)
    numbers = torch.arange(5.0)
    cotangent = torch.nested.nested_tensor_from_jagged(numbers, x.offsets(), min_seqlen=2, max_seqlen=3)
    x.requires_grad_()
    cotangent.requires_grad_()
    first = target.pull_to(x, x * x, cotangent)
    assert np.concatenate(target.read(first)).tolist() == [0, 4, 12, 24, 40]  # 2 x c
    second = target.pull_to(x, first, cotangent)
    assert np.concatenate(target.read(second)).tolist() == [0, 2, 8, 18, 32]  # 2 c c


@pytest.mark.parametrize(
    ("items", "found"),
    [
        ((slice(1, None),), [[4, 5]]),
        (([-1, 0, 0], slice(0, 2)), [[4, 5], [1, 2], [1, 2]]),
        ((0, -1), 3),
        (([True, False], None), [[[1, 2, 3]]]),
    ],
)
def test_an_index_picks_components_and_what_is_in_them(target: Any, items: Any, found: Any) -> None:
    dense = DenseTorch(torch, target.function, target.other)
    operand = dense.operand(Components([np.array([1, 2, 3]), np.array([4, 5])]), PACKED, False).value
    read = dense.read(dense.call("getitem", "jagged", [operand, dense.other(Index(items))], {}))
    assert (read.tolist() if isinstance(read, np.ndarray) else [one.tolist() for one in read]) == found


@pytest.mark.parametrize("rows", [[], [[1, 2, 3]]])
@pytest.mark.parametrize("items", [(slice(None, None, -1),), (slice(0, 1), slice(None, None, -1))])
def test_an_index_that_no_dense_tensor_takes_is_refused(target: Any, items: Any, rows: Any) -> None:
    dense = DenseTorch(torch, target.function, target.other)
    nothing_is_there = not rows and len(items) > 1
    operand = dense.operand(
        Components([np.array(one) for one in rows], (len(rows), None), np.int64), PACKED, False
    ).value
    with pytest.raises(NotImplementedError if nothing_is_there else ValueError, match="component|step"):
        dense.call("getitem", "jagged", [operand, dense.other(Index(items))], {})


def test_padding_is_what_a_dense_tensor_is_filled_with(target: Any) -> None:
    dense = DenseTorch(torch, target.function, target.other)
    rows = Components([np.array([[1, 2]], np.int32), np.array([[3], [4]], np.int32)])
    operand = dense.operand(rows, PACKED, False).value
    padded = dense.call("to_padded_array", "strided", [operand, 7], {})
    assert padded.tolist() == [[[1, 2], [7, 7]], [[3, 7], [4, 7]]] and padded.dtype == torch.int32
    assert dense.call("to_padded_array", "strided", [operand, 0.5], {})[0, 1, 1] == 0  # a fraction is cut off
    with pytest.raises(RuntimeError, match="overflow"):
        dense.call("to_padded_array", "strided", [operand, float("inf")], {})
    nothing = dense.operand(Components([], (0, None, 4), np.float32), PACKED, False).value
    assert dense.call("to_padded_array", "strided", [nothing, 1.0], {}).shape == (0, 0, 4)


def test_what_is_padded_has_a_gradient(target: Any) -> None:
    dense = DenseTorch(torch, target.function, target.other)
    operand = dense.operand(Components([np.float32([1, 2]), np.float32([3])]), PACKED, True)
    padded = dense.call("to_padded_array", "jagged", [operand.value, 0.0], {})
    dense.backward([padded], [np.float32([[5, 6], [7, 8]])])
    assert [one.tolist() for one in operand.gradient()] == [[5, 6], [7]]


def test_batches_are_joined_in_the_dtype_of_dense_tensors(target: Any) -> None:
    dense = DenseTorch(torch, target.function, target.other)
    whole, real = Components([np.int32([1, 2]), np.int32([3])]), Components([np.float32([0.5])])
    operands = [dense.operand(one, PACKED, False).value for one in (whole, real)]
    for kwargs in ({}, {"dim": 0}):
        read = dense.read(dense.call("cat", "jagged", [operands], kwargs))
        assert [one.tolist() for one in read] == [[1, 2], [3], [0.5]] and {one.dtype.name for one in read} == {
            "float32"
        }
    nothing = dense.operand(Components([], (0, None), np.float32), PACKED, False).value
    with pytest.raises(NotImplementedError):
        dense.call("cat", "jagged", [[nothing, operands[0]]], {})


@pytest.mark.parametrize(
    ("shape", "found"),
    [
        ((2, 4, 3), RuntimeError),  # of the empty component, which holds none of 12
        ((2, -1, 2, 2), [(3, 2, 2), (0, 2, 2)]),  # -1 keeps the size that is there
        ((-1, -1, 2, -1), [(3, 2, 2), (0, 2, 2)]),  # and beyond them it is inferred, also of no elements
        ((2, -1, -1, -1), [(3, 4, 1), (0, 4, 1)]),
        ((2, -1, 3, -1), RuntimeError),
        ((3, -1, 4), NotImplementedError),  # it is of two components
    ],
)
@pytest.mark.parametrize("op", ["reshape", "view"])
def test_each_component_is_reshaped_with_the_sizes_that_stay(target: Any, op: str, shape: Any, found: Any) -> None:
    dense = DenseTorch(torch, target.function, target.other)
    parts = dense.operand(Components([np.ones((3, 4)), np.ones((0, 4))]), PACKED, False).value
    if isinstance(found, type):
        with pytest.raises(found):
            dense.call(op, "strided", [parts, shape], {})
    else:
        assert [one.shape for one in dense.read(dense.call(op, "strided", [parts, shape], {}))] == found


def test_dense_pytorch_chooses_of_each_run_and_of_a_number(target: Any) -> None:
    dense = DenseTorch(torch, target.function, target.other)
    array, mask = torch.tensor([[1, 2], [3, 4]]), torch.tensor([True, False])
    assert [one.tolist() for one in dense.read(dense.call("masked_select", "jagged", [array, mask], {}))] == [[1], [3]]
    number = dense.call("masked_select", "jagged", [torch.tensor(5), torch.tensor(True)], {})
    assert [one.tolist() for one in dense.read(number)] == [[5]]
    with pytest.raises(RuntimeError):
        dense.call("masked_select", "jagged", [array, torch.tensor([1, 0])], {})


def test_of_no_arrays_the_default_dtype_is_known_and_no_memory_is_pinned(target: Any) -> None:
    dense = DenseTorch(torch, target.function, target.other)
    nothing = dense.read(dense.call("nested_array", "strided", [[]], {}))
    assert (len(nothing), nothing.shape, nothing.dtype) == (0, (0,), np.float32)
    if not torch.accelerator.is_available():
        with pytest.raises(RuntimeError):
            dense.call("nested_array", "strided", [[[1.0]]], {"pin_memory": True})
