"""Signals that ask for the end: the command ends with 128 + n, its adapter is gone, its records are there."""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pynested.conformance.records import read
from pynested.conformance.signals import Ended, held_back, name_of, raised

from .conftest import is_gone

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


@pytest.fixture(autouse=True)
def nothing_is_ignored() -> Iterator[None]:
    """The tests themselves may run where signals are ignored, as behind nohup, and processes inherit that."""
    before = {one: signal.signal(one, signal.SIG_DFL) for one in ENDING}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for one, handler in before.items():
        signal.signal(one, handler)


@pytest.mark.parametrize("number", ENDING)
def test_the_first_signal_is_raised_and_the_next_ones_are_passed_over(number: signal.Signals) -> None:
    before = [signal.getsignal(one) for one in ENDING]
    with pytest.raises(Ended) as ended, raised():
        try:
            signal.raise_signal(number)
        finally:
            signal.raise_signal(signal.SIGTERM)
    assert ended.value.number == number and str(ended.value) == number.name
    assert [signal.getsignal(one) for one in ENDING] == before


def test_a_signal_waits_while_something_is_being_started() -> None:
    started = False
    with pytest.raises(Ended), raised(), held_back():
        signal.raise_signal(signal.SIGTERM)
        started = True
    assert started


@pytest.fixture(params=["masked", "seen at once"])
def unmasked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether no mask keeps a signal back, as where another thread takes it or where there are no masks."""
    if request.param == "seen at once":
        monkeypatch.delattr(signal, "pthread_sigmask", raising=False)
    elif not hasattr(signal, "pthread_sigmask"):
        pytest.skip("signals cannot be masked here")
    return request.param == "seen at once"


@pytest.mark.parametrize("manager", [raised, held_back])
def test_a_signal_that_comes_while_handlers_change_goes_to_the_former_one(
    manager: Callable[[], Any], unmasked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    came: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: came.append(number))
    change, changed = signal.signal, []

    def late(number: int, handler: Any) -> Any:
        signal.raise_signal(signal.SIGTERM)
        changed.append(number)
        return change(number, handler)

    with manager():
        monkeypatch.setattr(signal, "signal", late)
    monkeypatch.undo()
    assert changed == [*ENDING]
    assert came == [signal.SIGTERM] * (len(ENDING) if unmasked else 1)  # those that wait for a mask come once


@pytest.mark.parametrize("manager", [raised, held_back])
@pytest.mark.parametrize("number", ENDING)
@pytest.mark.parametrize("place", range(2 * len(ENDING)))
def test_all_handlers_are_set_again_where_a_former_one_raises_meanwhile(
    manager: Callable[[], Any], number: int, place: int, unmasked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A signal comes before or after any one of the changes."""
    came: list[int] = []

    def former(number: int, frame: Any) -> None:
        came.append(number)
        raise KeyboardInterrupt

    for one in ENDING:
        signal.signal(one, former)
    change, calls = signal.signal, []

    def interrupted(which: int, handler: Any) -> None:
        for step in (lambda: None, lambda: change(which, handler)):
            step()
            calls.append(which)
            if len(calls) == place + 1:
                signal.raise_signal(number)

    with pytest.raises(KeyboardInterrupt), manager():
        monkeypatch.setattr(signal, "signal", interrupted)
    monkeypatch.undo()
    assert came == [number] and all(signal.getsignal(one) is former for one in ENDING)


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals cannot be masked here")
def test_a_signal_just_before_goes_to_the_former_one_and_leaves_everything_as_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    came: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: came.append(number))
    before = [signal.getsignal(one) for one in ENDING]
    mask = signal.pthread_sigmask

    def asked(how: int, which: Iterable[int]) -> Any:
        if set(which) == set(ENDING):
            monkeypatch.undo()
            signal.raise_signal(signal.SIGTERM)
        return mask(how, which)

    with raised():
        monkeypatch.setattr(signal, "pthread_sigmask", asked)
    assert came == [signal.SIGTERM] and [signal.getsignal(one) for one in ENDING] == before
    assert not mask(signal.SIG_BLOCK, [])


def test_a_signal_that_is_ignored_stays_so(monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with raised(), held_back():
            signal.raise_signal(signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_other_threads_have_nothing_to_handle() -> None:
    ended = []

    def work() -> None:
        with raised(), held_back():
            ended.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert ended


def test_every_number_has_a_name() -> None:
    assert name_of(signal.SIGKILL) == "SIGKILL" and name_of(signal.SIGRTMIN + 6) == f"signal {signal.SIGRTMIN + 6}"


class Running:
    """The command with an adapter that hangs, at its start or at the first call after some answers."""

    def __init__(self, folder: Path, vectors: Path, hostile: Callable[[str], list[str]], name: str) -> None:
        self.kept, self.lock = folder / "run.ndjson", folder / "lock"
        command = shlex.join([*hostile(name)[:-1], str(self.lock)])
        arguments = ["conform", "--vectors", str(vectors), "--adapter", command, "--json", str(self.kept)]
        folder.mkdir()
        self.process = subprocess.Popen([sys.executable, "-m", "pynested", *arguments], stdout=-1, stderr=-1, text=True)
        self.asked = "start" if name == "StartSilent" else "run"

    def wait_until_it_hangs(self) -> None:
        while self.process.poll() is None and not (self.lock.exists() and self.asked in self.lock.read_text()):
            time.sleep(0.02)

    def end(self, number: signal.Signals) -> tuple[int, str, str]:
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


def test_the_adapter_goes_with_the_command_and_the_records_stay(
    tmp_path: Path, vectors: Path, hostile: Callable[[str], list[str]]
) -> None:
    ends = [*((number, "Silent") for number in ENDING), (signal.SIGINT, "StartSilent"), (signal.SIGTERM, "StartSilent")]
    running = [Running(tmp_path / str(place), vectors, hostile, name) for place, (_, name) in enumerate(ends)]
    for one, (number, name) in zip(running, ends, strict=True):
        one.wait_until_it_hangs()
        assert one.end(number) == (128 + number, "", f"pynested: ended by {number.name}\n"), name
        assert is_gone(one.lock)
        if name == "Silent":
            kept = read(one.kept)
            assert kept.footer is None and kept.header["target"]["name"] == "Silent"
        else:
            assert one.kept.read_bytes() == b""
