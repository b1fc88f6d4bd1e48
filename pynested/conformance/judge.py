"""One reply against one expectation: what agrees, what differs, and what could not be asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pynested.backends import errors
from pynested.spec.compare import Difference, compare
from pynested.spec.encoding import Components, decode_value

from .contradictions import told
from .corpus import Case
from .literals import Names, plain
from .printable import printable
from .replies import CRASHED, ERRORED, GARBLED, HUNG, LOST, MISSING, VALUE, Other, Refusal, Reply

FORWARD, GRADIENT, ERROR = "forward", "gradient", "error"
PARTS = (FORWARD, GRADIENT, ERROR)

OK, UNREACHED, ADAPTER = "ok", "unreached", "adapter"
CORRUPT, CONVENTION = "corrupt", "convention"

# Said of a call at which a process died, and which was then answered.
DAMAGED = "asked again, alone in a fresh process, it is answered: this call or an earlier one damages memory"

# The ways to differ, most telling first; the text finishes the sentence "the target ...".
DIFFERS: Mapping[str, str] = {
    CRASHED: "ended its process",
    HUNG: "did not answer in time",
    GARBLED: "wrote something that is not a reply",
    CORRUPT: "hands out a result that contradicts itself or cannot be read",
    "value": "gives another value",
    "accepted": "accepts a call that must be refused",
    "shape": "gives another shape",
    "dtype": "gives another dtype",
    "kind": "gives a dense result for a nested one, or the other way round",
    "refused": "refuses a call that is allowed",
    "error-kind": "refuses with another kind of error",
}

_ASPECTS = {"form": "kind", "count": "shape", "shape": "shape", "dtype": "dtype", "value": "value"}
_MOST = 500  # characters of a result in words
_REJECTIONS = {"RuntimeError", "ValueError", "IndexError", "TypeError", "NotImplementedError", "OverflowError"}


@dataclass(frozen=True)
class Finding:
    """What one part of one run came to. ``note`` is a remark that is no difference.

    Of a program ``step`` is the number of the first step that differs, ``clauses`` are those that it is to show, and
    ``op`` is the operator that it calls, which may not have been what the program is about.
    ``near`` says of a value that it is off by a few roundings: another number, but no other answer.
    ``answer`` is what came where nothing may come, dense or nested alike: dtype and component shapes.
    """

    part: str
    verdict: str
    want: str = ""
    got: str = ""
    note: str = ""
    near: bool = False
    step: int | None = field(default=None, kw_only=True)
    clauses: tuple[str, ...] = field(default=(), kw_only=True)
    op: str = field(default="", kw_only=True)
    answer: str = field(default="", kw_only=True)


def judge(case: Case, layout: str, reply: Reply, errors_are: str = "kind", kinds: bool = True) -> list[Finding]:
    """Return a finding for each part of the case: the error, or the forward and, where there is one, the gradient.

    Without ``kinds`` a nested result is as good as a dense one with the same numbers.
    """
    part = ERROR if case.is_error else FORWARD
    if reply.unsteady:
        return _once_lost(
            case, layout, part, judge(case, layout, replace(reply, unsteady=""), errors_are, kinds), reply
        )
    if reply.refusal is not None:
        findings = [_refused(case, layout, reply.refusal, errors_are)]
    elif reply.outcome == VALUE:
        findings = list(_answered(case, layout, reply, kinds))
    else:
        verdict = ADAPTER if reply.outcome == ERRORED else reply.outcome
        findings = [Finding(part, verdict, _wanted(case, layout), reply.text)]
    if case.gradient_expected and len(findings) == 1:
        findings.append(Finding(GRADIENT, UNREACHED))
    return findings


def _once_lost(case: Case, layout: str, part: str, answered: Sequence[Finding], reply: Reply) -> list[Finding]:
    """Put a loss that did not come again on the last part that was asked for; what was answered before it counts."""
    lost = Finding(part, CRASHED, _wanted(case, layout), f"{reply.unsteady}; {DAMAGED}")
    if len(answered) == 1 or answered[1].verdict == UNREACHED:
        return [lost, *answered[1:]]
    return [answered[0], replace(lost, part=GRADIENT, want="a gradient")]


def _wanted(case: Case, layout: str) -> str:
    """Return in a few words what the case must give."""
    if case.is_error:
        return f"{case.expect['error']['kind']}"
    if case.expect.get("kind", {}).get(layout) == "dense":
        return "a dense result"
    return {"list": "a list", "python": "a Python value"}.get(form := form_of(case.expect), f"a {form} result")


def _refused(case: Case, layout: str, refusal: Refusal, errors_are: str) -> Finding:
    got = str(refusal)
    if refusal.phase == "read":  # the target did not refuse: it answered, and the answer is none
        return Finding(ERROR if case.is_error else FORWARD, CORRUPT, _wanted(case, layout), told(got))
    if not case.is_error or refusal.phase == "construct":
        where = " (while building the operand)" if refusal.phase == "construct" else ""
        return Finding(ERROR if case.is_error else FORWARD, "refused", _wanted(case, layout), got + where)
    return refusal_of(str(case.expect["error"]["kind"]), refusal, errors_are)


def refusal_of(wanted: str, refusal: Refusal, errors_are: str) -> Finding:
    """Hold a refusal that is due against the kind of error that is wanted."""
    got = str(refusal)
    if errors_are == "any":
        return Finding(ERROR, OK, wanted, got)
    if errors_are == "kind":
        return Finding(ERROR, OK if refusal.kind == wanted else "error-kind", wanted, got)
    allowed = builtins_of(wanted)
    if not refusal.bases & (_REJECTIONS | set(allowed)):
        return Finding(ERROR, "error-kind", " or ".join(allowed), got)
    note = "" if refusal.bases & set(allowed) else f"{refusal.kind} where the specification has {' or '.join(allowed)}"
    return Finding(ERROR, OK, wanted, got, note)


def builtins_of(kind: str) -> tuple[str, ...]:
    """Return the builtin errors that an error of this kind is caught as."""
    found = getattr(errors, kind, None)
    if found is None:
        return (kind,)
    generic = {"object", "BaseException", "Exception"}
    names = [base.__name__ for base in found.__mro__ if base.__module__ == "builtins"]
    return tuple(name for name in names if name not in generic | {"LookupError"}) or (kind,)


def _answered(case: Case, layout: str, reply: Reply, kinds: bool) -> Iterator[Finding]:
    if case.is_error:
        got = "a result: " + describe(reply.value)
        yield Finding(ERROR, "accepted", _wanted(case, layout), got, answer=_shapes(reply.value) or got)
        return
    forward = compared(FORWARD, reply.value, case.expect, layout, kinds)
    yield forward
    if case.gradient_expected and forward.verdict in (OK, "value"):
        yield _gradient(case, layout, reply.gradient or Reply(MISSING, "no gradient came back"))


def _shapes(got: Any) -> str:
    """Return dtype and component shapes of a nested result, or of a dense one with these components."""
    if isinstance(got, Components) or (isinstance(got, np.ndarray) and got.ndim):
        return f"{got.dtype.name} {[np.shape(one) for one in got]}"
    return ""


def _gradient(case: Case, layout: str, gradient: Reply) -> Finding:
    if gradient.refusal is not None:
        if gradient.refusal.phase == "read":
            return Finding(GRADIENT, CORRUPT, "one gradient, of the components alone", told(str(gradient.refusal)))
        return Finding(GRADIENT, "refused", "a gradient", str(gradient.refusal))
    if gradient.outcome in (MISSING, *LOST):
        return Finding(GRADIENT, gradient.outcome, "a gradient", gradient.text)
    pairs: list[tuple[int | str, Any]] = [*enumerate(case.gradient), *case.gradient_kwargs.items()]
    for place, wanted in pairs:
        if wanted is None:
            continue
        for name, got, due in _each(gradient.value.get(place), wanted):
            found = compared(GRADIENT, filled(got, due), due, layout, kinds=False)
            if found.verdict != OK:
                came = "no gradient, which counts as zero" if got is None else found.got
                wanted_of = f"{found.want}, the gradient of {name or _named(case, place)}"
                return Finding(GRADIENT, found.verdict, wanted_of, came, near=found.near)
    return Finding(GRADIENT, OK)


def _each(got: Any, wanted: Mapping[str, Any]) -> Iterator[tuple[str, Any, Mapping[str, Any]]]:
    """Yield each gradient of a mapping with its name, what came and what is due; or that of an array, without one."""
    if "mapping" in wanted and (got is None or isinstance(got, dict)):
        yield from ((name, (got or {}).get(name), one) for name, one in wanted["mapping"].items())
    else:
        yield "", got, wanted


def _named(case: Case, place: int | str) -> str:
    """Return the argument at a place as the call in words has it: by the names of its arrays."""
    names, values = Names(), [*enumerate(case.args), *case.kwargs.items()]
    return {where: plain(decode_value(value), names, str) for where, value in values}[place]


def filled(got: Any, wanted: Mapping[str, Any]) -> Any:
    """Return a gradient with zeros where nothing flowed back, which is what that means."""
    if "list" in wanted and (got is None or is_list(got)):
        found = [None] * len(wanted["list"]) if got is None else got
        return [filled(*pair) for pair in zip(found, wanted["list"], strict=True)]
    if got is not None:
        return got
    ((form, fields),) = wanted.items()
    if form == "dense":
        return np.zeros(fields["shape"], fields["dtype"])
    parts = (np.zeros(one, fields["dtype"]) for one in fields["shapes"])
    return Components(parts, fields.get("shape"), fields["dtype"])


def compared(part: str, got: Any, wanted: Mapping[str, Any], layout: str, kinds: bool = True) -> Finding:
    """Compare a result with an expectation: values first, then whether it is nested or dense."""
    misfit = _misfit(got, wanted)
    if misfit is not None:
        return Finding(part, *misfit)
    difference = compare(got, wanted)
    if difference is not None:
        want, came = map(_cut, in_words(difference))
        return Finding(part, _ASPECTS[difference.aspect], want, came, near=difference.near)
    mismatch = _kind_mismatch(got, wanted, layout) if kinds else None
    return Finding(part, "kind", *mismatch) if mismatch else Finding(part, OK)


def _misfit(got: Any, wanted: Mapping[str, Any]) -> tuple[str, str, str] | None:
    """Return verdict, what is wanted and what came for a result that cannot be compared number by number."""
    if isinstance(got, dict) or "mapping" in wanted:  # whose arrays are compared one by one
        return "kind", f"a {form_of(wanted)} result", describe(got)
    if is_list(got) and "list" in wanted:
        return next((bad for pair in zip(got, wanted["list"], strict=False) if (bad := _misfit(*pair))), None)
    if isinstance(got, Other):
        dtype = wanted.get("nested", wanted.get("dense", {})).get("dtype", "")
        return ("dtype" if dtype and got.dtype else "kind"), dtype or "another kind", got.text
    return ("kind", f"a {form_of(wanted)} result", describe(got)) if is_list(got) else None


def in_words(difference: Difference) -> tuple[str, str]:
    """Return what was wanted and what came, with the place."""
    place = "" if difference.component is None else f"component {difference.component}"
    if difference.index:
        place += f"{' ' if place else ''}[{', '.join(map(str, difference.index))}]"
    wanted = f"{difference.expected}" + (f"  at {place}" if place else "")
    allowed, error = difference.allowed, difference.error
    digits = next((one for one in range(2, 17) if error is None or f"{error:.{one}g}" != f"{allowed or 0:.{one}g}"), 17)
    if allowed is not None:
        wanted += f"  within {allowed:.{digits}g}"
    got = difference.got
    if error is not None and np.isfinite(error):
        got += f"  off by {error:.{digits}g}"
    if difference.wrong > 1:
        got += f"  ({difference.wrong} of {difference.total} elements differ)"
    return wanted, got


def _kind_mismatch(got: Any, wanted: Mapping[str, Any], layout: str) -> tuple[str, str] | None:
    if is_list(got) and "list" in wanted:
        pairs = zip(got, wanted["list"], strict=True)
        return next((bad for pair in pairs if (bad := _kind_mismatch(*pair, layout))), None)
    form, came = wanted.get("kind", {}).get(layout, form_of(wanted)), _kind(got)
    return None if came == form else (f"a {form} result", f"a {came} result with the right numbers")


def _kind(got: Any) -> str:
    if isinstance(got, Components):
        return "nested"
    return "dense" if isinstance(got, np.ndarray) else "list" if is_list(got) else "python"


def form_of(wanted: Mapping[str, Any]) -> str:
    """Return which form an expectation has."""
    return next(form for form in ("nested", "dense", "list", "mapping", "python") if form in wanted)


def is_list(got: Any) -> bool:
    """Return whether a result is a list of results, which components are not."""
    return isinstance(got, list) and not isinstance(got, Components)


def describe(got: Any) -> str:
    """Return a result in a few words."""
    if isinstance(got, Other):
        return got.text
    if isinstance(got, Components):
        shapes = ", ".join(str(one.shape) for one in got) or "none"
        return _cut(f"nested {got.dtype.name} with components {shapes}")
    if isinstance(got, np.ndarray):
        return f"dense {got.dtype.name} of shape {got.shape}"
    if isinstance(got, dict):
        return f"a mapping of {len(got)}"
    return f"a list of {len(got)}" if is_list(got) else _cut(repr(got))


def _cut(text: str) -> str:
    return printable(text, _MOST)
