from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pynested.spec.compare import compare
from pynested.spec.encoding import decode_value
from pynested.spec.functions import FUNCTIONS as ENTRIES
from pynested.spec.generator import write as writing
from pynested.spec.generator.__main__ import main
from pynested.spec.generator.author import Book
from pynested.spec.generator.build import build
from pynested.spec.generator.draws import distinct, floats, integers, nest, word
from pynested.spec.generator.exact import MP, Exact, lift
from pynested.spec.generator.nearest import is_float_of, round_to, split
from pynested.spec.generator.words import Inexact, bound_fields
from pynested.spec.table import load_table


@pytest.mark.parametrize("op", ["sum", "mul", "softmax", "matmul", "getitem"])
def test_the_vectors_are_what_the_generator_writes(op: str) -> None:
    """A few of them; `python -m pynested.spec.generator --check` looks at all."""
    assert main(["--check", op]) == 0


def test_a_changed_byte_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "FOLDER", tmp_path)
    softmax = [(chapter, book) for chapter, book in writing.books() if (book.op, book.part) == ("softmax", "")]
    monkeypatch.setattr(writing, "books", lambda only: softmax)
    assert writing.differences("softmax") == ["softmax.json is missing"]
    (path,) = writing.write("softmax")
    assert writing.differences("softmax") == []
    path.write_text(path.read_text(encoding="utf-8").replace("3f800000", "3f800001", 1), encoding="utf-8")
    assert "softmax.json differs from line" in writing.differences("softmax")[0]
    assert writing.write("softmax") == [path]
    assert not any("SHA256" in one for one in writing.differences())
    (tmp_path / "normalization" / "unheard_of.json").write_text("{}", encoding="utf-8")
    assert "unheard_of.json has no authored cases" in writing.differences()
    assert "SHA256 is not the digest of the files" in writing.differences()
    (tmp_path / "SHA256").unlink()
    assert "SHA256 is not the digest of the files" in writing.differences()


def test_the_words_of_a_stream_are_those_of_splitmix64() -> None:
    """FNV-1a of the empty key is its offset basis; the rest is arithmetic written out once more."""
    state = (0xCBF29CE484222325 + 0x9E3779B97F4A7C15) % 2**64
    state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    state = (state ^ state >> 27) * 0x94D049BB133111EB % 2**64
    assert word("", 0) == state ^ state >> 31
    assert len({word("a", index) for index in range(100)} | {word("b", index) for index in range(100)}) == 200


def test_draws_are_what_they_say() -> None:
    whole = integers("float32", [(40, 2), (0, 2)], "key", -3, 3)
    assert set(whole[0].ravel()) == {-3, -2, -1, 0, 1, 2, 3}
    assert whole.shape == (2, None, 2)
    assert set(integers("bool", [(20,)], "key")[0].tolist()) == {True, False}
    assert len(set(distinct("int8", [(5, 3), (2, 3)], "key")[0].ravel().tolist())) == 15
    for dtype in ("float16", "float32", "float64"):
        numbers = floats(dtype, [(200,)], "key")[0]
        assert numbers.dtype == dtype
        assert -4 <= numbers.min() < -3.5
        assert 3.5 < numbers.max() < 4


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(-40, 40))
def test_rounding_is_that_of_ieee(dtype: str, number: float, shift: int) -> None:
    number = math.ldexp(math.frexp(number)[0], shift)
    with np.errstate(over="ignore"):
        assert round_to(MP.mpf(number), dtype) == float(np.array(number).astype(dtype))


def test_rounding_happens_once() -> None:
    """1 + 2**-11 + 2**-30 is above half way for float16, but float32 would round it to half way first."""
    value = MP.mpf(1) + MP.mpf(2) ** -11 + MP.mpf(2) ** -30
    assert round_to(value, "float16") == 1 + 2**-10
    assert float(np.float16(np.float32(1 + 2**-11))) == 1
    assert round_to(MP.mpf(2) ** -25, "float16") == 0
    assert round_to(MP.mpf(65520), "float16") == math.inf


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_what_is_a_float_is_what_numpy_can_hold(dtype: str) -> None:
    kind = np.finfo(dtype)
    for number in (kind.max, kind.tiny, kind.smallest_subnormal, np.nextafter(np.array(1, dtype), 2), 0.0, math.inf):
        assert is_float_of(MP.mpf(float(number)), dtype) and is_float_of(-MP.mpf(float(number)), dtype)
    for number in (kind.max, kind.tiny, np.nextafter(np.array(1, dtype), 2)):
        assert not is_float_of(MP.mpf(float(number)) * (1 + MP.ldexp(1, -80)), dtype)
    assert not is_float_of(MP.mpf(float(kind.max)) * 2, dtype)
    assert not is_float_of(MP.mpf(float(kind.smallest_subnormal)) / 2, dtype)


