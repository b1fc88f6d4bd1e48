"""Where faults are planted, and what came of each: a copy of the code, or a child that changes it as it is imported."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.whole import test_mutants as mutants

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SMALL = ROOT / "tests/conformance/small"
KINDS = ("pynested", "programs", "small", "torch")
KILLED, SURVIVED, BROKEN = "killed", "survived", "broken"
_DIFFERS, _AGREES = 1, 0
Fault = dict[str, Any]


def load(kind: str) -> dict[str, Fault]:
    return tomllib.loads((HERE / f"{kind}.toml").read_text(encoding="utf-8"))


def source_of(kind: str, file: str) -> Path:
    """The file of a fault, as it is without it."""
    if kind == "torch":
        found = find_spec("torch")
        if found is None or found.origin is None:
            raise SystemExit("PyTorch is not installed here; pip install torch")
        return Path(found.origin).parent / "nested/_internal" / file
    return (SMALL if kind == "small" else ROOT) / file


def changed(kind: str, fault: Fault) -> str:
    """The text of the file with the fault in it."""
    text = source_of(kind, fault["file"]).read_text(encoding="utf-8")
    if text.count(fault["old"]) != 1:
        raise SystemExit(f"{fault['file']} holds {text.count(fault['old'])} times, not once: {fault['old']}")
    return text.replace(fault["old"], fault["new"])


class Pynested:
    """Faults in our own code: one copy of the package, in which a file is changed at a time."""

    def __init__(self, folder: Path) -> None:
        self._copy = mutants.new_copy(folder)

    def outcome(self, fault: Fault) -> str:
        changed("pynested", fault)
        caught, printed = mutants.rejected(self._copy, fault, drawn=True)
        return KILLED if caught else SURVIVED if "pynested agrees" in printed else BROKEN


class Adapter:
    """Faults in a program that speaks the protocol."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def conform(self, command: list[str], ops: list[str]) -> tuple[int, list[dict[str, Any]]]:
        """The exit code and the results of a run on the vectors of some operators, jagged."""
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            vectors, kept = Path(name, "vectors"), Path(name, "run.ndjson")
            for path in (path for op in ops for path in (ROOT / "spec/vectors").glob(f"*/{op}.*json")):
                (vectors / path.parent.name).mkdir(parents=True, exist_ok=True)
                shutil.copy(path, vectors / path.parent.name)
            line = [sys.executable, "-m", "pynested", "conform", "--layout", "jagged", "--json", str(kept)]
            line += ["--vectors", str(vectors), "--adapter", shlex.join(command)]
            done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=600)
            if not kept.exists():
                raise SystemExit(done.stderr)
            records = [json.loads(one) for one in kept.read_text(encoding="utf-8").splitlines()]
            return done.returncode, [one for one in records if one["record"] == "result"]


class Small(Adapter):
    """Faults in a copy of the small implementation, which is right without them."""

    def outcome(self, fault: Fault) -> str:
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            copy = Path(shutil.copytree(SMALL, Path(name, "small"), ignore=shutil.ignore_patterns("__pycache__")))
            (copy / fault["file"]).write_text(changed("small", fault), encoding="utf-8")
            code, _ = self.conform([sys.executable, str(copy)], fault["op"])
        return {_DIFFERS: KILLED, _AGREES: SURVIVED}.get(code, BROKEN)


class Torch(Adapter):
    """Faults in PyTorch, which differs without them too: killed is what makes a run differ from one without a fault."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._without: dict[tuple[str, ...], set[Any]] = {}

    def outcome(self, fault: Fault) -> str:
        ops = tuple(fault["op"])
        if ops not in self._without:
            self._without[ops] = self._differences(list(ops), [])
        with tempfile.NamedTemporaryFile("w", dir=self.folder, suffix=".json") as file:
            json.dump({"module": f"torch.nested._internal.{Path(fault['file']).stem}", **fault}, file)
            file.flush()
            changed("torch", fault)
            found = self._differences(list(ops), [file.name])
        return KILLED if found - self._without[ops] else SURVIVED

    def _differences(self, ops: list[str], fault: list[str]) -> set[Any]:
        """Every way in which a part of a case differs, at every placement; what is missing is no difference."""
        command = [sys.executable, "-W", "ignore", "-m", "tests.faults.patched_torch", *fault]
        code, results = self.conform(command, ops)
        if not results:
            raise SystemExit(f"the run of {', '.join(ops)} ended with {code} and without a result")
        return {
            (result["id"], finding["part"], finding["verdict"], placement)
            for result in results
            for finding in result["findings"]
            for placement in finding["placements"]
            if "clause" in finding
        }


PLACES = {"pynested": Pynested, "programs": Pynested, "small": Small, "torch": Torch}
