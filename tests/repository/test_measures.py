"""The commands that compare two checkouts, count lines and calls, and run checks on a machine with a GPU."""

from __future__ import annotations

import json
import math
import re
import sys
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
    ("short", (1.0, 4.0), (1.0, 1.0), False),  # from 4 to 1
    ("short", (1.0, 4.0), (1.0, 0.9), True),  # from 4 to 0.9
    ("long", (2.0, 1.0), (2.0, 0.9), False),  # from 0.5 to 0.45, nine tenths of it
    ("long", (2.0, 1.0), (2.0, 0.8), True),  # from 0.5 to 0.4
    ("long", (2.0, 1.0), (2.5, 1.0), True),  # from 0.5 to 0.4, because ours takes longer
    ("tiny", (1.0, 4.0), (1.0, 0.5), False),
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


def test_checkouts_run_in_alternated_rounds_and_the_minimum_counts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
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


def test_times_and_contenders_that_are_no_measure_are_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, status: Any
) -> None:
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


AREAS = {
    "autograd/tape.py": "autograd, backends",
    "backends/cuda/backend.py": "autograd, backends",
    "pynested/operators/scan.py": "pynested",
    "pynested/graph/nodes.py": "services",
    "pynested/conformance/report_html/renderer.py": "services",
    "tools/count.py": "services",
    "pynested/conformance/judge.py": "kit",
    "pynested/cli.py": "kit",
    "tests/fuzz/run.py": "kit",
    "tests/fuzzing/cluster.py": "kit",
    "tests/spec/test_bounds.py": "specification",
    "spec/generator/build.py": "specification",
    "tests/operators/test_law.py": "tests",
    "setup.py": "elsewhere",
}


def test_lines_are_counted_by_area(tmp_path: Path) -> None:
    assert {path: count.area_of(path) for path in AREAS} == AREAS
    texts = {"spec/a.py": "one\ntwo\nthree\n", "tests/spec/b.py": "\n\n", "autograd/c.py": "one"}
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert count.lines_by_area(tmp_path, texts) == {"specification": 3 + 2, "autograd, backends": 0}


def test_functions_count_each_time_and_generators_and_comprehensions_do_not() -> None:
    text = """if True:
        def inner(x): return x
        def squares(): yield from (inner(x) for x in range(2))
        def outer(): return [inner(x) for x in range(3)], {inner(x) for x in range(4)}, {x: x for x in squares()}
    """
    for folder, expected in (
        (calls.COUNTED[0], ["outer"] + ["inner"] * (3 + 4 + 2)),
        (calls.NOT_COUNTED[0], []),
        ("/elsewhere/", []),
    ):
        names: dict[str, FunctionType] = {}
        exec(compile(text, f"{folder}made_up.py", "exec"), names)
        assert [code.co_name for code in calls.entered(names["outer"])] == expected


# ---- a machine with a GPU: results of pieces are kept, a run resumes, and failures are named ------------------------


def python(name: str, code: str, needs: str = "") -> gpu.Piece:
    return gpu.Piece(name, f"Is {name} right?", (sys.executable, "-c", code), needs)


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Return a function that starts the command on three small pieces and counts the runs of the first."""
    marks = tmp_path / "marks"
    marks.mkdir()
    three = [
        python("good", f"import tempfile; tempfile.mkstemp(dir={str(marks)!r}); print('all is well')"),
        python("bad", "print('something broke'); raise SystemExit(3)"),
        python("absent", "print('never')", "no_such_module"),
    ]
    monkeypatch.setattr(gpu, "pieces", lambda device: iter(three))

    def run(*words: str) -> tuple[int, str, int]:
        monkeypatch.setattr(sys, "argv", ["gpu", "--device", "emulated", "--folder", str(tmp_path / "kept"), *words])
        status = gpu.main()
        return status, (tmp_path / "kept" / "page.md").read_text(encoding="utf-8"), len(list(marks.iterdir()))

    return run


def test_the_page_says_how_each_piece_ended(start: Any) -> None:
    status, page, _ = start()
    assert status == 1
    assert "| good | Is good right? | passed |" in page
    assert "| bad | Is bad right? | failed exit status 3 |" in page
    assert "| absent | Is absent right? | left out no_such_module is not here |" in page
    assert "all is well" in page and "something broke" in page and "never'" not in page


def test_a_piece_that_was_done_runs_again_only_if_it_is_named(start: Any) -> None:
    status, page, marks = start("--minutes", "1")  # too few to begin a piece
    assert (status, marks) == (0, 0) and "not asked yet" in page
    assert start("--minutes", "30")[2] == 1
    assert start()[2] == 1
    assert start("--only", "good")[2] == 2
    with pytest.raises(SystemExit):
        start("--only", "nothing")


def test_a_piece_that_takes_too_long_failed(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "LIMIT", 0.2)
    monkeypatch.setattr(gpu, "pieces", lambda device: iter([python("slow", "import time; time.sleep(60)")]))
    status, page, _ = start()
    assert status == 1 and "failed it took more than 0.2 seconds" in page


@pytest.mark.parametrize("device", ["cuda", "emulated"])
def test_every_operator_and_every_program_is_asked_once(device: str) -> None:
    pieces = list(gpu.pieces(device))
    assert len({piece.name for piece in pieces}) == len(pieces)
    words = [pairwise(piece.command) for piece in pieces if piece.name.startswith("conform")]
    asked = [word for before, word in chain.from_iterable(words) if before == "--op"]
    table = load_table().items()
    assert sorted(asked) == sorted(name for name, operator in table if operator.has_programs or not operator.is_idea)
