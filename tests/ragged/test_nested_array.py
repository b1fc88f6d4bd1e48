"""`NestedArray` itself: its parts, its gradient, writes in place, text, and what Python and NumPy ask of it."""

from __future__ import annotations

import copy
import pickle
import re
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import (
    ArgumentError,
    DimensionError,
    DTypeError,
    GradientError,
    LayoutError,
    ShapeError,
    StructureError,
)

from ..nests import LAYOUTS, PLACEMENTS, assert_same, batch, distinct, everywhere, nest, place

X = batch([(2, 2), (0, 2), (3, 2)])


@pytest.fixture(params=LAYOUTS, ids=lambda layout: layout.name)
def layout(request: pytest.FixtureRequest) -> Any:
    return request.param


class TestParts:
    def test_jagged(self) -> None:
        x = nest(X)
        assert (x.offsets().tolist(), x.lengths(), x.layout, x.is_nested) == ([0, 2, 2, 5], None, pn.jagged, True)
        assert x.values().shape == (5, 2) and x.is_contiguous()
        holes = nest(X, pn.jagged, "holes")
        assert holes.lengths().tolist() == [2, 0, 3] and not holes.is_contiguous()
        assert holes.offsets().tolist()[:3] == holes.component_offsets().tolist() == [7, 6, 2]
        assert x.size(2) == x.size(-1) == 2 and repr(x.size(1)) == repr(x.shape[1]) and x.size() == x.shape
        assert (x.stride(), x.stride(1), x.stride(2)) == ((2, 1), 2, 1)
        with pytest.raises(StructureError, match="offsets"):
            x.stride(0)
        with pytest.raises(LayoutError):
            x.component_strides()
        with pytest.raises(DimensionError):
            x.size(3)

    def test_strided(self) -> None:
        x = nest(X, pn.strided)
        assert (x.offsets().tolist(), x.values().shape, x.layout) == ([0, 4, 4], (10,), pn.strided)
        assert x.component_strides().tolist() == x.stride().tolist() == [[2, 1]] * 3
        assert x.stride(2).tolist() == [1, 1, 1] and x.stride(0).tolist() == [0, 4, 4]
        with pytest.raises(LayoutError, match="jagged"):
            x.lengths()
        with pytest.raises(StructureError, match="dimension 1 is irregular"):
            x.size(1)
        assert x.is_contiguous() and not nest(X, pn.strided, "transposed").is_contiguous()

    def test_metadata_cannot_be_written(self, layout: Any) -> None:
        x = nest(X, layout, "holes")
        for numbers in (x.component_sizes(), x.component_offsets(), x.offsets().numpy()):
            with pytest.raises(ValueError, match="read-only"):
                numbers[0] = 99


class TestGradients:
    def test_grad_is_nested_and_lies_where_the_array_does(self, layout: Any) -> None:
        for placement in PLACEMENTS:
            x = nest(X, layout, placement).detach().requires_grad_()
            assert x.grad is None and x.is_leaf
            (x * x).sum().backward()
            assert_same(x.grad, [2 * one for one in X])
            assert x.grad.structure is x.structure
            (x * x).sum().backward()
            assert_same(x.grad, [4 * one for one in X])
            x.grad = None
            assert x.grad is None

    def test_cotangents_may_lie_anywhere(self, layout: Any) -> None:
        for given in everywhere([x + 1 for x in X]):
            for placement in PLACEMENTS:
                made = place(X, layout, placement, grad=True)
                (made.array[::-1] * 1.0)[::-1].backward(given)
                assert_same(made.gradient(), [x + 1 for x in X])
                made.buffer.grad = None
                made.array.backward(given)
                assert_same(made.gradient(), [x + 1 for x in X])
                _, pull = pn.vjp(lambda x: x * 2.0, made.array.detach())
                assert_same(pull(given), [2 * x + 2 for x in X])
                _, pushed = pn.jvp(lambda x: x * 2.0, (made.array.detach(),), (given,))
                assert_same(pushed, [2 * x + 2 for x in X])
                x = made.array.detach().requires_grad_()
                (found,) = pn.grad([x * 3.0], [x], [given])
                assert_same(found, [3 * x + 3 for x in X])

    def test_what_does_not_fit(self, layout: Any) -> None:
        x = nest(X, layout).requires_grad_()
        with pytest.raises(GradientError, match="ones_like"):
            (x * 2).backward()
        with pytest.raises(GradientError, match="nested"):
            (x * 2).backward(pn.array(1.0))
        with pytest.raises(StructureError, match="component 2"):
            (x * 2).backward(nest([X[0], X[1], X[2][:1]]))
        with pytest.raises(StructureError, match="component 2"):
            x.grad = nest([X[0], X[1], X[2][:1]])
        with pytest.raises(DTypeError):
            nest([np.array([1, 2])], layout).requires_grad_()

    def test_hooks_and_retained_gradients(self, layout: Any) -> None:
        x = nest(X, layout, "holes").detach().requires_grad_()
        y = x * 3.0
        y.retain_grad()
        seen = []
        remove = y.register_hook(lambda g: seen.append(g) or nest([2 * np.ones(one.shape) for one in X]))
        y.sum().backward(retain_graph=True)
        assert_same(seen[0], [np.ones(one.shape) for one in X])
        assert_same(x.grad, [np.full(one.shape, 6.0) for one in X])
        remove()
        y.sum().backward()
        assert len(seen) == 1
        assert_same(y.grad, [np.full(one.shape, 3.0) for one in X])


