"""Settings of all tests, and the folder and modules of the repository for tests that read it."""

from __future__ import annotations

import functools
import gc
import os
import sys
from pathlib import Path

import hypothesis
import pytest

ROOT = Path(__file__).parents[1]

# A test must not fail because the machine is busy.
hypothesis.settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("any machine")
# A property with one test for each operator draws the same few examples in each run.
hypothesis.settings.register_profile("few examples", derandomize=True, database=None, max_examples=10)

# Matrices are tiny here, and tests run side by side, where threads of BLAS would wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Tests start hundreds of processes. The modules that one compiles are kept for the others, even if the environment
# forbids it, as that of containers does. Otherwise each process would compile every module.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Files that take about a second or more, by folder, every operator on every layout among them; `-m quick` is the rest.
THOROUGH = {
    "autograd": "tape",
    "backends": "kernels",
    "backends/cuda": "cache cupy_failures device_law emulator",
    "conformance": (
        "adapters_page blame capabilities child cli compiled damaged_vectors emulated explain exports filled footer "
        "fork_server forks holding known law no_reply_ends_a_run output pasted peers phases programs progress replies "
        "schema signals site smoke snippets targets wire"
    ),
    "mutation": "mutation",
    "fuzz": "fuzz",
    "fuzzing": "campaign programs workers",
    "graph": "kernels",
    "operators": "gradients law result_structure",
    "operators/attention": "flex sdpa",
    "operators/resources": "garbage neighbours warnings",
    "spec": "bounds bounds_fuzz check designed generator gradients reader vector_schema vectors",
    "repository": "optimised pages pytest_plugin shared_memory transformer",
}

# Folders whose files above are slow: left out unless the file or its folder is named, or `-m` is given.
SLOW_FOLDERS = ("conformance", "fuzz", "fuzzing", "mutation", "spec")

# The folders that hold code, and where each is in the import system.
PACKAGES = {
    "pynested": "pynested",
    "autograd": "pynested.autograd",
    "backends": "pynested.backends",
    "spec": "pynested.spec",
}


def find_modules() -> dict[str, Path]:
    """Return every module on disk, by its name; a walk with pkgutil would miss the mapped folders."""
    files_by_name = {}
    for folder, package in PACKAGES.items():
        for file in sorted((ROOT / folder).rglob("*.py")):
            parts = file.relative_to(ROOT / folder).with_suffix("").parts
            files_by_name[".".join((package, *parts)).removesuffix(".__init__")] = file
    return files_by_name


def pytest_configure() -> None:
    """Stop if modules are new since pynested was installed: commands and other processes would not find them."""
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
    """Leave out files that are not quick if only quick tests are wanted, and slow files if nobody names them."""
    expression = config.getoption("markexpr")
    if expression == "quick":
        return True if _thorough(collection_path) else None
    is_default = expression in config.getini("addopts")
    is_left_out = is_default and is_slow(collection_path) and not is_named(collection_path, config.args)
    return True if is_left_out else None


def is_slow(path: Path) -> bool:
    """Return whether a file takes so long that it is left out of a run of all tests."""
    return path.parent.name in SLOW_FOLDERS and _thorough(path)


def is_named(path: Path, arguments: list[str]) -> bool:
    """Return whether an argument of pytest is this file, one of its tests, or a folder below `tests` that holds it."""
    paths = [Path(argument.partition("::")[0]).resolve() for argument in arguments]
    return any(path == name or (name in path.parents and ROOT / "tests" in name.parents) for name in paths)


@functools.cache
def _thorough(path: Path) -> bool:
    if not path.is_relative_to(ROOT / "tests"):
        return False
    names = THOROUGH.get(path.parent.relative_to(ROOT / "tests").as_posix(), "")
    return path.stem.removeprefix("test_") in names.split()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the quick tests and the slow ones."""
    for item in items:
        if is_slow(item.path):
            item.add_marker("slow")
        elif not _thorough(item.path) and not any(map(item.get_closest_marker, ("sanitizer", "exhaustive"))):
            item.add_marker("quick")


def pytest_collection_finish() -> None:
    """Keep the thousands of tests, which live to the end, out of every garbage collection."""
    gc.collect()
    gc.freeze()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that takes `module` once for each module."""
    if "module" in metafunc.fixturenames:
        metafunc.parametrize("module", sorted(find_modules()))
