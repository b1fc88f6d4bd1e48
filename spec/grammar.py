"""What JSON may hold, written as data that looks like it, and one function that holds a value against its rule.

    int  float  str  bool  None     exactly that; `true` is no int
    {"a", "b"}                      one of these texts
    [RULE]                          a list, each of its items by the rule
    {"a": RULE, "b?": RULE}         an object; a name with a question mark may be absent, another name may not be there,
                                    unless "*" gives a rule for all others
    (RULE, RULE)                    either: whichever is about this kind of value
    ANYTHING                        what nobody reads
    Both(RULE, test)                a rule, and a test that raises `ValueError` for what data cannot say

`parse` reads a text and `check` a value. What is wrong comes as `Malformed`, which says where.
"""

from __future__ import annotations

import json
import math
import reprlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["ANYTHING", "Both", "Malformed", "Rule", "check", "parse", "short", "tagged"]

Rule = Any
ANYTHING: Any = object()

_KINDS: Mapping[type, str] = {
    int: "an integer",
    float: "a number",
    str: "text",
    bool: "true or false",
    type(None): "null",
    list: "a list",
    dict: "an object",
}
# Which values a rule that is data is about.
_ABOUT: Mapping[type, type] = {type(None): type(None), set: str, list: list, dict: dict}
_MOST = 80


class Malformed(ValueError):
    """A value that breaks its rule: ``where`` names the place, as in ``args[0].nested.bits``, ``what`` the fault."""

    def __init__(self, where: str, what: str) -> None:
        super().__init__(f"{where}: {what}" if where else what)
        self.where, self.what = where, what


@dataclass(frozen=True)
class Both:
    """A rule, and a test of what has passed it."""

    rule: Rule
    test: Callable[[Any], None]


def tagged(rules: Mapping[str, Rule]) -> Both:
    """Return the rule for objects that have exactly one of these names, each with the rule of the whole object."""

    def test(value: Mapping[str, Any]) -> None:
        found = [name for name in rules if name in value]
        if len(found) != 1:
            raise ValueError(f"has exactly one of {', '.join(rules)}; this one has {', '.join(found) or 'none'}")
        check(value, rules[found[0]])

    return Both(dict, test)


def check(value: Any, rule: Rule, where: str = "") -> None:
    """Refuse a value that breaks the rule."""
    kind = type(value)
    if rule is ANYTHING or rule is kind:
        return
    if isinstance(rule, tuple):
        rule = next((one for one in rule if _kind(one) is kind), rule)
    if _kind(rule) is not kind or (isinstance(rule, set) and value not in rule):
        raise Malformed(where, f"expected {_described(rule)}, got {short(value)}")
    if isinstance(rule, Both):
        check(value, rule.rule, where)
        _test(value, rule.test, where)
    elif isinstance(rule, list):
        for number, item in enumerate(value):
            if type(item) is not rule[0]:
                check(item, rule[0], f"{where}[{number}]")
    elif isinstance(rule, dict):
        _object(value, rule, where)


def _object(value: Mapping[str, Any], rule: Mapping[str, Rule], where: str) -> None:
    rules = {name.removesuffix("?"): one for name, one in rule.items()}
    lost = [name for name in rule if name not in value and name != "*" and not name.endswith("?")]
    strange = [] if "*" in rule else [name for name in value if name not in rules]
    if lost or strange:
        what = f"{', '.join(lost)}: {short(value)}" if lost else f"field {short(strange[0])}; it has {', '.join(rules)}"
        raise Malformed(where, f"has no {what}")
    for name, item in value.items():
        check(item, rules[name] if name in rules else rules["*"], f"{where}.{name}" if where else name)


def _test(value: Any, test: Callable[[Any], None], where: str) -> None:
    try:
        test(value)
    except Malformed as inside:
        dot = "." if where and inside.where and not inside.where.startswith("[") else ""
        raise Malformed(where + dot + inside.where, inside.what) from None
    except (ValueError, OverflowError) as error:
        raise Malformed(where, str(error)) from error


def _kind(rule: Rule) -> type | None:
    """Return the type of the values that a rule is about."""
    if isinstance(rule, type):
        return rule
    return _kind(rule.rule) if isinstance(rule, Both) else _ABOUT.get(type(rule))


def _described(rule: Rule) -> str:
    if isinstance(rule, set):
        return ("one of " if len(rule) > 1 else "") + ", ".join(sorted(rule))
    if isinstance(rule, tuple):
        return " or ".join(map(_described, rule))
    return _KINDS[_kind(rule) or dict]


def short(value: Any) -> str:
    """Return any value in a few words."""
    text = reprlib.repr(value)
    return text if len(text) <= _MOST else text[: _MOST - 3] + "..."


def parse(text: str) -> Any:
    """Return what a JSON text holds; NaN, a number beyond float64, a name given twice and deep nesting are refused."""
    try:
        return json.loads(text, parse_constant=_finite, parse_float=_finite, object_pairs_hook=_once)
    except RecursionError:
        raise Malformed("", "lists or objects are nested too deep") from None


def _finite(text: str) -> float:
    if not math.isfinite(float(text)):
        raise Malformed("", f"{text} is no number of JSON that a float64 can hold")
    return float(text)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Malformed("", f"an object has a name twice; its names are {short([name for name, _ in pairs])}")
    return found
