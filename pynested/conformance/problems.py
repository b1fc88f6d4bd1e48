"""What ends a conformance run early: a question that cannot be answered, a kit that contradicts itself, a full disk."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

# The exit codes of the command; 1 is for nothing but a difference, and 0 for nothing but agreement that was seen.
AGREES, DIFFERS, USAGE, KIT, NOTHING, SIGNAL = 0, 1, 2, 3, 4, 128


class UsageError(Exception):
    """The user asked for something that is not there; the command ends with exit code 2."""


class KitError(Exception):
    """The specification or its vectors are inconsistent; the command ends with exit code 3."""


class OutputError(Exception):
    """A report or a record cannot be written; the command ends with exit code 3."""


def unknown(what: str, name: str, known: Iterable[str]) -> UsageError:
    """Return the error for a name that does not exist, with the names that look like it."""
    by_fold = {one.casefold(): one for one in known}
    near = [by_fold[one] for one in difflib.get_close_matches(name.casefold(), by_fold, n=3, cutoff=0.5)]
    return UsageError(f"there is no {what} {name!r}" + (f"; did you mean {' or '.join(near)}?" if near else ""))
