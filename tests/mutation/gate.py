"""Run the test suite under one fault until the first failure, and name the module that failed."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.mutation.plant import NOT_PLANTED, ROOT, FaultError, Row, environment
from tests.mutation.suites import KILLED, faults, outcome
from tests.mutation.token_changes import draw_changes

FOLDERS = (
    "pynested/operators",
    "pynested/lifting",
    "pynested/structure",
    "autograd",
    "backends",
)
TABLES = ("operators", "pynested", "programs", "gradients", "graph", "cuda")  # those that change our own code
MIRRORS = {  # of faults that are planted by name
    "kernel": ["tests/backends", "tests/operators"],
    "primitive": ["tests/autograd", "tests/operators"],
    "function": ["tests/operators"],
}
LIKELY = ("tests/operators/test_law.py", "tests/backends/test_kernels.py")  # properties of all operators and kernels
ABOUT_FAULTS = "tests/mutation"  # these tests plant faults themselves
SECONDS = 1200  # for one run of pytest; a fault can make a loop endless
SURVIVED, TIMED_OUT = "survived", "timed out"
_FAILURE = re.compile(r"^(?:FAILED|ERROR) (tests/[^: ]+)", re.MULTILINE)


@dataclass(frozen=True)
class Fault:
    """A row of a table, or a file with a changed token, which is in no table; a row of None is no fault."""

    name: str
    row: Row | None
    table: str | None = None


NO_FAULT = Fault("no fault", None)


def random_faults(seed: int, count: int) -> list[Fault]:
    """Return single-token changes of our own code."""
    changes = draw_changes(ROOT, FOLDERS, seed=seed, count=count)
    return [
        Fault(change.name, {"file": change.file, "text": change.apply((ROOT / change.file).read_text("utf-8"))})
        for change in changes
    ]


def planted_faults() -> list[Fault]:
    """Return the faults that are written down as data."""
    return [Fault(f"{table}: {name}", row, table) for table in TABLES for name, row in faults(table).items()]


def likely_modules(
    kills: Mapping[str, str], mirror: Sequence[str], replaced: Sequence[str], count: int = 4
) -> list[str]:
    """Return the modules to run first: properties of all operators, and those that noticed most faults so far."""
    noticed = Counter(kills.values())
    killers = [module for module, _ in noticed.most_common() if any(map(Path(module).is_relative_to, mirror))]
    return [
        module
        for module in dict.fromkeys((*LIKELY, *killers[:count]))
        if (ROOT / module).exists() and not any(map(Path(module).is_relative_to, replaced))
    ]


def first_failure(
    fault: Fault, replaced: Sequence[str] = (), kills: Mapping[str, str] | None = None, processes: int = 1
) -> str:
    """Return the test module that notices the fault, or the vectors or the check that its row names, or ``survived``.

    What the row of a table names runs first, then likely modules, then the folder of tests that mirrors the changed
    code, then the rest of the suite in so many processes, and the modules that are going to be ``replaced`` last.
    """
    if fault.table and fault.row and outcome(fault.table, fault.row, fault.row)[0] == KILLED:
        return named_suite(fault.row)
    mirror = mirrors(fault.row)
    likely = likely_modules(kills or {}, mirror, replaced) if fault.row else []
    known = [*likely, *mirror]
    folders = sorted({file.relative_to(ROOT).parts[1] for file in (ROOT / "tests").rglob("*/test_*.py")})
    stages = (
        (likely, (), 1),
        (mirror, (*likely, *replaced), 1),
        ([f"tests/{folder}" for folder in folders], (*known, *replaced), processes),
    )
    with environment(fault.row) as variables:
        for paths, ignored, workers in (*stages, (replaced, (), processes)):
            noticed_by = run_tests(variables, paths, (*ignored, ABOUT_FAULTS), workers) if paths else SURVIVED
            if noticed_by != SURVIVED:
                return noticed_by
    return SURVIVED


def named_suite(row: Row) -> str:
    """Return what a row names: a test module, vectors of the specification, or a check of kernels."""
    if "test" in row:
        return str(row["test"]).partition("::")[0]
    if "check" in row:
        return f"tests/backends/kernel_checks: {row['check']}"
    return f"spec/vectors: {' '.join(row['op'])}"


def mirrors(row: Row | None) -> list[str]:
    """Return the folders of tests that mirror what a row changes: for a file, its folder or the nearest one above."""
    if row is None:
        return []
    if "file" not in row:
        return MIRRORS[next(kind for kind in MIRRORS if kind in row)]
    file = row["file"]
    folder = Path("tests", *Path(file).parent.parts[file.startswith("pynested/") :])
    if file.startswith("backends/kernels/"):
        folder = Path("tests/backends/cuda")
    while not (ROOT / folder).exists():
        folder = folder.parent
    return [] if folder == Path("tests") else [folder.as_posix()]


def run_tests(variables: dict[str, str], paths: Iterable[str], ignored: Iterable[str], processes: int = 1) -> str:
    """Return the module of the first test that fails, ``survived`` or ``timed out``."""
    options = ["-x", "-q", "--no-header", "-p", "no:cacheprovider", *(f"--ignore={path}" for path in ignored)]
    options += ["-n", str(processes)] if processes > 1 else []
    command = [sys.executable, "-m", "pytest", *options, *paths]
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return TIMED_OUT
    if done.returncode == NOT_PLANTED:
        raise FaultError(done.stderr)
    if done.returncode in (0, 5):
        return SURVIVED
    failed = _FAILURE.search(done.stdout)
    return failed[1] if failed else f"pytest ended with exit status {done.returncode}"
