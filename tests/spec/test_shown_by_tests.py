"""Clauses that no vector can show are named by a test of pynested each, and no test names another clause.

A test names them as `@pytest.mark.shows("EXTEND-1")`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from pynested.spec.check import lint_table, lint_vectors
from pynested.spec.corpus import load_programs, load_vectors
from pynested.spec.render import section
from pynested.spec.table import TESTS, clauses, load_table

FOLDER = Path(__file__).parents[1]


def shown(path: Path) -> Iterator[str]:
    """Yield the clauses that the tests of a file name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            calls = [one for one in node.decorator_list if isinstance(one, ast.Call)]
            yield from (
                ast.literal_eval(arg)
                for one in calls
                if ast.unparse(one.func) == "pytest.mark.shows"
                for arg in one.args
            )


def test_each_such_clause_is_named_by_a_test() -> None:
    named = {id_ for path in FOLDER.rglob("test_*.py") for id_ in shown(path)}
    assert sorted(named) == sorted(one.id for one in clauses().values() if one.shown_by == TESTS)


def test_a_clause_is_shown_by_vectors_or_by_tests_and_not_by_both() -> None:
    def linted(name: str, number: int, shown_by: str) -> list[str]:
        table = load_table()
        own = list(table[name].clauses)
        own[number] = replace(own[number], shown_by=shown_by)
        spoiled = {**table, name: replace(table[name], clauses=tuple(own))}
        return [*lint_table(spoiled), *lint_vectors(spoiled, load_vectors(), load_programs())]

    assert linted("softmax", 0, TESTS) == ["SOFTMAX-1: a vector witnesses it, and shown_by is tests"]
    assert linted("extend", 0, "vectors") == ["EXTEND-1: no vector witnesses it"]
    assert "EXTEND-1: shown_by 'prose' is neither vectors nor tests" in linted("extend", 0, "prose")


def test_the_chapters_say_which() -> None:
    assert section(load_table()["extend"]).count("*(shown by tests)*") == len(load_table()["extend"].clauses)
    assert "shown by" not in section(load_table()["softmax"])
