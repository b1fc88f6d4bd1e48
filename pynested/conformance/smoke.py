"""A few calls that tell the author of an adapter what works, what is wrong, what to do next.

The calls are cases of the specification, the easiest first, and are judged as `conform` judges. Each asks for one thing
more than those before it, so that the first that goes wrong says where to look.
"""

from __future__ import annotations

import fnmatch
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from . import messages, problems
from .arranging import placements_for
from .child import Child
from .corpus import Case, Corpus
from .judge import ADAPTER, DIFFERS, GRADIENT, OK, UNREACHED, Finding, judge
from .messages import Message
from .placements import HOLES_NAN, LAYOUTS, PACKED, TRANSPOSED
from .replies import CRASHED, ERRORED, GARBLED, HUNG, LOST, MISSING, UNASKED, Reply
from .session import Identity
from .wire import Wire

WRONG, SKIPPED = "wrong", "skipped"
UNHEARD_OF = "no_such_operator"
_FEW = 6  # operators that are tried where an adapter does not list its own
_ENOUGH = 2  # replies that are none
_COMMON = ("add", "mul", "neg", "exp", "sum", "softmax")
_WIDE = 100  # characters of a line

# What to do about a reply that is none, whatever was asked.
_LOST_ADVICE = {
    GARBLED: "Write one JSON object a line to stdout and nothing else, and print to stderr; see docs/adapters.md.",
    CRASHED: "The process ended. What it wrote to stderr is above.",
    HUNG: "Answer every line, and flush stdout after each answer: a pipe is not flushed at the end of a line.",
    ERRORED: "This is a fault of the adapter, not of what it adapts: here is where it happened.",
}


@dataclass(frozen=True)
class Probe:
    """One thing to ask for: which cases show it, how, and what to think of where it goes wrong."""

    title: str
    cases: tuple[str, ...]  # globs of ids without the operator, the best first
    advice: str
    layout: str = LAYOUTS[0]
    placement: str = PACKED
    gradient: bool = False


PROBES = (
    Probe("a call", ("float32/ragged/1",), "Read `bits` as big-endian words in C order; round once to the dtype."),
    Probe("a gradient", ("float32/ragged/1",), "Pull `cotangent` back to the arguments in `wrt`.", gradient=True),
    Probe("components without elements", ("*/all-empty/1", "*/empty-first/1"), "Their `bits` are the empty text."),
    Probe("no components", ("*/batch0/1",), "`shapes` and `bits` are empty lists; `shape` still says the sizes."),
    Probe("NaN, infinities and -0", ("*/special/1",), "Keep floats as floats: JSON numbers have none of these."),
    Probe("another dtype", ("float64/*/1", "int64/*/1", "int32/*/1"), "A word of float64 or int64 has 16 digits."),
    Probe("the strided layout", ("float32/ragged/1",), "The same numbers; results may stay nested.", layout=LAYOUTS[1]),
    Probe("holes in memory", ("float32/ragged/1",), "What lies in a gap must not show.", placement=HOLES_NAN),
    Probe("transposed memory", ("float32/ragged/1",), "The strides differ, not the answer.", placement=TRANSPOSED),
    Probe("a call to refuse", ("error/*",), "Answer `error` with the `kind` that the clause names, or say `errors`."),
)


@dataclass(frozen=True)
class Outcome:
    """What became of a probe: ok, missing, wrong or skipped; what was asked, and what to say of it."""

    title: str
    state: str
    asked: str = ""
    lines: tuple[str, ...] = ()
    advice: str = ""


def smoke(command: Sequence[str], corpus: Corpus, timeout: float, wire: Wire, say: Callable[[str], None]) -> int:
    """Ask an adapter, say line by line what came of it, and return an exit code."""
    began = time.monotonic()
    session = Child(command, timeout=timeout, patience=4 * timeout, wire=wire)
    outcomes: list[Outcome] = []
    with session:
        say(_introduced(session.identity))
        for outcome in _outcomes(session, corpus):
            outcomes.append(outcome)
            say(_written(outcome))
    say(_conclusion(outcomes, time.monotonic() - began))
    if any(one.state == WRONG for one in outcomes):
        return problems.DIFFERS
    return problems.AGREES if any(one.state == OK for one in outcomes[: len(PROBES)]) else problems.NOTHING


def _outcomes(session: Child, corpus: Corpus) -> Iterator[Outcome]:
    """Yield what became of each probe; an adapter that twice gave no reply at all is not asked further."""
    operators = session.identity.capabilities.operators or _COMMON
    cases = [case for op in operators for case in corpus.cases if case.op == op]
    lost = 0
    for probe in PROBES:
        outcome = _probed(probe, session, cases, corpus)
        yield outcome
        lost += outcome.advice in _LOST_ADVICE.values()
        if lost == _ENOUGH:
            return
    yield _unheard_of(session)
    yield _ended(session)


def _probed(probe: Probe, session: Child, cases: Sequence[Case], corpus: Corpus) -> Outcome:
    """Ask for the first case of a probe that is not missing, of a few operators."""
    identity, missing = session.identity, Outcome(probe.title, SKIPPED, "beyond what it says that it can do")
    if probe.gradient and not identity.capabilities.gradients:
        return Outcome(probe.title, SKIPPED, "it says that it computes none")
    tried = set()
    for case in _fitting(probe, cases):
        if case.op in tried or (case.is_error and identity.errors == "none"):
            continue
        request = _request(probe, case, corpus)
        if identity.capabilities.lacks(request):
            continue
        tried.add(case.op)
        outcome = _judged(probe, case, request, session)
        if outcome.state != MISSING or len(tried) == _FEW:
            return outcome
        missing = outcome
    return missing


