"""An answer that hangs on memory that nobody wrote is unsteady, however often one process repeats it."""

from __future__ import annotations

import io
import os
import platform
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from pynested.conformance.child import Child
from pynested.conformance.conform import conform
from pynested.conformance.corpus import Selection, load_corpus
from pynested.conformance.filled import FILLS, Filled, filled
from pynested.conformance.replies import VALUE, Reply

ONE_CASE = Selection(layouts=("jagged",), match="*/ragged/2")
pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc fills memory")


def findings(vectors: Path, command: str, fill: str, selection: Selection = ONE_CASE) -> list[dict[str, Any]]:
    """Run a miniature whose own memory is filled too, so that what it answers is the same in every run of this test."""
    session = Child(shlex.split(command), environment=filled(None, FILLS[fill]))
    run = conform(load_corpus(vectors), selection, lambda: session, None, io.StringIO())
    return [one for row in run.results for one in row["findings"] if "kind" in one]


@pytest.mark.parametrize("name", ["Unwritten", "UnwrittenRefuses", "UnwrittenCrashes"])
@pytest.mark.parametrize(("fill", "elsewhere"), [("zeros", "the byte 0x5a"), ("the byte 0x5a", "zeros")])
def test_what_hangs_on_unwritten_memory_is_unsteady(
    vectors: Path, command: Callable[[str], str], name: str, fill: str, elsewhere: str
) -> None:
    found = findings(vectors, command(name), fill)
    wrong = name == "Unwritten" or fill == "the byte 0x5a"  # the others are right where memory is zero
    assert bool(found) is wrong and {one["kind"] for one in found} <= {"unsteady"}
    assert all(one["again"].endswith(f", where new memory is filled with {elsewhere}") for one in found)
    assert all("mallopt" in one["snippet"] and "range(21)" in one["snippet"] for one in found)


@pytest.mark.parametrize(("name", "kind"), [("WritesFirst", "differs"), ("AlwaysCrashes", "crash")])
def test_what_is_wrong_everywhere_is_steady(vectors: Path, command: Callable[[str], str], name: str, kind: str) -> None:
    found = findings(vectors, command(name), "zeros")
    assert found and {one["kind"] for one in found} == {kind} and not any("again" in one for one in found)


def test_what_an_earlier_call_has_spoilt_there_is_no_other_answer(vectors: Path, command: Callable[[str], str]) -> None:
    several = Selection(layouts=("jagged",), match="*/ragged/*")
    found = findings(vectors, command("SpoiltByEarlierCalls"), "zeros", several)
    assert len(found) > 1 and {one["kind"] for one in found} == {"differs"}


def test_other_tunings_of_the_allocator_stay() -> None:
    here = filled({"GLIBC_TUNABLES": "glibc.malloc.check=1", "HOME": "/"}, 7)
    assert here["GLIBC_TUNABLES"] == "glibc.malloc.check=1:glibc.malloc.tcache_count=0"
    assert (here["MALLOC_PERTURB_"], here["HOME"]) == ("7", "/") and filled(None, 7)["PATH"] == os.environ["PATH"]


class Session:
    """A session that says in which environment it is, and whether it was ended."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.fill, self.ended = environment["MALLOC_PERTURB_"], False

    def answers(self, requests: Any) -> Any:
        return (Reply(VALUE, value=self.fill, unsteady="SIGSEGV") for _ in requests)

    def __exit__(self, *_: object) -> None:
        self.ended = True


def test_each_session_is_started_once_and_ended() -> None:
    started: list[Session] = []

    def start(environment: Mapping[str, str]) -> Any:
        started.append(Session(environment))
        return started[-1]

    sessions = Filled(start, {})
    for _ in range(2):
        replies = dict(sessions.replies({}))
        assert {words: int(one.value) for words, one in replies.items()} == FILLS
        assert not any(one.unsteady for one in replies.values())  # that is of calls before this one
    assert len(started) == len(FILLS)
    assert len(dict(sessions.replies({}, fresh=True))) == len(FILLS) and len(started) == 2 * len(FILLS)
    assert [one.ended for one in started] == [True, True, False, False]
    sessions.close()
    assert all(one.ended for one in started)
