"""Rules and chains of them, the verbs that they choose, the kernels that these launch, and the lines of the tape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pynested.autograd import Array
from pynested.autograd.rules.rule import PART, Rule
from pynested.autograd.tape import Line, state
from pynested.backends.dtypes import is_float
from pynested.backends.host import address
from pynested.nested.array import NestedArray
from pynested.surface.passing import Call

from .dispatch import choice
from .plans import dense_plan
from .recorder import Recorder


def applied(seen: Recorder, call: Call) -> Any:
    """A rule and its arrays: `Rule.apply`."""
    rule, arrays, static = call.args
    return _rule(seen, call, rule, arrays, static)


def elementwise(seen: Recorder, call: Call) -> Any:
    """A rule of one or two operands that are not collected: `Elementwise.__call__`."""
    rule, *operands = call.args
    arrays = tuple(operands)
    if not any(type(one) is Array for one in arrays):
        return _rule(seen, call, rule, arrays, ())
    plan = seen.note("plan", rule.name, **dense_plan(arrays))
    result = _rule(seen, call, rule, arrays, ())
    plan.facts["meet_in"] = str(result.dtype)
    return result


def _rule(seen: Recorder, call: Call, rule: Rule, arrays: Sequence[Any], static: Sequence[Any]) -> Any:
    device = next((one.device for one in arrays if type(one) is Array), "cpu")
    chosen = choice(rule.verb, device)
    facts = {"operands": [seen.names.words(one) for one in arrays], "device": device, "verb": chosen.words}
    if static:
        facts["options"] = [seen.names.words(one) for one in static]
    with seen.span("rule", rule.name, **facts) as event:
        result = call.run()
        results = result if isinstance(result, tuple | list) else (result,)
        event.facts["result"] = [seen.names.words(one) for one in results[:4]] + ["…"] * (len(results) > 4)
        if type(results[0] if results else None) is Array:
            _views(seen, rule, arrays, results)
            _taped(seen, rule, arrays, results[0])
    return result


def _views(seen: Recorder, rule: Rule, arrays: Sequence[Any], results: Sequence[Array]) -> None:
    """Results in the memory of an operand."""
    storages = [one.storage for one in arrays if type(one) is Array]
    for one in results:
        if one.storage in storages:
            data, storage = one.data, one.storage
            offset = (address(data) - storage.data_ptr) // data.itemsize if data.size else 0
            seen.note(
                "view", seen.names.storage(storage), sizes=list(data.shape), strides=list(one.stride()),
                offset=offset, by=rule.name,
            )  # fmt: skip


def _taped(seen: Recorder, rule: Rule, arrays: Sequence[Any], result: Array) -> None:
    """The line that was recorded, or why there is none."""
    line = result.line
    if result.tracked and line is not None:
        whole: Line = line.sources[0] if line.rule is PART else line
        saved = [i for i, one in enumerate(whole.inputs or ()) if one is not None]
        seen.note(
            "tape", seen.names.line(whole), rule=rule.name, sources=[seen.names.source(one) for one in whole.sources],
            saved=[_saved(i, whole) for i in saved] + ["the result"] * (whole.output is not None),
        )  # fmt: skip
        return
    wanted = [one for one in arrays if type(one) is Array and one.tracked]
    if not wanted:
        why = "no operand requires grad"
    elif not state.mode:
        why = "gradients are off"
    else:
        why = f"{result.dtype} has no gradient" if not is_float(result.dtype) else "the rule has none"
    seen.note("tape", "", why_not=why)


def _saved(i: int, line: Line) -> str:
    """What a line has saved in place i; chains keep some of what they compute on the way."""
    return f"operand {i}" if i < len(line.sources) else "a value inside"


def chained(seen: Recorder, call: Call) -> Any:
    """A chain of operators in a compiled function: `Chain.__call__`."""
    chain, *operands = call.args
    facts = {"operators": [node.name for node in chain.nodes], "operands": [seen.names.words(one) for one in operands]}
    with seen.span("chain", chain.name, device=chain.device, **facts) as event:
        before = len(seen.events)
        result = call.run()
        results = result if isinstance(result, tuple) else (result,)
        event.facts["result"] = [seen.names.words(one) for one in results]
        if any(one.kind == "call" for one in seen.events[before:]):
            event.facts["way"] = "one by one, as the operands do not line up"
        else:
            event.facts["way"] = "block by block" if chain.device == "cpu" else "one kernel"
            _taped(seen, chain.rule, [_buffer(one) for one in operands], _buffer(results[0]))
    if not seen.inside:
        seen.mourn(chain.name, result)
    return result


def _buffer(x: Any) -> Any:
    return x.data if type(x) is NestedArray else x


def verb(seen: Recorder, call: Call) -> Any:
    """A verb of a backend: what computes."""
    with seen.span("verb", call.function.__name__) as event:
        result = call.run()
        event.facts["gives"] = seen.names.words(result)
    return result


def launched(seen: Recorder, call: Call) -> Any:
    """A kernel: `Device.launch`."""
    device, file, name, grid, block, *_ = call.args
    with seen.span("kernel", name, file=file, device=device.device, grid=list(grid), block=list(block)):
        return call.run()


def pulled(seen: Recorder, call: Call) -> Any:
    """A line that a backward pass reads: `Rule.pull`."""
    rule, line, cotangent, *_ = call.args
    if rule is PART:
        return call.run()
    words = [seen.names.words(one) for one in cotangent] if isinstance(cotangent, list) else seen.names.words(cotangent)
    to = [seen.names.source(one) for one in line.sources if one is not None]
    with seen.span("pull", seen.names.line(line), rule=rule.name, cotangent=words, to=to):
        return call.run()
