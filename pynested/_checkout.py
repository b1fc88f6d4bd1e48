"""Imports from a checkout that is not installed: the folders beside ``pynested/`` are sub-packages of pynested.

In a checkout, Python finds ``pynested/`` through ``sys.path``. The folders ``autograd/``, ``backends/`` and ``spec/``
lie beside it, where Python does not search for sub-packages; the finder of this module returns them. In an installed
copy the three folders are inside ``pynested/``, and the finder is not added.
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
    """A finder of ``sys.meta_path`` for the three folders. It is the last finder, so an installed package wins."""

    @staticmethod
    def find_spec(
        fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the module specification of ``fullname`` if it is one of the three folders, else None."""
        folder = _FOLDERS.get(fullname)
        if folder is None:
            return None
        return spec_from_file_location(fullname, folder / "__init__.py", submodule_search_locations=[str(folder)])


def install() -> None:
    """Add the finder if this is a checkout: setup.cfg and the three folders lie beside ``pynested/``."""
    is_installed = (_HERE / "autograd").exists()
    has_folders = all((folder / "__init__.py").exists() for folder in _FOLDERS.values())
    is_checkout = (_HERE.parent / "setup.cfg").exists() and has_folders and not is_installed
    if is_checkout and CheckoutFinder not in sys.meta_path:
        sys.meta_path.append(CheckoutFinder)
