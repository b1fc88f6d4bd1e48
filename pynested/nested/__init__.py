"""`NestedArray`: the class, its views, layout conversion, comparison of shapes, text, and place in autograd."""

from __future__ import annotations

import sys
from typing import NoReturn

from pynested.name_hints import no_function


def __getattr__(name: str) -> NoReturn:
    raise no_function(__name__, name, getattr(sys.modules["pynested"], "__all__", ()))
