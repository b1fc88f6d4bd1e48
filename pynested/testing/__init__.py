"""Assertions for the tests of others: that two arrays, nested or dense, of whatever library, are the same.

PyTorch is recognised where it is already imported, and never imported here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pynested.autograd.arguments.scalars import canonical_real
from pynested.autograd.call_errors import check_flags
from pynested.backends.errors import ArgumentError

from .differences import Tolerance, difference
from .sides import Nest, Several, Side, dense_of_list, is_number, side_of

__all__ = ["TOLERANCES", "assert_close"]

TOLERANCES: Mapping[str, Tolerance] = {
    "bfloat16": (1.6e-2, 1e-5),
    "float16": (1e-3, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}
"""The relative and the absolute tolerance of each dtype, as in `torch.testing`; other dtypes are compared exactly."""


def assert_close(
    actual: Any,
    expected: Any,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    tolerances: Mapping[Any, Tolerance] | None = None,
    equal_nan: bool = False,
    check_dtype: bool = True,
) -> None:
    """Raise unless ``|actual - expected| <= atol + rtol * |expected|`` everywhere, and shapes and dtypes are the same.

    Parameters
    ----------
    actual, expected : NestedArray, Array, numpy.ndarray, torch.Tensor, number, or a list
        A list beside a nested array holds its components; beside a dense one it is an array; two lists are compared
        entry by entry. Layout, placement, device and gradients are not compared.
    rtol, atol : float, optional
        The tolerances for every dtype; give both or neither.
    tolerances : mapping of dtype to (rtol, atol), optional
        The tolerances of single dtypes, in place of `TOLERANCES`. Of two dtypes the wider tolerances count.
    equal_nan : bool
        Whether NaN is near NaN.
    check_dtype : bool
        Whether dtypes must be the same; Python numbers fit every dtype.

    Raises
    ------
    AssertionError
        Names the first difference of kind, shape, dtype and values: the component, the position, and its size.
    ArgumentError
        For objects that are not arrays, and for invalid tolerances.

    Notes
    -----
    An infinity is near itself only. Integers are compared as they are, never as floats.

    Examples
    --------
    >>> from pynested.testing import assert_close
    >>> nt = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged)
    >>> assert_close(nt * 2, [[2.0, 4.0], [6.0]])
    >>> assert_close(nt * 2, [[2.0, 4.0], [6.5]])
    Traceback (most recent call last):
    ...
    AssertionError: assert_close: values differ: 1 of 3 elements, in 1 of 2 components
        component 1, at [0]: actual 6.0, expected 6.5; off by 0.5, allowed 7.5e-07 (rtol 1e-07, atol 1e-07)
    """
    __tracebackhide__ = True
    allowed = _allowed(rtol, atol, tolerances)
    check_flags("assert_close", equal_nan=equal_nan, check_dtype=check_dtype)
    found = difference(*_both(actual, expected), allowed, equal_nan, check_dtype)
    if found is not None:
        raise AssertionError(f"assert_close: {found}")


def _allowed(rtol: float | None, atol: float | None, tolerances: Mapping[Any, Tolerance] | None) -> Any:
    """Return the function from the name of a dtype to its tolerances."""
    if (rtol is None) != (atol is None):
        given, lacks = ("rtol", "atol") if atol is None else ("atol", "rtol")
        raise ArgumentError(f"assert_close: {given} is given without {lacks}. Give both, or neither.")
    if rtol is not None and tolerances is not None:
        raise ArgumentError("assert_close: rtol and atol are for every dtype. Give them, or tolerances.")
    if rtol is not None and atol is not None:
        same = _checked(rtol, atol)
        return lambda dtype: same
    named = {**TOLERANCES, **{_name(dtype): _checked(*pair) for dtype, pair in (tolerances or {}).items()}}
    return lambda dtype: named.get(dtype, (0.0, 0.0))


def _checked(rtol: float, atol: float) -> Tolerance:
    return canonical_real("assert_close", "rtol", rtol, 0), canonical_real("assert_close", "atol", atol, 0)


def _name(dtype: Any) -> str:
    """Return the name of a dtype of NumPy or PyTorch."""
    text = str(dtype).removeprefix("torch.")
    return text if text in TOLERANCES else np.dtype(text if str(dtype) != text else dtype).name


def _both(actual: Any, expected: Any) -> tuple[Side, Side]:
    """Return both sides; what a list stands for depends on the other side."""
    of_actual, of_expected = isinstance(actual, (list, tuple)), isinstance(expected, (list, tuple))
    if not of_actual and not of_expected:
        return side_of(actual), side_of(expected)
    if not of_actual:
        a = side_of(actual)
        return a, _as_the_other("expected", expected, a)
    if not of_expected:
        b = side_of(expected)
        return _as_the_other("actual", actual, b), b
    if all(is_number(one) for one in (*actual, *expected)):
        return side_of(np.array(actual), weak=True), side_of(np.array(expected), weak=True)
    pairs = [_both(*pair) for pair in zip(actual, expected, strict=False)]
    return Several(len(actual), [one for one, _ in pairs]), Several(len(expected), [one for _, one in pairs])


def _as_the_other(which: str, values: Any, other: Side) -> Side:
    """Return a list as components beside a nested array, as an array beside a dense one."""
    if isinstance(other, Nest):
        return Nest.of_list(values, other)
    return dense_of_list(which, values)
