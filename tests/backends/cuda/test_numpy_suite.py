"""The tests of the NumPy backend once more, with the emulated one in its place: loops over components judge both."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from pynested.backends import get_backend

SUITES = ("elementwise", "losses", "movement", "normalization", "placement", "products", "segment")


def loaded(suite: str) -> ModuleType:
    """A second copy of a test module, whose ``cpu`` is the emulated backend."""
    name = f"emulated_{suite}"
    spec = spec_from_file_location(name, Path(__file__).parent.parent / f"test_{suite}.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    assert module.cpu is get_backend("cpu")
    module.cpu = get_backend("emulated")
    return module


def suite_tests(suite: str) -> dict[str, Any]:
    tests = {name: value for name, value in vars(loaded(suite)).items() if name.startswith("test_")}
    return {f"{name}_in_{suite}": test for name, test in tests.items()}


for _suite in SUITES:
    globals().update(suite_tests(_suite))
