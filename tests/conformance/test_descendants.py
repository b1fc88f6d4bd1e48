"""Processes are found by their mark wherever they went, and others are let be."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from pynested.conformance.descendants import Descendants

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the environment of others")

WAIT = "import sys, time; print(flush=True); time.sleep(600)"
# Starts a process of a session of its own, which does so too and is gone; the last one holds the pipe.
FLEE = f"""if True:
    import subprocess, sys
    flee = "import subprocess, sys; subprocess.Popen([sys.executable, '-S', '-c', {WAIT!r}], start_new_session=True)"
    subprocess.run([sys.executable, "-S", "-c", flee], start_new_session=True)
"""


def start(code: str, environment: dict[str, str]) -> subprocess.Popen[str]:
    """Start Python; return once a process has said so."""
    command = [sys.executable, "-S", "-c", code]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True)
    assert process.stdout is not None and process.stdout.readline() == "\n"
    return process


def test_a_grandchild_of_a_session_of_its_own_is_ended() -> None:
    ours = Descendants()
    with start(FLEE, ours.marked(None)) as process:
        assert process.wait() == 0
        ours.kill()
        assert process.stdout is not None and process.stdout.read() == ""  # the end: nobody holds the pipe


def test_others_are_let_be() -> None:
    """Those without a mark, and those with a mark made for another child."""
    ours, theirs = Descendants(), Descendants()
    both = ours.marked(theirs.marked(None))  # as a child of their child has
    with start(WAIT, both) as mine, start(WAIT, theirs.marked(None)) as their, start(WAIT, dict(os.environ)) as nobodys:
        ours.kill()
        assert mine.wait() == -9 and their.poll() is None
        theirs.kill()
        assert their.wait() == -9 and nobodys.poll() is None
        nobodys.kill()


def test_the_environment_is_kept() -> None:
    given = Descendants().marked({"A": "b"})
    assert given.pop("A") == "b" and len(given) == 1
    assert set(Descendants().marked(None)) > set(os.environ)
