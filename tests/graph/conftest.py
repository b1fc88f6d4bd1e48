"""Chains that run block by block, though their arrays are small."""

from __future__ import annotations

import pytest

from pynested.graph import block_program


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a few elements, and no array that is computed as a whole."""
    monkeypatch.setattr(block_program, "BLOCK_BYTES", 512)
    monkeypatch.setattr(block_program, "LARGE", 0)


@pytest.fixture(params=["whole", "in blocks"])
def blocks(request: pytest.FixtureRequest) -> None:
    if request.param == "in blocks":
        request.getfixturevalue("small_blocks")
