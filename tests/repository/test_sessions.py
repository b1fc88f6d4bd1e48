"""The sessions of nox: `.ci/run` calls all checks among them, and the pages name no other."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from ..conftest import SLOW_FOLDERS

SESSION = re.compile(r"^@(?:here|nox\.session)\n(?:@.*\n)*def (\w+)\(session\b", re.MULTILINE)
SCHEDULES = re.compile(r'^    "(\w+)": \(', re.MULTILINE)
NOT_IN_CI = {"quick", "tests", "operator"}  # a part of the README's test command, the command, and a tool


@pytest.fixture(scope="module")
def sessions(root: Path) -> set[str]:
    return set(SESSION.findall((root / "noxfile.py").read_text(encoding="utf-8")))


def test_ci_runs_every_check(sessions: set[str], root: Path) -> None:
    text = (root / ".ci" / "run").read_text(encoding="utf-8")
    lines = re.findall(r"^sessions ((?:.*\\\n)*.*)$", text, re.MULTILINE)
    called = {name.strip('"') for line in lines for name in line.replace("\\\n", "").split()}
    schedules = {f"emulated({name})" for name in SCHEDULES.findall((root / "noxfile.py").read_text(encoding="utf-8"))}
    assert len(schedules) == 6
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
