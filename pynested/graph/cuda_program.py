"""The CUDA kernel that is generated for a chain of elementwise operators; a thread computes all results of an element.

The chain ``(x + y) * bias`` of float32 becomes, in short::

    template <class I>
    __global__ void chain(const float *x0, const float *x1, const float *x2, i64 row, i64 count, float *y0) {
      each(thread, count, threads,
           [&](i64 i) { return Loaded{up(x0[i]), up(x1[i]), up(x2[(I)i % (I)row])}; },
           [&](i64 i, const Loaded &x) {
             const float v0 = Add::of(x.r0, x.r1);
             const float v1 = Multiply::of(v0, x.r2);
             y0[i] = down<float>(v1);
           });
    }

An operand that broadcasts is expanded to one row, which has all dimensions of the results but the first. Each
statement rounds to the dtype of its operator, so sums, products and quotients equal those of the separate operators,
bit for bit. ``up`` converts to the dtype in which a kernel computes, ``down`` to the dtype of an array.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from math import prod
from typing import Any

import numpy as np

from pynested.backends import get_backend
from pynested.backends.cuda.elementwise import ELEMENTS_PER_BLOCK, MAX_BLOCKS
from pynested.backends.cuda.instantiations import ctype, instantiation
from pynested.backends.cuda.kernel_source import KERNEL_FOLDER, register_source
from pynested.backends.cuda.launching_backend import BLOCK
from pynested.backends.dtypes import computing_dtype, is_float, is_half
from pynested.backends.errors import DTypeError
from pynested.backends.plain.elementwise import cast
from pynested.backends.quiet import without_warnings
from pynested.backends.registry import REPLACEMENT_KERNELS

from .fusible_ops import LazyArray, resolve_dtypes, topological_order

FUNCTORS_FILE = "functors.cuh"
_BITS = {"inf": "0x7ff0000000000000", "-inf": "0xfff0000000000000", "nan": "0x7ff8000000000000"}


class CudaProgram:
    """A function ``program(shape, operands) -> results`` on one device, with the interface of `BlockProgram`."""

    def __init__(self, title: str, inputs: Sequence[LazyArray], results: Sequence[LazyArray], device: str) -> None:
        needed = frozenset(topological_order(results, frozenset(inputs)))
        self.reads = [i for i, x in enumerate(inputs) if x in needed]
        self.source_names: dict[tuple[int, ...], str] = {}  # by the positions of the operands that broadcast
        self._title, self._device = title, device
        self._inputs, self._results = [inputs[i] for i in self.reads], results

    @without_warnings
    def __call__(self, shape: tuple[int, ...], operands: Sequence[Any]) -> list[Any]:
        """Compute the results."""
        backend: Any = get_backend(self._device)
        results = [backend.empty(shape, x.dtype) for x in self._results]
        count = prod(shape)
        if not count or not results:
            return results
        used = [operands[i] for i in self.reads]
        broadcasting = tuple([k for k, x in enumerate(used) if x.shape != shape])
        for k in broadcasting:
            used[k] = backend.xp.broadcast_to(used[k], shape[1:])
        if broadcasting not in self.source_names:
            source = cuda_source(self._title, self._inputs, broadcasting, self._results)
            self.source_names[broadcasting] = register_source("chain", source)
        name = instantiation("chain", "long long" if broadcasting and count >= 2**32 else "unsigned int")
        grid = (min(MAX_BLOCKS, -(-count // ELEMENTS_PER_BLOCK)),)
        sizes = [prod(shape[1:])] * bool(broadcasting) + [count]
        args = [*map(backend.as_contiguous, used), *sizes, *results]
        backend.launch(self.source_names[broadcasting], name, grid, (BLOCK,), args)
        return results


def cuda_source(
    title: str, inputs: Sequence[LazyArray], broadcasting: Sequence[int], results: Sequence[LazyArray]
) -> str:
    """Return the source of the kernel that computes ``results``; the inputs at positions ``broadcasting`` broadcast."""
    names = {x: f"x.r{k}" for k, x in enumerate(inputs)}
    lines: list[str] = []
    for x in topological_order(results, frozenset(inputs)):
        if x not in names:
            names[x] = f"v{len(lines)}"
            lines.append(f"const {_type_of(x.dtype)} {names[x]} = {_expression(x, names)};")
    for k, x in enumerate(results):
        lines.append(f"y{k}[i] = {f'down<{ctype(x.dtype)}>({names[x]})' if is_float(x.dtype) else names[x]};")
    loads = [f"x{k}[(I)i % (I)row]" if k in broadcasting else f"x{k}[i]" for k in range(len(inputs))]
    loads = [f"up({load})" if is_float(x.dtype) else load for x, load in zip(inputs, loads, strict=True)]
    parameters = [f"const {ctype(x.dtype)} *__restrict__ x{k}" for k, x in enumerate(inputs)]
    parameters += ["i64 row"] * bool(broadcasting) + ["i64 count"]
    parameters += [f"{ctype(x.dtype)} *__restrict__ y{k}" for k, x in enumerate(results)]
    fields = " ".join(f"{_type_of(x.dtype)} r{k};" for k, x in enumerate(inputs))
    body = "\n         ".join(lines)
    head = ",\n      ".join(parameters)
    return f"""// {title}
