"""Which clause a difference is about: the one whose sentence the call breaks, and never one that asks nothing.

A case cites the clauses that it shows, and a call can break one of them and keep the others. What came tells which:

- a gradient that comes to memory that no component holds breaks the clause on the buffer that was handed over;
- a cotangent that can be pulled back once, and not again, breaks the clause on passes that add up;
- what is there only because of where the components lie breaks LAYOUTS-4, whatever the call is;
- a number that is off by a rounding breaks the clause on precision, and not the one that says which number it is;
- a call on a batch of no components that should be refused, and crashes, breaks the clause that keeps such batches;
- a refusal breaks the clause that says what the operator gives, the first that the case names, or, where there is no
  element at all, the edge that says what becomes of nothing: dtypes, signs and infinities are not what is refused;
- a clause on the gradients of some operands is not broken where those of others are asked for;
- a clause that begins with one value of an argument, `dim=None` say, is not broken by a call without it;
- a program that ends at the call of an operator, since that is refused, breaks such a clause of the operator: what the
  program is about was never asked;
- everything else breaks a clause of the class that fits: cited ones first, of these the operator's own, and of these
  the one that fewest cases cite.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from pynested.spec.encoding import decode_value
from pynested.spec.table import Clause, Operator

from .conditions import gives, is_of_some_calls, speaks_of
from .contradictions import is_outside, is_second
from .corpus import Case, Corpus, Program
from .judge import CORRUPT, ERROR, FORWARD, GRADIENT, OK, Finding
from .messages import differentiated
from .placements import APART, BARE, PACKED, words
from .replies import LOST
from .wording import normal

PLACEMENT = "LAYOUTS-4"  # placement has no influence
_PASSES = "TAPE-1"  # passes add up
_KEPT, _SIZES = "VALUES-6", "VALUES-7"  # that a batch of no components is kept, and has its sizes
_SAID = "output_size"  # the argument that says which sizes a result has, whatever components would have
_NOTHING = re.compile(r"\bempty\b|\bno (component|element|quer|key)|\bwithout\b|\bnothing\b", re.IGNORECASE)
# What a buffer receives where no component lies.
_OUTSIDE = {"jagged": "NESTED_ARRAY_FROM_JAGGED-11", "strided": "NESTED_ARRAY_FROM_STRIDED-7"}
_REFUSED = {"refused", CORRUPT, *LOST}
_REASONS = {"value", "gradient"}  # the classes of clauses that a refusal can be about, whatever else the call is about
_ANSWERED = {OK, "value", "shape", "dtype", "kind", CORRUPT}
_RIGHT = {OK, "dtype", "kind"}  # where the numbers are as they must be
_UNSPECIFIED = "unspecified"

# The classes of the clauses that a difference can be about, the likeliest first.
_CLASSES: Mapping[str, Sequence[str]] = {
    "accepted": ("error",),
    "error-kind": ("error",),
    "dtype": ("dtype",),
    "shape": ("shape", "value", "edge"),
    "kind": ("shape",),
    "value": ("value", "edge"),
}
# A clause on shapes is about sizes or about layouts, and a clause on an edge about what it names.
_ABOUT = {"shape": re.compile("size|shape"), "kind": re.compile("dense|nested|layout|jagged|strided")}
_ABOUT |= {"nan": re.compile("NaN"), "inf": re.compile(r"\binf"), "zero": re.compile(r"\bzero\b.*\bsign\b")}
_SPECIAL = re.compile(r"^(?:any |-)?(nan|inf)\b", re.IGNORECASE)
_ZERO = re.compile(r"^-?0\.0\b")  # where one zero is wanted, and another came, the sign is what differs

# A clause on the gradients of the operands that it names.
_GRADIENTS_OF = re.compile(r"The gradients? of ((?:`\w+`(?:, | and )?)+)")
_NAME = re.compile(r"`(\w+)`")

# How the refusal of an index names an entry after the first one; a step may be that of the first.
_LATER = re.compile(r"\bstep\b(?!:)|\bragged dim|\bof the \d+th constituent")

# What holds for every operator, where none of its own clauses says it.
_DEFAULTS = {"dtype": "DTYPES-3", "kind": "LAYOUTS-5", "gradient": "GRADIENTS-1"}
_PRECISION = {"exact": "", "correctly_rounded": "NUMERICS-2"}


class Blame:
    """The clauses that the differences of one run are about.

    A call that is refused in the same words as one before it is refused for the same reason, and not for what is
    special about it: the cases of an operator begin with the plainest. What becomes of nothing, or which sizes a result
    has, is never the reason of others; nor is what a drawn case cites, which is all that its family may show. But it is
    the reason of calls that have no element at all, which come last: that there is none is not what is refused.
    A reason that is special, which is not the first clause, has to be one that a call cites, or that speaks of it.
    """

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._refused: dict[tuple[str, str, str, str], Clause] = {}
        self._of_elements: dict[tuple[str, str, str, str], Clause] = {}

    def clause(self, case: Case, layout: str, finding: Finding, placed: bool) -> Clause:
        """Return the clause; ``placed`` says that the difference is not there where the components are packed."""
        found = blame(case, layout, finding, self._corpus, placed)
        if placed or finding.op or finding.verdict != "refused" or _of_later_entry(case, finding):
            return found
        key = case.op, layout, finding.part, normal(finding.got)
        if found.id in case.clauses and found.kind_class in _REASONS and "/axes" not in case.id:
            self._refused.setdefault(key, found)
        if not case.has_no_element:
            self._of_elements.setdefault(key, found)
        first = self._refused.get(key) or (self._of_elements.get(key, found) if case.has_no_element else found)
        operator = self._corpus.table[case.op]
        fits = first.id in (operator.clauses[0].id, *case.clauses) or is_of_some_calls(first)
        return first if fits and speaks_of(first, case, operator) else found


def only_placed(found: Mapping[str, Sequence[Finding]], finding: Finding, placements: Sequence[str]) -> bool:
    """Return whether it is only that components lie otherwise: packed, the call gives a result, and not this one.

    A refusal is about the placement whatever that result is; another result only where it is right. Some of the
    ``placements`` have to be of another memory, for two words say no more than how packed components are described.
    """
    if {word for one in placements for word in words(one)} <= {PACKED, BARE, APART}:
        return False
    packed = {one.verdict for one in found.get(PACKED, ()) if one.part == finding.part}
    accepts = finding.verdict == "accepted" and OK in packed  # a refusal that is right is as good as a result
    answered = _ANSWERED if finding.verdict == "refused" else _RIGHT
    return accepts or (bool(packed & answered) and finding.verdict not in packed)


def blame(case: Case, layout: str, finding: Finding, corpus: Corpus, placed: bool = False) -> Clause:
    """Return the clause; ``placed`` says that the difference is not there where the components are packed."""
    if finding.verdict == CORRUPT and is_outside(finding.got) and _OUTSIDE[layout] in corpus.clauses:
        return corpus.clauses[_OUTSIDE[layout]]
    if is_second(finding.got) and _PASSES in corpus.clauses:
        return corpus.clauses[_PASSES]
    if finding.near and finding.part != GRADIENT and (precise := _precision(case, corpus)) in corpus.clauses:
        return corpus.clauses[precise]
    if placed and PLACEMENT in corpus.clauses:
        return corpus.clauses[PLACEMENT]
    if finding.part == ERROR and finding.verdict in LOST and case.has_no_component and _KEPT in corpus.clauses:
        return corpus.clauses[_KEPT]
    said = gives(case, corpus.table[case.op], _SAID)
    nothing = any(not fields["shapes"] for fields in case.nested)
    if finding.verdict == "shape" and nothing and _SIZES in corpus.clauses and not said:
        return corpus.clauses[_SIZES]
    return _first(case, finding, corpus)


def _first(case: Case, finding: Finding, corpus: Corpus) -> Clause:
    """Return the first clause that fits: those that the case cites before the others of its operator."""
    called = finding.op if finding.verdict in _REFUSED else ""
    operator = corpus.table[called or case.op]

    def can_be_broken(clause: Clause) -> bool:
        asked = clause.kind_class != _UNSPECIFIED and speaks_of(clause, case, operator, finding.step)
        return asked and not (finding.part == GRADIENT and _of_others(clause, case, operator))

    own = list(filter(can_be_broken, operator.clauses))
    cited = [corpus.clauses[id_] for id_ in (() if called else finding.clauses) or case.clauses]
    cited = list(filter(can_be_broken, cited))
    if _of_later_entry(case, finding):
        return corpus.clauses["GETITEM-2"]
    if finding.verdict in _REFUSED and (called or finding.part == FORWARD):
        keeps = [corpus.clauses[_KEPT]] if _KEPT in corpus.clauses else []
        return next(_refused(case, own, [one for one in cited if one in own], keeps), (own or cited)[0])
    cited.sort(key=lambda clause: (clause not in own, corpus.witnesses[clause.id]))
    default = corpus.clauses.get(_DEFAULTS.get(GRADIENT if finding.part == GRADIENT else finding.verdict, ""))
    return next(_fitting(cited, own, finding), default or (cited or own)[0])


def _of_others(clause: Clause, case: Case, operator: Operator) -> bool:
    """Return whether a clause is on the gradients of operands by name, of which this case asks none."""
    named = _GRADIENTS_OF.match(clause.text)
    if named is None or isinstance(case, Program):
        return False
    names = list(operator.call.parameters)
    asked = {names[min(one, len(names) - 1)] if isinstance(one, int) else one for one in differentiated(case, operator)}
    return asked.isdisjoint(_NAME.findall(named[1]))


def _refused(
    case: Case, own: Sequence[Clause], cited: Sequence[Clause], no_components: Sequence[Clause]
) -> Iterator[Clause]:
    """Yield what says that there is a result: of nothing by its edge, else by its value, else by the first clause."""
    if case.has_no_element:
        yield from (clause for clause in _of(("edge",), cited) if _NOTHING.search(clause.text))
    made = case.expect.get("nested")
    if made is not None and (case.has_no_component or not (case.nested or made["shapes"])):
        yield from no_components
    yield from _of(("value", "shape"), cited)
    yield from (clause for clause in own if clause.kind_class != "error")


def _fitting(cited: Sequence[Clause], own: Sequence[Clause], finding: Finding) -> Iterator[Clause]:
    """Yield the clauses of the classes that fit, those that name what is wrong before the others."""
    classes, about = _CLASSES.get(finding.verdict, ("error",)), _ABOUT.get(finding.verdict)
    if finding.part == GRADIENT:
        classes, about = ("gradient",), None
    elif finding.verdict == "value" and (special := _special(finding)):
        classes, about = ("edge", "value"), _ABOUT[special]
    if about is not None:
        named = [*cited, *own] if finding.verdict == "value" else cited
        yield from (clause for clause in _of(classes, named) if about.search(clause.text))
        classes = [one for one in classes if one != "shape"]
    yield from (*_of(classes, cited), *_of(classes, own))


def _special(finding: Finding) -> str:
    """Return what is special about a value that is wanted, or nothing; a zero is where the other zero came."""
    if _ZERO.search(finding.want) and _ZERO.search(finding.got):
        return "zero"
    special = _SPECIAL.search(finding.want)
    return special[1].lower() if special else ""


def _of(classes: Sequence[str], clauses: Sequence[Clause]) -> Iterator[Clause]:
    return (clause for one in classes for clause in clauses if clause.kind_class == one)


def _precision(case: Case, corpus: Corpus) -> str:
    """Return the clause on how close a result has to be; where it is exact, the operator itself says which it is."""
    precision = corpus.table[case.op].precision
    return (
        "NUMERICS-4" if "float16" in case.dtypes and precision != "exact" else _PRECISION.get(precision, "NUMERICS-3")
    )


def _of_later_entry(case: Case, finding: Finding) -> bool:
    """Return whether an index is refused for an entry after the first, which is no slice with a negative step."""
    if case.op != "getitem" or not _LATER.search(finding.got):
        return False
    first = decode_value(case.args[1]).items[:1]
    return not any(isinstance(one, slice) and (one.step or 1) < 0 for one in first)
