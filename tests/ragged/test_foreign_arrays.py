"""Arrays of other classes and dtypes, wherever an array is taken: made ours, or refused by name."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError, DTypeError, ExchangeError
from pynested.structure import Jagged, Strided

from ..nests import LAYOUTS, Numbers

DENSE = pn.array([[1.0, 2.0], [3.0, 4.0]])
NESTED = {layout.name: pn.nested_array([[[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]]], layout=layout) for layout in LAYOUTS}
FLAT = {layout.name: pn.nested_array([[0, 1], [1]], layout=layout) for layout in LAYOUTS}
ROW, MATRIX, CUBE = np.array([1.0, 2.0]), np.array([[1.0, 2.0], [3.0, 4.0]]), np.ones((2, 2, 2))
FLAGS, NUMBERS = np.array([True, False]), np.array([1, 0])
BARE = "the constructor, which is for bare arrays and does not look at their dtype"

Place = tuple[Callable[[Any], Any], Numbers]


def assigned(x: Any, index: Any, value: Any) -> Any:
    x[index] = value
    return x


# What takes an array of values, and one that fits there.
VALUES: dict[str, Place] = {
    "array": (pn.array, ROW),
    BARE: (pn.Array, ROW),
    "array without a copy": (lambda m: pn.array(m, copy=False), ROW),
    "an entry of a list": (lambda m: pn.array([[0.0, 0.0], m]), ROW),
    "an entry of lists in lists": (lambda m: pn.array([[[0.0, 0.0]], [m]]), ROW),
    "unary": (pn.exp, ROW),
    "sum": (lambda m: pn.sum(m, 0), MATRIX),
    "softmax": (lambda m: pn.softmax(m, 0), ROW),
    "where, condition": (lambda m: pn.where(m, DENSE, 0.0), FLAGS),
    "where": (lambda m: pn.where(DENSE > 2, m, DENSE), ROW),
    "where, other": (lambda m: pn.where(DENSE > 2, DENSE, m), ROW),
    "masked_fill": (lambda m: pn.masked_fill(m, DENSE > 2, 0.0), MATRIX),
    "masked_fill, mask": (lambda m: pn.masked_fill(DENSE, m, 0.0), FLAGS),
    "matmul": (lambda m: pn.matmul(m, DENSE), MATRIX),
    "matmul, other": (lambda m: DENSE @ m, MATRIX),
    "bmm": (lambda m: pn.bmm(pn.array(CUBE), m), CUBE),
    "linear": (lambda m: pn.linear(m, DENSE), MATRIX),
    "linear, weight": (lambda m: pn.linear(DENSE, m, DENSE[0]), MATRIX),
    "linear, bias": (lambda m: pn.linear(DENSE, DENSE, m), ROW),
    "layer_norm, weight": (lambda m: pn.layer_norm(DENSE, 2, m), ROW),
    "layer_norm, bias": (lambda m: pn.layer_norm(DENSE, 2, None, m), ROW),
    "embedding": (lambda m: pn.embedding(m, DENSE), NUMBERS),
    "embedding, weight": (lambda m: pn.embedding(pn.array(NUMBERS), m), MATRIX),
    "cross_entropy": (lambda m: pn.cross_entropy(m, NUMBERS), MATRIX),
    "cross_entropy, target": (lambda m: pn.cross_entropy(DENSE, m), NUMBERS),
    "cross_entropy, weight": (lambda m: pn.cross_entropy(DENSE, NUMBERS, weight=m), ROW),
    "equal": (lambda m: pn.equal(DENSE, m), MATRIX),
    "cat": (lambda m: pn.cat([DENSE, m]), MATRIX),
    "stack": (lambda m: pn.stack([m, DENSE]), MATRIX),
    "reshape_as": (lambda m: pn.reshape_as(DENSE, m), MATRIX),
    "copy_": (lambda m: pn.zeros(2, 2).copy_(m), ROW),
    "assignment": (lambda m: assigned(pn.zeros(2, 2), 0, m), ROW),
    "assignment of a list": (lambda m: assigned(pn.zeros(2, 2), ..., [m, m]), ROW),
    "add_": (lambda m: pn.zeros(2, 2).add_(m), ROW),
    "masked_select": (lambda m: pn.masked_select(m, DENSE > 2), MATRIX),
    "masked_select, mask": (lambda m: pn.masked_select(DENSE, m), FLAGS),
    "narrow": (lambda m: pn.narrow(m, 1, 0, 1), MATRIX),
    "nested_array": (lambda m: pn.nested_array([[0.0], m]), ROW),
    "nested_array, a matrix": (pn.nested_array, MATRIX),
    "as_nested_array": (lambda m: pn.as_nested_array([m]), ROW),
    "as_nested_array, a matrix": (pn.as_nested_array, MATRIX),
    "nested_array_from_jagged": (lambda m: pn.nested_array_from_jagged(m, [0, 2]), ROW),
    "nested_array_from_strided": (lambda m: pn.nested_array_from_strided(m, [[2]]), ROW),
    "full_like": (lambda m: pn.full_like(m, 7), ROW),
    "from_dlpack": (pn.from_dlpack, ROW),
    "NumPy's ufunc": (lambda m: np.multiply(DENSE, m), ROW),
}
for _name, _infix in {
    "+": lambda a, b: a + b,
    "*": lambda a, b: a * b,
    "<": lambda a, b: a < b,
    "==": lambda a, b: a == b,
    "-=": lambda a, b: a.clone().__isub__(b),
}.items():
    VALUES[f"dense {_name}"] = (lambda m, f=_infix: f(DENSE, m), ROW)
    for _layout in NESTED:
        VALUES[f"{_layout} {_name}"] = (lambda m, f=_infix, k=_layout: f(NESTED[k], m), ROW)
for _layout, _nested in NESTED.items():
    VALUES |= {
        f"{_layout} where": (lambda m, x=_nested: pn.where(x > 2, x, m), ROW),
        f"{_layout} where, condition": (lambda m, x=_nested: pn.where(m, x, 0.0), FLAGS),
        f"{_layout} masked_fill": (lambda m, x=_nested: pn.masked_fill(x, m, 0.0), FLAGS),
        f"{_layout} matmul": (lambda m, x=_nested: pn.matmul(x, m), MATRIX),
        f"{_layout} bmm": (lambda m, x=_nested: pn.bmm(x, m), CUBE),
        f"{_layout} linear": (lambda m, x=_nested: pn.linear(x, m), MATRIX),
        f"{_layout} linear, bias": (lambda m, x=_nested: pn.linear(x, DENSE, m), ROW),
        f"{_layout} layer_norm": (lambda m, x=_nested: pn.layer_norm(x, 2, m, ROW), ROW),
        f"{_layout} cross_entropy": (
            lambda m, x=_nested, k=_layout: pn.cross_entropy(x[:, :1], FLAT[k][:, :1], weight=m),
            ROW,
        ),
        f"{_layout} embedding": (lambda m, k=_layout: pn.embedding(FLAT[k], m), MATRIX),
        f"{_layout} equal": (lambda m, x=_nested: pn.equal(x[1:], m), MATRIX[None]),
        f"{_layout} copy_": (lambda m, x=_nested: x.clone().copy_(m), ROW),
        f"{_layout} assignment": (lambda m, x=_nested: assigned(x.clone(), (slice(None), 0), m), ROW),
        f"{_layout} elementwise": (lambda m, x=_nested: pn.elementwise("f", lambda a, b: a + b, x, m), ROW),
        f"{_layout} map_components": (lambda m, x=_nested: pn.map_components(lambda a, b: a + b, x, m), ROW),
        f"{_layout} padded, out": (lambda m, x=_nested: pn.to_padded_array(x, 0.0, out=m), np.zeros((2, 2, 2))),
    }

# What takes integers that say where something is.
PLACES: dict[str, Place] = {
    "offsets": (lambda m: pn.nested_array_from_jagged(ROW, m), np.array([0, 1, 2])),
    "lengths": (lambda m: pn.nested_array_from_jagged(ROW, lengths=m), np.array([1, 1])),
    "offsets beside lengths": (lambda m: pn.nested_array_from_jagged(ROW, m, [1]), np.array([0, 2])),
    "sizes": (lambda m: pn.nested_array_from_strided(ROW, m), np.array([[1], [1]])),
    "strides": (lambda m: pn.nested_array_from_strided(ROW, [[2]], m), np.array([[1]])),
    "strided offsets": (lambda m: pn.nested_array_from_strided(ROW, [[2]], None, m), np.array([0])),
    "narrow, start": (lambda m: pn.narrow(DENSE, 1, m, 1), np.array([0, 1])),
    "narrow, length": (lambda m: pn.narrow(DENSE, 1, 0, m), np.array([0, 1])),
    "Jagged, offsets": (lambda m: Jagged(m).offsets.tolist(), np.array([0, 1, 2])),
    "Jagged, lengths": (lambda m: Jagged([0, 2], m).component_lengths.tolist(), np.array([1])),
    "Strided, sizes": (lambda m: Strided(m, None, None, 2).sizes.tolist(), np.array([[1], [1]])),
    "Strided, strides": (lambda m: Strided([[2]], m, None, 2).strides.tolist(), np.array([[1]])),
    "Strided, offsets": (lambda m: Strided([[2]], None, m, 2).offsets.tolist(), np.array([0])),
}
BOTH = VALUES | PLACES


class Own(np.ndarray):  # type: ignore[type-arg]
    """A class of somebody else."""


def listed(x: Any) -> Any:
    if isinstance(x, pn.NestedArray):
        return [one.tolist() for one in x.unbind()]
    return x.tolist() if isinstance(x, pn.Array) else x


@pytest.mark.parametrize("name", BOTH)
def test_masked_arrays_are_refused(name: str) -> None:
    call, fits = BOTH[name]
    for mask in (False, np.arange(fits.size).reshape(fits.shape) == 0):
        with pytest.raises(ArgumentError, match=r"m\.filled\(0\).*masked_select"):
            call(np.ma.array(fits, mask=mask))


OPERATORS = ("eq", "ne", "lt", "le", "gt", "ge", "add", "sub", "mul", "truediv", "matmul", "floordiv", "mod", "pow")
IN_PLACE = ("iadd", "isub", "imul", "itruediv", "ifloordiv", "ipow")  # np.ma.masked answers itself, and asks nobody
OTHERS = ("floordiv", "mod", "pow", "ifloordiv", "ipow")  # pynested has none of these


@pytest.mark.parametrize("name", OPERATORS + IN_PLACE)
def test_masked_arrays_are_refused_on_either_side(name: str) -> None:
    function, three = getattr(operator, name), np.array([4.0, 5.0, 6.0])
    masked = [np.ma.array(three, mask=mask) for mask in (False, True, [True, False, True])]
    masked += [np.ma.array([three, three]), np.ma.masked]
    ours = [pn.array(three), pn.nested_array([three[:1], three])]
    ours += [pn.nested_array([three] * 2, layout=layout) for layout in LAYOUTS]
    message = r"m\.filled\(0\).*masked_select" if name not in OTHERS else None
    for x in ours:
        for m in masked:
            left = m.copy()
            if m is not np.ma.masked or name not in IN_PLACE:
                with pytest.raises(ArgumentError, match=message):
                    function(left, x)
            with pytest.raises(ArgumentError, match=message):
                function(x, m)
            assert left.tolist() == m.tolist()


def test_functions_of_masked_arrays_say_what_to_do() -> None:
    for x in (pn.array([1.0]), pn.nested_array([[1.0]]), pn.nested_array([[1.0]], layout=pn.jagged)):
        with pytest.raises(ArgumentError, match=r"NumPy compute, of x\.numpy\(\)"):
            np.ma.add(x, 1.0)


@pytest.mark.parametrize("name", BOTH)
def test_other_classes_become_plain(name: str) -> None:
    call, fits = BOTH[name]
    others = [fits.copy().view(Own)]
    if fits.ndim == 2:
        with warnings.catch_warnings(action="ignore"):  # that the class is not recommended
            others.append(np.matrix(fits))  # type: ignore[arg-type]
    expected = call(fits.copy())
    for other in others:
        made = call(other)
        assert listed(made) == listed(expected)
        arrays = [made.data] if isinstance(made, pn.NestedArray) else [made] if isinstance(made, pn.Array) else []
        assert all(type(one.data) is np.ndarray for one in arrays)


FOREIGN = (
    "complex64",
    "complex128",
    "uint16",
    "uint32",
    "uint64",
    "longdouble",
    "M8[s]",
    "m8[s]",
    "O",
    "S3",
    "U3",
    "V4",
    "i4, f8",
)


@pytest.mark.parametrize("name", [name for name in BOTH if "entry" not in name and name != BARE])
def test_other_dtypes_are_refused(name: str) -> None:
    call, fits = BOTH[name]
    for kind in map(np.dtype, FOREIGN):
        if name in PLACES and kind.kind == "u":
            assert listed(call(fits.astype(kind))) == listed(call(fits))
            continue
        for shape in (fits.shape, (0, *fits.shape[1:])):
            with pytest.raises((DTypeError, ExchangeError)):
                call(np.zeros(shape, kind))


def test_memory_is_shared_with_a_file(tmp_path: Path) -> None:
    written = np.memmap(tmp_path / "numbers", np.float64, "w+", shape=(4,))
    for make in (
        lambda: pn.array(written, copy=False),
        lambda: pn.nested_array_from_jagged(written, [0, 4]).values(),
        lambda: pn.nested_array_from_strided(written, [[4]])[0],
    ):
        x = make()
        x[0] = written[0] + 1
        assert written[0] == x[0].item() and type(x.data) is np.ndarray
    written.flush()
    assert np.fromfile(tmp_path / "numbers")[0] == 3
    assert not np.shares_memory(pn.array(written).numpy(), written)


def test_masks_deep_in_lists() -> None:
    masked = np.ma.array([1.0, 2.0], mask=[True, False])
    shared = [masked]
    for value in ([np.ma.masked, 1.0], [[1.0, np.ma.masked]], [(1.0, 2.0), masked], [[shared], [shared]]):
        for make in (pn.array, lambda v: pn.nested_array([v]), lambda v: pn.as_nested_array([v])):
            with pytest.raises(ArgumentError, match="filled"):
                make(value)
    with pytest.raises(ArgumentError, match="filled"):
        pn.nested_array_from_jagged(ROW, [0, np.ma.array(2, mask=True)])
    with pytest.raises(ArgumentError, match="filled"):
        DENSE[np.ma.array(1, mask=True)]


def test_integers_beyond_int64_are_no_floats() -> None:
    for value in ([2**63, -1], [2**64, 0], 2**70, [[1], [2**63]], (2**63,)):
        with pytest.raises(OverflowError, match="int64"):
            pn.array(value)
        with pytest.raises(OverflowError, match="int64"):
            pn.nested_array([value])
        with pytest.raises(OverflowError, match="int64"):
            pn.zeros(2).copy_([value])
    assert pn.array([2**63, 0.5]).tolist() == [2.0**63, 0.5]


def test_lists_of_nothing_and_of_lists_that_hold_themselves() -> None:
    assert pn.array([]).dtype == pn.array([[], []]).dtype == np.float64
    for dtype in ("bool", "int8", "float16"):  # a list without elements has none to lose
        for made in (pn.array([[], []], dtype=dtype), pn.nested_array([], dtype=dtype), pn.as_nested_array((), dtype)):
            assert made.dtype == np.dtype(dtype) and not made.numel()
    assert pn.nested_array_from_jagged(np.zeros((0, 2)), lengths=[]).shape[0] == 0
    own: list[Any] = [1.0]
    own.append(own)
    with pytest.raises(ArgumentError):
        pn.array(own)
