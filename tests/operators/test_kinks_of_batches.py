"""Derivatives at ties and edges that need several components, a loss or a narrow dtype."""

from __future__ import annotations

import math
import shutil
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import GradientError

from ..nests import LAYOUTS, assert_same, place

NAN, INF = math.nan, math.inf
ON_DEVICES = [
    "cpu",
    "plain",
    pytest.param("emulated", marks=pytest.mark.skipif(shutil.which("g++") is None, reason="the emulation needs g++")),
]


def test_extremes_of_the_batch_and_of_everything(layout: Any, placement: str) -> None:
    components = [np.array([1.0, 3.0, 3.0]), np.array([2.0]), np.array([3.0] * 4)]
    made = place(components, layout, placement, grad=True)
    for function, expected in (
        (lambda x: pn.amax(x), [[0, 1 / 6, 1 / 6], [0], [1 / 6] * 4]),
        (lambda x: pn.amax(x, 0).sum(), [[0, 0.5, 0.5], [0], [1, 0.5, 0.5, 1]]),
        (lambda x: pn.amin(x), [[1, 0, 0], [0], [0] * 4]),
    ):
        made.buffer.grad = None
        function(made.array).backward()
        assert_same(made.gradient(), [np.array(one, float) for one in expected], 1e-15)


@pytest.mark.parametrize("dim", [1, (1, 2)], ids=str)
def test_a_mean_of_nothing_leaves_the_others_alone(layout: Any, placement: str, dim: Any) -> None:
    made = place([np.ones((2, 2)), np.ones((0, 2)), np.ones((4, 2))], layout, placement, grad=True)
    pn.mean(made.array, dim).sum().backward()
    width = 1 if dim == 1 else 2
    assert_same(made.gradient(), [np.full((2, 2), 1 / 2 / width), np.ones((0, 2)), np.full((4, 2), 1 / 4 / width)])


@pytest.mark.parametrize("device", ["cpu", *ON_DEVICES[1:]])
@pytest.mark.parametrize("op", ["sum", "nansum", "mean", "nanmean", "var", "std", "logsumexp", "prod"])
def test_a_reduction_of_no_elements_is_constant(op: str, device: str) -> None:
    """The second derivative is 0, and so is the tangent."""

    def ones(like: Any) -> Any:
        parts = [np.ones(one.shape) for one in like.detach().to("cpu")]
        found = pn.nested_array(parts, layout=like.layout) if isinstance(like, pn.NestedArray) else pn.array(parts)
        return found.to(device).requires_grad_()

    reduced = lambda x: getattr(pn, op)(x, -1)  # noqa: E731
    ragged, inner = [np.zeros(0), np.array([1.0, 3.0])], [np.zeros((1, 0)), np.zeros((2, 0))]
    nested = [pn.nested_array(parts, layout=layout) for parts in (ragged, inner) for layout in LAYOUTS]
    for x in [one.to(device).requires_grad_() for one in (*nested, pn.array(np.zeros((2, 0))))]:
        result = reduced(x)
        cotangent = ones(result)
        gradient = pn.grad(result, x, cotangent, create_graph=True)
        (gradient * gradient).sum().backward()
        moved = pn.jvp(reduced, (x.detach(),), (ones(x).detach(),))[1]
        assert result.requires_grad
        for one in (moved, cotangent.grad):
            assert not np.asarray(one.to("cpu").detach()[0]).any(), (op, x)


@pytest.mark.parametrize("op", ["mean", "nanmean", "var", "std", "logsumexp"])
@pytest.mark.parametrize("dim", [None, 0, 1, -1])
def test_tracking_a_reduction_of_no_elements_changes_no_bit(op: str, dim: int | None, layout: Any) -> None:
    for parts in ([np.zeros((0, 3))] * 2, [np.zeros((0, 3)), np.ones((2, 3))], [np.zeros((2, 0)), np.zeros((1, 0))]):
        x = pn.nested_array([one.astype(np.float32) for one in parts], layout=layout)
        untracked = getattr(pn, op)(x, dim)
        result = getattr(pn, op)(x.requires_grad_(), dim)
        pairs = zip(*[[one] if isinstance(one, pn.Array) else one for one in (untracked, result)], strict=True)
        assert all(a.numpy().tobytes() == b.detach().numpy().tobytes() for a, b in pairs)
        assert [one.shape for one in pn.grad(result.sum(), x)] == [one.shape for one in parts]


@pytest.mark.parametrize("kind", ["dense", "jagged", "strided"])
def test_rows_of_ignored_targets_get_zero_whatever_they_hold(kind: str) -> None:
    scores, labels = np.array([[NAN, INF], [1.0, 1.0]]), np.array([-100, 0])
    for targets, expected in ((labels, [[0, 0], [-0.5, 0.5]]), (np.array([-100, -100]), np.zeros((2, 2)))):
        leaf = pn.array(scores, requires_grad=True)
        nested = [pn.nested_array_from_jagged(one, [0, 1, 2]) for one in (leaf, pn.array(targets))]
        x, y = (leaf, targets) if kind == "dense" else [one.to(layout=getattr(pn, kind)) for one in nested]
        for recorded in (False, True):
            loss = pn.cross_entropy(x, y)
            found = pn.grad(loss, leaf, create_graph=recorded).detach().numpy()
            np.testing.assert_array_equal(found, expected)
            assert np.isnan(loss.item()) == (targets[1] < 0)


def test_slopes_neither_vanish_nor_overflow_on_the_way() -> None:
    x = pn.array(np.array([1e30, 1e-18, -3e38], np.float32), requires_grad=True)
    found = pn.grad(pn.reciprocal(x), x, pn.array(np.array([1e30, 1e-30, 3e38], np.float32)))
    np.testing.assert_allclose(found.numpy(), np.float32([-1e-30, -1e6, -1 / 3e38]), rtol=1e-6)
    found = pn.grad(pn.square(x), x, pn.array(np.array([1e5, 1.0, 0.25], np.float32)))
    np.testing.assert_allclose(found.numpy(), np.float32([2e35, 2e-18, -1.5e38]), rtol=1e-6)
    base, exponent = (pn.array([number], dtype=pn.float16, requires_grad=True) for number in (2.0**-19, 2.0**-4))
    power = pn.grad(pn.pow(base, exponent).sum(), base)  # a**(b - 1) is beyond float16
    np.testing.assert_allclose(power.numpy(), [2.0**-4 * 2.0**17.8125], rtol=2.0**-10)
    half = pn.array(np.ones(70_000, np.float16), requires_grad=True)
    np.testing.assert_allclose(pn.grad(half.mean(), half).numpy(), 1 / 70_000, rtol=5e-3)


def test_anomaly_mode_names_the_branch_not_taken() -> None:
    with pn.autograd.anomaly():
        x = pn.array([0.0, 1.0], requires_grad=True)
        y = pn.where(x > 0, x.log(), 0.0).sum()  # the line to be named
        with pytest.raises(GradientError, match="log: the gradient of its argument 0 holds NaN") as caught:
            y.backward()
    assert "the line to be named" in caught.value.__notes__[0]
