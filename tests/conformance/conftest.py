"""Three hand-written vectors of `sum`, and ways to run an adapter on them, a good one or a hostile one."""

from __future__ import annotations

import fcntl
import importlib.util
import io
import json
import shlex
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from pynested.conformance.adapters.base import PythonAdapter
from pynested.conformance.conform import conform
from pynested.conformance.corpus import VECTORS, Corpus, Selection, load_corpus
from pynested.conformance.records import Run
from pynested.conformance.session import InProcess
from pynested.spec.encoding import Components, encode_value

MINIATURE = Path(__file__).with_name("miniature.py")
HOSTILE = Path(__file__).with_name("hostile.py")


def f32(*components: Any) -> Components:
    return Components([np.array(one, np.float32).reshape(-1, 2) for one in components], dtype=np.float32)


def exact(value: Any) -> dict[str, Any]:
    """Return a value as an expectation that is compared word by word; components say their own shape."""
    ((form, fields),) = encode_value(value).items()
    return {form: {**{name: one for name, one in fields.items() if name != "shape" or form == "dense"}, "cmp": "exact"}}


def sample_cases() -> list[dict[str, Any]]:
    x = f32([[1, 2], [3, -4]], [], [[np.inf, 5]])
    sums = Components([np.array(one, np.float32) for one in ([4, -2], [0, 0], [np.inf, 5])])
    cotangent = Components([np.array(one, np.float32) for one in ([2, -1], [7, 5], [-3, 0.5])])
    plain = f32([[1, 2]], [[3, 4], [5, 6]])
    kinds = {"jagged": "dense", "strided": "nested"}
    return [
        {
            "id": "sum/float32/ragged/1",
            "clauses": ["SUM-1", "SUM-7", "SUM-9"],
            "layouts": ["jagged", "strided"],
            "args": [encode_value(x), encode_value(1)],
            "kwargs": {},
            "expect": {**exact(sums), "kind": kinds},
            "cotangent": encode_value(cotangent),
            "gradient": [exact(f32([[2, -1], [2, -1]], [], [[-3, 0.5]])), None],
        },
        {
            "id": "sum/float32/ragged/2",
            "clauses": ["SUM-1"],
            "layouts": ["jagged", "strided"],
            "args": [encode_value(plain), encode_value(1)],
            "kwargs": {},
            "expect": {
                **exact(Components([np.array([1, 2], np.float32), np.array([8, 10], np.float32)])),
                "kind": kinds,
            },
        },
        {
            "id": "sum/float32/error/3",
            "clauses": ["ERRORS-1"],
            "layouts": ["jagged", "strided"],
            "args": [encode_value(plain), encode_value(5)],
            "kwargs": {},
            "expect": {"error": {"kind": "DimensionError"}},
            "near": "sum/float32/ragged/2",
        },
    ]


def write_vectors(folder: Path, cases: list[dict[str, Any]], **header: Any) -> Path:
    path = folder / "reduction" / "sum.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    fields = {"format": "pynested-vectors/2", "spec": "0.1", "op": "sum", "count": len(cases), **header}
    path.write_text(json.dumps({**fields, "cases": cases}), encoding="utf-8")
    return folder


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    return write_vectors(tmp_path / "vectors", sample_cases())


@pytest.fixture(scope="session")
def some_operators(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """The cases of a few operators, of each sort one, which are read in a moment."""
    folder = tmp_path_factory.mktemp("some")
    for op in ("add", "maximum", "where", "matmul", "linear", "relu", "neg", "sum", "softmax", "stack", "unbind"):
        for path in VECTORS.glob(f"*/{op}.*json"):
            (folder / path.parent.name).mkdir(exist_ok=True)
            shutil.copy(path, folder / path.parent.name)
    return load_corpus(folder)


@pytest.fixture
def rewrite(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes the sample cases, changed, and gives their folder."""

    def write(change: Callable[[Any], Any] = lambda cases: cases, **header: Any) -> Path:
        return write_vectors(tmp_path / "changed", change(sample_cases()), **header)

    return write


@pytest.fixture(scope="session")
def miniature() -> ModuleType:
    """The module of right and wrong implementations."""
    spec = importlib.util.spec_from_file_location("miniature", MINIATURE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["miniature"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def command() -> Callable[[str], str]:
    """Return the command line of a miniature as a child process."""
    return lambda name: shlex.join([sys.executable, str(MINIATURE), name])


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    """The file that a hostile adapter, and whatever it starts, locks for as long as it lives."""
    return tmp_path / "lock"


@pytest.fixture
def hostile(lock: Path) -> Callable[[str], list[str]]:
    """Return the command of a hostile adapter."""
    return lambda name: [sys.executable, "-S", "-E", str(HOSTILE), name, str(lock)]


def is_gone(lock: Path) -> bool:
    """Whether nothing holds the lock, or not for long: what was killed may take a moment to be gone."""
    with lock.open() as file:
        for _ in range(100):
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except BlockingIOError:
                time.sleep(0.05)
    return False


@pytest.fixture
def run(vectors: Path, miniature: ModuleType) -> Callable[..., Run]:
    """Run one of the miniatures in this process on the sample vectors."""

    def run(name: str, selection: Selection | None = None, keep: Path | None = None) -> Run:
        session = InProcess(PythonAdapter(getattr(miniature, name)()))
        return conform(load_corpus(vectors), selection or Selection(), lambda: session, keep, io.StringIO())

    return run
