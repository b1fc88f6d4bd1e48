"""Wrong kernels against their checks: ``python -m tests.backends.cuda.mutants.mutant`` reads names and folders."""

from __future__ import annotations

import shutil
import sys
from functools import partial
from pathlib import Path
from typing import NamedTuple

from pynested.backends.cuda.catalogue import catalogue
from pynested.backends.cuda.emulated import Emulator, emulated_backend
from pynested.backends.cuda.naming import CTYPES
from pynested.backends.cuda.signatures import KERNELS
from pynested.backends.errors import DeviceError

from ....forked import in_child
from .. import agreement_more  # noqa: F401  enters its checks
from ..agreement import CHECKS

SECONDS = 120  # after which a mutant that does not end counts as rejected
FOLDER = Path(__file__).parent
SCHEDULES = (("forward", 0), ("reverse", 0), ("random", 1), ("eager", 0), ("eager", 1))


class Mutant(NamedTuple):
    """``old``, which occurs in ``file``, becomes ``new``; ``verb`` names the check, ``dtype`` what it runs on."""

    name: str
    file: str
    verb: str
    dtype: str
    old: str
    new: str


def read(text: str) -> dict[str, Mutant]:
    """The mutants in the text, in which each is written as a change."""
    found = {}
    for part in text.split("\n== ")[1:]:
        name, head, *lines = part.rstrip("\n").split("\n")
        file, _, what = head.partition(": ")
        verb, dtype = what.split()
        old, new = ("\n".join(line[1:] for line in lines if line[:1] == sign) for sign in "-+")
        found[name] = Mutant(name, file, verb, dtype, old, new)
    return found


MUTANTS = read((FOLDER / "mutants.txt").read_text(encoding="utf-8"))


def mutated(mutant: Mutant, folder: Path) -> Path:
    """A copy of the kernels with the change in it."""
    kernels = Path(shutil.copytree(KERNELS, folder / "kernels"))
    text = (kernels / mutant.file).read_text(encoding="utf-8")
    assert mutant.old in text, f"{mutant.file} has no {mutant.old!r}"
    (kernels / mutant.file).write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
    return kernels


def units(dtype: str) -> dict[str, list[str]]:
    """The instantiations for a dtype and for words, which are all that its check needs."""
    others = {c for d, c in CTYPES.items() if d not in (dtype, "int64", "uint8")}
    if dtype in ("float16", "bfloat16"):  # pieces of a sum are float32
        others.discard(CTYPES["float32"])

    def needed(name: str) -> bool:
        arguments = name.partition("<")[2].removesuffix(">").split(", ")
        return others.isdisjoint(arguments) or name.startswith(f"cast<{CTYPES[dtype]},")  # into every other dtype

    return {file: [name for name in names if needed(name)] for file, names in catalogue().items()}


def judge(mutant: Mutant, kernels: Path) -> str:
    """Why the check rejects the kernels, or "accepted"."""
    for schedule, seed in SCHEDULES:
        backend = emulated_backend(Emulator(schedule, seed, kernels=kernels, units=units(mutant.dtype)))
        try:
            CHECKS[mutant.verb][1](backend, mutant.dtype)
        except (AssertionError, DeviceError) as error:
            if "catalogue" in str(error):  # what was left out says nothing of the mutant
                raise
            return f"rejected on the schedule {schedule}: {str(error).strip().splitlines()[0] if str(error) else ''}"
    return "accepted"


def verdict(name: str, folder: Path) -> str:
    """What is said of one mutant, or of the kernels as they are, in a line."""
    unchanged = Mutant("nothing", "spread.cu", "segment_sum", "float32", "spread", "spread")
    mutant = MUTANTS.get(name, unchanged)
    return judge(mutant, mutated(mutant, folder))


def main() -> None:
    """Print a verdict for each line read, which is a name, a tab and a folder to work in; each in a forked process."""
    for line in sys.stdin:
        name, folder = line.rstrip("\n").split("\t")
        print(in_child(partial(verdict, name, Path(folder)), SECONDS), flush=True)


if __name__ == "__main__":
    main()