def _fitting(probe: Probe, cases: Sequence[Case]) -> Iterator[Case]:
    """Yield the cases that show what a probe is about."""
    for glob in probe.cases:
        for case in cases:
            if fnmatch.fnmatchcase(case.id.partition("/")[2], glob) and _can_show(probe, case):
                yield case


def _can_show(probe: Probe, case: Case) -> bool:
    return (
        probe.placement in placements_for(case)
        and probe.layout in case.layouts
        and (case.gradient_expected or not probe.gradient)
    )


def _request(probe: Probe, case: Case, corpus: Corpus) -> Message:
    wrt = messages.differentiated(case, corpus.table[case.op])
    request = messages.run(case, probe.layout, probe.placement, wrt)
    return request if probe.gradient else messages.without_gradient(request)


def _judged(probe: Probe, case: Case, request: Message, session: Child) -> Outcome:
    asked = f"{case.id}, {probe.layout}, {probe.placement}"
    (reply,) = session.answers([request])
    findings = judge(case, probe.layout, reply, session.identity.errors)
    found = next((one for one in findings if one.verdict in (*DIFFERS, ADAPTER)), findings[0])
    if not probe.gradient:
        found = findings[0]
    elif found is findings[0] and found.verdict == OK:
        found = next(one for one in findings if one.part == GRADIENT)
    if found.verdict in (OK, MISSING):
        return Outcome(probe.title, found.verdict, asked, (found.got,) if found.got else ())
    if found.verdict in (UNREACHED, UNASKED):
        return Outcome(probe.title, SKIPPED, asked, (found.got,) if found.got else ())
    return Outcome(probe.title, WRONG, asked, tuple(_explained(found)), _advice(probe, case, reply))


def _explained(found: Finding) -> Iterator[str]:
    if found.verdict in DIFFERS:
        yield f"it {DIFFERS[found.verdict]}"
    if found.verdict not in (*LOST, ADAPTER):
        yield f"expected {found.want}"
    yield from (f"got      {line}" if found.verdict != ADAPTER else line for line in found.got.splitlines())


def _advice(probe: Probe, case: Case, reply: Reply) -> str:
    if reply.outcome in _LOST_ADVICE:
        return _LOST_ADVICE[reply.outcome]
    return f"{probe.advice} More: pynested explain {case.id}"


def _unheard_of(session: Child) -> Outcome:
    """Ask for an operator that does not exist, as a later version of the specification would."""
    title = "an operator that it lacks"
    request: Message = {
        "cmd": "run",
        "seq": 0,
        "op": UNHEARD_OF,
        "layout": LAYOUTS[0],
        "placement": PACKED,
        "args": [],
        "kwargs": {},
    }
    if session.identity.capabilities.lacks(request):
        return Outcome(title, OK, "never asked for, since it lists its operators")
    (reply,) = session.answers([request])
    if reply.outcome == MISSING:
        return Outcome(title, OK, UNHEARD_OF)
    advice = _LOST_ADVICE.get(
        reply.outcome, 'Answer {"seq": ..., "missing": "why"}, or list `operators` in the answer to start.'
    )
    return Outcome(
        title, WRONG, UNHEARD_OF, ("expected missing", f"got      {reply.outcome} {reply.text}".rstrip()), advice
    )


def _ended(session: Child) -> Outcome:
    """Ask the adapter to stop."""
    if session.close():
        return Outcome("the end", OK, "stop")
    return Outcome("the end", WRONG, "stop", ("it did not end",), "End at `stop`, and at the end of standard input.")


# --- in words


def _introduced(identity: Identity) -> str:
    """Return who the adapter says that it is."""
    own = identity.capabilities
    lists = {name: getattr(own, name) for name in ("operators", "layouts", "placements", "dtypes")}
    said = [f"  {name:<11} {', '.join(some)}" for name, some in lists.items() if some is not None]
    said += [] if own.gradients else ["  gradients   none"]
    said += [f"  errors      {identity.errors}"]
    open_ = [name for name, some in lists.items() if some is None]
    said += [f"  It does not say which {', '.join(open_)} it has, so it is asked for all."] if open_ else []
    told = "\n".join(textwrap.fill(line, _WIDE, subsequent_indent=" " * 14, drop_whitespace=True) for line in said)
    return f"{identity.name} {identity.version}, protocol {messages.PROTOCOL}, {identity.language}\n{told}\n"


def _written(outcome: Outcome) -> str:
    """Return an outcome in one line, and what is wrong in a few more."""
    lines = [f"  {outcome.state:<8} {outcome.title:<28} {outcome.asked}".rstrip()]
    if outcome.state != OK:
        lines += [" " * 11 + line for line in outcome.lines]
    lines += textwrap.wrap(outcome.advice, _WIDE, initial_indent=" " * 11, subsequent_indent=" " * 11)
    return "\n".join(lines)


def _conclusion(outcomes: Sequence[Outcome], seconds: float) -> str:
    """Return what was found, and what to do next."""
    states = [one.state for one in outcomes]
    broken = len(outcomes) < len(PROBES) + 2
    counted = ", ".join(f"{states.count(one)} {one}" for one in (OK, MISSING, WRONG, SKIPPED) if one in states)
    wrong = next((one for one in outcomes if one.state == WRONG), None)
    if wrong is not None:
        following = f"Next: {wrong.title}; --trace FILE keeps the messages."
        following += " Nothing more was asked." if broken else ""
    elif OK not in states[: len(PROBES)]:
        following = "Next: answer one call with a value; nothing that was asked is there yet."
    else:
        following = "Next: pynested conform --adapter COMMAND, which asks for every case."
    return f"\n{counted}, in {seconds:.1f} s. {following}"
