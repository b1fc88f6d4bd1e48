"""The command line: what it prints and with which code it ends."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pynested.cli import main
from pynested.conformance.records import read

Captured = pytest.CaptureFixture[str]
Hostile = Callable[[str], list[str]]


def program(text: str) -> str:
    """The command that runs this Python."""
    return shlex.join([sys.executable, "-c", text])


def conform(vectors: Path, command: Callable[[str], str], name: str, *more: str) -> int:
    return main(["conform", "--vectors", str(vectors), "--adapter", command(name), *more])


@pytest.mark.parametrize(("name", "code"), [("Right", 0), ("DropsRow", 1), ("BrokenAdapter", 3)])
def test_exit_codes(vectors: Path, command: Callable[[str], str], name: str, code: int, capsys: Captured) -> None:
    assert conform(vectors, command, name) == code
    shown = capsys.readouterr()
    assert not shown.err and "\r" not in shown.out


def test_a_target_that_is_not_there_is_one_line_and_2(vectors: Path, hostile: Hostile, capsys: Captured) -> None:
    assert conform(vectors, lambda name: shlex.join(hostile(name)), "StartAbsent") == 2
    shown = capsys.readouterr()
    assert shown.err == "pynested conform: there is no StartAbsent here\n" and not shown.out


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
    kept.write_bytes(kept.read_bytes()[:-200])
    assert main(["report", str(kept)]) == 3
    assert "This run broke off: it has 2 of 3 results. The last is " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["conform", "--op", "sotfmax"], "did you mean softmax"),
        (["conform", "--target", "troch"], "no target 'troch'; did you mean torch"),
        (["conform", "--match", "nothing/*"], "no case is selected"),
        (["explain", "SOFTMAX-33"], "did you mean SOFTMAX-"),
        (["explain", "amax/float32/minus-inf/9"], "did you mean amax/float32/minus-inf/1"),
        (["report", "no-such-file"], "cannot read no-such-file"),
        (["report", __file__], "not a stream of records"),
        (["report", os.devnull], "does not begin with a header"),
        (["conform", "--vectors", "no-such-folder"], "no-such-folder: holds no vectors"),
        (["conform", "--adapter", ""], "--adapter is empty"),
        (["conform", "--adapter", "'"], "is not a command: No closing quotation"),
        (["conform", "--adapter", "no-such-program"], "cannot start the adapter 'no-such-program'"),
        (["conform", "--adapter", program("print(1)")], "expected a JSON object"),
        (["conform", "--adapter", program("print([])")], "expected a JSON object"),
        (["conform", "--adapter", program("print(input())")], "expected protocol 2, name and version"),
        (["conform", "--adapter", program("print()")], "did not start"),
        (["conform", "--adapter", program("pass")], "did not start: exit code 0"),
        (["conform", "--adapter", program("input();input()"), "--timeout", "0.3"], "did not answer start"),
    ],
)
def test_wrong_usage_ends_with_2_and_one_line(arguments: list[str], text: str, vectors: Path, capsys: Captured) -> None:
    more = ["--vectors", str(vectors)] if arguments[0] == "conform" and "--vectors" not in arguments else []
    assert main([*arguments, *more]) == 2
    shown = capsys.readouterr()
    assert text in shown.err and shown.err.count("\n") == 1 and not shown.out


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["dance"],
        ["conform", "--layout", "padded"],
        ["conform", "--class", "style"],
        *(["conform", "--timeout", seconds] for seconds in ("-1", "0", "nan", "inf", "soon", "1e300", "1e10")),
    ],
)
def test_the_parser_ends_with_2(arguments: list[str], capsys: Captured) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "usage: pynested" in capsys.readouterr().err
