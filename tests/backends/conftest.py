"""Code paths of kernels, which a size chooses and the fixture `path` forces on small arrays. Devices with kernels."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from pynested.backends import caching_allocator
from pynested.backends.cuda.emulated_launcher import Emulator
from pynested.backends.numpy import (
    attention_batches,
    attention_forward,
    blocks,
    elementwise,
    movement,
    parallel,
    products,
    segment,
)

from .cuda import stand_in

NEVER = 10**9


def filled(shape: Any, dtype: Any) -> Any:
    """Return new memory that holds NaN, in the place of memory that is used again."""
    return np.full(shape, np.nan, dtype)


PATHS: dict[str, dict[Any, Any]] = {
    "as it is": {},
    "one by one": {
        (segment, "FEW_SEGMENTS"): NEVER,
        (segment, "FEW_COLUMNS"): 0,
        (segment, "SHORT_ELEMENTS"): 0,
        (products, "FEW_ROWS"): 2,
        (segment, "STEP_ELEMENTS"): NEVER,
        (movement, "LONG_SEGMENT_BYTES"): 0,
        (movement, "FEW_ELEMENTS"): NEVER,
        (movement, "FEW_COMPONENTS"): NEVER,
        (products, "FEW_PRODUCTS"): NEVER,
        (attention_batches, "BLOCK_SCORES"): 4,
        (attention_batches, "PADDED_SCORES"): 4,
        (attention_batches, "LEAST_ROWS"): 1,
        (attention_batches, "CAUSAL_ROWS"): 2,
        (attention_forward, "empty"): filled,
    },
    "all together": {
        (segment, "FEW_SEGMENTS"): 0,
        (segment, "LONG_SEGMENT"): NEVER,
        (segment, "FEW_COLUMNS"): NEVER,
        (segment, "SHORT_SEGMENT"): 0,
        (segment, "STEP_ELEMENTS"): 1,
        (movement, "LONG_SEGMENT_BYTES"): NEVER,
        (movement, "FEW_ELEMENTS"): 0,
        (movement, "FEW_COMPONENTS"): 0,
        (movement, "LONG_COMPONENT"): NEVER,
        (products, "FEW_PRODUCTS"): 0,
        (attention_batches, "LENGTH_STEP"): NEVER,
    },
    "tiny blocks on threads": {
        (segment, "FEW_SEGMENTS"): 0,
        (segment, "FEW_COLUMNS"): 0,
        (segment, "STEP_ELEMENTS"): 6,
        (blocks, "BLOCK_BYTES"): 16,
        (parallel, "LEAST_THREADED_BYTES"): 0,
        (parallel, "THREADS"): 2,
        (products, "LARGE_MATMUL"): 0,
        (attention_batches, "BLOCK_SCORES"): 30,
        (attention_batches, "PADDED_SCORES"): 30,
        (attention_batches, "THREADS"): 2,
        (attention_batches, "LEAST_ROWS"): 1,
        (attention_batches, "CAUSAL_ROWS"): 3,
        (attention_forward, "empty"): filled,
        **{(module, "LARGE"): 1 for module in (caching_allocator, elementwise, movement)},
    },
}

# Schedules of the emulator, and their seeds.
SCHEDULES = {
    "forward": ("forward", 0),
    "reverse": ("reverse", 0),
    "random": ("random", 1),
    "eager": ("eager", 0),
    "eager again": ("eager", 1),
}


def force(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for (module, name), value in PATHS[path].items():
        monkeypatch.setattr(module, name, value)


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
