"""The C++ compiler of the host, which compiles CUDA kernels for the emulated device.

A library is kept under a hash of everything it was made of: the text of the kernels and of the emulation, the names
of the instantiations, the flags, the compiler. So an edit compiles what it touches, and nothing is compiled twice.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from ..errors import DeviceError, MissingDependency
from .cache import cached_file
from .kernel_source import KERNELS, inlined, is_generated, text_of

EMULATOR = Path(__file__).resolve().parent / "emulator"
FLAGS = ("-std=c++17", "-fPIC", "-g1", "-ffp-contract=off", "-Wall", "-Wextra", "-Wno-unknown-pragmas")
MODES = {
    "": ("-O1",),
    "address": ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer"),
    "thread": ("-O1", "-fsanitize=thread"),
}
# A process that loads a library with a sanitizer must start with the sanitizer's own library, and with options in an
# environment variable. Memory that Python keeps until exit is not reported; a race ends the process.
SANITIZERS = {
    "address": ("libasan.so", "ASAN_OPTIONS", "detect_leaks=0"),
    "thread": ("libtsan.so", "TSAN_OPTIONS", "halt_on_error=1:exitcode=66"),
}


@cache
def compiler() -> tuple[str, str]:
    """Return the path and the version of the C++ compiler; raise MissingDependency if it is missing."""
    command = os.environ.get("CXX", "g++")
    path = shutil.which(command)
    if path is None:
        raise MissingDependency(
            f"the device 'emulated' compiles its kernels with a C++17 compiler, and {command!r} is not on the path. "
            "Install g++, or name a compiler in the environment variable CXX."
        )
    done = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    return path, done.stdout.partition("\n")[0]


def sanitizer_environment(mode: str) -> dict[str, str]:
    """Return the environment variables for a process that runs kernels built in a mode.

    Raise MissingDependency if the library of the sanitizer is missing.
    """
    if mode not in SANITIZERS:
        return {}
    name, variable, options = SANITIZERS[mode]
    path, _ = compiler()
    done = subprocess.run([path, f"-print-file-name={name}"], capture_output=True, text=True, check=False)
    file = done.stdout.strip()
    if not Path(file).is_absolute():
        raise MissingDependency(f"kernels built for a sanitizer need its {name}, which {path} does not come with.")
    variables = {"LD_PRELOAD": file, variable: options}
    return {key: ":".join(filter(None, (value, os.environ.get(key)))) for key, value in variables.items()}


def library(file: str, names: Sequence[str], mode: str = "", kernels: Path = KERNELS) -> Path:
    """Return a shared library, perhaps a cached one, of instantiations of a ``.cu`` file, called ``k0``, ``k1``, ..."""
    path, version = compiler()
    flags = (*FLAGS, *MODES[mode])
    unit = f'#include "{file}"\n' + "".join(f"EMULATION_EXPORT(k{i}, {name})\n" for i, name in enumerate(names))
    emulator = (file.read_text(encoding="utf-8") for file in _emulator_files())
    key = _digest(unit, inlined(file, kernels), version, *flags, *emulator)

    def make(target: Path, folder: Path) -> None:
        main_file = _write_private(folder / "unit.cpp", unit)
        headers: list[str | Path] = ["-include", EMULATOR / "language.hpp", "-I", EMULATOR / "include", "-I", kernels]
        if is_generated(file):
            headers += ["-I", _write_private(folder / file, text_of(file, kernels)).parent]
        source: list[str | Path] = ["-x", "c++", main_file, "-x", "none", _scheduler(path, version)]
        _compile([path, *flags, *headers, "-shared", *source, "-o", target, "-pthread"], file)

    return cached_file(f"{Path(file).stem}-{key}.so", make)


def _write_private(file: Path, text: str) -> Path:
    """Write a file to which no other user can write, whatever the umask is."""
    file.touch()
    file.chmod(0o600)
    file.write_text(text, encoding="utf-8")
    return file


def _scheduler(path: str, version: str) -> Path:
    """Return the object file of the scheduler of emulated threads, which is built without sanitizers."""
    key = _digest(version, *(file.read_text(encoding="utf-8") for file in _emulator_files()))

    def make(target: Path, folder: Path) -> None:
        _compile([path, "-std=c++17", "-O2", "-fPIC", "-c", EMULATOR / "runtime.cpp", "-o", target], "the emulation")

    return cached_file(f"runtime-{key}.o", make)


def _emulator_files() -> list[Path]:
    return sorted(file for file in EMULATOR.rglob("*") if file.suffix in (".hpp", ".cpp", ".h"))


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


def _compile(command: Sequence[str | Path], what: str) -> None:
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False, umask=0o077)
    if done.returncode or "warning:" in done.stderr:
        raise DeviceError(f"{what} does not compile cleanly:\n{done.stderr[-6000:]}")
