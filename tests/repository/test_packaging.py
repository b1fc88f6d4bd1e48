"""Packages and data files in setup.cfg, listed by hand because three folders are mapped, are those on the disk."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from configparser import ConfigParser
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

import pynested as pn

MAPPED = ("autograd", "backends", "spec")


@pytest.fixture(scope="module")
def setup(root: Path) -> ConfigParser:
    config = ConfigParser()
    config.read(root / "setup.cfg", encoding="utf-8")
    return config


@pytest.fixture(scope="module")
def listed(setup: ConfigParser) -> list[str]:
    return setup["options"]["packages"].split()


def folder_of(package: str, root: Path) -> Path:
    parts = package.split(".")
    return root.joinpath(*(parts[1:] if len(parts) > 1 and parts[1] in MAPPED else parts))


def test_package_list_is_what_is_on_disk(listed: list[str], modules: dict[str, Path], root: Path) -> None:
    packages = {name if file.name == "__init__.py" else name.rpartition(".")[0] for name, file in modules.items()}
    assert sorted(packages) == listed
    assert [package for package in listed if not (folder_of(package, root) / "__init__.py").exists()] == []


def test_extras_for_gpus_bring_the_libraries_that_cupy_loads(setup: ConfigParser) -> None:
    extras = setup["options.extras_require"]
    for version in ("12", "13"):
        (cupy,) = (line for line in extras[f"cuda{version}"].split() if line.startswith("cupy"))
        assert cupy.startswith(f"cupy-cuda{version}x[ctk]>=")


def test_the_data_files_are_those_on_disk(setup: ConfigParser, listed: list[str], root: Path) -> None:
    files = {
        (package, pattern): set(folder_of(package, root).glob(pattern))
        for package, patterns in setup["options.package_data"].items()
        for pattern in patterns.replace(",", " ").split()
    }
    assert [pattern for pattern, matches in files.items() if not matches] == []
    on_disk = {file for package in listed for file in folder_of(package, root).rglob("*") if file.is_file()}
    data = {file for file in on_disk if file.suffix != ".py" and "__pycache__" not in file.parts}
    assert sorted(map(str, data.difference(*files.values()))) == []


@pytest.mark.parametrize("folder", MAPPED)
def test_a_mapped_folder_refuses_its_bare_name(folder: str, root: Path) -> None:
    spec = spec_from_file_location(folder, root / folder / "__init__.py")
    assert spec is not None and spec.loader is not None
    with pytest.raises(ImportError, match=rf"is pynested\.{folder}, not"):
        spec.loader.exec_module(module_from_spec(spec))


def test_a_bare_checkout_is_started_and_imported(root: Path, tmp_path: Path) -> None:
    """-S leaves out .pth files, and with them an editable install."""
    libraries = [sysconfig.get_path("purelib"), str(Path(np.__file__).parents[1])]

    def printed(folder: Path, path: list[str], *arguments: str) -> str:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*path, *libraries])}
        command = [sys.executable, "-S", *arguments]
        return subprocess.check_output(command, cwd=folder, env=environment, text=True, timeout=120)

    assert pn.__version__ in printed(root, [], "-m", "pynested", "--version")
    for folder in MAPPED:
        code = f"import pynested.{folder} as found; print(found.__file__)"
        assert printed(tmp_path, [str(root)], "-c", code).strip() == str(root / folder / "__init__.py")


def test_the_version_is_a_literal_that_setup_can_read(setup: ConfigParser, root: Path) -> None:
    assert setup["metadata"]["version"] == "attr: pynested._version.__version__"
    assert f'__version__ = "{pn.__version__}"' in (root / "pynested" / "_version.py").read_text(encoding="utf-8")
    assert f"\nversion: {pn.__version__}\n" in (root / "CITATION.cff").read_text(encoding="utf-8")
