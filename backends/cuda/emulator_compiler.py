"""The C++ compiler of the host. It compiles CUDA kernels for the device ``"emulated"``.

A compiled file is cached under a hash of all that it was made from: the text of the kernels, the text of the emulator,
the flags and the version of the compiler. So after a change of a header, only the files that include it are compiled.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ..errors import DeviceError, MissingDependency
from .cache import cached_file
from .kernel_source import KERNEL_FOLDER, source_with_headers

EMULATOR = Path(__file__).resolve().parent / "emulator"
FLAGS = ("-std=c++17", "-fPIC", "-pthread", "-g1", "-ffp-contract=off", "-Wall", "-Wextra", "-Wno-unknown-pragmas")


class Sanitizer(NamedTuple):
    """A tool of the C++ compiler. A process that runs kernels built with it must start with its library and options."""

    title: str
    flags: str
    library: str
    options: tuple[str, str]  # name and value of an environment variable


# Two choices together halve the time of compiling: -Og, and no check for faults that AddressSanitizer finds as well.
# Leaks are not reported, as Python keeps memory until it exits. A race ends the process.
SANITIZERS = {
    "": Sanitizer("", "-O1", "", ("", "")),
    "address": Sanitizer(
        "AddressSanitizer and UndefinedBehaviorSanitizer",
        "-Og -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined "
        "-fno-sanitize=null,object-size,pointer-overflow,vptr",
        "libasan.so",
        ("ASAN_OPTIONS", "detect_leaks=0"),
    ),
    "thread": Sanitizer(
        "ThreadSanitizer", "-Og -fsanitize=thread", "libtsan.so", ("TSAN_OPTIONS", "halt_on_error=1:exitcode=66")
    ),
}


@cache
def find_compiler() -> tuple[str, str]:
    """Return the path and the version of the C++ compiler; MissingDependency if it is missing."""
    command = os.environ.get("CXX", "g++")
    path = shutil.which(command)
    if path is None:
        raise MissingDependency(
            f"the device 'emulated' compiles its kernels with a C++17 compiler, and {command!r} is not on the path. "
            "Install g++, or name a compiler in the environment variable CXX."
        )
    return path, _run([path, "--version"]).stdout.partition("\n")[0]


def sanitizer_environment(sanitizer: str) -> dict[str, str]:
    """Return the environment variables of a process that runs kernels with a sanitizer; none for the sanitizer ``""``.

    Raise MissingDependency if the library of the sanitizer is missing.
    """
    if not sanitizer:
        return {}
    path, _ = find_compiler()
    _, _, library, options = SANITIZERS[sanitizer]
    file = _run([path, f"-print-file-name={library}"]).stdout.strip()
    if not Path(file).is_absolute():  # the compiler repeats the name of a file that it does not find
        raise MissingDependency(f"kernels built for a sanitizer need its {library}, which {path} does not come with.")
    variables = ("LD_PRELOAD", file), options
    return {name: ":".join(filter(None, (value, os.environ.get(name)))) for name, value in variables}


def compile_library(
    file: str, instantiations: Sequence[str], sanitizer: str = "", folder: Path = KERNEL_FOLDER
) -> Path:
    """Compile instantiations of the kernels of a ``.cu`` file, unless that was done before; return the shared library.

    The functions of instantiation ``i`` are called ``k{i}_launch`` and ``k{i}_signature``.
    """
    path, version = find_compiler()
    flags = *FLAGS, *SANITIZERS[sanitizer].flags.split()
    exports = [f"EMULATION_EXPORT(k{i}, {name})" for i, name in enumerate(instantiations)]
    text = "\n".join([source_with_headers(file, folder), *exports, ""])

    def compile_text(target: Path) -> None:
        source = target.with_suffix(".cpp")
        source.write_text(text, encoding="utf-8")
        language = "-include", EMULATOR / "language.hpp", "-I", EMULATOR / "include"
        _compile(file, path, *flags, *language, "-shared", source, _compiled_scheduler(), "-o", target)

    return cached_file(f"{Path(file).stem}-{_digest(text, version, *flags)}.so", compile_text)


def _compiled_scheduler() -> Path:
    """Return the object file of the scheduler of emulated threads, which is built without sanitizers."""
    path, version = find_compiler()
    flags = "-std=c++17", "-O2", "-fPIC"

    def compile_scheduler(target: Path) -> None:
        _compile("the scheduler of the emulator", path, *flags, "-c", EMULATOR / "runtime.cpp", "-o", target)

    return cached_file(f"runtime-{_digest(version, *flags)}.o", compile_scheduler)


def _digest(*parts: str) -> str:
    """Return a hash of the parts and of the text of the emulator."""
    files = sorted(file for file in EMULATOR.rglob("*") if file.suffix in (".hpp", ".cpp", ".h"))
    texts = *parts, *[file.read_text(encoding="utf-8") for file in files]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:24]


def _compile(title: str, *command: str | Path) -> None:
    """Run the compiler; raise DeviceError after an error or a warning."""
    done = _run(command)
    if done.returncode or "warning:" in done.stderr:
        raise DeviceError(f"{title} does not compile cleanly:\n{done.stderr[-6000:]}")


def _run(command: Sequence[str | Path]) -> subprocess.CompletedProcess[str]:
    """Run a program. No other user can write to the files that it makes."""
    return subprocess.run(command, capture_output=True, text=True, check=False, umask=0o077)
