from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pynested.spec.encoding import (
    ANY_NAN,
    ANY_ZERO,
    EXACT,
    UNSPECIFIED,
    WIDTHS,
    Components,
    Index,
    decode,
    decode_value,
    decode_words,
    encode,
    encode_value,
    show,
)

PATTERNS = {
    "float16": [0x0000, 0x8000, 0x0001, 0x7BFF, 0x7C00, 0xFC00, 0x7C01, 0x7E00, 0xFE2A],
    "float32": [0, 0x80000000, 1, 0x007FFFFF, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7F800001, 0x7FC00000, 0xFFC12345],
    "float64": [0, 1 << 63, 1, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0x7FF0000000000001, 0x7FF8000000000000],
    "int8": [0, 0x80, 0x7F, 0xFF],
    "uint8": [0, 0x80, 0x7F, 0xFF],
    "int16": [0, 0x8000, 0x7FFF, 0xFFFF],
    "int32": [0, 0x80000000, 0x7FFFFFFF, 0xFFFFFFFF],
    "int64": [0, 1 << 63, (1 << 63) - 1, (1 << 53) + 1, (1 << 64) - 1],
}


@pytest.mark.parametrize("dtype", PATTERNS)
def test_every_bit_pattern_survives(dtype: str) -> None:
    """Quiet and signalling NaN with payloads, -0, subnormals and the least and greatest integers."""
    words = "".join(f"{pattern:0{WIDTHS[dtype]}x}" for pattern in PATTERNS[dtype])
    array = decode(words, dtype, (len(PATTERNS[dtype]),))
    assert array.dtype == dtype
    assert array.view(f"u{array.dtype.itemsize}").tolist() == PATTERNS[dtype]
    assert encode(array) == words


@pytest.mark.parametrize(
    ("number", "dtype", "words"),
    [
        (1, "float32", "3f800000"),
        (-1, "int64", "f" * 16),
        (-2, "int8", "fe"),
        (1, "bool", "1"),
        (0.5, "float16", "3800"),
    ],
)
def test_words_are_big_endian(number: float, dtype: str, words: str) -> None:
    assert encode(np.array([number], dtype=dtype)) == words


@pytest.mark.parametrize("order", ["<", ">"])
def test_byte_order_and_strides_of_the_array_do_not_matter(order: str) -> None:
    array = np.array([[1, 2], [3, 4]], dtype=f"{order}i2").T
    assert encode(array) == "0001000300020004"


def test_an_empty_array_is_an_empty_string() -> None:
    assert encode(np.zeros((0, 3), "float32")) == ""
    assert decode("", "float32", (0, 3)).shape == (0, 3)


@given(st.lists(st.integers(0, 2**32 - 1)))
def test_float32_words_round_trip(patterns: list[int]) -> None:
    words = "".join(f"{pattern:08x}" for pattern in patterns)
    assert encode(decode(words, "float32", (len(patterns),))) == words


@pytest.mark.parametrize(
    ("bits", "dtype", "shape"),
    [("3f80000", "float32", (1,)), ("3f800000", "float32", (2,)), ("2", "bool", (1,)), ("3F800000", "float32", (1,))],
)
def test_malformed_words_are_refused(bits: str, dtype: str, shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="decode"):
        decode(bits, dtype, shape)


def test_wildcards_belong_to_expectations() -> None:
    words = "nnnnnnnnzzzzzzzzuuuuuuuu3f800000"
    array, wanted = decode_words(words, "float32", (4,))
    assert wanted.tolist() == [ANY_NAN, ANY_ZERO, UNSPECIFIED, EXACT]
    assert array[3] == 1
    with pytest.raises(ValueError, match="wildcard"):
        decode(words, "float32", (4,))
    with pytest.raises(ValueError, match="neither"):
        decode_words("nnnnnnnz", "float32", (1,))


