"""Where there is no derivative, or a formula divides by zero: the positions taken, as data. They are PyTorch's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import pynested as pn
from pynested.autograd import Array, anomaly, grad, jvp
from pynested.autograd.rules import segment
from pynested.backends import Segments
from pynested.backends.errors import GradientError

NAN, INF = float("nan"), float("inf")
SEGMENTS = Segments(np.array([0, 3]))

# The operator, the inputs, the gradient of the sum of the results.
KINKS: dict[str, tuple[Callable[[Array], Array], list[float], list[float]]] = {
    "amax of ties": (lambda x: x.amax(), [1, 1, 0], [0.5, 0.5, 0]),
    "amax of three ties": (lambda x: x.amax(), [2, 2, 2], [1 / 3, 1 / 3, 1 / 3]),
    "amax along a dim of ties": (lambda x: x.reshape(1, 3).amax(1), [1, 1, 0], [0.5, 0.5, 0]),
    "amax of -inf": (lambda x: x.amax(), [-INF, -INF], [0.5, 0.5]),
    "amax of inf": (lambda x: x.amax(), [INF, 1], [1, 0]),
    "abs at 0": (pn.abs, [0.0, -0.0], [0, 0]),
    "sgn at 0": (pn.sgn, [0.0, -0.0], [0, 0]),
    "relu at 0": (pn.relu, [0.0, -0.0, 1e-300, -1e-300], [0, 0, 1, 0]),
    "sqrt at 0": (pn.sqrt, [0.0], [INF]),
    "log at 0": (pn.log, [0.0], [INF]),
    "log at -0": (pn.log, [-0.0], [-INF]),
    "log below 0": (pn.log, [-2.0], [-0.5]),
    "1/x at 0": (lambda x: 1 / x, [0.0], [-INF]),
    "0/x at 0": (lambda x: 0 / x, [0.0], [NAN]),
    "norm of zeros": (lambda x: pn.sqrt((x * x).sum()), [0.0, 0.0], [NAN, NAN]),
    "where leaks through the branch not taken": (lambda x: pn.where(x > 0, x.log(), 0.0), [0.0, 1.0], [NAN, 1]),
    "where the log is not of 0": (lambda x: pn.where(x > 0, x, 1.0).log(), [0.0, 2.0], [0, 0.5]),
    "tanh far out": (pn.tanh, [400.0, -INF], [0, 0]),
    "gelu far out": (pn.gelu, [40.0, -40.0], [1, 0]),
    "silu far out": (pn.silu, [800.0, -800.0], [1, 0]),
    "gelu at 0": (pn.gelu, [0.0], [0.5]),
    "silu at 0": (pn.silu, [0.0], [0.5]),
    "exp overflows": (pn.exp, [1000.0], [INF]),
    "softmax with -inf": (lambda x: x.softmax(0)[1], [-INF, 0.0, 0.0], [0, 0.25, -0.25]),
}


@pytest.mark.parametrize("name", KINKS)
def test_gradient(name: str) -> None:
    function, points, expected = KINKS[name]
    x = pn.array(points, dtype=pn.float64, requires_grad=True)
    np.testing.assert_array_equal(grad(function(x).sum(), x).numpy(), np.array(expected, float))


@pytest.mark.parametrize("name", KINKS)
def test_recorded_gradient_and_tangents_agree(name: str) -> None:
    """The composite that is recorded, and the push, take the same positions."""
    function, points, expected = KINKS[name]
    x = pn.array(points, dtype=pn.float64, requires_grad=True)
    recorded = grad(function(x).sum(), x, create_graph=True).detach()
    np.testing.assert_array_equal(recorded.numpy(), np.array(expected, float))
    if np.isfinite(expected).all():
        for i, slope in enumerate(expected):
            unit = pn.array(np.eye(len(points))[i])
            tangent = jvp(lambda x: function(x).sum(), (x.detach(),), (unit,))[1]
            assert tangent.item() == pytest.approx(slope, abs=1e-300)


# An operator that chooses gives +0 to what it does not choose, and not 0 times the cotangent.
CHOOSERS: dict[str, tuple[Callable[[Array], Array], list[float], list[float]]] = {
    "relu": (pn.relu, [-1.0, 0.0, 2.0], [0, 0, NAN]),
    "where": (lambda x: pn.where(x > 0, x, 0.0), [-1.0, 2.0], [0, NAN]),
    "masked_fill": (lambda x: x.masked_fill(x < 0, 1.0), [-1.0, 2.0], [0, NAN]),
    "amax": (lambda x: x.amax(0), [3.0, 1.0, 3.0], [NAN, 0, NAN]),
    "segment_max": (lambda x: segment.segment_max(x, SEGMENTS), [3.0, 1.0, 3.0], [NAN, 0, NAN]),
    "select": (lambda x: x[1], [3.0, 1.0], [0, NAN]),
}


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("name", CHOOSERS)
def test_nan_reaches_only_what_was_chosen(name: str, recorded: bool) -> None:
    function, points, expected = CHOOSERS[name]
    x = pn.array(points, requires_grad=True)
    y = function(x)
    found = grad(y, x, pn.array(np.full(y.shape, NAN)), create_graph=recorded).detach()
    np.testing.assert_array_equal(found.numpy(), np.array(expected, float))


def test_ignored_rows_get_zero_whatever_they_hold() -> None:
    scores = pn.array([[NAN, INF], [1.0, 2.0]], requires_grad=True)
    targets = pn.array([-100, 0])
    for recorded in (False, True):
        loss = pn.cross_entropy(scores, targets)
        found = grad(loss, scores, create_graph=recorded).detach().numpy()
        assert (found[0] == 0).all()
        np.testing.assert_allclose(found[1].sum(), 0, atol=1e-15)
    every = pn.cross_entropy(scores, pn.array([-100, -100]))
    assert np.isnan(every.item())
    assert (grad(every, scores).numpy() == 0).all()


def test_many_ties_in_half_precision() -> None:
    """Their number, and the sum of their tangents, are beyond the range of float16."""
    x = pn.array(np.ones(70_000, np.float16), requires_grad=True)
    x.amax().backward()
    assert x.grad is not None
    np.testing.assert_array_equal(x.grad.numpy(), np.float16(1 / 70_000))
    of_segments = lambda x: segment.segment_max(x, Segments(np.array([0, 70_000])))  # noqa: E731
    for greatest in (lambda x: x.amax(0), of_segments):
        assert (jvp(greatest, (x.detach(),), (pn.ones_like(x),))[1].numpy() == 1).all()


def test_anomaly_names_the_branch_not_taken() -> None:
    with anomaly():
        x = pn.array([0.0, 1.0], requires_grad=True)
        y = pn.where(x > 0, x.log(), 0.0).sum()  # the line to be named
        with pytest.raises(GradientError, match="log: the gradient of its argument 0 holds NaN") as caught:
            y.backward()
    assert "the line to be named" in caught.value.__notes__[0]
