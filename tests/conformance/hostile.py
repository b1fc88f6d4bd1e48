"""Adapters that do not keep to the protocol, or to anything: `python hostile.py NAME [FILE]`, on stdin and stdout.

A FILE is locked for as long as the adapter, or anything that it has started, is alive; the adapter writes into it what
it was asked. This file imports little, since it is started often.
"""

from __future__ import annotations

import fcntl
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

# What is loaded by itself, without the package that it lies in.
IN_FORKS = Path(__file__).parents[2] / "pynested/conformance/adapters/in_forks.py"
Reply = dict[str, Any]

DENSE: Reply = {"dtype": "float32", "shape": [2, 2], "bits": "3f800000400000004100000041200000"}
NESTED: Reply = {"dtype": "float32", "shape": [2, 2], "shapes": [[2], [2]], "bits": ["3f80000040000000"] * 2}
RIGHT: Reply = {"value": {"dense": DENSE}}  # the answer to sum/float32/ragged/2, jagged
SUMS: Reply = {"value": {"dense": {"dtype": "float32", "shape": [3, 2], "bits": ""}}}  # to sum/float32/ragged/1
SUMS["value"]["dense"]["bits"] = "40800000c000000000000000000000007f80000040a00000"
REFUSAL: Reply = {"kind": "ValueError", "message": "not with me"}
NO_GRADIENT: Reply = {"args": [None, None], "kwargs": {}}


def dense(**fields: Any) -> Reply:
    return {"value": {"dense": {**DENSE, **fields}}}


def nested(**fields: Any) -> Reply:
    return {"value": {"nested": {**NESTED, **fields}}}


def pulled(gradient: Any) -> Reply:
    return {**RIGHT, "gradient": gradient}


def deep(depth: int) -> Any:
    return json.loads('{"list":[' * depth + "]}" * depth)


