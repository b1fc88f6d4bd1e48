"""Programs compute the same under `python -O` and `-OO`, without assert statements and docstrings."""

from __future__ import annotations

import ast
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


def narrows(test: ast.expr) -> bool:
    """Return whether an assert only narrows a type: to a class, or to a value that is not None."""
    match test:
        case ast.BoolOp(op=ast.And()):
            return all(map(narrows, test.values))
        case ast.Compare(ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]):
            return True
        case ast.Call(func=ast.Name("isinstance")):
            return True
    return False


def meaningful_lines(text: str) -> list[int]:
    """Return the lines that mean something else without asserts, or without docstrings that are more than copied."""
    nodes = list(ast.walk(ast.parse(text)))
    documents = {node for node in nodes if isinstance(node, ast.Attribute) and node.attr == "__doc__"}
    for node in nodes:
        if isinstance(node, ast.Assign) and documents.issuperset(node.targets):
            documents -= {*node.targets, node.value}
    asserts = [node for node in nodes if isinstance(node, ast.Assert) and not narrows(node.test)]
    return [node.lineno for node in (*asserts, *documents)]


def test_asserts_narrow_types_and_docstrings_are_only_copied(modules: dict[str, Path]) -> None:
    texts = {name: file.read_text(encoding="utf-8") for name, file in modules.items()}
    lines = {name: meaningful_lines(text) for name, text in texts.items() if "assert" in text or "__doc__" in text}
    assert {name: numbers for name, numbers in lines.items() if numbers} == {}
