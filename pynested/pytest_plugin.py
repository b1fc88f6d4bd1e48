"""A test for each clause of an operator, in the test suite of another implementation of the operator.

    import pytest
    from mine import softmax

    @pytest.mark.pynested("softmax", expect={"SOFTMAX-4": "dimension 0 is not refused yet"})
    def test_softmax(clause):
        clause.check(softmax)

pytest shows ``test_softmax[SOFTMAX-1]`` and so on. ``clause.check`` has the parameters of `pynested.conformance.check`,
except ``op``. The first test runs all cases, and every difference fails the test of the one clause that it breaks. The
clauses of ``expect``, with reasons, are expected failures. An expected failure that passes is reported as a failure
(strict xfail). A test is skipped if no case of its clause can be run.

The module ``pynested_pytest`` registers the mark with pytest, and imports this module for the first marked test.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from pynested.backends.errors import ArgumentError
from pynested.spec.table import clause as find_clause

from .conformance.holding import Checked, Disagreement, check, clauses_of

__all__ = ["ClauseTest", "parametrize"]


@dataclass(frozen=True)
class ClauseTest:
    """One clause of an operator, which a function either keeps or breaks."""

    op: str
    id: str

    @property
    def text(self) -> str:
        """The sentence of the clause."""
        return find_clause(self.id).text

    def check(self, function: Callable[..., Any], **options: Any) -> None:
        """Fail the test if the function breaks this clause; ``options`` are those of `pynested.conformance.check`."""
        __tracebackhide__ = True
        hashable = {name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}
        checked = _checked(function, self.op, tuple(sorted(hashable.items())))
        broken = checked.differences.get(self.id, ())
        if broken:
            pytest.fail("\n\n".join([f"{self.id}: {self.text}", *map(_difference_text, broken)]), pytrace=False)
        if not checked.asked(self.id):
            pytest.skip(f"no case of {self.id} could be asked")


def _difference_text(finding: Mapping[str, Any]) -> str:
    """Return the case of a difference, its call, and the expected and the actual result."""
    case = f"{finding['id']}, {finding['layout']}, {' '.join(finding['placements'])}"
    lines = [f"{case}: {finding['call']}", f"expected {finding['want']}", f"got {finding['got']}"]
    return "\n    ".join(lines)


@functools.lru_cache(maxsize=8)
def _checked(function: Callable[..., Any], op: str, options: tuple[tuple[str, Any], ...]) -> Checked:
    """Run every case once for all clauses of the function."""
    try:
        return check(function, op, **dict(options))
    except Disagreement as disagreement:
        return disagreement.checked


def parametrize(metafunc: pytest.Metafunc, mark: pytest.Mark) -> None:
    """Make a test of each clause that the cases of the operator cite."""
    try:
        op, expect = pynested_mark(*mark.args, **mark.kwargs)
        ids = clauses_of(op)
    except (ArgumentError, TypeError) as error:
        raise pytest.UsageError(f"{metafunc.definition.nodeid}: {error}") from error
    if strange := set(expect) - set(ids):
        raise pytest.UsageError(f"{metafunc.definition.nodeid}: no case of {op} is about {', '.join(sorted(strange))}")
    if "clause" not in metafunc.fixturenames:
        raise pytest.UsageError(f"{metafunc.definition.nodeid}: a test marked pynested takes the argument `clause`")
    failing = {id_: [pytest.mark.xfail(reason=why, strict=True)] for id_, why in expect.items()}
    metafunc.parametrize(
        "clause", [pytest.param(ClauseTest(op, id_), id=id_, marks=failing.get(id_, [])) for id_ in ids]
    )


def pynested_mark(op: str, expect: Mapping[str, str] | None = None) -> tuple[str, Mapping[str, str]]:
    if not isinstance(expect, Mapping | None):
        raise TypeError(f"expect maps clauses to reasons, and {expect!r} does not")
    return op, expect or {}
