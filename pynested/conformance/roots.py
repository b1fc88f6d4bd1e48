"""What differences have in common that have one root, so that a maintainer reads of it once.

A root is told by what is said: a refusal by the words of its message, a call that had to be refused by the error that
it asks for, any other difference by the sentence of the clause that it breaks. Texts are compared without what varies
from call to call and from operator to operator: numbers, shapes, what is quoted, the names of dtypes and operators.
Those that share most of their words are one: `add` and `mul` refuse in the same words, and SOFTMAX-9 and SOFTMIN-9 are
one sentence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from .blame import PLACEMENT
from .judge import CORRUPT
from .kinds import CORRUPTED, CRASH, DENSE, DIFFERENT, UNSTEADY
from .records import Record
from .wording import normal

Pair = tuple[Record, Record]  # a result, and one of its findings
Key = tuple[str, ...]

BY_MESSAGE = ("refused", "error-kind", CORRUPT)
_SHARED = 0.6  # of the words of two texts, where they are told as one

_WORD = re.compile(r"[a-z]{3,}")
_DTYPES = {"bool", "int", "long", "short", "char", "byte", "half", "float", "double", "signed", "unsigned"}


def grouped(pairs: Sequence[Pair]) -> list[tuple[str, str, list[Pair]]]:
    """Return the pairs by their roots, each with the kind that it is told as and the words that it is told by."""
    operators = {result["op"] for result, _ in pairs}
    found: dict[Key, dict[frozenset[str], list[Pair]]] = {}
    for pair in pairs:
        key, text = _key(*pair), _said(pair[1])
        found.setdefault(key, {}).setdefault(_words(text, operators), []).append(pair)
    gathered = {key: _alike(texts) for key, texts in found.items()}
    _join_unknown(gathered)
    return [
        (_kind(members), " ".join(sorted(words)), members)
        for texts in gathered.values()
        for words, members in texts.items()
    ]


def _key(result: Record, finding: Record) -> Key:
    """Return what has to be equal for two differences to have one root."""
    kind, verdict, part = str(finding["kind"]), str(finding["verdict"]), str(finding["part"])
    if kind == CRASH:
        return kind, result["layout"], verdict, "empty" if "no components" in finding["call"] else ""
    if kind in (UNSTEADY, CORRUPTED):
        return kind, verdict, part
    if verdict in BY_MESSAGE:
        return "refused", verdict, "gradient" if part == "gradient" else ""
    placed = result["chapter"] if finding["clause"] == PLACEMENT or verdict == "accepted" else ""
    return kind, verdict, part, placed


def _said(finding: Record) -> str:
    """Return the text that tells the root: of a crash the signal, of what is accepted the error that it has to be."""
    if finding["kind"] == CRASH:
        return str(finding["got"]).partition(":")[0]
    if finding["verdict"] in BY_MESSAGE:
        return normal(finding["got"])
    placed = finding["clause"] == PLACEMENT
    return str(finding["want"] if finding["verdict"] == "accepted" and not placed else finding["text"])


def _words(text: str, operators: Collection[str]) -> frozenset[str]:
    """Return the words of a text that tell what it is about; names of operators may stand inside of longer ones."""
    words = _WORD.findall(re.sub(r"\b\w*_\w*\b|\b\w+\.\w+\b", " ", text).lower())
    return frozenset(one for one in words if one not in _DTYPES and one not in operators)


def _alike(texts: Mapping[frozenset[str], list[Pair]]) -> dict[frozenset[str], list[Pair]]:
    """Gather texts that share most of their words around the most frequent of them."""
    found: dict[frozenset[str], list[Pair]] = {}
    for words, members in sorted(texts.items(), key=lambda one: (-len(one[1]), sorted(one[0]))):
        nearest = max(found, key=lambda other: _shared(words, other), default=None)
        if nearest is not None and _shared(words, nearest) >= _SHARED:
            found[nearest] += members
        else:
            found[words] = list(members)
    return found


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 1.0


def _join_unknown(gathered: dict[Key, dict[frozenset[str], list[Pair]]]) -> None:
    """Let what the dense operator could not be asked about join what it was asked about, where the root is the same."""
    for key in [one for one in gathered if one[0] == DIFFERENT]:
        for other in [one for one in gathered if one[1:] == key[1:] and one[0] != DIFFERENT]:
            for words in [one for one in gathered[key] if one in gathered[other]]:
                gathered[other][words] += gathered[key].pop(words)


def _kind(members: Sequence[Pair]) -> str:
    """Return the kind of most members; of those that could be asked about, where there are any."""
    counts = Counter(str(finding["kind"]) for _, finding in members)
    known = {kind: count for kind, count in counts.items() if kind != DIFFERENT} or counts
    return max(known, key=lambda kind: (known[kind], kind != DENSE))
