"""Covering arrays: few rows in which every two levels of any two axes are together, greedy and the same everywhere.

A row gives each axis a level. What can never be together is declared as levels by axis. Rows are found one by one: of
some candidates the one that covers most of what is still open, and of these the one with the lowest levels, which are
the smallest inputs. A candidate starts from the first open tuple and gives the axes, in an order drawn from `SEED`, the
level that covers most; nothing else is left to chance.

Some levels leave nothing to look at: where there are no components, every reading of `dim` is right. A row with such a
level covers what that level is in, and nothing else.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence

from .draws import word

__all__ = ["SEED", "Row", "cover", "permits", "tuples"]

SEED, CANDIDATES = "covering array", 8

Levels = Mapping[str, Sequence[str]]
Never = Sequence[Mapping[str, str]]  # levels by axis, in words separated by blanks, that are not together in a row
Forbidden = list[tuple[str, frozenset[str]]]
Row = dict[str, str]
Tuple = tuple[tuple[str, str], ...]  # axes with a level each, in the order of the axes


def permits(row: Mapping[str, str], never: Never) -> bool:
    """Say whether nothing that is forbidden is in a row, or in the beginning of one."""
    return not _forbidden(row, _parsed(never))


def _parsed(never: Never) -> list[Forbidden]:
    return [[(axis, _words(levels)) for axis, levels in one.items()] for one in never]


@functools.cache
def _words(levels: str) -> frozenset[str]:
    return frozenset(levels.split())


def _forbidden(row: Mapping[str, str], never: Sequence[Forbidden]) -> bool:
    for one in never:
        for axis, levels in one:
            if row.get(axis) not in levels:
                break
        else:
            return True
    return False


def tuples(levels: Levels, triples: Sequence[str] = ()) -> Iterator[Tuple]:
    """Yield what is to be covered, possible or not: two levels of all axes, three of those in `triples`."""
    chosen = [*itertools.combinations(levels, 2), *itertools.combinations([a for a in levels if a in triples], 3)]
    for axes in chosen:
        yield from itertools.product(*([(axis, level) for level in levels[axis]] for axis in axes))


def cover(
    levels: Levels, never: Never = (), triples: Sequence[str] = (), silent: Mapping[str, str] | None = None
) -> list[Row]:
    """Return rows that cover every tuple which some row can have, beside no `silent` level of another axis."""
    search = _Search(levels, never, triples, silent or {})
    rows: list[Row] = []
    while search.open:
        rows.append(search.next_row(len(rows)))
    return rows


class _Search:
    """The axes, what is forbidden, and the tuples that no row has yet."""

    def __init__(self, levels: Levels, never: Never, triples: Sequence[str], silent: Mapping[str, str]) -> None:
        self.levels, self.never, self.triples = levels, _parsed(never), triples
        self.silent = {(axis, level) for axis, words in silent.items() for level in words.split()}
        self.loud = {axis: [one for one in own if (axis, one) not in self.silent] for axis, own in levels.items()}
        self.place = {axis: number for number, axis in enumerate(levels)}
        self.bound = [axis for axis in levels if any(axis in dict(one) for one in self.never)]
        self.ends: dict[tuple[str | None, ...], bool] = {}
        self.beside = {(axis, one): self._beside(axis, one) for axis, own in levels.items() for one in own}
        possible = [one for one in tuples(levels, triples) if self.is_possible(dict(one))]
        self.open: dict[Tuple, None] = dict.fromkeys(possible)  # a set that keeps its order
        self.open_with: dict[tuple[str, str], set[Tuple]] = {part: set() for part in self.beside}
        self.partners: dict[tuple[str, str], set[tuple[str, str]]] = {part: set() for part in self.beside}  # of two
        for one in possible:
            for part in one:
                self.open_with[part].add(one)
                if len(one) == 2:
                    self.partners[part].update(other for other in one if other != part)

    def _beside(self, axis: str, level: str) -> list[Forbidden]:
        """Return what is forbidden beside a level."""
        about = [one for one in self.never if level in dict(one).get(axis, ())]
        return [[part for part in one if part[0] != axis] for one in about]

    def is_possible(self, row: Row) -> bool:
        """Say whether some row begins as this one and adds nothing silent."""
        return not _forbidden(row, self.never) and self._ends(row)

    def _ends(self, row: Row) -> bool:
        """Say the same of a beginning in which nothing is forbidden; many rows have the same levels that matter."""
        bound = tuple(map(row.get, self.bound))
        if bound not in self.ends:
            axis = self.bound[bound.index(None)] if None in bound else None
            self.ends[bound] = axis is None or any(self._ends_with(row, axis, level) for level in self.loud[axis])
        return self.ends[bound]

    def _ends_with(self, row: Row, axis: str, level: str) -> bool:
        """Say the same of such a beginning and one level more."""
        return not _forbidden(row, self.beside[axis, level]) and self._ends({**row, axis: level})

    def next_row(self, number: int) -> Row:
        """Return the best of some candidates, and take out what it covers."""
        start = dict(next(iter(self.open)))
        candidates = [self._candidate(start, f"{SEED}/{number}/{one}") for one in range(CANDIDATES)]
        best = min(candidates, key=lambda row: (-len(self._covered(row)), self._size(row)))
        for one in self._covered(best):
            del self.open[one]
            for part in one:
                self.open_with[part].discard(one)
                if len(one) == 2:
                    self.partners[part].difference_update(one)
        return {axis: best[axis] for axis in self.levels}

    def _candidate(self, start: Row, key: str) -> Row:
        row, others = dict(start), [axis for axis in self.levels if axis not in start]
        for axis in sorted(others, key=lambda axis: word(f"{key}/{axis}", 0)):
            quiet = self._quiet(row)
            gains = {level: self._gain(row, (axis, level), quiet) for level in self.loud[axis]}
            ordered = sorted(gains, key=gains.__getitem__, reverse=True)  # stable: the lowest level first
            row[axis] = next(one for one in ordered if self._ends_with(row, axis, one))
        return row

    def _gain(self, row: Row, part: tuple[str, str], quiet: set[tuple[str, str]]) -> tuple[int, int]:
        """Return how much a level covers beside those that are there, and how much it may cover yet."""
        if quiet or part[0] in self.triples:
            covered = len(self._opened(row, part, quiet))
        else:
            covered = len(self.partners[part].intersection(row.items()))
        return covered, len(self.open_with[part])

    def _opened(self, row: Row, part: tuple[str, str], quiet: set[tuple[str, str]]) -> list[Tuple]:
        """Return what one more level would cover: what is open, and has whatever leaves nothing else to look at."""
        found = [one for one in self._tuples(row, part) if one in self.open]
        return [one for one in found if quiet <= set(one)] if quiet else found

    def _tuples(self, row: Row, part: tuple[str, str]) -> Iterator[Tuple]:
        """Yield what a row would have with one more level, in the order of the axes."""
        at = self.place[part[0]]
        for other in row.items():
            yield (other, part) if self.place[other[0]] < at else (part, other)
        if part[0] in self.triples:
            for two in itertools.combinations([one for one in row.items() if one[0] in self.triples], 2):
                yield tuple(sorted((*two, part), key=lambda one: self.place[one[0]]))

    def _covered(self, row: Row) -> list[Tuple]:
        found, beginning, quiet = [], Row(), self._quiet(row)
        for part in row.items():
            found += self._opened(beginning, part, quiet)
            beginning[part[0]] = part[1]
        return found

    def _quiet(self, row: Row) -> set[tuple[str, str]]:
        """Return the levels of a row that leave nothing else to look at."""
        return self.silent.intersection(row.items())

    def _size(self, row: Row) -> list[int]:
        places = [self.levels[axis].index(level) for axis, level in row.items()]
        return [sum(places), *(self.levels[axis].index(row[axis]) for axis in self.levels)]
