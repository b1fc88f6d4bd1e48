"""What is known of a target: the checks that do not agree, kept in a file, and what has changed between two runs.

A check is named by case, layout and part. The file has one a line, with what it came to, so that it can be read, edited
and compared like any text; what comes after a # is a remark. A check that was made before and cannot be made now is a
change for the worse: a target that suddenly implements nothing must not look like one that has become right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from .exports import save
from .judge import CONVENTION, DIFFERS, OK, PARTS
from .problems import UsageError
from .records import Run

_GOOD = {OK, CONVENTION}
_GONE = "not in the run"
_HEAD = "# The checks of {name} {version} that do not agree: case, layout, part, and what it came to.\n"

Check = tuple[str, str, str]


def checks(run: Run) -> dict[Check, str]:
    """Return what every check of a run came to."""
    return {
        (result["id"], result["layout"], part): verdict
        for result in run.results
        for part, verdict in result["parts"].items()
    }


@dataclass(frozen=True)
class Changes:
    """What is worse than before, what is better, and what is otherwise wrong than before: pairs of before and after."""

    worse: Mapping[Check, tuple[str, str]]
    better: Mapping[Check, tuple[str, str]]
    other: Mapping[Check, tuple[str, str]]

    def lines(self) -> Iterator[str]:
        """Yield the changes as text, the worse first."""
        for title, found in (("worse", self.worse), ("otherwise wrong", self.other), ("better", self.better)):
            yield f"{len(found):,} checks are {title}{':' if found else '.'}"
            yield from (f"  {' '.join(check)}: {was}, now {now}" for check, (was, now) in found.items())


def changes(before: Mapping[Check, str], after: Mapping[Check, str]) -> Changes:
    """Return what has changed; a check that was made and is not made any more is worse, one that is new is no change.

    >>> found = changes({("a/1", "jagged", "forward"): "ok"}, {("a/1", "jagged", "forward"): "missing"})
    >>> list(found.lines())[:2]
    ['1 checks are worse:', '  a/1 jagged forward: ok, now missing']
    """
    sorts: dict[str, dict[Check, tuple[str, str]]] = {"worse": {}, "better": {}, "other": {}}
    for check, was in before.items():
        now = after.get(check, _GONE)
        if now != was and not (was in _GOOD and now in _GOOD):
            sorts[_sort(was, now)][check] = was, now
    return Changes(**sorts)


def _sort(was: str, now: str) -> str:
    if now in _GOOD:
        return "better"
    made = was in _GOOD or was in DIFFERS
    return "worse" if was in _GOOD or (made and now not in DIFFERS) or (not made and now in DIFFERS) else "other"


def write(run: Run, path: Path) -> None:
    """Write the checks of a run that do not agree."""
    target = run.header["target"]
    lines = [" ".join([*check, verdict]) for check, verdict in checks(run).items() if verdict not in _GOOD]
    save(_HEAD.format(name=target["name"], version=target["version"]) + "".join(f"{one}\n" for one in lines), path)


def read(path: Path) -> dict[Check, str]:
    """Read the checks that are known not to agree."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from error
    known: dict[Check, str] = {}
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].split()
        if words and (len(words) != 4 or words[2] not in PARTS):
            raise UsageError(f"{path}, line {number}: expected case, layout, part and verdict, got {line.strip()!r}")
        if words:
            known[words[0], words[1], words[2]] = words[3]
    return known


def unexpected(run: Run, known: Mapping[Check, str]) -> Changes:
    """Return how a run differs from what is known of its target: what is not known is expected to agree."""
    found = checks(run)
    before = {check: known.get(check, OK) for check in found}
    found_changes = changes(before, found)
    return Changes({**found_changes.worse, **found_changes.other}, found_changes.better, {})
