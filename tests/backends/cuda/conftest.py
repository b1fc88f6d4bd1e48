"""The devices with kernels."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import pytest

from . import stand_in


@pytest.fixture
def cupy(compiled: None) -> Iterator[ModuleType]:
    """The stand-in for CuPy; during the test "cuda" is a device."""
    with stand_in.installed() as module:
        yield module


@pytest.fixture(params=["emulated", "cuda"])
def device(request: pytest.FixtureRequest, compiled: None) -> Iterator[str]:
    """The name of each device with kernels; "cuda" through the stand-in for CuPy."""
    if request.param == "emulated":
        yield "emulated"
        return
    with stand_in.installed():
        yield "cuda"
