from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pynested.spec.compare import compare
from pynested.spec.encoding import encode, encode_value


def exact(bits: str, dtype: str = "float32", shape: tuple[int, ...] = (1,)) -> dict[str, Any]:
    return {"dense": {"dtype": dtype, "shape": list(shape), "bits": bits, "cmp": "exact"}}


def bound(hi: float, tol: float, lo: float = 0.0, dtype: str = "float32") -> dict[str, Any]:
    words = {name: encode(np.array([number])) for name, number in (("hi", hi), ("lo", lo), ("tol", tol))}
    return {"dense": {"dtype": dtype, "shape": [1], **words, "cmp": "bound"}}


def pattern(word: str, dtype: str = "float32") -> np.ndarray:
    return np.array([int(word, 16)], dtype=f"u{np.dtype(dtype).itemsize}").view(dtype)


FLOATS = st.sampled_from([0.0, 1.0, 1.5, -2.0, math.inf, -math.inf, math.nan])
NANS = ["7fc00000", "ffc00000", "7f800001", "ff800001", "7fffffff", "7fc12345"]
NOT_NANS = ["7f800000", "ff800000", "7f7fffff", "00000000", "3f800000"]


@pytest.mark.parametrize("word", NANS)
def test_any_nan_takes_every_nan(word: str) -> None:
    """Quiet or signalling, of either sign, with any payload; the smallest signalling one is 7f800001."""
    assert compare(pattern(word), exact("nnnnnnnn")) is None


@pytest.mark.parametrize("word", NOT_NANS)
def test_any_nan_takes_nothing_else(word: str) -> None:
    difference = compare(pattern(word), exact("nnnnnnnn"))
    assert difference is not None
    assert difference.expected == "any NaN"


@pytest.mark.parametrize(("word", "met"), [("7c01", True), ("fe00", True), ("7c00", False), ("0000", False)])
def test_any_nan_of_float16(word: str, met: bool) -> None:
    assert (compare(pattern(word, "float16"), exact("nnnn", "float16")) is None) is met


@pytest.mark.parametrize(
    ("word", "met"),
    [("00000000", True), ("80000000", True), ("00000001", False), ("80000001", False), ("7fc00000", False)],
)
def test_either_zero(word: str, met: bool) -> None:
    assert (compare(pattern(word), exact("zzzzzzzz")) is None) is met


@pytest.mark.parametrize(
    ("number", "met"), [(2.0, True), (2.25, False), (np.inf, True), (-np.inf, True), (np.nan, True), (0.0, False)]
)
def test_an_open_element_takes_infinities_and_nan_too(number: float, met: bool) -> None:
    fields, got = bound(2.0, 0.125), np.array([number], np.float32)
    assert (compare(got, fields) is None) is (met and bool(np.isfinite(number)))
    fields["dense"]["open"] = "1"
    difference = compare(got, fields)
    assert (difference is None) is met
    assert difference is None or difference.expected == "2.0, an infinity or NaN"


@pytest.mark.parametrize("word", [*NANS, *NOT_NANS])
def test_unspecified_takes_everything(word: str) -> None:
    assert compare(pattern(word), exact("uuuuuuuu")) is None


@pytest.mark.parametrize("word", [*NANS, *NOT_NANS, "80000000", "00000001"])
def test_a_word_takes_itself_only(word: str) -> None:
    assert compare(pattern(word), exact(word)) is None
    other = f"{int(word, 16) ^ 1:08x}"
    assert compare(pattern(other), exact(word)) is not None
    assert compare(pattern(f"{int(word, 16) ^ (1 << 31):08x}"), exact(word)) is not None


@pytest.mark.parametrize("got", [np.zeros(1, "float64"), np.zeros(1, "int32"), np.zeros(1, "float16")])
def test_another_dtype_is_a_difference(got: np.ndarray) -> None:
    difference = compare(got, exact("00000000"))
    assert difference is not None
    assert difference.aspect == "dtype"


@pytest.mark.parametrize("shape", [(), (2,), (1, 1), (0,)])
def test_another_shape_is_a_difference(shape: tuple[int, ...]) -> None:
    difference = compare(np.zeros(shape, "float32"), exact("00000000"))
    assert difference is not None
    assert difference.aspect == "shape"


