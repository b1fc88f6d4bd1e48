"""What the documentation says is what the table says: signatures, clauses, and an example for everything public."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from types import FunctionType
from typing import Any

import pytest

import pynested as pn
from pynested.spec.table import Operator, clause, load_table

OPERATORS = {name: operator for name, operator in load_table().items() if not operator.is_idea}
PUBLIC = {name: getattr(pn, name) for name in pn.__all__ if isinstance(getattr(pn, name), (FunctionType, type))}
RANGE = re.compile(r"([A-Z][A-Z0-9_]*)-(\d+)(?: to \1-(\d+))?")
SECTIONS = ("Parameters", "Attributes", "Returns", "Raises", "Notes", "Examples")


def named_clauses(documentation: str) -> Iterator[str]:
    """Yield every clause that the line `Clauses: …` names, ranges written out."""
    line = re.search(r"^\s*Clauses: (.*?)\.(?:\s|$)", documentation, re.MULTILINE | re.DOTALL)
    for name, first, last in RANGE.findall(line[1] if line else ""):
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
class TestOperator:
    """Every operator says what the table says of it."""

    def test_takes_the_parameters_of_the_table(self, name: str) -> None:
        assert own_parameters(getattr(pn, name)) == listed_parameters(OPERATORS[name])

    def test_names_its_clauses(self, name: str) -> None:
        own = [one.id for one in OPERATORS[name].clauses]
        assert list(named_clauses(getattr(pn, name).__doc__)) == own

    def test_names_its_errors(self, name: str) -> None:
        kinds = {one.error for one in OPERATORS[name].clauses if one.error}
        documentation = getattr(pn, name).__doc__ + inspect.getmodule(getattr(pn, name)).__doc__  # type: ignore[union-attr,operator]
        assert {kind for kind in kinds if kind not in documentation} == set()

    def test_names_its_source(self, name: str) -> None:
        source = OPERATORS[name].torch or OPERATORS[name].peers["numpy"]
        assert f"After `{source}`" in getattr(pn, name).__doc__

    def test_describes_its_parameters(self, name: str) -> None:
        parameters = list(inspect.signature(getattr(pn, name)).parameters)
        described = described_parameters(getattr(pn, name))
        assert described == parameters or (described == [] and parameters == ["self"])


def described_parameters(function: Any) -> list[str]:
    """Return the names in the section `Parameters`."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=\n\w+\n-+\n|\Z)", inspect.getdoc(function) or "", re.M | re.S)
    names = re.findall(r"^\**(\w[\w, *]*?)(?: :|$)", section[1], re.MULTILINE) if section else []
    return [one.strip(" *") for line in names for one in line.split(",")]


@pytest.mark.parametrize("name", PUBLIC)
class TestPublicName:
    """Everything that `pynested` exports can be looked up."""

    def test_has_an_example(self, name: str) -> None:
        assert ">>> " in (PUBLIC[name].__doc__ or "")

    def test_begins_with_one_line(self, name: str) -> None:
        first, *rest = inspect.getdoc(PUBLIC[name]).splitlines()  # type: ignore[union-attr]
        assert first.endswith(".")
        assert not rest or not rest[0]

    def test_has_known_sections_in_order(self, name: str) -> None:
        found = re.findall(r"^(\w+)\n-{3,}$", inspect.getdoc(PUBLIC[name]) or "", re.MULTILINE)
        assert found == [section for section in SECTIONS if section in found]

    def test_names_clauses_that_exist(self, name: str) -> None:
        for id_ in named_clauses(PUBLIC[name].__doc__ or ""):
            assert clause(id_)


def test_ranges_are_written_out() -> None:
    assert list(named_clauses("x\n\n    Clauses: A-1 to A-3, B_C-2. After `y`.")) == ["A-1", "A-2", "A-3", "B_C-2"]
    assert list(named_clauses("no such line")) == []


def test_a_wrong_signature_is_found() -> None:
    def softmax(self: Any, dim: int = 1, dtype: Any = None) -> None: ...

    assert own_parameters(softmax) != listed_parameters(OPERATORS["softmax"])
