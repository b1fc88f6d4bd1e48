"""Derivatives at ties, edges and empty components: the fused pass, the recorded pass and jvp agree with a table.

Where there is no derivative, or a formula divides by zero, the values are PyTorch's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.autograd.primitives import segment
from pynested.backends import Segments

from ..nests import LAYOUTS, assert_same, plain

NAN, INF, E = math.nan, math.inf, math.e
FORMS = {"dense": None, "jagged": pn.jagged, "strided": pn.strided}


@dataclass(frozen=True)
class Kink:
    """A call on two equal components, and the gradient that each operand gets.

    Attributes
    ----------
    points : the numbers of a component, for each operand
    gradients : as many numbers, for each operand
    cotangent : the cotangent of each result of a component; 1 if None
    """

    call: Callable[..., Any]
    points: list[list[float]]
    gradients: list[list[float]]
    cotangent: Any = None
    tol: float | None = None


KINKS = {
    # Ties share their cotangent.
    "amax of -inf": Kink(lambda x: x.amax(1), [[-INF, -INF]], [[0.5, 0.5]]),
    "amax of inf": Kink(lambda x: x.amax(1), [[INF, 1]], [[1, 0]]),
    "amax of NaN": Kink(lambda x: x.amax(1), [[1, NAN, 3, 3]], [[NAN] * 4]),
    "amin of NaN beside a tie": Kink(lambda x: x[:, None].amin((1, 2)), [[NAN, 3, 3]], [[NAN] * 3]),
    "amax over no dimension": Kink(lambda x: x.amax(()), [[3, 1, NAN]], [[1, 1, 1]]),
    "var of equal elements": Kink(lambda x: x.var(1), [[0.1, 0.1, 0.1]], [[0, 0, 0]]),
    "std of equal elements": Kink(lambda x: x.std(1), [[1e300, 1e300, 1e300]], [[0, 0, 0]]),
    # Kinks, steps and poles of functions of one element.
    "1 / x": Kink(lambda x: 1 / x, [[0.0]], [[-INF]]), "0 / x": Kink(lambda x: 0 / x, [[0.0]], [[NAN]]),
    "norm of zeros": Kink(lambda x: pn.sqrt((x * x).sum(1)), [[0.0, 0.0]], [[NAN, NAN]]),
    "a NaN stays where it is": Kink(lambda x: pn.square(x) * x, [[NAN, 1]], [[NAN, 3]]),
    # Pairs.
    "pow of zeros": Kink(pn.pow, [[0.0, 0.0, 0.0, 0.0], [0, 1, 2, 0.5]], [[0, 1, 0, INF], [0, 0, 0, 0]]),
    "pow of NaN to the power 0": Kink(pn.pow, [[NAN, NAN], [0, 1]], [[0, 1], [NAN, NAN]]),
    "pow of negative bases": Kink(pn.pow, [[-2, -2, -1], [3, 0, -2]], [[12, 0, 2], [NAN, NAN, NAN]]),
    "pow of exponents": Kink(pn.pow, [[E, 1], [2, 5]], [[2 * E, 5], [E**2, 0]], tol=1e-15),
    "x ** 0": Kink(lambda x: x**0, [[0, 2, -1]], [[0, 0, 0]]),
    "x ** 2": Kink(lambda x: x**2, [[0, 2, -1]], [[0, 4, -2]]),
    "x ** 3.0": Kink(lambda x: x**3.0, [[0, 2, -1]], [[0, 12, 3]]), "0 ** x": Kink(lambda x: 0**x, [[0, 2]], [[0, 0]]),
    "remainder": Kink(pn.remainder, [[7, -7], [2, 2]], [[1, 1], [-3, 4]]),
    # An operator that chooses gives +0 to what it does not choose, not 0 times the cotangent.
    "an index chooses": Kink(lambda x: x[:, -1:], [[3, 1]], [[0, NAN]], [NAN]),
    "a slice chooses": Kink(lambda x: x[:, ::-2], [[3, 1, 2]], [[NAN, 0, NAN]], [NAN] * 2),
    "where has a log of 0 in the other branch": Kink(lambda x: pn.where(x > 0, x.log(), 0.0), [[0, 1]], [[NAN, 1]]),
    "where is inside the log": Kink(lambda x: pn.where(x > 0, x, 1.0).log(), [[0, 2]], [[0, 0.5]]),
    "dropout multiplies by 0": Kink(lambda x: pn.dropout(x, 1.0), [[1, 1, 1]], [[NAN, 0, NAN]], [NAN, 2, INF]),
    # Segments.
    "softmax of -inf": Kink(lambda x: x.softmax(1), [[-INF, 0, 0]], [[0, 0.25, -0.25]], [0, 1, 0]),
}  # fmt: skip


def twice(numbers: Any, layout: Any) -> Any:
    """Return an array of two equal components; a nested array has one of another length between them."""
    component = np.array(numbers, float)
    if layout is None:
        return pn.array(np.stack([component, component]))
    return pn.nested_array([component, np.array([0.75]), component], layout=layout)


def equal_components(result: Any) -> list[Any]:
    components = plain(result)
    return [components[0], components[-1]]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", KINKS)
def test_fused_recorded_and_jvp_agree(name: str, form: str) -> None:
    row, layout = KINKS[name], FORMS[form]
    operands = [twice(point, layout).requires_grad_() for point in row.points]
    result = row.call(*operands)
    cotangent = pn.ones_like(result.detach()) if row.cotangent is None else twice(row.cotangent, layout)
    for recorded in (False, True):
        grads = pn.grad(result, operands, cotangent, retain_graph=True, create_graph=recorded)
        for grad, expected in zip(grads, row.gradients, strict=True):
            assert_same(equal_components(grad), [np.array(expected, float)] * 2, row.tol or 1e-300)
    if row.cotangent is None and np.isfinite(row.gradients).all():
        directions = [np.arange(1.0, len(gradient) + 1) + number for number, gradient in enumerate(row.gradients)]
        tangents = tuple(twice(direction, layout) for direction in directions)
        tangent = pn.jvp(row.call, tuple(operand.detach() for operand in operands), tangents)[1]
        due = sum(float(np.dot(*pair)) for pair in zip(row.gradients, directions, strict=True))
        sums = [float(np.sum(component)) for component in equal_components(tangent)]
        assert sums == pytest.approx([due] * 2, rel=1e-14, abs=1e-300)


@pytest.mark.parametrize("op", ["mean", "nanmean", "var", "std", "logsumexp"])
def test_a_reduction_of_no_elements_is_constant(op: str) -> None:
    """The second derivative is 0, and so is the tangent."""
    reduction = lambda x: getattr(pn, op)(x, -1)  # noqa: E731
    ragged, inner = [np.zeros(0), np.array([1.0, 3.0])], [np.zeros((1, 0)), np.zeros((2, 0))]
    arrays: list[Any] = [pn.nested_array(parts, layout=layout) for parts in (ragged, inner) for layout in LAYOUTS]
    for x in (*arrays, pn.zeros(2, 0)):
        leaf, ones = x.detach().requires_grad_(), pn.ones_like(x)
        result, tangent = pn.jvp(reduction, (x,), (ones,))
        cotangent = pn.ones_like(result).requires_grad_()
        gradient = pn.grad(reduction(leaf), leaf, cotangent, create_graph=True)
        (gradient * gradient).sum().backward()
        for derivative in (tangent, cotangent.grad):
            assert not np.asarray(derivative.detach()[0]).any(), x  # type: ignore[union-attr]


SECOND_DERIVATIVES = {  # the factor of x in the second derivative near 0, by Taylor's series
    "acos": -1, "asin": 1, "asinh": -1, "atan": -2, "atanh": 2, "erf": -4 / np.sqrt(np.pi), "erfc": 4 / np.sqrt(np.pi),
    "sin": -1, "sinh": 1, "tan": 2, "tanh": -2,
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", SECOND_DERIVATIVES)
def test_second_derivatives_near_0_lose_no_digits(name: str, form: str) -> None:
    points = np.array([1e-5, -1e-9, 1e-160, -1e-300])
    x = twice(points, FORMS[form]).requires_grad_()
    first = pn.grad(getattr(pn, name)(x).sum(), x, create_graph=True)
    expected = SECOND_DERIVATIVES[name] * points
    for second in equal_components(pn.grad(first.sum(), x)):
        np.testing.assert_allclose(second, expected, rtol=1e-9, atol=0)


@pytest.mark.parametrize(("name", "signs"), {"asin": (1, -1), "acos": (-1, 1)}.items())
def test_second_derivatives_at_a_pole_are_infinite(name: str, signs: tuple[int, int]) -> None:
    x = pn.array([1.0, -1.0], requires_grad=True)
    first = pn.grad(getattr(pn, name)(x).sum(), x, create_graph=True)
    assert pn.grad(first.sum(), x).tolist() == [sign * np.inf for sign in signs]


@pytest.mark.parametrize("form", FORMS)
def test_the_tangent_of_a_maximum_is_nan_where_it_is_nan(form: str) -> None:
    """The rows of the other segments keep theirs; as PyTorch's amax."""
    x = twice([1.0, NAN, 3.0], FORMS[form])
    tangent = pn.jvp(lambda x: x.amax(1), (x,), (pn.ones_like(x),))[1]
    np.testing.assert_array_equal(tangent.numpy(), [NAN, NAN] if form == "dense" else [NAN, 1, NAN])


