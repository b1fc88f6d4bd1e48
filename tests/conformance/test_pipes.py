"""Pipes of a child that never stops writing, or never reads: what is kept is bounded, and so is every wait."""

from __future__ import annotations

import os
import time

import pytest

from pynested.conformance.pipes import LONGEST_LINE, Incoming, Outgoing, Overlong, Tail


@pytest.fixture
def ends() -> tuple[int, int]:
    """The two ends of a pipe: the one that is read and the one that is written; who uses them closes them."""
    return os.pipe()


def reader(end: int) -> Incoming:
    return Incoming(os.fdopen(end, "rb"))


def test_lines_come_as_they_are_written(ends: tuple[int, int]) -> None:
    incoming = reader(ends[0])
    os.write(ends[1], "one\n\ntwo µ\r\n".encode() + b"\xff\nhalf")
    assert [incoming.get(5) for _ in range(4)] == ["one", "", "two µ\r", "\ufffd"]
    with pytest.raises(TimeoutError):
        incoming.get(0.01)
    os.close(ends[1])


def test_what_has_no_end_of_line_is_a_line_at_the_end(ends: tuple[int, int]) -> None:
    incoming = reader(ends[0])
    os.write(ends[1], b"one\nhalf")
    os.close(ends[1])
    assert [incoming.get(5) for _ in range(4)] == ["one", "half", None, None]


def test_a_long_line_is_read_and_one_without_end_is_not(ends: tuple[int, int]) -> None:
    incoming, outgoing = reader(ends[0]), Outgoing(os.fdopen(ends[1], "wb"))
    outgoing.put("x" * (LONGEST_LINE - 1))
    assert incoming.get(20) == "x" * (LONGEST_LINE - 1)
    outgoing.put("x" * (LONGEST_LINE + 1))
    with pytest.raises(Overlong):
        incoming.get(20)
    outgoing.close()
    incoming.close()


def written(end: int, chunk: bytes, most: int) -> int:
    """How much a writer can get rid of until nobody takes more, or the most."""
    os.set_blocking(end, False)
    done = refused = 0
    while done < most and refused < 20:
        try:
            done += os.write(end, chunk)
            refused = 0
        except BlockingIOError:
            refused += 1
            time.sleep(0.01)
    return done


def test_little_is_read_before_anybody_asks(ends: tuple[int, int]) -> None:
    incoming = reader(ends[0])
    assert written(ends[1], b"x" * 4095 + b"\n", 2**25) < 2**22
    assert incoming.get(5) == "x" * 4095
    incoming.close()
    os.close(ends[1])
    incoming.thread.join(5)
    assert not incoming.thread.is_alive()


def test_the_end_of_stderr_is_kept(ends: tuple[int, int]) -> None:
    tail = Tail(os.fdopen(ends[0], "rb"))
    os.set_blocking(ends[1], True)
    for number in range(200):
        os.write(ends[1], b"%d " % number * 1000)
    os.write(ends[1], b"\n\n  SUMMARY: \xff \n\n")
    os.close(ends[1])
    tail.thread.join(5)
    lines = tail.lines()
    assert lines[-1] == "SUMMARY: \ufffd" and len(lines) == 2 and 2**15 < len(lines[0]) <= 2**16


def test_a_pipe_that_others_hold_open_is_left_behind(ends: tuple[int, int]) -> None:
    incoming = reader(ends[0])
    incoming.close()
    assert incoming.get(5) is None
    os.close(ends[1])
