"""Programs compute the same under `python -O` and `-OO`, without assert statements and docstrings."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import pynested as pn
from pynested.cli import main

x = pn.array([[1.0, -2.0], [3.0, 4.0]], requires_grad=True)
(pn.relu(x) * x).sum().backward()
print(x.grad.tolist(), (x > 1).tolist(), (x >= 1).tolist())

for layout in (pn.strided, pn.jagged):
    y = pn.nested_array([[1.0, 2.0], [3.0]], layout=layout, requires_grad=True)
    (y * y).sum(1).sum().backward()
    print(*[[c.tolist() for c in z.unbind()] for z in (y.grad, y.gt(1.0), y >= 3)])
    try:
        y + pn.nested_array([[1.0], [3.0, 4.0]], layout=layout)
    except pn.errors.StructureError:
        print("refused")

raise SystemExit(main(["conform", "--op", "amax", "--quick"]))
"""
PRINTED = """\
[[2.0, 0.0], [6.0, 8.0]] [[False, False], [True, True]] [[True, False], [True, True]]
[[2.0, 4.0], [6.0]] [[False, True], [True]] [[False, False], [True]]
refused
[[2.0, 4.0], [6.0]] [[False, True], [True]] [[False, False], [True]]
refused
"""


def test_a_program_without_asserts_and_docstrings_computes_the_same() -> None:
    done = subprocess.run([sys.executable, "-OO", "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.stdout.startswith(PRINTED), done.stdout + done.stderr
    assert "pynested agrees with the specification" in done.stdout
    assert done.returncode == 0, done.stderr


# An assert that only narrows a type: to a class, or to a value that is not None.
NARROWING = re.compile(r"assert (isinstance\(\w+, [\w.]+\)|[\w.]+ is not None)( and [\w.]+ is not None)*")


def test_asserts_narrow_types_and_docstrings_are_only_assigned(modules: dict[str, Path]) -> None:
    lines = [line.strip() for file in modules.values() for line in file.read_text(encoding="utf-8").splitlines()]
    asserts = [line for line in lines if line.startswith("assert ")]
    assert asserts and [line for line in asserts if not NARROWING.fullmatch(line)] == []
    assert [line for line in lines if re.search(r"\w\.__doc__(?! = )", line)] == []
