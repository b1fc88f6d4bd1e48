"""What the tests that look at the repository itself share: where it lies, and which modules are in it."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# The folders that hold code, and where each is in the import system.
PACKAGES = {
    "pynested": "pynested",
    "autograd": "pynested.autograd",
    "backends": "pynested.backends",
    "spec": "pynested.spec",
}


def find_modules() -> dict[str, Path]:
    """Return every module on disk, by its name; a walk with pkgutil would miss the mapped folders."""
    found = {}
    for folder, package in PACKAGES.items():
        for file in sorted((ROOT / folder).rglob("*.py")):
            parts = file.relative_to(ROOT / folder).with_suffix("").parts
            found[".".join((package, *parts)).removesuffix(".__init__")] = file
    return found


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def modules() -> dict[str, Path]:
    return find_modules()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that takes `module` runs once for each."""
    if "module" in metafunc.fixturenames:
        metafunc.parametrize("module", sorted(find_modules()))
