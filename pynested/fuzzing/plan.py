"""What is drawn, as plain data: a row of levels, and what makes the call wilder than the frozen cases.

A `Plan` is what a seed and a number stand for, on every machine. It holds no array: the writer of its family makes the
call of it, as it makes those of the vectors, so that a smaller plan is a call of the specification too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pynested.spec.axes import FAMILIES, SILENT, Family
from pynested.spec.generator.batches import BATCH, outline
from pynested.spec.generator.covering import Row, permits

from .chance import Chance

__all__ = ["OFFERED", "Plan", "admits", "drawn", "permitted"]

Numbers = tuple[int, ...]

# Every operator with each family that has it: each is as likely as the next.
OFFERED = tuple((family.name, op) for family in FAMILIES.values() for op in family.operators)

# What becomes of the numbers that the writer draws. None is drawn as whole; that is for what is shown to people.
DRAWN, SCALED, SPECIAL, WHOLE = "drawn", "scaled", "special", "whole"
_NUMBERS = (DRAWN, DRAWN, DRAWN, SCALED, SPECIAL)
_MOST_TRIES = 100_000  # rows; of the families that there are, one of a few is permitted
_MANY = (9, 12)  # components, more than a unit of eight
_LONG = (33, 70)  # of a component, more than a unit of 32
# Rows that no covering array happens to have, of which a call is not what the family says: a misfit that fits, as 1
# meets what is irregular; and an array of another rank along a dimension that is another one in each.
_NEVER: tuple[Row, ...] = (
    {"misfit": "per-component", "sizes": "one", "ragged": "middle"},
    {"unlike": "deeper", "dim": "batch"},
)
_VARY = ("mixed", "equal", "ones", "empty", "late", "long")  # levels of lengths that leave some of them open
_ELEMENTS = 250  # at the most, as int8 has no more numbers that are all different


@dataclass(frozen=True)
class Plan:
    """One call: the family whose writer makes it, its row, and the numbers that it has in place of levels.

    ``lengths`` and ``sizes`` are those of the ragged and of the regular dimensions, where they are not what the level
    says. ``numbers`` says what becomes of the drawn ones: nothing, or they are multiplied by 2 ** ``power``, or some of
    them become NaN, infinities, zeros or extremes, or all are rounded. ``tape``: whether a gradient is asked for.
    ``order`` names the components of the call in terms of those of the row: a law says what becomes of the answer.
    """

    seed: int
    number: int
    family: str
    op: str
    row: Mapping[str, str]
    lengths: Numbers = ()
    sizes: Numbers = ()
    numbers: str = DRAWN
    power: int = 0
    tape: bool = True
    order: Numbers = ()

    @property
    def key(self) -> str:
        """From what the numbers of the call are drawn."""
        return f"fuzz {self.seed} {self.number}"

    @property
    def full_row(self) -> Row:
        """The row as the writer reads it."""
        exact = {"lengths": self.lengths, "sizes": self.sizes}
        return {**self.row, **{name: " ".join(map(str, numbers)) for name, numbers in exact.items() if numbers}}

    @property
    def elements(self) -> int:
        """How many elements the first nested operand has."""
        return sum(math.prod(shape) for shape in outline(self.full_row).shapes)


def drawn(seed: int, number: int, ops: tuple[str, ...] = ()) -> Plan:
    """Return the plan of a number, of one of these operators, or of any.

    Examples
    --------
    >>> drawn(7, 12) == drawn(7, 12), drawn(7, 12) == drawn(8, 12)
    (True, False)
    """
    chance = Chance(seed, number)
    family, op = chance.one([one for one in OFFERED if one[1] in ops] if ops else OFFERED)
    row = _row(chance, FAMILIES[family], op)
    how: dict[str, Any] = {"numbers": chance.one(_NUMBERS), "power": chance.between(-130, 130)}
    how["tape"] = chance.happens(0.6)
    if chance.happens(0.7):  # the others have the sizes of the frozen cases
        how |= {"lengths": _lengths(chance, row), "sizes": _sizes(chance, row)}
    plan = Plan(seed, number, family, op, row, **how)
    return plan if plan.elements <= _ELEMENTS else replace(plan, lengths=(), sizes=())


def _row(chance: Chance, family: Family, op: str) -> Row:
    """Return any row that the family permits; few that leave nothing to look at."""
    levels = family.levels()
    for _ in range(_MOST_TRIES):
        row = {axis: _level(chance, axis, own) for axis, own in levels.items()}
        row |= {"operator": op} if "operator" in row else {}
        if permitted(family, row):
            return row
    raise ValueError(f"the family {family.name!r} permits no row for {op}")


def permitted(family: Family, row: Row) -> bool:
    """Return whether a family has a row, and a call of it is what the family says."""
    return permits(row, (*family.never, *_NEVER))


def _level(chance: Chance, axis: str, levels: tuple[str, ...]) -> str:
    level = chance.one(levels)
    silent = level in SILENT.get(axis, "").split()
    return chance.one(levels) if silent and chance.happens(0.8) else level


def admits(row: Row, lengths: Numbers) -> bool:
    """Return whether lengths are what the levels of a row say, so that all else in the row has its meaning.

    Examples
    --------
    >>> row = {"batch": "three", "lengths": "mixed"}
    >>> admits(row, (4, 0, 1)), admits(row, (4, 4, 4)), admits(row, (4, 0))
    (True, False, False)
    """
    most, count = max(lengths, default=0), len(lengths)
    as_said = {
        "mixed": most > 1 and (count == 1 or len(set(lengths)) > 1),
        "equal": most > 1 and len(set(lengths)) == 1,
        "ones": set(lengths) == {1},
        "empty": set(lengths) == {0},
        "late": count > 1 and not any(lengths[:-1]) and most > 1,
        "long": most >= _LONG[0],
        "hundreds": most > 1,  # which is all that matters once it is made small
    }
    many = count > 8 if row["batch"] == "many" else count == BATCH[row["batch"]]
    return as_said.get(row["lengths"], False) and many


def _lengths(chance: Chance, row: Row) -> Numbers:
    """Return other lengths of which the levels say the same; none where there are no components, or they say all."""
    if row["lengths"] not in _VARY:
        return ()
    count = chance.between(*_MANY) if row["batch"] == "many" else BATCH[row["batch"]]
    if not count:
        return ()
    most = {"2": 12, "3": 6}.get(row["rank"], 3)
    if row["lengths"] == "long":
        return _shuffled(chance, [chance.between(*_LONG), *(chance.between(0, most) for _ in range(count - 1))])
    if row["lengths"] in ("ones", "empty"):
        return (int(row["lengths"] == "ones"),) * count
    if row["lengths"] in ("equal", "late"):
        length = chance.between(2, most)
        return (length,) * count if row["lengths"] == "equal" else (*(0,) * (count - 1), length)
    first = chance.between(2, most)
    second = [chance.between(0, first - 1)] * (count > 1)
    return _shuffled(chance, [first, *second, *(chance.between(0, most) for _ in range(count - 2))])


def _shuffled(chance: Chance, numbers: list[int]) -> Numbers:
    return tuple(numbers[place] for place in chance.order(len(numbers)))


def _sizes(chance: Chance, row: Row) -> Numbers:
    """Return other regular sizes, where the first is not one that the row names."""
    if row["sizes"] not in ("other", "same"):
        return ()
    first = chance.between(2, 7 if row["rank"] in "23" else 4)
    return (
        (first,) * 4
        if row["sizes"] == "same"
        else (first, chance.between(2, 3), *(chance.between(1, 3) for _ in range(2)))
    )
