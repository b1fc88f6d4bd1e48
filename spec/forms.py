"""The forms of a vector, as rules of `grammar`: arrays, arguments, expectations, and a whole case.

A rule holds for one case on its own. What cases owe the operator table and each other is in `check`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .compare import Expected
from .encoding import ANY_NAN, ANY_ZERO, WIDTHS, decode_value
from .grammar import ANYTHING, Both, Malformed, Rule, check, tagged

__all__ = [
    "CASE", "EXPECT", "NUMBERS", "OPERANDS", "PLAIN", "SCALARS", "TEXT", "arrays", "by_name", "fit_jagged", "forms",
    "identifier", "some",
]  # fmt: skip

_DEEPEST = 4  # how deep lists may lie in lists
_MOST_DIMS, _MOST_ELEMENTS = 32, 2**20  # of an operand; the gaps between components are as wide as these
_ID = re.compile(r"[a-z0-9_]+(/[a-z0-9_-]+)+")


def _sizes(shape: Sequence[int | None]) -> None:
    if not all(size is None or 0 <= size < 2**63 for size in shape):
        raise ValueError(f"a size is 0 or more, and below 2**63; got {shape}")


def _text(value: str) -> None:
    if not value.isprintable():
        raise ValueError(f"holds characters that cannot be shown: {value[:40]!r}")


def identifier(value: str) -> None:
    """Refuse what is no id of a case."""
    if not _ID.fullmatch(value):
        raise ValueError(f"an id is like 'sum/float32/ragged/1'; got {value[:80]!r}")


def _names(value: Mapping[str, Any]) -> None:
    for name in value:
        _text(name)


def some(value: Sequence[Any]) -> None:
    """Refuse a list of nothing."""
    if not value:
        raise ValueError("is empty; at least one is needed")


def forms(rules: Mapping[str, Rule]) -> Both:
    """Return the rule for objects with a single name, which says what they are: ``{"dense": ...}``."""
    return tagged({name: {name: rule} for name, rule in rules.items()})


def by_name(rule: Rule) -> Both:
    """Return the rule for a mapping: under each name, which can be shown, something by a rule."""
    return Both({"*": rule}, _names)


# --- arrays, as operands and results

TEXT = Both(str, _text)
SHAPE, LOGICAL_SHAPE = Both([int], _sizes), Both([(int, None)], _sizes)  # null where sizes may differ
DTYPE = set(WIDTHS)


def arrays(nested_too: Rule, dense_too: Rule) -> dict[str, Rule]:
    """Return the rules of nested and dense arrays, with fields that may be there too; the words are not read yet."""
    dense = {"dtype": DTYPE, "shape": SHAPE, "bits": str, **dense_too}
    nested = {"dtype": DTYPE, "shape": LOGICAL_SHAPE, "shapes": [SHAPE], "bits": [str], **nested_too}
    return {"nested": Both(nested, _components), "dense": dense}


def _components(fields: Mapping[str, Any]) -> None:
    """Hold the components against the logical shape: the batch first, null where their sizes may differ."""
    shape, shapes = fields["shape"], fields["shapes"]
    if shape[:1] != [len(shapes)] or len(fields["bits"]) != len(shapes):
        raise ValueError(f"shape {shape} with {len(shapes)} shapes and bits of {len(fields['bits'])} components")
    for number, one in enumerate(shapes):
        if len(one) != len(shape) - 1 or any(size not in (None, own) for size, own in zip(shape[1:], one, strict=True)):
            raise Malformed(f"shapes[{number}]", f"{one} is no component of shape {shape}")


# --- arguments

SCALARS: tuple[Rule, ...] = (None, bool, TEXT)
_INT = re.compile(r"0|-?[1-9][0-9]*")
_FLOAT = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_NOT_FINITE = ("NaN", "Infinity", "-Infinity")
_NUMPY_DTYPES = {np.dtype(code).name for code in "?bhilqBHILQefdFD"}


def _small(fields: Mapping[str, Any]) -> None:
    for shape in (fields["shape"], *fields.get("shapes", [])):
        if len(shape) > _MOST_DIMS or math.prod(size or 1 for size in shape) > _MOST_ELEMENTS:
            raise ValueError(f"an operand has at most {_MOST_DIMS} dimensions and {_MOST_ELEMENTS} elements: {shape}")


def _int(value: str) -> None:
    if not _INT.fullmatch(value):
        raise ValueError(f"an integer is decimal text like '-3'; got {value[:40]!r}")
    int(value)  # which has a limit


def _float(value: str) -> None:
    if value not in _NOT_FINITE and not (_FLOAT.fullmatch(value) and math.isfinite(float(value))):
        names = ", ".join(_NOT_FINITE)
        raise ValueError(f"a float is decimal text like '0.5' that a float64 can hold, or {names}; got {value[:40]!r}")


def _three(value: Sequence[Any]) -> None:
    if len(value) != 3:
        raise ValueError(f"a slice has start, stop and step; got {len(value)} numbers")


def _operand(form: str, rule: Rule) -> Both:
    return Both(Both(rule, _small), lambda fields: decode_value({form: fields}))


_SHOWN, _SHOWN_EACH = {"show?": TEXT}, {"show?": [TEXT]}
OPERANDS = {form: _operand(form, rule) for form, rule in arrays(_SHOWN_EACH, _SHOWN).items()}
NUMBERS: dict[str, Rule] = {"int": Both(str, _int), "float": Both(str, _float)}
_SLICE = Both([(None, forms(NUMBERS))], _three)
_INDEX = (*SCALARS, [(bool, forms(NUMBERS))], forms(NUMBERS | {"slice": _SLICE}))
PLAIN = {**NUMBERS, "dtype": _NUMPY_DTYPES, "index": [_INDEX]}


def _arguments() -> Rule:
    """Return the rule of an argument: a plain list is a tuple, and lists and mappings have forms of their own."""
    own = OPERANDS | PLAIN | {"mapping": by_name(forms(OPERANDS))}
    rule: Rule = (*SCALARS, forms(own))
    for _ in range(_DEEPEST):
        rule = (*SCALARS, [rule], forms(own | {"list": [rule]}))
    return rule


# --- expectations

_ONE = (*SCALARS, forms(NUMBERS))
_PYTHON = (*_ONE, [_ONE])  # what is no array


def _expected(own: Mapping[str, Rule], words: Rule) -> Mapping[str, Rule]:
    """Return the rules of an expected array by comparison: words, or the exact value in two parts with a tolerance."""
    names = {"exact": ("bits",), "bound": ("hi", "lo", "tol", "open?")}
    return {cmp: {"cmp": {cmp}, "dtype": DTYPE, **own, **dict.fromkeys(names[cmp], words)} for cmp in names}


_DENSE = _expected({"shape": SHAPE, **_SHOWN}, str)
_NESTED = _expected({"shape?": LOGICAL_SHAPE, "shapes": [SHAPE], **_SHOWN_EACH}, [str])


def _expected_dense(fields: Mapping[str, Any]) -> None:
    check(fields, _DENSE[fields["cmp"]])
    _sound(Expected.from_words(fields))


def _expected_nested(fields: Mapping[str, Any]) -> None:
    check(fields, _NESTED[fields["cmp"]])
    counts = {name: len(fields[name]) for name in ("shapes", "bits", "hi", "lo", "tol", "open") if name in fields}
    if len(set(counts.values())) > 1:
        raise ValueError(f"the components do not add up: {counts}")
    if ("shape" in fields) == bool(fields["shapes"]) or fields.get("shape", [0])[:1] != [0]:
        raise ValueError("a shape, which begins with 0, says what no components have; components say it themselves")
    for number in range(counts["shapes"]):
        _sound(Expected.from_words(fields, number))


def _sound(expected: Expected) -> None:
    """Refuse an expectation that nothing can meet, or whose words ask for what the dtype has not."""
    if expected.tol is not None and not (expected.tol >= 0).all():
        raise ValueError("tol: a tolerance is 0 or more")
    wanted = expected.wanted
    if wanted is not None and expected.dtype.kind != "f" and ((wanted == ANY_NAN) | (wanted == ANY_ZERO)).any():
        raise ValueError(f"bits: n and z ask for what {expected.dtype.name} has not")


_OPEN = {"cmp": {"exact", "bound"}, "*": ANYTHING}
_LEAVES = {"nested": Both(_OPEN, _expected_nested), "dense": Both(_OPEN, _expected_dense)}
_KIND = {"jagged?": {"nested", "dense"}, "strided?": {"nested", "dense"}}
_GRADIENT = (None, forms(_LEAVES | {"list": [forms(_LEAVES)], "mapping": by_name(forms(_LEAVES))}))
EXPECT = tagged(
    {form: {form: rule, "kind?": _KIND} for form, rule in _LEAVES.items()}
    | {"list": {"list": [forms(_LEAVES)]}, "python": {"python": _PYTHON}}
    | {"error": {"error": {"kind": TEXT}}}
)


# --- a case

_FIELDS = {
    "id": Both(str, identifier),
    "clauses": Both([TEXT], some),
    "layouts": Both([{"jagged", "strided"}], some),
    "placements?": Both([{"packed", "holes", "transposed"}], some),
    "args": [_arguments()],
    "kwargs": {"*": _arguments()},
    "expect": EXPECT,
    "near?": Both(str, identifier),
    "tracked?": [int],
    "cotangent?": forms(OPERANDS | {"list": [forms(OPERANDS)]}),
    "gradient?": [_GRADIENT],
    "gradient_kwargs?": {"*": _GRADIENT},
}


def _consistent(case: Mapping[str, Any]) -> None:
    if ("error" in case["expect"]) != ("near" in case):
        raise ValueError("a refused call, and no other, names in `near` the accepted call next to it")
    if ("cotangent" in case) != ("gradient" in case):
        raise ValueError("a cotangent and a gradient come together")
    if "tracked" in case:
        _given_alone(case)
    if "cotangent" in case:
        _alike(case["cotangent"], case["expect"], "cotangent", "the result")
        for where, argument, gradient in _gradients(case):
            _alike(gradient, argument, where, "its argument")
    if "jagged" in case["layouts"]:
        fit_jagged([*case["args"], *case["kwargs"].values()])


def _given_alone(case: Mapping[str, Any]) -> None:
    """Refuse a list of who requires grad that is not the list of who receives a gradient."""
    given = [number for number, one in enumerate(case.get("gradient", ())) if one is not None]
    if case["tracked"] != given:
        raise Malformed("tracked", f"is {case['tracked']}, but gradients are given of {given}")


def _gradients(case: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield place, argument and gradient of everything that has one."""
    args, gradient, by_name = case["args"], case["gradient"], case.get("gradient_kwargs", {})
    if len(gradient) != len(args):
        raise Malformed("gradient", f"has {len(gradient)} entries for {len(args)} arguments")
    if set(by_name) - set(case["kwargs"]):
        raise Malformed("gradient_kwargs", f"has {sorted(by_name)} where the arguments are {sorted(case['kwargs'])}")
    places = [(f"gradient[{number}]", *pair) for number, pair in enumerate(zip(args, gradient, strict=True))]
    places += [(f"gradient_kwargs.{name}", case["kwargs"][name], one) for name, one in by_name.items()]
    return (place for place in places if place[2] is not None)


