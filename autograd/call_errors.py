"""Errors for calls that do not fit the signature of a public function."""

from __future__ import annotations

import inspect
import reprlib
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

import numpy as np

from pynested.backends.errors import ArgumentError, named_type
from pynested.backends.gpu_errors import device_error, is_of_gpu

SYNONYMS = {"input": "self", "x": "self", "a": "self", "tensor": "self", "b": "other", "y": "other"}


def explain(error: Exception, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Raise a better error for a call that does not fit, and for a failure of a library of the GPU."""
    if isinstance(error, TypeError):
        refuse_misfit(function, args, kwargs)
    elif is_of_gpu(error):
        raise device_error(function.__name__, error) from error


def refuse_misfit(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Raise ArgumentError if the arguments do not fit the signature of ``function``.

    The error lists what is missing, unknown or too many, the arguments of the call, and the accepted signatures.
    """
    signature = inspect.signature(function)
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        problems = list(_problems(signature, args, kwargs)) or [str(error)]
    else:
        return
    passed = [describe_argument(value) for value in args]
    passed += [f"{name}={describe_argument(value)}" for name, value in kwargs.items()]
    accepted = "\n        ".join(accepted_signatures(function))
    raise ArgumentError(
        f"{function.__name__}: {', and '.join(problems)}.\n"
        f"    Arguments of the call: {', '.join(passed) or 'none'}.\n"
        f"    Accepted:\n        {accepted}"
    ) from None


def check_flags(name: str, **flags: Any) -> None:
    """Refuse parameters that are neither True nor False; ``keepdim="no"`` would count as True."""
    for parameter, value in flags.items():
        if not isinstance(value, bool | np.bool_):
            raise ArgumentError(f"{name}: {parameter!r} must be True or False, not {describe_argument(value)}.")


def check_optional_flags(name: str, **flags: Any) -> None:
    """Refuse parameters that are neither True, False nor None."""
    check_flags(name, **{parameter: value for parameter, value in flags.items() if value is not None})


def _problems(signature: inspect.Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is missing, unknown, given twice or too many."""
    parameters = signature.parameters
    kinds = {parameter.kind for parameter in parameters.values()}
    positional = [name for name, one in parameters.items() if one.kind is one.POSITIONAL_OR_KEYWORD]
    keyword_only = [name for name, one in parameters.items() if one.kind is one.KEYWORD_ONLY]
    passed = {*positional[: len(args)], *kwargs}
    missing = [
        name
        for name in positional + keyword_only
        if parameters[name].default is inspect.Parameter.empty and name not in passed
    ]
    for name in missing:
        yield f"{name!r} is missing"
    for name in kwargs.keys() & positional[: len(args)]:
        yield f"{name!r} is given twice"
    if inspect.Parameter.VAR_KEYWORD not in kinds:
        for name in kwargs.keys() - parameters.keys():
            yield f"there is no argument {name!r}{_meant(name, parameters, missing)}"
    if len(args) > len(positional) and inspect.Parameter.VAR_POSITIONAL not in kinds:
        by_name = f" (by name: {', '.join(keyword_only)})" if keyword_only else ""
        yield f"{len(args)} positional arguments, but at most {len(positional)} are accepted{by_name}"


def _meant(name: str, names: Mapping[str, Any], missing: list[str]) -> str:
    """Return a hint at the parameter that an unknown name probably stands for."""
    candidates = [known for known in names if known.startswith(name) or name.startswith(known)]
    candidates += get_close_matches(name, names, n=1, cutoff=0.6)
    candidates += [SYNONYMS[name]] if SYNONYMS.get(name) in missing else []
    return f"; {candidates[0]!r} was probably meant" if candidates else ""


def describe_argument(value: Any) -> str:
    """Return a short text: layout, shape and dtype of an array, the value of anything else."""
    if hasattr(value, "is_nested"):
        layout, sizes = (
            ("dense", value.shape) if not value.is_nested else (value.layout.name, (len(value), *value.regular))
        )
        shape = ", ".join("*" if size is None else str(size) for size in sizes)
        return f"a {layout} array of shape ({shape}{',' * (len(sizes) == 1)}) and dtype {value.dtype}"
    text = reprlib.repr(value)
    return text if " at 0x" not in text else named_type(value)


def accepted_signatures(function: Callable[..., Any]) -> Iterator[str]:
    r"""Yield the signature in the operator table of the specification, and the one in Python.

    >>> from pynested.autograd.call_errors import accepted_signatures
    >>> print("\n".join(accepted_signatures(pn.softmax)))
    softmax(self: Nested | Array, dim: int, *, dtype: DType | None = None) -> Nested | Array
    softmax(self, dim=None, *, dtype=None, axis=None)
    """
    from pynested.spec import load_table  # only a call that fails needs it

    name = function.__name__
    parameters = [one.replace(annotation=one.empty) for one in inspect.signature(function).parameters.values()]
    entry = load_table().get(name)
    has_entry = entry is not None and bool(entry.signature)
    if entry is not None and has_entry:
        yield entry.signature
    if "." in function.__qualname__:  # a method
        yield f"x.{name}{inspect.Signature(parameters[1:])}"
    elif entry is None or not has_entry or [one.name for one in parameters] != list(entry.call.parameters):
        yield f"{name}{inspect.Signature(parameters)}"
