"""Dense arrays against PyTorch: values, gradients, second derivatives and tangents; and the positions at kinks.

`test_operators.py` compares sample inputs. The functions here have what those lack: shapes that no stack of components
has, dimensions counted from the end, windows into an array, and several operators.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.autograd import grad, hvp, jvp

torch = pytest.importorskip("torch")

NAMES = ("where", "layer_norm", "cross_entropy")
OURS = SimpleNamespace(array=pn.array, **{name: getattr(pn, name) for name in NAMES})
THEIRS = SimpleNamespace(
    array=torch.tensor, **{name: getattr(torch.nn.functional, name, getattr(torch, name, None)) for name in NAMES}
)
MASK = np.array([[True, False, True, False], [False, False, True, True], [True, True, True, False]])
TARGET, WEIGHT = np.array([3, -100, 0]), np.array([0.5, 1.0, 2.0, 0.25])

M, V, C = (3, 4), (4,), (2, 3, 4)
Case = tuple[Callable[..., Any], tuple[int, ...], *tuple[tuple[int, ...], ...]]
CASES: dict[str, Case] = {  # a function of a library and arrays, and the shapes of these
    "mul by itself": (lambda xp, a: a * a * a, (2, 1, 4)),
    "where": (lambda xp, a, b: xp.where(xp.array(MASK), a, b), M, V),
    "sum": (lambda xp, a: a.sum((0, -1)), C),
    "amax": (lambda xp, a: a.amax((0, 2), keepdim=True), C),
    "softmax": (lambda xp, a: a.softmax(0), C),
    "layer_norm, two dims": (lambda xp, a, w: xp.layer_norm(a, (3, 4), w, eps=0.1), C, M),
    "matmul, batched": (lambda xp, a, b: a @ b, (2, 1, 3, 4), (5, 4, 2)),
    "matmul, vectors": (lambda xp, a, b: a @ b, V, V),
    "matmul, row": (lambda xp, a, b: a @ b, V, (2, 4, 3)),
    "permute": (lambda xp, a: a.permute((1, -1, 0)).transpose(-1, 0), C),
    "reshape": (lambda xp, a: a.transpose(0, 1).reshape(4, -1).unsqueeze(-2), C),
    "unflatten": (lambda xp, a: a.unflatten(-1, (2, 2)), M),
    "select": (lambda xp, a: a.select(-1, -3).narrow(1, 1, 2), C),
    "index": (lambda xp, a: a[1, ..., None, 1:3], C),
    "as_strided": (lambda xp, a: a.as_strided((3, 2), (4, 2), 1), M),
    "as_strided, twice": (lambda xp, a: a.as_strided((3, 3), (1, 1), 2), M),
    "broadcast_to": (lambda xp, a: a.broadcast_to((2, 3, 4)), (3, 1)),
    "cross_entropy": (
        lambda xp, a: xp.cross_entropy(a, xp.array(TARGET), weight=xp.array(WEIGHT), label_smoothing=0.3),
        M,
    ),
    "attention": (lambda xp, q, k, v: ((q @ k.transpose(-1, -2)) / 2.0).softmax(-1) @ v, C, C, C),
}


@pytest.mark.parametrize("name", CASES)
def test_values_and_derivatives_of_both_orders(name: str) -> None:
    function, *shapes = CASES[name]
    generator = np.random.default_rng(len(name))
    points, vectors = ([generator.standard_normal(shape) for shape in shapes] for _ in range(2))
    weight = generator.standard_normal(function(OURS, *map(pn.array, points)).shape)

    def loss(xp: Any, xs: Any) -> Any:
        y = function(xp, *xs)
        return (y * y * y * xp.array(weight)).sum() + y.sum()

    ts = [torch.tensor(point, requires_grad=True) for point in points]
    slopes = torch.autograd.grad(loss(THEIRS, ts), ts, create_graph=True)
    along = sum((slope * torch.tensor(v)).sum() for slope, v in zip(slopes, vectors, strict=True))
    second = torch.autograd.grad(along, ts)
    xs, vs = [pn.array(point, requires_grad=True) for point in points], list(map(pn.array, vectors))
    value, tangent = jvp(lambda *xs: loss(OURS, xs), tuple(xs), tuple(vs))
    pulled = grad(loss(OURS, xs), xs, create_graph=True)
    forward_over_reverse = hvp(lambda xs: loss(OURS, xs), xs, vs)[1]
    ours = [function(OURS, *xs), value, tangent, *pulled, *grad(pulled, xs, vs), *forward_over_reverse]
    for found, due in zip(
        ours, [function(THEIRS, *ts), loss(THEIRS, ts), along, *slopes, *second, *second], strict=True
    ):
        np.testing.assert_allclose(found.detach().numpy(), due.detach().numpy(), 1e-10, 1e-11, strict=True)


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
