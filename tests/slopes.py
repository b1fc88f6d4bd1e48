"""Gradients against differences, first and second order, for functions of dense arrays that nest them inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import pynested as pn
from pynested.autograd import flatten

Numbers = np.ndarray[Any, Any]
STEP = 1e-6


def wave(shape: tuple[int, ...], seed: int) -> Numbers:
    """Numbers of no particular kind, the same for every placement."""
    return np.cos(np.arange(int(np.prod(shape))) * 1.3 + seed).reshape(shape)


def waves(arrays: Any, seed: int) -> list[Numbers]:
    return [wave(one.shape, seed + 2 * i) for i, one in enumerate(arrays)]


def products(left: list[Numbers], right: list[Numbers]) -> float:
    return float(sum((a * b).sum() for a, b in zip(left, right, strict=True)))


def check_gradients(function: Callable[..., Any], *points: Any, order: int = 2, tol: float = 1e-6) -> None:
    """Compare reverse and forward mode with differences of ``function`` around ``points``, and again its gradient."""
    leaves = [pn.array(point, dtype=pn.float64, requires_grad=True) for point in points]

    def outputs(*arrays: Any) -> list[Any]:
        return flatten(function(*arrays))[0]

    _check(outputs, leaves, tol)
    if order > 1:
        cotangents = [pn.array(one) for one in waves(outputs(*leaves), 1)]

        def gradient(*arrays: Any) -> list[Any]:
            found = pn.grad(outputs(*arrays), list(arrays), cotangents, create_graph=True, allow_unused=True)
            return [one for one in found if one is not None]

        _check(gradient, leaves, tol)


def _check(outputs: Callable[..., list[Any]], leaves: list[Any], tol: float) -> None:
    cotangents, directions = waves(outputs(*leaves), 3), waves(leaves, 5)
    moved = [
        [pn.array(x.detach().numpy() + step * v, requires_grad=True) for x, v in zip(leaves, directions, strict=True)]
        for step in (STEP, -STEP)
    ]
    above, below = ([one.detach().numpy() for one in outputs(*arrays)] for arrays in moved)
    expected = products(cotangents, [(a - b) / (2 * STEP) for a, b in zip(above, below, strict=True)])
    scale = 1 + sum(float(np.abs(one).sum()) for one in above)
    results = outputs(*leaves)
    if not any(one.requires_grad for one in results):
        assert abs(expected) <= tol * scale, "no gradient is recorded"
        return
    found = pn.grad(results, leaves, [pn.array(one) for one in cotangents], allow_unused=True)
    pulled = products(
        directions, [np.zeros(x.shape) if g is None else g.detach().numpy() for x, g in zip(leaves, found, strict=True)]
    )
    assert abs(pulled - expected) <= tol * scale, f"{pulled} pulled, {expected} by differences"
    tangents = tuple(pn.array(one) for one in directions)
    _, forward = pn.jvp(lambda *arrays: outputs(*arrays), tuple(leaves), tangents)
    pushed = products(cotangents, [one.detach().numpy() for one in forward])
    assert abs(pushed - expected) <= tol * scale, f"{pushed} pushed, {expected} by differences"
