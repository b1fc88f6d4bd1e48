"""A test for each clause of an operator, in the suite of somebody who has written that operator.

    import pytest
    from mine import softmax

    @pytest.mark.pynested("softmax", expect={"SOFTMAX-4": "dimension 0 is not refused yet"})
    def test_softmax(clause):
        clause.check(softmax)

pytest shows ``test_softmax[SOFTMAX-1]`` and so on. ``clause.check`` takes what `pynested.conformance.check` takes, all
but the operator. All cases are run at the first clause, and every difference fails the one clause that it breaks. A
clause of ``expect`` is expected to fail; once it is kept, its test fails, so that the list stays true. Where no case of
a clause could be asked, its test is skipped.

pytest knows the mark through the module ``pynested_pytest``, which imports this one at the first mark that it meets.
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

    def check(self, function: Callable[..., Any], **how: Any) -> None:
        """Fail the test where the function breaks this clause; ``how`` is that of `pynested.conformance.check`."""
        __tracebackhide__ = True
        checked = _checked(function, self.op, tuple(sorted(how.items())))
        broken = checked.differences.get(self.id, ())
        if broken:
            pytest.fail("\n\n".join([f"{self.id}: {self.text}", *map(_told, broken)]), pytrace=False)
        if not checked.asked(self.id):
            pytest.skip(f"no case of {self.id} could be asked")


def _told(finding: Mapping[str, Any]) -> str:
    """Return one difference in words, and how to see it."""
    where = f"{finding['id']}, {finding['layout']}, {' '.join(finding['placements'])}"
    lines = [f"{where}: {finding['call']}", f"expected {finding['want']}", f"got {finding['got']}"]
    return "\n    ".join(lines)


@functools.lru_cache(maxsize=8)
def _checked(function: Callable[..., Any], op: str, how: tuple[tuple[str, Any], ...]) -> Checked:
    """Run every case once for all clauses of the function."""
    try:
        return check(function, op, **dict(how))
    except Disagreement as disagreement:
        return disagreement.checked


def parametrize(metafunc: pytest.Metafunc, mark: pytest.Mark) -> None:
    """Make a test of each clause that the cases of the operator cite."""
    op, expect = _asked(*mark.args, **mark.kwargs)
    try:
        ids = clauses_of(op)
    except ArgumentError as error:
        raise pytest.UsageError(f"{metafunc.definition.nodeid}: {error}") from error
    if strange := set(expect) - set(ids):
        raise pytest.UsageError(f"{metafunc.definition.nodeid}: no case of {op} is about {', '.join(sorted(strange))}")
    if "clause" not in metafunc.fixturenames:
        raise pytest.UsageError(f"{metafunc.definition.nodeid}: a test marked pynested takes the argument `clause`")
    failing = {id_: [pytest.mark.xfail(reason=why, strict=True)] for id_, why in expect.items()}
    metafunc.parametrize(
        "clause", [pytest.param(ClauseTest(op, id_), id=id_, marks=failing.get(id_, [])) for id_ in ids]
    )


def _asked(op: str, expect: Mapping[str, str] | None = None) -> tuple[str, Mapping[str, str]]:
    return op, expect or {}
