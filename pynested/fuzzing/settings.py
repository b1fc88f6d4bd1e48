"""What a campaign asks, and whom; a worker somewhere else is told nothing more."""

from __future__ import annotations

from dataclasses import dataclass

from pynested.conformance.adapters import open_session
from pynested.conformance.placements import LAYOUTS
from pynested.conformance.session import Session

__all__ = ["Settings", "opened"]


@dataclass(frozen=True)
class Settings:
    """The seed, which alone decides what is drawn; what of that is asked; and the target."""

    seed: int
    target: str = "pynested"
    command: tuple[str, ...] | None = None
    device: str = "cpu"
    timeout: float | None = None
    ops: tuple[str, ...] = ()  # all, where none is named
    layouts: tuple[str, ...] = LAYOUTS


def opened(settings: Settings) -> Session:
    """Return a session with the target."""
    command = None if settings.command is None else list(settings.command)
    return open_session(settings.target, command, settings.device, settings.timeout)
