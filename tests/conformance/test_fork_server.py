"""Children that are forks of one process are children like others: the same records, and nothing is left of them."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from pynested.conformance.child import Child
from pynested.conformance.conform import conform
from pynested.conformance.corpus import Selection, load_corpus
from pynested.conformance.filled import FILLS
from pynested.conformance.fork_server import ForkServer
from pynested.conformance.forks import POSSIBLE
from pynested.conformance.problems import UsageError
from pynested.conformance.records import Run

from .conftest import is_gone

pytestmark = pytest.mark.skipif(not POSSIBLE, reason="a process cannot be forked here")

Hostile = Callable[[str], list[str]]
CALL = {"cmd": "run", "args": [], "kwargs": {}}


@pytest.fixture
def asked(vectors: Path, hostile: Hostile) -> Callable[..., tuple[Run, Child]]:
    def run(name: str, forks: bool) -> tuple[Run, Child]:
        session = Child(hostile(name), timeout=0.3, patience=20, forks=forks)
        return conform(
            load_corpus(vectors), Selection(layouts=("jagged",)), lambda: session, None, io.StringIO()
        ), session

    return run


Asked = Callable[..., tuple[Run, Child]]


def servers(lock: Path) -> list[int]:
    """The numbers of the processes that forked."""
    return [int(line.split()[1]) for line in lock.read_text().splitlines() if line.startswith("server")]


def nothing_is_left(lock: Path) -> bool:
    return is_gone(lock) and not any(Path(f"/proc/{number}").exists() for number in servers(lock))


@pytest.mark.parametrize("name", ["Right", "Crashes", "CrashesLater", "CrashesBackwards", "Hangs", "Found"])
def test_forks_are_judged_as_processes_of_their_own(asked: Asked, lock: Path, name: str) -> None:
    (alone, one), (forked, other) = asked(name, forks=False), asked(name, forks=True)
    assert forked.results == alone.results and forked.exit_code == alone.exit_code
    assert other.starts == one.starts and nothing_is_left(lock)


def test_one_process_is_made_ready_however_often_it_crashes(asked: Asked, lock: Path) -> None:
    _, session = asked("CrashesBackwards", forks=True)
    assert session.starts > 2 and len(servers(lock)) == 1 + len(FILLS)  # and one for each way to fill memory
    assert lock.read_text().splitlines().count("start") == session.starts * (1 + len(FILLS))


@pytest.mark.parametrize("name", ["Holds", "GetsAway", "GetsAwayAndDies", "StderrWithoutEnd", "Stopped"])
def test_what_a_fork_has_started_ends_with_it(hostile: Hostile, lock: Path, name: str) -> None:
    with Child(hostile(name), timeout=0.3, patience=20, forks=True) as session:
        list(session.answers([dict(CALL)]))
    assert nothing_is_left(lock)


def test_what_a_fork_has_left_does_not_wait_for_the_end_of_the_server(hostile: Hostile, lock: Path) -> None:
    server = ForkServer(hostile("GetsAwayAndDies"), None, 20)
    process = server.process()
    process.write('{"cmd": "start", "device": "cpu"}')
    process.write('{"cmd": "run", "seq": 1}')
    assert "GetsAwayAndDies" in (process.read(20) or "")
    assert process.read(20) is None and process.gone() and process.last_words() == "exit code 7"
    assert is_gone(lock) and Path(f"/proc/{servers(lock)[0]}").exists()
    server.close()
    assert nothing_is_left(lock)


def test_a_fork_that_hangs_is_ended_without_its_server(hostile: Hostile, lock: Path) -> None:
    server = ForkServer(hostile("Silent"), None, 20)
    for _ in range(2):
        process = server.process()
        process.write('{"cmd": "start", "device": "cpu"}')
        process.write('{"cmd": "run", "seq": 1}')
        assert "Silent" in (process.read(20) or "")
        process.kill()
        assert is_gone(lock) and len(servers(lock)) == 1
    server.close()
    assert nothing_is_left(lock)


def test_an_error_of_the_kit_leaves_no_server(hostile: Hostile, lock: Path) -> None:
    with pytest.raises(ZeroDivisionError), Child(hostile("Right"), forks=True) as session:
        next(session.answers([dict(CALL)]))
        1 / 0  # noqa: B018
    assert nothing_is_left(lock) and "stop" not in lock.read_text()


def test_a_fork_that_ends_its_server_ends_with_it_and_there_is_another(hostile: Hostile, lock: Path) -> None:
    with Child(hostile("KillsServer"), timeout=20, forks=True) as session:
        (reply,) = session.answers([dict(CALL)])
        assert (reply.outcome, reply.text) == ("crashed", "ended with the process that it is a fork of")
        assert len(servers(lock)) == 3  # the first, that of the call alone, and one to go on
    assert nothing_is_left(lock)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ServerDies", "exit code 1: cannot find my library"),
        ("ServerSilent", "no answer within 0.3 s"),
        ("StartDies", "did not start: exit code 1: cannot find my library"),
        ("StartAbsent", "there is no StartAbsent here"),
    ],
)
def test_one_that_does_not_start_is_wrong_usage(hostile: Hostile, lock: Path, name: str, text: str) -> None:
    with pytest.raises(UsageError, match=text):
        Child(hostile(name), patience=0.3 if name == "ServerSilent" else 20, forks=True)
    assert nothing_is_left(lock)
