"""What the tests that look at the repository itself share: where it lies, and which modules are in it."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# Matrices are tiny here, and tests run side by side, where threads of BLAS would wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Files that take seconds each, every operator on every layout among them: `-m quick` leaves them out.
THOROUGH = (
    "autograd/test_tape.py", "backends/cuda/test_cupy.py", "backends/cuda/test_devices.py",
    "backends/cuda/test_mutants.py", "backends/cuda/test_verbs.py", "conformance/test_adapters_page.py",
    "conformance/test_child.py", "conformance/test_damaged_vectors.py", "conformance/test_emulated.py",
    "conformance/test_forks.py", "conformance/test_holding.py", "conformance/test_known.py", "conformance/test_law.py",
    "conformance/test_no_reply_ends_a_run.py", "conformance/test_output.py", "conformance/test_pasted.py",
    "conformance/test_replies.py", "conformance/test_schema.py", "conformance/test_smoke.py",
    "conformance/test_snippets.py", "conformance/test_targets.py", "faults/test_faults.py", "fuzz/test_fuzz.py",
    "fuzzing/test_campaign.py", "fuzzing/test_workers.py", "spec/test_bounds_fuzz.py", "spec/test_designed.py",
    "spec/test_generator.py", "spec/test_gradients.py", "structure/test_malformed.py", "whole/test_exhaustive.py",
    "whole/test_garbage.py", "whole/test_gradients.py", "whole/test_mutants.py", "whole/test_no_components.py",
    "whole/test_optimised.py", "whole/test_pytest_plugin.py", "whole/test_quiet.py", "whole/test_readme.py",
    "whole/test_short_of_memory.py",
)  # fmt: skip

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


def pytest_configure() -> None:
    """Say so where modules are new since pynested was installed: commands and other processes would not find them."""
    links = [Path(entry) for entry in sys.path if "__editable__.pynested" in entry]
    places = [name.split(".") for name in find_modules()]
    new = [place for place in places for link in links if not any(map(Path.exists, forms(link.joinpath(*place))))]
    if new:
        pytest.exit(f"{'.'.join(new[0])} is new since pynested was installed: run pip install -e '.[test]' again", 2)


def forms(path: Path) -> tuple[Path, Path]:
    """Return the files that a module can be."""
    return path.with_suffix(".py"), path / "__init__.py"


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def modules() -> dict[str, Path]:
    return find_modules()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even read what is not quick, where only that was asked for."""
    return True if config.getoption("markexpr") == "quick" and _thorough(collection_path) else None


def _thorough(path: Path) -> bool:
    return path.is_relative_to(ROOT / "tests") and path.relative_to(ROOT / "tests").as_posix() in THOROUGH


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is quick."""
    for item in items:
        if not _thorough(item.path) and item.get_closest_marker("sanitizer") is None:
            item.add_marker("quick")


def pytest_collection_finish() -> None:
    """Keep the thousands of tests, which stay to the end, out of every garbage collection."""
    gc.collect()
    gc.freeze()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that takes `module` runs once for each."""
    if "module" in metafunc.fixturenames:
        metafunc.parametrize("module", sorted(find_modules()))
