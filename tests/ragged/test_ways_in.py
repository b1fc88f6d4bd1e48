"""No number changes unseen: every way into an array, every dtype, the ends of its range and what lies beyond.

What is inside arrives as it is, or rounded once where that is a float. What is not is refused, and nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import DTypeError

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


def target(dtype: str, layout: Any = None, ones: bool = False) -> Any:
    """Two zeros, or ones, dense or as the one component of a nested array."""
    x = pn.full((2,), int(ones), dtype=dtype)
    return x if layout is None else pn.as_nested_array([x], layout=layout)


def read(x: Any) -> list[Any]:
    return (x.values() if x.is_nested else x).tolist()  # type: ignore[no-any-return]


# ---- arrays of two elements -----------------------------------------------------------------------------------------

Made = Callable[[Numbers, str], Any]
MADE: dict[str, Made] = {
    "array": lambda v, d: pn.array(v, dtype=d),
    "array of a list": lambda v, d: pn.array(v.tolist(), dtype=d),
    "array of an Array": lambda v, d: pn.array(pn.array(v), dtype=d),
    "array that shares": lambda v, d: pn.array(v, dtype=d, copy=False),
    "as_nested_array of a matrix": lambda v, d: pn.as_nested_array(v[None], dtype=d),
}
for _layout in LAYOUTS:
    _name = _layout.name
    MADE |= {
        f"{_name} nested_array": lambda v, d, k=_layout: pn.nested_array([v], dtype=d, layout=k),
        f"{_name} nested_array of lists": lambda v, d, k=_layout: pn.nested_array([v.tolist()], dtype=d, layout=k),
        f"{_name} nested_array of two": lambda v, d, k=_layout: pn.nested_array([v[:1], v[1:]], dtype=d, layout=k),
        f"{_name} nested_array of dtypes": lambda v, d, k=_layout: pn.nested_array(
            [np.zeros(0, np.int8), v], dtype=d, layout=k
        ),
        f"{_name} as_nested_array": lambda v, d, k=_layout: pn.as_nested_array([pn.array(v)], dtype=d, layout=k),
        f"{_name} as_nested_array of nested": lambda v, d, k=_layout: pn.as_nested_array(
            pn.nested_array([v], layout=k), dtype=d
        ),
    }

Write = Callable[[Any, Numbers], Any]


def _one_by_one(x: Any, v: Numbers) -> None:
    for i, number in enumerate(v[::-1]):  # the second one first: it is the one that may not fit
        x[1 - i] = number


WRITES: dict[str, tuple[Any, Write]] = {
    "copy_": (None, lambda x, v: x.copy_(v)),
    "copy_ of an Array": (None, lambda x, v: x.copy_(pn.array(v))),
    "copy_ of a list": (None, lambda x, v: x.copy_(v.tolist())),
    "[...]": (None, lambda x, v: x.__setitem__(..., v)),
    "a slice": (None, lambda x, v: x.__setitem__(slice(0, 2), pn.array(v))),
    "a slice of a list": (None, lambda x, v: x.__setitem__(slice(None), v.tolist())),
    "backwards": (None, lambda x, v: x.__setitem__(slice(None, None, -1), v[::-1])),
    "NumPy's scalars": (None, _one_by_one),
}
for _layout in LAYOUTS:
    _name = _layout.name
    WRITES |= {
        f"{_name} copy_": (_layout, lambda x, v: x.copy_(v)),
        f"{_name} copy_ of nested": (_layout, lambda x, v: x.copy_(pn.nested_array([v], layout=x.layout))),
        f"{_name} copy_ of the other layout": (
            _layout,
            lambda x, v: x.copy_(pn.nested_array([v], layout=LAYOUTS[x.layout is LAYOUTS[0]])),
        ),
        f"{_name} component": (_layout, lambda x, v: x.__setitem__(0, v)),
        f"{_name} component of a list": (_layout, lambda x, v: x.__setitem__(0, v.tolist())),
        f"{_name} slice": (_layout, lambda x, v: x.__setitem__((slice(None), slice(0, 2)), pn.array(v))),
        f"{_name} backwards": (_layout, lambda x, v: x.__setitem__((slice(None), slice(None, None, -1)), v[::-1])),
    }
# These promote first, so that what they write is a float wherever one of the two is.


def expected(values: Numbers, dtype: str) -> list[Any]:
    return converted(values.tolist(), np.dtype(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("way", MADE)
def test_what_arrays_are_made_of(way: str, dtype: str) -> None:
    make = MADE[way]
    with nothing_warns():
        for values, error in cases(dtype):
            if error is None:
                made = make(values, dtype)
                assert made.dtype == dtype and read(made) == expected(values, dtype)
            else:
                with pytest.raises(error, match=dtype):
                    make(values, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("way", WRITES)
def test_what_is_written(way: str, dtype: str) -> None:
    layout, write = WRITES[way]
    with nothing_warns():
        for values, error in cases(dtype):
            x = target(dtype, layout)
            if error is None:
                write(x, values)
                assert x.dtype == dtype and read(x) == expected(values, dtype)
            else:
                with pytest.raises(error, match=dtype):
                    write(x, values)
                assert read(x) == [0, 0]


def cases(dtype: str) -> list[tuple[Numbers, type[Exception] | None]]:
    """Pairs of numbers, and the error that they are in this dtype."""
    floats = np.array([0.1, 1 + 2.0**-11 + 2.0**-40])
    if dtype in FLOATS[1:]:
        integers = np.array([2**53 + 1, -(2**62) - 1])
        return [(integers, None), (floats, None), (np.array([1e300, -np.inf]), None), (np.array([True, False]), None)]
    least, greatest = ENDS[dtype]
    beyond = [] if dtype == "int64" else [(np.array([0, greatest + 1]), OverflowError)]
    beyond += [] if dtype == "int64" else [(np.array([1, least - 1]), OverflowError)]
    beyond += [(np.array([-128, -1], np.int8), OverflowError)] if dtype == "uint8" else []
    beyond += [(np.array([0, 200], np.uint8), OverflowError)] if dtype == "int8" else []
    fits: list[Any] = [(np.array([least, greatest]), None), (np.array([0, 1], np.uint8), None)]
    fits += [(np.array([True, False]), None)]
    if dtype == "float16":
        return [*fits, *beyond, (floats, None), (np.array([65519.999, 1e6]), None)]
    return [*fits, *beyond, (floats, DTypeError), (np.array([1.0, 0.0], np.float32), DTypeError)]


# ---- single numbers -------------------------------------------------------------------------------------------------

Fill = Callable[[Any, str], Any]
TRUE = np.array([True, True])
FILLS: dict[str, Fill] = {
    "full": lambda n, d: pn.full((2,), n, dtype=d),
    "full_like": lambda n, d: pn.full_like(pn.zeros(2), n, dtype=d),
    "fill_": lambda n, d: target(d).fill_(n),
    "masked_fill": lambda n, d: target(d).masked_fill(TRUE, n),
    "masked_fill_": lambda n, d: target(d).masked_fill_(TRUE, n),
    "where": lambda n, d: pn.where(~TRUE, target(d), n),
    "where first": lambda n, d: pn.where(TRUE, n, target(d)),
    "to_padded_array": lambda n, d: pn.to_padded_array(pn.as_nested_array([target(d)]), n, (1, 4))[0, 2:],
}


def _assigned(x: Any, index: Any, value: Any) -> Any:
    x[index] = value
    return x


for _layout in (None, *LAYOUTS):
    _name = "dense" if _layout is None else _layout.name
    FILLS[f"{_name} [...]"] = lambda n, d, k=_layout: _assigned(target(d, k), ..., n)
    FILLS[f"{_name} filled"] = lambda n, d, k=_layout: target(d, k).fill_(n)
for _layout in LAYOUTS:
    _name = _layout.name
    FILLS |= {
        f"{_name} full_like": lambda n, d, k=_layout: pn.full_like(target("int8", k), n, dtype=d),
        f"{_name} masked_fill": lambda n, d, k=_layout: target(d, k).masked_fill(TRUE, n),
        f"{_name} masked_fill_": lambda n, d, k=_layout: target(d, k).masked_fill_(TRUE, n),
        f"{_name} where": lambda n, d, k=_layout: pn.where(~TRUE, target(d, k), n),
        f"{_name} backwards": lambda n, d, k=_layout: _assigned(target(d, k), (slice(None), slice(None, None, -1)), n),
        f"{_name} padded": lambda n, d, k=_layout: pn.to_padded_array(target(d, k), n, (1, 4))[0, 2:],
    }
PROMOTING = {way for way in FILLS if "where" in way}  # bool with 2 is int64 there


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("way", FILLS)
def test_one_number_that_fills(way: str, dtype: str) -> None:
    fill, kind = FILLS[way], np.dtype(dtype)
    least, greatest = ENDS.get(dtype, (-(2**70), 2**70))
    with nothing_warns():
        for number in (least, greatest, True, 0, 1.0):
            higher = "bi" if type(number) is float else "b" if type(number) is int else ""
            if way in PROMOTING and kind.kind.replace("u", "i") in higher:
                continue
            made = fill(number, dtype)
            assert made.dtype == dtype and read(made) == expected(np.array([number] * 2, object), dtype)
        if dtype in ENDS and (way not in PROMOTING or dtype != "bool"):
            refused = (OverflowError, DTypeError) if dtype == "bool" else OverflowError
            for number in (least - 1, greatest + 1, 2**70, -(2**2000)):
                with pytest.raises(refused, match=dtype):
                    fill(number, dtype)
        if dtype in INTEGERS and way not in PROMOTING:
            for fraction in (0.5, np.nan, -np.inf):
                with pytest.raises(DTypeError, match=dtype):
                    fill(fraction, dtype)
        if dtype == "float16":
            assert read(fill(0.1, dtype)) == expected(np.array([0.1, 0.1]), dtype)
            for number in (1e5, -65520.0):
                with pytest.raises(OverflowError, match="float16"):
                    fill(number, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_that_are_counted_or_drawn(dtype: str) -> None:
    if dtype in ENDS:
        least, greatest = ENDS[dtype]
        assert read(pn.arange(least, least + 2, dtype=dtype)) == expected(np.array([least, least + 1]), dtype)
        assert read(pn.randint(greatest, greatest + 1, (2,), dtype=dtype)) == expected(np.array([greatest] * 2), dtype)
        wrong: list[Callable[[], Any]] = [
            lambda: pn.arange(greatest, greatest + 2, dtype=dtype),
            lambda: pn.arange(least, least - 2, -1, dtype=dtype),
            lambda: pn.randint(greatest - 1, greatest + 2, (2,), dtype=dtype),
            lambda: pn.randint_like(target(dtype), least - 1, least + 1),
            lambda: pn.randint_like(target(dtype, pn.jagged), greatest, greatest + 2),
        ]
        for call in wrong:
            with pytest.raises(OverflowError):
                call()
    if dtype in FLOATS:
        assert read(pn.arange(0, 1, 0.1, dtype=dtype)) == expected(np.arange(10) * 0.1, dtype)
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


@pytest.mark.parametrize("layout", [None, *LAYOUTS])
def test_a_number_has_to_fit_whatever_alpha_makes_of_the_result(layout: Any) -> None:
    x = target("uint8", layout)
    for operation in (pn.add, pn.sub):
        for pair in ((-129, x), (x, -129)):
            with pytest.raises(OverflowError, match="-129"):
                operation(*pair, alpha=0.5)
    assert read(pn.sub(4, pn.array([2], dtype="uint8"), alpha=0.5)) == [3.0]
