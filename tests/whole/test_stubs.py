"""Stubs list what the tables hold."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

import pynested as pn
from pynested import stubs
from pynested.spec.functions import FUNCTIONS
from pynested.spec.pairs import PAIRS


def test_stubs_are_what_the_tables_say() -> None:
    assert stubs.stale() == []


def test_a_stale_stub_is_found_and_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(stubs, "stubs", lambda: [(tmp_path / "one.pyi", "x: int\n")])
    assert stubs.main(["--check"]) == 1
    assert stubs.main([]) == 0
    assert stubs.main(["--check"]) == 0


@pytest.mark.parametrize("name", [*FUNCTIONS, *PAIRS])
def test_what_a_stub_lists_is_there(name: str) -> None:
    function, operands = getattr(pn, name), ["self"] if name in FUNCTIONS else ["self", "other"]
    assert name in pn.__all__ and list(inspect.signature(function).parameters) == operands
    for kind in (pn.Array, pn.NestedArray):
        assert getattr(kind, name).__doc__ == function.__doc__
        if name in FUNCTIONS and FUNCTIONS[name].dtypes == "bool":  # which an array of numbers has no place for
            assert not hasattr(kind, f"{name}_")
        else:
            assert name in (getattr(kind, f"{name}_").__doc__ or "")
