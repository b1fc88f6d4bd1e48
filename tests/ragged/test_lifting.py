"""Functions of dense arrays lifted to nested ones, by `elementwise` and `map_components`; broadcasting; one dimension.

Regular dimensions of size 1 broadcast; irregular dimensions never do, also if every length is 1.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError, DTypeError, LayoutError, PynestedError, ShapeError, StructureError

from ..nests import LAYOUTS, assert_same, batch, distinct, everywhere, nest, place

X = batch([(2, 2), (0, 2), (3, 2)])
Function = Callable[..., Any]
Errors = list[tuple[Function, type[PynestedError], str]]


def check_errors(call: Callable[[Any, Any], Any], errors: Errors) -> None:
    for x, (function, error, text) in product(everywhere(X), errors):
        with pytest.raises(error, match=re.escape(text)):
            call(function, x)


@pytest.mark.shows("EXTEND-8")
def test_one_call_serves_all_components_and_gaps_take_no_part() -> None:
    for x in everywhere(X):
        arguments: list[Any] = []
        result = pn.elementwise("cube", lambda a, calls=arguments: (calls.append(a.numpy()), a * a * a)[1], x)
        assert_same(result, [component**3 for component in X], 1e-15)
        assert result.layout == x.layout and [a.size for a in arguments] == [10] and not np.isnan(arguments[0]).any()
        result = pn.elementwise("fma", lambda a, b, c: a * b + c, x, distinct((2,)), nest(X, pn.strided))
        assert_same(result, [component * distinct((2,)) + component for component in X])


@pytest.mark.shows("EXTEND-5")
def test_gradients_are_those_of_the_function(layout: Any, placement: str) -> None:
    made = place(X[:2], layout, placement)
    elements = lambda x, w: pn.elementwise("f", lambda a, b: a * a * b, made.view(x), w)  # noqa: E731
    components = lambda x, w: pn.map_components(lambda c, v: pn.matmul(c, v) * c.sum(), made.view(x), w)  # noqa: E731
    assert pn.gradcheck(elements, made.buffer, pn.array(distinct((2,))))
    assert pn.gradcheck(components, made.buffer, pn.array(distinct((2, 2))))


@pytest.mark.shows("EXTEND-7")
def test_without_a_nested_operand_both_are_refused() -> None:
    dense = pn.array([1.0, 2.0])
    for operands in ((), (1.0,), (dense, 1.0)):
        for call in (partial(pn.elementwise, "f", pn.add), partial(pn.map_components, pn.add)):
            with pytest.raises(ArgumentError, match="no operand is nested"):
                call(*operands)


@pytest.mark.shows("EXTEND-7", "EXTEND-8", "EXTEND-9")
def test_errors_of_elementwise() -> None:
    results: Errors = [
        *[(wrong, ShapeError, "f: the function returned an array of shape")
          for wrong in (lambda a: a[:1], lambda a: a[..., :1], lambda a: a.sum(), lambda a: a.unsqueeze(0))],
        (lambda a: a.numpy(), ArgumentError, "f: the function returned ndarray"),
        (lambda a: None, ArgumentError, "f: the function returned None"),
        (lambda a: pn.Array(a.numpy() * 1j), DTypeError, "complex128"),
    ]  # fmt: skip
    check_errors(lambda function, x: pn.elementwise("f", function, x), results)
    operands: Errors = [
        (lambda: nest(X[::-1]), StructureError, "f: the operands differ at component 0"),
        (lambda: distinct((3,)), ShapeError, "f: a dense operand of shape (3,)"),
        (lambda: "a", ArgumentError, "f: str"),
    ]
    check_errors(lambda operand, x: pn.elementwise("f", pn.add, x, operand()), operands)
    without_name: Any = pn.elementwise
    with pytest.raises(ArgumentError, match="^elementwise: 'name' must be a string, not a function"):
        without_name(lambda a: a, nest(X))
    thin = nest([x[:, :1] for x in X])
    for other in (distinct((1, 4)), nest(X)):
        with pytest.raises(ShapeError, match="broadcast to"):
            pn.elementwise("f", lambda a, b: a, thin, other)


def test_the_result_of_an_elementwise_function_shares_no_memory_with_an_operand(layout: Any) -> None:
    functions: list[Function] = [
        lambda a, b: a, lambda a, b: b, lambda a, b: a.detach(), lambda a, b: a[...],
    ]  # fmt: skip
    for function in functions:
        x, other = nest(X, layout), nest(X, layout)
        result = pn.elementwise("same", function, x, other)
        result[0] = X[0] + 7
        result.requires_grad_()
        for operand in (x, other):
            assert_same(operand, X)
            assert not operand.requires_grad
    row = pn.array([1.0, 2.0])
    pn.elementwise("same", lambda a, b: b.broadcast_to(a.shape), x[:1, :1], row).fill_(0)
    assert row.tolist() == [1.0, 2.0]


def test_the_result_of_an_elementwise_function_may_lie_anywhere() -> None:
    functions: list[Function] = [
        lambda a: pn.array(2.0).broadcast_to(a.shape),
        lambda a: pn.stack([a, a], -1)[..., 0] * 0.0 + 2.0,
        lambda a: pn.array(np.full(a.shape, 2.0, order="F")),
        lambda a: pn.array(np.full((2 * a.shape[0], *a.shape[1:]), 2.0))[::2],
    ]
    for x, function in product(everywhere(X), functions):
        result = pn.elementwise("two", function, x)
        assert_same(result, [np.full(component.shape, 2.0) for component in X])
        assert_same(result[::-1], [np.full(component.shape, 2.0) for component in X[::-1]])


@pytest.mark.shows("EXTEND-1", "EXTEND-2", "EXTEND-3")
def test_components_and_their_slices_of_dense_operands() -> None:
    for x in everywhere(X):
        assert_same(pn.map_components(lambda c: c.sum(0), x), [component.sum(0) for component in X])
        sums = pn.map_components(lambda c: c.sum(), x)
        assert isinstance(sums, pn.Array) and sums.tolist() == [component.sum() for component in X]
        assert_same(pn.map_components(pn.matmul, x, distinct((2, 3))), [c @ distinct((2, 3)) for c in X])
        for d in (distinct((3, 1, 2)), distinct((1, 1, 2))):
            assert_same(pn.map_components(pn.add, x, d), [c + d[i % len(d)] for i, c in enumerate(X)])
        mixed = pn.map_components(lambda c: c.to(pn.float32) if c.shape[0] == 2 else c, x)
        assert mixed.dtype == np.float64 and mixed.layout is x.layout
        for layout in LAYOUTS:
            assert pn.map_components(lambda c: c * 2.0, x, layout=layout).layout is layout
    both = pn.map_components(lambda c: pn.matmul(c, pn.transpose(c, 0, 1)), nest(X))
    assert both.layout is pn.strided
    assert_same(both, [x @ x.T for x in X])


@pytest.mark.shows("EXTEND-6", "EXTEND-7")
def test_errors_of_map_components() -> None:
    kinds = (lambda c: c.numpy().tolist(), lambda c: 1.0, lambda c: nest(X))
    results: Errors = [
        (lambda c: c if c.shape[0] else c.sum(0), StructureError, "2 dimensions for component 0 and 1 for component 1"),
        (lambda c: c.sum() if c.shape[0] else c, StructureError, "0 dimensions for component 0 and 2 for component 1"),
        *[(function, ArgumentError, "for component 0 the function returned") for function in kinds],
        (lambda c: pn.Array(c.numpy() * 1j), DTypeError, "complex128"),
    ]  # fmt: skip
    check_errors(pn.map_components, results)
    of_none: Errors = [(function, ArgumentError, "the function returned") for function in kinds]
    check_errors(lambda function, x: pn.map_components(function, x[:0]), of_none)
    check_errors(lambda operand, x: pn.map_components(pn.add, x, operand()), [
        (lambda: distinct((2, 1, 2)), ShapeError, "(2, 1, 2)"),
        (lambda: nest(X[:2]), StructureError, "3 and 2 components"),
    ])  # fmt: skip
    with pytest.raises(DTypeError):
        pn.map_components(pn.silu, nest([np.array([1, 2])]))
    check_errors(lambda layout, x: pn.map_components(lambda c: c, x, layout=layout()), [
        (lambda: "jagged", LayoutError, "map_components: layout must be pn.strided or pn.jagged, not 'jagged'"),
    ])  # fmt: skip


def test_an_index_of_the_batch_counts_components_wherever_they_lie() -> None:
    for offsets in permutations(range(3)):
        x = pn.nested_array_from_strided(pn.array([5.0, 1.0, 7.0]), np.zeros((3, 0), np.int64), offsets=offsets)
        components = [[5.0, 1.0, 7.0][offset] for offset in offsets]
        assert x.tolist() == components
        for keepdim in (False, True):
            assert pn.argmax(x, 0, keepdim).numpy().ravel().tolist() == [np.argmax(components)]
            assert pn.argmin(x, 0, keepdim).numpy().ravel().tolist() == [np.argmin(components)]


# The function, the layout of the result (None: that of the operand), and the sizes of the result of no components.
OF_NO_COMPONENTS: list[tuple[Function, Any, tuple[int | None, ...]]] = [
    (lambda c: c.sum(0), None, (0, None)), (lambda c: c.sum(0), pn.strided, (0, 2)),
    (lambda c: c, pn.strided, (0, None, 2)), (lambda c: c.transpose(0, 1), None, (0, 2, None)),
    (lambda c: c @ c.transpose(0, 1), None, (0, None, None)), (lambda c: pn.cat([c, c], 1), None, (0, None, 4)),
]  # fmt: skip


@pytest.mark.shows("EXTEND-4")
def test_without_components_the_function_is_called_once() -> None:
    for function, layout, sizes in OF_NO_COMPONENTS:
        result = pn.map_components(function, nest(X)[:0], layout=layout)
        assert tuple(result.regular_size(dim) for dim in range(result.ndim)) == sizes
    for layout in LAYOUTS:
        shapes: list[Any] = []
        empty = nest(X, layout)[:0]
        result = pn.map_components(lambda c, shapes=shapes: shapes.append(c.shape) or c.to(pn.float32), empty)
        assert (shapes, result.dtype, len(result)) == ([(0, 2)], pn.float32, 0)
        assert pn.map_components(lambda c: c.sum(), empty).shape == (0,)
        weight = pn.array([1.0, 1.0], requires_grad=True)
        pn.map_components(pn.mul, empty, weight).sum().backward()
        assert weight.grad is not None and weight.grad.tolist() == [0, 0]


def test_products_stretch_regular_dimensions_only() -> None:
    x = nest(batch([(1, 2, 3), (1, 2, 3)]), pn.jagged)
    for y in (nest(batch([(4, 3, 2)] * 2), pn.strided), nest(batch([(4, 3, 2), (1, 3, 2)]), pn.strided)):
        for call in (lambda a, b: a @ b, lambda a, b: b.transpose(2, 3) @ a.transpose(2, 3)):
            with pytest.raises(StructureError, match="regular and 1"):
                call(x, y)
    with pytest.raises(ShapeError, match="regular and 1"):
        x @ distinct((2, 4, 3, 2))
    thin, tall = nest(batch([(1, 3, 2), (1, 3, 2)], 1), pn.strided), batch([(2, 2, 3), (3, 2, 3)])
    assert_same(nest(tall, pn.jagged) @ thin, [a @ b.numpy() for a, b in zip(tall, thin, strict=True)])
    dense = distinct((1, 1, 3, 2))
    assert_same(nest(tall, pn.jagged) @ dense, [a @ dense[0] for a in tall])


def test_a_result_with_two_irregular_dimensions_is_strided() -> None:
    components = batch([(3, 2), (3, 2)])
    products = nest(components, pn.jagged) * nest(components, pn.jagged, "packed", 2)
    assert_same(products, [x * x for x in components])
    assert products.layout is pn.strided


def test_segments_without_elements_take_no_memory_however_many_they_are() -> None:
    x = pn.nested_array_from_strided(pn.ones(6), np.array([[2**40, 0], [3, 2]]))
    for dim in (1, 2):
        assert_same([pn.cumsum(x, dim).unbind()[1]], [np.ones((3, 2)).cumsum(dim - 1)])


def test_a_buffer_with_steps_becomes_one_without() -> None:
    """A strided array has a flat contiguous buffer, also if its elements came from a jagged array of other memory."""
    x = pn.nested_array_from_jagged(np.arange(8.0)[::-2], [0, 1, 4])
    shaped = pn.reshape_as(x, nest([np.zeros((1, 1)), np.ones((3, 1))], pn.strided))
    assert shaped.layout is pn.strided and shaped.values().is_contiguous()
    assert_same(shaped, [np.array([[7.0]]), np.array([[5.0], [3.0], [1.0]])])


def test_an_operator_enters_few_functions(root: Path) -> None:
    """Both operands are nested and have one structure; the first number is without gradients, the second with them."""
    command = [sys.executable, "-m", "benchmarks.calls"]
    table = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    rows = re.findall(r"^(.+?)  .* (\d+) plain .* (\d+) recorded", table, re.MULTILINE)
    limits = {"softmax(x, 1)": (13, 18), "log1p(x)": (10, 17), "x + y": (10, 14), "x.transpose(1, 2) @ y": (78, 93)}
    assert [name.strip() for name, *_ in rows] == list(limits), table
    for name, plain, recorded in rows:
        limit_plain, limit_recorded = limits[name.strip()]
        assert 5 < int(plain) <= limit_plain, table
        assert int(plain) < int(recorded) <= limit_recorded, table