# What is no reply, and a word of what has to be said about it. Fields stand beside `seq`, text stands alone.
NO_REPLIES: Mapping[str, tuple[Reply | str, str]] = {
    "a word": ("Welcome to Garbage!", "Expecting value"),
    "an empty line": ("", "Expecting value"),
    "a number": ("7", "expected an object, got 7"),
    "a list": ("[]", "expected an object"),
    "half an object": ('{"seq": 1, "value"', "Expecting"),
    "control characters": ("\x1b]0;owned\x07\x00\x7f", "Expecting value"),
    "brackets": ("[" * 100_000, "nested too deep"),
    "no seq": ('{"missing": "x"}', "has no seq"),
    "seq as text": ('{"seq": "1", "missing": "x"}', "seq: expected an integer"),
    "seq as true": ('{"seq": true, "missing": "x"}', "seq: expected an integer"),
    "another seq": ({"seq": -1, "missing": "x"}, "seq: expected"),
    "a field twice": ('{"seq": 1, "seq": 2, "missing": "x"}', "has a name twice"),
    "NaN": ('{"seq": 1, "value": {"python": NaN}}', "NaN is no number"),
    "a number beyond all": ('{"seq": 1, "value": {"python": 1e999}}', "1e999 is no number"),
    "a number without end": ('{"seq": 1, "value": {"python": ' + "9" * 5000 + "}}", "digits"),
    "nothing": ({}, "exactly one of value, error, missing, errored; this one has none"),
    "two outcomes": ({**RIGHT, "error": REFUSAL}, "this one has value, error"),
    "says that it crashed": ({"crashed": "exit code 0"}, "exactly one of value"),
    "missing null": ({"missing": None}, "missing: expected text, got None"),
    "errored number": ({"errored": 7}, "errored: expected text"),
    "value null": ({"value": None}, "value: expected an object"),
    "value list": ({"value": [1, 2]}, "value: expected an object, got [1, 2]"),
    "value of no form": ({"value": {"sparse": {}}}, "value: has exactly one of nested, dense"),
    "value of two forms": ({"value": {"dense": DENSE, "python": 1}}, "this one has dense, python"),
    "nested as numbers": ({"value": {"nested": [[1.0]]}}, "value.nested: expected an object"),
    "dense as text": ({"value": {"dense": "1 2"}}, "value.dense: expected an object"),
    "no dtype": ({"value": {"dense": {"shape": [], "bits": ""}}}, "value.dense: has no dtype"),
    "dtype null": (dense(dtype=None), "value.dense.dtype: expected one of"),
    "dtype unknown": (dense(dtype="complex64"), "value.dense.dtype: expected one of"),
    "shape null": (dense(shape=None), "value.dense.shape: expected a list"),
    "shape true": (dense(shape=[True, 2]), "value.dense.shape[0]: expected an integer"),
    "shape real": (dense(shape=[2.0, 2]), "value.dense.shape[0]: expected an integer"),
    "shape negative": (dense(shape=[-2, -2]), "value.dense.shape: a size is 0 or more"),
    "shape huge": (dense(shape=[10**12], bits=""), "value.dense: decode: shape (1000000000000,)"),
    "shape beyond numbers": (dense(shape=[0, 2**70], bits=""), "a size is 0 or more, and below 2**63"),
    "shape beyond memory": (dense(shape=[0, 2**62, 2**62], bits=""), "value.dense: "),
    "shape of 70 dimensions": (dense(shape=[0] * 70, bits=""), "value.dense: "),
    "bits number": (dense(bits=7), "value.dense.bits: expected text"),
    "bits short": (dense(bits="3f"), "value.dense: decode: shape (2, 2) of float32 needs 4 words"),
    "bits upper-case": (dense(bits=DENSE["bits"].upper()), "neither a lower-case hex word"),
    "bits wild": (dense(bits="n" * 32), "wildcard words belong to expectations"),
    "bits of a bool": (dense(dtype="bool", bits="0123"), "a bool is 0 or 1"),
    "components lost": (nested(bits=[]), "value.nested: shape [2, 2] with 2 shapes"),
    "components of another rank": (nested(shapes=[[2], [1, 2]]), "value.nested.shapes[1]: [1, 2] is no component"),
    "components of another size": (nested(shape=[2, 3]), "value.nested.shapes[0]: [2] is no component"),
    "no shape": ({"value": {"nested": {"dtype": "bool", "shapes": [], "bits": []}}}, "value.nested: has no shape"),
    "python object": ({"value": {"python": {"list": []}}}, "value.python: has exactly one of int, float"),
    "python number": ({"value": {"python": 3}}, "value.python: expected"),
    "an int that is none": ({"value": {"python": {"int": "3.0"}}}, "value.python.int: an integer is decimal text"),
    "an int as a number": ({"value": {"python": {"int": 3}}}, "value.python.int: expected text, got 3"),
    "an int without end": ({"value": {"python": {"int": "9" * 5000}}}, "value.python.int: "),
    "a float beyond all": ({"value": {"python": {"float": "1e999"}}}, "value.python.float: a float is decimal text"),
    "python list": ({"value": {"python": [[1], [1, 2]]}}, "value.python: expected"),
    "other number": ({"value": {"other": 7}}, "value.other: expected text"),
    "list of anything": ({"value": {"list": [7]}}, "value.list[0]: expected an object"),
    "lists in lists": ({"value": deep(12)}, "has exactly one of"),
    "lists without end": ({"value": deep(400)}, ""),
    "error as text": ({"error": "boom"}, "error: expected an object, got 'boom'"),
    "error empty": ({"error": {}}, "error: has no kind, message"),
    "error without kind": ({"error": {"message": "x"}}, "error: has no kind"),
    "error of a number": ({"error": {**REFUSAL, "kind": 7}}, "error.kind: expected text"),
    "error bases": ({"error": {**REFUSAL, "bases": "ValueError"}}, "error.bases: expected a list"),
    "gradient list": (pulled([1]), "gradient: expected an object, got [1]"),
    "gradient null": (pulled(None), "gradient: expected an object, got None"),
    "gradient too short": (pulled({"args": [], "kwargs": {}}), "gradient.args: has 0 entries, but the call has 2"),
    "gradient too long": (pulled({"args": [None] * 3}), "gradient.args: has 3 entries"),
    "gradient number": (pulled({"args": [7, None]}), "gradient.args[0]: expected null or an object, got 7"),
    "gradient of no argument": (pulled({**NO_GRADIENT, "kwargs": {"w": None}}), "gradient.kwargs: has ['w']"),
    "gradient list of an array": (pulled({"args": [{"list": []}, None]}), "but the argument is no list"),
    "gradient of a name": (pulled({"args": [{"mapping": {"w": None}}, None]}), "has ['w'], which the argument has not"),
    "gradient cut": (pulled({"args": [{"dense": {**DENSE, "bits": ""}}, None]}), "gradient.args[0].dense: decode"),
    "gradient refused in a word": (pulled({"error": "no"}), "gradient.error: expected an object"),
}


def line(reply: Reply | str, seq: int) -> str:
    """The line of a reply."""
    return reply if isinstance(reply, str) else json.dumps({"seq": seq, **reply})


# --- what adapters do instead of answering


def infinite(message: Reply) -> bool:
    """Whether it is the call of sum/float32/ragged/1."""
    return "7f800000" in json.dumps(message["args"])


def sleep(message: Reply) -> Reply:
    time.sleep(600)
    return {}


def flood(stream: Any) -> Reply:
    while True:
        stream.write("x" * 65536)


def chatter(message: Reply) -> Reply:
    while True:
        say(line(RIGHT, message["seq"]))


def close_output(message: Reply) -> Reply:
    os.close(1)
    return sleep(message)


def die(number: int, words: str = "") -> Reply:
    sys.stderr.write(words)
    sys.stderr.flush()
    os.kill(os.getpid(), number)
    return {}


def found(message: Reply) -> Reply:
    """Is ended by a sanitizer, which names its finding in the middle of what it says."""
    sys.stderr.write("#0 in sum\nSUMMARY: ASan: overflow sum.c:12 in sum\nShadow bytes\n" + "00 00\n" * 40)
    sys.stderr.flush()
    os._exit(1)


