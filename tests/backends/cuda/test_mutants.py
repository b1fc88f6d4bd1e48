"""Wrong kernels must be rejected: every mutant of mutants/mutants.txt, each in a process of its own."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from .mutants.mutant import FOLDER, MUTANTS, Mutant

SECONDS = 120  # after which a mutant that does not end counts as rejected

pytestmark = pytest.mark.usefixtures("compiled")


def verdict(mutant: str, folder: Path) -> str:
    command = [sys.executable, "-m", "tests.backends.cuda.mutants.mutant", mutant, str(folder)]
    root = FOLDER.parents[3]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return "did not end"
    if done.returncode < 0:
        return f"ended by signal {-done.returncode}"
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.strip()


@pytest.mark.parametrize("mutant", MUTANTS.values(), ids=lambda mutant: mutant.name)
def test_is_rejected(mutant: Mutant, tmp_path: Path) -> None:
    assert verdict(mutant.name, tmp_path) != "accepted"


def test_there_are_many_of_them_in_every_kernel() -> None:
    touched = Counter(mutant.file for mutant in MUTANTS.values())
    assert len(MUTANTS) >= 30
    assert len(touched) >= 17


def test_what_is_not_changed_is_accepted(tmp_path: Path) -> None:
    assert verdict("nothing", tmp_path) == "accepted"
    assert shutil.which("g++") is not None
