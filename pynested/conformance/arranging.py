"""In which placements each case is asked: a few of them, but over the cases of an operator every two together.

A call that must be allowed is asked where its operands lie packed, with holes of either filling, and transposed; and in
one of the other ways, which take turns. Where it has several nested operands these also lie differently: the rows of an
orthogonal array are dealt out to the cases of an operator, so that of any two operands each way of the one meets each
way of the other. A call that must be refused is asked packed, and in one other way, in which the nearest call that must
be allowed is asked too: a refusal counts only where that is there. Everything depends on the vectors alone: a case that
is run by itself is asked as in a whole run.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from pynested.spec.encoding import decode_value

from .corpus import Case, Program
from .placements import (
    APART,
    BARE,
    HOLES_MAX,
    HOLES_NAN,
    LAYOUTS,
    OVERLAPPING,
    PACKED,
    PLACEMENTS,
    REVERSED,
    TRANSPOSED,
    VIEW,
    joined,
    place_jagged,
    place_strided,
    words,
)

_ALWAYS = (PACKED, HOLES_NAN, HOLES_MAX, TRANSPOSED)
_IN_TURN = (REVERSED, VIEW, BARE, APART, OVERLAPPING)
_REFUSED = (HOLES_NAN, HOLES_MAX, TRANSPOSED, REVERSED, VIEW, BARE)

# The columns of the array: their number is a prime, so that multiples of a step meet all of them.
_MIXED = (PACKED, HOLES_NAN, HOLES_MAX, TRANSPOSED, REVERSED, VIEW, BARE)
_ROWS = len(_MIXED) * (len(_MIXED) - 1)

# What a vector that names placements means by each.
_NAMED = {HOLES_NAN: "holes", HOLES_MAX: "holes", BARE: PACKED, APART: PACKED}

Placed = dict[tuple[str, str], tuple[str, ...]]


def placements_for(case: Case) -> tuple[str, ...]:
    """Return the words that make a difference for a call, all of its nested operands alike, and are allowed."""
    nested = case.nested
    idle = set() if any(len(one["shape"]) > 2 for one in nested) else {TRANSPOSED}
    idle |= set() if len(nested) > 1 else {APART}
    return tuple(one for one in (PLACEMENTS if nested else (PACKED,)) if one not in idle and _permits(case, one))


def mixed(row: int, operands: int) -> str:
    """Return a row of the array: where each of several operands lies."""
    first, step = row % len(_MIXED), 1 + row // len(_MIXED) % (len(_MIXED) - 1)
    return joined([_MIXED[(first + step * number) % len(_MIXED)] for number in range(operands)])


def arranged(cases: Sequence[Case]) -> Placed:
    """Return the placements of each case and layout; these are all the cases of one operator, in order."""
    found: Placed = {}
    for layout in LAYOUTS:
        here = [case for case in cases if layout in case.layouts]
        share = math.ceil(_ROWS / max(sum(map(_speaks, here)), 1))  # rows for each case that can show something
        rows = itertools.count()
        turns = sorted(enumerate(here, 3 * LAYOUTS.index(layout)), key=lambda pair: pair[1].is_error)
        for turn, case in turns:
            near = found.get((case.near or "", layout), ())
            placed = _refused(case, turn, near, rows) if case.is_error else _allowed(case, layout, turn, share, rows)
            found[case.id, layout] = tuple(dict.fromkeys(placed))
    return found


def _allowed(case: Case, layout: str, turn: int, share: int, rows: Iterator[int]) -> Iterator[str]:
    """Yield where the operands of a call lie that must be allowed."""
    suits = placements_for(case)
    yield from (one for one in _ALWAYS if one in suits)
    others = _from(turn, [one for one in _IN_TURN if one in suits])
    yield from itertools.islice((one for one in others if one != OVERLAPPING or _overlaps(case, layout)), 1)
    if len(case.nested) > 1:
        yield from _dealt(case, rows, share if _speaks(case) else 1)


def _refused(case: Case, turn: int, near: Sequence[str], rows: Iterator[int]) -> Iterator[str]:
    """Yield where the operands of a call lie that must be refused: as those of the nearest that must be allowed."""
    suits, operands = placements_for(case), len(case.nested)
    yield from (one for one in (PACKED,) if one in suits)
    one_way = [one for one in _REFUSED if one in suits]
    yield from itertools.islice(_from(turn, [one for one in one_way if one in near] or one_way), 1)
    if operands > 1:
        mixed_near = [one for one in near if len(words(one)) == operands]
        yield from itertools.islice(_from(turn, mixed_near) if mixed_near else _dealt(case, rows, 1), 1)


def _from(turn: int, ways: Sequence[str]) -> Iterator[str]:
    """Yield all of some ways, beginning with that whose turn it is."""
    return (ways[(turn + number) % len(ways)] for number in range(len(ways)))


def _dealt(case: Case, rows: Iterator[int], share: int) -> Iterator[str]:
    """Yield the next rows of the array, in so far as a case may be asked like that."""
    each = (mixed(row, len(case.nested)) for row in itertools.islice(rows, share))
    return (one for one in each if all(_permits(case, word) for word in words(one)))


def _permits(case: Case, word: str) -> bool:
    return not case.placements or _NAMED.get(word, word) in case.placements


def _speaks(case: Case) -> bool:
    """Return whether where its operands lie can show: there are several, each has elements, and there is a result."""
    nested = case.nested
    return len(nested) > 1 and not case.is_error and all(any(map(math.prod, one["shapes"])) for one in nested)


def _overlaps(case: Case, layout: str) -> bool:
    """Return whether some components of an operand can lie in each other; those of a program are written to."""
    if isinstance(case, Program):
        return False
    place = place_jagged if layout == "jagged" else place_strided
    operands = [decode_value({"nested": fields}) for fields in case.nested]
    return any(place(one, OVERLAPPING).whole.size < sum(part.size for part in one) for one in operands)
