"""A function called in a forked child, which has nothing to import and may hang or crash."""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable


def in_child(answer: Callable[[], str], seconds: int = 10) -> str:
    """What a forked child says, "ended by signal ..." where one ended it: SIGALRM after so many seconds.

    "failed" where it raised an error, which goes to the standard error output.
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
        said = pipe.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return f"ended by signal {-status}" if status < 0 else "failed" if status else said
