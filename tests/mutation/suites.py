"""Run what a row names under its fault: vectors, tests, or the check of a CUDA kernel on the emulator.

``op`` names operators, or chapters of programs, for `pynested conform`; ``test`` a test module or one of its tests;
``check`` and ``dtype`` a check of the CUDA kernels. A fault is killed if the suite fails as it does for a wrong answer;
a run that ends otherwise is broken, and no verdict.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Sequence

from tests.mutation.plant import Row, environment, load

TABLES = ("operators", "pynested", "programs", "gradients", "graph", "cuda", "small")
KILLED, SURVIVED, BROKEN = "killed", "survived", "broken"
SECONDS = 1200  # for one run; a fault can make a loop endless
SMALL = [sys.executable, "tests/conformance/small"]


def outcome(table: str, row: Row | None, suite: Row) -> tuple[str, str]:
    """Return the verdict of a suite on a fault, None for no fault, and what was printed."""
    if "check" in suite:
        command = ["-m", "tests.mutation.emulated", suite["check"], suite["dtype"]]
        return _verdict(run_python(row, command), "rejected")
    if "test" in suite:
        return _verdict(
            run_python(row, ["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", suite["test"]]),
            " failed",
        )
    return _verdict(conform(table, row, suite["op"]), " differs in ")


def _verdict(done: subprocess.CompletedProcess[str], says: str) -> tuple[str, str]:
    printed = done.stdout + done.stderr
    if done.returncode < 0:
        return KILLED, f"ended by signal {-done.returncode}\n{printed}"
    return {(0, False): SURVIVED, (1, True): KILLED}.get((done.returncode, says in done.stdout), BROKEN), printed


def run_python(row: Row | None, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run Python in a copy of the repository, with a fault or without."""
    with environment(row) as variables:
        return run_in(variables, arguments)


def run_in(variables: dict[str, str], arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run Python in the copy of an `environment`; past the time it counts as killed by a signal."""
    try:
        return subprocess.run(
            [sys.executable, *arguments], cwd=variables["PYTHONPATH"], env=variables, capture_output=True, text=True,
            timeout=SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(arguments, -9, "", f"no end after {SECONDS} s")


def conform(table: str, row: Row | None, ops: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run the vectors of some operators; those written by hand must be enough for all faults of `operators.toml`."""
    arguments = [word for op in ops for word in ("--op", op)]
    if table == "operators":
        arguments += ["--exclude", "*/axes*"]
    if table == "small":
        arguments += ["--layout", "jagged", "--adapter", shlex.join(SMALL)]
    return run_python(row, ["-m", "pynested", "conform", *arguments])


def faults(table: str) -> dict[str, Row]:
    """Return the rows of a table that can be seen from outside."""
    return {name: row for name, row in load(table).items() if "equivalent" not in row}
