"""Every kernel chooses a path by size; the fixture `path` forces each of them on small arrays."""

from __future__ import annotations

import pytest

from pynested.backends import memory
from pynested.backends.numpy import elementwise, movement, placement, products, running, segment

NEVER = 10**9

PATHS = {
    "as it is": {},
    "one by one": {
        (segment, "FEW_RUNS"): NEVER,
        (running, "FEW_ROWS"): 2,
        (segment, "VERY_LONG_RUN_ELEMENTS"): 0,
        (movement, "LONG_RUN_BYTES"): 0,
        (movement, "FEW_ELEMENTS"): NEVER,
        (placement, "FEW_COMPONENTS"): NEVER,
        (products, "FEW_PRODUCTS"): NEVER,
    },
    "all together": {
        (segment, "FEW_RUNS"): 0,
        (segment, "LONG_RUN_ELEMENTS"): NEVER,
        (segment, "PIECE"): 2,
        (movement, "LONG_RUN_BYTES"): NEVER,
        (movement, "FEW_ELEMENTS"): 0,
        (placement, "FEW_COMPONENTS"): 0,
        (placement, "LONG_COMPONENT"): NEVER,
        (products, "FEW_PRODUCTS"): 0,
    },
    "tiny blocks on threads": {
        (segment, "FEW_RUNS"): 0,
        (running, "BLOCK_BYTES"): 16,
        (running, "KEPT_BYTES"): (0, NEVER),
        (running, "THREAD_BYTES"): 0,
        (running, "THREADS"): 2,
        (products, "TOTAL_CHUNK"): 2,
        **{(module, "LARGE"): 1 for module in (memory, elementwise, movement, products)},
    },
}


@pytest.fixture(params=PATHS)
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    for (module, name), value in PATHS[request.param].items():
        monkeypatch.setattr(module, name, value)
    return str(request.param)
