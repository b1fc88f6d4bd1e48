"""Calls that do not fit a signature, refused in words that help.

Python refuses ``pn.relu()`` before the function runs, and says little. So a public function takes whatever comes, by a
few words of code that are made of its signature, and hands what fits on to the function as it is written. That one is
its ``__wrapped__``, by which `inspect` and editors see the signature and the source. The function stays the same
object. For ``softmax(self, dim, *, dtype=None)`` the words are

    def words(self=ungiven, dim=ungiven, *_more, dtype=None, **_unknown):
        if _more or _unknown or self is ungiven or dim is ungiven:
            refuse(own, locals())
        return own(self, dim, dtype=dtype)

which costs about 60 ns more than a call without them. A parameter that is a ``bool`` is looked at, too, where it is not
left at its default: ``keepdim="no"`` would count as true. One thing only does not come this far: of an argument that
is given twice Python says itself which one it is.
"""

from __future__ import annotations

import inspect
import reprlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from types import CodeType, FunctionType
from typing import Any, NoReturn

import numpy as np

from pynested.autograd import Array
from pynested.backends.errors import ArgumentError, named_type
from pynested.nested.array import NestedArray

_SYNONYMS = {"input": "self", "x": "self", "a": "self", "tensor": "self", "b": "other", "y": "other"}


class _Ungiven:
    """The default of what must be given."""

    def __repr__(self) -> str:
        return "<no value>"


UNGIVEN = _Ungiven()
_BOOLS = (bool, np.bool_)
_OBJECTS = frozenset(("own", "refuse", "ungiven", "bools"))  # of the words, beside the parameters
_OWN: dict[FunctionType, FunctionType] = {}  # of each function the one that is as it is written


def own(function: Any) -> Any:
    """The function as it is written, without the words that take whatever comes."""
    return _OWN.get(function, function)


def copied(function: FunctionType) -> FunctionType:
    """Another function object of the same code, defaults, closure, names and attributes."""
    made = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    for name in ("__kwdefaults__", "__qualname__", "__module__", "__doc__", "__annotations__"):
        setattr(made, name, getattr(function, name))
    vars(made).update(vars(function))
    return made


def take_whatever_comes(functions: Iterable[Any]) -> None:
    """Let each function among ``functions`` refuse by itself a call that does not fit it."""
    for function in functions:
        if isinstance(function, FunctionType) and function not in _OWN:
            like = _like(function)
            if not _takes_all(like.__code__):
                _take_whatever_comes(function, like)


def _take_whatever_comes(function: FunctionType, like: FunctionType) -> None:
    inner = copied(function)
    first, by_name = _needed(like)
    code = like.__code__
    objects: dict[str, Any] = {"own": inner, "refuse": _refuse, "ungiven": UNGIVEN}
    flags = _flags(like)
    if flags:
        objects["bools"] = _BOOLS
    words = code_of(*_written(code, [*first, *by_name], flags), inner.__code__, **objects)
    # A traceback shows them as the first line of the function itself.
    function.__code__ = words.replace(
        co_name=function.__name__, co_filename=code.co_filename, co_firstlineno=code.co_firstlineno
    )
    function.__defaults__ = (UNGIVEN,) * len(first) + (like.__defaults__ or ())
    function.__kwdefaults__ = (like.__kwdefaults__ or {}) | dict.fromkeys(by_name, UNGIVEN)
    function.__wrapped__ = _OWN[function] = inner  # type: ignore[attr-defined]


def is_called_by_name(method: Any) -> bool:
    """Whether a method is called by its name, not by Python, with arguments that have names."""
    is_written = isinstance(method, FunctionType) and not method.__name__.startswith("_")
    return is_written and method.__code__.co_argcount > 1


# ---- the words ----------------------------------------------------------------------------------------------------


def _takes_all(code: CodeType) -> bool:
    return bool(code.co_flags & inspect.CO_VARARGS and code.co_flags & inspect.CO_VARKEYWORDS)


def _like(function: FunctionType) -> FunctionType:
    """What has the parameters of a function: itself, or what a decorator is around."""
    return inspect.unwrap(function) if _takes_all(function.__code__) else function