class TestWrites:
    def test_they_go_to_the_shared_memory(self, layout: Any) -> None:
        for placement in PLACEMENTS:
            made = place(X, layout, placement)
            x = made.array
            before = x.data.storage.version
            assert x.mul_(2) is x
            x.add_(nest([np.ones(one.shape) for one in X]))
            x -= distinct((2,))
            x /= 4.0
            assert x.data.storage.version == before + 4
            assert_same(x, [(2 * one + 1 - distinct((2,))) / 4 for one in X])
            assert_same(made.components_of(made.buffer.numpy()), plain := [one.numpy() for one in x.unbind()])
            x.neg_()
            x.abs_()
            x.masked_fill_(x > 1, 0.0)
            assert_same(x, [np.where(np.abs(one) > 1, 0, np.abs(one)) for one in plain])
            holes = made.holes_of(made.buffer.numpy())
            assert np.isnan(holes).all()

    def test_copy_fill_zero_and_assignment(self, layout: Any) -> None:
        for placement in PLACEMENTS:
            for source in everywhere(X):
                x = nest([np.zeros(one.shape) for one in X], layout, placement)
                assert_same(x.copy_(source), X)
            assert_same(x.fill_(3), [np.full(one.shape, 3.0) for one in X])
            assert_same(x.zero_(), [np.zeros(one.shape) for one in X])
            x[:] = distinct((3, 1, 2))
            assert_same(x, [np.broadcast_to(d, one.shape) for d, one in zip(distinct((3, 1, 2)), X, strict=True)])

    def test_a_component_shares_the_memory(self, layout: Any) -> None:
        x = nest(X, layout)
        x.unbind()[0].mul_(3)
        assert_same(x, [3 * X[0], *X[1:]])

    def test_memory_that_overlaps_the_source(self, layout: Any) -> None:
        x = pn.nested_array([[1.0], [2.0], [3.0], [4.0]], layout=layout)
        x[1::2].copy_(x[0:2])
        assert_same(x, [np.array([n]) for n in (1.0, 1.0, 3.0, 2.0)])

    def test_refused_while_gradients_are_wanted(self, layout: Any) -> None:
        leaf = nest(X, layout).detach().requires_grad_()
        recorded = leaf * 2.0
        plain = nest(X, layout)
        for x, other in ((leaf, 1.0), (recorded, 1.0), (leaf[1:], 1.0), (leaf.transpose(1, 2), 1.0), (plain, leaf)):
            with pytest.raises(GradientError, match=re.escape("x = x.mul(...)")):
                x.mul_(other)
        with pytest.raises(GradientError):
            leaf.unbind()[0].fill_(1.0)
        with pytest.raises(GradientError):
            leaf[0] = 1.0
        with pn.no_grad():
            leaf.mul_(2.0)
        assert_same(leaf.detach(), [2 * one for one in X])

    def test_a_write_after_use_is_noticed(self, layout: Any) -> None:
        x = nest(X, layout)
        y = nest(X, layout).detach().requires_grad_()
        product = (x * y).sum()
        x.zero_()
        with pytest.raises(GradientError, match="overwritten"):
            product.backward()

    def test_refused_where_components_overlap(self) -> None:
        values = pn.arange(6, dtype=pn.float64)
        for x in (
            pn.nested_array_from_jagged(values, [0, 1, 6], [3, 2]),
            pn.nested_array_from_strided(values, [[3], [2]], [[1], [1]], [0, 1]),
            pn.nested_array_from_strided(values, [[3]], [[0]], [0]),
        ):
            with pytest.raises(StructureError, match="overlap"):
                x.mul_(2)

    def test_refused_values(self, layout: Any) -> None:
        ints = pn.nested_array([np.array([1, 2], np.int8), np.array([3], np.int8)], layout=layout)
        for wrong in (0.5, np.nan):
            with pytest.raises(DTypeError):
                ints.fill_(wrong)
        with pytest.raises(DTypeError):
            ints.div_(2)
        for call in (lambda: ints.fill_(300), lambda: ints.add_(300)):
            with pytest.raises(OverflowError):
                call()
        thin = nest([x[:, :1] for x in X], layout)
        with pytest.raises((StructureError, ShapeError)):
            thin.add_(nest(X, layout))
        with pytest.raises(StructureError, match="component 2"):
            nest(X, layout).copy_(nest([X[0], X[1], X[2][:1]]))
        frozen = np.zeros((5, 2))
        frozen.setflags(write=False)
        with pytest.raises(GradientError, match="read-only"):
            pn.nested_array_from_jagged(frozen, [0, 5]).fill_(1.0)


