"""`Function`: operations with a derivative of the user's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.autograd import Function, grad, gradcheck, hessian, hvp, is_grad_enabled, jvp, no_grad
from pynested.backends.errors import GradientError


class Scale(Function):
    """x * n, which saves the number and computes with NumPy."""

    @staticmethod
    def forward(context: Any, x: Any, n: float) -> Any:
        assert not is_grad_enabled()
        context.n = n
        return x.detach().numpy() * n

    @staticmethod
    def backward(context: Any, cotangent: Any) -> Any:
        assert context.needs_input_grad == (True, False)
        return cotangent * context.n, None


class ProductAndSum(Function):
    """Two arguments, two outputs in a container, and derivatives in both directions."""

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


def define(forward: Any, backward: Any, **methods: Any) -> Any:
    """Return a class of these methods, each of which takes the context first."""
    methods |= {"forward": forward, "backward": backward}
    return type("Defined", (Function,), {name: staticmethod(method) for name, method in methods.items()})


def exp(context: Any, x: Any) -> Any:
    y = x.exp()
    context.save_for_backward(y)
    return y


Exp = define(exp, lambda context, g: context.saved[0] * g)  # its derivative is its output
Identity = define(lambda context, x: x, lambda context, g: g)
Writes = define(lambda context, x: x + 0, lambda context, g: g.mul_(10), jvp=lambda context, t: t.mul_(10))
A, B = pn.array([1.0, -2.0]), pn.array([0.5, 3.0])


def leaf() -> pn.Array:
    return pn.array([1.0, 2.0], requires_grad=True)


def test_values_and_gradients() -> None:
    x = leaf()
    y = Scale.apply(x, 3.0)
    assert y.tolist() == [3, 6] and "made by Scale" in repr(y)
    for _ in range(2):  # the context holds no array that a pass frees
        y.sum().backward()
    assert x.grad.tolist() == [6, 6]
    product, sums = ProductAndSum.apply(x, B)
    assert grad(sums["sum"].sum(), x, retain_graph=True).tolist() == [1, 1]
    assert grad(product.sum(), x).tolist() == B.tolist()
    broken((None, None)).apply(x := leaf(), 2.0).sum().backward()
    assert x.grad is None  # None stands for a gradient of 0


def test_every_order_through_saved_inputs_and_outputs() -> None:
    assert gradcheck(Exp.apply, A)
    assert gradcheck(lambda a, b: ProductAndSum.apply(Exp.apply(a), b * a)[1]["sum"].tanh(), A, B)
    np.testing.assert_allclose(hessian(lambda x: Exp.apply(x).sum(), A).numpy(), np.diag(np.exp(A.numpy())))
    x = pn.array(0.5, requires_grad=True)
    slope = Exp.apply(x)
    for _ in range(4):
        slope = grad(slope, x, create_graph=True)
    assert slope.item() == pytest.approx(np.exp(0.5), rel=1e-15)


def test_forward_mode_transposes_backward_if_jvp_is_missing() -> None:
    assert jvp(lambda x: Scale.apply(x, 3.0), (A,), (B,))[1].tolist() == [1.5, 9]
    np.testing.assert_allclose(hvp(lambda x: Exp.apply(x).sum(), A, B)[1].numpy(), np.exp(A.numpy()) * B.numpy())


def test_nested_arguments() -> None:
    nested = pn.nested_array([[1.0, 2.0], [], [0.5]], layout=pn.jagged)
    assert gradcheck(Exp.apply, nested) and not Exp.apply(nested).requires_grad
    with no_grad():
        assert not Exp.apply(nested.detach().requires_grad_()).requires_grad


def test_a_nested_gradient_can_have_another_placement_than_its_argument() -> None:
    rows = pn.nested_array([[1.0, 2.0, 7.0], [3.0, 4.0]], layout=pn.jagged)
    x = pn.narrow(rows, 1, 0, 2).detach().requires_grad_()  # with a gap, which the contiguous gradient has not
    assert not x.is_contiguous() and gradcheck(Exp.apply, x)
    assert grad(Identity.apply(x), x, pn.ones_like(x.contiguous())).tolist() == [[1, 1], [1, 1]]
    pair_product = define(lambda context, pair: pair[0] * pair[1], lambda context, g: ((g * 2, None),))
    assert grad(pair_product.apply((x, x.detach())).sum(), x).tolist() == [[2, 2], [2, 2]]


def test_constants_in_a_container_have_no_tangent() -> None:
    """d(ab) = b da + a db, where db is None if b is a constant."""
    tangents: list[Any] = []

    def product_jvp(context: Any, pair: Any) -> Any:
        tangents.append(pair)
        return pair[0] * B

    product = define(lambda context, pair: pair[0] * pair[1], lambda context, g: (None,), jvp=product_jvp)
    assert jvp(lambda a: product.apply((a, B)), A, pn.array([2.0, 4.0]))[1].tolist() == [1, 12]
    assert tangents[0][0].tolist() == [2, 4] and tangents[0][1] is None
    sources = define(lambda c, a, pair: a * 1, lambda c, g: (g, None), jvp=lambda c, t, none: none or t)
    assert jvp(lambda a: sources.apply(a, (B, B)), A, B)[1].tolist() == B.tolist()


def test_tangents_can_be_ndarrays_and_none() -> None:
    """d(2a, 3) = (2 da, nothing); an output without tangent has the tangent zero."""
    for tangents in ((B.numpy() * 2, None), (B * 2, pn.array(0)), [B * 2, 0]):
        returns = define(lambda c, a: (a * 2, pn.array(3)), None, jvp=lambda c, t, tangents=tangents: tangents)
        assert [t.tolist() for t in jvp(returns.apply, A, B)[1]] == [[1, 6], 0]
    missing = define(lambda c, a: (a * 2, a * 3), None, jvp=lambda c, t: (None, t * 3))
    assert [t.tolist() for t in jvp(missing.apply, A, B)[1]] == [[0, 0], [1.5, 9]]


def test_an_output_that_is_an_argument_is_a_view() -> None:
    x = leaf()
    y = Identity.apply(x)
    assert y is not x and y.storage is x.storage
    assert grad(y * y, x, A).tolist() == [2, -8]


def test_saved_values_are_guarded() -> None:
    x = leaf()
    y = Exp.apply(x)
    y.detach().mul_(2)
    with pytest.raises(GradientError, match="Defined: memory of a value saved for the gradient was overwritten"):
        y.sum().backward()
    y = Exp.apply(x)
    y.sum().backward()
    with pytest.raises(GradientError, match="Defined: its saved values were freed"):
        y.sum().backward()


@pytest.mark.parametrize("layout", [None, pn.jagged, pn.strided])
def test_cotangents_and_tangents_are_read_only(layout: Any) -> None:
    x = pn.ones(2, 1) if layout is None else pn.nested_array(np.ones((2, 1)), layout=layout)
    leaf = x.detach().requires_grad_()
    for call in (
        lambda: grad(Writes.apply(leaf), leaf, x),
        lambda: grad(Writes.apply(leaf), leaf, x, create_graph=True),
        lambda: jvp(Writes.apply, x.detach(), x),
    ):
        with pytest.raises(GradientError, match="read-only, like a gradient"):
            call()
    assert pn.equal(x, pn.ones_like(x))


def broken(gradients: Any, **methods: Any) -> Any:
    return define(lambda context, x, n: x * n, lambda context, g: gradients, **methods)


@pytest.mark.parametrize(("gradients", "message"), [
    (A, "returned 1 gradients for 2 arguments. Return one for each"),
    ((A, A), "returned an Array for argument 1, a float. .* or None if it holds no array"),
    (((A, A), None), "returned a tuple for argument 0, an Array. Return a gradient of the same form"),
    ((pn.array([1.0]), None), r"gradient of shape \(1,\) and dtype float64 for an array of shape \(2,\)"),
    ((A.to(pn.float32), None), r"dtype float32 for an array of shape \(2,\) and dtype float64"),
    ((3.0, None), "returned a float for argument 0"),
    (([A], None), "returned a list for argument 0, an Array"),
])  # fmt: skip
def test_wrong_gradients_are_refused(gradients: Any, message: str) -> None:
    with pytest.raises(GradientError, match=f"Defined.backward.*{message}"):
        broken(gradients).apply(leaf(), 2.0).sum().backward()


def test_wrong_tangents_are_refused() -> None:
    pair = define(lambda c, a, n: (a, a), None, jvp=lambda c, *_: (A,))
    for function, message in (
        (pair, "Defined.jvp: a tuple of 1 does not have the form of a tuple of 2. Return one tangent for each output"),
        (broken(None, jvp=lambda context, *_: pn.array(1.0)), "Defined.jvp returned a tangent of shape"),
        (broken((A, None)), r"Defined has no jvp.*Define jvp\(context"),
        (broken(None, jvp=lambda context, *_: (A, A)), "Defined.jvp: tuple is neither .* one tangent for each output"),
        (broken(None, jvp=lambda context, *_: "text"), "Defined.jvp: str is neither an array nor"),
        (broken(None, jvp=lambda context, *_: A.to(pn.float32)), "Defined.jvp returned a tangent of shape .* float32"),
    ):
        with pytest.raises(GradientError, match=message):
            jvp(lambda x, function=function: function.apply(x, 2.0), (A,), (A,))


def test_forward_and_backward_must_be_defined() -> None:
    with pytest.raises(GradientError, match="define forward"):
        Function.apply(A)
    half = type("Half", (Function,), {"forward": staticmethod(lambda c, x: x * 2)})
    with pytest.raises(GradientError, match="define backward"):
        half.apply(pn.array(1.0, requires_grad=True)).backward()
