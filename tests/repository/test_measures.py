"""The commands that compare two checkouts, count lines and calls, and run checks on a machine with a GPU."""

from __future__ import annotations

import json
import math
import re
import sys
from collections import Counter
from collections.abc import Callable
from itertools import chain, pairwise
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

from benchmarks import calls, compare, gpu, operators
from benchmarks.harness import Case, read_times, write_times
from pynested.spec.table import load_table
from tools import count

ROW = Case("relu", "nested", "short", "forward", "pynested")
TORCH = ROW._replace(contender="torch jagged")


@pytest.fixture
def status(tmp_path: Path) -> Any:
    """Compare two files of made-up times and return the exit status."""

    def compared(old: dict[Case, float], new: dict[Case, float], *words: str) -> int:
        write_times(old, tmp_path / "old.json")
        write_times(new, tmp_path / "new.json")
        return compare.main([str(tmp_path / "old.json"), str(tmp_path / "new.json"), *words])

    return compared


LIMITS = [  # operator, kind, load, option, and the largest ratio of the new time to the old time
    ("relu", "dense", "tiny", "--tiny-elementwise-dense", 2.5),
    ("relu", "nested", "tiny", "--tiny-elementwise-nested", 2.0),
    ("linear", "dense", "tiny", "--tiny", 1.6),
    ("linear", "nested", "tiny", "--tiny", 1.6),
    ("relu", "nested", "short", "--short", 1.5),
    ("linear", "dense", "long", "--long", 1.5),
    ("linear", "nested", "huge", "--long", 1.5),
]
TORCH_RATIOS = [  # load, our time and that of PyTorch's jagged layout before and after, and whether that is refused
    ("short", (2.0, 2.5), (2.5, 2.5), False),  # from 1.25 to 1
    ("short", (2.0, 2.5), (2.6, 2.5), True),  # from 1.25 to 0.96
    ("short", (2.0, 9.0), (2.6, 2.5), True),  # the same, by the least time of PyTorch
    ("short", (2.0, 2.5), (2.6, 9.0), True),
    ("long", (1.8, 0.9), (2.0, 0.9), False),  # from 0.5 to 0.45, nine tenths of it
    ("long", (1.8, 0.9), (2.1, 0.9), True),  # from 0.5 to 0.43
    ("long", (1.8, 0.9), (1.8, 0.1), False),  # PyTorch alone is quicker
    ("tiny", (2.0, 2.5), (2.6, 2.5), False),
]


def test_a_row_may_take_as_long_as_its_limit_says(status: Any) -> None:
    for operator, kind, load, option, limit in LIMITS:
        row = Case(operator, kind, load, "with gradient", "our strided")
        assert status({row: 2.0}, {row: 2.0 * limit}) == 0
        assert status({row: 2.0}, {row: 2.0 * limit + 0.1}) == 1
        assert status({row: 2.0}, {row: 2.0 * limit + 0.1}, option, str(limit + 0.1)) == 0


def test_the_time_of_torch_by_ours_has_a_limit_on_large_input(status: Any) -> None:
    for load, old, new, is_refused in TORCH_RATIOS:
        rows = ROW._replace(load=load), TORCH._replace(load=load)
        assert status(*(dict(zip(rows, times, strict=True)) for times in (old, new))) == is_refused, (load, old, new)


def test_rows_are_printed_by_load_with_the_worst_first(status: Any, capsys: Any) -> None:
    names = {"tiny": ("relu", "exp", "tanh"), "long": ("gelu", "linear")}
    rows = [ROW._replace(load=load, operator=name) for load, ops in names.items() for name in ops]
    old = dict.fromkeys(rows, 1.0)
    assert status(old, dict(zip(rows, (1.0, 2.5, 0.5, 1.25), strict=False))) == 1
    printed = capsys.readouterr().out
    ratios = [line.split() for line in printed.splitlines() if re.search(r" \d\.\d\d| inf", line)]
    columns = [(words[0], words[-2]) for words in ratios[:5]]
    assert columns == [("exp", "2.50"), ("relu", "1.00"), ("tanh", "0.50"), ("linear", "inf"), ("gelu", "1.25")]
    assert printed.splitlines()[-3] == "2 limits exceeded by 5 rows"
    assert sorted(line.split()[:2] for line in printed.splitlines()[-2:]) == [["long", "linear"], ["tiny", "exp"]]


def test_checkouts_run_in_alternated_rounds_and_the_minimum_counts(monkeypatch: Any, tmp_path: Path) -> None:
    old, new, other = tmp_path / "old", tmp_path / "new", TORCH
    order = []
    replies = {old: iter([{ROW: 3.0, other: 7.0}, {ROW: 2.0, other: 8.0}, {ROW: 4.0}]), new: iter([{ROW: 1.0}] * 3)}

    def run(checkout: Path, python: Path | None, words: list[str]) -> dict[Case, float]:
        order.append(checkout.name)
        return next(replies[checkout])

    monkeypatch.setattr(compare, "run", run)
    assert compare.times_in_rounds([old, new], 3, None, []) == [{ROW: 2.0, other: 7.0}, {ROW: 1.0}]
    assert order == ["old", "new", "new", "old", "old", "new"]


