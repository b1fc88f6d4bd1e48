"""Derivatives at ties, edges and empty components: the fused pass, the recorded pass and jvp agree with a table.

Where there is no derivative, or a formula divides by zero, the values are PyTorch's.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import pynested as pn
from pynested.autograd.rules import segment
from pynested.backends import Segments

from ..nests import LAYOUTS, PLACEMENTS, Placed, assert_same, cotangent_like, nest, place, plain
from ..support.devices import DEVICES
from ..support.loops import segments, ties

NAN, INF, E = math.nan, math.inf, math.e
FORMS = {
    "dense": [(None, "packed")],
    "jagged": [(pn.jagged, "packed")],
    "strided": [(pn.strided, "packed")],
    "gaps": [(layout, "holes") for layout in (None, *LAYOUTS)],
}
NEIGHBOUR = [0.75]  # a component of another length, where the array is nested


@dataclass(frozen=True)
class Kink:
    """A call on two equal components, and the gradient that each operand gets.

    Attributes
    ----------
    points : the numbers of a component, for each operand
    gradients : as many numbers, for each operand
    cotangent : what each result of a component brings; 1 if None
    """

    call: Callable[..., Any]
    points: tuple[list[float], ...]
    gradients: tuple[list[float], ...]
    cotangent: Any = None
    tol: float | None = None


def kink(call: Callable[..., Any], point: list[float], gradient: list[float], cotangent: Any = None) -> Kink:
    """Return a row for a function of one operand."""
    return Kink(call, (point,), (gradient,), cotangent)


def pair(call: Callable[..., Any], points: Any, gradients: Any, tol: float | None = None) -> Kink:
    """Return a row for a function of two operands or more."""
    return Kink(call, tuple(points), tuple(gradients), None, tol)


KINKS = {
    # Ties share their cotangent.
    "amax of ties": kink(lambda x: x.amax(1), [1, 1, 0], [0.5, 0.5, 0]),
    "amax of three ties": kink(lambda x: x.amax(1), [2, 2, 2], [1 / 3, 1 / 3, 1 / 3]),
    "amax of -inf": kink(lambda x: x.amax(1), [-INF, -INF], [0.5, 0.5]),
    "amax of inf": kink(lambda x: x.amax(1), [INF, 1], [1, 0]),
    "amax of zeros": kink(lambda x: x.amax(1), [0.0, -0.0, -1], [0.5, 0.5, 0]),
    "amax over no dimension": kink(lambda x: x.amax(()), [3, 1, NAN], [1, 1, 1]),
    "amin of ties": kink(lambda x: x.amin(1), [3, 1, 1], [0, 0.5, 0.5]),
    "amin of inf": kink(lambda x: x.amin(1), [INF, INF, INF, INF], [0.25, 0.25, 0.25, 0.25]),
    "maximum": pair(pn.maximum, ([1, 2, 3], [1, 3, 2]), ([0.5, 0, 1], [0.5, 1, 0])),
    "minimum": pair(pn.minimum, ([1, 2, 3], [1, 3, 2]), ([0.5, 1, 0], [0.5, 0, 1])),
    "maximum of zeros": pair(pn.maximum, ([0.0], [-0.0]), ([0.5], [0.5])),
    "prod of one zero": kink(lambda x: x.prod(1), [2, 0, 3], [0, 6, 0]),
    "prod of two zeros": kink(lambda x: x.prod(1), [2, 0, 0], [0, 0, 0]),
    "var of equal elements": kink(lambda x: x.var(1), [0.1, 0.1, 0.1], [0, 0, 0]),
    "std of equal elements": kink(lambda x: x.std(1), [1e300, 1e300, 1e300], [0, 0, 0]),
    # Kinks, steps and poles of functions of one element.
    "abs": kink(pn.abs, [0.0, -0.0, -1], [0, 0, -1]),
    "sgn": kink(pn.sgn, [0.0, -0.0, -1], [0, 0, 0]),
    "relu": kink(pn.relu, [0.0, -0.0, 1e-300, -1e-300], [0, 0, 1, 0]),
    "floor": kink(pn.floor, [0.5, 1, NAN, INF], [0, 0, 0, 0]),
    "ceil": kink(pn.ceil, [0.5, 1, NAN, INF], [0, 0, 0, 0]),
    "round": kink(pn.round, [0.5, 1, NAN, INF], [0, 0, 0, 0]),
    "trunc": kink(pn.trunc, [0.5, 1, NAN, INF], [0, 0, 0, 0]),
    "sqrt": kink(pn.sqrt, [0.0], [INF]),
    "log": kink(pn.log, [0.0, -0.0, -2, 2], [INF, -INF, -0.5, 0.5]),
    "reciprocal": kink(pn.reciprocal, [0.0, -0.0, 2], [-INF, -INF, -0.25]),
    "1 / x": kink(lambda x: 1 / x, [0.0], [-INF]),
    "0 / x": kink(lambda x: 0 / x, [0.0], [NAN]),
    "norm of zeros": kink(lambda x: pn.sqrt((x * x).sum(1)), [0.0, 0.0], [NAN, NAN]),
    "tanh": kink(pn.tanh, [400, -INF], [0, 0]),
    "gelu": kink(pn.gelu, [0, 40, -40], [0.5, 1, 0]),
    "silu": kink(pn.silu, [0, 800, -800], [0.5, 1, 0]),
    "exp": kink(pn.exp, [1000, -INF], [INF, 0]),
    "a NaN stays where it is": kink(lambda x: pn.square(x) * x, [NAN, 1], [NAN, 3]),
    # Pairs.
    "clamp": pair(
        pn.clamp, ([-1, 0, 0.5, 1, 2], [0] * 5, [1] * 5), ([0, 1, 1, 1, 0], [1, 0, 0, 0, 0], [0, 0, 0, 0, 1])
    ),
    "clamp crossed": pair(pn.clamp, ([-1, 0.5, 2], [1] * 3, [0] * 3), ([0] * 3, [0] * 3, [1] * 3)),
    "pow of zeros": pair(pn.pow, ([0.0, 0.0, 0.0, 0.0], [0, 1, 2, 0.5]), ([0, 1, 0, INF], [0, 0, 0, 0])),
    "pow of negative bases": pair(pn.pow, ([-2, -2, -1], [3, 0, -2]), ([12, 0, 2], [NAN, NAN, NAN])),
    "pow of exponents": pair(pn.pow, ([E, 1], [2, 5]), ([2 * E, 5], [E**2, 0]), 1e-15),
    "x ** 0": kink(lambda x: x**0, [0, 2, -1], [0, 0, 0]),
    "x ** 1": kink(lambda x: x**1, [0, 2, -1], [1, 1, 1]),
    "x ** 2": kink(lambda x: x**2, [0, 2, -1], [0, 4, -2]),
    "x ** 3.0": kink(lambda x: x**3.0, [0, 2, -1], [0, 12, 3]),
    "0 ** x": kink(lambda x: 0**x, [0, 2], [0, 0]),
    "remainder": pair(pn.remainder, ([7, -7], [2, 2]), ([1, 1], [-3, 4])),
    "floor_divide": pair(pn.floor_divide, ([7, -7], [2, 2]), ([0, 0], [0, 0])),
    # An operator that chooses gives +0 to what it does not choose, not 0 times the cotangent.
    "relu chooses": kink(pn.relu, [-1, 0, 2], [0, 0, NAN], [NAN] * 3),
    "where chooses": Kink(lambda x, y: pn.where(x > 0, x, y), ([-1, 2], [5, 6]), ([0, NAN], [NAN, 0]), [NAN] * 2),
    "masked_fill chooses": kink(lambda x: x.masked_fill(x < 0, 1.0), [-1, 2], [0, NAN], [NAN] * 2),
    "amax chooses": kink(lambda x: x.amax(1), [3, 1, 3], [NAN, 0, NAN], NAN),
    "amin chooses": kink(lambda x: x.amin(1), [3, 1, 3], [0, NAN, 0], NAN),
    "an index chooses": kink(lambda x: x[:, -1:], [3, 1], [0, NAN], [NAN]),
    "a slice chooses": kink(lambda x: x[:, ::-2], [3, 1, 2], [NAN, 0, NAN], [NAN] * 2),
    "where has a log of 0 in the other branch": kink(lambda x: pn.where(x > 0, x.log(), 0.0), [0, 1], [NAN, 1]),
    "where is inside the log": kink(lambda x: pn.where(x > 0, x, 1.0).log(), [0, 2], [0, 0.5]),
    "dropout multiplies by 0": kink(lambda x: pn.dropout(x, 1.0), [1, 1, 1], [NAN, 0, NAN], [NAN, 2, INF]),
    # Segments.
    "softmax of -inf": kink(lambda x: x.softmax(1), [-INF, 0, 0], [0, 0.25, -0.25], [0, 1, 0]),
    "softmax of equal elements": kink(lambda x: x.softmax(1), [0, 0], [0.25, -0.25], [1, 0]),
    "logsumexp of equal elements": kink(lambda x: x.logsumexp(1), [7, 7, -INF], [0.5, 0.5, 0]),
    "cumsum reaches all before": kink(lambda x: x.cumsum(1), [1, 1, 1], [7, 6, 4], [1, 2, 4]),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", KINKS)
def test_fused_recorded_and_jvp_agree(name: str, form: str) -> None:
    row = KINKS[name]
    for layout, placement in FORMS[form]:
        components = [0, 2] if layout else [0, 1]
        made = [place(_components(point, layout), layout, placement, grad=True) for point in row.points]
        result = row.call(*[one.array for one in made])
        cotangent = _cotangent(result, row.cotangent, layout)
        for recorded in (False, True):
            grads = pn.grad(result, [one.buffer for one in made], cotangent, retain_graph=True, create_graph=recorded)
            for one, grad, expected in zip(made, grads, row.gradients, strict=True):
                by_component = one.components_of(grad.detach().numpy())
                assert_same([by_component[i] for i in components], [np.array(expected, float)] * 2, row.tol or 1e-300)
                assert not np.signbit(one.holes_of(grad.detach().numpy())).any()
        if row.cotangent is None and np.isfinite(row.gradients).all():
            directions = [np.arange(1.0, len(gradient) + 1) + number for number, gradient in enumerate(row.gradients)]
            due = sum(float(np.dot(*pair)) for pair in zip(row.gradients, directions, strict=True))
            sums = [float(np.sum(one)) for one in plain(_pushed(row.call, made, directions))]
            assert [sums[i] for i in components] == pytest.approx([due] * 2, rel=1e-14, abs=1e-300)


def _components(point: list[float], layout: Any) -> list[np.ndarray]:
    numbers = np.array(point, float)
    return [numbers, np.array(NEIGHBOUR), numbers] if layout else [numbers, numbers]


def _cotangent(result: Any, numbers: Any, layout: Any) -> Any:
    """Return ones, or ``numbers`` for each component and 1 for the neighbour."""
    if numbers is None:
        return pn.ones_like(result.detach())
    parts = [np.array(numbers, float)] * 2
    if layout is None or not result.is_nested:
        return pn.array(np.stack([parts[0], 1.0, parts[1]] if layout else parts))
    return nest([parts[0], np.ones(len(result[1])), parts[1]], layout)


def _pushed(call: Callable[..., Any], made: list[Placed], directions: list[Any]) -> Any:
    """Return the tangent of the result for a tangent of each operand, the same in components of its size; 3 in gaps."""
    tangents = []
    for one, direction in zip(made, directions, strict=True):
        tangent = np.full(one.buffer.shape, 3.0)
        for positions in one.places:
            tangent.reshape(-1)[positions] = direction.reshape(positions.shape) if positions.size > 1 else direction[0]
        tangents.append(pn.array(tangent))
    buffers = tuple(one.buffer.detach() for one in made)
    views = [one.view for one in made]
    return pn.jvp(lambda *xs: call(*(view(x) for view, x in zip(views, xs, strict=True))), buffers, tuple(tangents))[1]


# ---- ties over several dimensions ----------------------------------------------------------------------------------

RANK = 4
EVERY_DIMS = [dims for count in range(1, RANK + 1) for dims in itertools.combinations(range(RANK), count)]
# The layout, the ragged dimension, and the shapes of the components.
KINDS: dict[str, tuple[Any, int, list[tuple[int, ...]]]] = {
    "jagged, ragged first": (pn.jagged, 1, [(2, 2, 3), (1, 2, 3), (3, 2, 3)]),
    "jagged, ragged in the middle": (pn.jagged, 2, [(2, 2, 3), (2, 1, 3), (2, 3, 3)]),
    "jagged, ragged last": (pn.jagged, 3, [(2, 3, 2), (2, 3, 1), (2, 3, 3)]),
    "strided, rows": (pn.strided, 1, [(2, 2, 3), (1, 2, 3), (3, 2, 3)]),
    "strided, irregular": (pn.strided, 1, [(3, 2, 3), (1, 2, 3), (2, 2, 1)]),
    "dense": (None, 1, [(3, 2, 2), (3, 2, 2)]),
}


def like(result: Any, numbers: Any) -> Any:
    """Return ``numbers`` as an array of the layout of ``result``."""
    if not isinstance(result, pn.NestedArray):
        return pn.array(numbers)
    return nest(numbers, result.layout, "packed", getattr(result.structure, "ragged_dim", 1))


def inner(a: Any, b: Any) -> float:
    """Return the sum of the products of two lists of components, or of two arrays."""
    return sum(map(inner, a, b)) if isinstance(a, list) else float(np.sum(a * b))


def fixed_examples(test: Any) -> Any:
    """Add the first kind with all 15 sets of dimensions."""
    for dims in EVERY_DIMS:
        test = example(kind="jagged, ragged first", placement="holes", dims=dims, seed=len(dims))(test)
    return test


@given(
    kind=st.sampled_from(sorted(KINDS)),
    placement=st.sampled_from(PLACEMENTS),
    dims=st.sampled_from(EVERY_DIMS),
    seed=st.integers(0, 99),
)
@settings(max_examples=40)
@fixed_examples
def test_ties_share_over_all_dimensions_at_once(kind: str, placement: str, dims: tuple[int, ...], seed: int) -> None:
    layout, ragged, _ = KINDS[kind]
    draw = np.random.default_rng(seed).integers
    components = [draw(0, 2, shape).astype(float) for shape in KINDS[kind][2]]
    kept = [max(x.shape[d - 1] for x in components) for d in range(1, RANK) if d not in dims]
    if 0 in dims and len(segments(components, dims)) != math.prod(kept):
        return  # a position of the result without an element is refused
    made = place(components, layout, placement, ragged, True)
    result = pn.amax(made.array, dims)
    cotangent, due = cotangent_like(plain(result)), [np.zeros(x.shape) for x in components]
    for (i, *index), (position, share) in ties(components, dims).items():
        total = cotangent[position[0]][position[1:]] if isinstance(cotangent, list) else cotangent[position]
        due[i][tuple(index)] = total * share
    for recorded in (False, True):
        (found,) = pn.grad(result, (made.buffer,), like(result, cotangent), retain_graph=True, create_graph=recorded)
        assert_same(made.components_of(found.detach().numpy()), due, 1e-15)
        assert (made.holes_of(found.detach().numpy()) == 0).all()
    direction, buffer = cotangent_like(components, 3), np.full(made.buffer.shape, 3.0)
    for component, positions in zip(direction, made.places, strict=True):
        buffer.reshape(-1)[positions] = component
    moved = pn.jvp(lambda leaf: pn.amax(made.view(leaf), dims), (made.buffer.detach(),), (pn.array(buffer),))[1]
    assert inner(plain(moved), cotangent) == pytest.approx(inner(due, direction), rel=1e-12)


def test_many_ties_in_half_precision() -> None:
    """Their number, and the sum of their tangents, are beyond the range of float16."""
    x = pn.array(np.ones(70_000, np.float16), requires_grad=True)
    of_segments = lambda x: segment.segment_max(x, Segments(np.array([0, 70_000])))  # noqa: E731
    for greatest in (lambda x: x.amax(0), of_segments):
        np.testing.assert_array_equal(pn.grad(greatest(x).sum(), x).numpy(), np.float16(1 / 70_000))
        assert (pn.jvp(greatest, (x.detach(),), (pn.ones_like(x),))[1].numpy() == 1).all()


# ---- reductions of no elements, losses and narrow dtypes ------------------------------------------------------------


@pytest.mark.parametrize("device", DEVICES)
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
