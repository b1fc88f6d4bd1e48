"""No malformed structure, shape, dimension or index ends in an error that is not ours; a million of them by hand."""

from __future__ import annotations

from ..malformed import run


def test_malformed_calls() -> None:
    found = run(seed=1, count=20_000)
    assert found["accepted"] > 3000 and found["StructureError"] > 5000
    assert found.keys() >= {
        "ArgumentError",
        "DTypeError",
        "DimensionError",
        "IndexOutOfRange",
        "LayoutError",
        "ShapeError",
    }
