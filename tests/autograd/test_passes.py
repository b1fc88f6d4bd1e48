"""backward and grad: seeds, accumulation, memory, graphs that are freed, hooks."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.autograd import Array, backward, grad, no_grad
from pynested.backends.errors import ArgumentError, GradientError


def leaf(*values: float) -> Array:
    return pn.array(np.array(values, float), requires_grad=True)


def memory(array: Array | None) -> Any:
    assert array is not None
    return array.data


# ---- seeds --------------------------------------------------------------------------------------------------------


def test_implicit_seeds() -> None:
    x = leaf(1, 2)
    (x * x).sum().backward()
    assert x.grad.tolist() == [2, 4]
    (x * x).sum().reshape(1, 1).backward()
    assert x.grad.tolist() == [4, 8]
    with pytest.raises(GradientError, match="implicitly only for an output of one element"):
        (x * x).backward()


def test_seeds_of_every_kind() -> None:
    x = leaf(1, 2)
    for seed in (pn.array([1.0, 3.0]), np.array([1.0, 3.0]), pn.array([1.0, 3.0], dtype=pn.float32)):
        x.grad = None
        (x * 2).backward(seed)
        assert x.grad.tolist() == [2, 6]
    x.grad = None
    x.sum().backward(5.0)
    assert x.grad.tolist() == [5, 5]
    x.grad = None
    backward([x.sum(), x * 2, pn.array(1.0)], [None, pn.array([1.0, 1.0]), None])
    assert x.grad.tolist() == [3, 3]
    x.grad = None
    backward({"a": x.sum(), "b": x * 2}, {"a": None, "b": pn.array([1.0, 0.0])})
    assert x.grad.tolist() == [3, 1]


def test_seeds_that_do_not_fit() -> None:
    x = leaf(1, 2)
    with pytest.raises(GradientError, match=r"shape \(1,\) was given for an output of shape \(2,\)"):
        (x * 2).backward(pn.array([1.0]))
    with pytest.raises(GradientError, match="must be floating point, not int64"):
        (x * 2).backward(pn.array([1, 2]))
    with pytest.raises(ArgumentError, match="does not have the form"):
        backward([x.sum(), x.sum()], [None])
    with pytest.raises(GradientError, match="no output requires grad"):
        pn.array(1.0).backward()
    with no_grad():
        hidden = x.sum()
    with pytest.raises(GradientError, match="no output requires grad"):
        hidden.backward()


# ---- accumulation and memory --------------------------------------------------------------------------------------


def test_accumulates_in_place() -> None:
    x = leaf(1, 2)
    (x * 3).sum().backward()
    first = x.grad
    (x * 4).sum().backward()
    assert x.grad is first
    assert x.grad.tolist() == [7, 7]


@pytest.mark.parametrize("retained", [False, True])
def test_a_sum_of_gradients_that_is_too_large_is_infinite_and_no_warning(retained: bool) -> None:
    x = leaf(1, 2)
    for _ in range(2):
        (x * 1.5e308).sum().backward(create_graph=retained)
    assert x.grad is not None and x.grad.tolist() == [np.inf, np.inf]


@pytest.mark.parametrize("create_graph", [False, True])
def test_gradients_never_share_memory(create_graph: bool) -> None:
    x, y = leaf(1, 2), leaf(3, 4)
    seed = pn.array([1.0, 1.0])
    z = (x + y).reshape(2)
    z.retain_grad()
    seen: list[Array] = []
    x.register_hook(lambda g: seen.append(g))
    z.backward(seed, create_graph=create_graph)
    arrays = [memory(a) for a in (x.grad, y.grad, z.grad, seed)]
    for i, one in enumerate(arrays):
        assert not any(np.shares_memory(one, other) for other in arrays[i + 1 :])
    assert not np.shares_memory(seen[0].data, x.grad.data)
    with no_grad():
        x.grad.zero_()
    assert y.grad.tolist() == z.grad.tolist() == seed.tolist() == [1, 1]


def test_results_of_grad_never_share_memory() -> None:
    x, y, seed = leaf(1, 2), leaf(3, 4), pn.array([1.0, 1.0])
    for create_graph in (False, True):
        a, b = grad(x + y, [x, y], seed, create_graph=create_graph)
        assert not np.shares_memory(a.data, b.data)
        assert not np.shares_memory(a.data, seed.data)


def test_broadcast_gradients_can_be_written() -> None:
    x = leaf(1, 2, 3)
    x.sum().backward()
    assert x.grad.is_contiguous()
    x.grad.mul_(2)
    assert x.grad.tolist() == [2, 2, 2]


def test_a_gradient_lies_as_its_array_does_or_is_contiguous() -> None:
    x, factors = pn.array(np.ones((2, 3)), requires_grad=True), pn.array(np.arange(6.0).reshape(3, 2))
    (x.T * factors).sum().backward()
    assert x.grad.is_contiguous()
    assert x.grad.tolist() == [[0, 2, 4], [1, 3, 5]]
    turned = x.T  # of which a gradient can be a view, unless somebody has its memory
    for seed in (None, pn.array(np.ones((2, 3)))):
        y = turned.T * 2
        (gradient,) = grad(y.sum() if seed is None else y, [turned], seed)
        assert gradient.tolist() == [[2, 2]] * 3
        assert gradient.data.strides == (8, 24)
        assert gradient.data.base is None or gradient.data.base.nbytes == 48
        gradient.mul_(2)
        assert x.tolist() == [[1, 1, 1]] * 2
    both = grad(turned.T, [turned, x], pn.array(np.ones((2, 3))))
    assert not np.shares_memory(both[0].data, both[1].data)
    part = x[:, 1:].T  # has holes
    assert grad((part.T * 3).sum(), [part])[0].is_contiguous()


def test_a_gradient_of_your_own_that_is_read_only() -> None:
    x = leaf(1, 2)
    x.grad = pn.array([1.0]).broadcast_to((2,))
    (x * 2).sum().backward()
    assert x.grad.tolist() == [3, 3]


def test_views_of_a_leaf_have_gradients_of_their_own() -> None:
    x = leaf(1, 2, 3)
    part = x[1:]
    part.retain_grad()
    (part * part).sum().backward()
    assert part.grad.tolist() == [4, 6]
    assert x.grad.tolist() == [0, 4, 6]


def test_the_grad_has_to_fit() -> None:
    x = leaf(1, 2)
    with pytest.raises(GradientError, match="does not fit"):
        x.grad = pn.array([1.0])
    with pytest.raises(GradientError, match="does not fit"):
        x.grad = pn.array([1.0, 2.0], dtype=pn.float32)


def test_mixed_dtypes_keep_each_leafs_own() -> None:
    leaves = [pn.array([2.0, 3.0], dtype=dtype, requires_grad=True) for dtype in ("float16", "float32", "float64")]
    y = leaves[0] * leaves[1] * leaves[2]
    assert y.dtype == np.float64
    y.sum().backward()
    assert [x.grad.dtype for x in leaves] == ["float16", "float32", "float64"]
    assert [x.grad.tolist() for x in leaves] == [[4, 9]] * 3


# ---- graphs -------------------------------------------------------------------------------------------------------


def test_a_second_pass_needs_the_graph() -> None:
    x = leaf(1, 2)
    y = (x * x).sum()
    y.backward()
    with pytest.raises(GradientError, match=r"mul: its saved values were freed.*retain_graph=True"):
        y.backward()
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [6, 12]


def test_a_graph_that_saved_nothing_can_be_read_again() -> None:
    x = leaf(1, 2)
    y = (x + x).sum()
    y.backward()
    y.backward()
    assert x.grad.tolist() == [4, 4]


def test_create_graph() -> None:
    x = leaf(2.0)
    (x * x * x).sum().backward(create_graph=True)
    assert x.grad.requires_grad
    slope = x.grad
    x.grad = None
    slope.sum().backward()
    assert x.grad.tolist() == [12]
    (first,) = grad((x * x).sum(), [x], create_graph=True)
    (second,) = grad((first * first).sum(), [x], create_graph=True)
    assert grad(second.sum(), x).tolist() == [8]


def test_accumulating_into_a_recorded_gradient_keeps_both() -> None:
    x = leaf(2.0)
    (x * x).sum().backward(create_graph=True)
    (x * x * x).sum().backward(create_graph=True)
    assert x.grad.tolist() == [16]
    assert grad(x.grad.sum(), x).tolist() == [14]


def test_grad_of_what_is_in_between_and_of_itself() -> None:
    x = leaf(1, 2)
    y = x * 3
    z = (y * y).sum()
    by_y, by_x = grad(z, [y, x])
    assert by_y.tolist() == [6, 12]
    assert by_x.tolist() == [18, 36]
    assert grad(y, y, pn.array([1.0, 2.0])).tolist() == [1, 2]
    assert x.grad is None


def test_grad_of_what_was_not_used() -> None:
    x, unused = leaf(1, 2), leaf(3)
    with pytest.raises(GradientError, match="input 1 was not used"):
        grad(x.sum(), [x, unused])
    assert grad(x.sum(), {"a": x, "b": unused}, allow_unused=True)["b"] is None
    with pytest.raises(GradientError, match="input 0 does not require grad"):
        grad(x.sum(), pn.array(1.0))


def test_only_the_lines_in_between_are_read() -> None:
    """Another branch, whose saved values are gone, is not needed."""
    x, y = leaf(1, 2), leaf(3, 4)
    branch = (y * y).sum()
    branch.backward(retain_graph=False)
    assert grad((x * x).sum() + branch, x).tolist() == [2, 4]


def test_a_saved_value_that_was_overwritten() -> None:
    x, factor = leaf(1, 2), pn.array([3.0, 4.0])
    y = (x * factor).sum()
    factor[0].fill_(9.0)
    with pytest.raises(GradientError, match="mul: a value saved for the gradient was overwritten in place"):
        y.backward()


@pytest.mark.parametrize("kind", ["condition", "indices", "targets"])
def test_other_arguments_may_be_overwritten(kind: str) -> None:
    """What a line keeps of them is its own."""
    x = pn.array([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    given = pn.array([[True, False], [False, True]]) if kind == "condition" else pn.array([1, 0])
    uses = {
        "condition": lambda: pn.where(given, x, 0.0),
        "indices": lambda: pn.embedding(given, x) * pn.array([[1.0], [2.0]]),
        "targets": lambda: pn.cross_entropy(x, given),
    }
    expected = grad(uses[kind]().sum(), x)
    y = uses[kind]().sum()
    given.zero_()
    np.testing.assert_array_equal(grad(y, x).numpy(), expected.numpy())


@pytest.mark.parametrize("dtype", [pn.float32, pn.float64])
def test_large_arrays_are_pulled_in_blocks(dtype: Any) -> None:
    generator = np.random.default_rng(0)
    a, b, g = (generator.uniform(0.5, 2, 600_001).astype(dtype) for _ in range(3))
    x, y, seed = pn.array(a, requires_grad=True), pn.array(b, requires_grad=True), pn.array(g)
    cases = (
        (x * y, (g * b, g * a)),
        (x / y, (g / b, -g * a / b**2)),
        (pn.tanh(x) + y.exp(), (g * (1 - np.tanh(a) ** 2), g * np.exp(b))),
        (x.sin() - y.log(), (g * np.cos(a), -g / b)),
    )
    for output, expected in cases:
        for slope, right in zip(pn.grad(output, (x, y), seed), expected, strict=True):
            np.testing.assert_allclose(slope.numpy(), right, rtol=5e-6 if dtype == pn.float32 else 1e-14)


def test_large_cotangents_meet_as_small_ones_do() -> None:
    """What comes from several uses is added on all threads; each addend stays what it was, and nobody is warned."""
    x = pn.array(np.ones((3000, 100)), requires_grad=True)
    first, second = pn.array(np.full((3000, 100), np.inf)), pn.array(np.full((3000, 100), 3.0))
    (found,) = pn.grad(x * second + x * 4 + x * second, [x], pn.ones_like(x.detach()))
    assert (found.numpy() == 10).all() and (second.numpy() == 3).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (found,) = pn.grad(x * first - x * first, [x], pn.ones_like(x.detach()))
    assert np.isnan(found.numpy()).all()


def test_accumulation_into_a_gradient_that_was_saved_is_noticed() -> None:
    x, w = pn.array([1.0, 2.0], requires_grad=True), pn.array(3.0, requires_grad=True)
    (x * x).sum().backward()
    y = (w * x.grad).sum()
    (x * x).sum().backward()
    with pytest.raises(GradientError, match="overwritten in place"):
        pn.grad(y, w)
