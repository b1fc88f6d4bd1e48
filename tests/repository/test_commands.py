"""Every command that README and CONTRIBUTING show runs: in a step of CI, in a session of nox, or here.

A command that takes more than a minute runs here as far as its help, or with an option that makes it shorter.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from .test_sessions import NOT_IN_CI

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
SHOWN = re.compile(
    r"(?:^|`|&& )((?:\.venv/bin/|python3? -m (?!venv)|bash |nox |pip |pynested )[^`\n&]*[\w'])", re.MULTILINE
)

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