def test_two_halves_carry_a_hundred_bits() -> None:
    high, low = split(MP.mpf(1) / 3)
    assert abs(Fraction(high) + Fraction(low) - Fraction(1, 3)) < Fraction(1, 2**106)


FUNCTIONS: list[tuple[str, Any]] = [
    ("exp", lambda x: x.exp()),
    ("log", lambda x: x.log()),
    ("sin", lambda x: x.function(ENTRIES["sin"])),
    ("cos", lambda x: x.function(ENTRIES["cos"])),
    ("tanh", lambda x: x.tanh()),
    ("sqrt", lambda x: x.sqrt()),
    ("erf", lambda x: x.erf()),
    ("abs", abs),
    ("quotient", lambda x: (2 - x) / (x * x + 1)),
    ("power", lambda x: x**3 - 1 / x),
]


@pytest.mark.parametrize(("name", "function"), FUNCTIONS, ids=[name for name, _ in FUNCTIONS])
def test_slopes_are_limits_of_differences(name: str, function: Any) -> None:
    step = MP.mpf(2) ** -50
    for number in (0.75, 2.5):
        slope = function(Exact(number, {0: MP.one})).slopes[0]
        above, below = (function(Exact(MP.mpf(number) + sign * step)).value for sign in (1, -1))
        assert abs(slope - (above - below) / (2 * step)) < 1e-25


def test_exact_numbers_obey_numpy() -> None:
    x = lift(np.array([[1.0, 2.0], [3.0, 4.0]]), 0)
    product = x @ x
    assert float(product[0, 1]) == 10
    assert {key: int(slope) for key, slope in product[0, 0].slopes.items()} == {0: 2, 1: 3, 2: 2}
    assert bool((x > 2).tolist() == [[False, False], [True, True]])
    assert math.isnan(float(Exact(-1.0).log()))
    assert math.isnan(float(Exact(0.0) / 0))


def test_an_inexact_value_cannot_be_an_exact_case() -> None:
    book = Book("softmax")
    book.value("float32/ragged", "1", [nest("float32", [[0.0, 1.0]])], kw={"dim": 1})
    with pytest.raises(Inexact, match="within a bound"):
        build(book.cases[0])


def test_a_gradient_is_exact_only_where_nothing_that_is_added_has_to_be_rounded() -> None:
    """1 / 3 and 2 / 3 add up to 1, but neither is a float; 1 / 2 and 1 / 2 are."""
    for divisors, cmp in (([3.0, 1.5], "bound"), ([2.0, 2.0], "exact")):
        book = Book("div")
        x, y = np.float32([1.0]), nest("float32", [divisors])
        book.value("float32/dense", "1", [x, y], cotangent=nest("float32", [[2.0, 2.0]]))
        (gradient, _) = build(book.cases[0])["gradient"]
        assert gradient["dense"]["cmp"] == cmp


def test_an_overflow_within_a_bound_is_an_infinity() -> None:
    book = Book("exp")
    book.value("float16/overflow", "1", [nest("float16", [[12.0, 1.0], [-65504.0]])], cmp="bound", gradient=None)
    expected = build(book.cases[0])["expect"]
    inf, e = np.float16("inf"), np.float16(math.e)
    assert compare([np.array([inf, e]), np.zeros(1, "float16")], expected) is None
    for wrong in ([np.float16(65504), e], [inf, inf], [-inf, e], [np.float16("nan"), e]):
        assert compare([np.array(wrong, "float16"), np.zeros(1, "float16")], expected) is not None


def test_a_value_that_may_round_to_an_infinity_is_open() -> None:
    """A sum of 2**128 - 2**103 and a little is the largest float32, or an infinity where it is a little too large."""
    largest = float(np.finfo(np.float32).max)
    exact, allowed = lift(np.array([largest, largest / 2])), np.full(2, 2.0**104)
    fields = bound_fields(np.array([largest, largest / 2]), exact, allowed, "float32", np.zeros(2, np.bool_))
    assert fields["dense"]["open"] == "10"
    for number, right in ((largest, True), (np.inf, True), (largest * (1 - 2**-20), False)):
        assert (compare(np.array([number, largest / 2], "float32"), fields) is None) is right


