"""Every kernel on every schedule against the NumPy backend, and that nothing in the catalogue goes unused."""

from __future__ import annotations

from typing import Any

import pytest

from pynested.backends.cuda import placement
from pynested.backends.cuda.catalogue import catalogue
from pynested.backends.cuda.emulated import Emulator, emulated_backend

from . import agreement_more  # noqa: F401  enters its checks
from .agreement import CHECKS

CASES = [(verb, dtype) for verb, (dtypes, _) in CHECKS.items() for dtype in dtypes]


@pytest.mark.parametrize(("verb", "dtype"), CASES)
def test_agrees_with_numpy(backend: Any, verb: str, dtype: str) -> None:
    CHECKS[verb][1](backend, dtype)


class Recording(Emulator):
    """Remembers what was launched."""

    def run(self, file: str, name: str, *rest: Any) -> None:
        launched.add(name)
        super().run(file, name, *rest)


launched: set[str] = set()
PLACED = ("gather_components", "scatter_components")


def test_every_instantiation_is_run(compiled: None, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = emulated_backend(Recording())
    for verb, dtype in CASES:
        CHECKS[verb][1](backend, dtype)
    monkeypatch.setattr(placement, "SHORT_INDEX", 0)  # positions of 64 bits for all components
    for verb, dtype in CASES:
        if verb in PLACED:
            CHECKS[verb][1](backend, dtype)
    every = {name for names in catalogue().values() for name in names}
    assert sorted(every - launched) == []
