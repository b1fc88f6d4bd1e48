"""Make a bare checkout importable: its folders beside ``pynested/`` are sub-packages of pynested.

An installed copy has them inside and never comes here. In a checkout Python finds ``pynested/`` through ``sys.path``,
but ``autograd/``, ``backends/`` and ``spec/`` lie next to it; this finder knows exactly these three names.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

_HERE = Path(__file__).parent
_FOLDERS = {f"pynested.{name}": _HERE.parent / name for name in ("autograd", "backends", "spec")}


class CheckoutFinder:
    """A meta-path finder for the three mapped folders; last on the path, so an installed package wins."""

    @staticmethod
    def find_spec(
        fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where ``fullname`` lies if it is one of the three folders."""
        folder = _FOLDERS.get(fullname)
        if folder is None:
            return None
        return spec_from_file_location(fullname, folder / "__init__.py", submodule_search_locations=[str(folder)])


def install() -> None:
    """Add the finder when this is a checkout: setup.cfg and the folders lie beside ``pynested/``."""
    inside = (_HERE / "autograd").exists()
    checkout = (_HERE.parent / "setup.cfg").exists() and all((f / "__init__.py").exists() for f in _FOLDERS.values())
    if checkout and not inside and CheckoutFinder not in sys.meta_path:
        sys.meta_path.append(CheckoutFinder)
