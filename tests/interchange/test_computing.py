"""Results that other libraries compute with exchanged arrays, each library in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import DTypeError

LIBRARIES = ("numpy", "torch", "awkward", "pyarrow", "pandas", "tensorflow", "jax", "scipy.sparse")


def computed(library: str, **variables: str) -> int:
    """Return the number of results that were compared."""
    if find_spec(library.partition(".")[0]) is None:
        pytest.skip(f"{library} is not installed")
    command = [sys.executable, "-m", "tests.interchange.computing", library]
    environment = {"PATH": "/usr/bin:/bin", "JAX_PLATFORMS": "cpu", **variables}
    root = Path(__file__).resolve().parents[2]
    found = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=600)
    assert found.returncode == 0, f"exit status {found.returncode}\n{found.stderr[-3000:]}"
    return int(found.stdout)


@pytest.mark.parametrize("library", LIBRARIES)
def test_numbers_are_right_in_every_dtype_at_every_place(library: str) -> None:
    assert computed(library) >= 300  # 9 dtypes at 12 places out, of which two or three ways to copy, and 8 places in


def test_jax_with_64_bits_has_every_dtype() -> None:
    assert computed("jax", JAX_ENABLE_X64="1") >= 300


def test_offsets_that_jax_would_narrow_are_refused() -> None:
    pytest.importorskip("jax")
    values = pn.from_numpy(np.broadcast_to(np.int8(1), 2**31 + 8))
    x = pn.nested_array_from_jagged(values, [2**31, 2**31 + 3, 2**31 + 6], [3, 3])
    with pytest.raises(DTypeError, match="offset 2147483654 is beyond int32"):
        pn.to_jax(x)
