"""A sheet of SVG: its marks, its colours, and a record of every text box, so that a test can find two that collide.

No ids, no ``<defs>``, no script: several pictures can stand on one page. Every component has one colour, the same
wherever it appears; all else is ``currentColor`` at some opacity, and the one style sheet inside follows the reader's
light or dark theme. The fills are Paul Tol's *light* scheme, made for cells that carry dark text and told apart with
the common colour-vision deficiencies. The lines are the same hues, dark enough on white and light enough on black.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

PAGE = 940  # pixels that a picture may take; a notebook's column is hardly wider
FILLS = ("#77AADD", "#EEDD88", "#44BB99", "#EE8866", "#FFAABB", "#BBCC33", "#99DDFF")
LINES = ("#3D7FC4", "#94790A", "#208A6C", "#D05A2B", "#D0587A", "#758500", "#2C86AD")
CELL_INK = "#1b1f24"
PAGE_INK = {"light": "#57606a", "dark": "#9aa4ae"}  # greys that can be read on both pages
MONO = "ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace"
SANS = "system-ui,-apple-system,'Segoe UI',Inter,'DejaVu Sans',sans-serif"

_CHARACTER = 0.605  # width of a monospace character, in ems; a sans-serif caption is narrower
_STYLE = f"<style>@media (prefers-color-scheme:dark){{svg{{color:{PAGE_INK['dark']}!important}}}}</style>"


def fill_color(component: int) -> str:
    """Return the colour of the cells of a component."""
    return FILLS[component % len(FILLS)]


def tint_color(component: int) -> str:
    """Return the colour of hidden cells of a component: opaque, half way to white, so that dark text can be read.

    >>> fill_color(0), tint_color(0)
    ('#77AADD', '#BBD4EE')
    """
    return "#" + "".join(f"{(int(fill_color(component)[k : k + 2], 16) + 255) // 2:02X}" for k in (1, 3, 5))


def line_color(component: int) -> str:
    """Return the colour of the arrows, brackets and names of a component."""
    return LINES[component % len(LINES)]


class Box(NamedTuple):
    """The rectangle that a text takes."""

    left: float
    top: float
    right: float
    bottom: float
    text: str


def text_width(text: str, size: float) -> float:
    """Return the largest width of a text in pixels."""
    return len(text) * size * _CHARACTER


def captioned_span(left: float, right: float, text: str, size: float) -> tuple[float, float]:
    """Return the left and the right end of a mark with a text at its middle."""
    centre, half = (left + right) / 2, text_width(text, size) / 2
    return min(left, right, centre - half), max(left, right, centre + half)


def assign_lanes(spans: Sequence[tuple[float, float]], apart: float = 5) -> list[int]:
    """Return for each span the first lane in which it meets no other, so that no two captions collide.

    >>> assign_lanes([(0, 10), (8, 20), (30, 40)])
    [0, 1, 0]
    """
    taken: list[list[tuple[float, float]]] = []
    result = []
    for left, right in spans:
        free = (k for k, lane in enumerate(taken) if all(right + apart <= a or b + apart <= left for a, b in lane))
        lane = next(free, len(taken))
        if lane == len(taken):
            taken.append([])
        taken[lane].append((left, right))
        result.append(lane)
    return result


class Sheet:
    """Marks in the order they were made, on a sheet that grows with them."""

    def __init__(self, alt: str) -> None:
        self.alt = alt
        self.boxes: list[Box] = []
        self._marks: list[str] = []
        self.width = 0.0
        self._height = 0.0

    def grow(self, x: float, y: float) -> None:
        """Make the sheet reach at least to (x, y)."""
        self.width, self._height = max(self.width, x), max(self._height, y)

    def _mark(self, tag: str, content: str = "", /, **attributes: object) -> None:
        """Add an element. Underscores in names stand for hyphens; an empty value and an opacity of 1 are left out."""
        values = {name: f"{value:g}" if isinstance(value, int | float) else value for name, value in attributes.items()}
        values |= {"opacity": ""} if values.get("opacity") == "1" else {}
        written = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in values.items() if value != "")
        self._marks.append(f"<{tag}{written}>{content}</{tag}>" if content else f"<{tag}{written}/>")

    def rect(
        self, x: float, y: float, width: float, height: float, fill: str, *, round: float = 0, **look: object
    ) -> None:
        """Draw a rectangle; `look` holds further attributes."""
        self.grow(x + width, y + height)
        self._mark("rect", x=x, y=y, width=width, height=height, rx=round or "", fill=fill, **look)

    def path(
        self, d: str, *, stroke: str = "currentColor", width: float = 1.4, opacity: float = 1, dash: str = ""
    ) -> None:
        """Draw a line along `d`."""
        ends = {"stroke_linecap": "round", "stroke_linejoin": "round", "stroke_dasharray": dash}
        self._mark("path", d=d, fill="none", stroke=stroke, stroke_width=width, **ends, opacity=opacity)

    def head(self, x: float, y: float, *, stroke: str, size: float = 4.2, up: bool = False, opacity: float = 1) -> None:
        """Draw the head of an arrow that ends at (x, y)."""
        back = y + size * 1.25 if up else y - size * 1.25
        d = f"M{x - size:g} {back:g}L{x:g} {y:g}L{x + size:g} {back:g}"
        self.path(d, stroke=stroke, width=1.6, opacity=opacity)

    def text(
        self, x: float, y: float, text: str, *, size: float = 13, fill: str = "currentColor", anchor: str = "middle",
        sans: bool = False, bold: bool = False, opacity: float = 1, title: str = "",
    ) -> None:  # fmt: skip
        """Write `text` on the baseline y; `title` is what a pointer that rests on it shows."""
        width = text_width(text, size)
        left = x if anchor == "start" else x - width / 2
        self.boxes.append(Box(left, y - 0.76 * size, left + width, y + 0.2 * size, text))
        self.grow(left + width, y + 4)
        content = (f"<title>{escape(title)}</title>" if title else "") + escape(text)
        family, weight = SANS if sans else "", "600" if bold else ""
        look = {"font_family": family, "font_size": size, "fill": fill, "opacity": opacity, "font_weight": weight}
        self._mark("text", content, x=x, y=y, **look, text_anchor="" if anchor == "start" else anchor)

    def note(self, x: float, y: float, text: str) -> None:
        """Write a remark, from x to the right."""
        self.text(x, y, text, size=11, anchor="start", sans=True, opacity=0.9)

    def heading(self, x: float, y: float, text: str) -> None:
        """Write the title of one half of a picture."""
        self.text(x, y, text, size=12, anchor="start", sans=True, bold=True, opacity=0.9)

    def finish(self, margin: float = 14) -> str:
        """Return the document."""
        width, height = f"{self.width + margin:g}", f"{self._height + margin:g}"
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(self.alt)}" '
            f'style="color:{PAGE_INK["light"]}" font-family="{MONO}" '
            f'width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
            f"{_STYLE}\n" + "\n".join(self._marks) + "\n</svg>\n"
        )
