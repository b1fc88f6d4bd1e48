"""The adapter of PyTorch with one fault in one of its modules, whose text is changed before it is run."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

from pynested.conformance.adapters import torch_adapter


class Changed(SourceFileLoader):
    """Reads a module and changes its text; nothing of it is written or cached."""

    fault: dict[str, Any]

    def get_code(self, fullname: str) -> CodeType:
        text = Path(self.path).read_text(encoding="utf-8")
        if text.count(self.fault["old"]) != 1:
            raise ImportError(f"{self.path} does not hold the text of the fault once")
        return compile(text.replace(self.fault["old"], self.fault["new"]), self.path, "exec", dont_inherit=True)


class Finder(MetaPathFinder):
    """Finds the one module that is changed."""

    def __init__(self, fault: dict[str, Any]) -> None:
        self._fault = fault

    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path) if name == self._fault["module"] else None
        if spec is not None and spec.origin is not None:
            spec.loader = Changed(name, spec.origin)
            spec.loader.fault = self._fault
        return spec


if __name__ == "__main__":
    for file in sys.argv[1:]:
        sys.meta_path.insert(0, Finder(json.loads(Path(file).read_text(encoding="utf-8"))))
    torch_adapter.main()
