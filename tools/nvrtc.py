"""NVIDIA's run-time compiler without CuPy, driver or GPU: the registers and the memory of every kernel.

The library comes with the wheels nvidia-cuda-nvrtc and nvidia-cuda-runtime (the headers), or with a CUDA toolkit whose
folder CUDA_PATH names.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pynested.backends.cuda.instantiations import all_instantiations
from pynested.backends.cuda.kernel_source import KERNEL_FOLDER, source_with_headers
from pynested.backends.errors import DeviceError, MissingDependency

ARCHITECTURES = ("sm_80", "sm_90", "sm_100")
OPTIONS = ("-std=c++17", "-ftz=true", "--ptxas-options=-v")  # flushing float32 subnormals, as CuPy does
_ENTRY = re.compile(r"Compiling entry function '(\S+)'")
_SPILLS = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")
_REGISTERS = re.compile(r"Used (\d+) registers")
_SHARED = re.compile(r"(\d+) bytes smem")


class Resources(NamedTuple):
    """What one instantiation takes of a multiprocessor."""

    registers: int
    spilled: int  # bytes stored and loaded again because registers ran out
    shared: int  # bytes


class Nvrtc:
    """The compiler; MissingDependency where it is not installed."""

    def __init__(self) -> None:
        libraries, self.include = _installed()
        for builtins in libraries.glob("libnvrtc-builtins.so*"):  # 13.0 does not find its own
            if "alt" not in builtins.name:
                ctypes.CDLL(str(builtins), mode=ctypes.RTLD_GLOBAL)
        found = sorted(path for path in libraries.glob("libnvrtc.so*") if "alt" not in path.name)
        self._library = ctypes.CDLL(str(found[0]), mode=ctypes.RTLD_GLOBAL)
        self._library.nvrtcGetErrorString.restype = ctypes.c_char_p

    def compile(
        self, file: str, names: Sequence[str], architecture: str, kernels: Path = KERNEL_FOLDER
    ) -> dict[str, Resources]:
        """Compile instantiations of a file for an architecture such as ``"sm_90"``; any warning is a DeviceError."""
        program = ctypes.c_void_p()
        text = source_with_headers(file, kernels).encode()
        self._call("nvrtcCreateProgram", ctypes.byref(program), text, file.encode(), 0, None, None)
        try:
            for name in names:
                self._call("nvrtcAddNameExpression", program, name.encode())
            options = [*OPTIONS, f"-arch={architecture}", f"-I{self.include}"]
            array = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
            failed = self._library.nvrtcCompileProgram(program, len(options), array)
            log = self._log(program)
            if failed or "warning" in log.lower():
                raise DeviceError(f"{file} for {architecture}:\n{log[-6000:]}")
            by_lowered = dict(_entries(log))
            return {name: by_lowered[self._lowered(program, name)] for name in names}
        finally:
            self._call("nvrtcDestroyProgram", ctypes.byref(program))

    def _lowered(self, program: ctypes.c_void_p, name: str) -> str:
        lowered = ctypes.c_char_p()
        self._call("nvrtcGetLoweredName", program, name.encode(), ctypes.byref(lowered))
        return (lowered.value or b"").decode()

    def _log(self, program: ctypes.c_void_p) -> str:
        size = ctypes.c_size_t()
        self._call("nvrtcGetProgramLogSize", program, ctypes.byref(size))
        text = ctypes.create_string_buffer(max(1, size.value))
        self._call("nvrtcGetProgramLog", program, text)
        return text.value.decode(errors="replace")

    def _call(self, function: str, *arguments: Any) -> None:
        code = getattr(self._library, function)(*arguments)
        if code:
            raise DeviceError(f"{function}: {self._library.nvrtcGetErrorString(code).decode()}")


def _entries(log: str) -> Iterator[tuple[str, Resources]]:
    """The kernels that ptxas reports, by their lowered names."""
    _, *parts = _ENTRY.split(log)
    for name, text in zip(parts[::2], parts[1::2], strict=True):
        stored, loaded = _numbers(_SPILLS, text)
        (registers,), (shared,) = _numbers(_REGISTERS, text), _numbers(_SHARED, text)
        yield name, Resources(registers, stored + loaded, shared)


def _numbers(pattern: re.Pattern[str], text: str) -> tuple[int, ...]:
    found = pattern.search(text)
    return tuple(map(int, found.groups())) if found else (0,) * pattern.groups


def _installed() -> tuple[Path, Path]:
    """The folders of the library and of the headers."""
    packages = Path(sysconfig.get_paths()["purelib"]) / "nvidia"
    toolkit = os.environ.get("CUDA_PATH")
    places = [(folder / "lib", folder / "include") for folder in sorted(packages.glob("cu1*"), reverse=True)]
    if toolkit:
        places.insert(0, (Path(toolkit) / "lib64", Path(toolkit) / "include"))
    for libraries, include in places:
        if any(libraries.glob("libnvrtc.so*")) and (include / "cuda_fp16.h").exists():
            return libraries, include
    raise MissingDependency(
        "NVRTC is not installed: pip install nvidia-cuda-nvrtc nvidia-cuda-runtime nvidia-cuda-cccl, or let CUDA_PATH "
        "name a CUDA toolkit."
    )


# ---- the table of all kernels ---------------------------------------------------------------------------------------

Table = dict[str, dict[str, Resources]]  # by instantiation, then by architecture


def measured(architectures: Sequence[str] = ARCHITECTURES, kernels: Path = KERNEL_FOLDER) -> Table:
    """What every instantiation takes on each architecture, by compiling all of them; a warning is an error."""
    nvrtc, table = Nvrtc(), Table()
    for architecture in architectures:
        for file, names in all_instantiations().items():
            for name, resources in nvrtc.compile(file, names, architecture, kernels).items():
                table.setdefault(name, {})[architecture] = resources
    return table


def table_text(table: Table) -> str:
    """Return a line of JSON for each instantiation: its name, and its resources on each architecture."""
    return "".join(f"{json.dumps(row)}\n" for row in table.items())


def read_table(text: str) -> Table:
    """Return the table that `table_text` wrote."""
    rows = map(json.loads, text.splitlines())
    return {name: {architecture: Resources(*numbers) for architecture, numbers in row.items()} for name, row in rows}
