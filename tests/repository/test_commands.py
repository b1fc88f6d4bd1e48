"""Every command that README and CONTRIBUTING show runs: in a step of CI, in a session of nox, or here.

`.ci/run` calls all checks among the sessions of nox, and the pages name no other.

A command that takes more than a minute runs here as far as its help, or with an option that makes it shorter.
"""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from ..conftest import SLOW_FOLDERS

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
SHOWN = re.compile(r"(?:^|`|&& )((?:\.venv/bin/|python3? -m (?!venv)|bash |nox |pip |pynested )[^`\n&]*[\w'])", re.M)
SESSION = re.compile(r"^@(?:here|nox\.session)\n(?:@.*\n)*def (\w+)\(session\b", re.MULTILINE)
SCHEDULES = re.compile(r'^    "([\w-]+)": \(', re.MULTILINE)
NOT_IN_CI = {"quick", "tests", "operator"}  # a part of the README's test command, the command, and a tool

# The command as a page shows it, the command that runs, and a part of its output.
SHORTER = {
    ".venv/bin/nox": ("nox --list", "quick"),
    ".venv/bin/nox -l": ("nox -l", "exhaustive"),
    ".venv/bin/nox -s operator -- log1p": ("nox -s operator", "the name of one operator"),
    ".venv/bin/nox -s quick": ("nox -s quick -- --version", "successful"),
    ".venv/bin/nox -s tests": ("nox -s tests -- --version", "successful"),
    ".venv/bin/pynested fuzz": ("pynested fuzz --help", "usage"),
    "pynested fuzz": ("pynested fuzz --help", "usage"),
    "pynested conform --device emulated": ("pynested conform --device emulated --op exp --quick", "agrees"),
    ".venv/bin/python -m tests.fuzzing.cluster --cases 60000": ("python -m tests.fuzzing.cluster --help", "usage"),
    ".venv/bin/python -m tests.mutation small": ("python -m tests.mutation --help", "small"),
    ".venv/bin/python -m tools.count": ("python -m tools.count", "services"),
    ".venv/bin/python -m benchmarks.compare OLD NEW": ("python -m benchmarks.compare --help", "usage"),
    ".venv/bin/python -m pynested.spec.render": ("python -m pynested.spec.render --check", ""),
    ".venv/bin/python -m pynested.spec.generator NAME": ("python -m pynested.spec.generator --check exp", ""),
    ".venv/bin/python -m tests.pictures.drawings": ("python -m tests.pictures.drawings mask_window", ""),
    ".venv/bin/python -m tests.profiling.stories": ("python -m tests.profiling.stories", ""),
    "bash .ci/run": ("bash -n .ci/run", ""),
}
# Commands that other checks run, and the check.
ELSEWHERE = {
    ".venv/bin/pynested conform": ".ci/run",
    ".venv/bin/pytest -n auto": ".ci/run",
    "pip install -e '.[dev]'": ".ci/run",
    "python3 -m pip --python .venv install -e '.[dev]'": ".ci/run",
    "python3 -m pip --python .venv install -e '.[test]'": ".ci/run",
    "python -m notebooks.run --write NAME": "the session notebooks, without --write",
    "pynested conform --target torch --match 'amax/*/minus-inf/1'": "tests/repository/test_pages.py",
}


def is_session_of_ci(command: str) -> bool:
    name = re.search(r"nox -s (\w+)", command)
    return name is not None and name[1] not in NOT_IN_CI


def test_every_command_is_run_somewhere() -> None:
    text = "\n".join((ROOT / page).read_text(encoding="utf-8") for page in ("README.md", "CONTRIBUTING.md"))
    shown = set(SHOWN.findall(text.replace("$ ", "")))
    assert {command for command in shown if not is_session_of_ci(command)} == SHORTER.keys() | ELSEWHERE.keys()


@pytest.mark.exhaustive
@pytest.mark.parametrize("shown", SHORTER)
def test_a_command_runs(shown: str) -> None:
    command, output = SHORTER[shown]
    program, *arguments = shlex.split(command)
    path = program if program == "bash" else str(BIN / program)
    done = subprocess.run([path, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    assert output in done.stdout + done.stderr
    assert done.returncode == int(shown.endswith("log1p")), done.stdout + done.stderr


@pytest.fixture(scope="module")
def sessions(root: Path) -> set[str]:
    return set(SESSION.findall((root / "noxfile.py").read_text(encoding="utf-8")))


def test_ci_runs_every_check(sessions: set[str], root: Path) -> None:
    text = (root / ".ci" / "run").read_text(encoding="utf-8")
    lines = re.findall(r"^sessions ((?:.*\\\n)*.*)$", text, re.MULTILINE)
    called = {name.strip('"') for line in lines for name in line.replace("\\\n", "").split()}
    schedules = {f"emulated({name})" for name in SCHEDULES.findall((root / "noxfile.py").read_text(encoding="utf-8"))}
    assert len(schedules) == 5
    assert called == sessions - NOT_IN_CI - {"emulated"} | schedules


def test_the_session_of_slow_tests_reads_all_folders_that_have_some(root: Path) -> None:
    line = re.search(r"^SLOW_FOLDERS = (\(.*?\))", (root / "noxfile.py").read_text(encoding="utf-8"), re.MULTILINE)
    assert line is not None and ast.literal_eval(line[1]) == SLOW_FOLDERS


def test_pages_name_sessions(sessions: set[str], root: Path) -> None:
    pages = [*root.glob("*.md"), *(root / "docs").rglob("*.md"), root / "noxfile.py"]
    named = {name for page in pages for name in re.findall(r"nox -s (\w+)", page.read_text(encoding="utf-8"))}
    assert "operator" in named and named - {"NAME"} <= sessions


def test_pages_name_modules(root: Path) -> None:
    """Every ``python -m MODULE`` of ours that a page shows can be started; CHANGELOG names old ones too."""
    pages = [root / "README.md", root / "CONTRIBUTING.md", *(root / "docs").rglob("*.md")]
    pages += [root / folder / "README.md" for folder in ("benchmarks", "notebooks", "spec")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    modules = set(re.findall(r"python3? -m ((?:benchmarks|docs|notebooks|pynested|tests|tools)[\w.]*)", text))
    files = [root / module.removeprefix("pynested.").replace(".", "/") for module in modules if ".spec." in module]
    files += [root / module.replace(".", "/") for module in modules if ".spec." not in module]
    missing = [file for file in files if not file.with_suffix(".py").exists() and not (file / "__main__.py").exists()]
    assert len(modules) > 10 and missing == []
