"""What the tests of the seed documents share: both layouts, and results in the form in which documents print them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn

LAYOUTS = pytest.mark.parametrize("layout", [pn.strided, pn.jagged], ids=["strided", "jagged"])


def listed(result: Any) -> Any:
    """A nested array as a list of its components, each as nested lists; a dense one as nested lists."""
    return [one.tolist() for one in result] if isinstance(result, pn.NestedArray) else result.tolist()


def close(result: Any, printed: Any) -> bool:
    """Whether a component is what a document prints, which has four places and was rounded from more."""
    return bool(np.allclose(result.detach().numpy(), printed, rtol=0, atol=2e-4))


def regular(shape: Any) -> list[int | None]:
    """A shape with None where it is ragged."""
    return [size if isinstance(size, int) else None for size in shape]
