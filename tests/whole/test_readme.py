"""What README.md, CONTRIBUTING.md and the pages of docs/ show is what happens: each example is run and compared."""

from __future__ import annotations

import doctest
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest

from pynested.spec.reductions import REDUCTIONS
from pynested.spec.runwise import RUNWISE
from pynested.surface import ufuncs

DOCUMENTS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/tour.md", "docs/conformance.md", "docs/names.md")
SESSIONS = ("README.md", "docs/conformance.md")
INSTALL = "python3 -m venv --without-pip .venv && python3 -m pip --python .venv install -e '.[test]'"


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="the emulation needs g++")


@pytest.fixture(scope="module")
def readme(root: Path) -> str:
    return (root / "README.md").read_text(encoding="utf-8")


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)


def check_examples(page: str, language: str, folder: Path) -> None:
    examples = "".join(blocks(page, language))
    assert examples.count(">>> ") > 10
    (folder / "examples.txt").write_text(examples, encoding="utf-8")
    done = run(folder, "-m", "doctest", "-o", "ELLIPSIS", "examples.txt")
    assert done.returncode == 0, done.stdout + done.stderr


@needs_compiler
def test_python_examples_of_the_longer_tour(root: Path, tmp_path: Path) -> None:
    check_examples((root / "docs" / "tour.md").read_text(encoding="utf-8"), "python", tmp_path)


def test_python_examples_and_the_picture_that_they_draw(readme: str, root: Path, tmp_path: Path) -> None:
    check_examples(readme, "python", tmp_path)
    drawn = (tmp_path / "nested.svg").read_text(encoding="utf-8")
    assert drawn == (root / "docs" / "nested.svg").read_text(encoding="utf-8"), "docs/nested.svg is not current"


@needs_compiler
def test_python_examples_with_torch(root: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    tour = (root / "docs" / "tour.md").read_text(encoding="utf-8")
    assert any("import torch" in block for block in blocks(tour, "pycon"))
    check_examples(tour, "(?:python|pycon)", tmp_path)


def sessions(text: str) -> list[tuple[str, str]]:
    """Return each command of the console blocks, and what it is said to print."""
    found = []
    for block in blocks(text, "console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output))
    return found


def check_sessions(page: str, folder: Path, *, torch: bool) -> None:
    chosen = [(command, output) for command, output in sessions(page) if ("--target torch" in command) == torch]
    assert chosen
    for command, output in chosen:
        program, *arguments = shlex.split(command)
        assert program == "pynested"
        done = run(folder, "-m", "pynested", *arguments)
        matches = doctest.OutputChecker().check_output(output, done.stdout, doctest.ELLIPSIS)
        assert matches, f"$ {command}\n{done.stdout}{done.stderr}"
        assert done.returncode == int(torch), "agreement is exit code 0, a difference 1"


def test_console_examples(root: Path, tmp_path: Path) -> None:
    check_sessions((root / "docs" / "conformance.md").read_text(encoding="utf-8"), tmp_path, torch=False)


@pytest.mark.parametrize("name", SESSIONS)
def test_console_examples_with_torch(name: str, root: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    check_sessions((root / name).read_text(encoding="utf-8"), tmp_path, torch=True)


def test_names_of_numpy_are_listed(root: Path) -> None:
    page = (root / "docs" / "names.md").read_text(encoding="utf-8")
    listed = re.search(r"ufuncs take nested arrays:\s+`(.*?)`;\s+and\s+these\s+functions:\s+`(.*?)`", page, re.DOTALL)
    assert listed is not None
    of_elements, functions = (set(names.split()) for names in listed.groups())
    place = "the list in docs/names.md, which is wrapped by hand at 120 columns"
    known = {ufunc.__name__ for ufunc in ufuncs._NAMES}
    missing = known - of_elements | {name for name in (*REDUCTIONS, *RUNWISE) if hasattr(np, name)} - functions
    assert not missing, f"add {' '.join(sorted(missing))} to {place}"
    assert not of_elements - known, f"no operator: {' '.join(sorted(of_elements - known))} in {place}"


def test_the_two_commands_are_there_once_each(readme: str) -> None:
    commands = [line for block in blocks(readme, "sh") for line in block.splitlines()]
    assert commands == [f"{INSTALL} && .venv/bin/pynested conform", f"{INSTALL} && .venv/bin/pytest -n auto"]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_somewhere(name: str, root: Path) -> None:
    page = root / name
    links = re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
    local = [link for link in links if not urlsplit(link).scheme]
    assert [link for link in local if not (page.parent / link.partition("#")[0]).exists()] == []


def test_paths_in_contributing_exist(root: Path) -> None:
    text = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    paths = re.findall(r"`((?:spec|backends|autograd|pynested|tests|benchmarks|\.ci|\.typing)/[\w./-]*)`", text)
    assert len(paths) > 15
    assert [path for path in paths if not (root / path).exists()] == []


def test_what_is_quoted_of_the_code_stands_in_it(root: Path) -> None:
    """Every line of a block in CONTRIBUTING.md that is no command, but for where it leaves something out by ``...``."""
    files = [file for folder in ("autograd", "pynested", "spec") for file in (root / folder).rglob("*.*")]
    code = " ".join(
        " ".join(one.read_text(encoding="utf-8").split()) for one in files if one.suffix in (".py", ".toml")
    )
    blocks = re.findall(
        r"```(?:text|toml)\n(.*?)```", (root / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.DOTALL
    )
    quoted = [" ".join(part.split()).rstrip('",)') for block in blocks for part in re.split(r"\n|\.\.\.", block)]
    assert len(blocks) > 5
    assert [part for part in quoted if part not in code] == []
