"""`NestedArray`: the class, its views, layout conversion, comparison of shapes, text, pickling, and autograd."""

from __future__ import annotations

import sys
from typing import NoReturn

from pynested.name_hints import missing_name_error


def __getattr__(name: str) -> NoReturn:
    raise missing_name_error(__name__, name, getattr(sys.modules["pynested"], "__all__", ()))
