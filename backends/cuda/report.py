"""A report on the kernels: the text behind ``pynested kernels``, and what each takes of a GPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ..errors import DeviceError, MissingDependency
from .cache import cache_folder
from .catalogue import catalogue
from .compiler import compiler
from .nvrtc import Nvrtc, Resources
from .signatures import KERNELS, templates

ARCHITECTURES = ("sm_80", "sm_90", "sm_100")

Table = dict[str, dict[str, Resources]]  # by instantiation, then by architecture


def listing() -> str:
    """The kernels by file, how often each is instantiated, and what this machine can run them with."""
    return "\n".join([*_kernels(), "", *_launchers()]) + "\n"


def _kernels() -> Iterator[str]:
    yield f"{'file':28}{'instantiations':>14}   kernels"
    for file, names in catalogue().items():
        known = ", ".join(templates((KERNELS / file).read_text(encoding="utf-8")))
        yield f"{file:28}{len(names):>14}   {known}"
    yield f"{'in all':28}{sum(map(len, catalogue().values())):>14}"


def _launchers() -> Iterator[str]:
    try:
        _, version = compiler()
        yield f'device "emulated": {version}; libraries in {cache_folder()}'
    except (DeviceError, MissingDependency) as error:
        yield f'device "emulated": {error}'
    try:
        from .cupy import cuda_backend

        backend = cuda_backend()
        yield f'device "cuda": CuPy {backend.xp.__version__}'
    except DeviceError as error:
        yield f'device "cuda": {error}'
    try:
        yield f"compile check: NVRTC {Nvrtc().version}"
    except MissingDependency as error:
        yield f"compile check: {error}"


def measured(architectures: Sequence[str] = ARCHITECTURES, kernels: Path = KERNELS) -> Table:
    """What every instantiation takes on each architecture, by compiling all of them; a warning is an error."""
    nvrtc, table = Nvrtc(), Table()
    for architecture in architectures:
        for file, names in catalogue().items():
            for name, resources in nvrtc.compile(file, names, architecture, kernels).items():
                table.setdefault(name, {})[architecture] = resources
    return table


def table_text(table: Table) -> str:
    """One line an instantiation: registers, bytes spilled and bytes of shared memory on each architecture."""
    architectures = list(next(iter(table.values()), {}))
    lines = [f"{'registers spilled shared':58}" + "".join(f"{name:>16}" for name in architectures)]
    for name, row in table.items():
        cells = (f"{r.registers} {r.spilled} {r.shared}" for r in row.values())
        lines.append(f"{name:58}" + "".join(f"{cell:>16}" for cell in cells))
    return "\n".join(lines) + "\n"


def read_table(text: str) -> Table:
    """What `table_text` wrote."""
    head, *lines = text.splitlines()
    architectures = head[58:].split()
    table = Table()
    for line in lines:
        numbers = [int(number) for number in line[58:].split()]
        triples = zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True)
        table[line[:58].rstrip()] = {a: Resources(*t) for a, t in zip(architectures, triples, strict=True)}
    return table
