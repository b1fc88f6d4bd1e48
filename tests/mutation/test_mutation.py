"""Every fault can be planted and changes something; suites and the gate notice faults, and pass without one."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import pynested as pn
from tests.mutation.__main__ import append_kill, read_kills
from tests.mutation.gate import (
    FOLDERS,
    LIKELY,
    ROOT,
    SURVIVED,
    Fault,
    first_failure,
    likely_modules,
    mirrors,
    planted_faults,
    random_faults,
)
from tests.mutation.plant import NOT_PLANTED, FaultError, Row, changed_text, environment, load, planted
from tests.mutation.suites import KILLED, TABLES, faults, outcome, run_python
from tests.mutation.token_changes import draw_changes

LEAST = {  # rows of each table, those that cannot be seen from outside among them
    "operators": 71, "pynested": 75, "programs": 27, "gradients": 28, "graph": 30, "cuda": 70, "small": 57, "torch": 54,
}  # fmt: skip
SOME = [
    ("operators", "the last row of a component is dropped"),
    ("operators", "relu of NaN is 0"),
    ("operators", "writes are not counted"),
]
X = pn.nested_array([[1.0, -2.0], [3.0, 4.0, 5.0]], layout=pn.jagged)
SOURCE = '''"""True or False: 0."""


def sign(x: int | None = 0) -> int:
    """Return 1, 0 or -1."""
    if x is None or x == 0:
        return 0
    y = x
    return 1 if y > 0 else -1
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "signs.py").write_text(SOURCE, encoding="utf-8")
    return tmp_path


def test_all_changes_of_a_small_file(folder: Path) -> None:
    changes = draw_changes(folder, ["."], seed=1, count=1000)
    lines = SOURCE.splitlines()
    changed = [(change.line, change.apply(SOURCE).splitlines()[change.line - 1].strip()) for change in changes]
    assert sorted(changed) == sorted(
        [
            (4, "def sign(x: int | None = 1) -> int:"),
            (6, "if x is not None or x == 0:"),
            (6, "if x is None and x == 0:"),
            (6, "if x is None or x != 0:"),
            (6, "if x is None or x == 1:"),
            (7, "return 1"),
            (8, "pass"),
            (9, "return 0 if y > 0 else -1"),
            (9, "return 1 if y >= 0 else -1"),
            (9, "return 1 if y > 1 else -1"),
            (9, "return 1 if y > 0 else +1"),
            (9, "return 1 if y > 0 else -0"),
        ]
    )
    for change in changes:
        pairs = zip(lines, change.apply(SOURCE).splitlines(), strict=True)
        assert [number for number, (old, new) in enumerate(pairs, start=1) if old != new] == [change.line]


def test_the_seed_decides(folder: Path) -> None:
    draws = [draw_changes(folder, ["."], seed=seed, count=5) for seed in (1, 1, 2)]
    assert draws[0] == draws[1] != draws[2]


def test_a_fault_is_mirrored_by_the_nearest_folder_of_tests() -> None:
    files = ("pynested/operators/losses.py", "backends/cuda/segment.py", "backends/kernels/pad.cu", "setup.py")
    assert [mirrors({"file": file}) for file in files] == [
        ["tests/operators"], ["tests/backends/cuda"], ["tests/backends/cuda"], [],
    ]  # fmt: skip
    assert mirrors({"kernel": "relu"})[0] == "tests/backends" and mirrors({"primitive": "mul"})[0] == "tests/autograd"


def test_modules_that_noticed_most_run_first() -> None:
    first, second = "tests/ragged/test_structure.py", "tests/ragged/test_windows.py"
    kills = {"a": second, "b": first, "c": first, "d": SURVIVED, "e": "tests/operators/test_law.py"}
    assert likely_modules(kills, ["tests/ragged"], []) == [*LIKELY, first, second]
    assert likely_modules(kills, ["tests/ragged"], [first]) == [*LIKELY, second]


@pytest.mark.parametrize("table", TABLES)
def test_every_row_can_be_planted(table: str) -> None:
    rows = load(table)
    assert len(rows) >= LEAST[table]
    for name, row in rows.items():
        assert sum(key in row for key in ("op", "test", "check")) == 1, name
        if "test" in row:
            file, *names = row["test"].split("::")  # a module, or the class and the function of one of its tests
            text = (ROOT / file).read_text(encoding="utf-8")
            assert all(re.search(rf"(def|class) {test.partition('[')[0]}\b", text) for test in names), name
        if "file" not in row:
            with planted(row):
                pass
        elif table != "torch" or find_spec("torch") is not None:
            text = changed_text(row)
            if row["file"].endswith(".py"):
                compile(text, row["file"], "exec")


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"kernel": "relux", "new": "lambda original, x: -x"}, "no kernel 'relux'"),
        ({"kernel": "relu", "device": "plane", "new": "lambda original, x: -x"}, "no backend for device 'plane'"),
        ({"primitive": "mull", "vjp": "lambda g, right: -right"}, "no primitive 'mull'"),
        ({"function": "pn.softmacks", "new": "lambda original, x: -x"}, "no public function 'pn.softmacks'"),
        ({"function": "numpy.exp", "new": "lambda original, x: -x"}, "no public function 'numpy.exp'"),
        ({"kernal": "relu", "new": "lambda original, x: -x"}, "needs one of kernel"),
        ({"kernel": "relu", "new": "lambda original, *a, **k: original(*a, **k)"}, "changes nothing"),
        ({"primitive": "mul", "vjp": "lambda g, right: right"}, "changes nothing"),
        ({"file": "backends/storage.py", "old": "no such text", "new": ""}, "holds 0 times, not once"),
        ({"file": "backends/storage.py", "old": "self.version += 1", "new": "self.version +=  1"}, "changes nothing"),
    ],
)  # fmt: skip
def test_a_row_that_names_or_changes_nothing_is_an_error(row: Row, says: str) -> None:
    with pytest.raises((FaultError, pn.errors.PynestedError), match=says), environment(row) as variables:
        assert variables["PYTHONPATH"]
        with planted(row):
            pass


def test_a_process_that_cannot_plant_its_fault_ends_with_a_status_of_its_own() -> None:
    done = run_python({"kernel": "relux", "new": "lambda original, x: -x"}, ["-c", "import pynested"])
    assert done.returncode == NOT_PLANTED and "no kernel 'relux'" in done.stderr


@pytest.mark.parametrize(
    ("row", "call", "wrong"),
    [
        ({"kernel": "relu", "new": "lambda original, x: original(x) + 1"}, lambda: X.relu().sum(1), [3, 15]),
        ({"kernel": "segment_sum", "new": "lambda original, *a: 2 * original(*a)"}, lambda: X.sum(1), [-2, 24]),
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


@pytest.mark.parametrize(("table", "name"), SOME, ids=[name for _, name in SOME])
def test_a_planted_fault_is_killed(table: str, name: str) -> None:
    row = load(table)[name]
    verdict, printed = outcome(table, row, row)
    assert verdict == KILLED, printed[-3000:]


def run_command(*options: str) -> str:
    """Return what ``python -m tests.mutation`` prints."""
    command = [sys.executable, "-m", "tests.mutation", *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


@pytest.mark.exhaustive
@pytest.mark.parametrize("table", ["operators", "gradients", "graph", "cuda"])
def test_every_thirtieth_fault_of_a_table_is_killed(table: str) -> None:
    for name, row in list(faults(table).items())[::30]:
        verdict, printed = outcome(table, row, row)
        assert verdict == KILLED, f"{name}: {verdict}\n{printed[-3000:]}"


def test_without_a_fault_all_suites_pass() -> None:
    rows = [load(table)[name] for table, name in SOME]
    ops = sorted({op for row in rows for op in row.get("op", [])})
    for suite in ({"op": ops}, *[row for row in rows if "test" in row]):
        verdict, printed = outcome("operators", None, suite)
        assert verdict == SURVIVED, printed[-3000:]


def test_the_command_prints_the_kill_rate() -> None:
    printed = run_command("small", "--only", "relu drops NaN")
    assert "killed    relu drops NaN" in printed and "small: 1 of 1 faults killed, 100 %" in printed


def test_the_gate_has_token_changes_of_all_folders_and_all_rows_of_our_own_code() -> None:
    assert all((ROOT / folder).is_dir() for folder in FOLDERS)
    assert len(random_faults(1, 5)) == 5 and len({fault.name for fault in planted_faults()}) >= 319


def test_the_module_that_notices_a_fault_is_named() -> None:
    row = {"kernel": "segment_cumsum", "new": "lambda original, *a, **k: original(*a, **k) + 1"}
    assert first_failure(Fault("sums that are one too large", row)) == "tests/operators/test_law.py"


@pytest.mark.parametrize(
    ("table", "name", "noticed_by"),
    [
        ("operators", "relu of NaN is 0", "spec/vectors: relu"),
        ("cuda", "the maximum forgets NaN", "tests/backends/kernel_checks: segment_argmax"),
    ],
)
def test_what_the_row_of_a_fault_names_runs_first(table: str, name: str, noticed_by: str) -> None:
    assert first_failure(Fault(name, load(table)[name], table)) == noticed_by


def test_rows_are_appended_and_read(tmp_path: Path) -> None:
    file = tmp_path / "kills.csv"
    assert read_kills(file) == {}
    append_kill(file, 'a.py:1:2 "x", y', "tests/a/test_b.py", 1.6)
    append_kill(file, "another", SURVIVED, 2.2)
    assert read_kills(file) == {'a.py:1:2 "x", y': "tests/a/test_b.py", "another": SURVIVED}
    assert file.read_text(encoding="utf-8").splitlines()[0] == "fault,noticed by,seconds"