#include "{FUNCTORS_FILE}"

struct Loaded {{ {fields} }};

template <class I>
__global__ void __launch_bounds__(256)
chain({head}) {{
  each((i64)blockIdx.x * 256 + threadIdx.x, count, (i64)gridDim.x * 256,
       [&](i64 i) {{
         return Loaded{{{", ".join(loads)}}};
       }},
       [&](i64 i, const Loaded &x) {{
         {body}
       }});
}}
"""


def _expression(x: LazyArray, names: dict[LazyArray, str]) -> str:
    """Return the call of a functor; rounded if the dtype has fewer digits than the type that computes."""
    if x.function is cast:
        (operand,) = x.reads
        return _converted(names[operand], operand.dtype, x.dtype)
    dtypes = (np.dtype(bool), x.dtype, x.dtype) if x.function is np.where else (x.dtype,) * len(x.operands)
    if isinstance(x.function, np.ufunc):
        dtypes = resolve_dtypes(x.function, x.operands)
    operands = [
        _converted(names[operand], operand.dtype, dtype) if type(operand) is LazyArray else literal(operand, dtype)
        for operand, dtype in zip(x.operands, dtypes, strict=False)
    ]
    text = f"{functor_of(x.function)}::of({', '.join(operands)})"
    return f"rounded<{ctype(x.dtype)}>({text})" if is_half(x.dtype) else text


def _converted(text: str, dtype: np.dtype[Any], target: np.dtype[Any]) -> str:
    """Return a number in another dtype, rounded once."""
    if dtype == target:
        return text
    if is_float(dtype) and is_float(target) and np.dtype(np.float64) not in (dtype, target):
        return f"rounded<{ctype(target)}>({text})" if is_half(target) else text  # both are computed in float
    if _type_of(target) == "double" or not is_float(target):
        return f"{_type_of(target)}({text})"
    return f"up(converted<{_type_of(dtype)}, {ctype(target)}>({text}))"


def literal(number: Any, dtype: np.dtype[Any]) -> str:
    """Return a number, rounded to ``dtype``, as text."""
    if dtype == np.bool_:
        return "true" if number else "false"
    if not is_float(dtype):
        return f"({_type_of(dtype)}){int(number)}ll"
    with np.errstate(all="ignore"):
        rounded = dtype.type(float(number))
    text = str(np.float32(rounded) if is_half(dtype) else rounded)
    return f"{_type_of(dtype)}({f'__longlong_as_double({_BITS[text]}ll)' if text in _BITS else text})"


def _type_of(dtype: np.dtype[Any]) -> str:
    """Return the type in which a kernel computes; half precision is for storage."""
    return ctype(computing_dtype(dtype))


def functor_of(function: Any) -> str:
    """Return the struct of functors.cuh that computes a function: LessEqual for `numpy.less_equal`."""
    functor = "Sgn" if function is np.sign else _camel(function.__name__)
    if functor not in _functors():
        raise DTypeError(f"a kernel of a chain needs the functor {functor!r}, which {FUNCTORS_FILE} does not define.")
    return functor


def has_custom_kernels(device: str) -> bool:
    """Return whether `pynested.kernel` has replaced a function that a chain would compute itself."""
    return any(_camel(kernel) in _functors() for kernel in REPLACEMENT_KERNELS[device])


@cache
def _functors() -> frozenset[str]:
    text = (KERNEL_FOLDER / FUNCTORS_FILE).read_text(encoding="utf-8")
    return frozenset(re.findall(r"^(?:struct |PYNESTED_FUNCTION(?:_OF_TWO)?\()(\w+)[ ,]", text, re.MULTILINE))


def _camel(kernel: str) -> str:
    return "".join(word.capitalize() for word in kernel.split("_"))
