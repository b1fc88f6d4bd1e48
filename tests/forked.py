"""A call of a function in a forked child, which may hang or crash."""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable


def in_child(answer: Callable[[], str], seconds: int = 10) -> str:
    """Return the answer of a forked child, or "ended by signal ..." if a signal ended it: SIGALRM after ``seconds``.

    "failed" if the child raised an error, which goes to the standard error output.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(seconds)
        try:
            os.write(writing, answer().encode())
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    os.close(writing)
    with open(reading, encoding="utf-8") as pipe:
        reply = pipe.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return f"ended by signal {-status}" if status < 0 else "failed" if status else reply
