"""What a timeline says, word for word: the story of the presentation, and nested arrays forward and backward."""

from __future__ import annotations

import pytest

import pynested as pn

from ..sheets import golden_sheet
from .stories import DEVICES, FOLDER, PICTURES, STORIES, dense, drawn, told


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", STORIES)
def test_a_listing_is_what_it_was(name: str, device: str) -> None:
    assert told(name, device) == (FOLDER / f"{name}_{device}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", STORIES)
def test_a_picture_is_what_it_was_fits_the_page_and_no_text_lies_on_another(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sheet = golden_sheet(lambda: drawn(name), PICTURES / f"{name}.svg", monkeypatch)
    assert all("…" not in box.text for box in sheet.boxes)


def test_there_are_no_listings_of_nothing() -> None:
    assert {file.stem for file in FOLDER.glob("*")} == {f"{name}_{device}" for name in STORIES for device in DEVICES}


@pytest.mark.parametrize("device", DEVICES)
def test_the_stages_of_the_presentation(device: str) -> None:
    """``_t1 = rand(3, 4); _t2 = _t1[0]; del _t1; _t3 = rand(3, 4); r = _t2 + _t3; del _t2; del _t3``."""
    events = dense(pn.timeline(), device, None).events
    stages = [
        (event.kind, event.name) for event in events if event.depth == 0 and event.kind in ("call", "gone", "alive")
    ]
    r = next(event.name for event in reversed(events) if event.kind == "alive")
    assert stages == [
        ("call", "rand"), ("call", "__getitem__"), ("gone", "rand"), ("call", "rand"), ("call", "add"),
        ("gone", "__getitem__"), ("gone", "rand"), ("alive", r),
    ]  # fmt: skip
    view = next(event for event in events if event.kind == "view")
    assert (view.facts["sizes"], view.facts["strides"], view.facts["offset"]) == ([4], [1], 0)
    assert next(event for event in events if event.kind == "gone").facts["holders_left"] == 1
    plan = next(event for event in events if event.kind == "plan")
    assert plan.facts["shape"] == [3, 4] and plan.facts["strides"] == [[0, 8], [32, 8]]
    born = {event.name: event.facts for event in events if event.kind == "new"}
    died = {event.name for event in events if event.kind == "dies"}
    assert set(born) - died == {r}, "only r remains"
    assert all(facts["bytes"] == 3 * 4 * 8 and facts["device"] in ("cpu", device) for facts in born.values())


def test_times_and_addresses_are_in_the_listing_that_is_printed() -> None:
    with pn.timeline() as t:
        kept = pn.zeros(2)
    (new,) = [event for event in t.events if event.kind == "new"]
    assert f"at {kept.data.ctypes.data:#x} on a multiple of {new.facts['aligned']}" in str(t)
    assert "0x" not in t.listing(measured=False) and kept.data.ctypes.data % new.facts["aligned"] == 0
