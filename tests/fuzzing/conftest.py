"""Targets that are wrong on purpose, in this process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

import pynested as pn
from pynested.conformance.adapters.base import PythonAdapter
from pynested.conformance.adapters.pynested_adapter import PynestedTarget
from pynested.conformance.messages import Message
from pynested.conformance.session import InProcess
from pynested.fuzzing import campaign, command, telling

Fault = Callable[[str, str, Sequence[Any], Any], Any]


class Wrong(PynestedTarget):
    """pynested, but for what ``fault(op, layout, args, result)`` makes of a result."""

    def __init__(self, fault: Fault) -> None:
        super().__init__()
        self._fault = fault

    def identity(self, device: str) -> Message:
        return {**super().identity(device), "name": "wrong"}

    def call(self, op: str, layout: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        return self._fault(op, layout, args, super().call(op, layout, args, kwargs))


@pytest.fixture
def plant(monkeypatch: pytest.MonkeyPatch) -> Callable[[Fault], None]:
    """Have every campaign of the test ask pynested with a fault."""

    def planted(fault: Fault) -> None:
        def opened(settings: Any) -> InProcess:
            return InProcess(PythonAdapter(Wrong(fault)))

        for module in (campaign, telling, command):
            monkeypatch.setattr(module, "opened", opened, raising=False)

    return planted


def off_by_a_thousandth(op: str, layout: str, args: Sequence[Any], result: Any) -> Any:
    """Of more than one component what is negated is a thousandth too much."""
    return result * 1.001 if op == "neg" and isinstance(args[0], pn.NestedArray) and len(args[0]) > 1 else result
