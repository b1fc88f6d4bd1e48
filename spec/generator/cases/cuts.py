"""Cases of `narrow` and `masked_select`, which cut components out of a dense array."""

from __future__ import annotations

import numpy as np

from ...components import Components
from ..author import Book
from ..draws import distinct, integers
from .construct import DTYPES, LAYOUTS, in_layout, ints, numbers
from .inputs import NAN, all_empty, no_components, small


def cut_books() -> list[Book]:
    """Return the books of the operators that cut."""
    return [narrow(), masked_select()]


def narrow() -> Book:
    """Cases of `narrow`."""
    book = Book("narrow")
    block = numbers("float32", (3, 5, 2), "narrow")
    starts, lengths = ints(0, 2, 5), ints(2, 3, 0)
    plain = ""
    for layout in LAYOUTS:
        plain = book.value(f"float32/{layout}", "1 3 8 9", [block, 1, starts, lengths], **in_layout(layout))
        book.value(f"float32/{layout}", "1 9", [block, 1, 1, lengths], **in_layout(layout))
        book.value(f"float32/{layout}", "1 9", [block, 1, starts, 0], **in_layout(layout))
        fixed = book.value(f"float32/{layout}", "1 9", [block, 1, 1, 3], **in_layout(layout))
    other = {"kw": {}, "layouts": ("strided",), "kind": "nested"}
    book.value("float32/last", "1 3 9", [block, 2, ints(0, 1, 0), ints(2, 1, 1)], **other)
    book.value("float32/negative-dim", "1 VALUES-4 9", [block, -2, starts, lengths], **in_layout("jagged"))
    book.value("float32/batch", "2 9", [block, 0, 1, 2], **other)
    x = small("float32", "narrow nested")
    components = book.value("float32/nested", "2 9", [x, 0, 1, 2], kind="nested")
    book.value("float32/nested-none", "2 8", [x, 0, 3, 0])
    book.value(
        "int64/jagged", "1 3", [numbers("int64", (3, 5, 2), "narrow i"), 1, starts, lengths], **in_layout("jagged")
    )
    book.value("bool/strided", "1 3", [numbers("bool", (3, 5), "narrow b"), 1, starts, lengths], **in_layout("strided"))
    jagged = {"kw": {"layout": "jagged"}, "layouts": ("jagged",)}
    refuse = book.error
    refuse("start", "4", "StructureError", plain, [block, 1, ints(0, -1, 5), lengths], **jagged)
    refuse("length", "4", "StructureError", plain, [block, 1, starts, ints(2, -1, 0)], **jagged)
    refuse("beyond", "4", "StructureError", plain, [block, 1, starts, ints(2, 4, 0)], **jagged)
    refuse("beyond", "4", "StructureError", fixed, [block, 1, 3, 3], **jagged)
    refuse("dim", "10", "DimensionError", plain, [block, 2, ints(0, 1, 0), ints(2, 1, 1)], **jagged)
    _nested(book, components)
    refuse("count", "6", "StructureError", plain, [block, 1, ints(0, 2), lengths], **jagged)
    refuse("rank", "6", "StructureError", plain, [block, 1, starts, lengths[:, None].copy()], **jagged)
    refuse("float", "7", "DTypeError", plain, [block, 1, np.array([0.0, 2.0, 5.0]), lengths], **jagged)
    refuse("float", "7", "DTypeError", fixed, [block, 1, 1.0, 3], **jagged)
    return book


def _nested(book: Book, near: str) -> None:
    """Add ranges of the components of nested arrays."""
    turned = Components([one.T for one in distinct("float32", [(2, 3), (4, 3)], "narrow last")], (2, 3, None))
    batches = {
        "first": distinct("float32", [(3, 4), (2, 4), (5, 4)], "narrow first"),
        "last": turned,
        "irregular": distinct("float32", [(3, 2), (2, 5)], "narrow irregular"),
    }
    for name, x in batches.items():
        for dim in (1, 2, -1):
            size = min(one.shape[dim - 1 if dim > 0 else dim] for one in x)
            for start, length in ((0, size), (1, 1), (0, 1), (2, 0)):
                book.value(f"float32/nested-{name}", "11 1 9", [x, dim, start, length], kind="nested")
    three = distinct("float32", [(2, 3, 4), (1, 3, 4)], "narrow three")
    for dim in (2, 3):
        book.value("float32/nested-three", "11 1 9", [three, dim, 1, 2], kind="nested")
    for dtype in DTYPES:
        book.value(f"{dtype}/nested-dtype", "11", [integers(dtype, [(2, 3), (3, 3)], f"narrow {dtype}"), 1, 1, 1])
    for nothing in (no_components("float32", None, 4), all_empty("float32")):
        book.value("float32/nested-nothing", "11 8", [nothing, 1, 0, 0], kind="nested")
        book.value("float32/nested-nothing", "11 8", [nothing, 2, 1, 2], kind="nested")
    x = batches["first"]
    for start, length in ((0, 3), (1, 2), (3, 0)):  # more than component 1 has
        book.error_inside("nested-ragged", "4 11", "StructureError", near, [x, 1, start, length])
    for start, length in ((0, 5), (3, 2), (5, 0), (-1, 1), (0, -1)):
        book.error("nested-regular", "4", "StructureError", near, [x, 2, start, length])
    for dim in (0, 1, 2):
        book.error("nested-several", "12", "StructureError", near, [x, dim, ints(0, 1, 0), 1])
        book.error("nested-several", "12", "StructureError", near, [x, dim, 0, ints(1, 2, 1)])
    book.error("nested-float", "7", "DTypeError", near, [x, 1, 1.0, 1])


def masked_select() -> Book:
    """Cases of `masked_select`."""
    book = Book("masked_select")
    jagged = {"layouts": ("jagged",), "kind": "nested"}
    block = numbers("float32", (3, 4), "masked")
    mask = np.array([[1, 0, 1, 1], [0, 0, 0, 0], [0, 1, 0, 0]], "bool")
    plain = book.value("float32/matrix", "1 2 3 6", [block, mask], **jagged)
    cube = numbers("float32", (2, 3, 4), "masked cube")
    book.value("float32/cube", "1 2 6", [cube, np.stack([mask, ~mask])], **jagged)
    book.value("float32/broadcast", "2 6", [cube, mask], **jagged)
    book.value("float32/broadcast", "2 6", [cube, np.array([True, False, True, True])], **jagged)
    book.value("float32/vector", "2 1", [block[0], mask[0]], **jagged)
    book.value("float32/nothing", "3 6", [block, np.zeros((3, 4), "bool")], **jagged)
    book.value("float32/everything", "1", [block, np.ones((3, 4), "bool")], **jagged)
    for dtype in DTYPES:
        book.value(f"{dtype}/matrix", "1", [numbers(dtype, (3, 4), f"masked {dtype}"), mask], gradient=None, **jagged)
    special = np.array([[NAN, -0.0], [1.0, NAN]], "float32")
    book.value("float32/special", "1", [special, np.array([[1, 1], [1, 0]], "bool")], **jagged)
    one = {"layouts": ("jagged",)}
    book.error("int", "4", "DTypeError", plain, [block, mask.astype("int8")], **one)
    book.error("shape", "5", "ShapeError", plain, [block, mask[:2]], **one)
    book.error("larger", "5", "ShapeError", plain, [block, np.stack([mask, mask])], **one)
    book.error("number", "5", "ShapeError", plain, [np.array(1.0, "float32"), np.array(True)], **one)
    return book
