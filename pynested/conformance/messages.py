"""The messages between the runner and an adapter: JSON objects, the same in process and over a pipe.

    -> {"cmd": "start", "protocol": 2, "spec": "0.1", "device": "cpu"}
    <- {"protocol": 2, "name": "torch", "version": "2.13.0", "capabilities": {...}, ...}
    <- {"protocol": 2, "unavailable": "why"}
    -> {"cmd": "run", "seq": 7, "op": "sum", "layout": "jagged", "placement": "packed",
        "args": [VALUE, {"int": "1"}], "kwargs": {}, "wrt": [0], "cotangent": VALUE}
    <- {"seq": 7, "value": VALUE, "gradient": {"args": [VALUE, null], "kwargs": {}}}
    <- {"seq": 7, "error": {"kind": "DimensionError", "message": "...", "bases": ["IndexError"], "phase": "run"}}
    <- {"seq": 7, "missing": "the target has no such operator"}
    <- {"seq": 7, "errored": "the adapter itself failed; a traceback"}
    -> {"cmd": "program", "seq": 8, "layout": "jagged", "placement": "packed", "inputs": {"x": VALUE}, "tracked": ["x"],
        "steps": [{"op": "transpose", "args": [{"name": "x"}, {"int": "1"}, {"int": "2"}], "out": "v"}, ...]}
    <- {"seq": 8, "answers": [null, {"value": VALUE}, {"error": {"kind": "GradientError", ...}}, ...]}
    -> {"cmd": "stop"}

`wrt` names the positions and keywords to differentiate, as the operator table lists them. `gradient` may itself be an
`error` or `missing`. The `phase` of an error is `construct`, `run`, `backward`, or `read`: the call was answered, but
the answer cannot be read. A target that says in its answer to `start` how its `dense` operator is called is asked with
``"dense": true`` too: the same call, component by component, without its nested arrays. A request holds the call and
nothing else: what must come out stays with the runner. This module writes the requests; what a reply may be is in
`replies`, what answers `start` in `session`. All of it is explained in docs/adapters.md, and is a JSON Schema in
`schemas`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pynested.spec.corpus import SPEC
from pynested.spec.table import Operator

from .corpus import Case, Program
from .problems import KitError

PROTOCOL = 2
Message = dict[str, Any]

# What a run request and the values in it may consist of; anything else could tell the adapter what is expected.
_RUN_KEYS = {"cmd", "seq", "op", "layout", "placement", "args", "kwargs", "wrt", "cotangent", "dense"}
_PROGRAM_KEYS = {"cmd", "seq", "layout", "placement", "inputs", "tracked", "steps"}
_STEP_KEYS = ("op", "args", "kwargs", "out")
_VALUE_KEYS = {"name", "nested", "dense", "list", "mapping", "dtype", "int", "float", "index", "slice"}
_VALUE_KEYS |= {"shape", "shapes", "bits"}


def start(device: str) -> Message:
    """Return the first message of a session."""
    return {"cmd": "start", "protocol": PROTOCOL, "spec": SPEC, "device": device}


def stop() -> Message:
    """Return the last message of a session."""
    return {"cmd": "stop"}


def run(case: Case, layout: str, placement: str, wrt: list[int | str]) -> Message:
    """Return the request for one case in one layout and placement; ``seq`` is set when it is sent."""
    if isinstance(case, Program):
        return _program(case, layout, placement)
    message: Message = {
        "cmd": "run",
        "seq": 0,
        "op": case.op,
        "layout": layout,
        "placement": placement,
        "args": [_bare(value) for value in case.args],
        "kwargs": {name: _bare(value) for name, value in case.kwargs.items()},
    }
    if case.cotangent is not None:
        message["wrt"] = wrt
        message["cotangent"] = _bare(case.cotangent)
    seal(message)
    return message


def _program(program: Program, layout: str, placement: str) -> Message:
    """Return the request for a program: its inputs and its steps, without what is due."""
    message: Message = {
        "cmd": "program",
        "seq": 0,
        "layout": layout,
        "placement": placement,
        "inputs": {name: _bare(value) for name, value in program.inputs.items()},
        "tracked": list(program.leaves),
        "steps": [{name: step[name] for name in _STEP_KEYS if name in step} for step in program.steps],
    }
    seal(message)
    return message


def without_gradient(message: Message) -> Message:
    """Return a request that asks for the value only."""
    return {name: value for name, value in message.items() if name not in ("wrt", "cotangent")}


def _bare(value: Any) -> Any:
    """Return the value without the decimals that are there for people."""
    if isinstance(value, dict):
        return {key: _bare(one) for key, one in value.items() if key != "show" or isinstance(one, dict)}
    return [_bare(one) for one in value] if isinstance(value, list) else value


def seal(message: Mapping[str, Any]) -> None:
    """Refuse a request that carries anything but the call; the adapter must not see what is expected of it."""
    program = "steps" in message
    calls = message["steps"] if program else [message]
    values = list(message.get("inputs", {}).values())
    for call in calls:
        values += [call.get("args"), call.get("cotangent"), *call.get("kwargs", {}).values()]
    strange = set(message) - (_PROGRAM_KEYS if program else _RUN_KEYS)
    strange |= {key for step in message.get("steps", ()) for key in set(step) - set(_STEP_KEYS)}
    strange |= {key for value in values for key in _keys(value)}
    if strange:
        raise KitError(f"the request for {message.get('op', 'a program')} would show the adapter {sorted(strange)}")


def _keys(value: Any) -> set[str]:
    """Return the keys that no value has, from every depth."""
    if isinstance(value, dict) and "mapping" in value:
        return _keys(list(value["mapping"].values()))  # whose names are those of arrays
    found = value.keys() - _VALUE_KEYS if isinstance(value, dict) else set()
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        if isinstance(one, (dict, list)):
            found |= _keys(one)
    return found


def differentiated(case: Case, operator: Operator) -> list[int | str]:
    """Return the positions and keywords of a case to differentiate: floats, by the table or the vector."""
    if case.cotangent is None:
        return []
    names = list(operator.call.parameters)
    names += names[-1:] * (len(case.args) - len(names))  # the last parameter may take several
    gradients: list[tuple[int | str, Any]] = [*enumerate(case.gradient), *case.gradient_kwargs.items()]
    expected = {place for place, gradient in gradients if gradient is not None}
    places: list[tuple[int | str, str, Any]] = [
        (number, names[number], value) for number, value in enumerate(case.args)
    ]
    places += [(name, name, value) for name, value in case.kwargs.items()]
    wrt = [
        place
        for place, name, value in places
        if _is_float(value) and (place in expected or (name in operator.differentiable and case.tracked is None))
    ]
    if lost := expected - set(wrt):
        raise KitError(f"{case.id}: expects gradients for {sorted(map(str, lost))}, which are not of a floating dtype")
    return wrt


def _is_float(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    ((form, fields),) = value.items()
    if form in ("list", "mapping"):
        return any(_is_float(one) for one in (fields.values() if form == "mapping" else fields))
    return form in ("nested", "dense") and str(fields["dtype"]).startswith("float")
