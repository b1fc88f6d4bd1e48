"""The text of an error without what varies from call to call, so that two can be held against each other."""

from __future__ import annotations

import re

# What of a message differs from call to call: what is quoted or in brackets, numbers, and who says it.
_SAYS = re.compile(r"^\w+\(\):? ")
_VARIES = re.compile(r"'[^']*'|\"[^\"]*\"|\[[^\]]*\]|\([^)]*\)|-?\d+(\.\d+)?")


def normal(text: str) -> str:
    """Return the text of an error, ``Class: message``, without what differs from call to call.

    >>> normal("RuntimeError: sum(): expected size 3 but got 4")
    'RuntimeError: expected size … but got …'
    """
    kind, _, message = text.partition(": ")
    return f"{kind}: {_VARIES.sub('…', re.sub(_SAYS, '', message))}"
