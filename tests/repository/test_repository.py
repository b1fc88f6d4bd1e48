"""Rules of the repository: lengths of files and functions, and all that every operator of the table needs."""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import FunctionType

import pytest

import pynested as pn
from pynested import operators
from pynested.spec.definitions import ENTRIES, definition
from pynested.spec.functions import FUNCTIONS
from pynested.spec.pairs import PAIRS
from pynested.spec.programs import FOLDER as PROGRAMS
from pynested.spec.table import Operator, load_table

from .. import typed

FOLDERS = ("pynested", "autograd", "backends", "spec", "tests", "benchmarks", "tools")
FILE_LINES = 350
FUNCTION_LINES = 60
PATTERNS = {
    r"\b(?:TODO|FIXME|XXX)\b": "finish it",
    r"\{sys\.executable\}": "a path can contain a space: make a list of a command, or use shlex.join",
}
OPERATORS = [operator for operator in load_table().values() if not operator.is_idea]


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements inside a node, and the handlers of errors."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield child
            yield from statements(child)


def problems(text: str, is_python: bool) -> Iterator[str]:
    """Yield what is wrong with a source file."""
    lines = text.count("\n")
    if lines > FILE_LINES:
        yield f"{lines} lines, more than {FILE_LINES}"
    for pattern, advice in PATTERNS.items():
        yield from (f"{match}: {advice}" for match in re.findall(pattern, text))
    for node in statements(ast.parse(text)) if is_python else ():
        if isinstance(node, ast.ExceptHandler) and all(isinstance(line, ast.Pass) for line in node.body):
            yield f"line {node.lineno}: an error is swallowed"
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            count = (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0
            if count > FUNCTION_LINES:
                yield f"{node.name} has {count} lines, more than {FUNCTION_LINES}"


def test_sources(root: Path) -> None:
    files = [file for folder in FOLDERS for file in (root / folder).rglob("*") if file.suffix in (".py", ".cu", ".cuh")]
    texts = {file: file.read_text(encoding="utf-8") for file in files if file != Path(__file__)}
    wrong = [f"{file}: {one}" for file, text in texts.items() for one in problems(text, file.suffix == ".py")]
    assert not wrong, "\n".join(wrong)


def test_problems_are_found() -> None:
    text = "# TODO\ntry:\n    f'{sys.executable} -m x'\nexcept OSError:\n    pass\n" + "\n" * 346
    text += 'def f():\n    """One\n    two."""\n' + "    x = 1\n" * 61
    assert [one.partition(":")[0] for one in problems(text, True)] == [
        "415 lines, more than 350", "TODO", "{sys.executable}", "line 4", "f has 61 lines, more than 60",
    ]  # fmt: skip


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.name)
def test_operator_has_definition_vectors_implementation_and_documentation(operator: Operator, root: Path) -> None:
    define = definition(operator.name)
    assert define.__name__ == operator.name and define.__doc__
    if operator.name not in ENTRIES:
        assert Path(define.__code__.co_filename) == root / "spec" / "definitions" / f"{operator.name}.py"
    file = root / "spec" / "vectors" / operator.chapter / f"{operator.name}.json"
    vectors = json.loads(file.read_text(encoding="utf-8"))
    assert vectors["op"] == operator.name and vectors["count"] == len(vectors["cases"]) > 0
    function = getattr(pn, operator.name)
    assert isinstance(function, FunctionType) and function.__name__ == operator.name
    assert getattr(import_module(f"pynested.operators.{operator.chapter}"), operator.name) is function
    prose = "".join(file.read_text(encoding="utf-8") for file in (root / "spec" / "chapters").glob("*.md"))
    assert f"<!-- clauses: {operator.name} -->" in prose


def test_no_file_is_named_after_an_operator_that_the_table_lacks(root: Path) -> None:
    names = {operator.name for operator in OPERATORS}
    definitions = {file.stem for file in (root / "spec" / "definitions").glob("*.py")} - {"__init__"}
    vectors = [file for file in (root / "spec" / "vectors").rglob("*.json") if file.parent.name != PROGRAMS]
    assert (definitions - names, {file.stem.split(".")[0] for file in vectors} - names) == (set(), set())
    programs = {file.stem for file in (root / "spec" / "vectors" / PROGRAMS).iterdir()}
    assert programs == {name for name, operator in load_table().items() if operator.has_programs}


# ---- methods


def test_every_operator_of_an_array_is_a_method() -> None:
    for name in operators.__all__:
        function = getattr(pn, name)
        parameters = list(inspect.signature(function).parameters.values()) if inspect.isfunction(function) else []
        if not parameters or parameters[0].name != "self" or name in ("getitem", "cross_entropy"):
            continue
        for kind in (pn.Array, pn.NestedArray):
            taken = list(inspect.signature(getattr(kind, name)).parameters.values())
            if any(one.kind is one.VAR_POSITIONAL for one in taken) or name == "narrow":
                continue
            assert [(one.name, one.default) for one in taken] == [(one.name, one.default) for one in parameters], name


@pytest.mark.parametrize("name", [*FUNCTIONS, *PAIRS])
def test_functions_of_elements_have_a_method_in_place(name: str) -> None:
    has_in_place = name not in FUNCTIONS or FUNCTIONS[name].dtypes != "bool"  # an array of numbers stores no bools
    for kind in (pn.Array, pn.NestedArray):
        assert hasattr(kind, f"{name}_") is has_in_place


def test_the_operators_are_those_of_the_chapters() -> None:
    chapters = [
        operators.attention, operators.comparison, operators.conversion, operators.elementwise, operators.losses,
        operators.movement, operators.normalization, operators.products, operators.reduction, operators.scan,
    ]  # fmt: skip
    assert set(operators.__all__) == {name for chapter in chapters for name in chapter.__all__}


def test_the_file_for_type_checkers_runs_and_has_its_types() -> None:
    assert type(typed.x) is typed.NestedArray and type(typed.y) is typed.Array
