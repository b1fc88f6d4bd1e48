"""Memory shared with PyTorch: both ways, proven by writing; and what is refused on either side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import DTypeError, ExchangeError, GradientError

torch = pytest.importorskip("torch")

DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64")
# What is made of a batch (4, 6) of zeros: the same in both.
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "contiguous": lambda x: x,
    "transposed": lambda x: x.transpose(0, 1),
    "with gaps": lambda x: x[1::2, ::3],
    "a column": lambda x: x[:, 2],
    "without dimensions": lambda x: x[1, 2],
    "of size 0": lambda x: x[:, 3:3],
    "without rows": lambda x: x[:0],
}


def check_shared(ours: pn.Array, theirs: Any) -> None:
    """Both are the same memory: a write on either side is seen on the other."""
    assert ours.dtype == str(theirs.dtype).removeprefix("torch.")
    assert (ours.shape, ours.tolist()) == (tuple(theirs.shape), theirs.tolist())
    ours[...] = 1
    assert theirs.all()
    theirs[...] = 0
    assert not ours.numpy().any()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_tensors_come_in(dtype: str, layout: str) -> None:
    theirs = LAYOUTS[layout](torch.zeros(4, 6, dtype=getattr(torch, dtype)))
    ours = pn.from_dlpack(theirs)
    assert ours.stride() == theirs.stride() or not theirs.numel()
    check_shared(ours, theirs)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_arrays_go_out(dtype: str, layout: str) -> None:
    ours = LAYOUTS[layout](pn.zeros(4, 6, dtype=dtype))
    theirs = torch.from_dlpack(ours)
    assert ours.stride() == theirs.stride() or not theirs.numel()
    check_shared(ours, theirs)


def test_round_trips_end_where_they_began() -> None:
    ours, theirs = pn.arange(6), torch.arange(6)
    assert pn.from_dlpack(torch.from_dlpack(ours)).data.ctypes.data == ours.data.ctypes.data
    assert torch.from_dlpack(pn.from_dlpack(theirs)).data_ptr() == theirs.data_ptr()


def test_memory_outlives_the_side_that_made_it() -> None:
    ours, theirs = pn.from_dlpack(torch.ones(1000)), torch.from_dlpack(pn.ones(1000))
    assert (ours.sum().item(), theirs.sum().item()) == (1000, 1000)


def test_what_requires_grad_is_refused_until_it_is_detached() -> None:
    theirs = torch.ones(2, requires_grad=True)
    with pytest.raises(ExchangeError, match="detach"):
        pn.from_dlpack(theirs)
    check_shared(pn.from_dlpack(theirs.detach()), theirs.detach())
    ours = pn.ones(2, requires_grad=True)
    with pytest.raises(BufferError, match="detach"):
        torch.from_dlpack(ours)
    check_shared(ours.detach(), torch.from_dlpack(ours.detach()))


def test_copies() -> None:
    theirs, ours = torch.zeros(3), pn.zeros(3)
    pn.from_dlpack(theirs, copy=True)[...] = 7
    torch.from_dlpack(ours, copy=True)[...] = 7
    assert not theirs.any()
    assert not ours.numpy().any()
    pn.from_dlpack(theirs, copy=False)[...] = 7
    torch.from_dlpack(ours, copy=False)[...] = 7
    assert theirs.tolist() == ours.tolist() == [7, 7, 7]


def test_negative_strides_do_not_end_the_process() -> None:
    with pytest.raises(ExchangeError, match="contiguous"):
        torch.from_dlpack(pn.arange(3)[::-1])
    assert torch.from_dlpack(pn.arange(3)[::-1].contiguous()).tolist() == [2, 1, 0]
    assert torch.from_dlpack(pn.arange(1)[::-1]).tolist() == [0]
    assert torch.from_dlpack(pn.arange(3)[2:2][::-1]).tolist() == []


@pytest.mark.parametrize("dtype", ["complex64", "uint16", "float8_e4m3fn"])
def test_dtypes_that_pynested_has_not(dtype: str) -> None:
    with pytest.raises(DTypeError) as caught:
        pn.from_dlpack(torch.zeros(2, dtype=getattr(torch, dtype)))
    assert dtype in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("layout", ["sparse_coo", "meta"])
def test_tensors_without_plain_memory(layout: str) -> None:
    theirs = torch.zeros(2, device="meta") if layout == "meta" else torch.eye(2).to_sparse()
    with pytest.raises(ExchangeError, match="from_dlpack: "):
        pn.from_dlpack(theirs)


def test_nested_tensors_around_our_memory() -> None:
    ours = pn.nested_array([[1.0, 2.0], [], [3.0, 4.0, 5.0]], layout=pn.jagged)
    values, offsets = torch.from_dlpack(ours.values()), torch.from_dlpack(ours.offsets())
    theirs = torch.nested.nested_tensor_from_jagged(values, offsets)
    assert [one.tolist() for one in theirs.unbind()] == [[1, 2], [], [3, 4, 5]]
    ours.mul_(10)
    assert [one.tolist() for one in theirs.unbind()] == [[10, 20], [], [30, 40, 50]]
    theirs.values()[...] = 7
    assert (ours.values() == 7).numpy().all()


def test_nested_tensors_with_holes_around_our_memory() -> None:
    ours = pn.narrow(pn.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), 1, 1, [2, 1], layout=pn.jagged)
    parts = [torch.from_dlpack(part) for part in (ours.values(), ours.offsets(), ours.lengths())]
    theirs = torch.nested.nested_tensor_from_jagged(*parts)
    assert [one.tolist() for one in theirs.unbind()] == [one.tolist() for one in ours.unbind()]


def test_nested_arrays_around_their_memory() -> None:
    rows = [torch.ones(2, 3), torch.ones(0, 3), torch.ones(4, 3)]
    theirs = torch.nested.nested_tensor(rows, layout=torch.jagged)
    ours = pn.nested_array_from_jagged(pn.from_dlpack(theirs.values()), pn.from_dlpack(theirs.offsets()))
    assert [one.shape for one in ours.unbind()] == [(2, 3), (0, 3), (4, 3)]
    theirs.values()[...] = 5
    assert ours.sum().item() == 5 * 18
    pn.nested_array_from_strided(pn.from_dlpack(theirs.values().view(-1)), [[2, 3], [4, 3]]).mul_(2)
    assert (theirs.values() == 10).all()


def test_gradients_on_both_sides_of_shared_memory() -> None:
    theirs = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    ours = pn.nested_array_from_jagged(pn.from_dlpack(theirs), [0, 1, 3]).requires_grad_()
    (pn.softmax(ours, 1) * np.array([[1.0], [2.0]])).sum().backward()
    leaf = theirs.clone().requires_grad_()
    (torch.softmax(leaf[:1], 0).sum() + 2 * torch.softmax(leaf[1:], 0).sum()).backward()
    assert ours.grad is not None and leaf.grad is not None
    np.testing.assert_allclose(torch.from_dlpack(ours.grad.values()), leaf.grad, atol=1e-15)


@pytest.mark.parametrize("nested", [False, True])
def test_a_write_into_what_torch_held_in_between_is_noticed(nested: bool) -> None:
    """PyTorch's own writes are not, but those of pynested through any array that comes back from it."""
    memory = pn.array([1.0, 2.0, 3.0])
    ours = pn.nested_array_from_jagged(memory, [0, 1, 3]) if nested else memory
    for back in (
        lambda t: pn.from_dlpack(t),
        lambda t: pn.from_dlpack(t[1:]),
        lambda t: pn.array(t.numpy(), copy=False),
        lambda t: pn.nested_array_from_jagged(t.numpy(), [0, 2, 3]),
    ):
        x = pn.ones_like(ours).requires_grad_()
        y = (x * ours).sum()
        back(torch.from_dlpack(memory)).mul_(100)
        with pytest.raises(GradientError, match="overwritten in place"):
            pn.grad(y, x)
    theirs = torch.ones(4)
    first, second = pn.from_dlpack(theirs[:3]), pn.from_dlpack(theirs[2:])
    x = pn.ones_like(first).requires_grad_()
    y = (x * first).sum()
    second.mul_(100)
    with pytest.raises(GradientError, match="overwritten in place"):
        pn.grad(y, x)
