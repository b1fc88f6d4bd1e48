"""Memory and dtypes that each library accepts, in both directions, and the functions that enforce them.

What differs in memory only (alignment, strides, writability, byte order) is copied, or refused with ``copy=False``. A
dtype that the receiver has not, or would narrow, is refused whatever ``copy`` says. Lifetime is the same everywhere:
whoever shares memory keeps its owner alive.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pynested.autograd import Array
from pynested.autograd.arguments.canonical import DTYPES, own_class
from pynested.backends.errors import DTypeError, ExchangeError
from pynested.backends.host import address

ALL = frozenset(str(dtype) for dtype in DTYPES)


@dataclass(frozen=True)
class Receiver:
    """Properties of an array of pynested that a library accepts. The array is on the CPU and in native byte order.

    Attributes
    ----------
    function : str
        That hands arrays over.
    dtypes : frozenset of str
        That it keeps as they are.
    remedy : str
        What to do about another dtype, with the dtype as ``{dtype}``.
    repacked : frozenset of str
        Dtypes that it stores in another way, so that they are always copied.
    alignment : int
        Its operators need memory at a multiple of so many bytes; 0 for that of one element.
    strides : str
        The strides that it can have: ``"any"``, ``"not negative"``, or those of ``"C order"``.
    keeps_read_only : bool
        Whether it does not write to memory that pynested may not write to.
    """

    function: str
    dtypes: frozenset[str] = ALL
    remedy: str = ""
    repacked: frozenset[str] = frozenset()
    alignment: int = 0
    strides: str = "any"
    keeps_read_only: bool = True


# pynested to the library. On a GPU arrays go out as they are, by DLPack, to PyTorch and CuPy.
NUMPY = Receiver("to_numpy")
TORCH = Receiver("to_torch", strides="not negative", keeps_read_only=False)
AWKWARD = Receiver("to_awkward", strides="C order")
ARROW = Receiver("to_arrow", repacked=frozenset({"bool"}), strides="C order")
# TensorFlow's kernels end the process where memory is not aligned so; its DLPack takes nothing that is read-only.
TENSORFLOW = Receiver("to_tensorflow", alignment=64, strides="C order", keeps_read_only=False)
JAX_WIDE = Receiver("to_jax", alignment=64, strides="C order", keeps_read_only=False)
JAX = replace(
    JAX_WIDE,
    dtypes=ALL - {"int64", "float64"},
    remedy="JAX would narrow {dtype}. Let it have 64 bits, jax.config.update('jax_enable_x64', True), or narrow the "
    "array yourself: x.to(pn.{narrower}).",
)
CSR = Receiver(
    "to_csr",
    dtypes=ALL - {"float16"},
    remedy="scipy.sparse does not compute in {dtype}. Widen the array: x.to(pn.float32).",
    strides="C order",
)

# A library to pynested: what it calls a conversion. pynested takes any alignment and strides, keeps read-only memory
# read-only, and has no bfloat16 on the CPU.
CONVERSIONS = {
    "from_numpy": "array.astype(numpy.{dtype})",
    "from_torch": "tensor.to(torch.{dtype})",
    "from_awkward": "awkward.values_astype(array, numpy.{dtype})",
    "from_arrow": "array.cast(...) to a type over {dtype}",
    "from_tensorflow": "tensorflow.cast(tensor, tensorflow.{dtype})",
    "from_jax": "values.astype(jax.numpy.{dtype})",
    "from_csr": "matrix.astype(numpy.{dtype})",
}
_NARROWER = {"int64": "int32", "float64": "float32"}
_WIDER = {"bfloat16": "float32", "uint16": "int32", "uint32": "int64"}


def must_copy(name: str, copy: bool | None, why: str) -> None:
    """Refuse a copy that ``copy=False`` forbids."""
    if copy is False:
        raise ExchangeError(f"{name}: {why}, so the memory cannot be shared. Leave copy=False out to have it copied.")


def values_on_host(name: str, x: Array, copy: bool | None) -> NDArray[Any]:
    """The values as an array of NumPy: the same memory, if it is the host's."""
    if x.device == "cpu":
        return x.numpy()
    must_copy(name, copy, f"the array lies on {x.device!r}")
    return x.to("cpu").numpy()


def accepted_values(receiver: Receiver, x: Array, copy: bool | None) -> NDArray[Any]:
    """The values of ``x`` in memory that the receiver accepts: the same memory if it does, else a copy."""
    name = receiver.function
    values = values_on_host(name, x, copy)
    dtype = str(values.dtype)
    if dtype not in receiver.dtypes:
        remedy = receiver.remedy.format(dtype=dtype, narrower=_NARROWER.get(dtype, ""))
        raise DTypeError(f"{name}: the array is {dtype}. {remedy}")
    why = next(_reasons_to_copy(receiver, values, x.is_writable()), None)
    if why is not None:
        must_copy(name, copy, why)
    elif not copy:
        return values
    return _aligned_copy(values, receiver.alignment)


def _reasons_to_copy(receiver: Receiver, values: NDArray[Any], writable: bool) -> Iterator[str]:
    library = receiver.function.removeprefix("to_")
    if str(values.dtype) in receiver.repacked:
        yield f"{library} stores {values.dtype} in another way"
    if not values.size:
        return
    alignment = receiver.alignment or values.dtype.alignment
    behind = address(values) % alignment
    if behind:
        yield f"{library} needs memory aligned to {alignment} bytes, and the values lie {behind} behind"
    if receiver.strides == "C order" and not values.flags.c_contiguous:
        yield f"values of strides {values.strides} are not in C order"
    if receiver.strides == "not negative" and min(values.strides, default=0) < 0:
        yield f"values of strides {values.strides} go backwards"
    if not receiver.keeps_read_only and not writable:
        yield f"the memory is read-only, and {library} has no such memory"


def _aligned_copy(values: NDArray[Any], alignment: int) -> NDArray[Any]:
    """A copy in C order that begins at a multiple of ``alignment`` bytes."""
    memory = np.empty(values.nbytes + alignment, np.uint8)
    start = -address(memory) % alignment if alignment else 0
    copied = memory[start : start + values.nbytes].view(values.dtype).reshape(values.shape)
    copied[...] = values
    return copied


def check_known_dtype(name: str, dtype: str) -> None:
    """Refuse a dtype that pynested does not have on the CPU, with the conversion in the words of the other library."""
    if dtype in ALL:
        return
    wider = _WIDER.get(dtype)
    to = f" to one of {', '.join(map(str, DTYPES))}" if wider is None else ""
    raise DTypeError(
        f"{name}: pynested has no {dtype} on the CPU. Convert it{to} first: "
        f"{CONVERSIONS[name].format(dtype=wider or '...')}."
    )


def received_values(name: str, values: NDArray[Any], copy: bool | None) -> NDArray[Any]:
    """An array of NumPy, as a library gave it, as one that pynested has: in native byte order."""
    native = values.dtype.newbyteorder("=")
    check_known_dtype(name, str(native))
    if values.dtype != native:
        must_copy(name, copy, "the bytes of its numbers are in another order")
        return own_class(name, values.astype(native))
    return own_class(name, values.copy() if copy else values)