def test_integers_and_bools_are_compared_by_word() -> None:
    assert compare(np.array([2**53 + 1]), exact("0020000000000001", "int64")) is None
    assert compare(np.array([2**53]), exact("0020000000000001", "int64")) is not None
    assert compare(np.array([True]), exact("1", "bool")) is None
    assert compare(np.array([False]), exact("1", "bool")) is not None


@pytest.mark.parametrize(
    ("got", "met"),
    [(1.0, True), (1.5, True), (0.5, True), (1.5001, False), (np.nan, False), (np.inf, False), (-1.0, False)],
)
def test_a_bound_is_closed_and_never_met_by_what_is_not_finite(got: float, met: bool) -> None:
    assert (compare(np.array([got], "float32"), bound(1.0, 0.5)) is None) is met


def test_the_low_half_of_the_exact_value_counts() -> None:
    got = np.array([1.0])
    assert compare(got, bound(1.0, 2.0**-54, lo=2.0**-54, dtype="float64")) is None
    assert compare(got, bound(1.0, 2.0**-55, lo=2.0**-54, dtype="float64")) is not None


@pytest.mark.parametrize(
    ("hi", "got", "met"), [(np.nan, np.nan, True), (np.inf, np.inf, True), (np.inf, -np.inf, False)]
)
def test_special_values_under_a_bound_are_compared_as_they_are(hi: float, got: float, met: bool) -> None:
    assert (compare(np.array([got], "float32"), bound(hi, 0.0)) is None) is met


@pytest.mark.parametrize("hi", [np.nan, np.inf])
def test_a_finite_number_is_no_special_value(hi: float) -> None:
    assert compare(np.array([3e38], "float32"), bound(hi, 0.0)) is not None


NESTED = {
    "nested": {
        "dtype": "int8",
        "shapes": [[2, 1], [0, 1], [1, 1]],
        "bits": ["0102", "", "03"],
        "cmp": "exact",
    }
}


def components(*rows: list[int]) -> list[np.ndarray]:
    return [np.array(row, dtype="int8").reshape(-1, 1) for row in rows]


def test_nested_results_are_compared_by_component() -> None:
    assert compare(components([1, 2], [], [3]), NESTED) is None
    difference = compare(components([1, 2], [], [4]), NESTED)
    assert difference is not None
    assert difference.where == (2, (0, 0))
    assert "component 2" in str(difference)


def test_a_missing_component_is_a_difference() -> None:
    difference = compare(components([1, 2], [3]), NESTED)
    assert difference is not None
    assert difference.aspect == "count"
    assert compare([], NESTED) is not None
    assert compare(np.array(3), NESTED) is not None


def test_an_empty_component_has_a_shape() -> None:
    got = [np.array([[1], [2]], "int8"), np.zeros((0, 2), "int8"), np.array([[3]], "int8")]
    difference = compare(got, NESTED)
    assert difference is not None
    assert (difference.aspect, difference.component) == ("shape", 1)


def test_dense_and_nested_meet_by_components() -> None:
    dense = exact("00010203", "int8", (2, 2))
    assert compare(list(np.arange(4, dtype="int8").reshape(2, 2)), dense) is None
    assert compare([np.array([0, 1], "int8")], dense) is not None
    nested = {"nested": {"dtype": "int8", "shapes": [[2], [2]], "bits": ["0001", "0203"], "cmp": "exact"}}
    assert compare(np.arange(4, dtype="int8").reshape(2, 2), nested) is None
    difference = compare([np.array([0, 1], "int8"), np.array([2, 9], "int8")], dense)
    assert difference is not None
    assert difference.where == (1, (1,))


def test_python_results_keep_their_type() -> None:
    assert compare(True, {"python": True}) is None
    assert compare(1, {"python": True}) is not None
    assert compare(np.True_, {"python": True}) is not None
    assert compare(False, {"python": True}) is not None


NUMBERS = [3, 3.0, -3, 0.0, -0.0, float("nan"), float("inf"), True, "3", None, (3, 1.5), (3.0, 1.5), (3,)]


