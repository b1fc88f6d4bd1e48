"""What sort of difference a finding is: that is what a maintainer asks first.

A verdict says *what* differs: a value, a dtype, a refusal. The kind says *how serious, and whose*: a target that offers
its dense operator is asked the same call component by component; a call that differs is asked a second time; and a
refusal is read for whether it names a limit, or is an error of the target's own inside.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from .judge import ADAPTER, CONVENTION, CORRUPT, DAMAGED, GRADIENT, UNREACHED, Finding
from .replies import CRASHED, GARBLED, HUNG, MISSING, UNASKED
from .wording import normal

NESTED, DIFFERENT, DENSE, LIMIT, INTERNAL, CRASH, CORRUPTED, UNSTEADY = (
    "nested",
    "differs",
    "dense",
    "limit",
    "internal",
    "crash",
    "corrupt",
    "unsteady",
)

# Every kind in the order of a report, as the end of the sentence "the target ...", and as a noun that can be counted.
KINDS: Mapping[str, str] = {
    NESTED: "differs from its own dense operator",
    DIFFERENT: "differs from the specification",
    DENSE: "differs, and its dense operator does too",
    LIMIT: "refuses, and says so",
    INTERNAL: "refuses by an internal error",
    CRASH: "crashes, hangs, or writes no reply",
    CORRUPTED: "hands out what contradicts itself, cannot be read, or lies in a hole",
    UNSTEADY: "gives different answers to the same call",
}

# Conventions that a target may declare, and what they mean.
CONVENTIONS: Mapping[str, str] = {
    "promotion": "dtypes as its dense operators have them",
    "signature": "arguments as its dense operators take them",
    "identity": "nested operands belong together only if they share offsets, or, strided, have the same strides",
}

# Errors of these classes come from code that did not foresee the call, whatever they say.
_UNFORESEEN = {"AssertionError", "AttributeError", "KeyError", "NameError", "UnboundLocalError", "ZeroDivisionError"}
_UNFORESEEN |= {"StopIteration", "SystemError", "RecursionError", "MemoryError", "UnicodeError"}
_INTERNAL = re.compile(
    r"file an issue|report a bug|internal assert|internal error|doesn't support (sizes|strides)|unsupported layout.*bug"
    r"|object has no attribute|symint|(missing|unexpected|multiple values for) .*argument|invalid gradient"
    r"|cannot (view|expand) shape|reshape tensor of 0 elements|non-empty tensorlist|should match total_l"
    r"|dimension out of range|out of bounds for storage|no longer allowed|expected cond to be|size of tensor a"
    r"|split_with_sizes expects split_sizes|operator \S+ does not exist|expected out type|target_size:",
    re.IGNORECASE,
)
# What says that a call was foreseen, and is not taken.
_FORESEEN = re.compile(r"(not|n't) (yet )?support|not implemented|cannot reduce", re.IGNORECASE)
# What complains about the operands of a call; in a backward pass nobody else made that call.
_OPERANDS = re.compile(
    r"cannot call .* function|expected \w+ to be an? (?!contiguous)|directly calling|requires offsets to match",
    re.IGNORECASE,
)
# How errors say that a dtype does not fit, and that the arguments do not.
_DTYPE = re.compile(r"\bdtypes?\b|scalar type", re.IGNORECASE)
_ARGUMENTS = re.compile(r"arguments?\b", re.IGNORECASE)
_NO_ANSWER = {UNASKED, UNREACHED, ADAPTER}
_ASKS_ANYTHING = {MISSING, UNASKED, UNREACHED, ADAPTER}


@dataclass(frozen=True)
class Second:
    """What further questions about one part of a call brought.

    They are the call once more, in this process and, by what new memory holds there, in others; and the dense operator.
    """

    again: Finding | None = None
    dense: Finding | None = None
    elsewhere: Mapping[str, Finding] = field(default_factory=dict)

    def other(self, finding: Finding) -> tuple[str, Finding] | None:
        """Return another answer to the same call, and what new memory held then, or None."""
        asked = [*([] if self.again is None else [("", self.again)]), *self.elsewhere.items()]
        return next((pair for pair in asked if pair[1].verdict not in _NO_ANSWER and _differ(finding, pair[1])), None)


def is_internal(text: str) -> bool:
    """Return whether the text of a refusal, ``Class: message``, is that of an error inside the target.

    >>> is_internal("RuntimeError: NestedTensorImpl doesn't support sizes. Please file an issue.")
    True
    >>> is_internal("RuntimeError: softmax(): not supported along the ragged dimension for now")
    False
    """
    kind, _, message = text.partition(":")
    unforeseen = kind in _UNFORESEEN and not _FORESEEN.search(message)
    return unforeseen or _INTERNAL.search(message) is not None


def kind_of(finding: Finding, second: Second) -> str:
    """Return the kind of a difference."""
    if finding.got.endswith(DAMAGED):
        return UNSTEADY
    if second.other(finding) is not None:
        return UNSTEADY
    if finding.verdict in (CRASHED, HUNG, GARBLED):
        return CRASH
    if finding.verdict == CORRUPT:
        return CORRUPTED
    dense = None if second.dense is None or second.dense.verdict in _ASKS_ANYTHING else second.dense.verdict
    if finding.verdict == "refused":
        own = finding.part == GRADIENT and not finding.op and _OPERANDS.search(finding.got) is not None
        internal = own or is_internal(finding.got)
        if second.dense is not None and dense == "refused" and (internal or _same_words(finding, second.dense)):
            return DENSE
        return INTERNAL if internal else LIMIT
    if finding.verdict == "error-kind" and is_internal(finding.got):
        return INTERNAL
    if finding.verdict == "error-kind" and _FORESEEN.search(finding.got):  # of a limit, before what is wrong is seen
        return LIMIT
    if second.dense is None or dense is None:
        return DIFFERENT
    return DENSE if _same_answer(finding, second.dense) else NESTED


def _differ(first: Finding, second: Finding) -> bool:
    """Return whether two answers to one call differ; of an error only the class counts, for it may say an address."""
    if first.verdict != second.verdict or first.verdict == CRASHED:
        return first.verdict != second.verdict
    if first.verdict in ("refused", "error-kind", CORRUPT):
        return first.got.partition(":")[0] != second.got.partition(":")[0]
    return first.got != second.got


def _same_answer(nested: Finding, dense: Finding) -> bool:
    """Return whether the dense operator differs by the same answer; a few roundings make no other one."""
    if nested.answer and dense.answer:
        return nested.answer == dense.answer
    return not _differ(nested, dense) or (nested.near and dense.near)


def _same_words(first: Finding, second: Finding) -> bool:
    """Return whether two refusals are worded alike; a limit of nested operands is none of dense ones."""
    return normal(first.got) == normal(second.got)


def as_declared(finding: Finding, second: Second, conventions: str, apart: bool = False) -> Finding:
    """Return the finding, or what it is where the target has declared to do otherwise.

    It promotes otherwise where its dense operator does so too; a call that the dense operator refuses for its dtypes no
    operator takes, whatever the nested one says first. And it compares structures by identity where it refuses
    operands that are described ``apart``, and no others. What a program calls is not asked of the dense operator, so
    that what is said of the arguments is taken for what the cases of that operator tell.
    """
    if apart and finding.verdict == "refused" and "identity" in conventions.split() and not is_internal(finding.got):
        return Finding(finding.part, CONVENTION, finding.want, f"identity: {finding.got}")
    if finding.op and "signature" in conventions.split() and _is_of_arguments(finding):
        return Finding(finding.part, CONVENTION, finding.want, f"signature: {finding.got}")
    dense = second.dense
    if finding.part == GRADIENT or dense is None or dense.verdict != finding.verdict:
        return finding
    declared = _convention(finding, dense)
    if declared not in conventions.split():
        return finding
    text = f"{finding.got} where {finding.want.split()[0]} is asked" if finding.verdict == "dtype" else dense.got
    return Finding(finding.part, CONVENTION, finding.want, f"{declared}: {text}")


def _convention(finding: Finding, dense: Finding) -> str:
    """Return the convention that a difference follows which the dense operator shows as well, or nothing."""
    if finding.verdict == "dtype":
        return "promotion" if dense.got == finding.got else ""
    if finding.verdict != "refused":
        return ""
    if _is_of_arguments(finding) and _is_of_arguments(dense):
        return "signature"
    return "promotion" if is_of_dtypes(dense.got) and not is_internal(dense.got) else ""


def is_of_dtypes(text: str) -> bool:
    """Return whether the text of a refusal says that a dtype does not fit.

    >>> is_of_dtypes("RuntimeError: expected scalar type Double but found Char")
    True
    """
    return _DTYPE.search(text) is not None


def _is_of_arguments(finding: Finding) -> bool:
    """Return whether a call was refused for the arguments that it takes."""
    refused = finding.verdict == "refused" and finding.got.startswith("TypeError")
    return refused and _ARGUMENTS.search(finding.got) is not None
