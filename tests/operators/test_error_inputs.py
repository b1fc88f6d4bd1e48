"""Each error input is refused in both layouts; each `raise` of the operators is reached by one of them."""

from __future__ import annotations

import ast
import itertools
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pynested import operators

from ..nests import LAYOUTS, nest
from .error_inputs import ErrorInput, arrays, attention, elements, shapes

TABLES = (arrays, attention, elements, shapes)
FOLDER = Path(operators.__file__).parent
Site = tuple[str, int]  # a file of the operators, and the first line of a statement


def maker(layout: Any, is_empty: bool) -> Callable[..., Any]:
    """Return a function that makes a nested array of components, or of none that has their regular sizes."""

    def make(components: Any, ragged: int = 1) -> Any:
        made = nest(components, layout, "packed", ragged)
        return made[:0] if is_empty else made

    return make


def calls() -> Iterator[tuple[str, ErrorInput, list[Callable[..., Any]]]]:
    """Name each row, and list the makers that it is called with."""
    for table in TABLES:
        name = table.__name__.rpartition(".")[2]
        forms = {
            "ALWAYS": [maker(layout, is_empty) for layout in LAYOUTS for is_empty in (False, True)],
            "FILLED": [maker(layout, False) for layout in LAYOUTS],
        }
        for part in ("ALWAYS", "FILLED", "DENSE"):
            for number, row in enumerate(getattr(table, part)):
                yield f"{name}.{part}[{number}] {row[2]}", row, forms.get(part, [])


CALLS = list(calls())


def arguments(makers: list[Callable[..., Any]]) -> list[tuple[Any, ...]]:
    return [(make,) for make in makers] or [()]


def refusal(call: Callable[..., Any], makers: tuple[Any, ...]) -> Exception:
    with pytest.raises(Exception) as caught:
        call(*makers)
    return caught.value


@pytest.mark.parametrize(("row", "makers"), [one[1:] for one in CALLS], ids=[one[0] for one in CALLS])
def test_refused(row: ErrorInput, makers: list[Callable[..., Any]]) -> None:
    call, kind, text = row
    for given in arguments(makers):
        error = refusal(call, given)
        assert isinstance(error, kind) and text in str(error), repr(error)


def raise_statements() -> dict[Site, range]:
    """Find the statements that raise an error of their own, and their lines; a bare ``raise`` passes one on."""
    found = {}
    for file in FOLDER.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Raise) and node.exc is not None:
                assert node.end_lineno is not None
                found[file.relative_to(FOLDER).as_posix(), node.lineno] = range(node.lineno, node.end_lineno + 1)
    return found


def raised_in(error: BaseException) -> Iterator[Site]:
    """Yield the lines of the operators that an error passed, and the errors that it came from."""
    causes = [error]
    while causes[-1].__context__ is not None:
        causes.append(causes[-1].__context__)
    for frame, line in itertools.chain.from_iterable(traceback.walk_tb(cause.__traceback__) for cause in causes):
        file = frame.f_code.co_filename
        if file.startswith(str(FOLDER)):
            yield Path(file).relative_to(FOLDER).as_posix(), line


def test_every_statement_that_raises_is_reached() -> None:
    each = [(call, given) for _, (call, *_), makers in CALLS for given in arguments(makers[:2])]
    passed = {site for call, given in each for site in raised_in(refusal(call, given))}
    missing = [site for site, lines in raise_statements().items() if not {(site[0], line) for line in lines} & passed]
    assert not missing
