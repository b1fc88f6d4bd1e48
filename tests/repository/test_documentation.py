"""Docstrings agree with the table, everything public has an example, and each example is run."""

from __future__ import annotations

import doctest
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.spec.table import Operator, clause, load_table
from pynested.structure import ragged_size

OPERATORS = {name: operator for name, operator in load_table().items() if not operator.is_idea}
PUBLIC = {name: getattr(pn, name) for name in pn.__all__ if isinstance(getattr(pn, name), (FunctionType, type))}
RANGE = re.compile(r"([A-Z][A-Z0-9_]*)-(\d+)(?: to \1-(\d+))?")
OPERAND = re.compile(r"(ArrayT|Operand|Dense|DenseLike|NestedArray|Components|Rows|Sequence\[Any\])( \||$)")
SECTIONS = ("Parameters", "Attributes", "Returns", "Raises", "Notes", "Examples")


def named_clauses(documentation: str) -> Iterator[str]:
    """Yield every clause that the sentence `Clauses: …` names, ranges written out."""
    sentence = re.search(r"\bClauses: (.*?)\.(?: |$)", " ".join(documentation.split()))
    for name, first, last in RANGE.findall(sentence[1] if sentence else ""):
        yield from (f"{name}-{number}" for number in range(int(first), int(last or first) + 1))


def own_parameters(function: FunctionType) -> list[tuple[str, bool, Any]]:
    """Return the parameters, name, whether keyword-only, default, without NumPy's names of dim and keepdim."""
    parameters = inspect.signature(function).parameters
    own = [parameter for name, parameter in parameters.items() if name not in ("axis", "keepdims")]
    needs_dim = "axis" in parameters and "keepdims" not in parameters  # given as axis= or as dim
    defaults = {"dim": inspect.Parameter.empty} if needs_dim else {}
    return [(each.name, each.kind is each.KEYWORD_ONLY, defaults.get(each.name, each.default)) for each in own]


def listed_parameters(operator: Operator) -> list[tuple[str, bool, Any]]:
    """Return the parameters in the signature of the table."""
    names = dict(vars(pn))
    exec(f"def {operator.signature}: ...", names)
    return own_parameters(names[operator.name])


def described_parameters(function: Any) -> list[str]:
    """Return the names in the section `Parameters`."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=\n\w+\n-+\n|\Z)", inspect.getdoc(function) or "", re.M | re.S)
    lines = re.findall(r"^\**(\w[\w, *]*?)(?: :|$)", section[1], re.MULTILINE) if section else []
    return [name.strip(" *") for line in lines for name in line.split(",")]


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_is_documented_as_in_the_table(name: str) -> None:
    operator, function = OPERATORS[name], getattr(pn, name)
    assert own_parameters(function) == listed_parameters(operator)
    assert list(named_clauses(function.__doc__)) == [each.id for each in operator.clauses]
    module = import_module(function.__module__)
    said_once = f"{module.__doc__}\n{import_module(module.__package__ or '').__doc__}"  # for all functions of a folder
    documentation = function.__doc__ + said_once
    assert {each.error for each in operator.clauses if each.error and each.error not in documentation} == set()
    assert f"After `{operator.torch or operator.peers['numpy']}`" in " ".join(function.__doc__.split())
    parameters = inspect.signature(function).parameters
    beside_operands = {each for each in parameters if not OPERAND.match(str(parameters[each].annotation))}
    described = described_parameters(function)
    assert {each for each in beside_operands - {*described} if f"``{each}``" not in said_once} == set()
    assert described == [each for each in parameters if each in described]
    assert described == [] or beside_operands & {*described}


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_has_an_example_and_known_sections(name: str) -> None:
    documentation = inspect.getdoc(PUBLIC[name]) or ""
    assert ">>> " in documentation
    sections = re.findall(r"^(\w+)\n-{3,}$", documentation, re.MULTILINE)
    assert sections == [section for section in SECTIONS if section in sections]
    assert all(map(clause, named_clauses(documentation)))


# Modules whose examples with the mark +SKIP need a library, and run if it is installed.
LIBRARIES = {
    "pynested.interchange.arrow": "pyarrow", "pynested.interchange.awkward": "awkward",
    "pynested.interchange.jax": "jax", "pynested.interchange.pandas": "pandas",
    "pynested.interchange.tensorflow": "tensorflow", "pynested.interchange.torch": "torch",
    "pynested.training": "torch",
}  # fmt: skip


def test_examples_of(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every example in a docstring is run as in a new session; `np` and `pn` are there without an import."""
    if module.endswith(".__main__"):
        return  # importing it runs it
    library, num_marked = LIBRARIES.get(module), 0
    report: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    for examples in doctest.DocTestFinder().find(import_module(module), extraglobs={"np": np, "pn": pn}):
        monkeypatch.setattr(ragged_size, "_numbers_by_digest", {})  # so that the first ragged size is j1
        marked = [example for example in examples.examples if example.options.get(doctest.SKIP)]
        num_marked += len(marked)
        for example in marked if library is not None and find_spec(library) is not None else ():
            del example.options[doctest.SKIP]
        runner.run(examples, out=report.append)
    assert "".join(report) == ""
    assert bool(num_marked) is (library is not None)
