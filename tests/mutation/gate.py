"""Run the test suite under one fault until the first failure, and name the module that failed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from tests.mutation.plant import ROOT, Row, environment
from tests.mutation.suites import KILLED, SURVIVED, faults, outcome, run_in
from tests.mutation.token_changes import draw_changes

FOLDERS = ("pynested/operators", "pynested/lifting", "pynested/structure", "autograd", "backends")
TABLES = ("operators", "pynested", "programs", "gradients", "graph", "cuda")  # those that change our own code
PROPERTIES = ("tests/operators/test_law.py", "tests/backends/test_kernels.py")  # of all operators and kernels
MIRRORING = ("tests/operators", "tests/ragged", "tests/autograd", "tests/backends")  # folders that mirror the code
ABOUT_FAULTS = "tests/mutation"  # these tests plant faults themselves
_FAILURE = re.compile(r"^(?:FAILED|ERROR) (tests/[^:\s]+)", re.MULTILINE)


class Fault(NamedTuple):
    """A row of a table, or a file with a changed token, which is in no table; a row of None is no fault."""

    name: str
    row: Row | None
    table: str | None = None


NO_FAULT = Fault("no fault", None)


def random_faults(seed: int, count: int) -> list[Fault]:
    """Return single-token changes of our own code."""
    changes = draw_changes(ROOT, FOLDERS, seed=seed, count=count)
    return [Fault(change.name, {"file": change.file, "text": text}) for change, text in changes]


def planted_faults() -> list[Fault]:
    """Return the faults that are written down as data."""
    return [Fault(f"{table}: {name}", row, table) for table in TABLES for name, row in faults(table).items()]


def first_failure(fault: Fault) -> str:
    """Return the test module that notices the fault, or the vectors or the check that its row names, or ``survived``.

    Likely modules run first: what the row of a table names, properties of all operators and kernels, the folders that
    mirror the code. The rest of the suite comes last.
    """
    if fault.table and fault.row and outcome(fault.table, fault.row, fault.row)[0] == KILLED:
        return named_suite(fault.row)
    folders = sorted({f"tests/{file.relative_to(ROOT).parts[1]}" for file in (ROOT / "tests").rglob("*/test_*.py")})
    done = [ABOUT_FAULTS]
    with environment(fault.row) as variables:
        for paths in (PROPERTIES, MIRRORING, folders):
            noticed_by = run_tests(variables, paths, done)
            if noticed_by != SURVIVED:
                return noticed_by
            done += paths
    return SURVIVED


def named_suite(row: Row) -> str:
    """Return what a row names: a test module, vectors of the specification, or a check of kernels."""
    if "test" in row:
        return str(row["test"]).partition("::")[0]
    if "check" in row:
        return f"tests/backends/kernel_checks: {row['check']}"
    return f"spec/vectors: {' '.join(row['op'])}"


def run_tests(variables: dict[str, str], paths: Sequence[str], ignored: Sequence[str]) -> str:
    """Return the module of the first test that fails, or ``survived``."""
    options = ["-x", "-q", "--no-header", "-p", "no:cacheprovider", *(f"--ignore={path}" for path in ignored)]
    done = run_in(variables, ["-m", "pytest", *options, *paths])
    if done.returncode in (0, 5):  # 5: no test was collected
        return SURVIVED
    failed = _FAILURE.search(done.stdout)
    return failed[1] if failed else f"pytest ended with exit status {done.returncode}"
