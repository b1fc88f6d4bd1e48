"""Compare the output of a snippet with the record of its finding: numbers, dtypes, and sizes."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

# Words of a description of an array: see `described` of the dialects.
_WORDS = re.compile(r"\b(?:nested|dense|bool|u?int\d+|float\d+)\b|\(\)|\(\d+,\)|\(\d+(?:, \d+)+\)")
_SIZES = re.compile(r"\(\)|\(\d+,\)|\(\d+(?:, \d+)+\)")
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+(?:\.(\d*))?(?:e([-+]?\d+))?|inf|nan)(?!\w)", re.IGNORECASE)
_OUTSIDE = re.compile(r"the gradient is (\S+) in memory")
_TYPE = re.compile(r"an array of type ([^:]+): ")  # of awkward, where values may be missing
_UNITS = 0.51  # of the last printed digit
_DESCRIBED = ("shape", "dtype", "kind", "accepted")
ACCEPTED = "accepted"  # what a program prints after a step that must be refused


def is_printed(finding: Mapping[str, Any], printed: str) -> bool:
    """Return whether the text that a snippet has printed shows what its finding records.

    >>> is_printed({"verdict": "value", "got": "0.25 (3e800000)  off by 0.25"}, "tensor([1.0000, 0.2500])")
    True
    >>> is_printed({"verdict": "value", "got": "0.25 (3e800000)  off by 0.25"}, "hello")
    False
    >>> is_printed({"verdict": "shape", "got": "(2, 3)"}, "dense torch.float32 (3, 2)")
    False
    """
    verdict, got = finding["verdict"], str(finding["got"])
    if got.startswith("no gradient"):
        return "None" in printed
    if verdict in _DESCRIBED:
        return _is_described(got, printed)
    outside = _OUTSIDE.search(got)
    text = outside[1] if outside else re.split(r"  | \(", got)[0]
    if verdict != "value" and outside is None:  # a contradiction, of which both sides are printed
        return _has_value(printed)
    return _has_number(text, printed) or (not _NUMBER.fullmatch(text) and text in printed)


def _is_described(got: str, printed: str) -> bool:
    """Return whether the words of a record are in the description that a snippet prints."""
    if named := _TYPE.search(got):
        return named[1] in printed.splitlines()
    described = re.search(r"^(nested|dense) .*", printed, re.MULTILINE)
    if described is None:  # of a list, a gradient, or a library that describes arrays in words of its own
        return ACCEPTED in printed.splitlines() or _has_value(printed)
    text = described[0].replace("torch.", "")
    if count := re.match(r"(\d+) components$", got):
        return len(_SIZES.findall(text)) == int(count[1])
    words, found = _WORDS.findall(got), set(_WORDS.findall(text))
    return bool(words) and found.issuperset(words)


def _has_value(printed: str) -> bool:
    return _NUMBER.search(printed) is not None or re.search(r"\b(True|False|None)\b|\[\]", printed) is not None


def _has_number(text: str, printed: str) -> bool:
    """Return whether a number is among those printed, to the digits that are printed."""
    try:
        wanted = float({"True": "1", "False": "0"}.get(text, text))
    except ValueError:
        return False
    if text in ("True", "False") and re.search(rf"\b{text}\b", printed):
        return True
    return any(_stands_for(match, wanted) for match in _NUMBER.finditer(printed))


def _stands_for(match: re.Match[str], wanted: float) -> bool:
    number = float(match[0])
    if not math.isfinite(number) or not math.isfinite(wanted):
        return number == wanted or (math.isnan(number) and math.isnan(wanted))
    decimals, exponent = len(match[1] or ""), int(match[2] or 0)
    unit = 10.0 ** (exponent - decimals) if decimals else 0.0  # `1.` is exact
    return math.isclose(number, wanted, rel_tol=1e-6, abs_tol=_UNITS * unit)
