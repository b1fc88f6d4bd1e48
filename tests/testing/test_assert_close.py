"""`assert_close`: what is the same passes whatever library it is of; what is not is told with its place."""

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
    return pn.nested_array([np.array(one, dtype) for one in components], layout=layout)


def told(actual: Any, expected: Any, **how: Any) -> str:
    with pytest.raises(AssertionError) as caught:
        assert_close(actual, expected, **how)
    return str(caught.value)


@pytest.mark.parametrize("layout", [pn.jagged, pn.strided])
def test_the_same_is_close_in_every_form(layout: Any) -> None:
    x = nested(*ROWS, layout=layout)
    for other in (x, nested(*ROWS), list(ROWS), [np.array(one) for one in ROWS], x.unbind(), x * (1 + 1e-9)):
        assert_close(x, other)
        assert_close(other, x)
    assert_close(pn.array([1, 2]), np.array([1, 2]))
    assert_close(
        [x, x.sum(1) if layout is pn.jagged else x], [x, np.array([3.0, 0.0, 3.0]) if layout is pn.jagged else x]
    )
    assert_close(x[:0], [])


X = nested([1.0, 2.0])
PAIR = nested([1.0], [2.0])
NONE = nested(np.ones((1, 3)))[:0]
WITH_GAPS = pn.nested_array_from_jagged(pn.array([1.0, 2.0, np.nan, 3.0, np.nan]), [0, 3, 5], [2, 1])
TOLD: list[tuple[Any, Any, list[str]]] = [
    (nested([1.0, 2.0], [3.0, 4.0]), [[1.0, 2.0], [3.0, 4.5]], [
        "values differ: 1 of 4 elements, in 1 of 2 components",
        "component 1, at [1]: actual 4.0, expected 4.5; off by 0.5, allowed 5.5e-07"]),
    (np.array([[1.0, 2.0], [3.0, 9.0]]), np.array([[1.0, 2.5], [3.0, 4.0]]), [
        "values differ: 2 of 4 elements\n", "first: at [0, 1]: actual 2.0, expected 2.5; off by 0.5",
        "farthest: at [1, 1]: actual 9.0, expected 4.0; off by 5"]),
    (np.array([9.0, np.nan]), np.array([1.0, 1.0]), ["farthest: at [1]: actual nan, expected 1.0"]),
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


@pytest.mark.parametrize(("actual", "expected", "texts"), TOLD, ids=[texts[0] for *_, texts in TOLD])
def test_differences(actual: Any, expected: Any, texts: list[str]) -> None:
    message = told(actual, expected)
    assert [text for text in texts if text not in message] == []


def test_gaps_and_dtypes_that_are_not_compared() -> None:
    assert_close(WITH_GAPS, [[1.0, 2.0], [3.0]])
    assert_close(WITH_GAPS.sum(1), [3.0, 3.0])
    assert "values differ" in told(X, nested([5, 6], dtype=np.int8), check_dtype=False)


class TestTolerances:
    @pytest.mark.parametrize(
        ("dtype", "rtol", "atol"),
        [(np.float16, 1e-3, 1e-5), (np.float32, 1.3e-6, 1e-5), (np.float64, 1e-7, 1e-7)],
    )
    def test_follow_the_dtype(self, dtype: Any, rtol: float, atol: float) -> None:
        one, step = np.ones(1, dtype), np.finfo(dtype).eps
        steps = int((rtol + atol) / step)
        assert_close(one + dtype(steps * step), one)
        told(one + dtype((steps + 2) * step), one)

    def test_are_of_the_expected_value(self) -> None:
        assert_close(np.array([90.0]), np.array([100.0]), rtol=0.1, atol=0)
        told(np.array([100.0]), np.array([90.0]), rtol=0.1, atol=0)

    def test_of_a_dtype_leave_the_others(self) -> None:
        wide = {np.float32: (0.1, 0.0)}
        assert_close(np.float32([1.05]), np.float32([1.0]), tolerances=wide)
        told(np.array([1.05]), np.array([1.0]), tolerances=wide)

    def test_the_wider_of_two_dtypes_counts(self) -> None:
        assert_close(np.float16([1.0005]), np.array([1.0]), check_dtype=False)
        assert_close(np.array([1.0005]), np.float16([1.0]), check_dtype=False)

    def test_integers_are_exact(self) -> None:
        a, b = np.array([2**53 + 1]), np.array([2**53])
        assert "off by 1, compared exactly" in told(a, b)
        assert_close(a, b, rtol=0, atol=1)
        told(np.array([2**63 - 1]), np.array([-(2**63)]), rtol=0, atol=2**62)
        assert_close(np.uint8([3]), np.uint8([4]), rtol=0, atol=1)
        told(np.array([True]), np.array([False]))

    def test_an_infinity_is_near_itself_only(self) -> None:
        assert_close(np.array([np.inf]), np.array([np.inf]))
        told(np.array([np.inf]), np.array([-np.inf]), rtol=9, atol=9)
        told(np.array([1.0]), np.array([np.inf]), rtol=9, atol=9)

    def test_nan_is_near_nan_where_asked(self) -> None:
        x = nested([np.nan, 1.0])
        assert "actual nan, expected nan" in told(x, x)
        assert_close(x, x, equal_nan=True)
        told(x, nested([1.0, 1.0]), equal_nan=True)

    @pytest.mark.parametrize("how", [{"rtol": 1}, {"atol": 1}, {"rtol": -1, "atol": 0}, {"rtol": 0, "atol": np.nan}])
    def test_that_are_none_are_refused(self, how: dict[str, float]) -> None:
        with pytest.raises(ArgumentError):
            assert_close(1.0, 1.0, **how)


@pytest.mark.parametrize("flag", ["equal_nan", "check_dtype"])
@pytest.mark.parametrize("wrong", ["no", 1, None, np.array(True)])
def test_flags_are_true_or_false(flag: str, wrong: Any) -> None:
    with pytest.raises(ArgumentError, match=f"assert_close: {flag} must be True or False, not "):
        assert_close(1.0, 1.0, **{flag: wrong})
    assert_close(1.0, 1.0, **{flag: np.True_})


@pytest.mark.parametrize("strange", ["text", None, {"a": 1}, np.array(["a"]), object()])
def test_what_is_no_array_is_refused(strange: Any) -> None:
    with pytest.raises(ArgumentError, match="compares arrays"):
        assert_close(strange, 1.0)


def test_torch_is_not_imported() -> None:
    code = (
        "import sys, pynested.testing as t; t.assert_close(1.0, 1.0); assert not {'torch', 'pytest'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
