"""What adapters in Python say of an answer that contradicts itself, so that a report can tell it and show it again.

Such an answer can be read; but asked about in two ways it says two things. The error with which an adapter tells this
is its own, and none of the target.
"""

from __future__ import annotations

import re

TRACKED = "the call gives another result where its operands track gradients"
TWICE = "the gradient that is left after the same cotangent was pulled back twice is not twice that after once"
USED = "the result is another once it is used by another operator: {}"
SECOND = " (when it is pulled back again)"  # follows the message of a refusal that the first time was none
OUTSIDE = "the gradient is {} in memory that belongs to no component, where it must be 0"


class Contradiction(ValueError):
    """Two parts of one answer do not agree."""


def told(error: str) -> str:
    """Return the text of an error, ``Class: message``, without the class where the adapter itself says it.

    >>> told("Contradiction: the shape is (2,), the offsets are those of 3 components")
    'the shape is (2,), the offsets are those of 3 components'
    >>> told("IndexError: out of range")
    'IndexError: out of range'
    """
    return error.removeprefix(f"{Contradiction.__name__}: ")


def is_outside(text: str) -> bool:
    """Return whether a gradient came to memory that no component holds."""
    return re.search(_pattern(OUTSIDE), text) is not None


def used_by(text: str) -> str:
    """Return the operator in whose hands a result became another, or nothing.

    >>> used_by(USED.format("to_padded_tensor"))
    'to_padded_tensor'
    """
    found = re.search(_pattern(USED), text)
    return found[1] if found else ""


def is_shown(text: str) -> bool:
    """Return whether a snippet shows how an answer contradicts itself: it ends, and prints both."""
    return text == TWICE or is_outside(text) or bool(used_by(text))


def is_second(text: str) -> bool:
    """Return whether a gradient came the first time, and not when the cotangent was pulled back again."""
    return text == TWICE or text.endswith(SECOND)


def _pattern(sentence: str) -> str:
    return re.escape(sentence).replace(re.escape("{}"), r"(\S+)")
