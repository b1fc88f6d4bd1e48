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

    def inside(self, place: str) -> Malformed:
        """Return the same of a value that holds this one at a place."""
        dot = "." if place and self.where and not self.where.startswith("[") else ""
        return Malformed(place + dot + self.where, self.what)


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
    """Refuse a value that breaks the rule.

    What a rule asks for is worked out once and kept for good: a rule is made once, not for each value.
    """
    try:
        _asked(rule)(value)
    except Malformed as wrong:
        raise wrong.inside(where) from None


Asked = Callable[[Any], None]
_KEPT: dict[int, tuple[Rule, Asked]] = {}  # by identity, which a rule that is kept does not lose


def _asked(rule: Rule) -> Asked:
    """Return a function that refuses what breaks the rule."""
    kept = _KEPT.get(id(rule))
    if kept is None:
        kept = _KEPT[id(rule)] = rule, _worked_out(rule)
    return kept[1]


def _worked_out(rule: Rule) -> Asked:
    if rule is ANYTHING:
        return lambda value: None
    if isinstance(rule, tuple):
        return _either(rule)
    kind, inside = _kind(rule), _inside(rule)

    def asked(value: Any) -> None:
        if type(value) is not kind:
            raise Malformed("", f"expected {_described(rule)}, got {short(value)}")
        if inside is not None:
            inside(value)

    return asked


def _either(rule: tuple[Rule, ...]) -> Asked:
    of_kind = {_kind(one): _asked(one) for one in reversed(rule)}

    def asked(value: Any) -> None:
        one = of_kind.get(type(value))
        if one is None:
            raise Malformed("", f"expected {_described(rule)}, got {short(value)}")
        one(value)

    return asked


def _inside(rule: Rule) -> Asked | None:
    """Return what is asked of a value that is of the right kind."""
    if isinstance(rule, Both):
        return _both(_asked(rule.rule), rule.test)
    if isinstance(rule, set):
        return lambda value: _one_of(value, rule)
    if isinstance(rule, list):
        return _list(rule[0])
    return _object(rule) if isinstance(rule, dict) else None


def _one_of(value: Any, rule: set[str]) -> None:
    if value not in rule:
        raise Malformed("", f"expected {_described(rule)}, got {short(value)}")


def _list(rule: Rule) -> Asked:
    asked = _asked(rule)

    def asked_of_all(value: list[Any]) -> None:
        for number, item in enumerate(value):
            if type(item) is not rule:
                try:
                    asked(item)
                except Malformed as wrong:
                    raise wrong.inside(f"[{number}]") from None

    return asked_of_all


def _object(rule: Mapping[str, Rule]) -> Asked:
    names = [name.removesuffix("?") for name in rule]
    asked = {name.removesuffix("?"): _asked(one) for name, one in rule.items()}
    needed = [name for name in rule if name != "*" and not name.endswith("?")]
    others = asked.get("*")

    def asked_of_fields(value: Mapping[str, Any]) -> None:
        for name in needed:
            if name not in value:
                lost = ", ".join(name for name in needed if name not in value)
                raise Malformed("", f"has no {lost}: {short(value)}")
        for name, item in value.items():
            one = asked.get(name, others)
            if one is None:
                raise Malformed("", f"has no field {short(name)}; it has {', '.join(names)}")
            try:
                one(item)
            except Malformed as wrong:
                raise wrong.inside(name) from None

    return asked_of_fields


def _both(asked: Asked, test: Callable[[Any], None]) -> Asked:
    def asked_and_tested(value: Any) -> None:
        asked(value)
        try:
            test(value)
        except Malformed:
            raise
        except (ValueError, OverflowError) as error:
            raise Malformed("", str(error)) from error

    return asked_and_tested


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