class TestText:
    def test_components_on_lines(self) -> None:
        assert repr(pn.nested_array([[1, 2], [3]])).startswith(
            "nested_array([\n  array([1, 2]),\n  array([3]),\n], shape=(2, j"
        )
        text = repr(nest(X))
        assert "array([], shape=(0, 2))" in text and "layout=pn.jagged" in text
        assert "array([])," in repr(pn.nested_array([[1.0], []]))
        assert repr(pn.nested_array([])) == "nested_array([], shape=(0,))"
        assert "dtype=float32" in repr(nest([x.astype(np.float32) for x in X]))

    def test_history(self, layout: Any) -> None:
        x = nest(X, layout).detach().requires_grad_()
        assert repr(x).endswith("requires_grad=True)") and repr(x * x).endswith("made by mul)")

    def test_long_arrays_are_elided(self, layout: Any) -> None:
        text = repr(nest([np.arange(20)] * 100, layout))
        assert "94 more components" in text and text.count("\n") < 15


class TestProtocols:
    def test_numpy_functions(self, layout: Any) -> None:
        x = nest(X, layout, "holes")
        assert_same(np.sin(x), [np.sin(one) for one in X], 1e-15)
        assert_same(np.add(X[0][:1], x), [X[0][:1] + one for one in X])
        with pytest.raises(TypeError):
            np.rint(x)
        with pytest.raises(StructureError, match="to_padded_array"):
            np.asarray(x)
        equal = nest(batch([(2, 2)] * 2), layout, "transposed")
        assert np.array_equal(np.asarray(equal), np.stack(batch([(2, 2)] * 2)))

    def test_python(self, layout: Any) -> None:
        x = nest(X, layout)
        assert_same(list(x), X)
        assert {x: 1}[x] == 1
        with pytest.raises(ArgumentError, match="ambiguous"):
            bool(x)
        with pytest.raises(TypeError):
            x + "a"
        assert (x == "a") is False

    def test_copies(self, layout: Any) -> None:
        for placement in PLACEMENTS:
            x = nest(X, layout, placement)
            for again in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
                assert_same(again, X)
                assert again.layout is layout and not np.shares_memory(again.data.data, x.data.data)
            leaf = copy.deepcopy(x.detach().requires_grad_())
            assert leaf.requires_grad and leaf.is_leaf

    def test_likeness(self, layout: Any) -> None:
        for placement in PLACEMENTS:
            x = nest(X, layout, placement)
            assert_same(pn.zeros_like(x), [np.zeros(one.shape) for one in X])
            assert_same(pn.ones_like(x, dtype=pn.int8), [np.ones(one.shape, np.int8) for one in X])
            assert_same(pn.full_like(x, 7.5), [np.full(one.shape, 7.5) for one in X])
            for made in (pn.rand_like(x), pn.randn_like(x), pn.empty_like(x), pn.randint_like(x, 5, dtype=pn.int64)):
                assert made.structure.tiles and made.layout is layout and len(made) == 3
            assert pn.rand_like(x, requires_grad=True).requires_grad
