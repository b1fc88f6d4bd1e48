"""Launch one planted fault, or none, as the environment says: ``python run.py FAULT``. Sanitizers watch the process."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from pynested.backends.cuda.emulated import Emulator, emulated_backend


def main(fault: str) -> None:
    launcher = Emulator.from_environment()
    launcher.kernels, launcher.units = Path(__file__).parent, {}
    device = emulated_backend(launcher)
    blocks = 2 if fault in ("blocks_race", "write_past_end") else 1
    n = 128
    x, out = device.empty((n,), np.float32), device.empty((n,), np.float32)
    x[...], out[...] = np.arange(n), 0
    device.launch("faults.cu", f"{fault}<float>", (blocks,), (128,), (x, out, np.int32(n)))


if __name__ == "__main__":
    main(sys.argv[1])
