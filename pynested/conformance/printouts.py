"""Compare the output of a snippet with the record of its finding: numbers, dtypes, sizes, and contradictions."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from .contradictions import TWICE, used_by
from .descriptions import ANSWER, OF_ARRAYS, is_described
from .pasting import ACCEPTED, TIMES, USE

_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+(?:\.(\d*))?(?:e([-+]?\d+))?|inf|nan)(?!\w)", re.IGNORECASE)
_OUTSIDE = re.compile(r"the gradient is (\S+) in memory")
_IN_ARRAY = re.compile(r"  at (component|\[)")  # of the element that is wrong
_UNITS = 0.51  # of the last printed digit


def is_printed(finding: Mapping[str, Any], printed: str) -> bool:
    """Return whether the text that a snippet has printed shows what its finding records.

    >>> found = {"verdict": "value", "want": "0.0  at [1]", "got": "0.25 (3e800000)  off by 0.25"}
    >>> is_printed(found, "tensor([1.0000, 0.2500])"), is_printed(found, "hello"), is_printed(found, "0.25")
    (True, False, False)
    """
    verdict, got = finding["verdict"], str(finding["got"])
    if got.startswith("no gradient"):
        return re.search(r"\bNone\b", printed) is not None
    if finding.get("described"):
        return is_described(finding, printed)
    if verdict in OF_ARRAYS:
        return _is_named(got.removeprefix(ANSWER), printed)
    if got == TWICE:
        return _is_not_doubled(printed)
    if used_by(got):
        return _is_changed(printed)
    outside = _OUTSIDE.search(got)
    text = outside[1] if outside else re.split(r"  | \(", got)[0]
    if (outside or _IN_ARRAY.search(finding["want"])) and not re.search(r"[(\[]", printed):
        return False
    return _has_number(text, printed) or (not _NUMBER.fullmatch(text) and text.strip("'") in printed)


def _is_named(got: str, printed: str) -> bool:
    """Return whether a line is the value of a record that is no array, or says that a program was carried out."""
    if got == "a single number":
        return len(_NUMBER.findall(printed)) == 1
    lines = set(filter(None, printed.splitlines()))
    return ACCEPTED in lines or any(got in (line, repr(line)) or got.startswith(f"{line}, ") for line in lines)


def _is_not_doubled(printed: str) -> bool:
    """Return whether the gradients that are left after the second pass are not twice those after the first."""
    gradients = [*map(_numbers, re.split(rf"^(?:{'|'.join(TIMES)}) ", printed, flags=re.MULTILINE)[1:])]
    first, second = gradients[: len(gradients) // 2], gradients[len(gradients) // 2 :]
    return len(first) == len(second) and not all(_agree(*pair, 2) for pair in zip(first, second, strict=True))


def _is_changed(printed: str) -> bool:
    """Return whether the numbers of a result are others once it is used; zeros are padding."""
    result, _, use = printed.partition(USE)
    kept = [[match for match in _numbers(text) if float(match[0])] for text in (result, use)]
    return bool(kept[0]) and bool(use) and not _agree(kept[0], kept[1])


def _numbers(text: str) -> list[re.Match[str]]:
    """Return the numbers that are printed; an empty tensor is printed with its size."""
    return [*_NUMBER.finditer(re.sub(r"size=\([^)]*\)", "", text))]


def _agree(first: Sequence[re.Match[str]], second: Sequence[re.Match[str]], factor: int = 1) -> bool:
    """Return whether printed numbers are the ``factor`` of others, to the digits that are printed."""
    pairs = zip(first, second, strict=False)
    return len(first) == len(second) and all(_stands_for(two, factor * float(one[0])) for one, two in pairs)


def _is_float(number: str) -> bool:
    return any(letter in ".en" for letter in number.lower())


def _has_number(text: str, printed: str) -> bool:
    """Return whether a number is among those of its sort that are printed, to the digits that are printed."""
    if text in ("True", "False"):
        return re.search(rf"\b{text}\b", printed) is not None
    try:
        wanted = float(text)
    except ValueError:
        return False
    found = (match for match in _NUMBER.finditer(printed) if _is_float(match[0]) is _is_float(text))
    return any(_stands_for(match, wanted) for match in found)


def _stands_for(match: re.Match[str], wanted: float) -> bool:
    number = float(match[0])
    if not math.isfinite(number) or not math.isfinite(wanted):
        return number == wanted or (math.isnan(number) and math.isnan(wanted))
    decimals, exponent = len(match[1] or ""), int(match[2] or 0)
    unit = 10.0 ** (exponent - decimals) if decimals else 0.0  # `1.` is exact
    return math.isclose(number, wanted, rel_tol=1e-6, abs_tol=_UNITS * unit)
