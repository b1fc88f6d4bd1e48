"""Small programs whose timelines are kept as text in `listings`, one for each device and layout.

``python -m tests.timelines.stories`` writes them anew; read the difference before you keep it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pynested as pn

Story = Callable[[pn.timeline, str, Any], pn.timeline]


def dense(opened: pn.timeline, device: str, layout: Any) -> pn.timeline:
    """The line that the presentation follows from the binding to the kernel and the freed memory."""
    with pn.set_default_device(device), opened as t:
        r = pn.rand(3, 4)[0] + pn.rand(3, 4)
    assert r.shape == (3, 4)
    return t


def nested(opened: pn.timeline, device: str, layout: Any) -> pn.timeline:
    """A view, an operand that is spread, another dtype, and the way back."""
    x = pn.nested_array([[1.0, 2.0], [], [3.0, 4.0]], layout=layout, device=device, requires_grad=True)
    scale = pn.array([[10], [20], [30]], device=device)
    with opened as t:
        y = (x[1:].softmax(-1) + x[1:] * scale[1:]).sum()
        y.backward()
    assert x.grad is not None
    return t


FOLDER = Path(__file__).parent / "listings"
DEVICES = ("cpu", "emulated")
STORIES: dict[str, tuple[Story, Any]] = {
    "dense": (dense, None),
    "jagged": (nested, pn.jagged),
    "strided": (nested, pn.strided),
}


def told(name: str, device: str) -> str:
    """The listing of a story, without what differs from run to run."""
    story, layout = STORIES[name]
    return story(pn.timeline(), device, layout).listing(measured=False) + "\n"


if __name__ == "__main__":
    for name in STORIES:
        for device in DEVICES:
            (FOLDER / f"{name}_{device}.txt").write_text(told(name, device), encoding="utf-8")
