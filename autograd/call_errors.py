"""Errors for calls that do not fit the signature of a public function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

import numpy as np

from pynested.backends.errors import ArgumentError, comes_from_gpu_library, gpu_error

from .arguments.scalars import value_text

SYNONYMS = {"input": "self", "x": "self", "a": "self", "tensor": "self", "b": "other", "y": "other"}


def raise_better_error(
    error: Exception, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> None:
    """Raise a better error if the call does not fit the signature, or if a library for GPUs failed; else return.

    ArgumentError names missing, unknown and superfluous arguments. It lists the arguments of the call and the accepted
    signatures.
    """
    if comes_from_gpu_library(error):
        raise gpu_error(function.__name__, error) from error
    signature = inspect.signature(function)
    try:
        signature.bind(*args, **kwargs)
    except TypeError as misfit:
        problems = list(_problems(signature, args, kwargs)) or [str(misfit)]
    else:
        return
    is_class_method = next(iter(signature.parameters), None) == "cls"
    passed = [value_text(value) for value in args[is_class_method:]]
    passed += [f"{name}={value_text(value)}" for name, value in kwargs.items()]
    accepted = "\n        ".join(accepted_signatures(function))
    raise ArgumentError(
        f"{function.__name__}: {', and '.join(problems)}.\n"
        f"    Arguments of the call: {', '.join(passed) or 'none'}.\n"
        f"    Accepted:\n        {accepted}"
    ) from None


def check_flags(name: str, **flags: Any) -> None:
    """Raise ArgumentError for flags that are neither True nor False, such as ``keepdim="no"``, which counts as true."""
    for parameter, value in flags.items():
        if value is not True and value is not False and not isinstance(value, np.bool_):
            raise ArgumentError(f"{name}: {parameter!r} must be True or False, not {value_text(value)}.")


def check_function(name: str, function: Any) -> None:
    """Raise ArgumentError for a function that cannot be called, such as the result of a call: ``pn.vjp(f(x), x)``."""
    if not callable(function):
        raise ArgumentError(f"{name}: 'function' must be a function, not {value_text(function)}.")


def check_optional_flags(name: str, **flags: Any) -> None:
    """Raise ArgumentError for flags that are neither True, False nor None."""
    check_flags(name, **{parameter: value for parameter, value in flags.items() if value is not None})


def _problems(signature: inspect.Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Iterator[str]:
    """Yield a text for each argument that is missing, unknown, given twice or superfluous."""
    parameters = signature.parameters
    kinds = {parameter.kind for parameter in parameters.values()}
    positional = [name for name, parameter in parameters.items() if parameter.kind <= parameter.POSITIONAL_OR_KEYWORD]
    keyword_only = [name for name, parameter in parameters.items() if parameter.kind is parameter.KEYWORD_ONLY]
    passed = {*positional[: len(args)], *kwargs}
    missing = [
        name
        for name in positional + keyword_only
        if parameters[name].default is inspect.Parameter.empty and name not in passed
    ]
    for name in missing:
        yield f"{name!r} is missing"
    for name in [name for name in positional[: len(args)] if name in kwargs]:
        yield f"{name!r} is given twice"
    if inspect.Parameter.VAR_KEYWORD not in kinds:
        for name in [name for name in kwargs if name not in parameters]:
            yield f"there is no argument {name!r}{_intended_name_hint(name, parameters, missing)}"
    if len(args) > len(positional) and inspect.Parameter.VAR_POSITIONAL not in kinds:
        keyword_hint = f" (by name: {', '.join(keyword_only)})" if keyword_only else ""
        yield f"{len(args)} positional arguments, but at most {len(positional)} are accepted{keyword_hint}"


def _intended_name_hint(name: str, names: Mapping[str, Any], missing: list[str]) -> str:
    """Return the end of an error message: the parameter that an unknown name probably means."""
    candidates = [known for known in names if known.startswith(name) or name.startswith(known)]
    candidates += get_close_matches(name, names, n=1, cutoff=0.6)
    candidates += [SYNONYMS[name]] if SYNONYMS.get(name) in missing else []
    return f"; {candidates[0]!r} was probably meant" if candidates else ""


def accepted_signatures(function: Callable[..., Any]) -> Iterator[str]:
    r"""Yield the signature in the operator table of the specification, and the signature in Python.

    >>> from pynested.autograd.call_errors import accepted_signatures
    >>> print("\n".join(accepted_signatures(pn.softmax)))
    softmax(self: Nested | Array, dim: int, *, dtype: DType | None = None) -> Nested | Array
    softmax(self, dim=None, *, dtype=None, axis=None)
    """
    from pynested.spec import load_table  # imported here, as only a failing call needs it

    name = function.__name__
    parameters = [
        parameter.replace(annotation=parameter.empty) for parameter in inspect.signature(function).parameters.values()
    ]
    names = [parameter.name for parameter in parameters]
    is_method = "." in function.__qualname__
    entry = load_table().get(name)
    names_in_table: list[str] | None = None
    if entry is not None and entry.signature:
        names_in_table = list(entry.call.parameters)
        if not is_method or set(names_in_table[1:]) <= set(names):  # `x.narrow` is another function than `pn.narrow`
            yield entry.signature
    if is_method:
        prefix = function.__qualname__ if names[0] == "cls" else f"x.{name}"
        yield f"{prefix}{inspect.Signature(parameters[1:])}"
    elif names != names_in_table:
        yield f"{name}{inspect.Signature(parameters)}"
