"""The replies of an adapter: what the protocol allows, as rules, and what the runner makes of them.

`read_reply` is the only door. It holds a reply against the rules and against its request, decodes the arrays, makes the
text of strangers `printable`, and returns a `Reply`. What breaks a rule is a reply too: one that is *garbled*. Behind
this door nobody looks at the JSON of an adapter again. Fields that the protocol does not name are left alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pynested.spec.encoding import decode_value
from pynested.spec.forms import NUMBERS, arrays, by_name, forms
from pynested.spec.grammar import ANYTHING, Malformed, Rule, check, parse, short, tagged

from .messages import Message
from .printable import paragraphs, printable

# What a reply says; what came instead of one; and a request that was never sent.
VALUE, REFUSAL, MISSING, ERRORED = "value", "error", "missing", "errored"
CRASHED, HUNG, GARBLED = LOST = ("crashed", "hung", "garbled")
UNASKED = "unasked"
UNCALLED = "not called: "  # in the text of what is missing: the target was not asked, and can have refused nothing

_DEEPEST = 4  # how deep lists may lie in lists
_SHOWN, _SENTENCE, _TRACEBACK = 120, 500, 8000  # characters that are kept of what a target said


@dataclass(frozen=True)
class Other:
    """A result that the words of the specification cannot express, in words of the adapter."""

    text: str
    dtype: str = ""


@dataclass(frozen=True)
class Refusal:
    """The error with which the target refused a call."""

    kind: str
    message: str
    phase: str = ""
    bases: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


@dataclass(frozen=True)
class Reply:
    """One reply: what its outcome is, and what goes with that.

    ``value`` holds components, an array, a Python number, `Other` or a list of these; in ``gradient``, which is a reply
    too, it holds one of them for each argument. ``unsteady`` says how an earlier process died of the same request.
    """

    outcome: str
    text: str = ""
    value: Any = None
    refusal: Refusal | None = None
    gradient: Reply | None = None
    unsteady: str = ""


# --- the rules


def _with(name: str, rule: Rule, **more: Rule) -> Rule:
    return {name: rule, **more, "*": ANYTHING}


_PYTHON = (None, bool, str, forms(NUMBERS))
_SINGLE = {form: _with(form, rule) for form, rule in arrays({"*": ANYTHING}, {"*": ANYTHING}).items()}
_SINGLE |= {"python": _with("python", _PYTHON), "other": _with("other", str, **{"dtype?": str})}


def _results() -> Rule:
    rule = tagged(_SINGLE)
    for _ in range(_DEEPEST):
        rule = tagged({**_SINGLE, "list": _with("list", [rule])})
    return rule


_RESULT = _results()
_SEVERAL = {"list": _with("list", [(None, _RESULT)]), "mapping": _with("mapping", by_name((None, tagged(_SINGLE))))}
_PULLED = (None, tagged(_SINGLE | _SEVERAL))
_ERROR = _with("kind", str, **{"message": str, "phase?": str, "bases?": [str]})
_GRADIENT = tagged(
    {
        "args": _with("args", [_PULLED], **{"kwargs?": {"*": _PULLED}}),
        "error": _with("error", _ERROR),
        "missing": _with("missing", str),
    }
)
_REPLY = tagged(
    {
        "value": _with("value", _RESULT, **{"gradient?": _GRADIENT}),
        "error": _with("error", _ERROR),
        "missing": _with("missing", str, **{"phase?": str}),
        "errored": _with("errored", str),
    }
)


_NUMBERED = _with("seq", int)
_ANSWER = (None, tagged({"value": _with("value", _RESULT), "error": _with("error", _ERROR)}))
_ANSWERS = tagged(
    {
        "answers": _with("answers", [_ANSWER]),
        "error": _with("error", _ERROR),
        "missing": _with("missing", str, **{"phase?": str}),
        "errored": _with("errored", str),
    }
)
DONE = "done"  # what a step comes to that asks nothing


# --- the door


class Reader:
    """Reads one reply after the other. What is word for word the last one, to the same call, is not read again."""

    def __init__(self) -> None:
        self._last: tuple[Any, str] = None, ""
        self._reply = Reply(ERRORED)

    def reply(self, message: Any, request: Message) -> Reply:
        """Return the reply that an object holds."""
        said = repr({**message, "seq": None}) if _is_answer(message, request) else ""
        return self._read(said, request, lambda: read_reply(message, request))

    def line(self, text: str, request: Message) -> Reply:
        """Return the reply that a line holds."""
        said = text.replace(f'"seq": {request["seq"]}', "", 1)
        return self._read(said if said != text else "", request, lambda: read_line(text, request))

    def _read(self, said: str, request: Message, read: Callable[[], Reply]) -> Reply:
        asked = [request.get(one) for one in ("args", "kwargs", "inputs", "steps")], said
        if not said or asked != self._last:
            self._last, self._reply = asked, read()
        return self._reply


def _is_answer(message: Any, request: Message) -> bool:
    return type(message) is dict and type(message.get("seq")) is int and message["seq"] == request["seq"]


def read_line(line: str, request: Message) -> Reply:
    """Return the reply that a line holds."""
    try:
        return _reply(parse(line), request)
    except ValueError as error:
        return _garbled(f"wrote {line.strip()[:_SHOWN]!r}", error)


def read_reply(message: Any, request: Message) -> Reply:
    """Return the reply that an object holds, as an adapter in this process gives it."""
    try:
        return _reply(message, request)
    except ValueError as error:
        return _garbled(f"gave {short(message)}", error)


def _garbled(what: str, error: ValueError) -> Reply:
    return Reply(GARBLED, printable(f"{what}, which is not a reply: {error}", 2 * _SENTENCE))


def _reply(message: Any, request: Message) -> Reply:
    check(message, _NUMBERED)
    if message["seq"] != request["seq"]:
        raise Malformed("seq", f"expected {request['seq']}, got {short(message['seq'])}")
    check(message, _ANSWERS if "steps" in request else _REPLY)
    if "answers" in message:
        return Reply(VALUE, value=_answers(message["answers"], request["steps"]))
    if VALUE in message:
        gradient = _gradient(message["gradient"], request) if "gradient" in message else None
        return Reply(VALUE, value=_decoded(message["value"], "value"), gradient=gradient)
    return _without_value(message)


def _answers(answers: list[Any], steps: list[Message]) -> list[Reply]:
    """Return what each step of a program came to, as far as the adapter came."""
    if len(answers) > len(steps):
        raise Malformed("answers", f"has {len(answers)} entries, but the program has {len(steps)} steps")
    return [_answer(one, f"answers[{number}].value") for number, one in enumerate(answers)]


def _answer(answer: Message | None, where: str) -> Reply:
    if answer is None:
        return Reply(DONE)
    return Reply(VALUE, value=_decoded(answer["value"], where)) if VALUE in answer else _without_value(answer)


def _without_value(message: Message) -> Reply:
    """Return a reply, or a gradient, that only says why there is no value."""
    if REFUSAL in message:
        return Reply(REFUSAL, refusal=_refusal(message["error"]))
    if MISSING in message:  # or the call was not made, since the adapter cannot hold what it is given
        outcome = UNASKED if message.get("phase") == "construct" else MISSING
        return Reply(outcome, printable(message["missing"], _SENTENCE))
    return Reply(ERRORED, paragraphs(message["errored"], _TRACEBACK))


def _refusal(error: Message) -> Refusal:
    kind, message = printable(error["kind"], _SENTENCE), printable(error["message"], _SENTENCE)
    return Refusal(kind, message, error.get("phase", ""), frozenset(error.get("bases", ())))


def _gradient(gradient: Message, request: Message) -> Reply:
    """Return what flowed back to each argument, held against the arguments of the call."""
    if "args" not in gradient:
        return _without_value(gradient)
    args, kwargs = gradient["args"], gradient.get("kwargs", {})
    if len(args) != len(request["args"]):
        raise Malformed("gradient.args", f"has {len(args)} entries, but the call has {len(request['args'])}")
    if strange := set(kwargs) - set(request["kwargs"]):
        raise Malformed("gradient.kwargs", f"has {short(sorted(strange))}, which the call has not")
    found: dict[int | str, Any] = {}
    for place, one, argument in (
        *((number, *pair) for number, pair in enumerate(zip(args, request["args"], strict=True))),
        *((name, one, request["kwargs"][name]) for name, one in kwargs.items()),
    ):
        where = f"gradient.args[{place}]" if isinstance(place, int) else f"gradient.kwargs.{place}"
        _as_long(one, argument, where)
        found[place] = _decoded(one, where)
    return Reply(VALUE, value=found)


def _as_long(gradient: Message | None, argument: Any, where: str) -> None:
    """Hold the gradient of a list of operands against the list, and that of a mapping against its names."""
    if gradient is not None and "mapping" in gradient:
        names = set(argument["mapping"]) if isinstance(argument, dict) and "mapping" in argument else set()
        if strange := set(gradient["mapping"]) - names:
            raise Malformed(where, f"has {short(sorted(strange))}, which the argument has not")
    if gradient is not None and "list" in gradient:
        count = len(argument["list"]) if isinstance(argument, dict) and "list" in argument else None
        if count != len(gradient["list"]):
            wanted = "is no list" if count is None else f"is a list of {count}"
            raise Malformed(where, f"is a list of {len(gradient['list'])}, but the argument {wanted}")


def _decoded(result: Any, where: str) -> Any:
    """Return the components, array, number, list or mapping that a result stands for."""
    if result is None:
        return None
    if "list" in result:
        return [_decoded(one, f"{where}.list[{number}]") for number, one in enumerate(result["list"])]
    if "mapping" in result:
        return {name: _decoded(one, f"{where}.mapping.{name}") for name, one in result["mapping"].items()}
    if "other" in result:
        return Other(printable(result["other"], _SENTENCE), printable(result.get("dtype", ""), _SENTENCE))
    form = next(form for form in ("nested", "dense", "python") if form in result)
    try:
        return decode_value(result["python"] if form == "python" else {form: result[form]})
    except ValueError as error:
        raise Malformed(f"{where}.{form}", str(error)) from error
