"""Colours and type of every picture: one colour a component, the same wherever that component appears.

The fills are Paul Tol's *light* scheme, made for cells that carry dark text and told apart with the common
colour-vision deficiencies. The lines are the same hues, dark enough on white and light enough on near-black.
"""

from __future__ import annotations

FILLS = ("#77AADD", "#EEDD88", "#44BB99", "#EE8866", "#FFAABB", "#BBCC33", "#99DDFF")
LINES = ("#3D7FC4", "#94790A", "#208A6C", "#D05A2B", "#D0587A", "#758500", "#2C86AD")
CELL_INK = "#1b1f24"
PAGE_INK = {"light": "#57606a", "dark": "#9aa4ae"}  # grey: each can still be read where the page is not what it seems
MONO = "ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace"
SANS = "system-ui,-apple-system,'Segoe UI',Inter,'DejaVu Sans',sans-serif"


def fill(component: int) -> str:
    """Colour of the cells of a component."""
    return FILLS[component % len(FILLS)]


def tint(component: int) -> str:
    """Colour of the block that stands for cells of a component: that of its cells, half way to white.

    Opaque, so that dark text on it is read on a dark page too.

    >>> fill(0), tint(0)
    ('#77AADD', '#BBD4EE')
    """
    return "#" + "".join(f"{(int(fill(component)[k : k + 2], 16) + 255) // 2:02X}" for k in (1, 3, 5))


def line(component: int) -> str:
    """Colour of the arrows, brackets and names of a component."""
    return LINES[component % len(LINES)]


def luminance(color: str) -> float:
    """Relative luminance of ``#rrggbb``, from 0 for black to 1 for white, as WCAG 2 defines it."""
    channels = (int(color[k : k + 2], 16) / 255 for k in (1, 3, 5))
    linear = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return sum(weight * channel for weight, channel in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours, from 1 to 21; text wants 4.5, lines and large text 3."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)
