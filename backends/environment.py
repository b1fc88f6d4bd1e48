"""Numbers that environment variables set."""

from __future__ import annotations

import os
import re

from .errors import ArgumentError


def whole_number(variable: str, otherwise: int, least: int = 0, greatest: int = 2**31 - 1) -> int:
    """Return the number in an environment variable, or ``otherwise`` if it is empty or not set.

    ArgumentError for anything that is not a whole number in the range.
    """
    text = os.environ.get(variable, "")
    if not text:
        return otherwise
    if not re.fullmatch("[0-9]{1,20}", text) or not least <= int(text) <= greatest:
        raise ArgumentError(
            f"the environment variable {variable} is {text!r}; it takes a whole number from {least} to {greatest}. "
            "Correct it, or leave it unset."
        )
    return int(text)
