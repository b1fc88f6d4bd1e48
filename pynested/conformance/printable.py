"""Text on its way to a terminal: what a target said cannot command it, and what it cannot show does not stop a run."""

from __future__ import annotations

import contextlib
import os
from typing import IO

from .problems import OutputError

# What stands for our own signs where the encoding has none of them.
_PLAIN = str.maketrans({"·": ".", "…": "~", "×": "x", "≤": "<", "≥": ">", "–": "-", "→": ">"})


def printable(text: str, most: int | None = None) -> str:
    r"""Return text on one line of at most ``most`` characters, in which everything invisible is an escape as ``\x1b``.

    Escape sequences, line ends, halves of surrogates and marks that turn the direction of reading all are invisible.
    """
    text = text if most is None or len(text) <= most else text[: most - 1] + "…"
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in text)


def paragraphs(text: str, most: int) -> str:
    """Return text whose lines are printable, and stay lines."""
    return "\n".join(map(printable, text[:most].splitlines()))


def write(text: str, stream: IO[str] | None) -> None:
    """Write text at once, in whatever encoding the stream has; `OutputError` where it cannot be written."""
    if stream is None:
        raise OutputError("it is closed")
    text = "\n".join(map(printable, text.expandtabs().split("\n")))
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = text.translate(_PLAIN).encode(encoding, "backslashreplace").decode(encoding)
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        _forget(stream)
        raise
    except (OSError, ValueError) as error:
        _forget(stream)
        raise OutputError(str(error)) from error


def _forget(stream: IO[str]) -> None:
    """Send what is left in the buffers nowhere, or Python would fail to write it once more at its end."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
