"""The one way in which text becomes HTML: `tag` escapes whatever is not `Markup` already."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from ..printable import printable

_EMPTY = {"meta"}  # elements that have no end


class Markup(str):
    """Text that is HTML."""

    __slots__ = ()


Child = str | int | None | Iterable["Child"]


def tag(name: str, /, *children: Child, **attributes: str | bool | None) -> Markup:
    """Return an element; an attribute that is None or False is left out, and ``class_`` is ``class``.

    >>> print(tag("p", "1 < 2 ", tag("b", "& more"), class_="note", hidden=True, id=None))
    <p class="note" hidden>1 &lt; 2 <b>&amp; more</b></p>
    """
    given = ((one.rstrip("_").replace("_", "-"), value) for one, value in attributes.items())
    words = [
        key if value is True else f'{key}="{text(str(value))}"' for key, value in given if value not in (None, False)
    ]
    start = " ".join([f"<{name}", *words]) + ">"
    return Markup(start if name in _EMPTY else f"{start}{joined(children)}</{name}>")


def joined(children: Child) -> Markup:
    """Return one or many children as HTML."""
    if isinstance(children, Markup):
        return children
    if children is None:
        return Markup()
    if isinstance(children, (str, int)):
        return text(str(children))
    return Markup("".join(map(joined, children)))


def prose(value: str) -> list[Child]:
    """Return a sentence in which what stands between backticks is code.

    >>> print(joined(prose("along `dim`, 0 < n")))
    along <code>dim</code>, 0 &lt; n
    """
    parts = value.split("`")
    return [tag("code", one) if number % 2 and number < len(parts) - 1 else one for number, one in enumerate(parts)]


def text(value: str) -> Markup:
    r"""Return text of anybody as HTML; what cannot be seen is an escape, but for the ends of lines.

    >>> print(text("<script>\x1b[2J"))
    &lt;script&gt;\x1b[2J
    """
    return Markup("\n".join(escape(printable(line)) for line in value.expandtabs().split("\n")))
