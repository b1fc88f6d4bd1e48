"""Which function computes a verb on a device, and where it stands."""

from __future__ import annotations

import inspect
from functools import partial
from pathlib import Path
from types import FunctionType, MethodType
from typing import Any, NamedTuple

from pynested.autograd.rules.rule import Verb
from pynested.backends import get_backend, is_loaded
from pynested.backends import numpy as cpu
from pynested.backends.cuda.backend import KernelBackend
from pynested.surface.passing import own_code

ROOT = Path(inspect.getfile(get_backend)).parents[1]  # of the four folders


class Choice(NamedTuple):
    """What computes a verb on a device.

    Attributes
    ----------
    verb : str
        The name of the verb, or of the function that stands for one.
    by : str
        The function, with the module that it is of.
    file, line
        Where it stands; no line for what is NumPy's own.
    fallback : bool
        Whether the device has no kernel for it, and the array module's function is taken.
    """

    verb: str
    by: str
    file: str
    line: int | None
    fallback: bool

    @property
    def words(self) -> str:
        """In words, without the line."""
        return f"{self.by}, as there is no kernel for it" if self.fallback else self.by


def choice(verb: Verb, device: str) -> Choice:
    """What computes ``verb``, a name or a function of a backend, on ``device``."""
    if not isinstance(verb, str):
        return Choice(_by(verb), _by(verb), *_place(verb), False)
    of_kernels = device in ("cuda", "emulated")
    if of_kernels and not is_loaded(device):  # which may need a GPU, or a compiler
        own = getattr(KernelBackend, verb, None)
        if own is None and device == "cuda":
            return Choice(verb, f"cupy.{verb}", "", None, True)
        function = getattr(cpu, verb) if own is None else own
    else:
        function = getattr(get_backend(device), verb)
    fallback = of_kernels and not hasattr(KernelBackend, verb) and _own(function) is _own(getattr(cpu, verb))
    return Choice(verb, _by(function), *_place(function), fallback)


def _own(function: Any) -> Any:
    """The function itself, without what is around it."""
    if isinstance(function, partial):
        return _own(function.func)
    return inspect.unwrap(function.__func__ if isinstance(function, MethodType) else function)


def is_quiet_ufunc(function: Any) -> bool:
    """Whether a function is a ufunc of NumPy's that warns of nothing."""
    return isinstance(function, FunctionType) and own_code(function).co_qualname.startswith("quiet_ufunc.")


def _by(function: Any) -> str:
    own = _own(function)
    if is_quiet_ufunc(own):
        return f"numpy.{own.__name__}"
    name = getattr(own, "__qualname__", type(own).__name__)
    module = getattr(own, "__module__", None) or type(own).__module__
    where = module.removeprefix("pynested.")
    return f"a formula of {where}" if name == "<lambda>" else f"{where}.{name}"


def _place(function: Any) -> tuple[str, int | None]:
    own = _own(function)
    if is_quiet_ufunc(own) or not isinstance(own, FunctionType):
        return "", None
    code = own_code(own)
    file = Path(code.co_filename)
    return (str(file.relative_to(ROOT)) if file.is_relative_to(ROOT) else str(file)), code.co_firstlineno
