"""Arrays of other classes and dtypes as arguments: subclasses of ndarray become ndarrays, all others are refused.

The arguments are those of each way into an array, each parameter that describes a structure, and each dense operand of
the sample inputs.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError, DTypeError, ExchangeError

from ..batches import Batch, Call
from ..calls import CALLS
from ..nests import LAYOUTS, Numbers, nest, plain
from ..support.samples import sample_arguments
from .test_ways_in import FORMS, WRITES, target

ROW, MATRIX = np.array([1.0, 2.0]), np.array([[1.0, 2.0], [3.0, 4.0]])
Sample = tuple[Callable[[Any], Any], Numbers]  # a function of one array, and an argument of it

# Functions without a sample input, and operands that sample inputs leave out.
FUNCTIONS: dict[str, Sample] = {
    "the constructor": (pn.Array, ROW),
    "array": (pn.array, ROW),
    "array without a copy": (lambda m: pn.array(m, copy=False), ROW),
    "an entry of a list": (lambda m: pn.array([[0.0, 0.0], m]), ROW),
    "an entry of lists in lists": (lambda m: pn.array([[[0.0, 0.0]], [m]]), ROW),
    "nested_array of a matrix": (pn.nested_array, MATRIX),
    "as_nested_array of a matrix": (pn.as_nested_array, MATRIX),
    "nested_array_from_jagged": (lambda m: pn.nested_array_from_jagged(m, [0, 2]), ROW),
    "nested_array_from_strided": (lambda m: pn.nested_array_from_strided(m, [[2]]), ROW),
    "masked_select": (lambda m: pn.masked_select(m, MATRIX > 2), MATRIX),
    "masked_select, mask": (lambda m: pn.masked_select(MATRIX, m), np.array([True, False])),
    "full_like": (lambda m: pn.full_like(m, 7), ROW),
    "from_dlpack": (pn.from_dlpack, ROW),
    "NumPy's ufunc": (lambda m: np.multiply(pn.array(MATRIX), m), ROW),
    "elementwise": (lambda m: pn.elementwise("f", pn.add, nest([ROW]), m), ROW),
    "map_components": (lambda m: pn.map_components(pn.add, nest([ROW]), m), ROW),
    "to_padded_array, out": (lambda m: pn.to_padded_array(nest([ROW]), 0.0, out=m), ROW[None].copy()),
    **{
        f"{form} {name}": (lambda m, write=write, form=form: write(target("float64", form), m), ROW)
        for form in FORMS
        for name, write in {"add_": lambda x, m: x.add_(m), **WRITES}.items()
        if name != "element by element"
    },
}
INTEGERS: dict[str, Sample] = {
    "offsets": (lambda m: pn.nested_array_from_jagged(ROW, m), np.array([0, 1, 2])),
    "lengths": (lambda m: pn.nested_array_from_jagged(ROW, lengths=m), np.array([1, 1])),
    "offsets beside lengths": (lambda m: pn.nested_array_from_jagged(ROW, m, [1]), np.array([0, 2])),
    "sizes": (lambda m: pn.nested_array_from_strided(ROW, m), np.array([[1], [1]])),
    "strides": (lambda m: pn.nested_array_from_strided(ROW, [[2]], m), np.array([[1]])),
    "strided offsets": (lambda m: pn.nested_array_from_strided(ROW, [[2]], None, m), np.array([0])),
    "narrow, start": (lambda m: pn.narrow(MATRIX, 1, m, 1), np.array([0, 1])),
    "narrow, length": (lambda m: pn.narrow(MATRIX, 1, 0, m), np.array([0, 1])),
}
SAMPLES = FUNCTIONS | INTEGERS
FOREIGN = ("complex64", "complex128", "uint16", "uint32", "uint64", "longdouble", "M8[s]", "m8[s]", "O", "S3", "U3",
           "V4", "i4, f8")  # fmt: skip


class Subclass(np.ndarray):  # type: ignore[type-arg]
    """A class of another library."""


def masked(array: Numbers) -> list[Any]:
    return [np.ma.array(array, mask=mask) for mask in (False, np.arange(array.size).reshape(array.shape) == 0)]


def subclasses(array: Numbers) -> list[Any]:
    with warnings.catch_warnings(action="ignore"):  # np.matrix is not recommended
        return [array.view(Subclass), *([np.matrix(array)] if array.ndim == 2 else [])]  # type: ignore[arg-type]


def check_plain(call: Callable[[Any], Any], array: Numbers) -> None:
    """Check that the result of each subclass is that of the array, in memory of NumPy's own class."""
    expected = plain(call(array.copy()))
    for other in subclasses(array.copy()):
        result = call(other)
        np.testing.assert_equal(plain(result), expected)
        for part in result if isinstance(result, tuple) else (result,):
            buffer = part.data if isinstance(part, pn.NestedArray) else part
            assert not isinstance(buffer, pn.Array) or type(buffer.data) is np.ndarray


