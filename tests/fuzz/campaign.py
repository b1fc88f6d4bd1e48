"""A campaign: draw, run, judge, so many calls long; what differs is shrunk and told."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any

from pynested.fuzzing.shrink import shrunk

from . import draw
from .draw.slopes import slope
from .draw.structures import malformed
from .draw.tampering import tampering
from .draw.threads import threads
from .draw.writes import writing
from .judge import Difference, Found, chains, gradients, structures, writes
from .judge import tampering as tampered
from .judge import threads as threaded
from .plan import Missing
from .shrink import chains as smaller_chains
from .shrink import slopes as smaller_slopes
from .shrink import structures as smaller_structures
from .tell import chains as tell_chains
from .tell import others as tell_others
from .tell import slopes as tell_slopes

MEMORY = Path("/proc/self/statm")  # where Linux says how many pages a process has
PAGE = 4096


def _no_smaller(plan: Any, found: Found) -> Iterator[Any]:
    return iter(())


@dataclass(frozen=True)
class Mode:
    """One kind of campaign: how plans are drawn, checked, made smaller and told."""

    draw: Callable[[int, int], Any]
    check: Callable[[Any, str], tuple[int, Found | None]]
    told: Callable[[Any, Difference, str], str]
    smaller: Callable[[Any, Found], Iterator[Any]] = _no_smaller
    kind: Callable[[Found], Any] = attrgetter("kind")  # what a smaller plan has to show as well
    devices: bool = True  # whether the device plays a part
    asked: bool = False  # whether it is for those who ask for it by name


def _by_torch(plan: Any, device: str) -> tuple[int, Found | None]:
    from .judge import by_torch  # which needs PyTorch

    return by_torch.check(plan, device)


MODES = {
    "forward": Mode(draw.chain, chains.check, tell_chains.told, smaller_chains.candidates),
    "gradient": Mode(slope, gradients.check, tell_slopes.told, smaller_slopes.candidates, attrgetter("aspect")),
    "torch": Mode(slope, _by_torch, tell_slopes.told, smaller_slopes.candidates, attrgetter("aspect"), asked=True),
    "writes": Mode(writing, writes.check, tell_chains.told, smaller_chains.candidates),
    "structures": Mode(
        malformed, structures.check, tell_others.structure, smaller_structures.candidates, devices=False
    ),
    "tampering": Mode(tampering, tampered.check, tell_others.tampering, devices=False),
    "threads": Mode(threads, threaded.check, tell_others.threads),
}


@dataclass
class Report:
    """What a campaign came to."""

    calls: int = 0
    plans: int = 0
    seconds: float = 0.0
    differences: int = 0
    kinds: dict[Any, tuple[int, Found]] = field(default_factory=dict)  # the first of each, with the number of its plan

    def __str__(self) -> str:
        rate = self.calls / self.seconds if self.seconds else 0.0
        return (
            f"{self.calls} calls in {self.plans} plans, {rate:.0f} a second of processor time: "
            f"{self.differences} differences of {len(self.kinds)} kinds"
        )

    def note(self, number: int, found: Found) -> None:
        """Count a difference; keep the first of its kind."""
        self.differences += 1
        self.kinds.setdefault(found.kind, (number, found))


def campaign(mode: str, seed: int, calls: int, device: str = "cpu", start: int = 0) -> Report:
    """Check plans until so many calls are judged."""
    how, report = MODES[mode], Report()
    began = time.process_time()
    with guarded():
        while report.calls < calls:
            number = start + report.plans
            done, found = _checked(how, mode, seed, number, device)
            report.calls += max(done, found is not None)
            report.plans += 1
            if found is not None:
                report.note(number, found)
    report.seconds = time.process_time() - began
    return report


def _checked(how: Mode, mode: str, seed: int, number: int, device: str) -> tuple[int, Found | None]:
    """Check one plan; a mistake of the fuzzer's own says which plan it was."""
    try:
        return how.check(how.draw(seed, number), device)
    except Exception as error:
        error.add_note(f"The fuzzer itself failed: mode {mode}, seed {seed}, plan {number}.")
        raise


def told(mode: str, seed: int, number: int, device: str = "cpu") -> str:
    """One plan again, shrunk, as a program."""
    how = MODES[mode]
    with guarded():
        plan = how.draw(seed, number)
        found = how.check(plan, device)[1]
        if found is None:
            return "# no difference"

        def shows(one: Any) -> Found | None:
            try:
                return how.check(one, device)[1]
            except Missing:
                return None

        small, again = shrunk(plan, found, how.smaller, shows, how.kind)
    return how.told(small, again.difference, device)


@contextmanager
def guarded(gib: float = 3.0) -> Iterator[None]:
    """Warnings are errors, and the process may take only so much more memory than it has, where the system can say."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if not MEMORY.exists():
            yield
            return
        import resource  # which only the systems have that have the file

        limits = resource.getrlimit(resource.RLIMIT_AS)
        taken = int(MEMORY.read_text().split()[0]) * PAGE
        resource.setrlimit(resource.RLIMIT_AS, (taken + int(gib * 2**30), limits[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_AS, limits)
