"""The command for a machine with a GPU keeps the results of its pieces, resumes there, and names the failures."""

from __future__ import annotations

import sys
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import pytest

from benchmarks import gpu
from pynested.spec.table import load_table


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
