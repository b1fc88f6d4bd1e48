"""The house rules that a machine can hold: what is too long, and where every operator has to be found."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import FunctionType

import pytest

import pynested as pn
from pynested.spec.definitions import ENTRIES, definition
from pynested.spec.programs import FOLDER as PROGRAMS
from pynested.spec.table import Operator, load_table

FOLDERS = ("pynested", "autograd", "backends", "spec", "tests", "benchmarks", "tools")
FILE_LINES = 350
FUNCTION_LINES = 60
OPERATORS = [operator for operator in load_table().values() if not operator.is_idea]


def sources(root: Path) -> Iterator[Path]:
    for folder in FOLDERS:
        yield from (file for file in sorted((root / folder).rglob("*")) if file.suffix in {".py", ".cu", ".cuh"})


@cache
def read(file: Path) -> tuple[dict[str, int], list[str]]:
    """How many lines the statements of each function of a file take, as a docstring may be long; and passed errors."""
    lines, passed = {}, []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            count = (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0
            lines[f"{file}:{node.lineno} {node.name}"] = count
        elif isinstance(node, ast.ExceptHandler) and all(isinstance(line, ast.Pass) for line in node.body):
            passed.append(f"{file}:{node.lineno}")
    return lines, passed


def test_files_are_short(root: Path) -> None:
    lines = {str(file): len(file.read_text(encoding="utf-8").splitlines()) for file in sources(root)}
    assert {name: count for name, count in lines.items() if count > FILE_LINES} == {}


def test_functions_fit_a_screen(root: Path) -> None:
    python = (file for file in sources(root) if file.suffix == ".py")
    lines = {name: count for file in python for name, count in read(file)[0].items()}
    assert {name: count for name, count in lines.items() if count > FUNCTION_LINES} == {}


def test_no_error_is_swallowed_and_nothing_is_left_to_do(root: Path) -> None:
    wrong = []
    for file in sources(root):
        text = file.read_text(encoding="utf-8")
        wrong += [
            f"{file}: {word}" for word in re.findall(r"\b(?:TODO|FIXME|XXX)\b", text) if file.name != "test_house.py"
        ]
        wrong += read(file)[1] if file.suffix == ".py" else []
    assert not wrong, "\n".join(wrong)


def test_no_command_is_a_text_with_a_path_in_it(root: Path) -> None:
    """A path may hold a space: a command is a list, or put together by shlex.join."""
    path = "{sys." + "executable}"
    python = [file for file in sources(root) if file.suffix == ".py"]
    assert [str(file) for file in python if path in file.read_text(encoding="utf-8")] == []


def implementation(operator: Operator) -> FunctionType:
    """Return the function that a user calls."""
    function = getattr(pn, operator.name)
    assert isinstance(function, FunctionType)
    return function


def test_the_table_is_not_empty() -> None:
    assert len(OPERATORS) > 40


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.name)
class TestOperator:
    """Every operator of the table has one name, and under it a definition, vectors, an implementation and tests."""

    def test_has_a_definition(self, operator: Operator, root: Path) -> None:
        define = definition(operator.name)
        assert define.__name__ == operator.name and define.__doc__
        if operator.name not in ENTRIES:
            assert Path(define.__code__.co_filename) == root / "spec" / "definitions" / f"{operator.name}.py"

    def test_has_vectors(self, operator: Operator, root: Path) -> None:
        file = root / "spec" / "vectors" / operator.chapter / f"{operator.name}.json"
        vectors = json.loads(file.read_text(encoding="utf-8"))
        assert vectors["op"] == operator.name
        assert vectors["count"] == len(vectors["cases"]) > 0

    def test_has_an_implementation(self, operator: Operator) -> None:
        assert implementation(operator).__name__ == operator.name
        chapter = import_module(f"pynested.operators.{operator.chapter}")
        assert getattr(chapter, operator.name) is implementation(operator)

    def test_has_documentation(self, operator: Operator, root: Path) -> None:
        documentation = implementation(operator).__doc__ or ""
        assert ">>> " in documentation, "an example that is run"
        prose = "".join(file.read_text(encoding="utf-8") for file in (root / "spec" / "chapters").glob("*.md"))
        assert f"<!-- clauses: {operator.name} -->" in prose

    def test_has_a_test(self, operator: Operator, root: Path) -> None:
        files = (root / "tests" / "operators").rglob("test_*.py")
        texts = [file.read_text(encoding="utf-8") for file in files]
        named = any(re.search(rf"\b{operator.name}\b", text) for text in texts)
        tables = r"(FUNCTIONS|REDUCTIONS|RUNWISE)\.\w+\(\)"
        assert named or (operator.name in ENTRIES and any(re.search(tables, text) for text in texts))


def test_no_file_is_named_after_an_operator_that_the_table_lacks(root: Path) -> None:
    names = {operator.name for operator in OPERATORS}
    definitions = {file.stem for file in (root / "spec" / "definitions").glob("*.py")} - {"__init__"}
    vectors = [file for file in (root / "spec" / "vectors").rglob("*.json") if file.parent.name != PROGRAMS]
    assert (definitions - names, {file.stem.split(".")[0] for file in vectors} - names) == (set(), set())
    programs = {file.stem for file in (root / "spec" / "vectors" / PROGRAMS).iterdir()}
    assert programs == {name for name, operator in load_table().items() if operator.has_programs}


def test_long_functions_are_found(tmp_path: Path) -> None:
    file = tmp_path / "long.py"
    file.write_text('def f():\n    """One\n    two."""\n' + "    x = 1\n" * 61, encoding="utf-8")
    assert list(read(file)[0].values()) == [61]
