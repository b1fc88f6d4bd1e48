"""Every fault can be planted and changes something; suites and the gate notice faults, and pass without one."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import pynested as pn
from tests.mutation.__main__ import append_kill, read_kills
from tests.mutation.gate import FOLDERS, ROOT, SURVIVED, Fault, first_failure, planted_faults, random_faults
from tests.mutation.plant import FaultError, Row, changed_file, load, planted
from tests.mutation.suites import KILLED, TABLES, faults, outcome
from tests.mutation.token_changes import draw_changes

X = pn.nested_array([[1.0, -2.0], [3.0, 4.0, 5.0]], layout=pn.jagged)
SOURCE = '''"""True: 0."""


def sign(x: int | None) -> int:
    y = x or 0
    return 1 if y > 0 else -1
'''


def test_all_changes_of_a_small_file(tmp_path: Path) -> None:
    (tmp_path / "signs.py").write_text(SOURCE, encoding="utf-8")
    changed = {
        (number, new.strip())
        for _, text in draw_changes(tmp_path, ["."], seed=1, count=1000)
        for number, (old, new) in enumerate(zip(SOURCE.splitlines(), text.splitlines(), strict=True), start=1)
        if old != new
    }
    assert changed == {
        (5, "y = x and 0"),
        (5, "y = x or 1"),
        (5, "pass"),
        (6, "return 0 if y > 0 else -1"),
        (6, "return 1 if y >= 0 else -1"),
        (6, "return 1 if y > 1 else -1"),
        (6, "return 1 if y > 0 else +1"),
        (6, "return 1 if y > 0 else -0"),
    }
    draws = [draw_changes(tmp_path, ["."], seed=seed, count=5) for seed in (1, 1, 2)]
    assert draws[0] == draws[1] != draws[2]


@pytest.mark.parametrize("table", TABLES)
def test_every_row_can_be_planted(table: str) -> None:
    for name, row in load(table).items():
        assert sum(key in row for key in ("op", "test", "check")) == 1, name
        if "test" in row:
            file, *names = row["test"].split("::")  # a module, or the class and the function of one of its tests
            text = (ROOT / file).read_text(encoding="utf-8")
            assert all(re.search(rf"(def|class) {test.partition('[')[0]}\b", text) for test in names), name
        if "file" not in row:
            with planted(row):
                pass
        else:
            file, text = changed_file(row)
            if file.endswith(".py"):
                compile(text, file, "exec")


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"kernel": "relux", "new": "lambda original, x: -x"}, "no kernel 'relux'"),
        ({"kernel": "relu", "device": "plane", "new": "lambda original, x: -x"}, "no backend for device 'plane'"),
        ({"primitive": "mull", "vjp": "lambda g, right: -right"}, "no primitive 'mull'"),
        ({"function": "numpy.exp", "new": "lambda original, x: -x"}, "no public function 'numpy.exp'"),
        ({"kernal": "relu", "new": "lambda original, x: -x"}, "needs one of kernel"),
        ({"file": "backends/storage.py", "old": "no such text", "new": ""}, "holds 0 times, not once"),
    ],
)
def test_a_row_that_names_nothing_is_an_error(row: Row, says: str) -> None:
    with pytest.raises((FaultError, pn.errors.PynestedError), match=says):
        changed_file(row)


@pytest.mark.parametrize(
    ("row", "call", "wrong"),
    [
        ({"kernel": "relu", "new": "lambda original, x: original(x) + 1"}, lambda: X.relu().sum(1), [3, 15]),
        ({"kernel": "add", "new": "lambda original, *a: original(*a) + 1"}, lambda: (X + 0).sum(1), [1, 15]),
        ({"primitive": "neg", "new": "lambda original, x: x + 1"}, lambda: (-X).sum(1), [1, 15]),
        ({"primitive": "square", "vjp": "lambda g, right: right + 1"},
         lambda: pn.grad(pn.square(x := X.clone().requires_grad_()).sum(), x).sum(1), [0, 27]),
        ({"function": "pn.mul", "new": "lambda original, *a: original(*a) + 1"}, lambda: (X * 1).sum(1), [1, 15]),
        ({"function": "pn.neg", "new": "lambda original, x: x"}, lambda: X.neg().sum(1), [-1, 12]),
        ({"function": "pn.NestedArray.values", "new": "lambda original, x: -original(x)"},
         lambda: X.values(), [-1, 2, -3, -4, -5]),
    ],
)  # fmt: skip
def test_every_way_to_a_name_leads_to_its_replacement(row: Row, call: Any, wrong: list[float]) -> None:
    right = call().tolist()
    with planted(row):
        assert call().tolist() == wrong
    assert call().tolist() == right != wrong


@pytest.mark.exhaustive
@pytest.mark.parametrize("table", ["operators", "gradients", "graph", "cuda"])
def test_every_sixtieth_fault_of_a_table_is_killed(table: str) -> None:
    for name, row in list(faults(table).items())[::60]:
        verdict, printed = outcome(table, row, row)
        assert verdict == KILLED, f"{name}: {verdict}\n{printed[-3000:]}"


def test_without_a_fault_a_suite_passes() -> None:
    row = load("operators")["writes are not counted"]
    for suite in ({"op": ["unbind", "relu"]}, row):
        verdict, printed = outcome("operators", None, suite)
        assert verdict == SURVIVED, printed[-3000:]


def test_the_command_prints_the_kill_rate() -> None:
    command = [sys.executable, "-m", "tests.mutation", "small", "--only", "relu drops NaN"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "killed    relu drops NaN" in printed and "small: 1 of 1 faults killed, 100 %" in printed


def test_the_gate_has_token_changes_of_all_folders_and_the_rows_of_our_own_code() -> None:
    assert all((ROOT / folder).is_dir() for folder in FOLDERS)
    assert len(random_faults(1, 5)) == 5
    assert {fault.table for fault in planted_faults()} == {*TABLES} - {"small"}


NOTICED = {  # the module that notices a fault of a table
    ("operators", "the last row of a component is dropped"): "spec/vectors: unbind",
    ("operators", "writes are not counted"): "tests/autograd/test_backward.py",
    ("cuda", "the maximum forgets NaN"): "tests/backends/kernel_checks: segment_argmax",
}
SUMS_TOO_LARGE = {"kernel": "segment_cumsum", "new": "lambda original, *a, **k: original(*a, **k) + 1"}


def test_the_module_that_notices_a_fault_is_named() -> None:
    for (table, name), noticed_by in NOTICED.items():
        assert first_failure(Fault(name, load(table)[name], table)) == noticed_by
    assert first_failure(Fault("sums that are one too large", SUMS_TOO_LARGE)) == "tests/operators/test_law.py"


def test_rows_are_appended_and_read(tmp_path: Path) -> None:
    file = tmp_path / "kills.csv"
    assert read_kills(file) == {}
    append_kill(file, 'a.py:1:2 "x", y', "tests/a/test_b.py", 1.6)
    append_kill(file, "another", SURVIVED, 2.2)
    assert read_kills(file) == {'a.py:1:2 "x", y': "tests/a/test_b.py", "another": SURVIVED}
    assert file.read_text(encoding="utf-8").splitlines()[0] == "fault,noticed by,seconds"