def crash_later(message: Reply, damaged: list[bool] = []) -> Reply:  # noqa: B006 - the process remembers
    """Damages the process in one call and dies in another, as a write outside an array does."""
    if damaged:
        os._exit(7)
    damaged += [True] * infinite(message)
    return MISSING


def everything(message: Reply) -> Reply | str:
    """All that is no reply, one after the other; a fresh process goes on where the last was ended, as `seq` does."""
    return [*NO_REPLIES.values()][message["seq"] % len(NO_REPLIES)][0]


MISSING: Reply = {"missing": "no such operator"}
ESCAPES: Reply = {"kind": "\x1b[2JValueError", "message": "\x1b]0;owned\x07 \u202e gpj.exe\nOK, all agree"}

# The adapters, each as what it does with a `run`: it returns a reply, or something happens.
ADAPTERS: Mapping[str, Callable[[Reply], Reply | str]] = {
    "Right": lambda message: RIGHT,
    "Holds": lambda message: RIGHT,
    "GetsAway": lambda message: RIGHT,
    "GetsAwayAndDies": lambda message: sys.exit(7),
    "Escapes": lambda message: {"error": ESCAPES},
    "Surrogate": lambda message: {"error": {"kind": "ValueError", "message": "half \ud800 a pair"}},
    "Garbage": lambda message: "Welcome to Garbage!",
    "Everything": everything,
    "Silent": sleep,
    "Hangs": lambda message: sleep(message) if infinite(message) else MISSING,
    "LineWithoutEnd": lambda message: flood(sys.stdout),
    "StderrWithoutEnd": lambda message: flood(sys.stderr),
    "Chatters": chatter,
    "ClosesOutput": close_output,
    "Exits": lambda message: sys.exit("\x1b[31mred\x1b[0m"),
    "Found": found,
    "Crashes": lambda message: die(signal.SIGABRT, "about to die\n") if infinite(message) else MISSING,
    "CrashesLater": crash_later,
    "CrashesBackwards": lambda message: die(signal.SIGSEGV) if "cotangent" in message else SUMS,
    "HangsBackwards": lambda message: sleep(message) if "cotangent" in message else SUMS,
    "KillsServer": lambda message: os.kill(os.getppid(), signal.SIGKILL) or sleep(message),
    "RealTimeSignal": lambda message: die(signal.SIGRTMIN + 6),
    "Stopped": lambda message: die(signal.SIGSTOP),
}


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def grandchild(alone: bool) -> None:
    """Start a process that keeps the pipes open, and lives until the lock file is gone, or for ten minutes."""
    code = """if True:
        import os, sys, time
        until = time.monotonic() + 600
        while os.path.exists(sys.argv[1]) and time.monotonic() < until:
            time.sleep(0.05)
    """
    subprocess.Popen([sys.executable, "-S", "-c", code, sys.argv[2]], start_new_session=alone, close_fds=False)


def introduce(name: str) -> None:
    """Answer `start`, or what is done instead of it."""
    if name == "StartDies":
        sys.exit("cannot find my library")
    if name == "StartSilent":
        time.sleep(600)
    if name == "StartWithoutEnd":
        flood(sys.stdout)
    if name == "StartDeep":
        say("[" * 100_000)
        time.sleep(600)
    if name == "StartOnce" and os.path.getsize(sys.argv[2]) > len("start\n"):
        sys.exit("only once")
    if name in ("Holds", "GetsAway", "GetsAwayAndDies"):
        grandchild(alone=name != "Holds")
    absent = {"unavailable": "there is no StartAbsent here"} if name == "StartAbsent" else {}
    strange = "\x1b[2J\ud800" if name in ("Escapes", "Surrogate") else ""
    say(json.dumps({"protocol": 2, "name": name + strange, "version": "0", **absent}))


def serve_forks(name: str) -> bool:
    """Do what adapters do that are asked to fork, and write a number into FILE; return whether this is a fork now."""
    with open(sys.argv[2], "a") as log:
        log.write(f"server {os.getpid()}\n")
    if name == "ServerDies":
        sys.exit("cannot find my library")
    if name == "ServerSilent":
        time.sleep(600)
    spec = importlib.util.spec_from_file_location("in_forks", IN_FORKS)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return bool(module.in_forks(socket.socket(fileno=int(sys.argv[-1]))))


def main() -> None:
    name = sys.argv[1]
    if "--forks" in sys.argv and not serve_forks(name):
        return
    log = open(sys.argv[2], "a") if len(sys.argv) > 2 else None  # noqa: SIM115 - open and locked until the end
    if log is not None:
        fcntl.flock(log, fcntl.LOCK_SH)
        os.set_inheritable(log.fileno(), True)
    for text in sys.stdin:
        message = json.loads(text)
        if log is not None:
            log.write(message["cmd"] + "\n")
            log.flush()
        if message["cmd"] == "stop":
            break
        if message["cmd"] == "start":
            introduce(name)
        else:
            say(
                line(
                    NO_REPLIES[name][0] if name in NO_REPLIES else ADAPTERS.get(name, crash_later)(message),
                    message["seq"],
                )
            )


if __name__ == "__main__":
    main()
