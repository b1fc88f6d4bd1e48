"""Arrays are not only handed to another library: it computes with them, and the numbers are right."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import DTypeError, ExchangeError

LIBRARIES = ("numpy", "torch", "awkward", "pyarrow", "pandas", "tensorflow", "jax", "scipy.sparse")


def computed(library: str, **variables: str) -> int:
    """The number of results that a process of its own compared."""
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


def test_another_byte_order_is_copied_or_refused() -> None:
    theirs = np.array([1.0, 2.0, 3.0], ">f8")
    assert pn.from_numpy(theirs).tolist() == [1, 2, 3]
    ragged = np.empty(1, object)
    ragged[0] = theirs
    assert pn.from_numpy(ragged).tolist() == [[1, 2, 3]]
    with pytest.raises(ExchangeError, match="bytes of its numbers are in another order, .* copy=False"):
        pn.from_numpy(theirs, copy=False)


@pytest.mark.parametrize(
    ("dtype", "remedy"), [("uint16", r"astype\(numpy\.int32\)"), ("complex64", "Convert it to one of bool, int8")]
)
def test_a_dtype_that_pynested_has_not_comes_with_the_conversion(dtype: str, remedy: str) -> None:
    with pytest.raises(DTypeError, match=f"from_numpy: pynested has no {dtype} on the CPU.*{remedy}"):
        pn.from_numpy(np.ones(2, dtype))


def test_bfloat16_comes_with_the_conversion_in_the_words_of_the_library() -> None:
    tried = 0
    for library, make, says in (
        ("torch", lambda m: (pn.from_torch, m.ones(2, dtype=m.bfloat16)), r"tensor\.to\(torch\.float32\)"),
        ("jax.numpy", lambda m: (pn.from_jax, m.ones(2, m.bfloat16)), r"values\.astype\(jax\.numpy\.float32\)"),
        ("tensorflow", lambda m: (pn.from_tensorflow, m.ones(2, m.bfloat16)), "tensorflow.cast"),
    ):
        if find_spec(library.partition(".")[0]) is None:
            continue
        function, values = make(pytest.importorskip(library))
        with pytest.raises(DTypeError, match=f"{function.__name__}: pynested has no bfloat16 on the CPU.*{says}"):
            function(values)
        tried += 1
    if not tried:
        pytest.skip("none of the libraries with bfloat16 is installed")


def test_offsets_that_jax_would_narrow_are_refused() -> None:
    pytest.importorskip("jax")
    values = pn.from_numpy(np.broadcast_to(np.int8(1), 2**31 + 8))
    x = pn.nested_array_from_jagged(values, [2**31, 2**31 + 3, 2**31 + 6], [3, 3])
    with pytest.raises(DTypeError, match="offset 2147483654 is beyond int32"):
        pn.to_jax(x)