def test_many_ties_in_half_precision() -> None:
    """Their number, and the sum of their tangents, are beyond the range of float16."""
    x = pn.array(np.ones(70_000, np.float16), requires_grad=True)
    of_segments = lambda x: segment.segment_max(x, Segments(np.array([0, 70_000])))  # noqa: E731
    for greatest in (lambda x: x.amax(0), of_segments):
        np.testing.assert_array_equal(pn.grad(greatest(x).sum(), x).numpy(), np.float16(1 / 70_000))
        assert (pn.jvp(greatest, (x.detach(),), (pn.ones_like(x),))[1].numpy() == 1).all()


def test_slopes_neither_vanish_nor_overflow_on_the_way() -> None:
    x = pn.array(np.array([1e30, 1e-18, -3e38], np.float32), requires_grad=True)
    gradient = pn.grad(pn.reciprocal(x), x, pn.array(np.array([1e30, 1e-30, 3e38], np.float32)))
    np.testing.assert_allclose(gradient.numpy(), np.float32([-1e-30, -1e6, -1 / 3e38]), rtol=1e-6)
    gradient = pn.grad(pn.square(x), x, pn.array(np.array([1e5, 1.0, 0.25], np.float32)))
    np.testing.assert_allclose(gradient.numpy(), np.float32([2e35, 2e-18, -1.5e38]), rtol=1e-6)
    base, exponent = (pn.array([number], dtype=pn.float16, requires_grad=True) for number in (2.0**-19, 2.0**-4))
    power = pn.grad(pn.pow(base, exponent).sum(), base)  # a**(b - 1) is beyond float16
    np.testing.assert_allclose(power.numpy(), [2.0**-4 * 2.0**17.8125], rtol=2.0**-10)
    half = pn.array(np.ones(70_000, np.float16), requires_grad=True)
    np.testing.assert_allclose(pn.grad(half.mean(), half).numpy(), 1 / 70_000, rtol=5e-3)
