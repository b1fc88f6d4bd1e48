"""`NestedArray`: its parts, its text, the protocols of Python and NumPy, its gradient, cotangents and tangents."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.autograd import flatten
from pynested.backends.errors import ArgumentError, DTypeError, GradientError, StructureError

from ..nests import LAYOUTS, assert_same, batch, everywhere, nest, place

NAN = float("nan")
X = batch([(2, 2), (0, 2), (3, 2)])


def test_strides_and_offsets_by_dimension() -> None:
    x, gaps, strided = nest(X), nest(X, pn.jagged, "holes"), nest(X, pn.strided)
    assert (x.layout, strided.layout, x.is_nested) == (pn.jagged, pn.strided, True)
    assert gaps.offsets().tolist()[:3] == gaps.component_offsets().tolist() == [7, 6, 2]
    assert x.size(1) == x.shape[1] and x.size() == x.shape
    assert (x.stride(), x.stride(1), x.stride(2)) == ((2, 1), 2, 1)
    assert strided.component_strides().tolist() == strided.stride().tolist() == [[2, 1]] * 3
    assert strided.stride(2).tolist() == [1, 1, 1] and strided.stride(0).tolist() == [0, 4, 4]
    with pytest.raises(StructureError):
        x.stride(0)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_sizes_by_component_and_by_dimension(layout: Any) -> None:
    """Components and dimensions are counted from either end, and an integer outside is refused by name."""
    for x, regular in ((nest(X, layout), (3, None, 2)), (nest(X, layout)[:0], (0, None, 2))):
        lengths, shapes = [part.shape for part in X][: len(x)], [x.component_shape(i) for i in range(len(x))]
        assert shapes == lengths and shapes == [x.component_shape(i - len(x)) for i in range(len(x))]
        for dim in (0, 1, 2):
            assert x.regular_size(dim) == x.regular_size(dim - 3) == regular[dim]
        for dim in (1, 2):
            sizes = [shape[dim - 1] for shape in lengths]
            assert x.lengths_along(dim).tolist() == x.lengths_along(dim - 3).tolist() == sizes
        calls: list[tuple[Any, list[Any]]] = [
            (x.component_shape, [len(x), -len(x) - 1]), (x.regular_size, [3, -4]), (x.lengths_along, [3, -4, 0, -3]),
        ]  # fmt: skip
        for call, wrong in calls:
            for value in wrong:
                with pytest.raises(IndexError, match=rf"^{call.__name__}: "):
                    call(value)
            for value in ("a", 1.0, True, None):
                with pytest.raises(ArgumentError, match=rf"^{call.__name__}: .* must be an integer"):
                    call(value)


def test_text() -> None:
    text = repr(pn.nested_array([[1, 2], [3]]))
    assert text.startswith("nested_array([\n  array([1, 2]),\n  array([3]),\n], shape=(2, j")
    assert "array([], shape=(0, 2))" in repr(nest(X)) and "layout=pn.jagged" in repr(nest(X))
    assert "array([])," in repr(pn.nested_array([[1.0], []]))
    assert repr(pn.nested_array([])) == "nested_array([], shape=(0,))"
    x = nest(X, pn.strided).requires_grad_()
    assert repr(x).endswith("requires_grad=True)") and repr(x * x).endswith("made by mul)")
    elided = repr(nest([np.arange(20)] * 100))
    assert "94 more components" in elided and elided.count("\n") < 15
    assert "4994 more components" in repr(pn.nested_array([[]] * 5000))


def test_protocols(layout: Any) -> None:
    x = nest(X, layout, "holes")
    assert_same(list(x), X)
    assert {x: 1}[x] == 1 and (x == "a") is False
    with pytest.raises(ArgumentError):
        bool(x)
    with pytest.raises(StructureError):
        np.asarray(x)
    equal = batch([(2, 2)] * 2)
    assert np.array_equal(np.asarray(nest(equal, layout, "transposed")), np.stack(equal))


def test_a_shallow_copy_has_the_memory_and_the_history_of_its_array_and_a_gradient_of_its_own(layout: Any) -> None:
    x = nest(X, layout)
    leaf = copy.copy(x).requires_grad_()
    assert leaf.requires_grad and not x.requires_grad
    copy.copy(leaf * 2).sum().backward()
    assert x.grad is None
    assert_same(leaf.grad, [np.full(component.shape, 2.0) for component in X])
    x[0] = X[0] + 1
    assert_same(leaf.detach()[0], X[0] + 1)


def view(layout: Any, values: list[float], offsets: list[int], length: int) -> Any:
    """Return components of one length that begin at these offsets of a buffer; the last one ends with the buffer."""
    if layout is pn.jagged:
        return pn.nested_array_from_jagged(pn.array(values), [*offsets, len(values)], [length] * len(offsets))
    return pn.nested_array_from_strided(pn.array(values), [[length]] * len(offsets), None, offsets)


def test_operands_of_equal_shapes_lie_in_different_places(layout: Any) -> None:
    """Their buffers have one size, so that the places alone tell that elements do not belong together."""
    x, y = (view(layout, [1.0, 2.0, 10.0, 20.0], offsets, 2) for offsets in ([0, 2], [2, 0]))
    assert (x - y).tolist() == [[-9.0, -18.0], [9.0, 18.0]]
    assert y.copy_(x).tolist() == [[1.0, 2.0], [10.0, 20.0]]


def test_grad_is_nested_and_lies_where_the_array_does(layout: Any) -> None:
    x = nest(X, layout, "holes").detach().requires_grad_()
    for number in (2, 4):
        (x * x).sum().backward()
        assert_same(x.grad, [number * component for component in X])
        assert x.grad.structure is x.structure
    x.grad = None
    assert x.grad is None


def test_gradients_that_do_not_fit(layout: Any) -> None:
    x = nest(X, layout).requires_grad_()
    with pytest.raises(GradientError, match="ones_like"):
        (x * 2).backward()
    with pytest.raises(GradientError, match="nested"):
        (x * 2).backward(pn.array(1.0))
    for call in ((x * 2).backward, lambda grad: setattr(x, "grad", grad)):
        with pytest.raises(StructureError, match="component 2"):
            call(nest([X[0], X[1], X[2][:1]]))
    with pytest.raises(DTypeError):
        nest([np.array([1, 2])], layout).requires_grad_()


def test_cotangents_and_tangents_have_any_layout_and_placement(layout: Any, placement: str) -> None:
    for vector in everywhere([x + 1 for x in X]):
        made = place(X, layout, placement, grad=True)
        for output in ((made.array[::-1] * 1.0)[::-1], made.array):
            output.backward(vector)
            assert_same(made.gradient(), [x + 1 for x in X])
            made.buffer.grad = None
        x = made.array.detach()
        expected = [2 * x + 2 for x in X]
        assert_same(pn.vjp(lambda x: x * 2.0, x)[1](vector), expected)
        assert_same(pn.jvp(lambda x: x * 2.0, (x,), (vector,))[1], expected)
        leaf = x.requires_grad_()
        assert_same(pn.grad([leaf * 2.0], [leaf], [vector])[0], expected)


def test_a_tangent_of_a_shared_element_counts_once_and_its_cotangents_add_up(layout: Any) -> None:
    """The gradient of f = a a + b b + b b + c c at (1, 2, 3) is (2, 8, 6)."""
    x, v = (view(layout, values, [0, 1], 2) for values in ([1.0, 2.0, 3.0], [10.0, 20.0, 30.0]))
    assert pn.jvp(lambda x: (x * x).sum(), x, v)[1].item() == 2 * 10 + 8 * 20 + 6 * 30
    y, pull = pn.vjp(lambda x: x * x, x)
    assert pull(pn.ones_like(y)).data.tolist() == [2, 8, 6]
    assert pn.hvp(lambda x: (x * x).sum(), x, v)[1].data.tolist() == [20, 80, 60]
    assert pn.gradcheck(lambda x: (x * x).sum(1), x)


def test_a_tangent_of_shared_elements_lies_as_the_primal_does(layout: Any) -> None:
    x = view(layout, [1.0, 2.0, 3.0], [0, 1], 2)
    for tangent, error, text in (
        (pn.ones_like(x), StructureError, "jvp: components of the array overlap"),
        (pn.nested_array([[1.0, 1.0], [1.0, 1.0]]), StructureError, "jvp: components of the array overlap"),
        (pn.ones(3), GradientError, "jvp: the gradient of a nested array must be nested"),
        (pn.nested_array([[1.0], [1.0]]), StructureError, "jvp"),
    ):
        with pytest.raises(error, match=text):
            pn.jvp(lambda x: x.sum(1), x, tangent)


def test_a_gradient_that_comes_back_as_it_was_counts_shared_elements_once(layout: Any) -> None:
    """The gradient of f = a + b + b + c is (1, 2, 1), by a hook that returns it, by assignment, and in a step."""
    hooks: list[Callable[[Any], Any]] = [lambda g: g, lambda g: g.detach(), lambda g: None]
    for hook in hooks:
        x = view(layout, [1.0, 2.0, 3.0], [0, 1], 2).requires_grad_()
        x.register_hook(hook)
        x.sum().backward()
        assert x.grad.data.tolist() == [1, 2, 1]
        x.grad = x.grad
        assert x.grad.data.tolist() == [1, 2, 1]
    stepped, _ = pn.training.sgd(x, x.grad, learning_rate=0.5)
    assert stepped.data.tolist() == [0.5, 1.0, 2.5]
    assert pn.training.clip_by_norm(x.grad, 100.0)[1] == pytest.approx(6**0.5)
    other_places = pn.nested_array([[1.0, 1.0], [1.0, 1.0]])
    for call in (lambda: setattr(x, "grad", other_places), lambda: pn.training.sgd(x, other_places, learning_rate=1.0)):
        with pytest.raises(StructureError, match="components of the array overlap"):
            call()


def test_gaps_of_tangents_and_cotangents_take_no_part(layout: Any) -> None:
    x, v = (view(layout, values, [0, 2], 1) for values in ([1.0, NAN, 3.0], [10.0, NAN, 30.0]))
    for tangent in (v, pn.nested_array([[10.0], [30.0]])):
        assert pn.jvp(lambda x: x.values() * 2, x, tangent)[1].tolist() == [20, 0, 60]
    assert pn.vjp(lambda x: x, x)[1](v).data.tolist() == [10, 0, 30]
    assert pn.gradcheck(lambda x, y: x * x * y, x, pn.array([2.0]))
    with_overlap = (view(layout, values, [1, 2], 2) for values in ([NAN, 1.0, 2.0, 3.0], [NAN, 10.0, 20.0, 30.0]))
    assert pn.jvp(lambda x: x.values() * 2, *with_overlap)[1].tolist() == [0, 20, 40, 60]


# The tangent of a dense operand that is added to all components is a view of one number.
FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "a component": lambda x, b: (x + b)[0],
    "all components": lambda x, b: list((x + b).unbind()),
    "mapped components": lambda x, b: pn.map_components(lambda c: c * 1.0, x + b),
    "in a checkpoint": lambda x, b: pn.checkpoint(lambda b: (x + b)[1] * 1.0, b),
    "transposed": lambda x, b: (x.unsqueeze(1) + b).transpose(1, 2)[0],
    "a slice": lambda x, b: (x + b)[:, :1],
    "in the other layout": lambda x, b: (x + b).to(layout=pn.jagged if x.layout is pn.strided else pn.strided)[1],
}


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_the_tangent_of_a_number_that_all_components_share(layout: Any, function: Any, device: str) -> None:
    """Every result is b plus a constant, so each element has the tangent of b."""
    x = pn.nested_array([[1.0, 2.0], [3.0]], layout=layout, device=device)
    b, v = pn.array(1.0, device=device), pn.array(5.0, device=device)
    tangents = flatten(pn.jvp(lambda b: function(x, b), (b,), (v,))[1])[0]
    elements = np.concatenate([np.ravel(tangent.tolist()) for tangent in tangents])
    assert elements.size and (elements == 5.0).all()
    if device == "cpu":
        assert pn.gradcheck(lambda b: function(x, b), b)
