"""Numbers larger than any size are clamped in slices, as Python's own sequences clamp them."""

from __future__ import annotations

from typing import Any

import numpy as np

import pynested as pn

from ...nests import assert_same

ROWS = [np.array([1.0, 2.0]), np.array([3.0])]
TABLES = [np.array([[1.0, 2.0]]), np.array([[3.0, 4.0], [5.0, 6.0]])]


def test_slices(lay: Any) -> None:
    for huge in (2**62, 2**63, 2**70):
        assert_same(lay(ROWS)[:, ::huge], [row[:1] for row in ROWS])
        assert_same(lay(ROWS)[:, ::-huge], [row[-1:] for row in ROWS])
        assert_same(lay(ROWS)[:, -huge:huge], ROWS)
        assert_same(lay(TABLES)[-huge:huge:huge, ..., ::huge], [TABLES[0][:, :1]])
        assert pn.ones(3)[-huge:huge:huge].tolist() == [1.0]
