"""A vector is read whole: whatever is damaged in a case is refused, with its place."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from pynested.spec.encoding import Components, Index, encode_value
from pynested.spec.forms import CASE
from pynested.spec.grammar import Malformed, check

Json = dict[str, Any]
GONE = object()

X = Components([np.float32([[1, 2], [3, 4]]), np.zeros((0, 2), np.float32)])


def expected(value: Any, **more: Any) -> Json:
    ((form, fields),) = encode_value(value).items()
    return {form: {**{name: one for name, one in fields.items() if name != "shape" or form == "dense"}, **more}}


def within(bits: str) -> Json:
    return {"dtype": "float32", "shape": [1], "cmp": "bound", "hi": bits, "lo": "0" * 16, "tol": "3e00000000000000"}


ACCEPTED: Json = {
    "id": "cat/float32/ragged/1",
    "clauses": ["CAT-1"],
    "layouts": ["strided", "jagged"],
    "args": [encode_value([X, X]), encode_value(1), encode_value(Index((0, slice(None, 2), ..., None, [True, 1])))],
    "kwargs": {"weight": encode_value(np.float32([1, 2])), "dtype": {"dtype": "int8"}, "pad": {"float": "-Infinity"}},
    "expect": {**expected(X, cmp="exact"), "kind": {"jagged": "nested", "strided": "nested"}},
    "cotangent": encode_value(X),
    "gradient": [{"list": [expected(X, cmp="exact"), expected(X, cmp="exact")]}, None, None],
    "gradient_kwargs": {"weight": {"dense": {**within("3ff0000000000000" * 2), "shape": [2], "lo": "0" * 32}}},
}
ACCEPTED["gradient_kwargs"]["weight"]["dense"] |= {"tol": "3e00000000000000" * 2, "open": "01"}
REFUSED: Json = {
    **{name: ACCEPTED[name] for name in ("clauses", "layouts", "args", "kwargs")},
    "id": "cat/error/dim/1",
    "expect": {"error": {"kind": "DimensionError"}},
    "near": "cat/float32/ragged/1",
    "placements": ["packed", "holes"],
}
EMPTY: Json = {
    **REFUSED,
    "expect": {"nested": {"dtype": "float32", "shape": [0, None], "shapes": [], "bits": [], "cmp": "exact"}},
}
del EMPTY["near"]
SEVERAL: Json = {**ACCEPTED, "expect": {"list": [expected(X, cmp="exact")]}, "cotangent": encode_value([X])}
MAPPED: Json = {
    **ACCEPTED,
    "args": [encode_value({"a.weight": np.float32([1]), "b": X})],
    "gradient": [{"mapping": {"a.weight": {"dense": within("3ff0000000000000")}, "b": expected(X, cmp="exact")}}],
}
ANSWERED = {name: one for name, one in REFUSED.items() if name != "near"} | {"expect": {"python": True}}


def changed(case: Json, path: str, value: Any) -> Json:
    """The case with another value, or nothing, at a place such as `args.0.list`."""
    case = copy.deepcopy(case)
    *way, last = [int(step) if step.isdecimal() else step for step in path.split(".")]
    inside: Any = case
    for step in way:
        inside = inside[step]
    if value is GONE:
        del inside[last]
    else:
        inside[last] = value
    return case


NUMBERS = [{"int": "-9223372036854775808"}, {"float": "1"}, {"float": "-0.0"}, {"float": "1e-05"}, {"float": "NaN"}]


@pytest.mark.parametrize(
    "case",
    [
        *(ACCEPTED, REFUSED, EMPTY, SEVERAL, MAPPED, ANSWERED),
        *({**ANSWERED, "expect": {"python": one}} for one in (*NUMBERS, [{"int": "2"}, None, "mean", True])),
        *({**ANSWERED, "args": [one, [one], {"list": [one]}, {"index": [one, [one]]}]} for one in NUMBERS),
    ],
)
def test_a_case_in_order_is_read(case: Json) -> None:
    check(case, CASE)


DAMAGE: list[tuple[Json, str, Any, str]] = [
    *((ACCEPTED, name, GONE, f"has no {name}") for name in ("id", "clauses", "layouts", "args", "kwargs", "expect")),
    *((ACCEPTED, name, None, name) for name in ACCEPTED),
    *((REFUSED, name, 7, f"{name}: expected") for name in REFUSED),
    (ACCEPTED, "expected", {}, "has no field 'expected'"),
    (ACCEPTED, "id", "", "id: an id is like"),
    (ACCEPTED, "id", "cat/\ud800", "id: an id is like"),
    (ACCEPTED, "clauses", [], "clauses: is empty"),
    (ACCEPTED, "clauses", [7], r"clauses\[0\]: expected text"),
    (ACCEPTED, "layouts", [], "layouts: is empty"),
    (ACCEPTED, "layouts", ["padded"], r"layouts\[0\]: expected one of jagged, strided, got 'padded'"),
    (REFUSED, "placements", ["holes-nan"], r"placements\[0\]: expected one of"),
    (REFUSED, "near", GONE, "names in `near` the accepted call"),
    (ACCEPTED, "near", "cat/float32/ragged/2", "names in `near` the accepted call"),
    (ACCEPTED, "cotangent", GONE, "a cotangent and a gradient come together"),
    (ACCEPTED, "gradient", GONE, "a cotangent and a gradient come together"),
    (ACCEPTED, "tracked", [1], r"tracked: is \[1\], but gradients are given of \[0\]"),
    (ACCEPTED, "tracked", ["self"], r"tracked\[0\]: expected an integer"),
    (REFUSED, "tracked", [0], r"tracked: is \[0\], but gradients are given of \[\]"),
    (ACCEPTED, "gradient", [None], "gradient: has 1 entries for 3 arguments"),
    (
        ACCEPTED,
        "gradient.1",
        expected(np.float32([1]), cmp="exact"),
        r"gradient\[1\]: is .* but its argument is no arr",
    ),
    (ACCEPTED, "gradient.0.list.1", GONE, r"gradient\[0\]: is .* but its argument is"),
    (ACCEPTED, "gradient_kwargs.bias", None, "gradient_kwargs: has"),
    (ACCEPTED, "gradient_kwargs.weight.dense.shape", [1, 2], "gradient_kwargs.weight: is .* but its argument is"),
    (ACCEPTED, "gradient_kwargs.weight.dense.tol", "bff0000000000000" * 2, "tol: a tolerance is 0 or more"),
    (ACCEPTED, "gradient_kwargs.weight.dense.tol", "7ff8000000000000" * 2, "tol: a tolerance is 0 or more"),
    (ACCEPTED, "gradient_kwargs.weight.dense.open", "1", "needs 2 words of 1 digits"),
    (ACCEPTED, "gradient_kwargs.weight.dense.open", "12", "a bool is 0 or 1"),
    (ACCEPTED, "expect.nested.open", ["0000", ""], "has no field 'open'"),
    (ACCEPTED, "gradient_kwargs.weight.dense.lo", GONE, "weight.dense: has no lo"),
    (ACCEPTED, "gradient_kwargs.weight.dense.bits", "", "weight.dense: has no field 'bits'"),
    (ACCEPTED, "args.0.list.0.nested.bits.0", "3f80000", r"args\[0\].list\[0\].nested: decode: shape"),
    (ACCEPTED, "args.0.list.0.nested.bits.0", "n" * 32, "wildcard words belong to expectations"),
    (ACCEPTED, "args.0.list.0.nested.bits", [], "shape .* with 2 shapes and bits of 0 components"),
    (ACCEPTED, "args.0.list.0.nested.shape", [2, 2, 2], r"nested.shapes\[1\]: .* is no component of shape"),
    (ACCEPTED, "args.0.list.0.nested.shape", [2, None], r"nested.shapes\[0\]: .* is no component of shape"),
    (ACCEPTED, "args.0.list.0.nested.shape", [None, None, 2], "with 2 shapes"),
    (ACCEPTED, "args.0.list.0.nested.shapes.1", [0, -2], "a size is 0 or more"),
    (ACCEPTED, "args.0.list.0.nested.dtype", "float33", "nested.dtype: expected one of"),
    (ACCEPTED, "args.0.list.0.nested.show", 7, "nested.show: expected a list"),
    (ACCEPTED, "args.0.list.0.nested.show", "1 2", "nested.show: expected a list"),
    (ACCEPTED, "kwargs.weight.dense.show", ["1 2"], "dense.show: expected text"),
    (ACCEPTED, "args.0.list.0.nested.cmp", "exact", "nested: has no field 'cmp'"),
    (ACCEPTED, "args.0.list.0", {"nested": {}, "dense": {}}, "this one has nested, dense"),
    (ACCEPTED, "args.0.list.0", {"sparse": {}}, "this one has none"),
    (ACCEPTED, "args.2.index.1.slice", [None, None], "a slice has start, stop and step"),
    (ACCEPTED, "args.2.index.0", [[True]], r"args\[2\].index\[0\]\[0\]: expected"),
    (ACCEPTED, "args.1", 1, r"args\[1\]: expected .*, got 1"),
    (ACCEPTED, "args.1", [1.5], r"args\[1\]\[0\]: expected .*, got 1.5"),
    (ACCEPTED, "args.1", {"int": 1}, r"args\[1\].int: expected text, got 1"),
    (ACCEPTED, "args.1", {"int": "1", "float": "1"}, "this one has int, float"),
    *(
        (ACCEPTED, "args.1.int", text, r"args\[1\].int: an integer is decimal text")
        for text in ("", "1.0", "01", "-0", "+1", " 1", "1\n", "1_000", "\u0663", "0x1")
    ),
    (ACCEPTED, "args.1.int", "9" * 5000, r"args\[1\].int: .*digits"),
    (ACCEPTED, "args.2.index.0", 0, r"args\[2\].index\[0\]: expected .*, got 0"),
    (ACCEPTED, "args.2.index.1.slice.1", 2, r"args\[2\].index\[1\].slice\[1\]: expected .*, got 2"),
    (ACCEPTED, "args.2.index.4.1", 1, r"args\[2\].index\[4\]\[1\]: expected .*, got 1"),
    (ACCEPTED, "args.1", "\x1b[2J", r"args\[1\]: holds characters that cannot be shown"),
    (ACCEPTED, "kwargs.dtype.dtype", "void", "kwargs.dtype.dtype: expected one of"),
    *(
        (ACCEPTED, "kwargs.pad.float", text, "kwargs.pad.float: a float is decimal text")
        for text in ("", "nan", "inf", "1e999", ".5", "1.", "1_0.0", "0x1p3", "7ff0000000000000", "1.0\n", "\u0663.5")
    ),
    (ACCEPTED, "kwargs.weight.dense.shape", [0, 2**31], "at most 32 dimensions and 1048576 elements"),
    (ACCEPTED, "kwargs.weight", encode_value(Components([], (0, None, 2**40), "int8")), "at most 32 dimensions and"),
    (ACCEPTED, "kwargs.weight.dense.shape", [1] * 33, "at most 32 dimensions and"),
    (ACCEPTED, "expect", {}, "expect: has exactly one of"),
    (ACCEPTED, "expect.error", {"kind": "ShapeError"}, "this one has nested, error"),
    (ACCEPTED, "expect.kind.jagged", "list", "expect.kind.jagged: expected one of dense, nested"),
    (ACCEPTED, "expect.kind.padded", "dense", "expect.kind: has no field 'padded'"),
    (ACCEPTED, "expect.nested.cmp", "near", "expect.nested.cmp: expected one of bound, exact"),
    (ACCEPTED, "expect.nested.bits.0", "m" * 32, "is neither a lower-case hex word"),
    (ACCEPTED, "expect.nested.bits.0", "n" * 31, "expect.nested: decode"),
    (ACCEPTED, "expect.nested.bits", ["3f800000"], "the components do not add up"),
    (ACCEPTED, "expect.nested.shape", [2, None, 2], "says what no components have"),
    (EMPTY, "expect.nested.shape", GONE, "says what no components have"),
    (EMPTY, "expect.nested.shape", [1, None], "begins with 0"),
    (EMPTY, "expect.nested.shape", [], "begins with 0"),
    (ACCEPTED, "expect.nested.shapes.1", [2, 0], "cotangent: is .* but the result is"),
    (SEVERAL, "expect.list.0", 7, r"expect.list\[0\]: expected an object"),
    (SEVERAL, "cotangent", encode_value(X), "cotangent: is .* but the result is"),
    (MAPPED, "args.0.mapping.b", 7, r"args\[0\].mapping.b: expected an object"),
    (MAPPED, "args.0.mapping.b", encode_value([X]), r"args\[0\].mapping.b: has exactly one of nested, dense"),
    (MAPPED, "args.0.mapping.\x07", encode_value(X), r"args\[0\].mapping: holds characters that cannot be shown"),
    (MAPPED, "args.0.mapping.b.nested.shape", [2, None, None], r"layouts: jagged holds one irregular dimension"),
    (MAPPED, "gradient.0.mapping.b", GONE, r"gradient\[0\]: is .* but its argument is"),
    (MAPPED, "gradient.0.mapping.b.nested.shapes.1", [2, 0], r"gradient\[0\]: is .* but its argument is"),
    (MAPPED, "gradient.0", {"mapping": {"b": None}}, r"gradient\[0\].mapping.b: expected an object"),
    (ANSWERED, "expect.python", {"list": []}, "expect.python: has exactly one of int, float"),
    (ANSWERED, "expect.python", 7, "expect.python: expected"),
    (ANSWERED, "expect.python", [[]], r"expect.python\[0\]: expected"),
    (REFUSED, "expect.error", {}, "expect.error: has no kind"),
    (REFUSED, "expect.error.kind", None, "expect.error.kind: expected text"),
]


@pytest.mark.parametrize(("case", "path", "value", "says"), DAMAGE)
def test_damage_is_refused_and_its_place_is_said(case: Json, path: str, value: Any, says: str) -> None:
    with pytest.raises(Malformed, match=says):
        check(changed(case, path, value), CASE)


def test_wild_words_ask_for_what_the_dtype_has() -> None:
    ints = {"dense": {"dtype": "int8", "shape": [1], "bits": "zz", "cmp": "exact"}}
    with pytest.raises(Malformed, match="n and z ask for what int8 has not"):
        check({**ANSWERED, "expect": ints}, CASE)
    ints["dense"]["bits"] = "uu"
    check({**ANSWERED, "expect": ints}, CASE)


@pytest.mark.parametrize("shape", [[2, None, None], [2]])
def test_the_jagged_layout_needs_one_irregular_dimension(shape: list[int | None]) -> None:
    sizes = [[1] * (len(shape) - 1)] * 2
    operand = {"nested": {"dtype": "int8", "shape": shape, "shapes": sizes, "bits": ["01"] * 2}}
    check({**ANSWERED, "args": [operand], "layouts": ["strided"]}, CASE)
    with pytest.raises(Malformed, match="layouts: jagged holds one irregular dimension"):
        check({**ANSWERED, "args": [operand]}, CASE)
