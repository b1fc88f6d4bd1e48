"""Run an adapter in Python as a child process: one JSON object a line on stdin, one reply a line on stdout."""

from __future__ import annotations

import json
import os
import socket
import sys

from ..fork_server import FORKS
from ..messages import PROTOCOL, Message
from ..session import Adapter
from .in_forks import in_forks


class Absent:
    """What answers where a library cannot be imported."""

    def __init__(self, name: str, package: str, why: str) -> None:
        self._why = f"{name} is not installed here ({why}); pip install {package}"

    def start(self, device: str) -> Message:
        """Say that the library is not there."""
        return {"protocol": PROTOCOL, "unavailable": self._why}

    def run(self, message: Message) -> Message:
        """Refuse to run anything."""
        return {"seq": message["seq"], "errored": self._why}


def serve(adapter: Adapter) -> None:
    """Answer until `stop` or the end of input; whatever the target prints goes to stderr, not among the replies.

    Where the command line names a channel for them, forks of this process answer.
    """
    if FORKS in sys.argv and not in_forks(socket.socket(fileno=int(sys.argv[-1]))):
        return
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        message = json.loads(line)
        if message["cmd"] == "stop":
            break
        reply = adapter.start(message["device"]) if message["cmd"] == "start" else adapter.run(message)
        replies.write(json.dumps(reply, allow_nan=False) + "\n")
        replies.flush()
