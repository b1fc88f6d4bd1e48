"""Each error input is refused in both layouts, each `raise` of the operators is reached, and errors name operators."""

from __future__ import annotations

import ast
import inspect
import itertools
import re
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested import operators
from pynested.backends.errors import DeviceError, PynestedError
from pynested.spec.pairs import PAIRS

from ..batches import REGULAR, Batch
from ..calls import CALLS
from ..nests import DENSE, LAYOUTS, Kind, nest
from ..support.methods import IN_PLACE
from ..support.samples import EVERY, sample_arguments, samples
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


def error_inputs() -> Iterator[tuple[str, ErrorInput, list[Callable[..., Any]]]]:
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


ROWS = list(error_inputs())


def arguments(makers: list[Callable[..., Any]]) -> list[tuple[Any, ...]]:
    return [(make,) for make in makers] or [()]


def refusal(call: Callable[..., Any], makers: tuple[Any, ...]) -> Exception:
    with pytest.raises(Exception) as caught:
        call(*makers)
    return caught.value


@pytest.mark.parametrize(("row", "makers"), [case[1:] for case in ROWS], ids=[case[0] for case in ROWS])
def test_refused(row: ErrorInput, makers: list[Callable[..., Any]]) -> None:
    call, kind, text = row
    for args in arguments(makers):
        error = refusal(call, args)
        assert isinstance(error, kind) and text in str(error), repr(error)


def raise_statements() -> dict[Site, range]:
    """Find the statements that raise an error of their own, and their lines.

    A bare ``raise`` passes an error on, and an AssertionError says that a line is not reached.
    """
    lines_by_site = {}
    for file in FOLDER.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Raise) and node.exc and not ast.unparse(node.exc).startswith("AssertionError"):
                assert node.end_lineno is not None
                site = file.relative_to(FOLDER).as_posix(), node.lineno
                lines_by_site[site] = range(node.lineno, node.end_lineno + 1)
    return lines_by_site


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
    refusals = (refusal(call, args) for _, (call, *_), makers in ROWS for args in arguments(makers[:2]))
    passed = {site for error in refusals for site in raised_in(error)}
    missing = [site for site, lines in raise_statements().items() if not {(site[0], line) for line in lines} & passed]
    assert not missing


COMPONENTS = [np.ones((2, 4)), np.ones((3, 4))]
ARRAYS: dict[str, Callable[[], Any]] = {
    "jagged": lambda: pn.nested_array(COMPONENTS, layout=pn.jagged),
    "strided": lambda: pn.nested_array(COMPONENTS),
    "dense": lambda: pn.ones(2, 3, 4),
}
# No operand of any operator: no array, an array of a dtype that is not supported, and a dictionary.
NO_ARRAYS: list[Any] = ["a", None, object(), np.array(["a"]), np.array([1j]), {"a": 1}]
NO_FITTING_ARRAYS = [pn.ones(2, 7, 5), pn.nested_array([np.ones((7, 5)), np.ones((2, 5))], layout=pn.jagged)]
NAMES = {"getitem": "index"}
PARTS = {"multi_head_attention": "linear"}  # an operator whose errors name a part of it
PAIRED = [*PAIRS, "add", "sub", "mul", "div", "maximum", "minimum"]


def is_named(error: BaseException, name: str) -> bool:
    """Return whether a message begins with a name, and not with a longer one."""
    return re.match(rf"{name}(?![a-z_])", str(error)) is not None


def assert_refused(name: str, call: Callable[[], Any]) -> None:
    with pytest.raises((PynestedError, OverflowError)) as caught:
        call()
    assert is_named(caught.value, name), caught.value


@EVERY
def test_operands(every: bool) -> None:
    wrong = []
    for call, kind in samples(every):
        arguments, keywords, _ = sample_arguments(call, Batch(kind, (2, 2) if kind is DENSE else (2, 0, 3)), grad=True)
        arrays = [i for i, value in enumerate(arguments) if isinstance(value, pn.Array | pn.NestedArray)]
        for i in arrays:
            for other in (*NO_ARRAYS, *NO_FITTING_ARRAYS, 10**400):
                try:
                    call.function(*arguments[:i], other, *arguments[i + 1 :], **keywords)
                except (PynestedError, OverflowError) as error:
                    names = NAMES.get(call.op, call.op), PARTS.get(call.op, call.op)
                    if not any(is_named(error, name) for name in names):
                        wrong.append(f"{call} {kind}, argument {i}: {error}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("kind", [DENSE, *REGULAR], ids=str)
def test_no_operand_lies_on_another_device(kind: Kind) -> None:
    """The device "plain" computes as the CPU does, so that nothing but a check can refuse its arrays."""
    batch = Batch(kind, (2, 2) if kind is DENSE else (2, 0, 3))
    for call in CALLS:
        # the first reads a shape only, and the second copies from any device
        if kind not in call.forms or call.op in ("reshape_as", "nested_array"):
            continue
        arrays: list[Any] = []
        sample_arguments(call, batch, convert=arrays.append)
        for which in range(len(arrays) if len(arrays) > 1 else 0):
            numbers = itertools.count()
            move = lambda x, n=numbers, which=which: x.to("plain") if next(n) == which else x  # noqa: E731
            arguments, keywords, _ = sample_arguments(call, batch, convert=move)
            with pytest.raises(DeviceError, match=rf"^{NAMES.get(call.op, call.op)}(?![a-z_])"):
                call.function(*arguments, **keywords)


@pytest.mark.parametrize("layout", ARRAYS)
@pytest.mark.parametrize("name", IN_PLACE)
def test_methods_in_place(name: str, layout: str) -> None:
    method = getattr(ARRAYS[layout](), f"{name}_")
    if inspect.signature(method).parameters:  # Python itself refuses an argument of a method that has none
        assert_refused(f"{name}_", lambda: method(no_such_argument=1))
    for other in (*NO_ARRAYS, *NO_FITTING_ARRAYS) if name in PAIRED else ():
        assert_refused(f"{name}_", lambda: method(other))  # noqa: B023
