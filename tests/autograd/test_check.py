"""What `gradcheck` accepts, and what its errors say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.autograd import Function, gradcheck
from pynested.backends.errors import GradientError

X = pn.array([[0.5, -1.5, 2.0], [1.0, 0.25, -0.75]])


class Wrong(Function):
    """The second element of the first argument gets 1e-6 too much."""

    @staticmethod
    def forward(context: Any, x: Any, w: Any) -> Any:
        context.save_for_backward(x, w)
        return x * w

    @staticmethod
    def backward(context: Any, cotangent: Any) -> Any:
        x, w = context.saved
        extra = np.zeros(x.shape)
        extra[0, 1] = 1e-6
        return cotangent * (w + pn.array(extra)), cotangent * x


def test_says_where_and_what() -> None:
    with pytest.raises(GradientError) as caught:
        gradcheck(lambda x, w: Wrong.apply(x, w), X, X * 2)
    message = str(caught.value)
    assert message.startswith("gradcheck: differences: argument 0, element (0, 1): expected ")
    assert "found" in message


def test_a_kink_is_named() -> None:
    with pytest.raises(GradientError, match="does not look smooth"):
        gradcheck(lambda x: x.abs(), pn.array([1.0, 1e-5]))


def test_containers_and_constants() -> None:
    def function(pair: Any, power: int, table: Any) -> Any:
        return {"a": pair[0] * pair[1] * power, "b": table["w"].tanh()}

    assert gradcheck(function, (X, X + 1.0), 3, {"w": pn.array(0.3)})


def test_nested_arrays() -> None:
    nested = pn.nested_array([[1.0, 2.0], [], [3.0, -1.0, 0.5]], layout=pn.jagged)
    assert gradcheck(lambda x: x.softmax(1), nested)
    assert gradcheck(lambda x, w: (x * w).tanh().sum(), nested, pn.array(0.7))


def test_only_what_requires_grad_is_varied() -> None:
    x, hidden = pn.array([1.0, 2.0], requires_grad=True), pn.array([3.0, 0.0])
    assert gradcheck(lambda x, h: x * x + h.abs(), x, hidden)
    assert x.grad is None


def test_integers_are_not_varied() -> None:
    assert gradcheck(lambda w, i: pn.embedding(i, w), X, pn.array([1, 0, 1]))


def test_large_inputs_are_varied_along_directions() -> None:
    x = pn.array(np.random.default_rng(0).standard_normal((20, 30)))
    assert gradcheck(lambda x: x.layer_norm(30), x)


def test_nothing_to_check() -> None:
    with pytest.raises(GradientError, match="no floating point"):
        gradcheck(lambda i: i, pn.array([1]))
    with pytest.raises(GradientError, match="no floating point"):
        gradcheck(lambda x: x > 0, X)
    with pytest.raises(GradientError, match="not finite"):
        gradcheck(lambda x: x.log(), pn.array([-1.0]))


def test_a_write_into_an_input_is_named() -> None:
    def function(x: Any) -> Any:
        x.data[...] = 0
        return x * 2

    with pytest.raises(GradientError, match="read-only"):
        gradcheck(function, X)


def test_a_random_function_is_not_deterministic() -> None:
    with pytest.raises(GradientError, match="determinism"):
        gradcheck(lambda x: x.dropout(0.5), X)


def test_an_untracked_function_is_found() -> None:
    with pytest.raises(GradientError, match="differences"):
        gradcheck(lambda x: x.detach() * 2, X)


def test_first_order_only() -> None:
    class Once(Function):
        @staticmethod
        def forward(context: Any, x: Any) -> Any:
            context.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(context: Any, cotangent: Any) -> Any:
            return pn.array(2 * context.saved[0].detach().numpy() * cotangent.detach().numpy())

        @staticmethod
        def jvp(context: Any, tangent: Any) -> Any:
            return 2 * context.saved[0] * tangent

    assert gradcheck(lambda x: Once.apply(x), X, order=1)
    with pytest.raises(GradientError, match="second order"):
        gradcheck(lambda x: Once.apply(x), X)


# ---- holes --------------------------------------------------------------------------------------------------------

NAN = float("nan")
HOLED = {
    "jagged": lambda: pn.nested_array_from_jagged(pn.array([1.0, NAN, 2.0, NAN]), [0, 2, 4], [1, 1]),
    "jagged, two dimensions": lambda: pn.nested_array_from_jagged(
        pn.array([[1.0, 2.0], [NAN, NAN], [3.0, 4.0]]), [0, 2, 3], [1, 1]
    ),
    "jagged, dimension 2": lambda: pn.nested_array_from_jagged(
        pn.array([[1.0, NAN, 3.0], [4.0, NAN, 6.0]]), [0, 2, 3], [1, 1], jagged_dim=2
    ),
    "strided": lambda: pn.nested_array_from_strided(
        pn.array([NAN, 1.0, 2.0, NAN, 3.0]), [[2, 1], [1, 1]], [[1, 1], [1, 1]], [1, 4]
    ),
    "overlapping": lambda: pn.nested_array_from_strided(pn.array([NAN, 1.0, 2.0, 3.0]), [[2], [2]], None, [1, 2]),
    "large": lambda: pn.nested_array_from_jagged(
        pn.array(np.where(np.arange(300) % 3, 1 + np.arange(300) / 50, NAN)), np.arange(0, 303, 3) + 1, [2] * 99 + [0]
    ),
}
FUNCTIONS = {
    "sum": lambda x: x.sum(1),
    "elementwise": lambda x: (x * x).tanh(),
    "itself": lambda x: x,
    "a view": lambda x: x[1:],
    "components": lambda x: x.unbind()[0] * 2,
    "with another": lambda x: {"a": [x * 2, (x.sum(), 3)]},
}


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("placement", HOLED)
def test_what_lies_in_holes_is_not_varied(placement: str, name: str, order: int) -> None:
    assert gradcheck(FUNCTIONS[name], HOLED[placement](), order=order)


@pytest.mark.parametrize("placement", HOLED)
def test_a_function_that_reads_what_lies_in_holes_is_found(placement: str) -> None:
    with pytest.raises(GradientError, match="not finite"):
        gradcheck(lambda x: x.values() * 2, HOLED[placement]())


class Off(Function):
    """Twice a buffer of three; what arrives at the first is sent to another one too, a millionth of it."""

    @staticmethod
    def forward(context: Any, x: Any, at: int) -> Any:
        context.at = at
        return x * 2

    @staticmethod
    def backward(context: Any, cotangent: Any) -> Any:
        return cotangent * 2 + cotangent[0] * pn.array(np.where(np.arange(3) == context.at, 1e-6, 0)), None


@pytest.mark.parametrize(("at", "test"), [(0, "differences"), (1, "holes"), (2, "differences")])
def test_what_is_wrong_is_found_beside_holes_and_in_them(at: int, test: str) -> None:
    """The sum of what is shown of a buffer of three, the middle of which is a hole."""

    def function(x: Any) -> Any:
        twice = Off.apply(x.data, at)
        return pn.nested_array_from_jagged(twice, [0, 2, 3], [1, 1]).sum(1)

    x = pn.nested_array_from_jagged(pn.array([1.0, 5.0, 2.0]), [0, 2, 3], [1, 1])
    with pytest.raises(GradientError, match=rf"{test}: argument 0, array 0, element \({at},\): expected"):
        gradcheck(function, x)


NAN, INF = float("nan"), float("inf")
KEPT = pn.array([True, False, True, True])
CHOICES: dict[str, Any] = {
    "a hole": lambda x: pn.nested_array_from_strided(x, [[1], [2]], None, [0, 2]) * 2,
    "a jagged hole": lambda x: pn.nested_array_from_jagged(x, [0, 2, 4], [1, 2]).sum(dim=1),
    "a view": lambda x: x[::2] * x[::2],
    "a mask": lambda x: pn.where(KEPT, x, 0.0).sin(),
    "a mask of many": lambda x: pn.where(pn.stack([KEPT] * 40), x.broadcast_to((40, 4)), 0.0).sin(),
}


@pytest.mark.parametrize("number", [NAN, INF, -INF])
@pytest.mark.parametrize("name", CHOICES)
def test_what_is_not_finite_and_without_influence_is_not_varied(name: str, number: float) -> None:
    assert pn.gradcheck(CHOICES[name], pn.array([1.0, number, 2.0, 3.0], requires_grad=True))


def test_a_gradient_of_what_is_without_influence_is_found() -> None:
    x = pn.array([1.0, NAN, 2.0, 3.0], requires_grad=True)
    with pytest.raises(GradientError, match=r"holes: argument 0, element \(1,\): expected 0.0, found nan"):
        pn.gradcheck(lambda x: pn.where(KEPT, x * x, 0.0), x)  # 0 * NaN
