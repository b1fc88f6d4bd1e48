"""A stand-in for the module `cupy` on a machine without a GPU: the part of CuPy that pynested uses, and no more.

Its arrays lie in host memory and its kernels run on the emulator, but it is as strict as CuPy, or stricter. An array is
never converted to an array of NumPy by itself, and never mixes with one. Results without dimensions are arrays. A
function takes the keywords of CuPy's function. ``cupy.synchronized`` counts the calls that make CuPy wait for the GPU.
With `array.fault` the driver fails at a chosen use.

    array.py       ndarray          functions.py   the functions and ufuncs          driver.py   cuda and RawModule
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from unittest import mock

from pynested.backends import registry

from .array import ndarray, synchronized
from .driver import RawModule, compiler, nvrtc, runtime, stream
from .functions import FUNCTIONS, array, as_strided, asarray, ascontiguousarray, ufunc


def module() -> ModuleType:
    """Return the module that ``import cupy`` finds."""
    made = ModuleType("cupy")
    made.__version__ = "14.2.0"  # type: ignore[attr-defined]
    vars(made).update(FUNCTIONS, ndarray=ndarray, ufunc=ufunc)
    vars(made).update(array=array, asarray=asarray, ascontiguousarray=ascontiguousarray)
    vars(made).update(RawModule=RawModule, synchronized=synchronized)
    vars(made).update(lib=SimpleNamespace(stride_tricks=SimpleNamespace(as_strided=as_strided)))
    libraries = {"nvrtc": nvrtc, "cublas": SimpleNamespace(), "compiler": compiler}
    vars(made).update(cuda=SimpleNamespace(runtime=runtime, get_current_stream=lambda: stream, **libraries))
    return made


@contextmanager
def installed() -> Iterator[ModuleType]:
    """Let ``import cupy`` find the stand-in, and ``"cuda"`` be a device, until the end of the block."""
    made, before = module(), sys.modules.get("cupy")
    with mock.patch.dict(registry._made):
        registry._made.pop("cuda", None)
        synchronized.clear()
        sys.modules["cupy"] = made  # and nothing else is put back: what is imported inside stays imported
        try:
            yield made
        finally:
            del sys.modules["cupy"]
            if before is not None:
                sys.modules["cupy"] = before
            synchronized.clear()
