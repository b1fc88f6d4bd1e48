"""The reader of the vectors in JavaScript agrees with them, and every word of them matters to it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from pynested.spec.generator.write import FOLDER

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="node, which the reader needs, is not installed here")

FAULTS = {
    "an infinity is no number near another": (": Object.is(got, high); // an infinity, or NaN", ": false;"),
    "what may overflow": ('if (open?.[place] === "1" && !Number.isFinite(got)) return true;', ""),
    "a zero of either sign": ("z: got === 0", "z: Object.is(got, -0)"),
    "any NaN": ("n: Number.isNaN(got)", "n: false"),
    "1.0 is no integer": ('if (!asked.every((d) => typeof d === "bigint"))', "if (false)"),
    "an int64 has more digits than a float64": ("return BigInt(value.int)", "return BigInt(Number(value.int))"),
    "an integer wraps around": ("BigInt.asIntN(4 * WIDTH[dtype], x)", "x"),
    "a float is rounded": ("Math.fround(x)", "x"),
    "components are as long as they are": ("place % part.sizes[d]", "place % sizes[d]"),
}


def run(program: Path, *arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [str(NODE), str(program), *arguments], capture_output=True, text=True, timeout=60, check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_a_reader_in_another_language_agrees_with_the_vectors(root: Path) -> None:
    code, said = run(root / "docs" / "vectors.mjs")
    agree = {op: int(count) for op, count in re.findall(r"^(\w+): (\d+) agree", said, re.MULTILINE)}
    assert code == 0 and "differ" not in said.lower()
    assert list(agree) == ["add", "exp", "masked_fill", "sum"] and min(agree.values()) > 15 and agree["sum"] > 150


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the vectors of the four operators only."""
    folder = tmp_path_factory.mktemp("vectors")
    for op in ("add", "exp", "masked_fill", "sum"):
        for path in FOLDER.glob(f"*/{op}.*"):
            (folder / path.parent.name).mkdir(exist_ok=True)
            shutil.copy(path, folder / path.parent.name / path.name)
    return folder


@pytest.mark.parametrize("name", FAULTS)
def test_a_reader_with_a_fault_differs(root: Path, few: Path, tmp_path: Path, name: str) -> None:
    right, wrong = FAULTS[name]
    text = (root / "docs" / "vectors.mjs").read_text(encoding="utf-8")
    assert text.count(right) == 1
    program = tmp_path / "vectors.mjs"
    program.write_text(text.replace(right, wrong), encoding="utf-8")
    code, said = run(program, str(few))
    assert code == 1 and "differs: " in said


@pytest.mark.parametrize(("old", "new"), [("vectors/2", "vectors/1"), ('"count":', '"count":1')])
def test_a_file_that_is_cut_or_of_another_format_is_refused(root: Path, tmp_path: Path, old: str, new: str) -> None:
    text = (FOLDER / "scan" / "cumsum.json").read_text(encoding="utf-8")
    (tmp_path / "cumsum.json").write_text(text.replace(old, new, 1), encoding="utf-8")
    code, said = run(root / "docs" / "vectors.mjs", str(tmp_path))
    assert code == 1 and "cumsum.json: pynested-vectors" in said
