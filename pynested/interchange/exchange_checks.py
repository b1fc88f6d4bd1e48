"""Rules of every exchange: memory and dtypes that each library accepts, and the checks of copies, gradients and dtypes.

A dtype that the receiver does not have, or would narrow, always raises an error. An array that shares memory keeps the
owner of the memory alive, in both directions.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pynested.autograd import Array
from pynested.autograd.arguments.operands import DTYPES, checked_ndarray
from pynested.autograd.call_errors import check_optional_flags
from pynested.backends.errors import (
    ArgumentError,
    DTypeError,
    ExchangeError,
    GradientError,
    MissingDependency,
    named_type,
)
from pynested.backends.repeating_views import without_repeated_writes
from pynested.backends.storage import address
from pynested.nested.nested_array import NestedArray

ALL_DTYPES = frozenset(str(dtype) for dtype in DTYPES)


@dataclass(frozen=True)
class Receiver:
    """Requirements of a library on memory from pynested, which lies on the CPU in native byte order.

    Attributes
    ----------
    function : str
        The function that exports an array to the library.
    dtypes : frozenset of str
        The dtypes that the library represents without loss.
    remedy : str
        Advice for a dtype that is not in ``dtypes``, in which the name of the dtype replaces ``{dtype}``.
    repacked_dtypes : frozenset of str
        The dtypes that the library stores in a format of its own. Arrays of these dtypes are always copied.
    alignment : int
        The alignment in bytes that operators of the library need; 0 for the alignment of one element.
    strides : str
        The strides that the library supports: ``"any"``, ``"not negative"`` by whole elements, or ``"C order"``.
    accepts_read_only : bool
        Whether the library supports read-only memory.
    """

    function: str
    dtypes: frozenset[str] = ALL_DTYPES
    remedy: str = ""
    repacked_dtypes: frozenset[str] = frozenset()
    alignment: int = 0
    strides: str = "any"
    accepts_read_only: bool = True


# From pynested to a library. Arrays on a GPU are exported by DLPack, to PyTorch and CuPy, without these checks.
TO_NUMPY = Receiver("to_numpy")
TO_TORCH = Receiver("to_torch", strides="not negative", accepts_read_only=False)
TO_AWKWARD = Receiver("to_awkward", strides="C order")
TO_ARROW = Receiver("to_arrow", repacked_dtypes=frozenset({"bool"}), strides="C order")
# TensorFlow's kernels abort the process if memory is not aligned to 64 bytes; its DLPack refuses read-only memory.
TO_TENSORFLOW = Receiver("to_tensorflow", alignment=64, strides="C order", accepts_read_only=False)
TO_JAX_64_BIT = Receiver("to_jax", alignment=64, strides="C order", accepts_read_only=False)
TO_JAX_32_BIT = replace(
    TO_JAX_64_BIT,
    dtypes=ALL_DTYPES - {"int64", "float64"},
    remedy="JAX would narrow {dtype}. Enable 64 bits, jax.config.update('jax_enable_x64', True), or narrow the "
    "array yourself: x.to(pn.{narrower}).",
)
TO_CSR = Receiver(
    "to_csr",
    dtypes=ALL_DTYPES - {"float16"},
    remedy="scipy.sparse does not compute in {dtype}. Widen the array: x.to(pn.float32).",
    strides="C order",
)

_NARROWER = {"int64": "int32", "float64": "float32"}
_WIDER = {"bfloat16": "float32", "uint16": "int32", "uint32": "int64"}


# ---- checks ---------------------------------------------------------------------------------------------------------


def import_optional(name: str, module: str, package: str | None = None) -> Any:
    """Import a module of another library, at the first call of a function that needs it."""
    package = package or module
    try:
        return importlib.import_module(module)
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError) and error.name in (module, module.partition(".")[0]):
            raise MissingDependency(f"{name}: {module} is not installed. Install it: pip install {package}.") from None
        raise MissingDependency(
            f"{name}: {module} is installed, but its import fails: {error}. Repair it: pip install --force-reinstall "
            f"{package}."
        ) from error


def check_exportable(name: str, x: Any, copy: bool | None = None) -> None:
    """Check the arguments of an export; raise GradientError for an array whose gradients would be lost."""
    check_optional_flags(name, copy=copy)
    if not isinstance(x, Array | NestedArray):
        raise ArgumentError(
            f"{name}: takes an array of pynested, not {named_type(x)}. Make one of it: pn.array(x), or "
            "pn.nested_array(x)."
        )
    if x.requires_grad:
        raise GradientError(
            f"{name}: this array requires grad, and its history cannot be exported. Detach it: {name}(x.detach())."
        )


def check_may_copy(name: str, copy: bool | None, reason: str) -> None:
    """Raise ExchangeError if ``copy=False`` forbids a copy that is needed."""
    if copy is False:
        raise ExchangeError(f"{name}: {reason}, so the memory cannot be shared. Leave out copy=False to copy it.")


def check_known_dtype(name: str, dtype: str) -> None:
    """Raise DTypeError for a dtype that pynested does not have on the CPU; the message names a wider one."""
    if dtype not in ALL_DTYPES:
        advice = f"Convert it to {_WIDER[dtype]} first" if dtype in _WIDER else f"It has {', '.join(map(str, DTYPES))}"
        raise DTypeError(f"{name}: pynested has no {dtype} on the CPU. {advice}.")


# ---- from pynested to a library -------------------------------------------------------------------------------------


def values_on_host(name: str, x: Array, copy: bool | None) -> NDArray[Any]:
    """Return the values as a NumPy array; it shares the memory of ``x`` if that lies on the CPU."""
    if x.device == "cpu":
        return x.numpy()
    check_may_copy(name, copy, f"the array lies on {x.device!r}")
    return x.to("cpu").numpy()


def values_for_export(receiver: Receiver, x: Array, copy: bool | None) -> NDArray[Any]:
    """Return the values of ``x`` in memory that the receiver accepts: the same memory if possible, else a copy."""
    name = receiver.function
    values = values_on_host(name, x, copy)
    dtype = str(values.dtype)
    if dtype not in receiver.dtypes:
        remedy = receiver.remedy.format(dtype=dtype, narrower=_NARROWER.get(dtype, ""))
        raise DTypeError(f"{name}: the array is {dtype}. {remedy}")
    reason = next(_reasons_to_copy(receiver, values, x.is_writable()), None)
    if reason is not None:
        check_may_copy(name, copy, reason)
    elif not copy:
        return values
    return _aligned_copy(values, receiver.alignment)


def _reasons_to_copy(receiver: Receiver, values: NDArray[Any], is_writable: bool) -> Iterator[str]:
    """Yield why the receiver cannot share the memory of ``values``, as clauses for an error message."""
    library = receiver.function.removeprefix("to_")
    if str(values.dtype) in receiver.repacked_dtypes:
        yield f"{library} stores {values.dtype} in a format of its own"
    if not values.size:
        return
    alignment = receiver.alignment or values.dtype.alignment
    misaligned_by = address(values) % alignment
    if misaligned_by:
        yield f"{library} needs memory aligned to {alignment} bytes, and the values lie {misaligned_by} bytes off"
    if receiver.strides == "C order" and not values.flags.c_contiguous:
        yield f"values of strides {values.strides} are not in C order"
    if receiver.strides == "not negative" and any(step < 0 or step % values.itemsize for step in values.strides):
        yield f"values of strides {values.strides} go backwards, or not by whole elements"
    if not receiver.accepts_read_only and not is_writable:
        yield f"the memory is read-only, and {library} needs writable memory"


def _aligned_copy(values: NDArray[Any], alignment: int) -> NDArray[Any]:
    """Return a copy in C order whose address is a multiple of ``alignment`` bytes."""
    memory = np.empty(values.nbytes + alignment, np.uint8)
    start = -address(memory) % alignment if alignment else 0
    copied = memory[start : start + values.nbytes].view(values.dtype).reshape(values.shape)
    copied[...] = values
    return copied


# ---- from a library to pynested -------------------------------------------------------------------------------------


def values_for_import(name: str, values: NDArray[Any], copy: bool | None) -> NDArray[Any]:
    """Return values of a library as a NumPy array in native byte order; raise unless pynested has their dtype."""
    native_dtype = values.dtype.newbyteorder("=")
    check_known_dtype(name, str(native_dtype))
    if values.dtype != native_dtype:
        check_may_copy(name, copy, "the bytes of its numbers are not in native order")
        return checked_ndarray(name, values.astype(native_dtype))
    return checked_ndarray(name, values.copy() if copy else without_repeated_writes(values))
