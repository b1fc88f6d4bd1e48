"""The command line: what it prints and with which code it ends."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pynested.cli import main
from pynested.conformance.records import read

Captured = pytest.CaptureFixture[str]


def conform(vectors: Path, command: Callable[[str], str], name: str, *more: str) -> int:
    return main(["conform", "--vectors", str(vectors), "--adapter", command(name), *more])


@pytest.mark.parametrize(("name", "code"), [("Right", 0), ("DropsRow", 1), ("Absent", 2), ("BrokenAdapter", 3)])
def test_exit_codes(vectors: Path, command: Callable[[str], str], name: str, code: int, capsys: Captured) -> None:
    assert conform(vectors, command, name) == code
    shown = capsys.readouterr()
    assert shown.err == ("pynested conform: there is no Absent here\n" if code == 2 else "")
    assert "\r" not in shown.out


def test_truncated_vectors_end_with_3(rewrite: Callable[..., Path], command: Callable[[str], str]) -> None:
    assert conform(rewrite(lambda cases: cases[:-1], count=3), command, "Right") == 3


def test_a_kept_run_can_be_shown_again(
    vectors: Path, command: Callable[[str], str], tmp_path: Path, capsys: Captured
) -> None:
    kept = tmp_path / "run.ndjson"
    assert conform(vectors, command, "DropsRow", "--json", str(kept), "--layout", "jagged") == 1
    first = capsys.readouterr().out
    assert main(["report", str(kept)]) == 1
    assert capsys.readouterr().out == first
    assert read(kept).header["selection"]["layout"] == ["jagged"]
    kept.write_text("".join(kept.read_text().splitlines(keepends=True)[:-1]))
    assert main(["report", str(kept)]) == 3


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["conform", "--op", "sotfmax"], "did you mean softmax"),
        (["conform", "--target", "troch"], "no target 'troch'; did you mean torch"),
        (["conform", "--match", "nothing/*"], "no case is selected"),
        (["explain", "SOFTMAX-33"], "did you mean SOFTMAX-"),
        (["report", "no-such-file"], "cannot read no-such-file"),
    ],
)
def test_wrong_usage_ends_with_2_and_one_line(arguments: list[str], text: str, vectors: Path, capsys: Captured) -> None:
    more = ["--vectors", str(vectors)] if arguments[0] == "conform" else []
    assert main([*arguments, *more]) == 2
    shown = capsys.readouterr()
    assert text in shown.err and shown.err.count("\n") == 1 and not shown.out


@pytest.mark.parametrize(
    "arguments", [[], ["conform", "--layout", "padded"], ["conform", "--class", "style"], ["dance"]]
)
def test_the_parser_ends_with_2(arguments: list[str], capsys: Captured) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "usage: pynested" in capsys.readouterr().err
