"""Where not everything can be written the command says so, and its exit code is not that of a difference."""

from __future__ import annotations

import errno
import io
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pynested.cli import main
from pynested.conformance.printable import printable, write
from pynested.conformance.problems import OutputError
from pynested.conformance.records import Run, read

from .conftest import is_gone

Captured = pytest.CaptureFixture[str]
Hostile = Callable[[str], list[str]]
COMMAND = [sys.executable, "-m", "pynested"]

needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")


@pytest.fixture
def kept(run: Callable[..., Run], tmp_path: Path) -> Path:
    """The records of a target that differs."""
    run("DropsRow", keep=tmp_path / "run.ndjson")
    return tmp_path / "run.ndjson"


# --- text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, and µ · …", "plain, and µ · …"),
        ("\x1b[31m\x00\x7f\x9b", r"\x1b[31m\x00\x7f\x9b"),
        ("a\r\nb\tc", r"a\r\nb\tc"),
        ("\u202eabc\u2066\u2028\ufeff", r"\u202eabc\u2066\u2028\ufeff"),
        ("\ud800 \U000e0041", r"\ud800 \U000e0041"),
    ],
)
def test_what_is_invisible_is_shown_as_an_escape(text: str, shown: str) -> None:
    assert printable(text) == shown and shown.isprintable()


def test_long_text_is_cut() -> None:
    assert printable("x" * 10, 10) == "x" * 10 and printable("x" * 11, 10) == "x" * 9 + "…"


def test_records_of_strangers_do_not_command_a_terminal(kept: Path, capsys: Captured) -> None:
    text = kept.read_text()
    kept.write_text(text.replace('"got": "', '"got": "\\u001b[2J\\u202e').replace("DropsRow", "Drops\\u0007Row"))
    assert main(["report", "-v", str(kept)]) == 1
    shown = capsys.readouterr().out
    assert r"got       \x1b[2J\u202e" in shown and r"Drops\x07Row differs" in shown
    assert all(map(str.isprintable, shown.splitlines()))


class Broken(io.StringIO):
    def flush(self) -> None:
        raise OSError(errno.EIO, "the terminal is gone")


@pytest.mark.parametrize("stream", [None, Broken()])
def test_what_cannot_be_written_is_an_error_of_its_own(stream: io.StringIO | None) -> None:
    with pytest.raises(OutputError, match="is closed|the terminal is gone"):
        write("x", stream)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp437", "utf-8"])
def test_every_encoding_will_do(kept: Path, monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", out)
    write("1 · 2 … 日\n", out)
    assert main(["report", str(kept)]) == 1 and main(["explain", "SOFTMAX-1"]) == 0
    first, _, text = out.buffer.getvalue().decode(encoding).partition("\n")  # type: ignore[attr-defined]
    signs = "1 · 2 … 日" if encoding == "utf-8" else r"1 . 2 ~ \u65e5"
    assert first == signs and "DropsRow differs in" in text


# --- streams


@pytest.mark.parametrize("command", ["report", "explain", "--help"])
@pytest.mark.parametrize("closed", [True, pytest.param(False, marks=needs_full)])
def test_a_report_that_cannot_be_written_is_no_difference(
    kept: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured, command: str, closed: bool
) -> None:
    arguments = {"report": [str(kept)], "explain": ["SUM-1"]}.get(command, [])
    with open(os.devnull if closed else "/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", None if closed else full)
        assert main([command, *arguments]) == 3
        monkeypatch.undo()
    said = capsys.readouterr().err
    assert "cannot write to standard output: " in said and ("it is closed" if closed else "No space left") in said


def test_a_message_that_cannot_be_written_changes_no_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    assert main(["report", "no-such-file"]) == 2


@needs_full
def test_python_does_not_fail_once_more_at_its_end(kept: Path) -> None:
    """What is left in the buffer of a full or broken stdout would end the interpreter with a code of its own."""
    report = shlex.join([*COMMAND, "report", str(kept)])
    ascii_only = "LC_ALL=C PYTHONUTF8=0 PYTHONIOENCODING=ascii"
    lines = {f"{report} > /dev/full": 3, f"{report} >&-": 3, f"{report} 2>&-": 1, f"{ascii_only} {report}": 1}
    started = {line: subprocess.Popen(["sh", "-c", line], stdout=-1, stderr=-1, text=True) for line in lines}
    for line, code in lines.items():
        out, err = started[line].communicate(timeout=60)
        assert (started[line].returncode, "Traceback" in err, "Exception" in err) == (code, False, False), line + err
        assert ("DropsRow differs in" in out) == (code == 1)


def test_a_reader_who_has_seen_enough_ends_nothing_else(kept: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([*COMMAND, "report", str(kept)], stdout=writing, stderr=-1, text=True, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


# --- records


@needs_full
def test_records_that_cannot_be_written_end_the_run(
    vectors: Path, hostile: Hostile, lock: Path, capsys: Captured
) -> None:
    command = ["conform", "--vectors", str(vectors), "--adapter", shlex.join(hostile("Right"))]
    assert main([*command, "--json", "/dev/full"]) == 3
    said = "pynested conform: cannot write /dev/full: No space left on device; the run broke off after 0 results\n"
    assert capsys.readouterr().err == said and is_gone(lock)
    assert main([*command, "--json", str(vectors)]) == 2
    assert capsys.readouterr().err == f"pynested conform: cannot write {vectors}: Is a directory\n"


def test_a_disk_that_fills_up_leaves_what_was_found(vectors: Path, hostile: Hostile, tmp_path: Path) -> None:
    """`ulimit -f` counts blocks of 512 or 1024 bytes; a record of a difference has more than a thousand."""
    kept = tmp_path / "run.ndjson"
    command = [
        *COMMAND,
        "conform",
        "--vectors",
        str(vectors),
        "--adapter",
        shlex.join(hostile("Right")),
        "--json",
        kept,
    ]
    line = f"ulimit -f 4; {shlex.join(map(str, command))}"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 3 and "Traceback" not in done.stderr
    assert f"cannot write {kept}: File too large; the run broke off after " in done.stderr
    results = len(read(kept).results)
    assert 0 < results < 6 and f"This run broke off: it has {results + 1} of 6 results." in done.stdout
    assert read(kept).footer is None and read(kept).exit_code == 3
