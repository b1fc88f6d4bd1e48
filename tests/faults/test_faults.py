"""The planted faults are what they claim to be: many, single, in code that runs; and the machinery tells them apart."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.faults.plant import KILLED, KINDS, SURVIVED, Small, changed, load

LEAST = {"pynested": 40, "programs": 20, "small": 40, "torch": 40}
HERE = [kind for kind in KINDS if kind != "torch" or find_spec("torch") is not None]


@pytest.mark.parametrize("kind", KINDS)
def test_there_are_enough_faults(kind: str) -> None:
    faults = load(kind)
    assert len([name for name, fault in faults.items() if "equivalent" not in fault]) >= LEAST[kind]
    assert all(fault["op"] and fault["old"] != fault["new"] for fault in faults.values())


@pytest.mark.parametrize("kind", HERE)
def test_every_fault_is_in_one_place_and_leaves_code_that_compiles(kind: str) -> None:
    for fault in load(kind).values():
        compile(changed(kind, fault), fault["file"], "exec")


def test_the_small_implementation_is_right_without_a_fault(tmp_path: Path) -> None:
    ops = sorted({op for fault in load("small").values() for op in fault["op"]})
    code, results = Small(tmp_path).conform([sys.executable, "tests/conformance/small"], ops)
    parts = [verdict for result in results for verdict in result["parts"].values()]
    assert code == 0 and parts.count("ok") > 500


def test_a_fault_that_matters_is_killed_and_one_that_does_not_survives(tmp_path: Path) -> None:
    fault = load("small")["relu drops NaN"]
    assert Small(tmp_path).outcome(fault) == KILLED
    assert Small(tmp_path).outcome({**fault, "new": f"{fault['old']} "}) == SURVIVED


def test_the_command_prints_the_kill_rate() -> None:
    line = [sys.executable, "-m", "tests.faults", "small", "--only", "relu drops NaN", "--workers", "1"]
    done = subprocess.run(line, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True)
    assert "killed    relu drops NaN\n" in done.stdout and "small: 1 of 1 faults killed, 100 %" in done.stdout
