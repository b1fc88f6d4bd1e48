"""What type checkers are told is true when it runs."""

from __future__ import annotations

from .. import typed


def test_it_runs_and_has_the_types() -> None:
    assert type(typed.x) is typed.NestedArray and type(typed.y) is typed.Array
