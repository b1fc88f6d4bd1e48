"""The other side of `fork_server`: a process that forks when it is asked to, until nobody is there to ask."""

from __future__ import annotations

import os
import socket

_SHORT = 64  # bytes: more than any message has


def in_forks(channel: socket.socket) -> bool:
    """Fork for each request; return True in a child, with its own pipes, and False here once all is over."""
    channel.send(b"ready")
    while True:
        mark, files, _, _ = socket.recv_fds(channel, _SHORT, 4)
        if not files:
            return False
        *pipes, report = files
        child = os.fork()
        with socket.socket(fileno=report) as reported:
            if not child:
                channel.close()
                _begin(mark.decode(), pipes)
                reported.send(str(os.getpid()).encode())
                return True
            for one in pipes:
                os.close(one)
            reported.send(str(_exit_code(child)).encode())
            reported.recv(_SHORT)  # until nobody calls it by its number any more
        os.waitpid(child, 0)


def _begin(mark: str, pipes: list[int]) -> None:
    """Take the pipes for stdin, stdout and stderr, a session, and the mark by which what is started here is found."""
    os.setsid()
    os.environ[mark] = "1"
    for standard, one in enumerate(pipes):
        os.dup2(one, standard)
        os.close(one)


def _exit_code(child: int) -> int:
    """Wait until a child is gone, and leave it its number; a signal that ended it is below 0."""
    ended = os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    assert ended is not None
    return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
