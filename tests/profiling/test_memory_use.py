"""`memory` counts large blocks of memory."""

from __future__ import annotations

import pynested as pn
from pynested.backends import caching_allocator as blocks


def test_large_pieces_are_counted_fresh_reused_kept_and_at_their_peak() -> None:
    blocks.release_kept()
    start = pn.memory()
    x = pn.empty(blocks.LARGE)
    held = pn.memory()
    size = held.in_use - start.in_use
    assert size >= 8 * blocks.LARGE and held.peak >= held.in_use
    assert (held.fresh - start.fresh, held.reused - start.reused) == (1, 0)
    del x
    assert (pn.memory().in_use, pn.memory().kept) == (start.in_use, size)
    x = pn.empty(blocks.LARGE)
    assert (pn.memory().reused - start.reused, pn.memory().kept) == (1, 0)
    assert pn.memory().peak >= held.in_use
    del x
    blocks.release_kept()
