"""How registers are said in C++: a functor of `backends/kernels/functors.cuh` for each function, and literals."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np

from pynested.backends.cuda.naming import ctype, wide_dtype
from pynested.backends.cuda.signatures import KERNELS
from pynested.backends.dtypes import is_float, is_half
from pynested.backends.errors import DTypeError

FUNCTORS = "functors.cuh"
_VERBS = {"sign": "sgn"}  # NumPy's names for verbs that have others
_BITS = {"inf": "0x7ff0000000000000", "-inf": "0xfff0000000000000", "nan": "0x7ff8000000000000"}


def functor_of(function: Any) -> str:
    """The functor that computes what a function of a register does: `numpy.less_equal` is LessEqual."""
    verb = _VERBS.get(function.__name__, function.__name__)
    name = _camel(verb)
    if name not in functors():
        raise DTypeError(f"a kernel of a chain has no functor for {verb!r}: those in {FUNCTORS} are all there are.")
    return name


def computes(verb: str) -> bool:
    """Whether a verb of a backend is one that a kernel of a chain computes itself."""
    return _camel(verb) in functors()


@cache
def functors() -> frozenset[str]:
    """The functors that there are."""
    text = (KERNELS / FUNCTORS).read_text(encoding="utf-8")
    return frozenset(re.findall(r"^(?:struct |PYNESTED_FUNCTION(?:_OF_TWO)?\()(\w+)[ ,]", text, re.MULTILINE))


def _camel(verb: str) -> str:
    return "".join(word.capitalize() for word in verb.split("_"))


def type_of(dtype: np.dtype[Any]) -> str:
    """The type in which a kernel computes with numbers of a dtype; half precision is for storage."""
    return ctype(wide_dtype(dtype)) if is_float(dtype) else ctype(dtype)


def literal(number: Any, dtype: np.dtype[Any]) -> str:
    """A number, rounded to ``dtype``, as text; of bool, whether it is true."""
    if dtype == np.bool_:
        return "true" if number else "false"
    if not is_float(dtype):
        return f"({type_of(dtype)}){int(number)}ll"
    with np.errstate(all="ignore"):
        rounded = dtype.type(float(number))
    text = str(np.float32(rounded) if is_half(dtype) else rounded)
    return f"{type_of(dtype)}({f'__longlong_as_double({_BITS[text]}ll)' if text in _BITS else text})"
