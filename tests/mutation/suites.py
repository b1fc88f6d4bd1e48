"""Run what a row names under its fault: vectors, tests, or the check of a CUDA kernel on the emulator.

``op`` names operators, or chapters of programs, for `pynested conform`; ``test`` a test module or one of its tests;
``check`` and ``dtype`` a check of the CUDA kernels. A fault is killed if the suite fails as it does for a wrong answer;
a run that ends otherwise is broken, and no verdict.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from tests.mutation.plant import ROOT, Row, environment, load

TABLES = ("operators", "pynested", "programs", "gradients", "graph", "cuda", "small", "torch")
KILLED, SURVIVED, BROKEN = "killed", "survived", "broken"
SECONDS = 1200  # for one run; a fault can make a loop endless
ADAPTERS = {
    "small": [sys.executable, "tests/conformance/small"],
    "torch": [sys.executable, "-W", "ignore", "-m", "pynested.conformance.adapters.torch_adapter"],
}


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
    if table == "torch":  # PyTorch differs without a fault too
        right = _torch_differences(tuple(suite["op"]))
        wrong = _differences(conform(table, row, suite["op"])[1])
        return (KILLED if wrong - right else SURVIVED), ""
    return _verdict(conform(table, row, suite["op"])[0], " differs in ")


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


def conform(
    table: str, row: Row | None, ops: Sequence[str], *options: str
) -> tuple[subprocess.CompletedProcess[str], list[dict[str, Any]]]:
    """Run the vectors of some operators, and return the process and the results.

    The vectors that were written by hand must be enough for all faults of `operators.toml`.
    """
    with tempfile.TemporaryDirectory() as name:
        vectors, kept = Path(name, "vectors"), Path(name, "run.ndjson")
        vectors.mkdir()
        for path in (path for op in ops for path in (ROOT / "spec/vectors").glob(f"*/{op}.*json")):
            if table != "operators" or ".axes." not in path.name:
                (vectors / path.parent.name).mkdir(exist_ok=True)
                shutil.copy(path, vectors / path.parent.name)
        arguments = ["-m", "pynested", "conform", "--vectors", str(vectors), "--json", str(kept), *options]
        if table in ADAPTERS:
            arguments += ["--layout", "jagged", "--adapter", shlex.join(ADAPTERS[table])]
        done = run_python(row, arguments)
        if not kept.exists():
            return done, []
        records = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()]
    return done, [record for record in records if record["record"] == "result"]


@cache
def _torch_differences(ops: tuple[str, ...]) -> set[Any]:
    return _differences(conform("torch", None, ops)[1])


def _differences(results: list[dict[str, Any]]) -> set[Any]:
    """Return every way in which a part of a case differs, at every placement; a missing operator is no difference."""
    if not results:
        raise SystemExit("the run ended without a result")
    return {
        (result["id"], finding["part"], finding["verdict"], placement)
        for result in results
        for finding in result["findings"]
        for placement in finding["placements"]
        if "clause" in finding
    }


def faults(table: str) -> dict[str, Row]:
    """Return the rows of a table that can be seen from outside."""
    return {name: row for name, row in load(table).items() if "equivalent" not in row}
