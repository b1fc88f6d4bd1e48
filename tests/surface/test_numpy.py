"""NumPy's functions and ufuncs of nested arrays: what they mean here, or a refusal, whatever the lengths are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError, DimensionError

from ..nests import LAYOUTS, assert_same, nest

RAGGED = [np.array([1.0, 2.0]), np.array([3.0])]
EQUAL = [np.array([1.0, 2.0]), np.array([3.0, 4.0])]


@pytest.fixture(params=LAYOUTS, ids=str)
def layout(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.mark.parametrize("components", [RAGGED, EQUAL], ids=["ragged", "equal"])
class TestFunctions:
    def test_namesakes(self, layout: Any, components: Any) -> None:
        x = nest(components, layout)
        assert pn.equal(np.sum(x, axis=1, keepdims=True), pn.sum(x, 1, True))
        assert pn.equal(np.mean(x, 1), pn.mean(x, 1))
        assert pn.equal(np.amax(x), pn.amax(x)) and pn.equal(np.max(x, 1), pn.amax(x, 1))
        assert pn.equal(np.concatenate([x, x], axis=1), pn.cat([x, x], 1))
        assert pn.equal(np.stack([x, x], axis=1), pn.stack([x, x], 1))
        assert pn.equal(np.where(x > 1, x, 0), pn.where(x > 1, x, 0))
        assert (np.shape(x), np.ndim(x), np.size(x)) == (x.shape, 2, x.numel())
        halves = [c + 0.5 for c in components]
        for rounded in (np.round(x + 0.5), np.around(x + 0.5), round(x + 0.5)):
            assert_same(rounded, [np.round(c) for c in halves])
        for clipped in (np.clip(x, 1.5, 2.5), np.clip(x, min=1.5, max=2.5), np.clip(x, 1.5, pn.array(2.5))):
            assert_same(clipped, [np.clip(c, 1.5, 2.5) for c in components])
        assert np.array_equal(x, x) and pn.equal(np.copy(x), x)
        assert pn.equal(np.zeros_like(x), x * 0) and pn.equal(np.ones_like(x), x * 0 + 1)
        assert pn.equal(np.full_like(x, 7), x * 0 + 7) and np.size(x, 0) == 2

    @pytest.mark.parametrize("function", [np.cumprod, np.sort, np.transpose, np.vstack, np.median, np.ptp])
    def test_all_others_are_refused(self, layout: Any, components: Any, function: Callable[..., Any]) -> None:
        x = nest(components, layout)
        with pytest.raises(ArgumentError, match=rf"numpy\.{function.__name__}: .* Use .*(pn\.|nt\.)"):
            function([x, x] if function is np.vstack else x)

    def test_arguments_without_a_meaning_are_refused(self, layout: Any, components: Any) -> None:
        x = nest(components, layout)
        with pytest.raises(ArgumentError, match=r"numpy\.sum.*'where'"):
            np.sum(x, where=np.True_)
        with pytest.raises(ArgumentError, match=r"numpy\.clip: .* twice"):
            np.clip(x, 0, max=1, min=1)
        with pytest.raises(ArgumentError, match=r"numpy\.round: .* too many"):
            np.round(x, 1)
        with pytest.raises(DimensionError):
            np.stack([x, x])
        with pytest.raises(ArgumentError, match=r"numpy\.dot.*pn\.matmul"):
            np.dot(x, x)

    def test_comparisons(self, layout: Any, components: Any) -> None:
        x = nest(components, layout)
        for ufunc in (np.greater, np.greater_equal, np.less, np.less_equal, np.equal, np.not_equal):
            assert_same(ufunc(x, 2), [ufunc(c, 2) for c in components])
            assert_same(ufunc(np.float64(2), x), [ufunc(2, c) for c in components])


@pytest.mark.parametrize("nested", [True, False])
def test_ways_to_call_ufuncs_that_are_numpys_alone(layout: Any, nested: bool) -> None:
    x = nest(RAGGED, layout) if nested else pn.array(RAGGED[0])
    for call, text in (
        (lambda: np.add(x, 1, where=x > 1), r"numpy\.add: .*where.* use pn\.where"),
        (lambda: np.add(x, 1, out=x), r"numpy\.add: .*out.* use x\.copy_"),
        (lambda: np.sin(x, dtype=np.float32), r"numpy\.sin: .*dtype.* use x\.to"),
        (lambda: np.add.reduce(x), r"numpy\.add\.reduce: .* Use pn\.sum"),
        (lambda: np.multiply.outer(x, x), r"numpy\.multiply\.outer: .* Use"),
        (lambda: np.rint(x), r"numpy\.rint: .*pn\.array\(np\.rint\(.*numpy\(\)\)"),
        (lambda: np.hypot(1.0, x), r"numpy\.hypot: .*pn\.array\(np\.hypot\("),
    ):
        with pytest.raises(ArgumentError, match=text):
            call()
    written = np.zeros(2)
    with pytest.raises(ArgumentError, match="out"):
        written += x


def test_dense_and_nested_operands_of_ufuncs(layout: Any) -> None:
    """A dense operand on the left leaves the call to the nested one."""
    x, dense = nest(RAGGED, layout), pn.array([[10.0], [20.0]])
    assert_same(np.add(dense, x), [RAGGED[0] + 10, RAGGED[1] + 20])
    assert_same(np.subtract(x, dense), [RAGGED[0] - 10, RAGGED[1] - 20])
    with pytest.raises(ArgumentError, match="hypot"):
        np.hypot(dense, x)
    made = pn.map_components(lambda component: pn.array(np.floor(component.numpy())), x / 2)
    assert_same(made, [np.floor(one / 2) for one in RAGGED])


def test_comparisons_as_operators_and_methods(layout: Any) -> None:
    x = nest([np.array([1.0, np.nan]), np.array([3.0])], layout)
    c = [np.array([1.0, np.nan]), np.array([3.0])]
    assert_same(x <= 1, [a <= 1 for a in c])
    assert_same(x >= 1, [a >= 1 for a in c])
    assert_same(x >= 1, [a >= 1 for a in c])
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        assert_same(getattr(x, name)(x), [getattr(np.ndarray, f"__{name}__")(a, a) for a in c])


def each_call(*calls: Callable[[Any], Any]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("call", calls, ids=range(len(calls)))


class TestDense:
    """NumPy's functions of dense arrays: ours where there is one, through which gradients flow, else NumPy's."""

    A = np.array([[1.0, -2.5], [3.5, 0.5]])

    @each_call(
        lambda x: np.clip(x, 0, 1), lambda x: np.round(x), lambda x: np.concatenate([x, x], axis=1),
        lambda x: np.stack([x, x]), lambda x: np.where(x > 0, x, 0), lambda x: np.copy(x), lambda x: np.std(x, 0),
        lambda x: np.full_like(x, 2), lambda x: np.argmax(x, axis=1), lambda x: np.cumsum(x, 1),
        lambda x: np.nansum(x, axis=0), lambda x: np.argmax(x), lambda x: np.argmin(x, keepdims=True),
    )  # fmt: skip
    def test_namesakes_are_ours(self, call: Callable[[Any], Any]) -> None:
        made = call(pn.array(self.A))
        assert type(made) is pn.Array
        np.testing.assert_allclose(made.numpy(), call(self.A), rtol=1e-15)

    @each_call(
        lambda x: np.cumsum(x), lambda x: np.round(x, 1), lambda x: np.sort(x),
        lambda x: np.concatenate([x, x], axis=None, dtype=np.float32), lambda x: np.median(x, axis=0),
    )  # fmt: skip
    def test_what_numpy_alone_has_is_numpys(self, call: Callable[[Any], Any]) -> None:
        made = call(pn.array(self.A))
        assert type(made) is not pn.Array
        np.testing.assert_array_equal(made, call(self.A))

    def test_answers_that_are_no_arrays(self) -> None:
        x = pn.array(self.A)
        assert (np.shape(x), np.ndim(x), np.size(x), np.size(x, 0)) == ((2, 2), 2, 4, 2)
        assert np.array_equal(x, self.A) and np.allclose(x, self.A + 1e-12) and not np.allclose(x, self.A + 1)

    def test_gradients_flow(self) -> None:
        x = pn.array([0.5, 2.0], requires_grad=True)
        np.concatenate([np.clip(x, 0, 1), x]).sum().backward()
        assert x.grad is not None and x.grad.tolist() == [2.0, 1.0]
