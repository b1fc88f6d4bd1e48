"""`elementwise` and `map_components`; and random structures, overlapping ones among them, against plain components."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError, DTypeError, ShapeError, StructureError

from ..nests import LAYOUTS, PLACEMENTS, assert_same, batch, distinct, everywhere, nest, place
from ..slopes import check_gradients

X = batch([(2, 2), (0, 2), (3, 2)])


class TestElementwise:
    @pytest.mark.shows("EXTEND-8")
    def test_one_call_serves_all_components(self) -> None:
        for x in everywhere(X):
            calls = []

            def cube(values: Any, calls: list[int] = calls) -> Any:
                calls.append(values.numel())
                return values * values * values

            result = pn.elementwise("cube", cube, x)
            assert_same(result, [one * one * one for one in X])
            assert (calls, result.layout) == ([10], x.layout)

    @pytest.mark.shows("EXTEND-8")
    def test_a_hole_is_never_looked_at(self) -> None:
        for layout in LAYOUTS:

            def check(values: Any) -> Any:
                assert not np.isnan(values.detach().numpy()).any()
                return values + 1.0

            assert_same(pn.elementwise("check", check, nest(X, layout, "holes")), [x + 1 for x in X])

    @pytest.mark.shows("EXTEND-8")
    def test_three_operands(self) -> None:
        for x in everywhere(X):
            result = pn.elementwise("fma", lambda a, b, c: a * b + c, x, distinct((2,)), nest(X, pn.strided))
            assert_same(result, [one * distinct((2,)) + one for one in X])

    @pytest.mark.shows("EXTEND-5")
    def test_gradients_are_those_of_the_function(self) -> None:
        for layout in LAYOUTS:
            for placement in PLACEMENTS:
                made = place(X, layout, placement)
                structure, buffer = made.array.structure, np.nan_to_num(made.buffer.numpy(), nan=0.2)
                check_gradients(
                    lambda x, w, s=structure: pn.elementwise("f", lambda a, b: a * a * b, pn.NestedArray(x, s), w),
                    buffer, distinct((2,)),
                )  # fmt: skip

    @pytest.mark.shows("EXTEND-7")
    def test_without_a_nested_operand_both_are_refused(self) -> None:
        dense = pn.array([1.0, 2.0])
        for call in (lambda: pn.elementwise("f", pn.add, dense, dense), lambda: pn.map_components(pn.add, dense, 1.0)):
            with pytest.raises(ArgumentError, match="no operand is nested"):
                call()

    @pytest.mark.shows("EXTEND-8")
    def test_refused(self) -> None:
        for x in everywhere(X):
            with pytest.raises(StructureError, match=re.escape("f: the operands differ at component 0")):
                pn.elementwise("f", pn.add, x, nest(X[::-1]))
            with pytest.raises(ShapeError, match=re.escape("f: a dense operand of shape (3,)")):
                pn.elementwise("f", pn.add, x, distinct((3,)))
            with pytest.raises(ArgumentError, match="f: str"):
                pn.elementwise("f", pn.add, x, "a")

    @pytest.mark.shows("EXTEND-7", "EXTEND-9")
    def test_the_result_has_an_element_for_each_place(self) -> None:
        for x in everywhere(X):
            for wrong in (lambda a: a[:1], lambda a: a[..., :1], lambda a: a.sum(), lambda a: a.unsqueeze(0)):
                with pytest.raises(ShapeError, match="f: the function gave an array of shape"):
                    pn.elementwise("f", wrong, x)
            for wrong, kind in ((lambda a: a.numpy(), "ndarray"), (lambda a: 1.0, "float"), (lambda a: None, "None")):
                with pytest.raises(ArgumentError, match=f"f: the function gave {kind}"):
                    pn.elementwise("f", wrong, x)
            with pytest.raises(DTypeError, match="complex128"):
                pn.elementwise("f", lambda a: pn.Array(a.numpy() * 1j), x)

    def test_the_result_is_as_large_as_all_operands_together(self) -> None:
        thin = nest([x[:, :1] for x in X])
        for operands in ((thin, distinct((1, 4))), (thin, nest(X))):
            with pytest.raises(ShapeError, match="broadcast to"):
                pn.elementwise("f", lambda a, b: a, *operands)
            pn.elementwise("f", pn.add, *operands)

    def test_the_result_may_lie_anywhere(self) -> None:
        for x in everywhere(X):
            for anywhere in (
                lambda a: pn.array(2.0).broadcast_to(a.shape),
                lambda a: pn.stack([a, a], -1)[..., 0] * 0.0 + 2.0,
                lambda a: pn.array(np.full(a.shape, 2.0, order="F")),
                lambda a: pn.array(np.full((2 * a.shape[0], *a.shape[1:]), 2.0))[::2],
            ):
                result = pn.elementwise("two", anywhere, x)
                assert_same(result, [np.full(one.shape, 2.0) for one in X])
                assert_same(result[::-1], [np.full(one.shape, 2.0) for one in X[::-1]])


class TestMapComponents:
    @pytest.mark.shows("EXTEND-1", "EXTEND-3")
    def test_any_function(self) -> None:
        for x in everywhere(X):
            assert_same(pn.map_components(lambda c: c - 1.0, x), [one - 1 for one in X])
            assert_same(pn.map_components(lambda c: c.sum(0), x), [one.sum(0) for one in X])
            sums = pn.map_components(lambda c: c.sum(), x)
            assert isinstance(sums, pn.Array) and sums.tolist() == [one.sum() for one in X]
            assert_same(pn.map_components(pn.matmul, x, distinct((2, 3))), [one @ distinct((2, 3)) for one in X])

    @pytest.mark.shows("EXTEND-2", "EXTEND-6")
    def test_dense_operands_of_equal_rank_are_sliced(self) -> None:
        for x in everywhere(X):
            for d in (distinct((3, 1, 2)), distinct((1, 1, 2))):
                assert_same(pn.map_components(pn.add, x, d), [one + d[i % len(d)] for i, one in enumerate(X)])
            with pytest.raises(ShapeError, match=re.escape("(2, 1, 2)")):
                pn.map_components(pn.add, x, distinct((2, 1, 2)))
            with pytest.raises(StructureError, match="3 and 2 components"):
                pn.map_components(pn.add, x, nest(X[:2]))

    @pytest.mark.shows("EXTEND-3")
    def test_layouts(self) -> None:
        for layout in LAYOUTS:
            x = nest(X, layout)
            assert pn.map_components(lambda c: c * 2.0, x).layout is layout
            for other in LAYOUTS:
                assert pn.map_components(lambda c: c * 2.0, x, layout=other).layout is other
        both = pn.map_components(lambda c: pn.matmul(c, pn.transpose(c, 0, 1)), nest(X))
        assert both.layout is pn.strided
        assert_same(both, [x @ x.T for x in X])

    @pytest.mark.shows("EXTEND-4")
    def test_without_components(self) -> None:
        for layout in LAYOUTS:
            nothing = nest(X, layout)[:0]
            assert (
                len(pn.map_components(lambda c: c * 2.0, nothing)),
                pn.map_components(lambda c: c, nothing).ndim,
            ) == (0, 3)
            assert pn.map_components(lambda c: c.sum(), nothing).shape == (0,)
            shapes: list[Any] = []

            def halved(c: Any, shapes: list[Any] = shapes) -> Any:
                shapes.append(c.shape)
                return pn.cat([c, c], 1).to(pn.float32)

            wide = pn.map_components(halved, nothing)
            assert shapes == [(0, 2)] and (wide.dtype, len(wide), wide.size(2)) == (pn.float32, 0, 4)

    @pytest.mark.shows("EXTEND-6", "EXTEND-7")
    def test_results_are_arrays_of_one_rank(self) -> None:
        for x in everywhere(X):
            ranks = lambda c: c if c.shape[0] else c.sum(0)  # noqa: E731
            with pytest.raises(StructureError, match="2 dimensions for component 0 and 1 for component 1"):
                pn.map_components(ranks, x)
            with pytest.raises(StructureError, match="0 dimensions for component 0 and 2 for component 1"):
                pn.map_components(lambda c: c if not c.shape[0] else c.sum(), x)
            for wrong in (lambda c: c.numpy().tolist(), lambda c: 1.0, lambda c: nest(X)):
                with pytest.raises(ArgumentError, match="for component 0 the function gave"):
                    pn.map_components(wrong, x)
                with pytest.raises(ArgumentError, match="the function gave"):
                    pn.map_components(wrong, x[:0])
            with pytest.raises(DTypeError, match="complex128"):
                pn.map_components(lambda c: pn.Array(c.numpy() * 1j), x)
            mixed = pn.map_components(lambda c: c.to(pn.float32) if c.shape[0] == 2 else c, x)
            assert mixed.dtype == np.float64 and mixed.layout is x.layout

    @pytest.mark.shows("EXTEND-5")
    def test_gradients_flow(self) -> None:
        def times_its_sum(c: Any, v: Any) -> Any:
            return pn.matmul(c, v) * c.sum()

        for layout in LAYOUTS:
            for placement in PLACEMENTS:
                made = place(X, layout, placement)
                structure, buffer = made.array.structure, np.nan_to_num(made.buffer.numpy(), nan=0.2)
                check_gradients(
                    lambda x, w, s=structure: pn.map_components(times_its_sum, pn.NestedArray(x, s), w),
                    buffer, distinct((2, 2)),
                )  # fmt: skip

    def test_a_component_that_fails_says_so(self) -> None:
        with pytest.raises(DTypeError):
            pn.map_components(lambda c: pn.silu(c), nest([np.array([1, 2])]))
