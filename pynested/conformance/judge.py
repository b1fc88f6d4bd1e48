"""One reply against one expectation: what agrees, what differs, and what could not be asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from pynested.backends import errors
from pynested.spec.compare import Difference, compare
from pynested.spec.encoding import WIDTHS, Components, decode_value

from .corpus import Case
from .messages import Message, outcome

FORWARD, GRADIENT, ERROR = "forward", "gradient", "error"
PARTS = (FORWARD, GRADIENT, ERROR)

OK, MISSING, UNREACHED, ADAPTER = "ok", "missing", "unreached", "adapter"

# The ways to differ, most telling first; the text finishes the sentence "the target ...".
DIFFERS: Mapping[str, str] = {
    "crashed": "ended its process",
    "hung": "did not answer in time",
    "garbled": "wrote something that is not a reply",
    "value": "gives another value",
    "accepted": "accepts a call that must be refused",
    "shape": "gives another shape",
    "dtype": "gives another dtype",
    "kind": "gives a dense result for a nested one, or the other way round",
    "refused": "refuses a call that is allowed",
    "error-kind": "refuses with another kind of error",
}

_ASPECTS = {"form": "kind", "count": "shape", "shape": "shape", "dtype": "dtype", "value": "value"}
_REJECTIONS = {"RuntimeError", "ValueError", "IndexError", "TypeError", "NotImplementedError", "OverflowError"}


@dataclass(frozen=True)
class Finding:
    """What one part of one run came to. ``note`` is a remark that is no difference."""

    part: str
    verdict: str
    want: str = ""
    got: str = ""
    note: str = ""


def judge(case: Case, layout: str, reply: Message, errors_are: str = "kind") -> list[Finding]:
    """Return a finding for each part of the case: the error, or the forward and, where there is one, the gradient."""
    part = ERROR if case.is_error else FORWARD
    came = outcome(reply)
    if came in ("crashed", "hung", "garbled"):
        findings = [Finding(part, came, _wanted(case), str(reply[came]))]
    elif came == "errored":
        findings = [Finding(part, ADAPTER, _wanted(case), str(reply["errored"]))]
    elif came == "missing":
        findings = [Finding(part, MISSING, _wanted(case), str(reply["missing"]))]
    elif came == "error":
        findings = [_refused(case, reply["error"], errors_are)]
    else:
        findings = list(_answered(case, layout, reply))
    if "unsteady" in reply:
        text = f"{reply['unsteady']}; alone in a fresh process it is answered, so an earlier call damaged the process"
        findings[0] = Finding(part, "crashed", _wanted(case), text)
    if case.gradient_expected and len(findings) == 1:
        findings.append(Finding(GRADIENT, UNREACHED))
    return findings


def _wanted(case: Case) -> str:
    """Return in a few words what the case must give."""
    if case.is_error:
        return f"{case.expect['error']['kind']}"
    form = next(form for form in ("nested", "dense", "list", "python") if form in case.expect)
    return {"nested": "a nested result", "dense": "a dense result", "list": "a list"}.get(form, "a Python value")


def _refused(case: Case, refusal: Message, errors_are: str) -> Finding:
    got = f"{refusal['kind']}: {refusal['message']}"
    if not case.is_error or refusal.get("phase") == "construct":
        where = {"construct": " (while building the operand)"}.get(str(refusal.get("phase")), "")
        return Finding(ERROR if case.is_error else FORWARD, "refused", _wanted(case), got + where)
    wanted = str(case.expect["error"]["kind"])
    if errors_are == "kind":
        return Finding(ERROR, OK if refusal["kind"] == wanted else "error-kind", wanted, got)
    allowed, bases = builtins_of(wanted), set(refusal.get("bases", ()))
    if not bases & (_REJECTIONS | set(allowed)):
        return Finding(ERROR, "error-kind", " or ".join(allowed), got)
    note = "" if bases & set(allowed) else f"{refusal['kind']} where the specification has {' or '.join(allowed)}"
    return Finding(ERROR, OK, wanted, got, note)


def builtins_of(kind: str) -> tuple[str, ...]:
    """Return the builtin errors that an error of this kind is caught as."""
    found = getattr(errors, kind, None)
    if found is None:
        return (kind,)
    generic = {"object", "BaseException", "Exception"}
    names = [base.__name__ for base in found.__mro__ if base.__module__ == "builtins"]
    return tuple(name for name in names if name not in generic | {"LookupError"}) or (kind,)


def _answered(case: Case, layout: str, reply: Message) -> Iterator[Finding]:
    if case.is_error:
        yield Finding(ERROR, "accepted", _wanted(case), "a result: " + describe(reply["value"]))
        return
    forward = _compared(FORWARD, reply["value"], case.expect, layout)
    yield forward
    if case.gradient_expected and forward.verdict in (OK, "value"):
        yield _gradient(case, layout, reply.get("gradient", {"missing": "no gradient came back"}))


def _gradient(case: Case, layout: str, gradient: Message) -> Finding:
    if "missing" in gradient:
        return Finding(GRADIENT, MISSING, "a gradient", str(gradient["missing"]))
    if "error" in gradient:
        refusal = gradient["error"]
        return Finding(GRADIENT, "refused", "a gradient", f"{refusal['kind']}: {refusal['message']}")
    pairs = [(f"argument {number}", gradient["args"][number], one) for number, one in enumerate(case.gradient) if one]
    pairs += [(name, gradient["kwargs"].get(name), one) for name, one in case.gradient_kwargs.items() if one]
    for place, got, wanted in pairs:
        found = _compared(GRADIENT, _filled(got, wanted), wanted, layout, kinds=False)
        if found.verdict != OK:
            came = found.got if got else "no gradient, which counts as zero"
            return Finding(GRADIENT, found.verdict, f"{found.want}, the gradient of {place}", came)
    return Finding(GRADIENT, OK)


def _filled(got: Message | None, wanted: Mapping[str, Any]) -> Message:
    """Return a gradient with zeros where nothing flowed back, which is what that means."""
    if "list" in wanted and (got is None or "list" in got):
        found = got["list"] if got else [None] * len(wanted["list"])
        return {"list": [_filled(*pair) for pair in zip(found, wanted["list"], strict=True)]}
    if got is not None:
        return got
    ((form, fields),) = wanted.items()
    width = WIDTHS[fields["dtype"]]
    if form == "dense":
        return {form: {**fields, "bits": "0" * (width * prod(fields["shape"]))}}
    bits = ["0" * (width * prod(one)) for one in fields["shapes"]]
    return {form: {**fields, "shape": [len(bits)], "bits": bits}}


def _compared(part: str, got: Message, wanted: Mapping[str, Any], layout: str, kinds: bool = True) -> Finding:
    """Compare a result with an expectation: values first, then whether it is nested or dense."""
    if "other" in got:
        dtype = wanted.get("nested", wanted.get("dense", {})).get("dtype", "")
        return Finding(part, "dtype" if dtype and got.get("dtype") else "kind", dtype or "another kind", got["other"])
    try:
        plain = decode_result(got)
    except (ValueError, TypeError, KeyError) as error:
        return Finding(part, "garbled", "a value", f"{type(error).__name__}: {error}")
    difference = compare(plain, wanted)
    if difference is not None:
        return Finding(part, _ASPECTS[difference.aspect], *_texts(difference))
    mismatch = _kind_mismatch(got, wanted, layout) if kinds else None
    return Finding(part, "kind", *mismatch) if mismatch else Finding(part, OK)


def _texts(difference: Difference) -> tuple[str, str]:
    """Return what was wanted and what came, with the place."""
    place = "" if difference.component is None else f"component {difference.component}"
    if difference.index:
        place += f"{' ' if place else ''}[{', '.join(map(str, difference.index))}]"
    wanted = f"{difference.expected}" + (f"  at {place}" if place else "")
    if difference.allowed is not None:
        wanted += f"  within {difference.allowed:.2g}"
    got = difference.got
    if difference.error is not None and np.isfinite(difference.error):
        got += f"  off by {difference.error:.2g}"
    if difference.wrong > 1:
        got += f"  ({difference.wrong} of {difference.total} elements differ)"
    return wanted, got


def _kind_mismatch(got: Message, wanted: Mapping[str, Any], layout: str) -> tuple[str, str] | None:
    if "list" in wanted and "list" in got:
        pairs = zip(got["list"], wanted["list"], strict=True)
        return next((bad for pair in pairs if (bad := _kind_mismatch(*pair, layout))), None)
    form = next(form for form in ("nested", "dense", "python", "list") if form in wanted)
    form = wanted.get("kind", {}).get(layout, form)
    came = next(iter(got))
    if came == form:
        return None
    return f"a {form} result", f"a {came} result with the right numbers"


def decode_result(result: Message) -> Any:
    """Return the components, array, list or Python value that a result stands for."""
    if "python" in result:
        return decode_value(result["python"])
    if "list" in result:
        return [decode_result(one) for one in result["list"]]
    return decode_value(result)


def describe(result: Message) -> str:
    """Return a result in a few words."""
    if "other" in result:
        return str(result["other"])
    plain = decode_result(result)
    if isinstance(plain, Components):
        return f"nested {plain.dtype.name} with components {', '.join(str(one.shape) for one in plain) or 'none'}"
    if isinstance(plain, np.ndarray):
        return f"dense {plain.dtype.name} of shape {plain.shape}"
    return f"a list of {len(plain)}" if isinstance(plain, list) else repr(plain)
