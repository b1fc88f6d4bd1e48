"""pynested on the emulator: what ran is said, and a wrong kernel is a difference, whichever way it goes wrong."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pynested.backends.cuda import emulator_compiler
from pynested.backends.cuda.emulated_launcher import Emulator
from pynested.cli import main

from ..mutation.suites import run_python

Captured = pytest.CaptureFixture[str]
EMULATED = ["conform", "--device", "emulated"]
NO_LIBRARIES = """#!/bin/sh
case $1 in -print-file-name=*) echo "${1#*=}";; *) exec g++ "$@";; esac
"""

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="the emulation needs g++")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([], "schedule reverse"),
        (["--schedule", "forward"], "schedule forward"),
        (["--schedule", "eager"], "schedule eager, seed 4"),
        (["--schedule", "random", "--seed", "3", "--workers", "2"], "schedule random, seed 3, 2 blocks at a time"),
    ],
)
def test_the_report_says_how_kernels_ran(
    options: list[str], says: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setenv("PYNESTED_EMULATOR", '{"schedule": "reverse", "seed": 4}')
    assert main([*EMULATED, "--op", "relu", *options]) == 0
    first, second, _ = capsys.readouterr().out.split("\n", 2)
    assert " on emulated against" in first and second == says


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([*EMULATED, "--schedule", "sideways"], "no schedule 'sideways': it has 'forward', 'reverse'"),
        ([*EMULATED, "--sanitize", "memory"], "no sanitizer 'memory': it has 'address', 'thread'"),
        ([*EMULATED, "--workers", "0"], "workers >= 1, got 0"),
        ([*EMULATED, "--workers", str(2**31)], "workers <= 2147483647, got 2147483648"),
        ([*EMULATED, "--seed", "-1"], "seed >= 0, got -1"),
        ([*EMULATED, "--seed", str(2**64)], "seed <= 18446744073709551615, got 18446744073709551616"),
        ([*EMULATED, "--target", "torch", "--schedule", "random"], "--schedule is for pynested with --device emulated"),
        ([*EMULATED, "--adapter", "cat", "--seed", "1"], "--seed is for pynested with --device emulated"),
        (["conform", "--workers", "2"], "--workers is for pynested with --device emulated"),
        (["conform", "--device", "cpu", "--sanitize", "thread"], "--sanitize is for pynested with --device emulated"),
    ],
)
def test_wrong_options_are_one_line_and_2(arguments: list[str], text: str, capsys: Captured) -> None:
    assert main([*arguments, "--op", "relu"]) == 2
    shown = capsys.readouterr()
    assert text in shown.err and shown.err.count("\n") == 1 and not shown.out


@pytest.mark.parametrize(("sanitizer", "library"), [("address", "libasan.so"), ("thread", "libtsan.so")])
def test_a_compiler_without_sanitizers_is_one_line_and_2(
    sanitizer: str, library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    (tmp_path / "compiler").write_text(NO_LIBRARIES)
    (tmp_path / "compiler").chmod(0o755)
    monkeypatch.setenv("CXX", str(tmp_path / "compiler"))
    monkeypatch.setattr(
        emulator_compiler, "find_compiler", emulator_compiler.find_compiler.__wrapped__
    )  # without its cache
    assert main([*EMULATED, "--op", "relu", "--sanitize", sanitizer]) == 2
    shown = capsys.readouterr()
    assert f"need its {library}" in shown.err and shown.err.count("\n") == 1 and not shown.out


PAST_THE_END = ("take_rows.cu", "row < rows &&", "row <= rows &&")
NO_BARRIER = ("matmul_components.cu", "    __syncthreads();\n#pragma", "#pragma")
EMBEDDING = ["--layout", "jagged", "--match", "embedding/float32/ragged/1"]
MATMUL = ["--layout", "jagged", "--match", "matmul/float32/dense-batch/1"]


@pytest.mark.parametrize(
    ("change", "options", "says"),
    [
        (NO_BARRIER, [*MATMUL, "--schedule", "random"], "elements differ)"),
        pytest.param(
            PAST_THE_END,
            [*EMBEDDING, "--sanitize", "address"],
            "SUMMARY: AddressSanitizer: heap-buffer-overflow",
            marks=pytest.mark.sanitizer,
        ),
        pytest.param(
            NO_BARRIER,
            [*MATMUL, "--sanitize", "thread"],
            "SUMMARY: ThreadSanitizer: data race",
            marks=pytest.mark.sanitizer,
        ),
    ],
    ids=["a value", "memory", "a race"],
)
def test_a_wrong_kernel_is_a_difference(change: tuple[str, str, str], options: list[str], says: str) -> None:
    file, old, new = change
    sanitizer = options[-1] if "--sanitize" in options else ""
    Emulator(sanitizer=sanitizer).compile_all()  # the command, which has little time, compiles the changed file only
    if not sanitizer:  # the sessions `emulated` of nox run the right kernels under the sanitizers
        right = run_python(None, ["-m", "pynested", *EMULATED, *options])
        assert right.returncode == 0, right.stdout + right.stderr
    fault = {"file": f"backends/kernels/{file}", "old": old, "new": new}
    wrong = run_python(fault, ["-m", "pynested", *EMULATED, *options])
    assert wrong.returncode == 1, wrong.stdout + wrong.stderr
    assert "pynested differs in" in wrong.stdout and says in wrong.stdout
    assert all(line.startswith("adapter: ") for line in wrong.stderr.splitlines())  # what a sanitizer has to say
    assert sanitizer or not wrong.stderr
    assert not sanitizer or f"{file}:" in wrong.stdout
