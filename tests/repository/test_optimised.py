"""Operators compute the same under `python -O` and `-OO`, without assert statements and docstrings."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

OPERATORS = "add", "amax", "gt"


def test_operators_without_asserts_and_docstrings_agree_with_the_specification() -> None:
    chosen = [word for operator in OPERATORS for word in ("--op", operator)]
    command = [sys.executable, "-OO", "-m", "pynested", "conform", "--quick", *chosen]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "pynested agrees with the specification" in done.stdout, done.stdout + done.stderr


# An assert that only narrows a type: to a class, or to a value that is not None.
NARROWING = re.compile(r"assert (isinstance\(\w+, [\w.]+\)|[\w.]+ is not None)( and [\w.]+ is not None)*")


def test_asserts_narrow_types_and_docstrings_are_only_assigned(modules: dict[str, Path]) -> None:
    lines = [line.strip() for file in modules.values() for line in file.read_text(encoding="utf-8").splitlines()]
    asserts = [line for line in lines if line.startswith("assert ")]
    assert asserts and [line for line in asserts if not NARROWING.fullmatch(line)] == []
    assert [line for line in lines if re.search(r"\w\.__doc__(?! = )", line)] == []
