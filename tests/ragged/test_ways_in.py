"""Ways into an array, for each dtype: numbers in its range are stored, or rounded once; others are refused.

A refused write leaves the memory as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError, DTypeError

from ..batches import nothing_warns
from ..conversions import converted
from ..nests import LAYOUTS, Numbers

INTEGERS = ("int8", "int16", "int32", "int64", "uint8")
FLOATS = ("float16", "float32", "float64")
DTYPES = ("bool", *INTEGERS, *FLOATS)
ENDS: dict[str, tuple[int, int]] = {
    "bool": (0, 1),
    "float16": (-65519, 65519),  # which are rounded to 65504; from 65520 on an infinity is nearer
    **{name: (int(np.iinfo(name).min), int(np.iinfo(name).max)) for name in INTEGERS},
}
FORMS = {"dense": None, "jagged": pn.jagged, "strided": pn.strided}

# A function of an array of two zeros, for its dtype and layout, and of two numbers; it returns an array of the numbers.
Way = Callable[[Any, Any], Any]


def assigned(x: Any, index: Any, value: Any) -> Any:
    x[index] = value
    return x


def element_by_element(x: Any, values: Numbers) -> Any:
    for i, number in enumerate(values[::-1]):  # the second number first, because it may be refused
        x[..., 1 - i] = number
    return x


DENSE_ARRAYS: dict[str, Way] = {
    "array": lambda x, v: pn.array(v, dtype=x.dtype),
    "array of a list": lambda x, v: pn.array(list(v), dtype=x.dtype),
    "array of an Array": lambda x, v: pn.array(pn.array(v), dtype=x.dtype),
    "array that shares": lambda x, v: pn.array(v, dtype=x.dtype, copy=False),
    "as_nested_array of a matrix": lambda x, v: pn.as_nested_array(v[None], dtype=x.dtype),
    "copy_ of a list": lambda x, v: x.copy_(v.tolist()),
    "a slice of a list": lambda x, v: assigned(x, slice(None), v.tolist()),
}
NESTED_ARRAYS: dict[str, Way] = {
    "nested_array": lambda x, v: pn.nested_array([v], dtype=x.dtype, layout=x.layout),
    "nested_array of lists": lambda x, v: pn.nested_array([v.tolist()], dtype=x.dtype, layout=x.layout),
    "nested_array of two": lambda x, v: pn.nested_array([v[:1], v[1:]], dtype=x.dtype, layout=x.layout),
    "nested_array of dtypes": lambda x, v: pn.nested_array([np.zeros(0, "i1"), v], dtype=x.dtype, layout=x.layout),
    "as_nested_array": lambda x, v: pn.as_nested_array([pn.array(v)], dtype=x.dtype, layout=x.layout),
    "as_nested_array of nested": lambda x, v: pn.as_nested_array(pn.nested_array([v], layout=x.layout), dtype=x.dtype),
    "copy_ of nested": lambda x, v: x.copy_(pn.nested_array([v], layout=x.layout)),
    "copy_ of the other layout": lambda x, v: x.copy_(pn.nested_array([v], layout=LAYOUTS[x.layout is LAYOUTS[0]])),
    "component": lambda x, v: assigned(x, 0, v),
    "component of a list": lambda x, v: assigned(x, 0, v.tolist()),
}
WRITES: dict[str, Way] = {
    "copy_": lambda x, v: x.copy_(v),
    "copy_ of an Array": lambda x, v: x.copy_(pn.array(v)),
    "[...]": lambda x, v: assigned(x, ..., v),
    "slice": lambda x, v: assigned(x, (..., slice(0, 2)), pn.array(v)),
    "backwards": lambda x, v: assigned(x, (..., slice(None, None, -1)), v[::-1]),
    "element by element": element_by_element,
}
TRUE = np.array([True, True])
NUMBERS: dict[str, Way] = {  # one number, twice
    "full": lambda x, n: pn.full((2,), n, dtype=x.dtype),
    "full_like": lambda x, n: pn.full_like(x.to("int8"), n, dtype=x.dtype),
    "fill_": lambda x, n: x.fill_(n),
    "fill [...]": lambda x, n: assigned(x, ..., n),
    "fill backwards": lambda x, n: assigned(x, (..., slice(None, None, -1)), n),
    "masked_fill": lambda x, n: x.masked_fill(TRUE, n),
    "masked_fill_": lambda x, n: x.masked_fill_(TRUE, n),
    "where": lambda x, n: pn.where(~TRUE, x, n),
    "where first": lambda x, n: pn.where(TRUE, n, x),
    "to_padded_array": lambda x, n: pn.to_padded_array(x if x.is_nested else pn.as_nested_array([x]), n, (1, 4))[0, 2:],
}


def target(dtype: str, form: str) -> Any:
    """Return two zeros, dense or as the one component of a nested array."""
    x = pn.zeros(2, dtype=dtype)
    return x if form == "dense" else pn.as_nested_array([x], layout=FORMS[form])


def ways(form: str) -> dict[str, Way]:
    return (DENSE_ARRAYS if form == "dense" else NESTED_ARRAYS) | WRITES


def pairs(dtype: str) -> Iterator[tuple[Numbers, type[Exception] | None]]:
    """Yield two numbers, and the error that they raise in this dtype."""
    floats = np.array([0.1, 1 + 2.0**-11 + 2.0**-40])
    yield np.array([True, False]), None
    yield floats, None if dtype in FLOATS else DTypeError
    if dtype in FLOATS[1:]:
        yield np.array([2**53 + 1, -(2**62) - 1]), None
        yield np.array([1e300, -np.inf]), None
        return
    least, greatest = ENDS[dtype]
    yield np.array([least, greatest]), None
    yield np.array([0, 1], np.uint8), None
    if dtype == "float16":
        yield np.array([65519.999, 1e6]), None  # beyond 65504 they become infinities, as in a conversion (TO-2)
        yield np.array([2049.0, -1e300]), None
    else:
        yield np.array([1.0, 0.0], np.float32), DTypeError
    if dtype != "int64":
        yield np.array([0, greatest + 1]), OverflowError
        yield np.array([1, least - 1]), OverflowError
    if dtype in ("int8", "uint8"):
        yield np.array([0, 200], np.uint8) if dtype == "int8" else np.array([-128, -1], np.int8), OverflowError


def fills(dtype: str, promotes: bool) -> Iterator[tuple[Any, Any]]:
    """Yield a number, and the error that it raises; a way that ``promotes`` takes the dtype of a larger kind."""
    least, greatest = ENDS.get(dtype, (-(2**70), 2**70))
    kinds = (bool,) if dtype == "bool" else (bool, int) if dtype in INTEGERS else (bool, int, float)
    for number in (least, greatest, True, 0, 1.0):
        if not promotes or type(number) in kinds:
            yield number, None
    if dtype in ENDS and (not promotes or dtype != "bool"):
        for number in (least - 1, greatest + 1, 2**70, -(2**2000)):
            yield number, (OverflowError, DTypeError) if dtype == "bool" else OverflowError
    if dtype in INTEGERS and not promotes:
        yield from ((number, DTypeError) for number in (0.5, np.nan, -np.inf))
    if dtype == "float16":
        yield 0.1, None
        yield from ((number, OverflowError) for number in (1e5, -65520.0))


def check_way(way: Way, form: str, dtype: str, values: Any, error: Any) -> None:
    """Compare the stored numbers with exact arithmetic, or check that a refusal stores none."""
    result = x = target(dtype, form)
    expected = [0, 0]
    if error is None:
        result = way(x, values)
        numbers = values.tolist() if isinstance(values, np.ndarray) else [values, values]
        expected = converted(numbers, np.dtype(dtype))
    else:
        with pytest.raises(error, match=dtype):
            way(x, values)
    assert result.dtype == dtype and (result.values() if result.is_nested else result).tolist() == expected


@pytest.mark.parametrize(("form", "name"), [(form, name) for form in FORMS for name in ways(form)])
def test_numbers_of_an_array_are_stored_or_refused(form: str, name: str) -> None:
    with nothing_warns():
        for dtype in DTYPES:
            for values, error in pairs(dtype):
                check_way(ways(form)[name], form, dtype, values, error)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_is_stored_or_refused(name: str, form: str) -> None:
    with nothing_warns():
        for dtype in DTYPES:
            for number, error in fills(dtype, "where" in name):
                check_way(NUMBERS[name], form, dtype, number, error)


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_that_are_counted_or_drawn(dtype: str) -> None:
    if dtype in ENDS:
        least, greatest = ENDS[dtype]
        assert pn.arange(least, least + 2, dtype=dtype).tolist() == converted([least, least + 1], np.dtype(dtype))
        drawn = 65504 if dtype == "float16" else greatest  # random integers are not rounded
        assert pn.randint(drawn, drawn + 1, (1,), dtype=dtype).tolist() == [drawn]
        for call in (
            lambda: pn.arange(greatest, greatest + 2, dtype=dtype),
            lambda: pn.arange(least, least - 2, -1, dtype=dtype),
            lambda: pn.randint(greatest - 1, greatest + 2, (2,), dtype=dtype),
            lambda: pn.randint_like(target(dtype, "dense"), least - 1, least + 1),
            lambda: pn.randint_like(target(dtype, "jagged"), greatest, greatest + 2),
        ):
            with pytest.raises(OverflowError):
                call()
    if dtype in FLOATS:
        assert pn.arange(0, 1, 0.1, dtype=dtype).tolist() == converted(np.arange(10) * 0.1, np.dtype(dtype))
    else:
        assert pn.arange(0.0, 2.0, dtype=dtype).tolist() == [0, 1]
        with pytest.raises(DTypeError):
            pn.arange(0, 1, 0.5, dtype=dtype)


def test_limits_of_arange() -> None:
    assert pn.arange(np.float32(2)).dtype == np.float32 and pn.arange(pn.array(2.0)).dtype == np.float64
    assert pn.arange(-(2**63), 2**63 - 1, 2**62).tolist() == [-(2**63), -(2**62), 0, 2**62]
    assert pn.arange(5, 0, -2).tolist() == [5, 3, 1] and pn.arange(0, 5, -1).tolist() == []
    with pytest.raises(OverflowError, match="float16"):
        pn.arange(0.0, 8e4, 1e4, dtype="float16")
    for limits in ((2**63,), (0, 1e300), (0, 1, 1e-300), (-1.7e308, 1.7e308, 1e308)):
        with pytest.raises((OverflowError, ValueError), match="^arange: "):
            pn.arange(*limits)


@pytest.mark.parametrize("form", FORMS)
def test_a_number_must_fit_for_any_alpha(form: str) -> None:
    x = target("uint8", form)
    for function in (pn.add, pn.sub):
        for pair in ((-129, x), (x, -129)):
            with pytest.raises(OverflowError, match="-129"):
                function(*pair, alpha=0.5)


def test_integers_beyond_int64_are_refused() -> None:
    for value in ([2**63, -1], [2**64, 0], 2**70, [[1], [2**63]], (2**63,)):
        for make in (pn.array, lambda value: pn.nested_array([value]), lambda value: pn.zeros(2).copy_([value])):
            with pytest.raises(OverflowError, match="int64"):
                make(value)
    assert pn.array([2**63, 0.5]).tolist() == [2.0**63, 0.5]


def test_empty_lists_and_a_list_that_contains_itself() -> None:
    assert pn.array([]).dtype == pn.array([[], []]).dtype == np.float64
    for dtype in ("bool", "int8", "float16"):  # a list without elements has none to lose
        for x in (pn.array([[], []], dtype=dtype), pn.nested_array([], dtype=dtype), pn.as_nested_array((), dtype)):
            assert x.dtype == np.dtype(dtype) and not x.numel()
    endless: list[Any] = [1.0]
    endless.append(endless)
    with pytest.raises(ArgumentError):
        pn.array(endless)
