"""Code paths of kernels, which a size chooses and the fixture `path` forces on small arrays. Devices with kernels."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from pynested.backends.cuda.emulated_launcher import Emulator

from .cuda import stand_in

NEVER = 10**9


def filled(shape: Any, dtype: Any) -> Any:
    """Return new memory that holds NaN, in the place of memory that is used again."""
    return np.full(shape, np.nan, dtype)


# Names in modules of `pynested.backends`, and what they are on each path.
PATHS: dict[str, dict[str, dict[str, Any]]] = {
    "as it is": {},
    "one by one": {
        "numpy.segment": {"FEW_SEGMENTS": NEVER, "FEW_COLUMNS": 0, "SHORT_ELEMENTS": 0, "STEP_ELEMENTS": NEVER},
        "numpy.products": {"FEW_ROWS": 2, "FEW_PRODUCTS": NEVER},
        "numpy.movement": {"LONG_SEGMENT_BYTES": 0, "FEW_ELEMENTS": NEVER, "FEW_COMPONENTS": NEVER},
        "numpy.attention_batches": {"BLOCK_SCORES": 4, "PADDED_SCORES": 4, "LEAST_ROWS": 1, "CAUSAL_ROWS": 2},
        "numpy.attention_forward": {"empty": filled},
    },
    "all together": {
        "numpy.segment": {
            "FEW_SEGMENTS": 0, "LONG_SEGMENT": NEVER, "FEW_COLUMNS": NEVER, "SHORT_SEGMENT": 0, "STEP_ELEMENTS": 1,
        },
        "numpy.movement": {
            "LONG_SEGMENT_BYTES": NEVER, "FEW_ELEMENTS": 0, "FEW_COMPONENTS": 0, "LONG_COMPONENT": NEVER,
        },
        "numpy.products": {"FEW_PRODUCTS": 0},
        "numpy.attention_batches": {"LENGTH_STEP": NEVER},
    },
    "tiny blocks on threads": {
        "numpy.segment": {"FEW_SEGMENTS": 0, "FEW_COLUMNS": 0, "STEP_ELEMENTS": 6},
        "numpy.blocks": {"BLOCK_BYTES": 16},
        "numpy.parallel": {"LEAST_THREADED_BYTES": 0, "THREADS": 2},
        "numpy.products": {"LARGE_MATMUL": 0},
        "numpy.attention_batches": {
            "BLOCK_SCORES": 30, "PADDED_SCORES": 30, "THREADS": 2, "LEAST_ROWS": 1, "CAUSAL_ROWS": 3,
        },
        "numpy.attention_forward": {"empty": filled},
        **{module: {"LARGE": 1} for module in ("caching_allocator", "numpy.elementwise", "numpy.movement")},
    },
}  # fmt: skip

# Schedules of the emulator, and their seeds.
SCHEDULES = {
    "forward": ("forward", 0), "reverse": ("reverse", 0), "random": ("random", 1), "eager": ("eager", 0),
    "eager again": ("eager", 1),
}  # fmt: skip


def force(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, values in PATHS[path].items():
        for name, value in values.items():
            monkeypatch.setattr(f"pynested.backends.{module}.{name}", value)


@pytest.fixture(params=PATHS)
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    force(request.param, monkeypatch)
    return str(request.param)


@pytest.fixture(scope="session")
def compiled() -> None:
    """Compile all kernels."""
    if shutil.which("g++") is None:
        pytest.skip("the emulation needs g++")
    Emulator.from_environment().compile_all()


@pytest.fixture
def cupy(compiled: None) -> Iterator[ModuleType]:
    """Return the stand-in for CuPy; during the test "cuda" is a device."""
    with stand_in.installed() as module:
        yield module


@pytest.fixture(params=["emulated", "cuda"])
def device(request: pytest.FixtureRequest, compiled: None) -> Iterator[str]:
    """Return a device with kernels; "cuda" through the stand-in for CuPy."""
    if request.param == "emulated":
        yield "emulated"
        return
    with stand_in.installed():
        yield "cuda"
