"""Kernels and planted faults under the sanitizers of the C++ compiler, each in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pynested.backends.cuda.emulated_launcher import Emulator
from pynested.backends.errors import MissingDependency

HERE = Path(__file__).parent
LAUNCH = """
import sys
from pathlib import Path
import numpy as np
from pynested.backends.cuda.emulated_launcher import Emulator, emulated_backend
launcher = Emulator.from_environment()
launcher.folder, launcher.instantiations_by_file = Path(sys.argv[1]), {"faults.cu": sys.argv[3:]}
device = emulated_backend(launcher)
x, out = device.empty((128,), np.float32), device.empty((128,), np.float32)
x[...], out[...] = np.arange(128), 0
blocks = 2 if sys.argv[2] in ("blocks_race", "write_past_end") else 1
device.launch("faults.cu", f"{sys.argv[2]}<float>", (blocks,), (128,), (x, out, np.int32(128)))
"""
FAULTS = {
    **dict.fromkeys(("write_past_end", "read_past_end"), ("address", "heap-buffer-overflow")),
    "shared_past_end": ("address", "out of bounds"),
    "misaligned": ("address", "misaligned address"),
    "overflow_of_int": ("address", "signed integer overflow"),
    **dict.fromkeys(("missing_barrier", "missing_second_barrier", "blocks_race"), ("thread", "data race")),
}
INSTANTIATIONS = [f"{fault}<float>" for fault in (*FAULTS, "hole")]
CHECKED_BETWEEN_BLOCKS = "(spread or segment_max or layer_norm_backward or pad)"
# Sanitizer, blocks at a time, kernels. Two blocks at a time show races between blocks, with many more threads.
KERNELS = [
    ("address", 1, "of_the_emulated_device and (float32 or int8 or (float16 and segment))"),
    ("thread", 1, f"no_schedule and random and float32 and not {CHECKED_BETWEEN_BLOCKS}"),
    ("thread", 2, f"no_schedule and random and float32 and {CHECKED_BETWEEN_BLOCKS}"),
]

pytestmark = pytest.mark.sanitizer


def sanitized(sanitizer: str, workers: int, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run Python with a sanitizer in it, over kernels that are built for it."""
    try:
        environment = Emulator(workers=workers, sanitizer=sanitizer).environment()
    except MissingDependency as reason:
        pytest.skip(str(reason))
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=500, check=False)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_on_its_line(fault: str) -> None:
    sanitizer, says = FAULTS[fault]
    done = sanitized(sanitizer, 2, "-c", LAUNCH, HERE / "planted", fault, *INSTANTIATIONS)
    assert done.returncode != 0
    assert says in done.stderr and "faults.cu:" in done.stderr, done.stderr[-3000:]


@pytest.mark.parametrize("sanitizer", ["address", "thread"])
def test_a_right_kernel_is_not_reported(sanitizer: str) -> None:
    done = sanitized(sanitizer, 2, "-c", LAUNCH, HERE / "planted", "hole", *INSTANTIATIONS)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("sanitizer", "workers", "kernels"), KERNELS)
def test_kernels_are_clean(sanitizer: str, workers: int, kernels: str) -> None:
    Emulator(sanitizer=sanitizer).compile_all()  # here, as a compiler under the sanitizer takes much longer
    options = ["-q", "-x", "-p", "no:cacheprovider", "-m", "", "-k", kernels]
    done = sanitized(sanitizer, workers, "-m", "pytest", *options, HERE.parent / "test_kernels.py")
    assert done.returncode == 0, (done.stdout + done.stderr)[-5000:]
    assert "data race" not in done.stderr
