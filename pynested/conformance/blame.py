"""Which clause a difference is about: the one whose sentence the call breaks, and never one that asks nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pynested.spec.table import Clause

from .corpus import Case, Corpus
from .judge import GRADIENT, Finding

PLACEMENT = "LAYOUTS-4"  # placement has no influence

# The classes of the clauses that a difference can be about, the likeliest first.
_CLASSES: Mapping[str, Sequence[str]] = {
    "accepted": ("error",),
    "error-kind": ("error",),
    "dtype": ("dtype",),
    "shape": ("shape", "edge"),
    "kind": ("shape",),
    "value": ("value", "edge"),
    "refused": ("value", "edge", "shape"),
}
_SPECIAL = ("nan", "inf", "-inf")
_UNSPECIFIED = "unspecified"


def blame(case: Case, finding: Finding, corpus: Corpus, only_placed: bool = False) -> Clause:
    """Return the clause; ``only_placed`` says that the same call is right where the components are packed."""
    if only_placed and PLACEMENT in corpus.clauses:
        return corpus.clauses[PLACEMENT]
    cited = [corpus.clauses[id_] for id_ in finding.clauses or case.clauses]
    cited = [clause for clause in cited if clause.kind_class != _UNSPECIFIED]
    own = [one for one in corpus.table[case.op].clauses if one.kind_class != _UNSPECIFIED]
    return next(_fitting(cited or own, finding), (cited or own)[0])


def _fitting(clauses: Sequence[Clause], finding: Finding) -> Iterator[Clause]:
    """Yield the clauses of the classes that fit, in the order of these classes."""
    classes = ("gradient",) if finding.part == GRADIENT else _CLASSES.get(finding.verdict, ())
    if finding.verdict == "value" and finding.want.startswith(_SPECIAL):
        classes = ("edge", "value")
    yield from (clause for one in classes for clause in clauses if clause.kind_class == one)
