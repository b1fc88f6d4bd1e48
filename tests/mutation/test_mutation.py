"""Drawn changes are single, reproducible and compile; the gate names the test module that notices a fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutation.__main__ import append_kill, read_kills
from tests.mutation.gate import FOLDERS, ROOT, SURVIVED, clone, first_failure, mirrors, planted_faults
from tests.mutation.token_changes import draw_changes

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


def test_a_file_is_mirrored_by_the_nearest_folder_of_tests() -> None:
    assert mirrors("pynested/operators/losses/entropy.py") == ["tests/operators"]
    assert mirrors("backends/cuda/segment.py") == ["tests/backends/cuda"]
    assert mirrors("autograd/rules/kinds/elementwise.py") == ["tests/autograd"]
    assert mirrors("pynested/cli.py") == []


def test_every_planted_fault_changes_its_file() -> None:
    for fault in planted_faults():
        text = (ROOT / fault.file).read_text(encoding="utf-8")
        assert fault.apply(text) != text, fault.name


def test_the_folders_of_random_faults_exist() -> None:
    assert all((ROOT / folder).is_dir() for folder in FOLDERS)


def test_the_module_that_notices_a_fault_is_named(tmp_path: Path) -> None:
    name = "components with holes that fill the rows are taken for packed"
    fault = next(fault for fault in planted_faults() if fault.name == name)
    assert first_failure(clone(tmp_path / "copy"), fault) == "tests/structure/test_structure.py"


def test_rows_are_appended_and_read(tmp_path: Path) -> None:
    file = tmp_path / "kills.csv"
    assert read_kills(file) == {}
    append_kill(file, 'a.py:1:2 "x", y', "tests/a/test_b.py", 1.6)
    append_kill(file, "another", SURVIVED, 2.2)
    assert read_kills(file) == {'a.py:1:2 "x", y': "tests/a/test_b.py", "another": SURVIVED}
    assert file.read_text(encoding="utf-8").splitlines()[0] == "fault,noticed by,seconds"
