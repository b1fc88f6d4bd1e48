"""Run the test suite under one fault until the first failure, and say which module failed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.mutation.token_changes import draw_changes

ROOT = Path(__file__).parents[2]
FOLDERS = ("pynested/operators", "pynested/components", "pynested/structure", "autograd", "backends")
PLANTED = ("tests/mutants.toml", "tests/faults/pynested.toml", "tests/faults/programs.toml")
ABOUT_FAULTS = (  # they look for the text of a fault in the sources, and so notice any change beside it
    "tests/mutation",
    "tests/faults",
    "tests/whole/test_mutants.py",
    "tests/autograd/test_mutants.py",
    "tests/backends/cuda/test_mutants.py",
)
SECONDS = 1200  # for one run of pytest; a fault can make a loop endless
SURVIVED, TIMED_OUT = "survived", "timed out"
_FAILURE = re.compile(r"^(?:FAILED|ERROR) (tests/[^: ]+)", re.MULTILINE)


@dataclass(frozen=True)
class Fault:
    """A changed file of the repository."""

    name: str
    file: str
    apply: Callable[[str], str]


def random_faults(seed: int, count: int) -> list[Fault]:
    """Return single-token changes of our own code."""
    changes = draw_changes(ROOT, FOLDERS, seed=seed, count=count)
    return [Fault(change.name, change.file, change.apply) for change in changes]


def planted_faults() -> list[Fault]:
    """Return the faults that are written down as data."""
    return [
        Fault(name, row["file"], _replacement(row["old"], row["new"]))
        for file in PLANTED
        for name, row in tomllib.loads((ROOT / file).read_text(encoding="utf-8")).items()
        if "equivalent" not in row
    ]


def _replacement(old: str, new: str) -> Callable[[str], str]:
    def replace(text: str) -> str:
        if text.count(old) != 1:
            raise ValueError(f"the file holds {text.count(old)} times, not once: {old}")
        return text.replace(old, new)

    return replace


def clone(folder: Path) -> Path:
    """Return a clone of the last commit, in which files can be changed."""
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
    return folder


def first_failure(copy: Path, fault: Fault, replaced: Sequence[str] = ()) -> str:
    """Return the test module that notices the fault, or that none did.

    The folder of tests that mirrors the changed file runs first, the rest of the suite after it, and the modules that
    are going to be ``replaced`` last.
    """
    mirror = [folder for folder in mirrors(fault.file) if (copy / folder).exists()]
    source = copy / fault.file
    original = source.read_text(encoding="utf-8")
    source.write_text(fault.apply(original), encoding="utf-8")
    try:
        for paths, ignored in ((mirror, replaced), (["tests"], (*mirror, *replaced)), (replaced, ())):
            outcome = run_tests(copy, paths, (*ignored, *ABOUT_FAULTS)) if paths else SURVIVED
            if outcome != SURVIVED:
                return outcome
        return SURVIVED
    finally:
        source.write_text(original, encoding="utf-8")


def mirrors(file: str) -> list[str]:
    """Return the folder of tests that mirrors the folder of a file, or the nearest one above it."""
    folder = Path("tests", *Path(file).parent.parts[file.startswith("pynested/") :])
    while not (ROOT / folder).exists():
        folder = folder.parent
    return [] if folder == Path("tests") else [folder.as_posix()]


def run_tests(copy: Path, paths: Sequence[str], ignored: Sequence[str]) -> str:
    """Return the module of the first test that fails, ``survived`` or ``timed out``."""
    options = ["-x", "-q", "--no-header", "-p", "no:cacheprovider", *(f"--ignore={path}" for path in ignored)]
    environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", *options, *paths]
    try:
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return TIMED_OUT
    if done.returncode in (0, 5):
        return SURVIVED
    failed = _FAILURE.search(done.stdout)
    return failed[1] if failed else f"pytest ended with exit status {done.returncode}"
