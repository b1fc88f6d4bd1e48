"""What pytest loads in every run: nothing of pynested, until a test is marked with it. See `pynested.pytest_plugin`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known."""
    text = "one test for each clause of an operator; the test takes `clause` and calls clause.check(function)"
    config.addinivalue_line("markers", f"pynested(op, expect={{}}): {text}")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a test of each clause, of marked tests only."""
    mark = metafunc.definition.get_closest_marker("pynested")
    if mark is not None:
        from pynested.pytest_plugin import parametrize

        parametrize(metafunc, mark)
