"""Damage by dice: a JSON value in which something is another thing, missing, doubled or moved."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

STRANGE: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 3, 2**31, 2**63, 2**70, -(2**70), 0.5, -0.0, 1e300),
    *("", "x", "nan", "float32", "complex64", "jagged", "\x1b[2J", "\ud800", "\u2028", "zzzzzzzz", "0" * 33),
    *([], [None], [[]], [-1], [2**40], {}, {"": 0}, {"dense": {}}, {"nested": {}}, {"list": []}, {"python": []}),
    *({"int": "7"}, {"int": 7}, {"int": "7.0"}, {"float": "0.5"}, {"float": "inf"}, {"python": {"float": "NaN"}}),
)


def mutated(value: Any, dice: random.Random) -> Any:
    """A copy of the value in which one place is damaged."""
    value = copy.deepcopy(value)
    holder, key = dice.choice([*places(value)])
    kind = dice.randrange(6)
    if kind == 0:
        del holder[key]
    elif kind == 1 and isinstance(holder[key], str) and holder[key]:
        at = dice.randrange(len(holder[key]))
        holder[key] = holder[key][:at] + dice.choice("0fFnzux ") * dice.randrange(3) + holder[key][at + 1 :]
    elif kind == 2 and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    elif kind == 3 and isinstance(holder, dict):
        holder[dice.choice(["show", "cmp", "expect", "dtype", "list", "error", "x"])] = holder.pop(key)
    elif kind == 4:
        other, place = dice.choice([*places(value)])
        holder[key] = copy.deepcopy(other[place])
    else:
        holder[key] = copy.deepcopy(dice.choice(STRANGE))
    return value


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Everything inside a value: what holds it, and its name or number there."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inside:
        yield value, key
        yield from places(one)


def torn(text: bytes, dice: random.Random) -> bytes:
    """A copy of a text with bytes changed, cut out or put in."""
    at = dice.randrange(len(text))
    to = min(len(text), at + dice.choice([0, 1, 1, 40]))
    return text[:at] + bytes(dice.choice(b'{}[]",:0x\x00\xff\n') for _ in range(dice.randrange(3))) + text[to:]
