"""Operations with a derivative of one's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.autograd import Function, anomaly, grad, gradcheck, hessian, hvp, is_grad_enabled, jvp, no_grad
from pynested.backends.errors import GradientError


class Scale(Function):
    """x * n, and what is saved is the number."""

    @staticmethod
    def forward(context: Any, x: Any, n: float) -> Any:
        assert not is_grad_enabled()
        context.n = n
        return x * n

    @staticmethod
    def backward(context: Any, cotangent: Any) -> Any:
        assert context.needs_input_grad == (True, False)
        return cotangent * context.n, None


class Exp(Function):
    """The derivative looks at the output."""

    @staticmethod
    def forward(context: Any, x: Any) -> Any:
        y = x.exp()
        context.save_for_backward(y)
        return y

    @staticmethod
    def backward(context: Any, cotangent: Any) -> Any:
        (y,) = context.saved
        return y * cotangent


class Both(Function):
    """Two arguments, two outputs in a container, and both directions."""

    @staticmethod
    def forward(context: Any, a: Any, b: Any) -> Any:
        context.save_for_backward(a, b)
        return a * b, {"sum": a + b}

    @staticmethod
    def backward(context: Any, product: Any, sums: Any) -> Any:
        a, b = context.saved
        return product * b + sums["sum"], product * a + sums["sum"]

    @staticmethod
    def jvp(context: Any, s: Any, t: Any) -> Any:
        a, b = context.saved
        return s * b + a * t, {"sum": s + t}


A, B = pn.array([1.0, -2.0]), pn.array([0.5, 3.0])


def test_values_and_gradients() -> None:
    x = pn.array([1.0, 2.0], requires_grad=True)
    y = Scale.apply(x, 3.0)
    assert y.tolist() == [3, 6]
    assert "made by Scale" in repr(y)
    y.sum().backward()
    y.sum().backward()  # nothing was saved
    assert x.grad.tolist() == [6, 6]


def test_every_order_through_saved_inputs_and_outputs() -> None:
    assert gradcheck(lambda x: Exp.apply(x), A)
    assert gradcheck(lambda a, b: Both.apply(a, b), A, B)
    assert gradcheck(lambda a, b: Both.apply(Exp.apply(a), b * a)[1]["sum"].tanh(), A, B)
    np.testing.assert_allclose(hessian(lambda x: Exp.apply(x).sum(), A).numpy(), np.diag(np.exp(A.numpy())))
    x = pn.array(0.5, requires_grad=True)
    slope = Exp.apply(x)
    for _ in range(4):
        slope = grad(slope, x, create_graph=True)
    assert slope.item() == pytest.approx(np.exp(0.5), rel=1e-15)


def test_forward_mode_without_a_jvp_transposes_backward() -> None:
    assert jvp(lambda x: Scale.apply(x, 3.0), (A,), (B,))[1].tolist() == [1.5, 9]
    np.testing.assert_allclose(hvp(lambda x: Exp.apply(x).sum(), A, B)[1].numpy(), np.exp(A.numpy()) * B.numpy())


def test_one_output_used_and_arguments_that_are_constant() -> None:
    x = pn.array([1.0, 2.0], requires_grad=True)
    product, sums = Both.apply(x, B)
    sums["sum"].sum().backward()
    assert x.grad.tolist() == [1, 1]
    x.grad = None
    product, _ = Both.apply(x, B)
    product.sum().backward()
    assert x.grad.tolist() == B.tolist()


def test_nothing_is_recorded_where_nothing_is_wanted() -> None:
    assert Exp.apply(A).line is None
    with no_grad():
        assert Exp.apply(pn.array(1.0, requires_grad=True)).line is None


def test_nested_arguments() -> None:
    nested = pn.nested_array([[1.0, 2.0], [], [0.5]], layout=pn.jagged, requires_grad=True)
    y = Exp.apply(nested)
    assert y.is_nested
    y.sum().backward()
    np.testing.assert_allclose(nested.grad.values().numpy(), np.exp([1, 2, 0.5]))
    assert gradcheck(lambda x: Exp.apply(x), nested.detach())


def test_an_output_that_is_an_argument() -> None:
    class Same(Function):
        @staticmethod
        def forward(context: Any, x: Any) -> Any:
            context.save_for_backward(x)
            return x

        @staticmethod
        def backward(context: Any, cotangent: Any) -> Any:
            return cotangent * context.saved[0]

    x = pn.array([2.0, 3.0], requires_grad=True)
    y = Same.apply(x)
    assert y is not x
    assert y.storage is x.storage
    y.sum().backward()
    assert x.grad.tolist() == [2, 3]


def test_a_gradient_that_is_saved_memory_is_copied() -> None:
    kept = pn.array([5.0, 7.0])

    class Constant(Function):
        @staticmethod
        def forward(context: Any, x: Any) -> Any:
            return (x * kept).sum()

        @staticmethod
        def backward(context: Any, cotangent: Any) -> Any:
            return kept

    x = pn.array([2.0, 3.0], requires_grad=True)
    for _ in range(2):
        Constant.apply(x).backward()
    assert x.grad.tolist() == [10, 14]
    assert kept.tolist() == [5, 7]


def test_saved_values_are_guarded() -> None:
    x = pn.array([1.0, 2.0], requires_grad=True)
    y = Exp.apply(x)
    y.detach().mul_(2)
    with pytest.raises(GradientError, match="Exp: a value saved for the gradient was overwritten"):
        y.sum().backward()
    y = Exp.apply(x)
    y.sum().backward()
    with pytest.raises(GradientError, match="Exp: its saved values were freed"):
        y.sum().backward()
    with anomaly():
        y = Exp.apply(x)
    y.detach().numpy()[0] = 5
    with pytest.raises(GradientError, match=r"Exp: .*through NumPy"):
        y.sum().backward()


def broken(answer: Any, jvp: Any = None) -> Any:
    methods = {"forward": staticmethod(lambda c, x, n: x * n), "backward": staticmethod(lambda c, g: answer)}
    if jvp is not None:
        methods["jvp"] = staticmethod(lambda c, *tangents: jvp)
    return type("Broken", (Function,), methods)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (A, "returned 1 gradients for 2 arguments. Return one for each"),
        ((A, A), "argument 1 is a float; return None"),
        (((A, A), None), "returned a tuple for argument 0, a Array. Return a gradient of the same form"),
        ((pn.array([1.0]), None), r"gradient of shape \(1,\) and dtype float64 for an array of shape \(2,\)"),
        (
            (pn.array([1.0, 2.0], dtype="float32"), None),
            r"dtype float32 for an array of shape \(2,\) and dtype float64",
        ),
        ((3.0, None), "returned a float for argument 0"),
    ],
)
def test_wrong_answers(answer: Any, message: str) -> None:
    x = pn.array([1.0, 2.0], requires_grad=True)
    with pytest.raises(GradientError, match=f"Broken.backward.*{message}"):
        broken(answer).apply(x, 2.0).sum().backward()


def test_no_gradient_at_all() -> None:
    x = pn.array([1.0, 2.0], requires_grad=True)
    broken((None, None)).apply(x, 2.0).sum().backward()
    assert x.grad is None


def test_wrong_tangents() -> None:
    with pytest.raises(GradientError, match=r"Broken.jvp returned tangents of shapes"):
        jvp(lambda x: broken(None, jvp=pn.array(1.0)).apply(x, 2.0), (A,), (A,))
    with pytest.raises(GradientError, match=r"Broken has no jvp.*Define jvp\(context"):
        jvp(lambda x: broken((A, None)).apply(x, 2.0), (A,), (A,))


def test_forward_and_backward_have_to_be_defined() -> None:
    with pytest.raises(GradientError, match="define forward"):
        Function.apply(A)
    half = type("Half", (Function,), {"forward": staticmethod(lambda c, x: x * 2)})
    with pytest.raises(GradientError, match="define backward"):
        half.apply(pn.array(1.0, requires_grad=True)).backward()


def test_forward_may_return_what_numpy_computes() -> None:
    class Twice(pn.Function):
        @staticmethod
        def forward(context: Any, x: Any) -> Any:
            return x.detach().numpy() * 2

        @staticmethod
        def backward(context: Any, cotangent: Any) -> Any:
            return cotangent * 2

    x = pn.array([1.0, 2.0], requires_grad=True)
    assert pn.grad(Twice.apply(x).sum(), x).tolist() == [2.0, 2.0]
