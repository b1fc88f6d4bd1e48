"""Nested arrays from lists, and from arrays with history: what is refused, and what is copied."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError, DeviceError, DTypeError, LayoutError, StructureError

from ..nests import LAYOUTS, PLACEMENTS, assert_same, batch, distinct, nest

X = batch([(2, 2), (0, 2), (3, 2)])
BOTH = batch([(2, 1), (0, 3)])


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda one: one.name)
class TestNestedArray:
    def test_components_are_copied(self, layout: Any) -> None:
        given = [x.copy() for x in X]
        result = pn.nested_array(given, layout=layout)
        for x in given:
            x[:] = 9
        assert_same(result, X)
        assert (result.layout, result.ndim, len(result), result.requires_grad) == (layout, 3, 3, False)

    def test_lists_and_numbers_stand_for_arrays(self, layout: Any) -> None:
        result = pn.nested_array([[1, 2], (3,), range(2), pn.array([5])], layout=layout)
        assert_same(result, [np.array([1, 2]), np.array([3]), np.array([0, 1]), np.array([5])])
        assert_same(pn.nested_array(np.arange(6).reshape(3, 2), layout=layout), list(np.arange(6).reshape(3, 2)))
        assert_same(pn.nested_array((x for x in X), layout=layout), X)

    def test_the_ragged_dimension_is_the_irregular_one(self, layout: Any) -> None:
        assert_same(pn.nested_array([x.T for x in X], layout=layout), [x.T for x in X])
        if layout is pn.jagged:
            assert pn.nested_array([x.T for x in X], layout=layout).structure.ragged_dim == 2
            assert pn.nested_array([X[0], X[0]], layout=layout).structure.ragged_dim == 1

    def test_memory_of_any_order(self, layout: Any) -> None:
        given = [np.asfortranarray(X[0]), X[1][::-1], X[2][::-1], np.broadcast_to(X[0][:1], (4, 2))]
        assert_same(pn.nested_array(given, layout=layout), given)

    def test_dtype(self, layout: Any) -> None:
        for kind in (np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.float16, np.float32, np.float64):
            assert pn.nested_array([np.ones(2, kind), np.ones(1, kind)], layout=layout).dtype == kind
            assert pn.nested_array([np.ones(2), np.ones(1)], dtype=np.float32, layout=layout).dtype == np.float32
        mixed = pn.nested_array([np.ones(2), np.ones(1, np.int8)], layout=layout)
        assert_same(mixed, [np.ones(2), np.ones(1)])
        for first, second in (
            (np.int64, np.float64),
            (np.int32, np.int64),
            (np.bool_, np.int8),
            (np.float32, np.float64),
        ):
            with pytest.raises(DTypeError, match=rf"array 1 .*{np.dtype(second).name}.*{np.dtype(first).name}"):
                pn.nested_array([np.ones(2, first), np.ones(1, second)], layout=layout)
        for kind in (np.complex128, np.uint64, np.dtype("U3"), object, np.dtype("M8[s]")):
            with pytest.raises(DTypeError):
                pn.nested_array(
                    [np.ones(2).astype(kind) if kind != np.dtype("M8[s]") else np.zeros(2, kind)], layout=layout
                )
            with pytest.raises(DTypeError):
                pn.nested_array([np.ones(2)], dtype=kind, layout=layout)

    def test_different_ranks(self, layout: Any) -> None:
        with pytest.raises(StructureError, match="Found dimension 1 for the array at index 1 and dimension 2"):
            pn.nested_array([X[0], np.ones(2)], layout=layout)
        with pytest.raises(StructureError, match="nested"):
            pn.nested_array([X[0], nest(X)], layout=layout)

    def test_empty_components(self, layout: Any) -> None:
        for components in ([X[1]] * 2, [np.zeros((2, 0)), np.zeros((1, 0))], [np.zeros(0)]):
            assert_same(pn.nested_array(components, layout=layout), components)

    def test_no_sequence_of_arrays(self, layout: Any) -> None:
        for wrong in (1, None, "ab", {"a": 1}, np.float64(2), nest(X)):
            with pytest.raises(ArgumentError):
                pn.nested_array(wrong, layout=layout)
        with pytest.raises((ArgumentError, StructureError)):
            pn.nested_array([[[1, 2], [3]]], layout=layout)

    def test_options(self, layout: Any) -> None:
        assert pn.nested_array(X, layout=layout, requires_grad=True).is_leaf
        assert pn.nested_array(X, layout=layout, requires_grad=True).requires_grad
        with pytest.raises(DTypeError):
            pn.nested_array([np.ones(2, np.int64)], layout=layout, requires_grad=True)
        with pytest.raises(DeviceError):
            pn.nested_array(X, layout=layout, device="tpu")
        with pytest.raises(LayoutError):
            pn.nested_array(X, layout="jagged")  # type: ignore[arg-type]

    def test_history_is_left_behind_or_kept(self, layout: Any) -> None:
        leaves = [pn.array(x, requires_grad=True) for x in X]
        assert not pn.nested_array(leaves, layout=layout).requires_grad
        kept = pn.as_nested_array(leaves, layout=layout)
        kept.backward(nest([x + 1 for x in X], layout))
        for leaf, x in zip(leaves, X, strict=True):
            assert leaf.grad.tolist() == (x + 1).tolist()


def test_nothing_and_numbers() -> None:
    empty = pn.nested_array([])
    assert (len(empty), empty.ndim, empty.dtype, empty.layout) == (0, 1, np.float64, pn.strided)
    assert_same(pn.nested_array([1.0, 2.0]), [np.float64(1), np.float64(2)])
    for function in (pn.nested_array, pn.as_nested_array):
        for nothing in ([], [1.0, 2.0]):
            with pytest.raises(StructureError):
                function(nothing, layout=pn.jagged)


def test_two_irregular_dimensions_are_strided() -> None:
    assert_same(pn.nested_array(BOTH), BOTH)
    for function in (pn.nested_array, pn.as_nested_array):
        with pytest.raises(LayoutError, match="1 and 2"):
            function(BOTH, layout=pn.jagged)


class TestAsNestedArray:
    def test_a_dense_array_gives_its_slices(self) -> None:
        for layout in LAYOUTS:
            dense = pn.array(distinct((3, 2, 2)), requires_grad=True)
            result = pn.as_nested_array(dense, layout=layout)
            assert_same(result, list(distinct((3, 2, 2))))
            assert result.layout is layout
            result.backward(result.detach())
            assert dense.grad.tolist() == dense.tolist()
        for wrong in (pn.array(1.0), np.ones(3)):
            with pytest.raises(StructureError):
                pn.as_nested_array(wrong)

    @pytest.mark.parametrize("layout", LAYOUTS, ids=repr)
    @pytest.mark.parametrize(
        "view",
        [
            lambda x: x[:, :, :1], lambda x: x[:, :1, :], lambda x: x[:, :1, :1], lambda x: x[::2], lambda x: x[::-1],
            lambda x: x[:, ::-1], lambda x: x[..., ::-2], lambda x: x.transpose(2, 0, 1), lambda x: x[:1, ::2],
        ],
        ids=range(9),
    )  # fmt: skip
    def test_memory_that_is_not_in_order(self, view: Any, layout: Any) -> None:
        expected = view(distinct((4, 3, 2)))
        given = pn.array(np.zeros((4, 3, 2)), requires_grad=True)
        whole = pn.array(distinct((4, 3, 2)), requires_grad=True)
        shown = whole.permute((2, 0, 1)) if expected.shape == (2, 4, 3) else view(whole)
        for x in (pn.as_nested_array(expected, layout=layout), pn.as_nested_array(shown, layout=layout)):
            assert_same(x, list(expected))
            assert_same(x + 1.0, list(expected + 1))
            assert x[0].tolist() == expected[0].tolist() and repr(x)
        (x * x).sum().backward()
        counted = view(np.arange(24.0).reshape(4, 3, 2)).astype(int).ravel()
        wanted = np.zeros(24)
        wanted[counted] = 2 * distinct((4, 3, 2)).ravel()[counted]
        assert whole.grad.numpy().ravel().tolist() == wanted.tolist() and given.grad is None

    def test_parts_of_memory_that_is_not_in_order(self) -> None:
        thin = distinct((4, 3, 2))[:, :, :1]
        assert_same(pn.narrow(thin, 0, 1, 2), list(thin[1:3]))
        for layout in LAYOUTS:
            assert_same(pn.narrow(thin, 1, [0, 1, 2, 3], [3, 1, 1, 0], layout), [
                thin[0], thin[1, 1:2], thin[2, 2:], thin[3, 3:],
            ])  # fmt: skip

    def test_a_nested_array_keeps_its_components(self) -> None:
        for a in LAYOUTS:
            for placement in PLACEMENTS:
                x = nest(X, a, placement)
                assert_same(pn.as_nested_array(x), X)
                assert pn.as_nested_array(x).layout is a
                for b in LAYOUTS:
                    assert_same(pn.as_nested_array(x, layout=b), X)
                    assert pn.as_nested_array(x, layout=b).layout is b
                    single = pn.as_nested_array(x, np.float32, layout=b)
                    assert single.dtype == np.float32
                    assert_same(single, [one.astype(np.float32) for one in X])


LIKE: dict[str, Callable[[Any], Any]] = {
    "empty_like": pn.empty_like,
    "zeros_like": pn.zeros_like,
    "ones_like": pn.ones_like,
    "full_like": lambda x: pn.full_like(x, 7),
    "rand_like": pn.rand_like,
    "randn_like": pn.randn_like,
    "randint_like": lambda x: pn.randint_like(x, 5),
}


@pytest.mark.shows("LIKE-9")
@pytest.mark.parametrize("name", LIKE)
def test_a_result_lies_on_the_device_of_what_it_is_like(name: str) -> None:
    for layout in (pn.jagged, pn.strided):
        for device in ("cpu", "plain"):
            x = pn.nested_array([np.ones((2, 3)), np.ones((0, 3))], layout=layout, device=device)
            assert (x.device, LIKE[name](x).device, LIKE[name](x.values()).device) == (device,) * 3