def _needed(function: FunctionType) -> tuple[Sequence[str], Sequence[str]]:
    """The parameters without a default: those that have a place, and those that are given by name."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    by_name = [name for name in names[code.co_argcount :] if name not in (function.__kwdefaults__ or ())]
    return names[: code.co_argcount - len(function.__defaults__ or ())], by_name


def _flags(function: FunctionType) -> dict[str, Any]:
    """The parameters that are True or False, and their defaults; all have one."""
    signature = getattr(function, "__signature__", None)
    given = signature.parameters if signature else {}
    types = {name: one.annotation for name, one in given.items()} or function.__annotations__
    places = function.__code__.co_varnames[len(_needed(function)[0]) : function.__code__.co_argcount]
    defaults = dict(zip(places, function.__defaults__ or (), strict=True)) | (function.__kwdefaults__ or {})
    return {name: default for name, default in defaults.items() if types.get(name) in ("bool", "bool | None")}


def code_of(parameters: str, body: str, like: CodeType, **objects: Any) -> CodeType:
    """The code of a function of one line, to be put into one whose code is ``like`` this.

    That function's closure stays, so the code has to have its variables, though it does not look at them. ``objects``
    are known in the body by their names.
    """
    first = "; ".join(f"{name} = {name!r}" for name in objects)
    made = _compiled(f"def words({parameters}): {first}; {body}", like.co_freevars)
    constants = tuple(objects.get(one, one) if isinstance(one, str) else one for one in made.co_consts)
    return made.replace(
        co_consts=constants, co_name=like.co_name, co_qualname=like.co_qualname, co_linetable=_in_first_line(made)
    )


def _in_first_line(code: CodeType) -> bytes:
    """The table of lines of a code that lies in its first line, in no column.

    An entry is for up to 8 words of 2 bytes. Python writes past its own memory where a table is longer than its code.
    """
    whole, rest = divmod(len(code.co_code) // 2, 8)
    sizes = [8] * whole + [rest] * bool(rest)
    return b"".join(bytes([0b1_1101_000 | size - 1, 0]) for size in sizes)


@cache
def _compiled(text: str, variables: tuple[str, ...]) -> CodeType:
    """The code of the function in ``text``, which is inside another that has the ``variables``."""
    outer = compile(f"def outer({', '.join(variables)}):\n {'; '.join([text, *variables])}", "<words>", "exec")
    (made,) = (one for one in _codes(outer) if one.co_name == "words")
    return made


def _codes(code: CodeType) -> Iterator[CodeType]:
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield one
            yield from _codes(one)


def _written(code: CodeType, needed: Iterable[str], flags: Mapping[str, Any]) -> tuple[str, str]:
    """The parameters of the words, and what they do."""
    places, rest = code.co_varnames[: code.co_argcount], list(code.co_varnames[code.co_argcount :])
    by_name = [rest.pop(0) for _ in range(code.co_kwonlyargcount)]
    tests = [f"{name} is ungiven" for name in needed]
    for name, default in flags.items():
        tests.append(f"{name} is not {default} and {name}.__class__ not in bools")
    more, unknown = "*_more", "**_unknown"
    handed = [*places, *(f"{name}={name}" for name in by_name)]
    if code.co_flags & inspect.CO_VARARGS:
        more = f"*{rest.pop(0)}"
        handed.insert(len(places), more)
    else:
        tests.insert(0, "_more")
    if code.co_flags & inspect.CO_VARKEYWORDS:
        unknown = f"**{rest.pop(0)}"
        handed.append(unknown)
    else:
        tests.insert(0, "_unknown")
    parameters = ", ".join([*places, more, *by_name, unknown])
    return parameters, f"return own({', '.join(handed)}) if not ({' or '.join(tests)}) else refuse(own, locals())"


# ---- what does not fit --------------------------------------------------------------------------------------------


def _refuse(function: FunctionType, found: dict[str, Any]) -> NoReturn:
    """Raise what is wrong with a call of ``function``; ``found`` has its parameters, and what fits none of them."""
    found = {name: one for name, one in found.items() if name not in _OBJECTS}
    more, unknown = found.pop("_more", ()), found.pop("_unknown", {})
    signature = inspect.signature(function)
    names = list(signature.parameters)
    missing = [name for name in names if found.get(name) is UNGIVEN]
    wrong = [f"{name!r} is not given" for name in missing]
    for name, default in _flags(_like(function)).items():
        if found[name] is not default and not isinstance(found[name], _BOOLS):
            wrong.append(f"{name!r} must be True or False, not {_words(found[name])}")
    wrong += [f"there is no argument {name!r}{_meant(name, names, found)}" for name in unknown]
    if more:
        wrong.append(_too_many(signature, len(more)))
    came = [f"{name}={_words(one)}" for name, one in found.items() if _is_given(one, signature.parameters.get(name))]
    came += [_words(one) for one in more] + [f"{name}={_words(one)}" for name, one in unknown.items()]
    accepted = "\n        ".join(accepted_signatures(function))
    raise ArgumentError(
        f"{function.__name__}: {', and '.join(wrong)}.\n"
        f"    What came: {', '.join(came) or 'nothing'}.\n"
        f"    What is taken:\n        {accepted}"
    )


def _is_given(value: Any, parameter: inspect.Parameter | None) -> bool:
    """Whether a value is worth a word: not where it is the default, or what came by a star and is empty."""
    if value is UNGIVEN or parameter is None or value is parameter.default:
        return False
    return parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) or bool(value)


def _meant(name: str, names: list[str], found: Mapping[str, Any]) -> str:
    """What a name that is not there was probably meant to be."""
    alike = [one for one in names if one.startswith(name) or name.startswith(one)]
    alike += get_close_matches(name, names, n=1, cutoff=0.6)
    alike += [_SYNONYMS[name]] if found.get(_SYNONYMS.get(name, "")) is UNGIVEN else []
    return f"; {alike[0]!r} was probably meant" if alike else ""


def _too_many(signature: inspect.Signature, more: int) -> str:
    parameters = signature.parameters.values()
    taken = sum(one.kind is one.POSITIONAL_OR_KEYWORD for one in parameters)
    named = [one.name for one in parameters if one.kind is one.KEYWORD_ONLY]
    text = f"{taken + more} arguments came without a name, and at most {taken} {'is' if taken == 1 else 'are'} taken so"
    return text + (f" (by name: {', '.join(named)})" if named else "")


def _words(value: Any) -> str:
    """A value in words: what an array is, and not what it holds."""
    if isinstance(value, Array | NestedArray):
        layout = value.layout.name if isinstance(value, NestedArray) else "dense"
        return f"a {layout} array of shape {_shape(value)} and dtype {value.dtype}"
    text = reprlib.repr(value)
    return text if " at 0x" not in text else named_type(value)


def _shape(value: Any) -> str:
    sizes = value.shape if isinstance(value, Array) else (len(value), *value.regular)
    return f"({', '.join('*' if one is None else str(one) for one in sizes)}{',' * (len(sizes) == 1)})"


def accepted_signatures(function: Any) -> Iterator[str]:
    r"""How a function may be called: as the operator table of the specification says, and as it is written.

    >>> from pynested.surface.binding import accepted_signatures
    >>> print("\n".join(accepted_signatures(pn.softmax)))
    softmax(self: Nested | Array, dim: int, *, dtype: DType | None = None) -> Nested | Array
    x.softmax(dim=None, *, dtype=None, axis=None)
    """
    from pynested.spec import load_table  # which nobody needs who makes no mistake

    name, written = function.__name__, inspect.signature(function)
    bare = [one.replace(annotation=inspect.Parameter.empty) for one in written.parameters.values()]
    of_table = load_table().get(name)
    of_table = of_table if of_table is not None and of_table.signature else None
    if of_table is not None:
        yield of_table.signature
    if bare and bare[0].name == "self" and hasattr(NestedArray, name):
        yield f"x.{name}{inspect.Signature(bare[1:])}"
    elif of_table is None or list(written.parameters) != list(of_table.call.parameters):
        yield f"{name}{inspect.Signature(bare)}"
