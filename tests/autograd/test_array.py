"""An array by itself: what it is, what it becomes, writes in place, NumPy and Python around it."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.autograd import Array, no_grad
from pynested.backends.errors import ArgumentError, DimensionError, DTypeError, GradientError, ReadOnlyError, ShapeError

TRACKED = pn.array([1.0, 2.0], requires_grad=True)


@pytest.mark.parametrize("layout", [None, pn.jagged, pn.strided])
def test_what_others_rely_on_is_not_exchanged(layout: Any) -> None:
    """Neither the values of an array, nor those of the one inside a nested array, nor its structure."""
    for x in (pn.ones(2, 3), pn.ones(3, requires_grad=True) * 2, pn.ones(4)[1:]):
        kept = [x]
        if layout is not None:
            nested = pn.nested_array([np.ones(2), np.ones(3)], layout=layout)
            kept = [nested, nested.data, nested.values(), nested.unbind()[0]]
        for one in kept:
            before, values = one.data, np.array(one.data)
            for name in ("data", "structure")[: 1 + (one.is_nested)]:
                for other in (np.ones(1), before, pn.ones(2), None):
                    with pytest.raises(ReadOnlyError, match=rf"Array\.{name} cannot be set\. .*copy_\(source\)"):
                        setattr(one, name, other)
            assert one.data is before and (np.array(one.data) == values).all()


def test_what_it_is() -> None:
    x = pn.array(np.arange(6.0).reshape(2, 3).T)
    assert (x.shape, x.ndim, x.dim(), x.numel(), len(x)) == ((3, 2), 2, 2, 6, 3)
    assert (x.size(), x.size(-1), x.stride(), x.stride(0)) == ((3, 2), 2, (2, 1), 2)
    assert x.is_contiguous()
    assert not x.T.is_contiguous()
    assert x.T.storage is x.storage
    assert (x.device, x.is_leaf, x.is_nested, x.dtype) == ("cpu", True, False, np.float64)
    with pytest.raises(DimensionError):
        x.size(2)


def test_printing() -> None:
    assert repr(pn.array([1, 2])) == "array([1, 2])"
    assert repr(pn.array([1.0], dtype="float32")) == "array([1.], dtype=float32)"
    assert repr(TRACKED) == "array([1., 2.], requires_grad=True)"
    assert repr(TRACKED * 2) == "array([2., 4.], made by mul)"
    assert repr(TRACKED.unbind()[0]) == "array(1., made by unbind)"


def test_python_numbers() -> None:
    assert (float(pn.array(2.5)), int(pn.array([3])), bool(pn.array([[1]])), pn.array(2).item()) == (2.5, 3, True, 2)
    assert [10, 20, 30][pn.array(1)] == 20
    assert TRACKED.sum().item() == 3
    assert pn.array([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
    for wrong in (lambda: float(pn.array([1.0, 2.0])), lambda: len(pn.array(1.0)), lambda: bool(pn.array([]))):
        with pytest.raises(ArgumentError):
            wrong()
    with pytest.raises(DTypeError, match="only an integer"):
        [1, 2][pn.array(1.0)]


def test_numpy_reads_it_unless_gradients_flow() -> None:
    x = pn.array([1.0, 4.0])
    assert x.numpy() is x.data
    assert np.asarray(x, dtype=np.float32).dtype == np.float32
    assert np.sqrt(x).tolist() == [1, 2]
    assert isinstance(np.array([1.0, 2.0]) + x, Array)
    assert (np.float64(3) * x).tolist() == [3, 12]
    assert np.from_dlpack(x).tolist() == [1, 4]
    assert (np.exp(TRACKED)).requires_grad
    for refused in (TRACKED.numpy, lambda: np.asarray(TRACKED)):
        with pytest.raises(GradientError, match="detach"):
            refused()
    with pytest.raises(TypeError):
        np.add(x, x, out=np.zeros(2))
    with pytest.raises(TypeError):
        np.add.reduce(x)


def test_operators_refuse_strangers() -> None:
    for wrong in (lambda: TRACKED + "a", lambda: [1.0, 2.0] * TRACKED, lambda: TRACKED < None, lambda: TRACKED @ {}):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(DTypeError, match="complex"):
        TRACKED * 1j


def test_comparisons() -> None:
    x, y = pn.array([1.0, 2.0, np.nan]), pn.array([2.0, 2.0, np.nan])
    assert [(x < y).tolist(), (x <= y).tolist(), (x > y).tolist(), (x >= y).tolist()] == [
        [True, False, False],
        [True, True, False],
        [False] * 3,
        [False, True, False],
    ]
    assert (x == y).tolist() == [False, True, False]
    assert (x != y).tolist() == [True, False, True]
    assert (~pn.array([True, False])).tolist() == [False, True]
    assert not (TRACKED > 0).requires_grad


def test_hashing_is_by_identity() -> None:
    x, y = pn.array([1.0]), pn.array([1.0])
    assert len({x, y, x}) == 2


def test_copies_and_pickles() -> None:
    x = pn.array([[1.0, 2.0]], requires_grad=True)
    for again in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert again.requires_grad
        assert again.tolist() == x.tolist()
        assert not np.shares_memory(again.data, x.data)
    assert pickle.loads(pickle.dumps(x * 2)).is_leaf
    assert pickle.loads(pickle.dumps(pn.array(2.0))).shape == ()
    with pytest.raises(GradientError, match="deepcopy"):
        copy.deepcopy(x * 2)


def test_requires_grad() -> None:
    with pytest.raises(DTypeError, match="int64"):
        pn.array([1], requires_grad=True)
    with pytest.raises(GradientError, match="only a leaf"):
        (TRACKED * 2).requires_grad_(False)
    x = pn.array([1.0], requires_grad=True)
    y = x * x
    x.requires_grad_(False)
    y.sum().backward()
    assert x.grad is None
    assert not (x * 2).requires_grad


# ---- writes in place ----------------------------------------------------------------------------------------------


def test_writes_go_through_views() -> None:
    x = pn.array(np.arange(6.0).reshape(2, 3))
    x[0].mul_(2)
    x[1, 2] = 50
    x.T[1].fill_(-1)
    x.select(1, 0).copy_(pn.array([7.0, 8.0]))
    assert x.tolist() == [[7, -1, 4], [8, -1, 50]]
    x += 1
    x -= pn.array([1.0, 0.0, 0.0])
    x *= 2
    x /= 4
    assert x.tolist() == [[3.5, 0, 2.5], [4, 0, 25.5]]
    assert x.neg_().abs_().relu_().exp_() is x
    x.masked_fill_(x > 1e3, 0.0).add_(1, alpha=2).sub_(x).zero_()
    assert x.tolist() == [[0, 0, 0], [0, 0, 0]]


def test_every_view_counts_the_writes_of_every_other() -> None:
    x = pn.array(np.arange(12.0))
    views = [x[1:], x.reshape(3, 4), x.detach(), x.as_strided((2,), (3,)), x[3], x.unsqueeze(0), x.reshape(3, 4).T]
    views += [*x.unbind()[:1], *x.chunk(2), x.broadcast_to((2, 12)), x.view(4, 3)[1]]
    assert all(view.storage is x.storage for view in views)
    assert x.clone().storage is not x.storage


VIEWS: dict[str, Any] = {
    "leaf": lambda x: x,
    "index": lambda x: x[0],
    "transposed": lambda x: x.T,
    "result": lambda x: x * 2,
    "unbound": lambda x: x.unbind()[0],
}


@pytest.mark.parametrize("view", VIEWS)
def test_refused_where_a_gradient_would_be_wrong(view: str) -> None:
    make = VIEWS[view]
    x = pn.array([[1.0, 2.0]], requires_grad=True)
    with pytest.raises(GradientError, match=r"mul_: this array requires grad.*x = x.mul"):
        make(x).mul_(2)
    with pytest.raises(GradientError, match="this array requires grad"):
        make(x)[...] = 0
    with no_grad():
        make(x).mul_(2)
    with pytest.raises(GradientError, match="an operand requires grad"):
        pn.array([1.0, 2.0]).add_(x)


def test_results_that_do_not_fit() -> None:
    x = pn.array([1, 2])
    with pytest.raises(DTypeError, match="without loss"):
        x.div_(2)
    with pytest.raises(DTypeError, match=r"can equal 2.5"):
        x.fill_(2.5)
    with pytest.raises(OverflowError):
        pn.array([1], dtype="int8").fill_(300)
    with pytest.raises(ShapeError, match=r"\(2, 2\) does not fit"):
        x.add_(pn.array([[1, 2], [3, 4]]))
    with pytest.raises(ShapeError):
        x.copy_(pn.array([1, 2, 3]))
    with pytest.raises(GradientError, match="read-only"):
        x.broadcast_to((2, 2)).mul_(2)
    assert x.tolist() == [1, 2]
    x.fill_(3.0)
    assert x.tolist() == [3, 3]
