"""Every picture of a graph equals its golden file; `python -m tests.graph.test_pictures` draws the files anew."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pynested as pn
from pynested.pictures import Picture

from ..sheets import golden_sheet

GOLDEN = Path(__file__).parent / "pictures"
W, B = pn.ones(4, 4), pn.zeros(4)


def ragged(*lengths: int) -> Any:
    return pn.nested_array([pn.ones(length, 4) for length in lengths], layout=pn.jagged)


def two_structures(x: Any, y: Any) -> Any:
    h, k = pn.relu(pn.linear(x, W, B)), pn.relu(pn.linear(y, W, B))
    return {"h": h * 2, "both": (h.mean(1) - k.mean(1), k.amax(1))}


def writes(x: Any, y: Any) -> Any:
    z = x.clone()
    z[0][:] = 0.0
    z += 1
    return pn.cat([z, z @ W, z, z @ W, z, z, z, z, z, z, z, z, z, z, z, z, z, z, z, z, z, z, z, z, z, z, z, z], dim=2)


GRAPHS: dict[str, Callable[..., Any]] = {"two_structures": two_structures, "writes": writes}


def drawn(name: str) -> Picture:
    return pn.trace(GRAPHS[name], ragged(3, 5), ragged(2, 6)).picture()


@pytest.mark.parametrize("name", GRAPHS)
def test_a_picture_is_the_golden_one_and_fits_the_page(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    golden_sheet(lambda: drawn(name), GOLDEN / f"{name}.svg", monkeypatch)


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for name in GRAPHS:
        (GOLDEN / f"{name}.svg").write_text(drawn(name).svg, encoding="utf-8")
