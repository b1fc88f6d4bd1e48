"""Small programs whose timelines are kept as text in `listings`, one for each device.

``python -m tests.profiling.stories`` writes the texts anew; read the difference before you keep it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pynested as pn
from pynested.pictures.picture import Picture
from pynested.profiling.timeline_picture import draw_timeline

FOLDER = Path(__file__).parent / "listings"
DEVICES = ("cpu", "emulated")


def ragged(layout: pn.Layout = pn.jagged, **options: Any) -> pn.NestedArray:
    return pn.nested_array([[1.0, 2.0], [3.0]], layout=layout, **options)


def sum_of_a_row_and_a_matrix(device: str) -> pn.timeline:
    """The program of the presentation, from the arguments to the kernel and the freed memory."""
    with pn.set_default_device(device), pn.timeline() as t:
        r = pn.rand(3, 4)[0] + pn.rand(3, 4)
    assert r.shape == (3, 4)
    return t


def softmax_and_its_gradient(device: str) -> pn.timeline:
    """A view, an operand that is spread, another dtype, and the backward pass."""
    x = pn.nested_array([[1.0, 2.0], [], [3.0, 4.0]], layout=pn.jagged, device=device, requires_grad=True)
    scale = pn.array([[10], [20], [30]], device=device)
    with pn.timeline() as t:
        y = (x[1:].softmax(-1) + x[1:] * scale[1:]).sum()
        y.backward()
    assert x.grad is not None
    return t


STORIES: dict[str, Callable[[str], pn.timeline]] = {
    "sum": sum_of_a_row_and_a_matrix, "softmax": softmax_and_its_gradient,
}  # fmt: skip


def listing(name: str, device: str) -> str:
    """Return the text of a story, without what differs from run to run."""
    pn.zeros(1, device=device)  # which loads the backend
    return STORIES[name](device).listing(measured=False) + "\n"


def picture() -> Picture:
    """Return the picture of the first story, in which every event takes as long as every other."""
    events = sum_of_a_row_and_a_matrix("cpu").events
    for i, event in enumerate(events):
        event.at, event.took = 1e-5 * i, None if event.took is None else 2e-5
    return draw_timeline(events)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for story in STORIES:
        for device in DEVICES:
            (FOLDER / f"{story}_{device}.txt").write_text(listing(story, device), encoding="utf-8")
