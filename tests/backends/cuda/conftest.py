"""The emulation: a backend for each schedule, or a plain reason why there is none."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType

import pytest

from pynested.backends.cuda.backend import KernelBackend
from pynested.backends.cuda.catalogue import catalogue
from pynested.backends.cuda.emulated import Emulator, emulated_backend

from . import stand_in

SCHEDULES = {
    "forward": ("forward", 0),
    "reverse": ("reverse", 0),
    "random": ("random", 1),
    "eager": ("eager", 0),
    "eager again": ("eager", 1),
}


@pytest.fixture(scope="session")
def compiled() -> None:
    """All kernels in the cache; two compilers at a time."""
    if shutil.which("g++") is None:
        pytest.skip("the emulation needs g++")
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(Emulator.from_environment().compile, catalogue()))


@pytest.fixture(scope="session", params=SCHEDULES)
def backend(request: pytest.FixtureRequest, compiled: None) -> KernelBackend:
    launcher = Emulator.from_environment()
    launcher.schedule, launcher.seed = SCHEDULES[request.param]
    return emulated_backend(launcher)


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
