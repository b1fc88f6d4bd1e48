"""NVIDIA's compiler takes every instantiation without a warning, and it needs no more registers than the table says.

``python tests/backends/cuda/test_nvrtc.py`` writes the table anew; with ``--widen`` larger numbers of the
table stay, so that it holds for several versions of the compiler.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pynested.backends.cuda.instantiations import all_instantiations
from pynested.backends.cuda.kernel_source import source_with_headers
from pynested.backends.errors import DeviceError, MissingDependency
from tools.nvrtc import ARCHITECTURES, Nvrtc, Resources, Table, measured, read_table, table_text

RESOURCES = Path(__file__).parent / "resources.jsonl"
MORE_REGISTERS, MORE_SPILLED = 8, 64  # that another version of the compiler may take
STATIC_SHARED = 48 * 1024  # bytes that a kernel may declare


@pytest.fixture(scope="module")
def nvrtc() -> Nvrtc:
    try:
        return Nvrtc()
    except MissingDependency as error:
        pytest.skip(str(error))


def test_the_table_has_every_instantiation_and_its_blocks_fit_a_multiprocessor() -> None:
    table = read_table(RESOURCES.read_text(encoding="utf-8"))
    assert list(table) == [name for names in all_instantiations().values() for name in names]
    assert read_table(table_text(table)) == table
    for name, row in table.items():
        assert tuple(row) == ARCHITECTURES
        for resources in row.values():
            assert resources.registers * 256 <= 65536 and resources.shared <= STATIC_SHARED, name


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_instantiation_compiles_within_the_table(nvrtc: Nvrtc, architecture: str) -> None:
    table = read_table(RESOURCES.read_text(encoding="utf-8"))
    beyond = []
    for name, row in measured((architecture,)).items():
        got, allowed = row[architecture], table[name][architecture]
        limit = Resources(allowed.registers + MORE_REGISTERS, allowed.spilled + MORE_SPILLED, allowed.shared)
        if got.registers > limit.registers or got.spilled > limit.spilled or got.shared > limit.shared:
            beyond.append((name, got, allowed))
    assert not beyond


def test_errors_and_warnings_are_refused(nvrtc: Nvrtc, tmp_path: Path) -> None:
    wrong = {"error.cu": "out[0] = missing;", "warning.cu": "int unused = 3; out[0] = 1 / 0;"}
    for file, line in wrong.items():
        text = f"template <class T>\n__global__ void k(T *out) {{\n  {line}\n}}\n"
        (tmp_path / file).write_text(text, encoding="utf-8")
        with pytest.raises(DeviceError, match=rf"{file}.*\({3}\)"):
            nvrtc.compile(file, ["k<int>"], "sm_90", tmp_path)


def test_headers_are_put_into_the_text_once() -> None:
    for file in all_instantiations():
        text = source_with_headers(file)
        assert '#include "' not in text and "#pragma once" not in text
        assert text.count("struct Acc {") <= 1 and text.count("template <class T> struct Limits;") == 1


def widened(table: Table, other: Table) -> Table:
    """Return the larger of two tables, number by number."""
    return {
        name: {key: Resources(*map(max, need, other.get(name, row)[key])) for key, need in row.items()}
        for name, row in table.items()
    }


if __name__ == "__main__":
    made = measured()
    if "--widen" in sys.argv:
        made = widened(made, read_table(RESOURCES.read_text(encoding="utf-8")))
    RESOURCES.write_text(table_text(made), encoding="utf-8")
