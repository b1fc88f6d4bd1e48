"""Arrays as hex words, calls as JSON: the form in which vectors are kept for every language.

An element is one word of fixed width, most significant digit first: two's complement for ints, the IEEE bit pattern for
floats, one digit for a bool. An array is the string of its words in C order without separators, so an empty component
is a visible `""`, int64 never meets a JSON double, and NaN payloads, `-0` and subnormals survive.

A nested value is written by components, never by layout:

    {"nested": {"dtype": "int8", "shape": [2, null, 2], "shapes": [[1, 2], [0, 2]], "bits": ["07ff", ""]}}

`shape` is the logical shape with the batch first and `null` where lengths may differ; it names the ragged dimension
when all lengths happen to be equal, and the sizes when there is no component at all. `show` repeats the numbers in
decimal for people, and no runner reads it.

Arrays by name, as the parameters of a layer, are a mapping, in which the order of the names means nothing:

    {"mapping": {"linear1.weight": {"dense": ...}, "linear1.bias": {"dense": ...}}}

A number that is an argument says what it is, in decimal text: `{"int": "1"}`, `{"float": "1.0"}`. Most readers of JSON
take 1 and 1.0 for the same, and an int64 for the nearest float64. The text of a float is the shortest that reads back
as the same float64; the others are `NaN`, `Infinity` and `-Infinity`, which the parsers of most languages know.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .components import Components
from .numerics import NDArray

__all__ = [
    "ANY_NAN",
    "ANY_ZERO",
    "EXACT",
    "UNSPECIFIED",
    "WIDTHS",
    "Components",
    "Index",
    "decode",
    "decode_value",
    "decode_words",
    "encode",
    "encode_value",
    "show",
]

WIDTHS: Mapping[str, int] = {
    "bool": 1,
    "int8": 2,
    "uint8": 2,
    "int16": 4,
    "int32": 8,
    "int64": 16,
    "float16": 4,
    "float32": 8,
    "float64": 16,
}
_NAMES = {np.dtype(name): name for name in WIDTHS}

# What a word of an expectation asks for. The letters are outside the hex alphabet and keep the width of a word.
EXACT, ANY_NAN, ANY_ZERO, UNSPECIFIED = 0, 1, 2, 3
_ANYTHING = {ANY_NAN: "nan", UNSPECIFIED: "any"}
_WILDCARDS = {"n": ANY_NAN, "z": ANY_ZERO, "u": UNSPECIFIED}
_HEX = re.compile(r"[0-9a-f]*")

_NUMBERS: Mapping[str, type] = {"int": int, "float": float}
_NOT_FINITE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


@dataclass(frozen=True)
class Index:
    """The argument of `getitem`, so that a tuple of ints is not taken for a shape; a list in it picks components."""

    items: tuple[Any, ...]


def encode(array: NDArray) -> str:
    """Return the words of `array` in C order."""
    name, in_words = _in_words(array.dtype)
    if name is None:
        given = array.dtype.name
        raise TypeError(f"encode: dtype {given} has no words; the dtypes of the specification are {', '.join(WIDTHS)}")
    if name == "bool":
        return "".join("1" if flag else "0" for flag in array.ravel().tolist())
    return array.astype(in_words, order="C", copy=False).tobytes().hex()


@functools.cache
def _in_words(dtype: np.dtype[Any]) -> tuple[str | None, np.dtype[Any]]:
    """Return the name of a dtype, if the specification has it, and the dtype with the most significant byte first."""
    return _NAMES.get(dtype.newbyteorder("=")), dtype.newbyteorder(">")


def decode(bits: str, dtype: Any, shape: Sequence[int]) -> NDArray:
    """Return the array whose words are `bits`; anything but the exact number of hex words is refused."""
    if _HEX.fullmatch(bits):
        return _numbers(bits, _named(bits, dtype, shape), shape)
    array, wanted = decode_words(bits, dtype, shape)
    if np.any(wanted != EXACT):
        raise ValueError(f"decode: wildcard words belong to expectations only, found one in {bits[:40]!r}")
    return array


def decode_words(bits: str, dtype: Any, shape: Sequence[int]) -> tuple[NDArray, NDArray]:
    """Return the array and, per element, what is wanted: EXACT, ANY_NAN, ANY_ZERO or UNSPECIFIED."""
    name = _named(bits, dtype, shape)
    if _HEX.fullmatch(bits):
        return _numbers(bits, name, shape), np.full(tuple(shape), EXACT, np.uint8)
    width = WIDTHS[name]
    words = [bits[start : start + width] for start in range(0, len(bits), width)]
    wanted = np.array([_wanted(word) for word in words], dtype=np.uint8).reshape(tuple(shape))
    plain = "".join("0" * width if word[0] in _WILDCARDS else word for word in words)
    return _numbers(plain, name, shape), wanted


def _named(bits: str, dtype: Any, shape: Sequence[int]) -> str:
    """Return the name of the dtype; words that are not as many as the shape has elements are refused."""
    name = dtype if isinstance(dtype, str) and dtype in WIDTHS else np.dtype(dtype).name
    width, count = WIDTHS[name], math.prod(shape)
    if len(bits) != width * count:
        raise ValueError(
            f"decode: shape {tuple(shape)} of {name} needs {count} words of {width} digits, that is "
            f"{width * count}, but there are {len(bits)} digits"
        )
    return name


def _numbers(bits: str, name: str, shape: Sequence[int]) -> NDArray:
    """Return the array of words that are all hex."""
    if name == "bool":
        if set(bits) - {"0", "1"}:
            raise ValueError(f"decode: a bool is 0 or 1, found {bits[:40]!r}")
        return np.array([word == "1" for word in bits], dtype=np.bool_).reshape(tuple(shape))
    kind = np.dtype(name)
    return np.frombuffer(bytes.fromhex(bits), _in_words(kind)[1]).astype(kind).reshape(tuple(shape))


def _wanted(word: str) -> int:
    if _HEX.fullmatch(word):
        return EXACT
    if word[0] in _WILDCARDS and set(word) == {word[0]}:
        return _WILDCARDS[word[0]]
    raise ValueError(f"decode: {word!r} is neither a lower-case hex word nor all n, all z or all u")


def show(array: NDArray, wanted: NDArray | None = None) -> str:
    """Return the numbers in decimal for people: elements separated by blanks, rows by semicolons.

    With what is ``wanted`` of an expectation, as `decode_words` gives it.
    """
    if array.dtype.kind == "f":
        texts = [f"{float(number):.6g}" for number in array.ravel()]
    else:
        texts = [str(number) for number in array.ravel().tolist()]
    if wanted is not None:
        texts = [_ANYTHING.get(one, text) for one, text in zip(wanted.ravel().tolist(), texts, strict=True)]
    row = array.shape[-1] if array.ndim > 1 else len(texts)
    return "; ".join(" ".join(texts[start : start + row]) for start in range(0, len(texts), max(row, 1)))


def encode_value(value: Any) -> Any:
    """Return the JSON form of an argument."""
    if isinstance(value, Components):
        return {"nested": _encode_components(value)}
    if isinstance(value, np.ndarray):
        fields = {"dtype": value.dtype.name, "shape": list(value.shape), "bits": encode(value), "show": show(value)}
        return {"dense": fields}
    if isinstance(value, np.dtype):
        return {"dtype": value.name}
    if isinstance(value, Index):
        return {"index": [_encode_index(item) for item in value.items]}
    if isinstance(value, list):
        return {"list": [encode_value(item) for item in value]}
    if isinstance(value, dict):
        return {"mapping": {name: encode_value(item) for name, item in value.items()}}
    if isinstance(value, tuple):
        return [encode_value(item) for item in value]
    return _encode_scalar(value)


def _encode_scalar(value: Any) -> Any:
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return {"int": str(value)}
    if isinstance(value, float):
        return {"float": _NOT_FINITE.get(str(value), str(value))}
    raise TypeError(f"encode_value: {type(value).__name__} has no JSON form in a vector")


def _encode_components(value: Components) -> dict[str, Any]:
    return {
        "dtype": value.dtype.name,
        "shape": list(value.shape),
        "shapes": [list(component.shape) for component in value],
        "bits": [encode(component) for component in value],
        "show": [show(component) for component in value],
    }


def _encode_index(item: Any) -> Any:
    if isinstance(item, slice):
        return {"slice": [_encode_scalar(bound) for bound in (item.start, item.stop, item.step)]}
    if isinstance(item, list):
        return [_encode_scalar(one) for one in item]
    return "..." if item is Ellipsis else _encode_scalar(item)


def decode_value(value: Any) -> Any:
    """Return the argument a JSON value stands for, `encode_value` backwards: a plain JSON list is a tuple."""
    if isinstance(value, list):
        return tuple(decode_value(item) for item in value)
    if not isinstance(value, dict):
        return value
    ((form, fields),) = value.items()
    if form == "nested":
        return _decode_components(fields)
    if form == "dense":
        return decode(fields["bits"], fields["dtype"], fields["shape"])
    if form == "list":
        return [decode_value(item) for item in fields]
    if form == "mapping":
        return {name: decode_value(item) for name, item in fields.items()}
    if form == "dtype":
        return np.dtype(fields)
    if form in _NUMBERS:
        return _NUMBERS[form](fields)
    if form == "index":
        return Index(tuple(_decode_index(item) for item in fields))
    raise ValueError(f"decode_value: unknown form {form!r}")


def _decode_components(fields: Mapping[str, Any]) -> Components:
    pairs = zip(fields["bits"], fields["shapes"], strict=True)
    components = [decode(bits, fields["dtype"], shape) for bits, shape in pairs]
    return Components(components, fields["shape"], fields["dtype"])


def _decode_index(item: Any) -> Any:
    if isinstance(item, dict) and "slice" in item:
        return slice(*map(decode_value, item["slice"]))
    if isinstance(item, list):
        return [decode_value(one) for one in item]
    return Ellipsis if item == "..." else decode_value(item)
