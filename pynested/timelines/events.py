"""What a timeline is made of: one event for each thing that happened, in plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Event:
    """One thing that happened.

    Attributes
    ----------
    kind : str
        ``call``, ``chain``, ``backend``, ``random``, ``lineup``, ``rule``, ``plan``, ``verb``, ``kernel``, ``memory``,
        ``new``, ``write``, ``view``, ``tape``, ``pull``, ``grad``, ``gone``, ``dies`` or ``alive``.
    name : str
        Of the operator, the chain, the rule, the verb, the kernel or the storage.
    depth : int
        Inside how many others it happened.
    at : float
        When, in seconds since the timeline began.
    took : float or None
        How long, in seconds, what happened inside and the watching included; None for what is only noted.
    facts : dict
        What else there is to say: strings, numbers, and lists and dicts of them.
    """

    kind: str
    name: str
    depth: int
    at: float
    took: float | None = None
    facts: dict[str, Any] = field(default_factory=dict)
