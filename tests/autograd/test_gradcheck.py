"""`gradcheck` accepts right derivatives, and rejects the wrong ones of `tests/mutation/gradients.toml` and below."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.autograd import Array, gradcheck
from pynested.autograd.primitives import binary, segment, unary
from pynested.backends import Segments
from pynested.backends.errors import ArgumentError, GradientError
from tests.mutation.plant import load, planted

from ..nests import batch, nest
from .test_function import define

NAN, INF = float("nan"), float("inf")
X = pn.array([[0.3, -1.2, 0.7, 1.1], [2.0, 0.4, -0.6, -1.7]])

SEGMENTS = Segments(np.array([0, 1, 4]))
FAULTS = load("gradients")
PRIMITIVES: dict[str, Callable[[Array], Array]] = {
    "tanh": unary.tanh,
    "sin": unary.sin,
    "mul": lambda x: binary.mul(x, x),
    "gelu": unary.gelu,
    "segment_softmax": lambda x: segment.segment_softmax(x.reshape((4, 2)), SEGMENTS),
}


@pytest.mark.parametrize("primitive", PRIMITIVES)
def test_right_derivatives_pass(primitive: str) -> None:
    assert gradcheck(PRIMITIVES[primitive], X)


@pytest.mark.parametrize("primitive", PRIMITIVES)
@pytest.mark.parametrize("fault", FAULTS)
def test_wrong_derivatives_are_rejected(primitive: str, fault: str) -> None:
    assert primitive in FAULTS[fault]["primitive"]
    with planted({**FAULTS[fault], "primitive": primitive}), pytest.raises(GradientError):
        gradcheck(PRIMITIVES[primitive], X)


def test_containers_and_constants() -> None:
    def function(pair: Any, power: int, table: Any) -> Any:
        return {"a": pair[0] * pair[1] * power, "b": table["w"].tanh()}

    assert gradcheck(function, (X, X + 1.0), 3, {"w": pn.array(0.3)})
    assert gradcheck(lambda x, y: x * y, (X, X + 1.0))  # one tuple holds all inputs
    nested = pn.nested_array([[1.0, 2.0], [], [3.0, -1.0, 0.5]], layout=pn.jagged)
    assert gradcheck(lambda x, w: (x.softmax(1) * w).sum(1), nested, pn.array(0.7))


def test_only_floating_inputs_that_require_grad_are_varied() -> None:
    x, constant = pn.array([1.0, 2.0], requires_grad=True), pn.array([3.0, 0.0])
    assert gradcheck(lambda x, c: x * x + c.abs(), x, constant)
    assert x.grad is None
    assert gradcheck(lambda w, i: pn.embedding(i, w), X, pn.array([1, 0, 1]))


def test_large_inputs_are_varied_along_directions() -> None:
    x = pn.array(np.random.default_rng(0).standard_normal((20, 30)))
    assert gradcheck(lambda x: x.layer_norm(30), x)
    points: list[set[bytes]] = [set(), set()]
    for seed in (0, 0, 1):
        gradcheck(lambda x, seed=seed: points[seed].add(x.detach().numpy().tobytes()) or x * 2, x, order=1, seed=seed)
    assert len(points[0]) == len(points[1]) == 34  # 8 directions times 4 steps, the inputs, and the inputs in float32
    assert len(points[0] & points[1]) == 2


def write_into(x: Any) -> Any:
    x.data[...] = 0
    return x * 2


def square(context: Any, x: Any) -> Any:
    context.save_for_backward(x)
    return x * x


Square = define(
    square,
    lambda context, g: pn.array(2 * context.saved[0].detach().numpy() * g.detach().numpy()),  # which is not recorded
    jvp=lambda context, tangent: 2 * context.saved[0] * tangent,
)
ERRORS: dict[str, tuple[Callable[..., Any], Any, str]] = {
    "detached": (lambda x: x.detach() * 2, X, "differences"),
    "first order only": (Square.apply, X, "second order"),
    "a kink": (lambda x: x.abs(), pn.array([1.0, 1e-5]), "does not look smooth"),
    "a kink exactly at the input": (lambda x: x.relu(), pn.array([0.0, 2.0]), "does not look smooth"),
    "a kink between two slopes": (lambda x: pn.where(x > 0, 3.0 * x, -2.0 * x), pn.array([2.0, 0.0]),
        "does not look smooth"),
    "a kink in a direction": (lambda x: (x + pn.zeros(99)).relu(), pn.zeros(99), "does not look smooth"),
    "random": (lambda x: x.dropout(0.5), X, "determinism"),
    "a write into the input": (write_into, X, "^gradcheck: read-only: "),
    "a write in place": (lambda x: x.mul_(2), X, "^gradcheck: read-only: "),
    "a write of NumPy": (lambda x: pn.array(x.detach().numpy().__imul__(2)), X, "^gradcheck: read-only: "),
    "an input of integers": (lambda i: i, pn.array([1]), "no floating point"),
    "an output of bools": (lambda x: x > 0, X, "no floating point"),
    "a value that is not finite": (lambda x: x.log(), pn.array([-1.0]), "not finite"),
    "a gradient that is not finite": (lambda x: x.sqrt(), pn.array([1.0, 0.0]), r"argument 0, element \(1,\) is -?inf"),
    "a gradient of NaN": (lambda x: x.sqrt() * 0, pn.array([1.0, 0.0]), r"argument 0, element \(1,\) is nan"),
    **{f"no hint of kinks, as the function is smooth, {scale}": (
        define(lambda context, x: x * x * x, lambda context, g, scale=scale: g * scale).apply,
        pn.array([0.0, 1.0]), r"(?s)\A(?!.*smooth).*differences") for scale in (1e-6, 1.0)},
    "0 * NaN of an element without influence": (lambda x: pn.where(pn.array([True, False]), x * x, 0.0),
        pn.array([1.0, NAN]), r"gaps: argument 0, element \(1,\): expected 0.0, found nan"),
}  # fmt: skip


@pytest.mark.parametrize(("function", "x", "text"), ERRORS.values(), ids=ERRORS)
def test_errors(function: Callable[..., Any], x: Any, text: str) -> None:
    with pytest.raises(GradientError, match=text):
        gradcheck(function, x)


def test_other_errors_of_the_function_are_raised_unchanged() -> None:
    with pytest.raises(ValueError, match="^invalid literal .* 'read-only'"):
        gradcheck(lambda x: int("read-only"), X)


def test_the_second_order_can_be_left_out() -> None:
    assert gradcheck(Square.apply, X, order=1)
    for order in (0, 3, True, None, "2"):
        with pytest.raises(ArgumentError, match="gradcheck: order must be 1 or 2, not"):
            gradcheck(pn.sin, X, order=order)


WITH_GAPS: dict[str, Callable[[], Any]] = {
    "jagged": lambda: nest(batch([(2, 1), (0, 1), (1, 1)]), pn.jagged, "holes"),
    "jagged along dimension 2": lambda: nest(batch([(1, 2), (1, 1)]), pn.jagged, "holes", 2),
    "strided": lambda: nest(batch([(2, 1), (1, 2)]), pn.strided, "holes"),
    "overlapping": lambda: pn.nested_array_from_strided(pn.array([NAN, 1.0, 2.0, 3.0]), [[2], [2]], None, [1, 2]),
    "large": lambda: nest(batch([(2, 1)] * 40), pn.jagged, "holes"),
}


@pytest.mark.parametrize("make", WITH_GAPS.values(), ids=WITH_GAPS)
def test_gaps_are_not_varied(make: Callable[[], Any]) -> None:
    """The gaps contain NaN."""
    x = make()
    assert gradcheck(lambda x: {"a": [x, (x * x).tanh(), (x.sum(1), 3)], "b": x[1:]}, x)
    assert gradcheck(lambda x: x.unbind()[0] * 2, x, order=1)
    with pytest.raises(GradientError, match="not finite"):
        gradcheck(lambda x: x.data * 2, x)


def leak(position: int) -> Any:
    """Return twice a buffer of three; a millionth of the cotangent of the first element is added at ``position``."""
    share = pn.array(np.where(np.arange(3) == position, 1e-6, 0))
    return define(lambda context, x: x * 2, lambda context, g: g * 2 + g[0] * share)


@pytest.mark.parametrize(("position", "check"), [(0, "differences"), (1, "gaps"), (2, "differences")])
def test_wrong_gradients_are_rejected_beside_gaps_and_in_them(position: int, check: str) -> None:
    """The second of three elements is a gap."""

    def function(x: Any) -> Any:
        twice = leak(position).apply(x.data)
        return pn.nested_array_from_jagged(twice, [0, 2, 3], [1, 1]).sum(1)

    x = pn.nested_array_from_jagged(pn.array([1.0, 5.0, 2.0]), [0, 2, 3], [1, 1])
    text = rf"^gradcheck: {check}: argument 0, array 0, element \({position},\): expected .*found"
    with pytest.raises(GradientError, match=text):
        gradcheck(function, x)


KEPT = pn.array([True, False, True, True])
WITHOUT_THE_SECOND: dict[str, Callable[[Any], Any]] = {
    "a gap": lambda x: pn.nested_array_from_jagged(x, [0, 2, 4], [1, 2]).sum(dim=1),
    "a view": lambda x: x[::2] * x[::2],
    "a mask": lambda x: pn.where(KEPT, x, 0.0).sin(),
    "a mask of many": lambda x: pn.where(pn.stack([KEPT] * 20), x.broadcast_to((20, 4)), 0.0).sin(),
}


@pytest.mark.parametrize("number", [NAN, -INF])
@pytest.mark.parametrize("function", WITHOUT_THE_SECOND.values(), ids=WITHOUT_THE_SECOND)
def test_elements_that_are_not_finite_and_without_influence_are_not_varied(function: Any, number: float) -> None:
    assert gradcheck(function, pn.array([1.0, number, 2.0, 3.0]))
