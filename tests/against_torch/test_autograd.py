"""Dense arrays against PyTorch: values, gradients, second derivatives and tangents; and the positions at kinks.

The sample calls are in test_operators.py. Here is what those are not: shapes that no stack of components has, dims
counted from the end, windows into an array, and formulas of several operators.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.autograd import grad, hvp, jvp

torch = pytest.importorskip("torch")
functional = torch.nn.functional

Numbers = np.ndarray[Any, Any]
Case = tuple[Callable[..., Any], Callable[..., Any], list[tuple[int, ...]]]
MASK = np.array([[True, False, True, False], [False, False, True, True], [True, True, True, False]])
INDEX = np.array([[2, 0], [2, 1]])
TARGET = np.array([3, -100, 0])
CLASSES = np.array([0.5, 1.0, 2.0, 0.25])


def both(function: Callable[..., Any], *shapes: tuple[int, ...]) -> Case:
    """A case that reads the same in both."""
    return function, function, list(shapes)


M, V, C = (3, 4), (4,), (2, 3, 4)
CASES: dict[str, Case] = {
    "add, 0-d": both(lambda a, b: a + b, M, ()),
    "sub": both(lambda a, b: a - b, (3, 1), (2, 1, 4)),
    "sub from a number": both(lambda a: 2.5 - a, M),
    "mul by itself": both(lambda a: a * a * a, M),
    "div a number": both(lambda a: 3 / a, M),
    "log": both(lambda a: (a * a).log(), M),
    "sqrt": both(lambda a: (a * a + 1).sqrt(), M),
    "where": (
        lambda a, b: pn.where(pn.array(MASK), a, b), lambda a, b: torch.where(torch.tensor(MASK), a, b), [M, V]),
    "where, a number": (
        lambda a: pn.where(pn.array(MASK), a, 2.0), lambda a: torch.where(torch.tensor(MASK), a, 2.0), [V]),
    "masked_fill": (
        lambda a: a.masked_fill(pn.array(MASK), 1.0), lambda a: a.masked_fill(torch.tensor(MASK), 1.0), [M]),
    "sum, dims": both(lambda a: a.sum((0, -1)), C),
    "sum, keepdim": both(lambda a: a.sum(1, keepdim=True), C),
    "mean": both(lambda a: a.mean(-2), C),
    "amax, dims, keepdim": both(lambda a: a.amax((0, 2), keepdim=True), C),
    "softmax": both(lambda a: a.softmax(-1), C),
    "softmax, first dim": both(lambda a: a.softmax(0), C),
    "layer_norm": (
        lambda a, w, b: a.layer_norm((4,), w, b), lambda a, w, b: functional.layer_norm(a, (4,), w, b), [C, V, V]),
    "layer_norm, two dims": (
        lambda a, w: a.layer_norm((3, 4), w), lambda a, w: functional.layer_norm(a, (3, 4), w), [C, M]),
    "layer_norm, bare": (lambda a: a.layer_norm(4, eps=0.1), lambda a: functional.layer_norm(a, (4,), eps=0.1), [C]),
    "matmul": both(lambda a, b: a @ b, M, (4, 2)),
    "matmul, batched": both(lambda a, b: a @ b, (2, 1, 3, 4), (5, 4, 2)),
    "matmul, broadcast": both(lambda a, b: a @ b, C, (4, 5)),
    "matmul, vector": both(lambda a, b: a @ b, C, V),
    "matmul, vectors": both(lambda a, b: a @ b, V, V),
    "matmul, row": both(lambda a, b: a @ b, V, (2, 4, 3)),
    "transpose": both(lambda a: a.transpose(-1, 0), C),
    "permute": both(lambda a: a.permute((1, -1, 0)), C),
    "reshape": both(lambda a: a.transpose(0, 1).reshape(4, -1), C),
    "unsqueeze": both(lambda a: a.unsqueeze(-2), M),
    "unflatten": both(lambda a: a.unflatten(-1, (2, 2)), M),
    "select": both(lambda a: a.select(-1, -3), C),
    "narrow": both(lambda a: a.narrow(1, 1, 2), C),
    "chunk": both(lambda a: a.chunk(2, 1)[1], C),
    "unbind": both(lambda a: a.unbind(1)[2] * a.unbind(1)[0], C),
    "index": both(lambda a: a[1, ..., None, 1:3], C),
    "as_strided": both(lambda a: a.as_strided((3, 2), (4, 2), 1), M),
    "broadcast_to": both(lambda a: a.broadcast_to((2, 3, 4)), (3, 1)),
    "cat": (lambda a, b: pn.cat([a, b, a], 1), lambda a, b: torch.cat([a, b, a], 1), [M, (3, 2)]),
    "stack": (lambda a, b: pn.stack([a, b], -1), lambda a, b: torch.stack([a, b], -1), [M, M]),
    "embedding": (
        lambda w: pn.embedding(pn.array(INDEX), w), lambda w: functional.embedding(torch.tensor(INDEX), w), [M]),
    "cross_entropy, everything": (
        lambda a: pn.cross_entropy(a, pn.array(TARGET), weight=pn.array(CLASSES), label_smoothing=0.3),
        lambda a: functional.cross_entropy(
            a, torch.tensor(TARGET), weight=torch.tensor(CLASSES).to(a.dtype), label_smoothing=0.3), [M]),
    "attention": both(lambda q, k, v: ((q @ k.transpose(-1, -2)) / 2.0).softmax(-1) @ v, C, C, C),
}  # fmt: skip


def drawn(shapes: list[tuple[int, ...]], dtype: Any = np.float64) -> list[Numbers]:
    generator = np.random.default_rng(sum(map(len, shapes)))
    return [np.asarray(generator.standard_normal(shape), dtype) for shape in shapes]


def tensors(points: list[Numbers]) -> list[Any]:
    return [torch.tensor(point, requires_grad=True) for point in points]


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name: str, dtype: Any) -> None:
    ours, theirs, shapes = CASES[name]
    points = drawn(shapes, dtype)
    rtol, atol = (1e-12, 1e-13) if dtype == np.float64 else (2e-5, 1e-5)
    xs, ts = [pn.array(point, requires_grad=True) for point in points], tensors(points)
    y, t = ours(*xs), theirs(*ts)
    assert y.shape == tuple(t.shape)
    assert y.dtype == dtype
    np.testing.assert_allclose(y.detach().numpy(), t.detach().numpy(), rtol, atol)
    weight = drawn([y.shape], dtype)[0] + 1
    y.backward(pn.array(weight))
    t.backward(torch.tensor(weight.astype(dtype)))
    for x, one in zip(xs, ts, strict=True):
        assert x.grad is not None
        assert x.grad.dtype == dtype
        np.testing.assert_allclose(x.grad.numpy(), one.grad.numpy(force=True), rtol, atol)


@pytest.mark.parametrize("name", CASES)
def test_second_order_and_tangents(name: str) -> None:
    ours, theirs, shapes = CASES[name]
    points, vectors = drawn(shapes), drawn([*shapes, ()])[: len(shapes)]

    def loss(function: Callable[..., Any], xs: Any) -> Any:
        y = function(*xs)
        return (y * y * y).sum()

    ts = tensors(points)
    slopes = torch.autograd.grad(loss(theirs, ts), ts, create_graph=True)
    along = sum((slope * torch.tensor(v)).sum() for slope, v in zip(slopes, vectors, strict=True))
    expected = torch.autograd.grad(along, ts)
    xs, vs = [pn.array(point) for point in points], [pn.array(v) for v in vectors]
    found_slopes, products = hvp(lambda xs: loss(ours, xs), xs, vs)
    for found, other in zip([*found_slopes, *products], [*slopes, *expected], strict=True):
        np.testing.assert_allclose(found.numpy(), other.detach().numpy(), 1e-10, 1e-11)
    tangent = jvp(lambda *xs: loss(ours, xs), tuple(xs), tuple(vs))[1]
    np.testing.assert_allclose(tangent.item(), along.item(), 1e-11, 1e-12)
    leaves = [pn.array(point, requires_grad=True) for point in points]
    pulled = grad(loss(ours, leaves), leaves, create_graph=True)
    again = grad(pulled, leaves, vs)  # reverse over reverse
    for found, other in zip(again, expected, strict=True):
        np.testing.assert_allclose(found.numpy(), other.numpy(), 1e-10, 1e-11)


INF = float("inf")
KINKS: dict[str, tuple[Callable[..., Any], list[float]]] = {
    "amax of ties": (lambda x: x.amax(0), [1, 1, 0]),
    "abs": (lambda x: x.abs(), [0.0, -0.0, -1.0]),
    "sgn": (lambda x: x.sgn(), [0.0, 2.0]),
    "relu": (lambda x: x.relu(), [0.0, -0.0, 1.0, -1.0, float("nan")]),
    "sqrt": (lambda x: x.sqrt(), [0.0, 4.0]),
    "log": (lambda x: x.log(), [0.0, -0.0, -1.0]),
    "reciprocal": (lambda x: 1 / x, [0.0, INF]),
    "norm of zeros by hand": (lambda x: (x * x).sum().sqrt(), [0.0, 0.0]),
    "softmax with -inf": (lambda x: x.softmax(0)[0], [1.0, -INF, 0.0]),
    "tanh": (lambda x: x.tanh(), [INF, -INF, 50.0]),
}


@pytest.mark.parametrize("name", KINKS)
def test_kinks(name: str) -> None:
    function, points = KINKS[name]
    x, t = pn.array(points, dtype="float64", requires_grad=True), torch.tensor(points, dtype=torch.float64)
    t.requires_grad_()
    function(t).sum().backward()
    np.testing.assert_allclose(grad(function(x).sum(), x).numpy(), t.grad.numpy(force=True), rtol=1e-15, atol=0)
