"""The text of a kernel: its parameters, a line for each register that a result needs, and the results.

The chain ``(x + y).tanh() * bias`` of float32 becomes::

    // chain of add, tanh, mul
    #include "functors.cuh"

    struct Loaded { float r0; float r1; float r2; };

    template <class I>
    __global__ void __launch_bounds__(256)
    chain(const float *__restrict__ x0, const float *__restrict__ x1, const float *__restrict__ x2, i64 step2_0,
          i64 step2_1, i64 size1, i64 count, float *__restrict__ y0) {
      each((i64)blockIdx.x * 256 + threadIdx.x, count, (i64)gridDim.x * 256,
           [&](i64 i) {
             const I i0 = (I)i / (I)size1, i1 = (I)i - i0 * (I)size1;
             return Loaded{up(x0[i]), up(x1[i]), up(x2[i0 * step2_0 + i1 * step2_1])};
           },
           [&](i64 i, const Loaded &x) {
             const float v0 = Add::of(x.r0, x.r1);
             const float v1 = Tanh::of(v0);
             const float v2 = Multiply::of(v1, x.r2);
             y0[i] = down<float>(v2);
           });
    }

An operand that is spread over the others has a step for each dimension; see `launching.merged`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from textwrap import fill
from typing import Any

import numpy as np

from pynested.backends.cuda.naming import ctype
from pynested.backends.dtypes import is_float, is_half
from pynested.backends.numpy.elementwise import cast

from ..chains.registers import Register, in_order, resolved
from .functors import FUNCTORS, functor_of, literal, type_of

_BOOL = np.dtype(bool)


def text_of_kernel(
    title: str, parameters: Sequence[Register], spread: Sequence[int], dims: int, results: Sequence[Register]
) -> str:
    """The kernel that makes ``results`` of ``parameters``, of which some are spread over so many dimensions."""
    lines = _body(parameters, results)
    types = [ctype(one.dtype) for one in parameters]
    given = [f"const {type_} *__restrict__ x{k}" for k, type_ in enumerate(types)]
    given += [f"i64 step{k}_{d}" for k in spread for d in range(dims)]
    given += [f"i64 size{d}" for d in range(1, dims)] if spread else []
    given += ["i64 count", *[f"{ctype(one.dtype)} *__restrict__ y{k}" for k, one in enumerate(results)]]
    places = [_place(k, dims) if k in spread else "i" for k in range(len(parameters))]
    loads = [
        f"up(x{k}[{places[k]}])" if is_float(one.dtype) else f"x{k}[{places[k]}]" for k, one in enumerate(parameters)
    ]
    fields = " ".join(f"{type_of(one.dtype)} r{k};" for k, one in enumerate(parameters))
    start = [*_positions(dims)] if spread else []
    return f"""{fill(title, 116, initial_indent="// ", subsequent_indent="//     ")}
#include "{FUNCTORS}"

struct Loaded {{ {fields} }};

template <class I>
__global__ void __launch_bounds__(256)
{_head(given)}
  each((i64)blockIdx.x * 256 + threadIdx.x, count, (i64)gridDim.x * 256,
       [&](i64 i) {{
{_indented([*start, f"return Loaded{{{', '.join(loads)}}};"])}
       }},
       [&](i64 i, const Loaded &x) {{
{_indented(lines)}
       }});
}}
"""


def _head(parameters: Iterable[str]) -> str:
    """Name and parameters, in lines that end between two of these."""
    whole = [one.replace(" ", "\0") for one in parameters]
    return fill(f"chain({', '.join(whole)}) {{", 116, subsequent_indent=" " * 6).replace("\0", " ")


def _indented(lines: Iterable[str]) -> str:
    return "\n".join(f"         {line}" for line in lines)


def _body(parameters: Sequence[Register], results: Sequence[Register]) -> list[str]:
    """What is done with an element of each parameter."""
    names = {one: f"x.r{k}" for k, one in enumerate(parameters)}
    lines: list[str] = []
    for one in in_order(results):
        if one.function is not None:
            names[one] = f"v{len(lines)}"
            lines.append(f"const {type_of(one.dtype)} {names[one]} = {_computed(one, names)};")
    stored = [f"down<{ctype(one.dtype)}>({names[one]})" if is_float(one.dtype) else names[one] for one in results]
    return lines + [f"y{k}[i] = {text};" for k, text in enumerate(stored)]


def _computed(one: Register, names: dict[Register, str]) -> str:
    """A call of a functor; rounded, where the register has a dtype of fewer digits than it is computed in."""
    if one.function is cast:
        (x,) = one.reads
        return _as(names[x], x.dtype, one.dtype)
    made = f"{functor_of(one.function)}::of({', '.join(_operands(one, names))})"
    return f"rounded<{ctype(one.dtype)}>({made})" if is_half(one.dtype) else made


def _as(text: str, dtype: np.dtype[Any], wanted: np.dtype[Any]) -> str:
    """A number of one dtype in another one, rounded once."""
    if dtype == wanted:
        return text
    if np.dtype(np.float64) in (dtype, wanted) or not is_float(dtype) or not is_float(wanted):
        exact = type_of(wanted) == "double" or not is_float(wanted)
        return f"{type_of(wanted)}({text})" if exact else f"up(converted<{type_of(dtype)}, {ctype(wanted)}>({text}))"
    return f"rounded<{ctype(wanted)}>({text})" if is_half(wanted) else text  # both are computed in float


def _operands(one: Register, names: dict[Register, str]) -> list[str]:
    """Operands as text, in the dtypes in which they meet."""
    return [
        _as(names[x], x.dtype, dtype) if type(x) is Register else literal(x, dtype)
        for x, dtype in zip(one.operands, _met(one), strict=True)
    ]


def _met(one: Register) -> Sequence[np.dtype[Any]]:
    """The dtypes in which a function takes its operands."""
    if isinstance(one.function, np.ufunc):
        return resolved(one.function, one.operands)[: len(one.operands)]
    return [_BOOL if one.function is np.where and not i else one.dtype for i in range(len(one.operands))]


def _positions(dims: int) -> Iterator[str]:
    """Where element i lies along each of the dimensions."""
    rest = "(I)i"
    for d in range(dims - 1, 0, -1):
        above = f"above{d}" if d > 1 else "i0"
        yield f"const I {above} = {rest} / (I)size{d}, i{d} = {rest} - {above} * (I)size{d};"
        rest = above
    if dims == 1:
        yield "const I i0 = (I)i;"


def _place(k: int, dims: int) -> str:
    return " + ".join(f"i{d} * step{k}_{d}" for d in range(dims))
