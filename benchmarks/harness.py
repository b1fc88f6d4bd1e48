"""Rows of measured times, and the JSON file that holds them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pynested as pn


class Case(NamedTuple):
    """A timed call of a contender.

    Attributes
    ----------
    operator : str
        Name of the row in the tables of `benchmarks.contenders`.
    kind : str
        Operands: "nested" or "dense".
    load : str
        Size of the operands: "tiny", "short", "long" or "huge".
    direction : str
        "forward" or "with gradient".
    contender : str
        Library and layout, as `benchmarks.operators` prints it.
    """

    operator: str
    kind: str
    load: str
    direction: str
    contender: str


Times = dict[Case, float]  # minimum seconds of one call


def write_times(times: Times, file: Path) -> None:
    """Write the times, and the checkout that was measured."""
    rows = [{**case._asdict(), "seconds": seconds} for case, seconds in times.items()]
    content = {"checkout": str(Path(pn.__file__).resolve().parents[1]), "rows": rows}
    file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def read_times(file: Path, checkout: Path | None = None) -> Times:
    """Read the times; refuse those of another checkout than the given one."""
    content = json.loads(file.read_text(encoding="utf-8"))
    if checkout is not None and content["checkout"] != str(checkout.resolve()):
        raise SystemExit(f"{checkout}: its Python imported pynested from {content['checkout']}. Pass another --python.")
    return {Case(*(row[name] for name in Case._fields)): row["seconds"] for row in content["rows"]}


def least(every: Iterable[Times]) -> Times:
    """Return the minimum of each row over the rounds that have it."""
    found: Times = {}
    for times in every:
        for case, seconds in times.items():
            found[case] = min(seconds, found.get(case, seconds))
    return found


def in_units(seconds: float) -> str:
    """Return a time in a unit that fits, in ten characters."""
    for unit, scale in (("s ", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:7.2f} {unit}"
    return f"{seconds / 1e-9:7.2f} ns"
