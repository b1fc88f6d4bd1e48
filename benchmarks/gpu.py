"""One command for a machine with a GPU: it checks and times the kernels, and writes one page.

    python -m benchmarks.gpu                       everything but the pieces that have a result
    python -m benchmarks.gpu --device emulated     the same pieces on the CPU, at toy sizes, to see that they run
    python -m benchmarks.gpu --only kernels        one piece, again
    python -m benchmarks.gpu --minutes 9           begin no piece that might not end within these

Every piece is a command of its own that takes less than ten minutes, so that a machine lent for a short while is
enough. Its output and its exit status are kept in a folder as soon as it ends. The next start goes on from there.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

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
    command: tuple[str, ...]
    needs: str = ""  # a program or module without which it is left out


class Result(NamedTuple):
    """The outcome of a piece, and the command as a user would type it."""

    ending: str
    seconds: float
    command: str


def pieces(device: str) -> Iterator[Piece]:
    """Yield the pieces for a device, the most important first."""
    ours, toys = [sys.executable, "-m"], device == "emulated"
    conform = [*ours, "pynested", "conform", "--device", device, *(["--quick"] if toys else [])]
    operators = sorted(name for name, operator in load_table().items() if not operator.is_idea)
    for part in range(PARTS):
        chosen = [word for name in operators[part::PARTS] for word in ("--op", name)]
        yield Piece(f"conform-{part + 1}", "Does every operator do what the specification says?", (*conform, *chosen))
    asks = "Do short programs of calls give what they say: views, writes, the tape?"
    with_programs = [word for name, idea in load_table().items() if idea.has_programs for word in ("--op", name)]
    yield Piece("conform-programs", asks, (*conform, *with_programs))
    if toys:
        for sanitizer in ("address", "thread"):
            asks = f"Does the {sanitizer} sanitizer of the C++ compiler find anything?"
            few = ["--op", "softmax", "--op", "sum", "--workers", "2"]
            yield Piece(f"sanitizer-{sanitizer}", asks, (*conform, "--sanitize", sanitizer, *few))
    else:
        for tool in SANITIZERS:
            asks = f"Does compute-sanitizer's {tool} find anything?"
            tested = ("compute-sanitizer", "--tool", tool, "--error-exitcode", "9", *conform, "--quick")
            yield Piece(f"sanitizer-{tool}", asks, tested, "compute-sanitizer")
    asks = "How close do the kernels come to the speed of a copy?"
    yield Piece("kernels", asks, (*ours, "benchmarks.kernels", "--device", device))
    timed = [*ours, "benchmarks.operators", "--device", device, "--kind", "nested"]
    asks = "How long do operators take beside PyTorch on the same device?"
    if toys:
        yield Piece("operators-tiny", asks, (*timed, "--quick", "--op", "softmax ragged", "--op", "add"))
    for load in () if toys else ("tiny", "long", "short", "huge"):
        yield Piece(f"operators-{load}", asks, (*timed, "--load", load), "torch")


def run_piece(piece: Piece, folder: Path) -> Result:
    """Run a piece; keep its output and its result in the folder."""
    start, ending = time.monotonic(), "passed"
    if piece.needs and not (shutil.which(piece.needs) or importlib.util.find_spec(piece.needs)):
        ending = f"left out {piece.needs} is not here"
    else:
        with open(folder / f"{piece.name}.txt", "wb") as output:
            try:
                subprocess.run(piece.command, stdout=output, stderr=subprocess.STDOUT, timeout=LIMIT, check=True)
            except subprocess.CalledProcessError as error:
                ending = f"failed exit status {error.returncode}"
            except subprocess.TimeoutExpired:
                ending = f"failed it took more than {LIMIT} seconds"
    result = Result(ending, round(time.monotonic() - start, 1), typed(piece))
    (folder / f"{piece.name}.json").write_text(json.dumps(result._asdict(), indent=1) + "\n", encoding="utf-8")
    return result


def kept_result(piece: Piece, folder: Path) -> Result | None:
    """Return the result of an earlier start, if it had the same command."""
    path = folder / f"{piece.name}.json"
    result = Result(**json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None
    return result if result and result.command == typed(piece) else None


def typed(piece: Piece) -> str:
    """Return the command as a user would type it."""
    return " ".join("python" if word == sys.executable else word for word in piece.command)


def machine(device: str) -> str:
    """Return a line about the machine."""
    if device == "cuda":
        query = ["nvidia-smi", f"--query-gpu={QUERY}", "--format=csv,noheader"]
        return subprocess.run(query, capture_output=True, text=True, check=True).stdout.strip()
    return f"{platform.machine()}, {os.cpu_count()} processors, kernels run by the emulator"


def write_page(device: str, folder: Path, results: dict[Piece, Result | None]) -> Path:
    """Write the results as Markdown: a table of the pieces, and the end of the output of each piece."""
    lines = [f"# The kernels on `{device}`", "", machine(device), "", "| piece | question | result | seconds |"]
    lines.append("|---|---|---|---|")
    for piece, result in results.items():
        ending, seconds = (result.ending, f"{result.seconds:.0f}") if result else ("not asked yet", "")
        lines.append(f"| {piece.name} | {piece.asks} | {ending} | {seconds} |")
    for piece, result in results.items():
        output = folder / f"{piece.name}.txt"
        if result is None or not output.exists():
            continue
        printed = output.read_text(encoding="utf-8", errors="replace").rstrip().splitlines()
        cut = [f"({len(printed) - SHOWN} lines before these are in {output.name})"] if len(printed) > SHOWN else []
        lines += ["", f"## {piece.name}", "", "```text", f"$ {result.command}", *cut, *printed[-SHOWN:], "```"]
    page = folder / "page.md"
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return page


def main() -> int:
    """Run the pieces that have no result, and write the page; return 1 if a piece failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda", choices=["cuda", "emulated"])
    parser.add_argument("--only", action="append", default=[], metavar="PIECE", help="run it again; may be repeated")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="how long this start may take")
    parser.add_argument("--folder", type=Path, help="of the results (default: results-DEVICE)")
    options = parser.parse_args()
    folder = options.folder or Path(f"results-{options.device}")
    folder.mkdir(parents=True, exist_ok=True)
    results = {piece: kept_result(piece, folder) for piece in pieces(options.device)}
    names = [piece.name for piece in results]
    unknown = set(options.only).difference(names)
    if unknown:
        parser.error(f"there is no piece {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    start = time.monotonic()
    for piece, result in results.items():
        if piece.name not in options.only if options.only else result is not None:
            continue
        if time.monotonic() - start + LIMIT > options.minutes * 60:
            break
        print(f"{piece.name}: {piece.asks}", flush=True)
        results[piece] = run = run_piece(piece, folder)
        print(f"    {run.ending}, {run.seconds} s", flush=True)
        write_page(options.device, folder, results)
    print(f"the page: {write_page(options.device, folder, results)}")
    return int(any(result is not None and result.ending.startswith("failed") for result in results.values()))


if __name__ == "__main__":
    raise SystemExit(main())
