"""Every test that takes `lay` runs in both layouts and in every placement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from ..nests import LAYOUTS, PLACEMENTS, nest


@pytest.fixture(params=LAYOUTS, ids=lambda layout: layout.name)
def layout(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture(params=PLACEMENTS)
def placement(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def lay(layout: Any, placement: str) -> Callable[..., Any]:
    """Return a function that makes a nested array of components, in this layout and placement."""

    def lay(components: Sequence[Any], ragged: int = 1) -> Any:
        return nest(components, layout, placement, ragged)

    return lay
