"""The text of a kernel: its parameters, a line for each register that a result needs, and the results.

The chain ``(x + y).tanh() * bias`` becomes::

    // chain of add, tanh, mul
    #include "functors.cuh"

    template <class A> struct Loaded { A r0, r1, r2; };

    template <class T, class I>
    __global__ void __launch_bounds__(256)
    chain(const T *__restrict__ x0, const T *__restrict__ x1, const T *__restrict__ x2, i64 step2_0, i64 step2_1,
          i64 size1, i64 count, T *__restrict__ y0) {
      typedef acc<T> A;
      each((i64)blockIdx.x * 256 + threadIdx.x, count, (i64)gridDim.x * 256,
           [&](i64 i) {
             const I i0 = (I)i / (I)size1, i1 = (I)i - i0 * (I)size1;
             return Loaded<A>{up(x0[i]), up(x1[i]), up(x2[i0 * step2_0 + i1 * step2_1])};
           },
           [&](i64 i, const Loaded<A> &x) {
             const A v0 = Add::of(x.r0, x.r1);
             const A v1 = Tanh::of(v0);
             const A v2 = Multiply::of(v1, x.r2);
             y0[i] = down<T>(v2);
           });
    }

An operand that is spread over the others has a step for each dimension; see `launching.merged`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from textwrap import fill

import numpy as np

from pynested.backends.dtypes import is_half, promoted
from pynested.backends.numpy.elementwise import cast

from ..chains.registers import Register, in_order
from .functors import FUNCTORS, functor_of, literal

_BOOL = np.dtype(bool)


def text_of_kernel(
    title: str, parameters: Sequence[Register], spread: Sequence[int], dims: int, results: Sequence[Register]
) -> str:
    """The kernel that makes ``results`` of ``parameters``, of which some are spread over so many dimensions."""
    lines = _body(parameters, results)
    given = [f"const T *__restrict__ x{k}" for k in range(len(parameters))]
    given += [f"i64 step{k}_{d}" for k in spread for d in range(dims)]
    given += [f"i64 size{d}" for d in range(1, dims)] if spread else []
    given += ["i64 count", *[f"T *__restrict__ y{k}" for k in range(len(results))]]
    loads = ", ".join(f"up(x{k}[{_place(k, dims) if k in spread else 'i'}])" for k in range(len(parameters)))
    fields = ", ".join(f"r{k}" for k in range(len(parameters)))
    start = [*_positions(dims)] if spread else []
    return f"""{fill(title, 116, initial_indent="// ", subsequent_indent="//     ")}
#include "{FUNCTORS}"

template <class A> struct Loaded {{ A {fields}; }};

template <class T{", class I" if spread else ""}>
__global__ void __launch_bounds__(256)
{_head(given)}
  typedef acc<T> A;
  each((i64)blockIdx.x * 256 + threadIdx.x, count, (i64)gridDim.x * 256,
       [&](i64 i) {{
{_indented([*start, f"return Loaded<A>{{{loads}}};"])}
       }},
       [&](i64 i, const Loaded<A> &x) {{
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
            kind = "bool" if one.dtype == _BOOL else "A"
            lines.append(f"const {kind} {names[one]} = {_computed(one, names)};")
    return lines + [f"y{k}[i] = down<T>({names[one]});" for k, one in enumerate(results)]


def _computed(one: Register, names: dict[Register, str]) -> str:
    """A call of a functor; rounded, where the register has a dtype of fewer digits than it is computed in."""
    given = _operands(one, names)
    made = given[0] if one.function is cast else f"{functor_of(one.function)}::of({', '.join(given)})"
    return f"rounded<T>({made})" if is_half(one.dtype) else made


def _operands(one: Register, names: dict[Register, str]) -> list[str]:
    """Operands as text; numbers, and bools beside numbers, in the dtype in which they meet the others."""
    condition = one.operands[:1] if one.function is np.where else ()
    numbers = one.operands[len(condition) :]
    dtypes = [x.dtype for x in numbers if hasattr(x, "dtype")]
    dtype = promoted(*dtypes)
    texts = [literal(x, dtype) if type(x) is not Register else names[x] for x in numbers]
    apart = [type(x) is Register and x.dtype == _BOOL != dtype for x in numbers]
    return [names[x] for x in condition] + [f"A({t})" if a else t for t, a in zip(texts, apart, strict=True)]


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
