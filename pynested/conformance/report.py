"""A run as text: a table of what was checked, what was exercised, and the differences."""

from __future__ import annotations

import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from .checked import agrees_where_packed, table
from .coverage import coverage, unanswered
from .differences import ENTRIES, WIDTH, Cause, causes, folded, in_brief, in_full, in_short, named
from .judge import ADAPTER, CONVENTION, DIFFERS, ERROR, FORWARD, GRADIENT
from .kinds import CONVENTIONS, KINDS
from .placements import words
from .records import Record, Run
from .replies import MISSING, UNASKED

IN_FULL = 5
LAW = (
    "An operator is to do with each component what its dense form does with that component alone, wherever the "
    "components lie in memory."
)
_PLACEMENTS = {"holes-nan": "gaps of NaN", "holes-max": "gaps of the largest number"}


class Report:
    """A view of one run; everything in it comes from the records."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._layouts = list(run.header["selection"]["layout"])
        self._target = run.header["target"]["name"]
        self._dense = run.header["target"].get("dense", "")
        self._causes = causes(run)

    def text(self, verbose: int = 0, top: int = IN_FULL, every: bool = False) -> str:
        """Return the whole report, with the ``top`` first entries in full; with ``every`` none is folded.

        What differs comes first, and of it the worst; where nothing does, the verdict is the last line.
        """
        told, rest = folded(self._causes, len(self._causes) if verbose or every else max(ENTRIES, top))
        top = len(told) if verbose else top
        checked = [
            table(self._run.results, self._layouts),
            self._exercised(),
            self._missing(),
            self._unasked(),
            self._adapter(),
        ]
        blocks = [self._title(), self._broken_off(), *([] if told else checked), self._verdict()]
        if told:
            blocks += [self._kinds(rest), self._worst(told[:top]), self._how_to_read(), self._in_full(told[:top])]
            blocks += [self._in_brief(told, top, rest)]
        blocks += [self._conventions(), *(checked if told else [])]
        blocks += [self._notes() if verbose else [], self._more(told[top:], rest)]
        return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"

    def _title(self) -> list[str]:
        header, machine = self._run.header, self._run.header["machine"]
        target = header["target"]
        device = "" if target["device"] == "cpu" else f" on {target['device']}"
        return [
            f"{target['name']} {target['version']}{device} against specification {header['spec']}, "
            f"vectors {header['vectors'][:12]}",
            *filter(None, [target["runtime"]]),
            f"Python {machine['python']}, NumPy {machine['numpy']}, {machine['system']} {machine['processor']}, "
            f"{machine['cores']} cores",
        ]

    def _how_to_read(self) -> list[str]:
        """Say what the words of a report mean, to those who know the target and nothing of the specification."""
        clause = self._causes[0].clause
        text = (
            f"How to read it: the specification is that of pynested, of nested (ragged, jagged) arrays. {LAW} {clause} "
            f"is the number of a sentence of it: `pynested explain {clause}` shows that with its definition and its "
            "cases. (2, 4) (0, 4) are the sizes of two components; the hexadecimal digits behind a number are its bits."
        )
        return textwrap.wrap(text, WIDTH)

    def _broken_off(self) -> list[str]:
        """Say how far a run came that has no end."""
        if self._run.footer is not None:
            return []
        results, promised = self._run.results, self._run.header["results"]
        last = f" The last is {results[-1]['id']}, {results[-1]['layout']}." if results else ""
        return [f"This run broke off: it has {len(results):,} of {promised:,} results.{last}"]

    def _exercised(self) -> list[str]:
        asked = [result for result in self._run.results if _asked(result)]
        placements = Counter(_in_words(one) for result in asked for one in _asked(result))
        dtypes = Counter(one for result in asked for one in result["dtypes"])
        calls = sum(placements.values())
        cases = len({result["id"] for result in asked})
        placed = ", ".join(f"{one} {count:,}" for one, count in placements.most_common())
        text = (
            f"{cases:,} cases, {calls:,} calls{self._seconds()}. Placements: {placed}. "
            f"Dtypes: {', '.join(f'{one} {count:,}' for one, count in sorted(dtypes.items(), key=_by_kind))}."
        )
        return textwrap.wrap(text, WIDTH)

    def _seconds(self) -> str:
        return "" if self._run.footer is None else f" in {self._run.footer['seconds']:.1f} s"

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

    def _unasked(self) -> list[str]:
        """Say what was not asked, and why."""
        left: dict[str, list[tuple[Record, Record]]] = defaultdict(list)
        for pair in self._findings():
            if pair[1]["verdict"] == UNASKED:
                left[pair[1]["got"]].append(pair)
        lines = []
        for why, pairs in left.items():
            calls = {(one["id"], one["layout"], place) for one, finding in pairs for place in finding["placements"]}
            first = pairs[0][0]
            text = f"Not asked: {len(calls):,} calls, the first of {first['id']}, {first['layout']}; {why}"
            lines += textwrap.wrap(text, WIDTH, subsequent_indent="  ")
        return lines

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
        found = coverage(self._run.results)
        rest = self._quick()
        rest += f" It was held to {found.share()}." if found.made < found.total else ""
        rest += f" {found.missing:,} need what it does not implement." if found.missing else ""
        rest += f" Not asked: {found.unasked:,}." if found.unasked else ""
        rest += f" {found.narrow:,} were not answered in every placement." if found.narrow else ""
        if not found.made:
            text = f"Nothing is known about {self._target}: no check could be made, which is no agreement.{rest}"
            return textwrap.wrap(text, WIDTH)
        if not found.differ:
            until = " until the run broke off" if self._run.footer is None else ""
            text = f"{self._target} agrees with the specification in all {found.agree:,} checks"
            made = " that could be made" if found.made < found.total else ""
            return textwrap.wrap(f"{text}{made}{until}.{rest}", WIDTH)
        clauses = len({cause.clause for cause in self._causes})
        placed = sum(
            verdict in DIFFERS and agrees_where_packed(result, part)
            for result in self._run.results
            for part, verdict in result["parts"].items()
        )
        only = f" {placed:,} of them only where components are not packed." if placed else ""
        text = f"{self._target} differs in {found.differ:,} of {found.made:,} checks, about {clauses:,} clause"
        return textwrap.wrap(f"{text}{'s' * (clauses > 1)}.{only}{rest}", WIDTH)

    def _kinds(self, rest: Sequence[Cause]) -> list[str]:
        """Count the differences and their causes by kind, and of these the ones that are folded."""
        found = {kind: [one for one in self._causes if one.kind == kind] for kind in KINDS}
        width = max(len(kind) for kind, some in found.items() if some)
        lines = []
        for kind, some in found.items():
            cases, less = sum(len(one.members) for one in some), sum(one.kind == kind for one in rest)
            entries = f"{len(some):>3} entr{'y  ' if len(some) == 1 else 'ies'}"
            lines += [f"{kind:{width}}  {cases:>6,} in {entries}  {KINDS[kind]}{_less(less)}"] if some else []
        return lines

    def _quick(self) -> str:
        """Say how much of the corpus a quick run is."""
        if not self._run.header["selection"].get("quick"):
            return ""
        cases = len({result["id"] for result in self._run.results})
        clauses = len({one for result in self._run.results for one in result["clauses"]})
        return f" This was a quick look, at {cases:,} of {self._run.header['cases']:,} cases, of {clauses:,} clauses."

    def _conventions(self) -> list[str]:
        """Tell in one paragraph what the target declares to do otherwise."""
        words: dict[str, list[tuple[str, str]]] = {}
        for result, one in self._findings():
            if one["verdict"] == CONVENTION:
                word, _, text = one["got"].partition(": ")
                words.setdefault(word, []).append((result["op"], text))
        if not words:
            return []
        told = [
            f"{word} ({CONVENTIONS.get(word, word)}) in {len(found):,} checks of {named([op for op, _ in found])}, "
            f"as {found[0][1]} in {found[0][0]}"
            for word, found in words.items()
        ]
        start = f"Conventions of its own that {self._target} declares, which are no differences:"
        return textwrap.wrap(f"{start} {'; '.join(told)}.", WIDTH)

    def _worst(self, worst: Sequence[Cause]) -> list[str]:
        if len(worst) < 2:
            return []
        return ["The worst of it:", *(line for number, one in enumerate(worst, 1) for line in in_short(number, one))]

    def _in_full(self, worst: Sequence[Cause]) -> list[str]:
        lines = [line for one in worst for line in (*in_full(one, self._target, self._dense), "")]
        return lines[:-1]

    def _in_brief(self, told: Sequence[Cause], top: int, rest: Sequence[Cause]) -> list[str]:
        lines = list(in_brief(top + 1, told[top:]))
        for kind in KINDS:
            sizes = [len(one.members) for one in rest if one.kind == kind]
            lines += [f"{kind}: {len(sizes):,} more entries of {sum(sizes):,} cases, folded"] if sizes else []
        return ["More:", *lines] if lines else []

    def _more(self, others: Sequence[Cause], rest: Sequence[Cause]) -> list[str]:
        """Say how more is shown than is."""
        ways = ["--top N shows more in full", "-v everything, with examples to paste"] if others or rest else []
        return ["; ".join([*ways[:1], *(["--all unfolds"] if rest else []), *ways[1:]])] if ways else []

    def _notes(self) -> list[str]:
        notes = Counter(note for result in self._run.results for note in result["notes"])
        title = "Refusals with another builtin error than the specification names, which is no difference:"
        return [title, *(f"  {count:>5}  {note}" for note, count in notes.most_common())] if notes else []


def _less(count: int) -> str:
    return f", {count:,} of them folded" if count else ""


def _in_words(placement: str) -> str:
    """Return where operands lie, in words; one phrase for all ways to lie differently."""
    return _PLACEMENTS.get(placement, placement) if len(words(placement)) == 1 else "each operand in its own way"


def _asked(result: Record) -> list[str]:
    """Return the placements in which a call was made and answered."""
    parts = [one for one in (FORWARD, ERROR) if one in result["parts"]] or [GRADIENT]  # a program may have no other
    left = set[str]().union(*(unanswered(result, part) for part in parts))
    return [one for one in result["placements"] if one not in left]


def _by_kind(item: tuple[str, int]) -> tuple[int, int, str]:
    """Order dtypes as bool, ints, unsigned ints, floats, each by width."""
    name = item[0]
    kinds = ("bool", "int", "uint", "float")
    kind = name.rstrip("0123456789")
    return kinds.index(kind) if kind in kinds else len(kinds), int(name.removeprefix(kind) or 0), name