@pytest.mark.parametrize(("largest", "may_overflow"), [(400.0, True), (4.0, False)])
def test_a_gradient_that_passes_through_a_narrower_dtype_may_overflow_there(largest: float, may_overflow: bool) -> None:
    """Of 200 * 400 * 3 in float16 the slope of 3 is 80,000, which is no float16; of 200 * 4 * 3 all are."""
    book = Book("prod")
    x, words = nest("float32", [[200.0, largest], [3.0]]), {"dtype": "float16"}
    book.value("float32/narrower", "1", [x, (0, 1)], kw=words, cmp="bound", dtype="float16")
    vector = build(book.cases[0])
    due, cotangent = vector["gradient"][0], decode_value(vector["cotangent"]).astype(np.float32)
    right = [np.array([largest * 3, 600], np.float32) * cotangent, np.array([200 * largest], np.float32) * cotangent]
    assert compare(right, due) is None
    assert (compare([right[0], right[1] * np.float32(np.inf)], due) is None) is may_overflow
    assert compare([right[0], right[1] * np.float32(1.5)], due) is not None


def test_cases_are_numbered_within_their_group() -> None:
    book = Book("exp")
    ids = [book.value(group, "1", [nest("float32", [[0.0]])]) for group in ("a", "b", "a")]
    assert ids == ["exp/a/1", "exp/b/1", "exp/a/2"]
    assert book.cases[0].clauses == ("EXP-1",)


def test_the_layouts_of_a_case_are_those_that_can_express_it() -> None:
    book = Book("exp")
    book.value("a", "1", [nest("float32", [[0.0], [1.0, 2.0]])])
    book.value("b", "1", [integers("float32", [(2, 3), (3, 2)], "key")])
    assert [case.layouts for case in book.cases] == [("strided", "jagged"), ("strided",)]


def test_a_refusal_is_asked_without_components_too() -> None:
    book = Book("where")
    x, batch, row = nest("float32", [[1.0], [2.0, 3.0]]), np.zeros((2, 1), "float32"), np.zeros(2, "float32")
    near = book.value("a", "1", [x])
    book.error("wrong", "2 ERRORS-6", "DTypeError", near, [[x, batch], row, 5], kw={"mask": x}, layouts=("jagged",))
    book.error_inside("long", "2", "StructureError", near, [x])
    book.error("dense", "2", "ArgumentError", near, [row])
    book.error("nothing", "2", "ArgumentError", near, [x[:0]])
    ids = [case.id.removeprefix("where/error/") for case in book.cases[1:]]
    assert ids == ["wrong/1", "wrong-batch0/1", "long/1", "dense/1", "nothing/1"]
    asked, empty = book.cases[1:3]
    assert (empty.clauses, empty.error, empty.near) == (asked.clauses, "DTypeError", near)
    (none, dense), same, number = empty.args
    assert none == [] and none.shape == (0, None) and none.dtype == np.float32 and empty.kwargs["mask"] == []
    assert dense.shape == (0, 1) and same is row and number == 5
    assert [case.layouts for case in (asked, empty)] == [("jagged",)] * 2


def test_a_new_operator_has_cases_in_a_known_chapter() -> None:
    listed = {one.name for one in load_table().values() if one.chapter == "reduction"}
    assert {book.op for chapter, book in writing.books() if chapter == "reduction"} == listed


def test_a_gradient_has_the_dtype_of_the_operand_that_was_given() -> None:
    """Of a list each array has its own; and a call that asks for a dtype computes in that."""
    half, single = nest("float16", [[1.0], [2.0, 3.0]]), nest("float32", [[4.0], [5.0]])
    joined, summed = Book("cat"), Book("sum", zeros="either", cmp="bound")
    joined.value("a", "1", [[half, single]])
    summed.value("a", "1", [half], kw={"dim": 1, "dtype": np.dtype("float64")}, kind="dense")
    (gradients,) = build(joined.cases[0])["gradient"]
    assert [one["nested"]["dtype"] for one in gradients["list"]] == ["float16", "float32"]
    vector = build(summed.cases[0])
    assert vector["cotangent"]["dense"]["dtype"] == "float64"
    assert vector["gradient"][0]["nested"]["dtype"] == "float16"


def test_a_cotangent_that_is_spoilt_has_a_nan_and_reaches_what_was_chosen() -> None:
    book = Book("relu", zeros="either")
    book.value("a", "1", [nest("float32", [[1.0, -1.0]])], drawn="spoilt")
    vector = build(book.cases[0])
    came, went = (vector[name] if name == "cotangent" else vector[name][0] for name in ("cotangent", "gradient"))
    assert came["nested"]["show"][0].startswith("nan")
    assert went["nested"]["bits"] == ["n" * 8 + "z" * 8]