@pytest.mark.parametrize("expected", NUMBERS, ids=repr)
def test_a_number_meets_itself_and_no_other(expected: object) -> None:
    met = [repr(one) for one in NUMBERS if compare(one, {"python": encode_value(expected)}) is None]
    assert met == [repr(expected)]


def test_lists_are_compared_one_by_one() -> None:
    expected = {"list": [exact("00", "int8"), exact("01", "int8")]}
    zero, one = np.array([0], "int8"), np.array([1], "int8")
    assert compare([zero, one], expected) is None
    assert compare([one, zero], expected) is not None
    assert compare([zero], expected) is not None
    assert compare(zero, expected) is not None


def test_a_difference_counts_what_is_wrong() -> None:
    difference = compare(np.array([1, 2, 0], "int8"), exact("000000", "int8", (3,)))
    assert difference is not None
    assert (difference.wrong, difference.total) == (2, 3)
    assert "2 of 3" in str(difference)


def test_a_difference_says_how_far_off_and_what_is_allowed() -> None:
    difference = compare(np.array([2.0], "float32"), bound(1.0, 0.25))
    assert difference is not None
    assert (difference.error, difference.allowed) == (1.0, 0.25)
    assert "allowed 0.25" in str(difference)


def test_an_unknown_comparison_is_refused() -> None:
    with pytest.raises(ValueError, match="about"):
        compare(np.zeros(1), {"dense": {"dtype": "float64", "shape": [1], "cmp": "about"}})


# A word, its own letter of a wildcard perhaps, and what may come: itself, its neighbours, NaN, zeros, infinities.
WANTED = st.sampled_from(
    ["3f800000", "bf800000", "00000000", "80000000", "7f800000", "nnnnnnnn", "zzzzzzzz", "uuuuuuuu"]
)
CAME = st.sampled_from(["3f800000", "3f800001", "bf800000", "00000000", "80000000", "7f800000", "ff800000", "7fc00001"])


@given(st.lists(st.lists(st.tuples(WANTED, CAME), max_size=3), min_size=1, max_size=4))
def test_components_meet_together_what_each_meets_alone(rows: list[list[tuple[str, str]]]) -> None:
    wanted = ["".join(word for word, _ in row) for row in rows]
    got = [np.array([int(word, 16) for _, word in row], "u4").view("f4") for row in rows]
    shapes = [[len(row)] for row in rows]
    fields = {"dtype": "float32", "shape": [len(rows), None], "shapes": shapes, "bits": wanted, "cmp": "exact"}
    alone = [compare(one, exact(bits, shape=(len(one),))) for one, bits in zip(got, wanted, strict=True)]
    found = compare(got, {"nested": fields})
    first = next((number for number, one in enumerate(alone) if one is not None), None)
    assert (None if found is None else found.component) == first


@given(
    st.lists(
        st.lists(st.tuples(FLOATS, st.sampled_from([0.0, 0.5]), FLOATS, st.booleans()), max_size=3),
        min_size=1,
        max_size=4,
    )
)
def test_components_meet_bounds_together_as_each_alone(rows: list[list[tuple[float, float, float, bool]]]) -> None:
    def words(row: list[Any], column: int) -> str:
        return encode(np.array([entry[column] for entry in row], "?" if column == 3 else "f8"))

    columns = {"hi": 0, "tol": 1, "open": 3}
    shapes = [[len(row)] for row in rows]
    fields: dict[str, Any] = {"dtype": "float32", "shape": [len(rows), None], "shapes": shapes, "cmp": "bound"}
    fields |= {name: [words(row, column) for row in rows] for name, column in columns.items()}
    fields["lo"] = [encode(np.zeros(len(row))) for row in rows]
    got = [np.array([entry[2] for entry in row], np.float32) for row in rows]

    def right(hi: float, tol: float, came: float, may: bool) -> bool:
        """What the specification says of one element."""
        if may and not math.isfinite(came):
            return True
        if math.isfinite(hi):
            return abs(came - hi) <= tol
        return came == hi or (math.isnan(came) and math.isnan(hi))

    wrong = [number for number, row in enumerate(rows) if not all(right(*entry) for entry in row)]
    found = compare(got, {"nested": fields})
    assert (None if found is None else found.component) == (wrong[0] if wrong else None)
