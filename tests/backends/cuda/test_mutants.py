"""Wrong kernels must be rejected: every mutant of mutants/mutants.txt, each in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .mutants.mutant import FOLDER, MUTANTS, Mutant

Judge = Callable[[str, Path], str]


@pytest.fixture(scope="module")
def judge(compiled: None) -> Iterator[Judge]:
    """Says what becomes of a mutant. It imports what all of them need once, and forks a process for each."""
    command = [sys.executable, "-m", "tests.backends.cuda.mutants.mutant"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=FOLDER.parents[3], stdin=pipe, stdout=pipe, text=True) as process:
        asked, answers = process.stdin, process.stdout
        assert asked is not None and answers is not None

        def ask(mutant: str, folder: Path) -> str:
            print(mutant, folder, sep="\t", file=asked, flush=True)
            return answers.readline().strip()

        yield ask


@pytest.mark.parametrize("mutant", MUTANTS.values(), ids=lambda mutant: mutant.name)
def test_is_rejected(mutant: Mutant, judge: Judge, tmp_path: Path) -> None:
    assert judge(mutant.name, tmp_path).startswith(("rejected on the schedule", "ended by signal"))


def test_there_are_many_of_them_in_every_kernel() -> None:
    touched = Counter(mutant.file for mutant in MUTANTS.values())
    assert len(MUTANTS) >= 30
    assert len(touched) >= 17


def test_what_is_not_changed_is_accepted(judge: Judge, tmp_path: Path) -> None:
    assert judge("nothing", tmp_path) == "accepted"
