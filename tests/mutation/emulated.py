"""Run a check of the CUDA kernels on the emulator in every schedule: ``python -m tests.mutation.emulated CHECK DTYPE``.

The exit status is 1 if a schedule rejects the kernels.
"""

from __future__ import annotations

import sys

from pynested.backends.cuda.emulated_launcher import Emulator, emulated_backend
from pynested.backends.cuda.instantiations import CTYPES, all_instantiations
from pynested.backends.errors import DeviceError
from tests.backends import kernel_checks_moves  # noqa: F401  enters its checks
from tests.backends.conftest import SCHEDULES
from tests.backends.kernel_checks import CHECKS


def instantiations_for(dtype: str) -> dict[str, list[str]]:
    """Return the instantiations for a dtype and for words, which are all that its check needs."""
    others = {c for d, c in CTYPES.items() if d not in (dtype, "int64", "uint8")}
    if dtype in ("float16", "bfloat16"):  # pieces of a sum are float32
        others.discard(CTYPES["float32"])

    def needed(name: str) -> bool:
        arguments = name.partition("<")[2].removesuffix(">").split(", ")
        return others.isdisjoint(arguments) or name.startswith(f"cast<{CTYPES[dtype]},")  # into every other dtype

    return {file: [name for name in names if needed(name)] for file, names in all_instantiations().items()}


def rejection(check: str, dtype: str) -> str:
    """Return the schedule that rejects the kernels and the reason, or an empty text."""
    for schedule, seed in SCHEDULES.values():
        backend = emulated_backend(Emulator(schedule, seed, instantiations_by_file=instantiations_for(dtype)))
        try:
            CHECKS[check][1](backend, dtype)
        except (AssertionError, DeviceError) as error:
            if "catalogue" in str(error):  # a missing instantiation says nothing of the kernel
                raise
            return f"rejected on the schedule {schedule}: {str(error).strip().partition(chr(10))[0]}"
    return ""


if __name__ == "__main__":
    reason = rejection(*sys.argv[1:])
    print(reason)
    sys.exit(bool(reason))
