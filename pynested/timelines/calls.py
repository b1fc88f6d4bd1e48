"""Public calls: bound against the signature, what was converted, where the operands lie."""

from __future__ import annotations

import inspect
from typing import Any

from pynested.autograd import Array
from pynested.backends import is_loaded
from pynested.nested.array import NestedArray
from pynested.operators.dimensions import NUMPYS_NAMES
from pynested.surface.passing import ATTRIBUTE, FUNCTION, Call

from .indices import classified
from .recorder import Recorder


def called(seen: Recorder, call: Call) -> Any:
    """Note a public call; a method only where something happens in it, and no attribute."""
    if call.kind == ATTRIBUTE:
        return call.run()
    if call.name == "Array.accumulate":
        return _accumulated(seen, call)
    given, defaults = bound(seen, call)
    with seen.span("call", call.name, arguments=given, defaults=defaults) as event:
        event.facts["on"] = dispatched(call.args, call.kwargs)
        if call.name == "getitem" and len(call.args) == 2:
            event.facts["index"] = classified(*call.args)
        result = call.run()
        event.facts["result"] = seen.names.words(result)
    if call.kind != FUNCTION and seen.events[-1] is event:
        seen.events.pop()
    elif not seen.inside:
        seen.mourn(call.name, result)
    return result


def bound(seen: Recorder, call: Call) -> tuple[dict[str, str], dict[str, str]]:
    """The arguments by the names of the signature, and the defaults of those that are not given; in words."""
    signature = inspect.signature(call.function)
    try:
        given = signature.bind(*call.args, **call.kwargs)
    except TypeError:  # which the call itself will say
        return {name: seen.names.words(one) for name, one in {"*": call.args, **call.kwargs}.items()}, {}
    marks: dict[Any, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    words = {}
    for name, value in given.arguments.items():
        words[marks.get(signature.parameters[name].kind, "") + name] = seen.names.words(value)
    left = [one for name, one in signature.parameters.items() if name not in given.arguments]
    said = [one for one in left if one.default is not one.empty and one.name not in NUMPYS_NAMES]
    return words, {one.name: seen.names.words(one.default) for one in said}


def dispatched(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """The layout of the first nested operand, dense where none is nested, and the device; empty without an operand."""
    found = [one for one in _flat([*args, *kwargs.values()]) if isinstance(one, Array | NestedArray)]
    nested = [one for one in found if isinstance(one, NestedArray)]
    if not found:
        return ""
    return f"{nested[0].layout.name if nested else 'dense'}, {found[0].device}"


def _flat(values: list[Any]) -> list[Any]:
    return [one for value in values for one in (value if isinstance(value, tuple | list) else [value])]


def _accumulated(seen: Recorder, call: Call) -> Any:
    """A gradient that arrives at a leaf."""
    leaf, cotangent = call.args
    there = "the sum with what is there" if leaf._grad is not None else "the first"
    words = seen.names.words(cotangent)
    with seen.span("grad", seen.names.storage(leaf.storage), cotangent=words, is_now=there):
        return call.run()


# ---- what a call needs besides its arguments ------------------------------------------------------------------------


def begun_backend(seen: Recorder, call: Call) -> Any:
    """The backend of a device, where it is asked for the first time in this process: `get_backend`."""
    (device,) = call.args
    if not isinstance(device, str) or is_loaded(device):
        return call.run()
    with seen.span("backend", device) as event:
        result = call.run()
        event.facts["kind"] = type(result).__name__
    return result


def drawn(seen: Recorder, call: Call) -> Any:
    """The generator that random numbers are drawn from: `random.default`."""
    generator = call.run()
    whose = "given" if call.args and call.args[0] is not None else "the default one of this thread"
    seen.note("random", type(generator.bit_generator).__name__, whose=whose)
    return generator


# ---- arguments that get another form ------------------------------------------------------------------------------


def canonical_dim(seen: Recorder, call: Call) -> Any:
    """A dimension that is counted from the end."""
    return _converted(seen, call, "dim", call.args[1])


def canonical_shape(seen: Recorder, call: Call) -> Any:
    """A shape that is given as several numbers or as one tuple."""
    return _converted(seen, call, "shape", call.args[1])


def canonical_dtype(seen: Recorder, call: Call) -> Any:
    """A dtype that is given by another name."""
    return _converted(seen, call, "dtype", call.args[0])


def operand(seen: Recorder, call: Call) -> Any:
    """An operand that was no array."""
    return _converted(seen, call, "operand", call.args[1])


def chosen_device(seen: Recorder, call: Call) -> Any:
    """A device that is not named."""
    return _converted(seen, call, "device", call.args[0])


def _converted(seen: Recorder, call: Call, what: str, given: Any) -> Any:
    result = call.run()
    inside = seen.call()
    if inside is not None and result is not given:
        before, after = seen.names.words(given), seen.names.words(result)
        entry = f"{what} {before} -> {after}"
        noted = inside.facts.setdefault("converted", [])
        if before != after and entry not in noted:
            noted.append(entry)
    return result
