"""Stubs list what the tables hold."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

import pynested as pn
from pynested import stubs
from pynested.spec.functions import FUNCTIONS
from pynested.spec.pairs import ENTRIES


def test_stubs_are_what_the_tables_say() -> None:
    assert stubs.stale() == []


def test_a_stale_stub_is_found_and_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(stubs, "stubs", lambda: [(tmp_path / "one.pyi", "x: int\n")])
    assert stubs.main(["--check"]) == 1
    assert stubs.main([]) == 0
    assert stubs.main(["--check"]) == 0


@pytest.mark.parametrize("name", ENTRIES)
def test_what_a_stub_lists_is_there(name: str) -> None:
    function = getattr(pn, name)
    assert (
        name in pn.__all__
        and list(inspect.signature(function).parameters) == ["self", "other"][: 2 - (name in FUNCTIONS)]
    )
    for kind in (pn.Array, pn.NestedArray):
        assert getattr(kind, name).__doc__ == function.__doc__
        assert name in (getattr(kind, f"{name}_").__doc__ or "")
