"""Rules of the repository: lengths of files, what every operator of the table needs, and who asks for the layout.

Operators do not ask for the layout: the structure, the drivers of `pynested/lifting` and the aligner do.
"""

from __future__ import annotations

import ast
import inspect
import re
from importlib import import_module
from pathlib import Path
from types import FunctionType

import pytest

import pynested as pn
from pynested import operators
from pynested.spec.functions import FUNCTIONS
from pynested.spec.pairs import PAIRS
from pynested.spec.table import Operator, load_table

from .. import typed

FOLDERS = ("pynested", "autograd", "backends", "spec", "tests", "benchmarks", "tools")
FILE_LINES = 350
# Marks of unfinished work, and commands that break at a space in the path of Python.
UNWANTED = re.compile(r"\b(?:TODO|FIXME|XXX)\b|\{sys\.executable\}")
OPERATORS = [operator for operator in load_table().values() if not operator.is_idea]


def test_files_are_short_and_finished(root: Path) -> None:
    files = [file for folder in FOLDERS for file in (root / folder).rglob("*") if file.suffix in (".py", ".cu", ".cuh")]
    texts = {file: file.read_text(encoding="utf-8") for file in files if file != Path(__file__)}
    assert {file: text.count("\n") for file, text in texts.items() if text.count("\n") > FILE_LINES} == {}
    assert {file: UNWANTED.findall(text) for file, text in texts.items() if UNWANTED.search(text)} == {}


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.name)
def test_an_operator_is_a_function_of_its_chapter(operator: Operator) -> None:
    """`spec.check` looks for its definition and its vectors."""
    function = getattr(pn, operator.name)
    assert isinstance(function, FunctionType) and function.__name__ == operator.name
    assert getattr(import_module(f"pynested.operators.{operator.chapter}"), operator.name) is function


def test_definitions_and_chapters_are_those_of_the_operators(root: Path) -> None:
    definitions = {file.stem for file in (root / "spec" / "definitions").glob("*.py")} - {"__init__"}
    assert definitions <= {operator.name for operator in OPERATORS}
    chapters = [
        operators.attention, operators.comparison, operators.conversion, operators.elementwise, operators.losses,
        operators.movement, operators.normalization, operators.products, operators.reduction, operators.scan,
    ]  # fmt: skip
    assert set(operators.__all__) == {name for chapter in chapters for name in chapter.__all__}


def test_every_operator_of_an_array_is_a_method() -> None:
    for name in operators.__all__:
        function = getattr(pn, name)
        parameters = list(inspect.signature(function).parameters.values()) if inspect.isfunction(function) else []
        if not parameters or parameters[0].name != "self" or name in ("getitem", "cross_entropy"):
            continue
        for kind in (pn.Array, pn.NestedArray):
            own = list(inspect.signature(getattr(kind, name)).parameters.values())
            if name == "narrow" or any(parameter.kind is parameter.VAR_POSITIONAL for parameter in own):
                continue
            described = [[(each.name, each.default) for each in listed] for listed in (own, parameters)]
            assert described[0] == described[1], name


@pytest.mark.parametrize("name", [*FUNCTIONS, *PAIRS])
def test_functions_of_elements_have_a_method_in_place(name: str) -> None:
    has_in_place = name not in FUNCTIONS or FUNCTIONS[name].dtypes != "bool"  # an array of numbers stores no bools
    for kind in (pn.Array, pn.NestedArray):
        assert hasattr(kind, f"{name}_") is has_in_place


def test_the_file_for_type_checkers_runs_and_has_its_types() -> None:
    assert type(typed.x) is typed.NestedArray and type(typed.y) is typed.Array


# A look at the class of a layout, at its name, or for a ragged dimension of None.
QUESTION = re.compile(
    r"isinstance\(.*\b(?:Jagged|Strided)\b|\bragged\w* is (?:not )?None|"
    r"layout (?:is|is not|==|!=|in) .*\b(?:jagged|strided)\b"
)
# Functions that compute the same components in another way for each layout, and the reason.
ALLOWED = {
    "conversion._padded": "rows of one length are padded as segments, all else is padded element by element",
    "getitem._select_by_mask": "selected elements are jagged if the ragged dimension is among those of the mask",
    "joining.cat": "arrays of one ragged dimension are joined as values, all others in flat buffers",
    "flattening.flatten": "jagged segments are scaled by the width of the values, which no structure knows",
    "matmul_dispatch._product_ragged_dim": "the product of a strided operand is strided",
    "reshaping._reshape_nested": "jagged values take the shape themselves, a strided buffer has none",
}


def test_operators_leave_the_layout_to_others(root: Path) -> None:
    questions = []
    for file in (root / "pynested" / "operators").rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
        for function in functions:
            lines = "\n".join(text.splitlines()[function.lineno : function.end_lineno])
            questions += [f"{file.stem}.{function.name}" for _ in QUESTION.findall(lines)]
    assert sorted(questions) == sorted(ALLOWED), (
        "Operators do not ask which layout an array has. What becomes of a structure is a method of Jagged and Strided "
        "(pynested/structure), what becomes of the values follows from with_structure and apply_view "
        "(nested/component_views.py); segments are for along (lifting/along_dim.py), elements for map_elementwise "
        "(lifting/mapping.py)."
    )
