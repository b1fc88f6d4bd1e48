"""The C++ compiler behind the emulation.

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
# What a process that loads such a library has to start with: the sanitizer's own library, and how that is to behave.
# What Python leaves at exit is no leak, and after a race no answer is to be trusted.
RUNTIMES = {
    "address": ("libasan.so", "ASAN_OPTIONS", "detect_leaks=0"),
    "thread": ("libtsan.so", "TSAN_OPTIONS", "halt_on_error=1:exitcode=66"),
}


@cache
def compiler() -> tuple[str, str]:
    """The path of the C++ compiler and what it says of itself; MissingDependency where there is none."""
    asked = os.environ.get("CXX", "g++")
    found = shutil.which(asked)
    if found is None:
        raise MissingDependency(
            f"the device 'emulated' compiles its kernels with a C++17 compiler, and {asked!r} is not on the path. "
            "Install g++, or name a compiler in the environment variable CXX."
        )
    said = subprocess.run([found, "--version"], capture_output=True, text=True, check=False)
    return found, said.stdout.partition("\n")[0]


def sanitizer_environment(mode: str) -> dict[str, str]:
    """The environment of a process that runs kernels built in a mode; MissingDependency where a library is missing."""
    if mode not in RUNTIMES:
        return {}
    name, variable, options = RUNTIMES[mode]
    path, _ = compiler()
    asked = subprocess.run([path, f"-print-file-name={name}"], capture_output=True, text=True, check=False)
    found = asked.stdout.strip()
    if not Path(found).is_absolute():
        raise MissingDependency(f"kernels built for a sanitizer need its {name}, which {path} does not come with.")
    wanted = {"LD_PRELOAD": found, variable: options}
    return {name: ":".join(filter(None, (one, os.environ.get(name)))) for name, one in wanted.items()}


def library(file: str, names: Sequence[str], mode: str = "", kernels: Path = KERNELS) -> Path:
    """A shared library with these instantiations of a ``.cu`` file, as ``k0``, ``k1``, ...; from the cache if there."""
    path, version = compiler()
    flags = (*FLAGS, *MODES[mode])
    unit = f'#include "{file}"\n' + "".join(f"EMULATION_EXPORT(k{i}, {name})\n" for i, name in enumerate(names))
    emulator = (text.read_text(encoding="utf-8") for text in _emulator_texts())
    key = _digest(unit, inlined(file, kernels), version, *flags, *emulator)

    def make(target: Path, place: Path) -> None:
        text = _written(place / "unit.cpp", unit)
        headers: list[str | Path] = ["-include", EMULATOR / "language.hpp", "-I", EMULATOR / "include", "-I", kernels]
        if is_generated(file):
            headers += ["-I", _written(place / file, text_of(file, kernels)).parent]
        source: list[str | Path] = ["-x", "c++", text, "-x", "none", _runtime(path, version)]
        _compile([path, *flags, *headers, "-shared", *source, "-o", target, "-pthread"], file)

    return cached_file(f"{Path(file).stem}-{key}.so", make)


def _written(file: Path, text: str) -> Path:
    """A file that nobody else can write to, whatever the umask says."""
    file.touch()
    file.chmod(0o600)
    file.write_text(text, encoding="utf-8")
    return file


def _runtime(path: str, version: str) -> Path:
    """The scheduler, without sanitizers."""
    key = _digest(version, *(text.read_text(encoding="utf-8") for text in _emulator_texts()))

    def make(target: Path, place: Path) -> None:
        _compile([path, "-std=c++17", "-O2", "-fPIC", "-c", EMULATOR / "runtime.cpp", "-o", target], "the emulation")

    return cached_file(f"runtime-{key}.o", make)


def _emulator_texts() -> list[Path]:
    return sorted(file for file in EMULATOR.rglob("*") if file.suffix in (".hpp", ".cpp", ".h"))


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


def _compile(command: Sequence[str | Path], what: str) -> None:
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False, umask=0o077)
    if done.returncode or "warning:" in done.stderr:
        raise DeviceError(f"{what} does not compile cleanly:\n{done.stderr[-6000:]}")