def test_other_dtypes_have_no_words() -> None:
    with pytest.raises(TypeError, match="complex64"):
        encode(np.zeros(1, "complex64"))


def test_show_is_for_people() -> None:
    assert show(np.array([[1, 2], [3, -0.0]])) == "1 2; 3 -0"
    assert show(np.array([True, False])) == "True False"
    assert show(np.zeros((0, 2))) == ""


VALUES: list[Any] = [
    None,
    True,
    -3,
    0.1,
    "mean",
    (1, -2),
    math.inf,
    np.dtype("float16"),
    Index((1, slice(None, None, -1), ..., None, [0, True], 1.0)),
    [],
    [[1, 2], [3]],
]


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (1, {"int": "1"}),
        (1.0, {"float": "1.0"}),
        (np.float64(0.1), {"float": "0.1"}),
        (-0.0, {"float": "-0.0"}),
        (2**63 - 1, {"int": "9223372036854775807"}),
        (5e-324, {"float": "5e-324"}),
        (math.nan, {"float": "NaN"}),
        (math.inf, {"float": "Infinity"}),
        (-math.inf, {"float": "-Infinity"}),
        ((1, [2.5]), [{"int": "1"}, {"list": [{"float": "2.5"}]}]),
        (
            Index(([1, True], slice(0, None, 2))),
            {"index": [[{"int": "1"}, True], {"slice": [{"int": "0"}, None, {"int": "2"}]}]},
        ),
        (True, True),
        ("1", "1"),
        (None, None),
    ],
    ids=repr,
)
def test_a_number_says_what_it_is(value: Any, form: Any) -> None:
    assert encode_value(value) == form
    back = decode_value(form)
    assert repr(back) == repr(value).replace("np.float64(0.1)", "0.1")


def test_arrays_by_name_are_a_mapping() -> None:
    value = {"linear1.weight": np.float32([[1]]), "show": np.int8([2])}
    form = encode_value(value)
    assert form == {"mapping": {name: encode_value(one) for name, one in value.items()}}
    back = decode_value(json.loads(json.dumps(form)))
    assert list(back) == list(value) and all(np.array_equal(back[name], one) for name, one in value.items())


@given(st.floats() | st.integers())
def test_every_number_round_trips(value: float) -> None:
    back = decode_value(json.loads(json.dumps(encode_value(value))))
    assert (type(back), repr(back)) == (type(value), repr(value))


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_plain_arguments_round_trip_through_json(value: Any) -> None:
    assert decode_value(json.loads(json.dumps(encode_value(value), allow_nan=False))) == value


def test_arrays_and_components_round_trip() -> None:
    nested = Components([np.ones((2, 3), "int8"), np.zeros((0, 3), "int8")], (2, None, 3))
    back = decode_value(encode_value([nested, np.eye(2, dtype="float32")]))
    assert isinstance(back[0], Components)
    assert back[0].shape == (2, None, 3)
    assert back[0].dtype == "int8"
    assert [one.shape for one in back[0]] == [(2, 3), (0, 3)]
    assert np.array_equal(back[1], np.eye(2))


def test_a_batch_of_no_components_keeps_its_shape_and_dtype() -> None:
    back = decode_value(encode_value(Components([], (0, None, 4), "float16")))
    assert (list(back), back.shape, back.dtype) == ([], (0, None, 4), np.dtype("float16"))
    with pytest.raises(TypeError, match="dtype"):
        Components([])


def test_the_logical_shape_of_components_shows_what_is_irregular() -> None:
    assert Components([np.ones((2, 3)), np.ones((1, 3))]).shape == (2, None, 3)
    assert Components([np.ones((2, 3)), np.ones((2, 3))]).shape == (2, 2, 3)


def test_what_has_no_form_is_refused() -> None:
    with pytest.raises(TypeError, match="set"):
        encode_value({1})
    with pytest.raises(ValueError, match="unknown form"):
        decode_value({"sparse": {}})
