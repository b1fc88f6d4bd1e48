"""Docstrings agree with the table, everything public has an example, and each example is run."""

from __future__ import annotations

import ast
import doctest
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested import NestedArray
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


def listed_parameters(operator: Operator) -> list[tuple[str, bool, Any]]:
    """Return the parameters in the signature of the table: name, whether keyword-only, default."""
    (function,) = ast.parse(f"def {operator.signature}: ...").body
    assert isinstance(function, ast.FunctionDef)
    given = function.args
    defaults = [None] * (len(given.args) - len(given.defaults)) + given.defaults
    pairs = [(arg, default, False) for arg, default in zip(given.args, defaults, strict=True)]
    pairs += [(given.vararg, None, False)] if given.vararg else []
    pairs += [(arg, default, True) for arg, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    return [(arg.arg, keyword, inspect.Parameter.empty if x is None else value(x)) for arg, x, keyword in pairs]


def value(default: ast.expr) -> Any:
    return getattr(pn, default.id) if isinstance(default, ast.Name) else ast.literal_eval(default)


def own_parameters(function: FunctionType) -> list[tuple[str, bool, Any]]:
    """Return what `listed_parameters` does; NumPy's names of dim and keepdim are a matter of this implementation."""
    parameters = inspect.signature(function).parameters
    own = [one for name, one in parameters.items() if name not in ("axis", "keepdims")]
    needs_dim = "axis" in parameters and "keepdims" not in parameters  # given as axis= or as dim
    defaults = {"dim": inspect.Parameter.empty} if needs_dim else {}
    return [(one.name, one.kind is one.KEYWORD_ONLY, defaults.get(one.name, one.default)) for one in own]


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_is_documented_as_in_the_table(name: str) -> None:
    operator, function = OPERATORS[name], getattr(pn, name)
    assert own_parameters(function) == listed_parameters(operator)
    assert list(named_clauses(function.__doc__)) == [one.id for one in operator.clauses]
    said_once = module_documentation(function)
    documentation = function.__doc__ + said_once
    assert {one.error for one in operator.clauses if one.error and one.error not in documentation} == set()
    assert f"After `{operator.torch or operator.peers['numpy']}`" in " ".join(function.__doc__.split())
    assert undescribed_parameters(function, said_once) == []
    described = described_parameters(function)
    assert described == [name for name in inspect.signature(function).parameters if name in described]
    assert described == [] or set(described) & set(parameters_beside_operands(function))


def undescribed_parameters(function: Any, said_once: str) -> list[str]:
    """Return the parameters beside operands that neither the section `Parameters` nor the module describes."""
    described = described_parameters(function)
    beside_operands = parameters_beside_operands(function)
    return [name for name in beside_operands if name not in described and f"``{name}``" not in said_once]


def module_documentation(function: Any) -> str:
    """Return what the module of a function and the folder of the module say once for all their functions."""
    module = import_module(function.__module__)
    return f"{module.__doc__}\n{import_module(module.__package__ or '').__doc__}"


def parameters_beside_operands(function: Any) -> list[str]:
    """Return the names of the parameters that are not arrays."""
    parameters = inspect.signature(function).parameters.values()
    return [one.name for one in parameters if not OPERAND.match(str(one.annotation))]


def described_parameters(function: Any) -> list[str]:
    """Return the names in the section `Parameters`."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=\n\w+\n-+\n|\Z)", inspect.getdoc(function) or "", re.M | re.S)
    names = re.findall(r"^\**(\w[\w, *]*?)(?: :|$)", section[1], re.MULTILINE) if section else []
    return [one.strip(" *") for line in names for one in line.split(",")]


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_has_an_example_and_known_sections(name: str) -> None:
    documentation = inspect.getdoc(PUBLIC[name]) or ""
    assert ">>> " in documentation
    first, *rest = documentation.splitlines()
    assert first.endswith(".") and not any(rest[:1])
    sections = re.findall(r"^(\w+)\n-{3,}$", documentation, re.MULTILINE)
    assert sections == [section for section in SECTIONS if section in sections]
    for id_ in named_clauses(PUBLIC[name].__doc__ or ""):
        assert clause(id_)


def test_ranges_are_written_out() -> None:
    assert list(named_clauses("x. Clauses: A-1\n to A-3, B_C-2. After `y`.")) == ["A-1", "A-2", "A-3", "B_C-2"]
    assert list(named_clauses("no such sentence")) == []


def test_a_wrong_signature_is_found() -> None:
    def softmax(self: Any, dim: int = 1, dtype: Any = None) -> None: ...

    assert own_parameters(softmax) != listed_parameters(OPERATORS["softmax"])


def test_a_parameter_without_a_description_is_found() -> None:
    def narrow(self: NestedArray, dim: int, start: int, length: int) -> None:
        """Take a part.

        Parameters
        ----------
        start : int
        """

    assert described_parameters(narrow) == ["start"]
    assert undescribed_parameters(narrow, "``dim`` is a dimension.") == ["length"]


# ---- examples


def failed_examples(examples: doctest.DocTest) -> str:
    said: list[str] = []
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    doctest.DocTestRunner(verbose=False, optionflags=options).run(examples, out=said.append)
    return "".join(said)


def test_examples_of(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every example in a docstring is run as in a new session; `np` and `pn` are there without an import."""
    if module.endswith(".__main__"):
        return  # importing it runs it
    for examples in doctest.DocTestFinder().find(import_module(module), extraglobs={"np": np, "pn": pn}):
        monkeypatch.setattr(ragged_size, "_numbers_by_digest", {})  # so that the first ragged size is j1
        assert failed_examples(examples) == ""


def test_a_wrong_example_is_found() -> None:
    assert "Got:" in failed_examples(doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, None))
