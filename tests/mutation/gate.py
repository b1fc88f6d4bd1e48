"""Run the test suite under one fault until the first failure, and name the module that failed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tests.mutation.plant import ROOT, Row, environment
from tests.mutation.suites import SURVIVED, run_in

FOLDERS = ("pynested/operators", "pynested/lifting", "pynested/structure", "autograd", "backends")
STAGES = (  # likely modules first: properties of all operators and kernels, then the folders that mirror the code
    ("tests/operators/test_law.py", "tests/backends/test_kernels.py"),
    ("tests/operators", "tests/ragged", "tests/autograd", "tests/backends"),
)
ABOUT_FAULTS = "tests/mutation"  # these tests plant faults themselves
_FAILURE = re.compile(r"^(?:FAILED|ERROR) (tests/[^: ]+)", re.MULTILINE)


def first_failure(row: Row | None) -> str:
    """Return the test module that notices a fault, None for no fault, or ``survived``."""
    folders = sorted({f"tests/{file.relative_to(ROOT).parts[1]}" for file in (ROOT / "tests").rglob("*/test_*.py")})
    done = [ABOUT_FAULTS]
    with environment(row) as variables:
        for paths in (*STAGES, folders):
            noticed_by = run_tests(variables, paths, done)
            if noticed_by != SURVIVED:
                return noticed_by
            done += paths
    return SURVIVED


def run_tests(variables: dict[str, str], paths: Sequence[str], ignored: Sequence[str]) -> str:
    """Return the module of the first test that fails, or ``survived``."""
    options = ["-x", "-q", "--no-header", "-p", "no:cacheprovider", *(f"--ignore={path}" for path in ignored)]
    done = run_in(variables, ["-m", "pytest", *options, *paths])
    if done.returncode in (0, 5):  # 5: no test was collected
        return SURVIVED
    failed = _FAILURE.search(done.stdout)
    return failed[1] if failed else f"pytest ended with exit status {done.returncode}"
