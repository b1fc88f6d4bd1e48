"""Chains that go block by block, though their arrays are small."""

from __future__ import annotations

import pytest

from pynested.graph.chains import program


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a few elements, and no array that is computed as a whole."""
    monkeypatch.setattr(program, "BLOCK_BYTES", 64)
    monkeypatch.setattr(program, "LARGE", 0)


@pytest.fixture(params=["whole", "in blocks"])
def blocks(request: pytest.FixtureRequest) -> None:
    """Also with blocks of a few elements."""
    if request.param == "in blocks":
        request.getfixturevalue("small_blocks")