def _alike(value: Any, other: Any, where: str, what: str) -> None:
    """Refuse a value that has another form, or other sizes, than what it belongs to."""
    mine, theirs = _outline(value), _outline(other)
    if mine != theirs:
        raise Malformed(where, f"is {mine}, but {what} is {theirs}")


def _outline(value: Any) -> Any:
    """Return form and sizes of arrays, whatever is in them."""
    if not isinstance(value, dict):
        return "no array"
    if "list" in value:
        return [_outline(one) for one in value["list"]]
    if "mapping" in value:
        return {name: _outline(one) for name, one in value["mapping"].items()}
    form = next((one for one in ("nested", "dense") if one in value), "no array")
    return (form, value[form].get("shapes", value[form].get("shape"))) if form in value else form


def fit_jagged(values: Sequence[Any]) -> None:
    """Refuse operands that the jagged layout cannot hold, where the case lists it."""
    for value in values:
        if isinstance(value, dict) and "list" in value:
            fit_jagged(value["list"])
        elif isinstance(value, dict) and "mapping" in value:
            fit_jagged(list(value["mapping"].values()))
        elif isinstance(value, dict) and "nested" in value:
            shape = value["nested"]["shape"]
            if len(shape) < 2 or shape.count(None) > 1:
                raise Malformed("layouts", f"jagged holds one irregular dimension, but an operand has shape {shape}")


CASE = Both(_FIELDS, _consistent)
