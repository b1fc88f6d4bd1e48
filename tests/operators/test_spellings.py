"""Every spelling of an operator is one call: function, method, sign, ufunc, NumPy's function, `axis` for `dim`."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError, DimensionError
from pynested.numpy_protocol import OPERATOR_NAMES
from pynested.spec.table import load_table

from ..batches import Batch
from ..calls import CALLS
from ..nests import DENSE, JAGGED, STRIDED, Kind, assert_same, nest, plain
from ..support.methods import ARITHMETIC, COMPARISONS, IN_PLACE, METHODS, PUBLIC
from ..support.samples import sample_arguments

UFUNCS = {name: ufunc for ufunc, name in OPERATOR_NAMES.items()}
SAMPLES = {  # the first of each method, by the kind of its arrays
    (call.op, kind): call
    for call in reversed(CALLS) for kind in (JAGGED, STRIDED, DENSE) if call.op in METHODS and kind in call.forms
}  # fmt: skip
A, B = np.array([[3, 2], [5, 1]]), np.array([[1, 2], [2, 3]])
REAL = np.array([[1.0, -2.5], [3.5, 0.5]])
ARRAYS = {"jagged": lambda a: nest([a], pn.jagged), "strided": lambda a: nest([a], pn.strided), "dense": pn.array}
AXES = [name for name, function in PUBLIC.items() if "axis" in inspect.signature(function).parameters]


def assert_equal(result: Any, expected: Any) -> None:
    assert type(result) is type(expected)
    np.testing.assert_equal(plain(result), plain(expected))


@pytest.mark.parametrize(("op", "kind"), SAMPLES, ids=[f"{op}-{kind}" for op, kind in SAMPLES])
def test_a_method_is_the_function(op: str, kind: Kind) -> None:
    call = SAMPLES[op, kind]
    first, *others = sample_arguments(call, Batch(kind, (2, 2) if kind is DENSE else (2, 1)))[0]
    if isinstance(first, pn.Array | pn.NestedArray):
        expected = getattr(pn, op)(first, *others, **call.keywords)
        assert_equal(getattr(first, op)(*others, **call.keywords), expected)


@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)
@pytest.mark.parametrize("sign", [*ARITHMETIC, *COMPARISONS])
def test_a_sign_is_that_of_numpy(sign: str, array: Callable[[Any], Any]) -> None:
    x, y, is_dense = array(A), array(B), array is pn.array
    by_sign = getattr(operator, {"and": "and_", "or": "or_"}.get(sign, sign))
    expect = lambda result, numbers: assert_same(result, numbers if is_dense else [numbers])  # noqa: E731
    expect(by_sign(x, y), by_sign(A, B))
    expect(getattr(pn, ARITHMETIC.get(sign, sign))(x, y), by_sign(A, B))
    expect(getattr(x, ARITHMETIC.get(sign, sign))(y), by_sign(A, B))
    expect(by_sign(B if is_dense else B[None], x), by_sign(B, A))
    if sign != "matmul":
        expect(by_sign(7, y), by_sign(7, B))
        expect(by_sign(y, 2), by_sign(B, 2))
    if ARITHMETIC.get(sign) in IN_PLACE:
        numbers = A.astype(float) if sign == "truediv" else A
        written = array(numbers)
        assert getattr(operator, f"i{sign}")(written, y) is written
        expect(written, by_sign(numbers, B))


@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)
@pytest.mark.parametrize("name", UFUNCS)
def test_a_ufunc_is_that_of_numpy(name: str, array: Callable[[Any], Any]) -> None:
    ufunc, operands = UFUNCS[name], [A, B] if name.startswith("bitwise") else [A / 8, B / 8]
    numbers = operands[: ufunc.nin]
    with np.errstate(invalid="ignore"):
        expected = ufunc(*numbers)
    result = ufunc(*map(array, numbers))
    assert_equal(result, getattr(pn, name)(*map(array, numbers)))
    assert_same(result, expected if array is pn.array else [expected], 1e-13)


NUMPY_REDUCTIONS = [name for name, entry in load_table().items() if entry.chapter == "reduction" and hasattr(np, name)]
SAME: list[tuple[Callable[[Any], Any], Callable[[Any], Any]]] = [  # NumPy's spelling and ours
    *[pair for name in NUMPY_REDUCTIONS for theirs, ours in [
        (getattr(np, name), partial(getattr(pn, name), **{"correction": 0} if name in ("var", "std") else {}))]
      for pair in ((lambda x, f=theirs: f(x, 1), lambda x, f=ours: f(x, 1)),
                   (lambda x, f=theirs: f(x, axis=0, keepdims=True), lambda x, f=ours: f(x, 0, True)))],
    (lambda x: np.max(x, 1), lambda x: pn.amax(x, 1)), (lambda x: np.min(x, 1), lambda x: pn.amin(x, 1)),
    (lambda x: np.sum(x, 1, np.float32), lambda x: pn.sum(x, 1, dtype=pn.float32)),
    (lambda x: np.var(x, 1, ddof=1), lambda x: pn.var(x, 1, correction=1)),
    (lambda x: np.std(x, 1, correction=1), lambda x: pn.std(x, 1, correction=1)),
    (lambda x: np.sum(x, 1, out=None), lambda x: pn.sum(x, 1)),
    (lambda x: np.squeeze(x[:, :, None], axis=2), lambda x: pn.squeeze(x[:, :, None], 2)),
    (lambda x: np.std(x, 1), lambda x: pn.std(x, 1, correction=0)), (lambda x: np.cumsum(x, 1), lambda x: x.cumsum(1)),
    (lambda x: np.concatenate([x, x + 1], axis=1), lambda x: pn.cat([x, x + 1], 1)),
    (lambda x: np.stack([x, x + 1], 1), lambda x: pn.stack([x, x + 1], 1)),
    (lambda x: np.where(x > 1, x, 0), lambda x: pn.where(x > 1, x, 0)),
    (lambda x: np.round(x), pn.round), (lambda x: np.around(x), pn.round), (np.copy, pn.clone),
    (lambda x: np.clip(x, -1, 2), lambda x: pn.clamp(x, -1, 2)),
    (lambda x: np.clip(x, min=-1, max=2), lambda x: pn.clamp(x, -1, 2)),
    (np.zeros_like, pn.zeros_like), (np.ones_like, pn.ones_like),
    (lambda x: np.full_like(x, 7), lambda x: pn.full_like(x, 7)),
    (lambda x: np.zeros_like(x, np.int8), lambda x: pn.zeros_like(x, dtype=pn.int8)),
    (np.ndim, lambda x: x.ndim), (np.size, lambda x: x.numel()), (lambda x: np.size(x, 0), lambda x: x.size(0)),
    (np.shape, lambda x: x.shape), (lambda x: np.array_equal(x, x), lambda x: True),
    (lambda x: np.array_equal(x, x + 1), lambda x: False), (lambda x: np.allclose(x, x + 1e-12), lambda x: True),
    (lambda x: np.allclose(x, x + 2, 0, 2.5), lambda x: True), (lambda x: np.allclose(x, x + 1), lambda x: False),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(SAME)))
def test_a_function_of_numpy_is_ours(number: int) -> None:
    theirs, ours = SAME[number]
    made, expected = theirs(pn.array(REAL)), theirs(REAL)
    np.testing.assert_allclose(plain(made), expected, rtol=1e-14)
    assert type(made) is (pn.Array if isinstance(expected, np.ndarray | np.generic) else type(expected))
    for components in ([REAL, REAL[:1]], [REAL, REAL + 2]):
        for layout in (pn.jagged, pn.strided):
            x = nest(components, layout)
            assert_equal(theirs(x), ours(x))


@pytest.mark.parametrize("number", range(5))
def test_other_calls_on_dense_arrays_are_those_of_numpy(number: int) -> None:
    call: Callable[[Any], Any] = (
        np.cumsum, np.sort, lambda x: np.round(x, 1), lambda x: np.median(x, axis=0),
        lambda x: np.concatenate([x, x], axis=None, dtype=np.float32),
    )[number]  # fmt: skip
    made = call(pn.array(REAL))
    assert type(made) is not pn.Array
    np.testing.assert_array_equal(made, call(REAL))


OF_NESTED: tuple[tuple[Callable[[Any], Any], type[Exception], str], ...] = (
    (np.cumprod, ArgumentError, r"numpy\.cumprod: .*Use pn\."), (np.sort, ArgumentError, r"numpy\.sort: .*Use pn\."),
    (np.transpose, ArgumentError, r"numpy\.transpose: .*pn\.permute"), (np.median, ArgumentError, "map_components"),
    (lambda x: np.vstack([x, x]), ArgumentError, r"pn\.cat"), (np.ptp, ArgumentError, r"numpy\.ptp: .*Use pn\."),
    (lambda x: np.dot(x, x), ArgumentError, r"numpy\.dot.*pn\.matmul"),
    (lambda x: np.stack([x, x]), DimensionError, "stack"),
    (lambda x: np.sum(x, where=np.True_), ArgumentError, r"numpy\.sum.*'where'"),
    (lambda x: np.clip(x, 0, max=1, min=1), ArgumentError, r"numpy\.clip: .* twice"),
    (lambda x: np.round(x, 1), ArgumentError, r"numpy\.round: .* too many"),
)  # fmt: skip
OF_ANY: tuple[tuple[Callable[[Any], Any], str], ...] = (
    (lambda x: np.add(x, 1, where=x > 1), r"numpy\.add: .*where.* use pn\.where"),
    (lambda x: np.add(x, 1, out=x), r"numpy\.add: .*out.* use x\.copy_"),
    (lambda x: np.sin(x, dtype=np.float32), r"numpy\.sin: .*dtype.* use x\.to"),
    (np.add.reduce, r"numpy\.add\.reduce: .* Use pn\.sum"), (lambda x: np.zeros(2).__iadd__(x), "out"),
    (lambda x: np.multiply.outer(x, x), r"numpy\.multiply\.outer: .* Use"),
    (np.rint, r"numpy\.rint: .*pn\.array\(np\.rint\("),
    (lambda x: np.nextafter(1.0, x), r"numpy\.nextafter: .*pn\.array\(np\.nextafter\("),
    (lambda x: np.nextafter(pn.array([[10.0], [20.0]]), x), "nextafter"),
)  # fmt: skip


@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)
def test_other_calls_of_numpy_are_refused(array: Callable[[Any], Any]) -> None:
    for call, text in OF_ANY:
        with pytest.raises(ArgumentError, match=text):
            call(array(REAL))
    for components in ([REAL, REAL[:1]], [REAL, REAL]) if array is not pn.array else ():
        for of_nested, error, text in OF_NESTED:
            with pytest.raises(error, match=text):
                of_nested(nest(components, array(REAL).layout))


@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)
@pytest.mark.parametrize("name", AXES)
def test_axis_is_dim(name: str, array: Callable[[Any], Any]) -> None:
    x, function = array(REAL), PUBLIC[name]
    assert_equal(function(x, axis=1), function(x, 1))
    with pytest.raises(ArgumentError, match=rf"^{name}: dim=1 and axis=1 are the same parameter. Give only one"):
        function(x, 1, axis=1)
    if "keepdims" not in inspect.signature(function).parameters:
        for dims in ({"axis": None}, {"dim": None}, {}):
            with pytest.raises(ArgumentError, match=f"^{name}"):
                function(x, **dims)
        return
    for kept in (True, False):
        assert_equal(function(x, axis=1, keepdims=kept), function(x, 1, kept))
        with pytest.raises(ArgumentError, match=rf"^{name}: keepdim=True and keepdims={kept} are the same"):
            function(x, 1, True, keepdims=kept)
    if name not in ("argmax", "argmin") or array is pn.array:  # only dense elements have an index among all
        assert_equal(function(x, axis=None), function(x))
