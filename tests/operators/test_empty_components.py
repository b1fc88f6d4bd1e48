"""Components without elements, in the midst of holes full of NaN: an operator sees no more of them than nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ShapeError

from ..nests import LAYOUTS, PLACEMENTS, assert_same, nest, place


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("layout", LAYOUTS, ids=repr)
@pytest.mark.parametrize(
    ("shape", "ragged", "new"),
    [
        ((0, 4, 1), 1, (-1, 4, 3)),
        ((0, 4, 1), 1, (-1, 7)),
        ((4, 0, 1), 2, (2, -1, 5)),
        ((4, 0), 2, (4, -1, 2)),
        ((0, 3), 1, (-1, 0)),
        ((0, 2, 0), 1, (-1, 9, 2)),
    ],
    ids=str,
)
def test_reshape(shape: tuple[int, ...], ragged: int, new: tuple[int, ...], layout: Any, placement: str) -> None:
    """Nothing fills every shape of no elements, wherever rows of nobody lie."""
    made = place([np.zeros(shape)] * 2, layout, placement, ragged, grad=True)
    if layout is pn.strided:
        new = tuple(shape[k] if size == -1 and k < len(shape) else size for k, size in enumerate(new))
    expected = [np.zeros([shape[k] if size == -1 else size for k, size in enumerate(new)])] * 2
    result = made.array.reshape(2, *new)
    assert_same(result, expected)
    assert result.layout is layout
    result.sum().backward()
    made.gradient()
    if ragged == 1 or layout is pn.strided:
        viewed = made.array.detach().view(2, *new)
        assert_same(viewed, expected)
        assert viewed.data.storage is made.array.data.storage
    with pytest.raises(ShapeError):
        nest([np.zeros(shape), np.ones([max(size, 1) for size in shape])], layout, placement, ragged).reshape(2, *new)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_rows_without_elements_stay_rows(layout: Any) -> None:
    x = place([np.zeros((0, n, 3)) for n in (2, 0, 1)], layout, "holes", 2).array
    for inner in ((0,), (1,), (4, 2), (3, 0)):
        for method in (x.reshape, x.view):
            assert_same(method(3, 0, -1, *inner), [np.zeros((0, n, *inner)) for n in (2, 0, 1)])


def test_slices_without_elements_are_reshaped() -> None:
    x = pn.nested_array_from_jagged(np.arange(16.0).reshape(4, 4, 1), [0, 2, 4])[:, :0]
    assert_same(x.reshape(2, -1, 2, 3), [np.zeros((0, 2, 3))] * 2)
    assert_same(x.contiguous().reshape(2, -1, 2, 3), [np.zeros((0, 2, 3))] * 2)


@pytest.mark.parametrize("count", [1, 8, 9, 20])
def test_many_without_a_last_size_in_a_small_buffer(count: int) -> None:
    for buffer in (np.zeros(0), np.zeros(1)):
        leaf = pn.array(buffer, requires_grad=True)
        x = pn.nested_array_from_strided(leaf, [[4, 0]] * count, [[1, 1]] * count, [0] * count)
        expected = [np.zeros((4, 0))] * count
        for result in (pn.exp(x), x + 1.0, x * x, x.contiguous(), pn.softmax(x, 2), x.clone(), pn.cat([x, x], 2), -x):
            assert_same(result, expected)
        assert_same(x.sum(2), [np.zeros(4)] * count)
        assert pn.to_padded_array(x, 1.0).shape == (count, 4, 0)
        (x * 2.0).sum().backward()
        assert leaf.grad.tolist() == np.zeros(buffer.shape).tolist()


@pytest.mark.parametrize("device", ["cpu", "plain", "emulated"])
@pytest.mark.parametrize("op", ["sum", "nansum", "mean", "nanmean", "var", "std", "logsumexp", "prod"])
def test_a_reduction_of_no_elements_is_a_constant_in_every_derivative(op: str, device: str) -> None:
    """What a second pass brings to its cotangent is 0, and so is how a tangent moves it."""

    def reduced(x: Any) -> Any:
        return getattr(pn, op)(x, -1)

    def ones(like: Any) -> Any:
        parts = [np.ones(one.shape) for one in like.detach().to("cpu")]
        found = pn.nested_array(parts, layout=like.layout) if isinstance(like, pn.NestedArray) else pn.array(parts)
        return found.to(device).requires_grad_()

    ragged, inner = [np.zeros(0), np.array([1.0, 3.0])], [np.zeros((1, 0)), np.zeros((2, 0))]
    given = [pn.nested_array(parts, layout=layout) for parts in (ragged, inner) for layout in LAYOUTS]
    for x in [one.to(device).requires_grad_() for one in (*given, pn.array(np.zeros((2, 0))))]:
        result = reduced(x)
        cotangent = ones(result)
        gradient = pn.grad(result, x, cotangent, create_graph=True)
        (gradient * gradient).sum().backward()
        moved = pn.jvp(reduced, (x.detach(),), (ones(x).detach(),))[1]
        assert result.requires_grad
        for one in (moved, cotangent.grad):
            first = one.to("cpu").detach()[0]
            assert not np.asarray(first).any(), (op, x)


@pytest.mark.parametrize("op", ["mean", "nanmean", "var", "std", "logsumexp"])
@pytest.mark.parametrize("dim", [None, 0, 1, -1])
def test_it_has_the_same_bits_where_it_is_tracked(op: str, dim: int | None) -> None:
    for parts in ([np.zeros((0, 3))] * 2, [np.zeros((0, 3)), np.ones((2, 3))], [np.zeros((2, 0)), np.zeros((1, 0))]):
        for layout in LAYOUTS:
            x = pn.nested_array([one.astype(np.float32) for one in parts], layout=layout)
            plain = getattr(pn, op)(x, dim)
            result = getattr(pn, op)(x.requires_grad_(), dim)
            pairs = [(plain, result)] if isinstance(plain, pn.Array) else zip(plain, result, strict=True)
            assert all(a.numpy().tobytes() == b.detach().numpy().tobytes() for a, b in pairs)
            gradient = pn.grad(result.sum(), x)
            assert [one.shape for one in gradient] == [one.shape for one in parts]
