"""Rules are data: what they accept, and what they say about the rest, and where."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from pynested.spec.grammar import ANYTHING, Both, Malformed, check, parse, tagged


def even(value: int) -> None:
    if value % 2:
        raise ValueError(f"{value} is odd")


def pair(value: dict[str, Any]) -> None:
    check(value["sizes"], [Both(int, even)], "sizes")


EVEN = Both(int, even)
SHAPE = {"sizes": [EVEN], "name?": {"one", "two"}, "more?": {"*": (int, None)}}
FORMS = tagged({"array": {"array": SHAPE, "kind?": str}, "number": {"number": (int, float)}})


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        (int, 7),
        (None, None),
        (float, 0.5),
        ((int, None), None),
        ({"a"}, "a"),
        ([int], []),
        ([int], [1, 2]),
        ({"*": int}, {"anything": 1, "else": 2}),
        ({"a": int, "*": ANYTHING}, {"a": 1, "b": object()}),
        (SHAPE, {"sizes": []}),
        (SHAPE, {"sizes": [2, 4], "name": "two", "more": {"x": None}}),
        (FORMS, {"number": 0.5}),
        (FORMS, {"array": {"sizes": [2]}, "kind": "x"}),
        (Both({"sizes": ANYTHING}, pair), {"sizes": [2]}),
    ],
)
def test_what_a_rule_accepts(rule: Any, value: Any) -> None:
    check(value, rule)


@pytest.mark.parametrize(
    ("rule", "value", "text"),
    [
        (int, True, "expected an integer, got True"),
        (int, 1.0, "expected an integer, got 1.0"),
        (bool, 1, "expected true or false, got 1"),
        (None, 0, "expected null, got 0"),
        (str, None, "expected text, got None"),
        ({"a", "b"}, "c", "expected one of a, b, got 'c'"),
        ({"a"}, ["a"], "expected a, got ['a']"),
        ((int, None), "x", "expected an integer or null, got 'x'"),
        ([int], (1,), "expected a list, got (1,)"),
        ([int], [1, [2]], r"[1]: expected an integer, got [2]"),
        (SHAPE, [], "expected an object, got []"),
        (SHAPE, {"name": "one"}, "has no sizes: {'name': 'one'}"),
        (SHAPE, {"sizes": [], "x": 1}, "has no field 'x'; it has sizes, name, more"),
        (SHAPE, {"sizes": [2, 3]}, "sizes[1]: 3 is odd"),
        (SHAPE, {"sizes": [], "more": {"x": "y"}}, "more.x: expected an integer or null, got 'y'"),
        (FORMS, {"array": {"sizes": [3]}}, "array.sizes[0]: 3 is odd"),
        (FORMS, {"array": {}, "number": 1}, "has exactly one of array, number; this one has array, number"),
        (FORMS, {}, "has exactly one of array, number; this one has none"),
        (Both({"sizes": ANYTHING}, pair), {"sizes": [2, 5]}, "sizes[1]: 5 is odd"),
        ([Both({"sizes": ANYTHING}, pair)], [{"sizes": [5]}], "[0].sizes[0]: 5 is odd"),
    ],
)
def test_what_a_rule_refuses(rule: Any, value: Any, text: str) -> None:
    with pytest.raises(Malformed) as refused:
        check(value, rule)
    assert str(refused.value) == text


def test_a_complaint_is_short_whatever_came() -> None:
    with pytest.raises(Malformed) as refused:
        check({"x" * 10_000: ["y" * 10_000] * 1000}, int)
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize(
    ("text", "value"),
    [("[1, -2.5, 1e3, true, null]", [1, -2.5, 1000.0, True, None]), ('{"a": {"b": "c"}}', {"a": {"b": "c"}})],
)
def test_json_is_read(text: str, value: Any) -> None:
    assert parse(text) == value


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "Expecting value"),
        ("[1,]", "Illegal trailing comma|Expecting value"),
        ("NaN", "NaN is no number"),
        ("[-Infinity]", "-Infinity is no number"),
        ("1e999", "1e999 is no number"),
        ('{"a": 1, "b": 2, "a": 3}', "has a name twice"),
        ("[" * 200_000, "nested too deep"),
        ('{"a":' * 200_000, "nested too deep"),
        ("[" * 200_000 + "]" * 200_000, "nested too deep"),
    ],
)
def test_what_is_no_json_is_a_value_error(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        parse(text)


def test_deep_nesting_is_refused_wherever_the_stack_is() -> None:
    """The parser gives up with the recursion limit of Python, which may be near."""

    def at(depth: int) -> Any:
        return at(depth - 1) if depth else parse("[" * 900 + "]" * 900)

    with pytest.raises(ValueError, match="nested too deep"):
        at(sys.getrecursionlimit() // 3)
