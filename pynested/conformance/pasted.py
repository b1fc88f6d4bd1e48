"""Whether the snippets of a run show what the run recorded: each is run in a process of its own, as somebody pastes it.

One process imports the library and forks for each snippet, so that a thousand of them take a minute. What a snippet
imports besides, as libraries do where they are first used, that process imports before the next one.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from typing import IO

from .contradictions import SECOND, is_shown
from .filled import WHERE
from .judge import CORRUPT
from .kinds import UNSTEADY
from .pasting import ENDED
from .printouts import is_printed
from .problems import KitError
from .records import Record, Run
from .replies import CRASHED
from .wording import normal

_PATIENCE = 120  # seconds for one snippet, which may start twenty processes
_TRIES = 5  # of what crashed: memory that is damaged does not end a process each time
_LONGEST = 300  # characters of a message, as adapters cut it
_UNSAID = {"hung", "garbled"}  # what a snippet need not show


def mismatches(run: Run) -> Iterator[tuple[Record, Record, str]]:
    """Yield each result and finding whose snippet does something else than was recorded, and what it does."""
    left = [pair for pair in findings(run) if _comparable(pair[1])]
    for more in range(_TRIES)[::-1]:
        ends = replay([finding["snippet"] for _, finding in left])
        unshown = [(pair, end) for pair, end in zip(left, ends, strict=True) if not _shows(pair[1], *end)]
        left = [pair for pair, _ in unshown if more and pair[1]["verdict"] == CRASHED]
        for (result, finding), (code, said, printed) in unshown:
            if not more or finding["verdict"] != CRASHED:
                last = " ".join(printed.split())[-_LONGEST:]
                yield result, finding, said or (f"exit code {code}" + (last and f", printed {last}"))
        if not left:
            return


def findings(run: Run) -> Iterator[tuple[Record, Record]]:
    """Yield every finding that has a snippet, with its result."""
    return ((result, one) for result in run.results for one in result["findings"] if "snippet" in one)


def _comparable(finding: Record) -> bool:
    """Return whether a snippet must show its record; of what cannot be read nobody knows what printing it does."""
    if finding["kind"] == UNSTEADY:  # by what lies in memory, and not after what was asked before
        other = finding.get("again", "")
        return WHERE.format("") in other and _is_error(finding["verdict"]) != _is_error(other.partition(":")[0])
    unreadable = finding["verdict"] == CORRUPT and not is_shown(finding["got"])
    return finding["verdict"] not in _UNSAID and not unreadable


def _is_error(verdict: str) -> bool:
    """Return whether a process that comes to this verdict ends with an error."""
    return verdict in ("refused", "error-kind", CORRUPT, CRASHED)


def _shows(finding: Record, code: int, said: str, printed: str) -> bool:
    """Return whether a snippet did what its record says.

    It answered now so and now so, ended in the same error or by a signal, or has printed what was recorded.
    """
    if finding["kind"] == UNSTEADY:
        return code == 0 and said.startswith(ENDED) and len(set(re.findall(r"-?\d+", said))) > 1
    if finding["verdict"] == CRASHED:
        return (code < 0 and code != -signal.SIGALRM) or (said.startswith(ENDED) and "-" in said)
    if finding["verdict"] in ("refused", "error-kind"):
        recorded = re.sub(r" \(while building the operand\)$", "", finding["got"]).removesuffix(SECOND)
        return code == 1 and normal(said) == normal(recorded)
    return code == 0 and is_printed(finding, printed)


def replay(codes: Sequence[str]) -> list[tuple[int, str, str]]:
    """Run snippets, and return the exit code of each, negative for a signal, the error it ended with, and its output.

    Of one that asks several times the error is what that prints last: how each ended.
    """
    command = [sys.executable, "-W", "ignore", "-m", __name__]
    done = subprocess.run(command, input=json.dumps(codes), capture_output=True, text=True, check=False)
    if done.returncode:
        raise KitError(f"the snippets could not be run: {done.stderr[-_LONGEST:]}")
    return [(code, said, printed) for code, said, printed in json.loads(done.stdout)]


def _one(code: str) -> tuple[int, str, str]:
    """Run one snippet in a fork of this process."""
    with _file() as said, _file() as loaded, _file() as printed:
        child = os.fork()
        if child == 0:
            _run(code, said.fileno(), loaded.fileno(), printed)
        _, status = os.waitpid(child, 0)
        for one in (said, loaded, printed):
            one.seek(0)
        for name in loaded.read().split():
            with contextlib.suppress(Exception):  # where it cannot be imported alone, each snippet does so itself
                importlib.import_module(name)
        text = printed.read()
        last = text.strip().rpartition("\n")[2]
        return os.waitstatus_to_exitcode(status), said.read() or (last if last.startswith(ENDED) else ""), text


def _file() -> IO[str]:
    return tempfile.TemporaryFile("w+", encoding="utf-8")


def _run(code: str, said: int, loaded: int, printed: IO[str]) -> None:
    """Run a snippet, write down the error that it ends with and what it has imported, and end the process."""
    before = set(sys.modules)
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    signal.alarm(_PATIENCE)
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "<snippet>", "exec"), {"__name__": "__main__"})
            printed.flush()
    except Exception as error:
        lines = str(error).strip().splitlines() or [""]
        os.write(said, f"{type(error).__name__}: {lines[0][:_LONGEST]}".encode())
    os.write(loaded, "\n".join(set(sys.modules) - before).encode())
    os._exit(1 if os.fstat(said).st_size else 0)


def main() -> None:
    """Run the snippets on stdin, and write how each ended."""
    codes = json.load(sys.stdin)
    for head in {code.partition("\n\n")[0] for code in codes}:  # import once what all of them import
        exec(head, {})
    with contextlib.redirect_stdout(sys.stderr):  # libraries may say something as they are imported
        ended = [_one(code) for code in codes]
    print(json.dumps(ended))


if __name__ == "__main__":
    main()
