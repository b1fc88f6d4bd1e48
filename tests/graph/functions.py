"""Functions of nested arrays as users write them, for tracing and for compiling."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import pynested as pn

HELD = {"w": pn.array([[0.5, -1.0], [2.0, 0.25]]), "list": [pn.array([1.0, 2.0])]}


class Layer:
    """A layer: an object with an array in an attribute."""

    def __init__(self) -> None:
        self.weight = pn.array([[1.0, -1.0], [0.5, 2.0]])

    def __call__(self, x: Any) -> Any:
        return pn.relu(x @ self.weight)

    def method(self, x: Any) -> Any:
        return x * self.weight.sum()


LAYER = Layer()


def written(x: Any) -> Any:
    y = x.clone()
    view = y.unbind()[1]
    y.add_(1)
    view.mul_(3)
    before = y.sum()
    y[0] = 0.0
    view[0, 1] += 10.0
    return y, before, y.sum(), view


def with_gradients(x: Any) -> Any:
    w = pn.detach(HELD["w"]).requires_grad_()
    loss = (x @ w).tanh().sum()
    slope = pn.grad(loss, w, create_graph=True)
    with pn.no_grad():
        stepped = w - slope * 0.1
    w.grad = stepped * 2
    return slope, stepped, w.grad, pn.grad((x.detach().requires_grad_() * 2).sum(), w, allow_unused=True)


def with_functions(x: Any) -> Any:
    mapped = pn.map_components(lambda c: c - c.mean() * HELD["w"][0], x)
    _, pushed = pn.jvp(partial(pn.mul, other=HELD["list"][0]), (x,), (pn.ones_like(x),))
    return mapped, pushed, pn.hvp(lambda a: (a * a * a).sum(), x, x)


def with_sizes(x: Any) -> Any:
    rows, width = x.values().shape
    count = x.shape[0]
    mean = x.values().sum() / rows
    return {
        "mean": mean, "scaled": x / math.sqrt(width), "count": count, "twice": 2 * rows - 1,
        "share": x.numel() / count, "line": pn.arange(rows), "again": x.values().reshape(rows * width),
        "part": x.values()[: rows // 2], "same": x.shape == (x * 2).shape, "many": count > 1,
    }  # fmt: skip


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "the seed's": lambda x: x.sin() + 1, "nothing": lambda x: x, "chunk": lambda x: x.chunk(2, dim=0)[0],
    "views": lambda x: (x.transpose(1, 2).unsqueeze(1), x.unbind()[0][0], x.values().T, x[:, :1], x[..., None]),
    "dicts": lambda x: {"a": (x, [x + x]), "b": None, "c": "text"},
    "written": written, "gradients": with_gradients, "functions": with_functions, "sizes": with_sizes,
    "an object": LAYER, "a method": LAYER.method, "partial": partial(pn.add, other=1.0), "of C": operator.abs,
    "a closure": lambda x: x @ HELD["w"] + HELD["list"][0],
    "NumPy's": lambda x: np.exp(x) * np.float64(2) + np.array([1.0, 2.0]),
    "made inside": lambda x: pn.nested_array_from_jagged(x.values() * 2, x.offsets()) + x.contiguous(),
    "a copy": lambda x: x.contiguous() * x.values().shape[1] + x.shape[0],
    "a mask": lambda x: pn.where(x > 0, x, pn.zeros_like(x)),
    "padded": lambda x: (x.to_padded_array(0.0), pn.as_nested_array([c * 2 for c in x], layout=pn.jagged)),
    "facts": lambda x: x + (1 if x.dtype == pn.float64 and x.dim() == 3 and not x.requires_grad else 2),
}  # fmt: skip
UNTRACKED = [FUNCTIONS[name] for name in ("facts", "written")]  # for arrays without gradients only
