"""A run as text: a table of what was checked, what was exercised, and the differences."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator

from .differences import WIDTH, groups, in_brief, in_full
from .judge import ADAPTER, DIFFERS, ERROR, FORWARD, GRADIENT, MISSING, OK
from .placements import PACKED
from .records import Record, Run

_NAME, _CELL = 26, 11
_IN_FULL, _IN_BRIEF = 2, 24
_PLACEMENTS = {
    "packed": "packed",
    "holes-nan": "gaps of NaN",
    "holes-max": "gaps of the largest number",
    "transposed": "transposed",
}
_COLUMNS = ((FORWARD, "forward"), (GRADIENT, "gradient"), (ERROR, "errors"))


class Report:
    """A view of one run; everything in it comes from the records."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._layouts = list(run.header["selection"]["layout"])
        self._target = run.header["target"]["name"]
        self._groups = groups(run)

    def text(self, verbose: int = 0, width: int = WIDTH) -> str:
        """Return the whole report."""
        blocks = [self._title(), self._table(), self._exercised(), self._missing(), self._adapter(), self._verdict()]
        blocks += [self._in_full(verbose), self._in_brief(verbose), self._notes() if verbose else []]
        return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"

    def _title(self) -> list[str]:
        header, machine = self._run.header, self._run.header["machine"]
        target = header["target"]
        device = "" if target["device"] == "cpu" else f" on {target['device']}"
        return [
            f"{target['name']} {target['version']}{device} against specification {header['spec']}, "
            f"vectors {header['vectors'][:12]}",
            f"Python {machine['python']}, NumPy {machine['numpy']}, {machine['system']} {machine['processor']}, "
            f"{machine['cores']} cores",
        ]

    def _table(self) -> list[str]:
        cells: dict[tuple[str, str, str], Counter[str]] = {}
        chapters: dict[str, list[str]] = {}
        for result in self._run.results:
            names = chapters.setdefault(result["chapter"], [])
            if result["op"] not in names:
                names.append(result["op"])
            for part, verdict in result["parts"].items():
                cells.setdefault((result["op"], result["layout"], part), Counter())[verdict] += 1
        span = _CELL * len(_COLUMNS)
        lines = [" " * _NAME + "".join(f"{layout:^{span}}" for layout in self._layouts)]
        lines += ["operator".ljust(_NAME) + "".join(f"{title:>{_CELL}}" for _, title in _COLUMNS) * len(self._layouts)]
        for chapter, names in chapters.items():
            lines.append(chapter)
            for name in names:
                row = [cells.get((name, layout, part), Counter()) for layout in self._layouts for part, _ in _COLUMNS]
                lines.append(f"  {name}".ljust(_NAME) + "".join(f"{_cell(one):>{_CELL}}" for one in row))
        return [line.rstrip() for line in lines] + [self._legend(cells.values())]

    @staticmethod
    def _legend(cells: Iterable[Counter[str]]) -> str:
        texts = "".join(map(_cell, cells))
        known = {
            "/": "31/34  31 of 34 agree",
            "+": "12+3  3 more not implemented",
            "none": "none  not implemented",
            "·": "·  nothing to check",
        }
        return "   ".join(["34  all agree", *(text for sign, text in known.items() if sign in texts)])

    def _exercised(self) -> list[str]:
        results = self._run.results
        placements = Counter(one for result in results for one in result["placements"])
        dtypes = Counter(one for result in results for one in result["dtypes"])
        calls = sum(placements.values())
        cases = len({result["id"] for result in results})
        placed = ", ".join(f"{_PLACEMENTS.get(one, one)} {count:,}" for one, count in placements.items())
        text = (
            f"{cases:,} cases, {calls:,} calls in {self._run.footer['seconds']:.1f} s. Placements: {placed}. "
            f"Dtypes: {', '.join(f'{one} {count:,}' for one, count in sorted(dtypes.items(), key=_by_kind))}."
        )
        return textwrap.wrap(text, WIDTH)

    def _missing(self) -> list[str]:
        """Name the operators, or their gradients, that the target does not have."""
        lines = []
        for part, label in ((FORWARD, "not implemented"), (GRADIENT, "no gradient")):
            for layout in self._layouts:
                names = self._missing_names(part, layout)
                text = f"{label}, {layout}: {', '.join(names)}"
                lines += textwrap.wrap(text, WIDTH, subsequent_indent="  ") if names else []
        return lines

    def _missing_names(self, part: str, layout: str) -> list[str]:
        verdicts: dict[str, set[str]] = {}
        for result in self._run.results:
            if result["layout"] == layout and part in result["parts"]:
                verdicts.setdefault(result["op"], set()).add(result["parts"][part])
        names = [name for name, found in verdicts.items() if MISSING in found]
        return [name if verdicts[name] == {MISSING} else f"{name} (in part)" for name in names]

    def _adapter(self) -> list[str]:
        """Show where the adapter itself failed, which says nothing about the target."""
        bad = [one for one in self._findings() if one[1]["verdict"] == ADAPTER]
        if not bad:
            return []
        result, finding = bad[0]
        title = f"The adapter itself failed in {len(bad)} cases; the first is {result['id']}, {result['layout']}:"
        return [title, *textwrap.indent(finding["got"], "  ").splitlines()]

    def _findings(self) -> Iterator[tuple[Record, Record]]:
        return ((result, finding) for result in self._run.results for finding in result["findings"])

    def _verdict(self) -> list[str]:
        verdicts = Counter(one for result in self._run.results for one in result["parts"].values())
        bad = sum(verdicts[one] for one in DIFFERS)
        asked, missing = bad + verdicts[OK], verdicts[MISSING]
        rest = f" {missing:,} more need what it does not implement." if missing else ""
        if not bad:
            return [f"{self._target} agrees with the specification in all {asked:,} checks.{rest}"]
        clauses = len({group.clause for group in self._groups})
        placed = sum(PACKED not in one["placements"] for _, one in self._findings() if one["verdict"] in DIFFERS)
        only = f" {placed:,} of them only where components are not packed." if placed else ""
        text = f"{self._target} differs in {bad:,} of {asked:,} checks, about {clauses:,} clause{'s' * (clauses > 1)}."
        return textwrap.wrap(text + only + rest, WIDTH)

    def _in_full(self, verbose: int) -> list[str]:
        shown = self._groups if verbose else self._groups[:_IN_FULL]
        lines = [line for group in shown for line in (*in_full(group, self._target), "")]
        return lines[:-1]

    def _in_brief(self, verbose: int) -> list[str]:
        lines = [] if verbose else in_brief(self._groups[_IN_FULL:])
        more = len(lines) - _IN_BRIEF
        shown = [*lines[:_IN_BRIEF], f"and {more:,} more"] if more > 0 else lines
        return ["More, a clause a line:", *shown, "-v shows everything, with examples to paste"] if shown else []

    def _notes(self) -> list[str]:
        notes = Counter(note for result in self._run.results for note in result["notes"])
        title = "Refusals with another builtin error than the specification names, which is no difference:"
        return [title, *(f"  {count:>5}  {note}" for note, count in notes.most_common())] if notes else []


def _cell(found: Counter[str]) -> str:
    bad = sum(found[one] for one in (*DIFFERS, ADAPTER))
    good, missing = found[OK], found[MISSING]
    if not good and not bad:
        return "none" if missing else "·"
    text = f"{good}/{good + bad}" if bad else f"{good}"
    return text + (f"+{missing}" if missing else "")


def _by_kind(item: tuple[str, int]) -> tuple[int, int, str]:
    """Order dtypes as bool, ints, unsigned ints, floats, each by width."""
    name = item[0]
    kinds = ("bool", "int", "uint", "float")
    kind = name.rstrip("0123456789")
    return kinds.index(kind) if kind in kinds else len(kinds), int(name.removeprefix(kind) or 0), name
