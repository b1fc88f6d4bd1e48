"""`assert_close`: arrays of any library, texts of differences with their positions, and tolerances."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError
from pynested.testing import assert_close

ROWS = ([1.0, 2.0], [], [3.0])


def nested(*components: Any, layout: Any = pn.jagged, dtype: Any = np.float64) -> Any:
    return pn.nested_array([np.array(component, dtype) for component in components], layout=layout)


def difference(actual: Any, expected: Any, **options: Any) -> str:
    """Return the message of the assertion."""
    with pytest.raises(AssertionError) as caught:
        assert_close(actual, expected, **options)
    return str(caught.value)


@pytest.mark.parametrize("layout", [pn.jagged, pn.strided])
def test_equal_arrays_of_every_form_are_close(layout: Any) -> None:
    x = nested(*ROWS, layout=layout)
    for other in (x, nested(*ROWS), list(ROWS), [np.array(row) for row in ROWS], x.unbind(), x * (1 + 1e-9)):
        assert_close(x, other)
        assert_close(other, x)
    assert_close(pn.array([1, 2]), np.array([1, 2]))
    assert_close([x, pn.array([3.0])], [x, np.array([3.0])])
    assert_close(x[:0], [])


X = nested([1.0, 2.0])
PAIR = nested([1.0], [2.0])
NONE = nested(np.ones((1, 3)))[:0]
WITH_GAPS = pn.nested_array_from_jagged(pn.array([1.0, 2.0, np.nan, 3.0, np.nan]), [0, 3, 5], [2, 1])
DIFFERENCES: list[tuple[Any, Any, list[str]]] = [
    (nested([1.0, 2.0], [3.0, 4.0]), [[1.0, 2.0], [3.0, 4.5]], [
        "values differ: 1 of 4 elements, in 1 of 2 components",
        "component 1, at [1]: actual 4.0, expected 4.5; off by 0.5, allowed 5.5e-07"]),
    (np.array([[1.0, 2.0], [3.0, 9.0]]), np.array([[1.0, 2.5], [3.0, 4.0]]), [
        "values differ: 2 of 4 elements\n", "first: at [0, 1]: actual 2.0, expected 2.5; off by 0.5",
        "farthest: at [1, 1]: actual 9.0, expected 4.0; off by 5"]),
    (np.array([9.0, np.nan]), np.array([1.0, 1.0]), ["farthest: at [1]: actual nan, expected 1.0"]),
    (np.array([2**53 + 1]), np.array([2**53]), ["off by 1, compared exactly"]),
    # shapes
    (WITH_GAPS, [[1, 2, 3], [3]], ["at component 0 along dimension 1: actual has (2,), expected (3,)"]),
    (nested(np.ones((2, 3)), np.ones((1, 3))), nested(np.ones((2, 3)), np.ones((1, 4)), layout=pn.strided), [
        "at component 1 along dimension 2: actual has (1, 3), expected (1, 4)"]),
    (np.ones((2, 3)), np.ones((2, 2)), ["along dimension 1: actual has (2, 3), expected (2, 2)"]),
    (np.ones(2), np.ones((2, 1)), ["in rank: actual has (2,), expected (2, 1)"]),
    (nested(*ROWS), [[1.0, 2.0], []], ["number of components differs: actual has 3, expected 2"]),
    (nested(*ROWS), [[1.0], [2.0], [3.0]], ["so do 1 more of 3 components"]),
    (NONE, nested(np.ones((1, 4)))[:0], ["of no components differ: actual has (0, *, 3), expected (0, *, 4)"]),
    # shapes are compared before dtypes, and dtypes before values
    (X, nested([5], dtype=np.int8), ["shapes differ"]),
    (X, nested([5, 6], dtype=np.int8), ["dtypes differ: actual has float64, expected int8"]),
    # kinds
    (PAIR, np.ones((2, 1)), ["actual is nested, of 2 components, expected dense (2, 1)"]),
    ([PAIR], [PAIR, PAIR], ["the lists differ in length: actual has 1 entries, expected 2"]),
    ([PAIR, PAIR], [PAIR, PAIR + 1], ["entry 1: values differ"]),
    (PAIR, [PAIR], ["holds nested arrays"]),
    (np.ones(2), [[1.0], [1.0, 2.0]], ["entries differ in shape"]),
]  # fmt: skip


@pytest.mark.parametrize(("actual", "expected", "texts"), DIFFERENCES, ids=[texts[0] for *_, texts in DIFFERENCES])
def test_differences(actual: Any, expected: Any, texts: list[str]) -> None:
    message = difference(actual, expected)
    assert [text for text in texts if text not in message] == []


def test_gaps_are_not_compared_and_dtypes_only_by_default() -> None:
    assert_close(WITH_GAPS, [[1.0, 2.0], [3.0]])
    assert_close(WITH_GAPS.sum(1), [3.0, 3.0])
    assert "values differ" in difference(X, nested([5, 6], dtype=np.int8), check_dtype=False)


@pytest.mark.parametrize(
    ("dtype", "rtol", "atol"), [(np.float16, 1e-3, 1e-5), (np.float32, 1.3e-6, 1e-5), (np.float64, 1e-7, 1e-7)]
)
def test_default_tolerances_follow_the_dtype(dtype: Any, rtol: float, atol: float) -> None:
    expected, eps = np.ones(1, dtype), np.finfo(dtype).eps
    steps = int((rtol + atol) / eps)
    assert_close(expected + dtype(steps * eps), expected)
    difference(expected + dtype((steps + 2) * eps), expected)


INF, BIG = np.inf, 2**53
TENTH, WIDE_SINGLE = {"rtol": 0.1, "atol": 0}, {"tolerances": {np.float32: (0.1, 0.0)}}
# The two numbers, the options, and whether the first is close to the second, the expected one.
NUMBERS: list[tuple[Any, Any, dict[str, Any], bool]] = [
    (90.0, 100.0, TENTH, True), (100.0, 90.0, TENTH, False),
    (np.float32(1.05), np.float32(1.0), WIDE_SINGLE, True), (1.05, 1.0, WIDE_SINGLE, False),
    (np.float16(1.0005), 1.0, {"check_dtype": False}, True), (1.0005, np.float16(1.0), {"check_dtype": False}, True),
    (BIG + 1, BIG, {}, False), (BIG + 1, BIG, {"rtol": 0, "atol": 1}, True), (True, False, {}, False),
    (2**63 - 1, -(2**63), {"rtol": 0, "atol": 2**62}, False),
    (np.uint8(3), np.uint8(4), {"rtol": 0, "atol": 1}, True),
    (INF, INF, {}, True), (INF, -INF, {"rtol": 9, "atol": 9}, False), (1.0, INF, {"rtol": 9, "atol": 9}, False),
    (np.nan, np.nan, {}, False), (np.nan, np.nan, {"equal_nan": True}, True), (np.nan, 1.0, {"equal_nan": True}, False),
]  # fmt: skip


@pytest.mark.parametrize(("actual", "expected", "options", "is_close"), NUMBERS)
def test_numbers(actual: Any, expected: Any, options: dict[str, Any], is_close: bool) -> None:
    check = assert_close if is_close else difference
    check(np.array([actual]), np.array([expected]), **options)
    check(pn.nested_array([[actual]]), pn.nested_array([[expected]]), **options)


ERRORS: list[tuple[Any, dict[str, Any], str]] = [
    *[(1.0, options, "rtol|atol") for options in (
        {"rtol": 1}, {"atol": 1}, {"rtol": -1, "atol": 0}, {"rtol": 0, "atol": np.nan})],
    *[(1.0, {flag: wrong}, f"assert_close: {flag!r} must be True or False, not ")
      for flag in ("equal_nan", "check_dtype") for wrong in ("no", 1, None, np.array(True))],
    *[(strange, {}, "compares arrays") for strange in ("text", None, {"a": 1}, np.array(["a"]), object())],
]  # fmt: skip


@pytest.mark.parametrize(("actual", "options", "text"), ERRORS)
def test_errors(actual: Any, options: dict[str, Any], text: str) -> None:
    with pytest.raises(ArgumentError, match=text):
        assert_close(actual, 1.0, **options)


def test_torch_is_not_imported() -> None:
    code = "import sys, pynested.testing as t; t.assert_close(1, 1); assert not {'torch', 'pytest'} & {*sys.modules}"
    subprocess.run([sys.executable, "-c", code], check=True)