def test_a_checkout_is_run_by_the_given_interpreter(root: Path) -> None:
    words = ["--quick", "--op", "add", "--kind", "dense", "--kind", "nested", "--only", "pynested"]
    times = compare.run(root, Path(sys.executable), words)
    contenders = [("nested", "pynested"), ("nested", "our strided"), ("dense", "pynested")]
    directions = ("forward", "with gradient")
    assert times.keys() == {Case("add", kind, "tiny", way, name) for kind, name in contenders for way in directions}
    assert all(0 < seconds < math.inf for seconds in times.values())


def test_times_and_contenders_that_are_no_measure_are_refused(monkeypatch: Any, tmp_path: Path, status: Any) -> None:
    file = tmp_path / "times.json"
    file.write_text(json.dumps({"checkout": "/elsewhere", "rows": [{**ROW._asdict(), "seconds": 2.0}]}))
    assert read_times(file) == {ROW: 2.0}
    monkeypatch.setattr(operators, "INSTALLED", ["pynested", "numpy"])
    refusals: list[tuple[Callable[[], Any], str]] = [
        (lambda: read_times(file, tmp_path), "imported pynested from /elsewhere"),
        (lambda: compare.run(tmp_path, None, []), "python does not exist"),
        (lambda: status({TORCH: 1.0}, {TORCH: 1.0}), "no row of ours"),
        (lambda: operators.main(["--only", "pynested,torch"]), r"\Aoperators: [^\n]*torch is not installed[^\n]*\Z"),
        (lambda: operators.main(["--only", "pynested,jax"]), r"\Aoperators: [^\n]*unknown contender[^\n]*\Z"),
    ]
    for call, text in refusals:
        with pytest.raises(SystemExit, match=text):
            call()


LINES = {  # of files, and the area that counts them
    "tests/spec/b.py": (2, "specification"), "tests/operators/c.py": (4, "tests"), "pynested/d.py": (1, "pynested"),
    "pynested/conformance/f.py": (6, "kit"), "pynested/conformance/report_html/g.py": (7, "services"),
    "setup.py": (8, "elsewhere"),
}  # fmt: skip


def test_lines_are_counted_by_the_area_of_the_longest_beginning(tmp_path: Path) -> None:
    expected: Counter[str] = Counter()
    for name, (lines, area) in LINES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x\n" * lines, encoding="utf-8")
        expected[area] += lines
    assert count.lines_by_area(tmp_path, LINES) == expected


def test_functions_count_each_time_and_generators_and_comprehensions_do_not() -> None:
    text = """if True:
        def inner(x): return x
        def squares(): yield from (inner(x) for x in range(2))
        def outer(): return [inner(x) for x in range(3)], {inner(x) for x in range(4)}, {x: x for x in squares()}
    """
    due = ["outer"] + ["inner"] * (3 + 4 + 2)
    for folder, expected in ((calls.COUNTED[0], due), (calls.NOT_COUNTED[0], []), ("/elsewhere/", [])):
        names: dict[str, FunctionType] = {}
        exec(compile(text, f"{folder}made_up.py", "exec"), names)
        assert [code.co_name for code in calls.entered(names["outer"])] == expected


def python(name: str, code: str, needs: str = "") -> gpu.Piece:
    return gpu.Piece(name, f"Is {name} right?", (sys.executable, "-c", code), needs)


def test_pieces_are_kept_resumed_and_named_if_they_fail(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    pieces = [
        python("good", f"import tempfile; tempfile.mkstemp(dir={str(marks)!r}); print('all is well')"),
        python("bad", "print('something broke'); raise SystemExit(3)"),
        python("absent", "print('never')", "no_such_module"),
        python("slow", "import time; time.sleep(60)"),
    ]
    monkeypatch.setattr(gpu, "pieces", lambda device: iter(pieces))
    monkeypatch.setattr(gpu, "LIMIT", 2)

    def start(*words: str) -> tuple[int, str, int]:
        """Return the exit status, the page, and the number of runs of the first piece."""
        monkeypatch.setattr(sys, "argv", ["gpu", "--device", "emulated", "--folder", str(tmp_path / "kept"), *words])
        status = gpu.main()
        return status, (tmp_path / "kept" / "page.md").read_text(encoding="utf-8"), len(list(marks.iterdir()))

    status, page, runs = start("--minutes", "0.01")  # too few to begin a piece
    assert (status, runs) == (0, 0) and "not asked yet" in page
    status, page, runs = start()
    assert (status, runs) == (1, 1)
    late, absent = "failed it took more than 2 seconds", "left out no_such_module is not here"
    endings = "passed", "failed exit status 3", absent, late
    for piece, ending in zip(pieces, endings, strict=True):
        assert f"| {piece.name} | Is {piece.name} right? | {ending} |" in page
    assert "all is well" in page and "something broke" in page and "never'" not in page
    assert start()[2] == 1
    assert start("--only", "good")[2] == 2
    with pytest.raises(SystemExit):
        start("--only", "nothing")


@pytest.mark.parametrize("device", ["cuda", "emulated"])
def test_every_operator_and_every_program_is_asked_once(device: str) -> None:
    pieces = list(gpu.pieces(device))
    assert len({piece.name for piece in pieces}) == len(pieces)
    words = [pairwise(piece.command) for piece in pieces if piece.name.startswith("conform")]
    asked = [word for before, word in chain.from_iterable(words) if before == "--op"]
    table = load_table().items()
    assert sorted(asked) == sorted(name for name, operator in table if operator.has_programs or not operator.is_idea)
