"""The suites reject wrong code: every variant of mutants.toml, written into a copy of the package, makes one fail.

A worker has a copy of its own and changes one file of it at a time; what does not run at all has not been rejected.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
MUTANTS: dict[str, dict[str, Any]] = tomllib.loads((ROOT / "tests/mutants.toml").read_text(encoding="utf-8"))
WORKERS = 2
LEAST = 24


def new_copy(folder: Path) -> Path:
    """What a suite needs, laid out as it is installed, so that no installed pynested can step in for a part of it.

    Compiled modules come along: they know their source by its time and length, and copying keeps both.
    """
    leave_out = shutil.ignore_patterns("against_torch", "*.pyc.*")
    shutil.copytree(ROOT / "pynested", folder / "pynested", ignore=leave_out)
    for name in ("autograd", "backends", "spec"):
        shutil.copytree(ROOT / name, folder / "pynested" / name, ignore=leave_out)
    shutil.copytree(ROOT / "tests", folder / "tests", ignore=leave_out)
    shutil.copy2(ROOT / "pyproject.toml", folder)
    return folder


def place_of(copy: Path, file: str) -> Path:
    """Where a file of the repository is in a copy."""
    return copy / file if file.startswith("pynested/") else copy / "pynested" / file


def python(copy: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python where the copy is the only pynested; it compiles nothing for others, whose code may differ."""
    changes = {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1", "PYNESTED_THREADS": "1"}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=copy, env={**os.environ, **changes}, capture_output=True, text=True, timeout=120)


def conform(copy: Path, ops: list[str], drawn: bool = False, *options: str) -> subprocess.CompletedProcess[str]:
    """The conformance suite on some operators: on what was written by hand for them, which is less, or on all cases."""
    with tempfile.TemporaryDirectory(dir=copy) as folder:
        found = [path for op in ops for path in copy.glob(f"pynested/spec/vectors/*/{op}.*json")]
        for path in (path for path in found if drawn or ".axes." not in path.name):
            chapter = Path(folder, path.parent.name)
            chapter.mkdir(exist_ok=True)
            shutil.copy(path, chapter)
        return python(copy, "-m", "pynested", "conform", "--vectors", folder, *options)


def run_tests(copy: Path, tests: list[str]) -> subprocess.CompletedProcess[str]:
    """Some tests, until one fails."""
    return python(copy, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests)


def rejected(copy: Path, mutant: dict[str, Any], drawn: bool = False) -> tuple[bool, str]:
    """Whether the mutant, written into the copy for as long as it takes, fails; and what was printed.

    What was written by hand rejects all of `mutants.toml`; with ``drawn`` the other cases are asked too.
    """
    file = place_of(copy, mutant["file"])
    text = file.read_text(encoding="utf-8")
    if text.count(mutant["old"]) != 1:
        return False, f"{mutant['file']} holds {text.count(mutant['old'])} times, not once: {mutant['old']}"
    for compiled in file.parent.glob(f"__pycache__/{file.stem}.*"):
        compiled.unlink()  # it would be taken for that of the mutant: length and second may agree
    file.write_text(text.replace(mutant["old"], mutant["new"]), encoding="utf-8")
    try:
        if "op" in mutant:
            done = conform(copy, mutant["op"], drawn)
            return done.returncode == 1 and "pynested differs" in done.stdout, done.stdout + done.stderr
        done = run_tests(copy, [mutant["test"]])
        return done.returncode == 1 and " failed" in done.stdout, done.stdout + done.stderr
    finally:
        file.write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return [new_copy(tmp_path_factory.mktemp(f"copy{i}", numbered=False)) for i in range(WORKERS)]


@pytest.fixture(scope="module")
def verdicts(copies: list[Path], request: pytest.FixtureRequest) -> Iterator[dict[str, Future[tuple[bool, str]]]]:
    """What comes of the mutants whose tests were chosen; a worker takes any copy that is free."""
    free: SimpleQueue[Path] = SimpleQueue()
    for copy in copies:
        free.put(copy)

    def judged(mutant: dict[str, Any]) -> tuple[bool, str]:
        copy = free.get()
        try:
            return rejected(copy, mutant)
        finally:
            free.put(copy)

    specs = [item.callspec for item in request.session.items if hasattr(item, "callspec")]
    names = {spec.params["mutant"] for spec in specs if "mutant" in spec.params}
    with ThreadPoolExecutor(WORKERS) as pool:
        yield {name: pool.submit(judged, MUTANTS[name]) for name in MUTANTS if name in names}


SOME = [*MUTANTS][::6]  # the others are exhaustive


@pytest.mark.parametrize("names", [SOME, pytest.param([*MUTANTS], marks=pytest.mark.exhaustive)], ids=["some", "all"])
def test_the_code_as_it_is_passes(names: list[str], copies: list[Path]) -> None:
    chosen = [MUTANTS[name] for name in names]
    ops = sorted({op for mutant in chosen for op in mutant.get("op", [])})
    tests = sorted({mutant["test"] for mutant in chosen if "test" in mutant})
    for done in (conform(copies[0], ops, False, "--quick"), run_tests(copies[0], tests)):
        assert done.returncode == 0, done.stdout + done.stderr


def test_there_are_enough_mutants() -> None:
    assert len(MUTANTS) >= LEAST
    assert all(("op" in mutant) != ("test" in mutant) for mutant in MUTANTS.values())


@pytest.mark.parametrize(
    "mutant", [one if one in SOME else pytest.param(one, marks=pytest.mark.exhaustive) for one in MUTANTS]
)
def test_a_wrong_variant_is_rejected(mutant: str, verdicts: dict[str, Future[tuple[bool, str]]]) -> None:
    caught, printed = verdicts[mutant].result()
    assert caught, f"{mutant}\n{printed[-3000:]}"
