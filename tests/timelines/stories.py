"""Small programs whose timelines are kept as text in `listings`, one for each device and layout.

``python -m tests.timelines.stories`` writes them and their pictures anew; read the difference before you keep it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pynested as pn
from pynested.pictures.picture import Picture
from pynested.timelines import drawing

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


def compiled(opened: pn.timeline, device: str, layout: Any) -> pn.timeline:
    """A chain of operators that is one call, and its line of the tape."""
    x = pn.nested_array([[1.0, 2.0], [], [3.0]], layout=layout, device=device, requires_grad=True)
    bias = pn.array(0.5, device=device)
    function = pn.compile(lambda x, bias: ((x + 1).tanh() * bias - x).sum(dim=1))
    with opened as t:
        y = function(x, bias)
        y.sum().backward()
    assert x.grad is not None
    return t


FOLDER, PICTURES = Path(__file__).parent / "listings", Path(__file__).parent / "pictures"
DEVICES = ("cpu", "emulated")
STORIES: dict[str, tuple[Story, Any]] = {
    "dense": (dense, None),
    "jagged": (nested, pn.jagged),
    "strided": (nested, pn.strided),
    "compiled": (compiled, pn.jagged),
}


def told(name: str, device: str) -> str:
    """The listing of a story, without what differs from run to run."""
    story, layout = STORIES[name]
    pn.zeros(1, device=device)  # which begins the backend, where nothing has asked for it yet
    return story(pn.timeline(), device, layout).listing(measured=False) + "\n"


def drawn(name: str) -> Picture:
    """The picture of a story on the CPU, in which every event takes as long as every other."""
    story, layout = STORIES[name]
    events = story(pn.timeline(), "cpu", layout).events
    for i, event in enumerate(events):
        event.at, event.took = 1e-5 * i, None if event.took is None else 2e-5
    return drawing.drawn(events)


if __name__ == "__main__":
    for name in STORIES:
        (PICTURES / f"{name}.svg").write_text(drawn(name).svg, encoding="utf-8")
        for device in DEVICES:
            (FOLDER / f"{name}_{device}.txt").write_text(told(name, device), encoding="utf-8")