def check_masked(call: Callable[[Any], Any], array: Numbers) -> None:
    for masked_array in masked(array):
        with pytest.raises(ArgumentError, match=r"m\.filled\(0\).*masked_select"):
            call(masked_array)


@pytest.mark.parametrize("name", SAMPLES)
def test_functions(name: str) -> None:
    call, array = SAMPLES[name]
    check_masked(call, array)
    check_plain(call, array)
    if name in INTEGERS:
        np.testing.assert_equal(plain(call(pn.array(array))), plain(call(array)))
    if "entry" in name or name == "the constructor":
        return  # an entry is converted, and the constructor does not look at the dtype
    for dtype in map(np.dtype, FOREIGN):
        if name in INTEGERS and dtype.kind == "u":
            np.testing.assert_equal(plain(call(array.astype(dtype))), plain(call(array)))
            continue
        for shape in (array.shape, (0, *array.shape[1:])):
            with pytest.raises((DTypeError, ExchangeError)):
                call(np.zeros(shape, dtype))


def dense_operands(call: Call, batch: Batch) -> list[Numbers]:
    """Return the operands of a sample input that are dense arrays."""
    operands: list[Any] = []
    sample_arguments(call, batch, convert=operands.append)
    return [operand.numpy() for operand in operands if not operand.is_nested]


def call_with(call: Call, batch: Batch, number: int, array: Any) -> Any:
    """Call with another array as dense operand ``number``."""
    numbers = count()
    replace = lambda x: array if not x.is_nested and next(numbers) == number else x  # noqa: E731
    arguments, keywords, _ = sample_arguments(call, batch, convert=replace)
    return call.function(*arguments, **keywords)


@pytest.mark.parametrize("op", sorted({call.op for call in CALLS}))
def test_operands(op: str) -> None:
    for call in (call for call in CALLS if call.op == op):
        for kind in call.forms:
            batch = Batch(kind, (2, 2))
            for number, array in enumerate(dense_operands(call, batch)):
                call_with_array = partial(call_with, call, batch, number)
                check_plain(call_with_array, array)
                check_masked(call_with_array, array)
                for dtype in ("complex128", "uint64", "O"):
                    with pytest.raises((DTypeError, ExchangeError)):
                        call_with_array(np.zeros(array.shape, dtype))


OPERATORS = ("eq", "ne", "lt", "le", "gt", "ge", "add", "sub", "mul", "truediv", "matmul", "floordiv", "mod", "pow")
IN_PLACE = ("iadd", "isub", "imul", "itruediv", "ifloordiv", "ipow")  # np.ma.masked answers itself, and asks nobody


@pytest.mark.parametrize("name", OPERATORS + IN_PLACE)
def test_masked_arrays_are_refused_on_either_side(name: str) -> None:
    function, three = getattr(operator, name), np.array([4.0, 5.0, 6.0])
    for x in (pn.array(three), nest([three[:1], three]), *[nest([three] * 2, layout) for layout in LAYOUTS]):
        for m in (*masked(three), np.ma.array([three, three]), np.ma.masked):
            left = m.copy()
            if m is not np.ma.masked or name not in IN_PLACE:
                with pytest.raises(ArgumentError):
                    function(left, x)
            with pytest.raises(ArgumentError):
                function(x, m)
            assert left.tolist() == m.tolist()


def test_functions_of_masked_arrays_say_what_to_do() -> None:
    for x in (pn.array([1.0]), *[nest([np.ones(1)], layout) for layout in LAYOUTS]):
        with pytest.raises(ArgumentError, match=r"To compute with NumPy, use x\.numpy\(\)"):
            np.ma.add(x, 1.0)


def test_masks_deep_in_lists() -> None:
    masked_array = np.ma.array([1.0, 2.0], mask=[True, False])
    shared = [masked_array]
    for value in ([np.ma.masked, 1.0], [[1.0, np.ma.masked]], [(1.0, 2.0), masked_array], [[shared], [shared]]):
        for make in (pn.array, lambda v: pn.nested_array([v]), lambda v: pn.as_nested_array([v])):
            with pytest.raises(ArgumentError, match="filled"):
                make(value)
    for call in (lambda m: pn.nested_array_from_jagged(ROW, [0, m]), lambda m: pn.array(MATRIX)[m]):
        with pytest.raises(ArgumentError, match="filled"):
            call(np.ma.array(1, mask=True))


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
