"""One command for a machine with a GPU: is what the kernels give right, and how fast are they. It writes one page.

    python -m benchmarks.gpu                       everything; what was done before is kept
    python -m benchmarks.gpu --device emulated     the same pieces on the CPU, at toy sizes, to see that they run
    python -m benchmarks.gpu --only kernels        one piece, again
    python -m benchmarks.gpu --minutes 9           begin no piece that might not end within these

Every piece is a command of its own that takes less than ten minutes, so that a machine lent for a short while is
enough. Its output and its exit status are kept in a folder as soon as it ends. The next start goes on from there.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pynested.spec.table import load_table

LIMIT = 570  # seconds that a piece may take
PARTS = 4  # of conformance, by operators
SHOWN = 60  # lines of an output that are on the page
QUERY = "name,driver_version,memory.total,clocks.max.sm,clocks.max.memory,power.limit"
SANITIZERS = ("memcheck", "racecheck", "initcheck", "synccheck")


class Piece(NamedTuple):
    """A command that answers one question."""

    name: str
    asks: str
    command: list[str]
    needs: str = ""  # a program or module without which it is left out


def pieces(device: str) -> Iterator[Piece]:
    """What is asked on ``device``, in the order of what matters first."""
    ours, toys = [sys.executable, "-m"], device == "emulated"
    conform = [*ours, "pynested", "conform", "--device", device, *(["--quick"] if toys else [])]
    operators = sorted(name for name, operator in load_table().items() if not operator.is_idea)
    for part in range(PARTS):
        chosen = [word for name in operators[part::PARTS] for word in ("--op", name)]
        yield Piece(f"conform-{part + 1}", "Does every operator do what the specification says?", [*conform, *chosen])
    asks = "Do short programs of calls give what they say: views, writes, the tape?"
    with_programs = [word for name, idea in load_table().items() if idea.has_programs for word in ("--op", name)]
    yield Piece("conform-programs", asks, [*conform, *with_programs])
    if toys:
        for sanitizer in ("address", "thread"):
            asks = f"Does the {sanitizer} sanitizer of the C++ compiler find anything?"
            few = ["--op", "softmax", "--op", "sum", "--workers", "2"]
            yield Piece(f"sanitizer-{sanitizer}", asks, [*conform, "--sanitize", sanitizer, *few])
    else:
        for tool in SANITIZERS:
            asks = f"Does compute-sanitizer's {tool} find anything?"
            tested = ["compute-sanitizer", "--tool", tool, "--error-exitcode", "9", *conform, "--quick"]
            yield Piece(f"sanitizer-{tool}", asks, tested, "compute-sanitizer")
    asks = "How close do the kernels come to the speed of a copy?"
    yield Piece("kernels", asks, [*ours, "benchmarks.cuda", "--device", device])
    timed = [*ours, "benchmarks.operators", "--device", device, "--kind", "nested"]
    asks = "How long do operators take beside PyTorch on the same device?"
    if toys:
        yield Piece("operators-tiny", asks, [*timed, "--quick", "--op", "softmax ragged", "--op", "add"])
    for load in () if toys else ("tiny", "long", "short", "huge"):
        yield Piece(f"operators-{load}", asks, [*timed, "--load", load], "torch")


# ---- doing them ------------------------------------------------------------------------------------------------------


def missing(piece: Piece) -> bool:
    """Whether what a piece needs is not here."""
    if not piece.needs or shutil.which(piece.needs):
        return False
    tried = subprocess.run([sys.executable, "-c", f"import {piece.needs}"], capture_output=True, check=False)
    return tried.returncode != 0


def done(piece: Piece, folder: Path) -> dict[str, Any]:
    """Run a piece, and keep how it ended, and what it printed."""
    if missing(piece):
        return kept(folder, piece, {"status": "left out", "why": f"{piece.needs} is not here", "seconds": 0})
    start = time.monotonic()
    with open(folder / f"{piece.name}.txt", "wb") as output:
        try:
            ended = subprocess.run(piece.command, stdout=output, stderr=subprocess.STDOUT, timeout=LIMIT, check=False)
            status, why = ("passed", "") if ended.returncode == 0 else ("failed", f"exit status {ended.returncode}")
        except subprocess.TimeoutExpired:
            status, why = "failed", f"it took more than {LIMIT} seconds"
    return kept(folder, piece, {"status": status, "why": why, "seconds": round(time.monotonic() - start, 1)})


def kept(folder: Path, piece: Piece, result: dict[str, Any]) -> dict[str, Any]:
    result = {**result, "command": told(piece)}
    (folder / f"{piece.name}.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return result


def told(piece: Piece) -> str:
    """The command as one would type it."""
    return " ".join("python" if word == sys.executable else word for word in piece.command)


def ending(result: dict[str, Any]) -> str:
    """How a piece ended, in words."""
    return " ".join(filter(None, (result["status"], result["why"])))


def before(piece: Piece, folder: Path) -> dict[str, Any] | None:
    """How a piece ended before, if it was the same command."""
    path = folder / f"{piece.name}.json"
    if not path.exists():
        return None
    result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return result if result["command"] == told(piece) else None


# ---- the page --------------------------------------------------------------------------------------------------------


def machine(device: str) -> str:
    """What all of it ran on."""
    if device == "cuda":
        asked = ["nvidia-smi", f"--query-gpu={QUERY}", "--format=csv,noheader"]
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    return f"{platform.machine()}, {os.cpu_count()} processors, kernels run by the emulator"


def page(device: str, folder: Path, results: dict[str, tuple[Piece, dict[str, Any] | None]]) -> str:
    """The results as Markdown: a table of the pieces, and what each of them printed at its end."""
    lines = [f"# The kernels on `{device}`", "", machine(device), "", "| piece | question | result | seconds |"]
    lines.append("|---|---|---|---|")
    for piece, result in results.values():
        ended = "not asked yet" if result is None else ending(result)
        seconds = "" if result is None else f"{result['seconds']:.0f}"
        lines.append(f"| {piece.name} | {piece.asks} | {ended} | {seconds} |")
    for piece, result in results.values():
        output = folder / f"{piece.name}.txt"
        if result is None or not output.exists():
            continue
        printed = output.read_text(encoding="utf-8", errors="replace").rstrip().splitlines()
        shown = printed[-SHOWN:]
        cut = [f"({len(printed) - SHOWN} lines before these are in {output.name})"] if len(printed) > SHOWN else []
        lines += ["", f"## {piece.name}", "", "```text", f"$ {result['command']}", *cut, *shown, "```"]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Do the pieces that are not done, write the page, and say with 1 that one of them failed."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--device", default="cuda", choices=["cuda", "emulated"])
    options.add_argument("--only", action="append", metavar="PIECE", help="this piece, again; may be repeated")
    options.add_argument("--minutes", type=float, help="how long this start may take")
    options.add_argument("--folder", type=Path, help="where results are kept (default: results-DEVICE)")
    asked = options.parse_args()
    folder = asked.folder or Path(f"results-{asked.device}")
    folder.mkdir(parents=True, exist_ok=True)
    chosen = {piece.name: piece for piece in pieces(asked.device)}
    unknown = set(asked.only or ()) - set(chosen)
    if unknown:
        options.error(f"there is no piece {', '.join(sorted(unknown))}; there are {', '.join(chosen)}")
    results = {name: (piece, before(piece, folder)) for name, piece in chosen.items()}
    start = time.monotonic()
    for name, (piece, result) in results.items():
        again = name in asked.only if asked.only else result is None
        if not again:
            continue
        if asked.minutes is not None and time.monotonic() - start + LIMIT > asked.minutes * 60:
            break
        print(f"{name}: {piece.asks}", flush=True)
        result = done(piece, folder)
        print(f"    {ending(result)}, {result['seconds']} s", flush=True)
        results[name] = (piece, result)
        (folder / "page.md").write_text(page(asked.device, folder, results), encoding="utf-8")
    (folder / "page.md").write_text(page(asked.device, folder, results), encoding="utf-8")
    print(f"the page: {folder / 'page.md'}")
    return int(any(result is not None and result["status"] == "failed" for _, result in results.values()))


if __name__ == "__main__":
    raise SystemExit(main())
