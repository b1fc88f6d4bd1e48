"""Plant a fault, a row of a table beside this file, in this process or in processes that are started with it.

A row names what is wrong as users do: ``kernel`` (a name of `pn.kernel`, of the CPU unless ``device`` says another),
``primitive`` (a name that `pn.tape` shows, or a list of them) or ``function`` (a dotted name of `pn`). ``new`` is an
expression for the function that is called with the original and its arguments. For a primitive, ``vjp`` or ``jvp``
replaces a derivative instead: ``lambda g, right: ...`` and ``lambda right: ...`` change the right cotangent or tangent.
Where no name leads to the fault, ``old``, found once in ``file``, becomes ``new``.

`environment` starts other processes with the fault: a file `sitecustomize.py` calls `install` in each of them, and no
file of the repository changes. `_resolve` and `install` alone know how the library stores what the names stand for.
"""

from __future__ import annotations

import ast
import functools
import gc
import json
import os
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib.machinery import SourceFileLoader
from importlib.util import find_spec
from pathlib import Path
from types import CellType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("kernel", "primitive", "function")
NOT_PLANTED = 70  # the exit status of a process in which the fault cannot be planted
SITECUSTOMIZE = """from importlib.util import module_from_spec, spec_from_file_location

spec = spec_from_file_location("planting", {!r})  # not as a module of `tests`, which pytest imports itself
module = module_from_spec(spec)
spec.loader.exec_module(module)
module.install({!r})
"""
Row = dict[str, Any]


class FaultError(Exception):
    """A fault that cannot be planted, or that changes nothing."""


def load(table: str) -> dict[str, Row]:
    """Return the rows of a table by name."""
    return tomllib.loads(Path(__file__).with_name(f"{table}.toml").read_text(encoding="utf-8"))


def source_of(file: str) -> Path:
    """Return the path of a file of the repository, or of PyTorch."""
    if not file.startswith("torch/"):
        return ROOT / file
    found = find_spec("torch")
    if found is None or found.origin is None:
        raise FaultError(f"{file}: PyTorch is not installed. Install torch.")
    return Path(found.origin).parent / file.removeprefix("torch/")


def changed_text(row: Row) -> str:
    """Return the text of the row's file with the fault in it."""
    text = source_of(row["file"]).read_text(encoding="utf-8")
    if text.count(row["old"]) != 1:
        raise FaultError(f"{row['file']}: holds {text.count(row['old'])} times, not once: {row['old']}")
    changed = text.replace(row["old"], row["new"])
    same = _syntax(text) == _syntax(changed) if row["file"].endswith(".py") else text == changed
    if same:
        raise FaultError(f"{row['file']}: the replacement changes nothing: {row['new']}")
    return changed


@functools.lru_cache(maxsize=4)
def _syntax(text: str) -> str:
    """Return what a text of Python says, whatever its spaces and comments."""
    return ast.dump(ast.parse(text))


@contextmanager
def planted(row: Row) -> Iterator[None]:
    """Replace the kernel, primitives or function of a row in this process, until the end of the block."""
    with ExitStack() as undo:
        for name in [row["primitive"]] if isinstance(row.get("primitive"), str) else row.get("primitive", [None]):
            for original, plant in _resolve(row if name is None else {**row, "primitive": name}):
                plant(original, undo)
        yield


@contextmanager
def environment(row: Row | None) -> Iterator[dict[str, str]]:
    """Yield the environment variables of processes that have the fault, or none of it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = [str(ROOT)]
        if row is not None:
            _write(row, folder)
            paths.insert(0, name)
        yield {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYNESTED_THREADS": "1"}


def _write(row: Row, folder: Path) -> None:
    """Write what `install` reads, and the module that calls it when Python starts."""
    if "file" in row:
        source = source_of(row["file"])
        text = row["text"] if "text" in row else changed_text(row)
        if source.suffix != ".py":
            kernels = shutil.copytree(source.parent, folder / "kernels")
            (kernels / source.name).write_text(text, encoding="utf-8")
        row = {"file": str(source.resolve()), "text": text}
    (folder / "fault.json").write_text(json.dumps(row), encoding="utf-8")
    (folder / "sitecustomize.py").write_text(SITECUSTOMIZE.format(__file__, str(folder)), encoding="utf-8")


def install(folder: str) -> None:
    """Plant the fault that lies in a folder as soon as its module, or pynested, is imported."""
    row = json.loads(Path(folder, "fault.json").read_text(encoding="utf-8"))
    get_code, exec_module = SourceFileLoader.get_code, SourceFileLoader.exec_module
    never_undone = ExitStack()

    def changed_code(loader: SourceFileLoader, fullname: str) -> Any:
        is_changed = os.path.basename(loader.path) == os.path.basename(row["file"])
        if is_changed and os.path.realpath(loader.path) == row["file"]:
            return compile(row["text"], loader.path, "exec", dont_inherit=True)
        return get_code(loader, fullname)

    def exec_and_plant(loader: SourceFileLoader, module: Any) -> None:
        exec_module(loader, module)
        if module.__name__ == "pynested.backends.cuda.signatures" and Path(folder, "kernels").exists():
            module.KERNELS = Path(folder, "kernels")
        if module.__name__ == "_pytest.assertion.rewrite":  # it has a loader of its own, which would go past this one
            find = module.AssertionRewritingHook.find_spec
            module.AssertionRewritingHook.find_spec = lambda hook, name, *rest: (
                None if name.partition(".")[0] == "pynested" else find(hook, name, *rest)
            )
        if module.__name__ == "pynested" and "file" not in row:
            try:
                never_undone.enter_context(planted(row))
            except Exception as error:  # an error of an import could be taken for a test that fails
                sys.stderr.write(f"{type(error).__name__}: {error}\n")
                os._exit(NOT_PLANTED)

    SourceFileLoader.exec_module = exec_and_plant  # type: ignore[method-assign]
    if "file" in row:
        SourceFileLoader.get_code = changed_code  # type: ignore[method-assign]


# ---- what the names stand for

Plant = Callable[[Any, ExitStack], None]


def _resolve(row: Row) -> Iterator[tuple[Any, Plant]]:
    """Yield what the name of a row stands for, and what plants the fault in it."""
    import pynested as pn
    from pynested.autograd.rules.rule import RULES
    from pynested.backends import get_backend

    kind = next((kind for kind in NAMES if kind in row), None)
    if kind is None:
        raise FaultError(f"a fault needs one of {', '.join(NAMES)} or file, got {', '.join(row)}.")
    name, device = row[kind], row.get("device", "cpu")
    replacement = _evaluated(row)
    if kind == "primitive":
        if name not in RULES:
            raise FaultError(f"no primitive {name!r}. `pn.tape` shows their names.")
        yield RULES[name], functools.partial(_change_primitive, row, replacement)
    elif kind == "kernel":
        original = getattr(get_backend(device), name, None)
        if original is None:
            raise FaultError(f"no kernel {name!r} on {device}.")

        def register(original: Any, undo: ExitStack) -> None:
            new = _replaced(original, replacement, undo)
            pn.kernel(name, device=device)(new)
            undo.callback(pn.kernel(name, device=device), original)

        yield original, register
    else:
        owner, _, attribute = name.removeprefix("pn.").rpartition(".")
        holder = functools.reduce(lambda value, part: getattr(value, part, None), filter(None, owner.split(".")), pn)
        original = getattr(holder, attribute, None)
        if original is None or not name.startswith("pn."):
            raise FaultError(f"no public function {name!r}.")
        yield original, lambda original, undo: _replaced(original, replacement, undo)


def _evaluated(row: Row) -> Callable[..., Any]:
    """Return the function that a row's replacement is the text of."""
    import numpy as np

    import pynested as pn
    from pynested.autograd.array import raw
    from pynested.backends import get_backend

    def like(values: Any, other: Any) -> Any:
        return pn.array(values) if isinstance(other, pn.Array) else np.asarray(values)

    key = next((key for key in ("new", "vjp", "jvp") if key in row), "new")
    text = row.get(key, "")
    tree = ast.parse(text.strip(), mode="eval").body
    if isinstance(tree, ast.Lambda) and not _changes(tree, key):
        raise FaultError(f"the replacement changes nothing: {text}")
    namespace = {"np": np, "pn": pn, "raw": raw, "like": like, "kernels": get_backend("cpu")}
    function: Callable[..., Any] = eval(compile(ast.Expression(tree), "<replacement>", "eval"), namespace)
    return function


def _changes(tree: ast.Lambda, key: str) -> bool:
    """Return whether a replacement is more than the right value, or the original call with the same arguments."""
    args = tree.args
    names = [arg.arg for arg in (*args.posonlyargs, *args.args)]
    stars = [f"{sign}{arg.arg}" for sign, arg in (("*", args.vararg), ("**", args.kwarg)) if arg]
    same = f"{names[0]}({', '.join([*names[1:], *stars])})" if key == "new" else names[-1]
    return ast.unparse(tree.body) != same


def _change_primitive(row: Row, replacement: Callable[..., Any], rule: Any, undo: ExitStack) -> None:
    """Replace the value or a derivative of a primitive."""
    attribute = "cotangents" if "vjp" in row else "apply_jvp" if "jvp" in row else "compute"
    right = getattr(rule, attribute)

    def wrong(*args: Any) -> Any:
        if "vjp" in row:
            return [None if one is None else replacement(args[1], one) for one in right(*args)]
        return replacement(right(*args)) if "jvp" in row else replacement(right, *args)

    was_own = attribute in vars(rule)
    setattr(rule, attribute, wrong)
    undo.callback(*((setattr, rule, attribute, right) if was_own else (delattr, rule, attribute)))


def _replaced(original: Any, replacement: Callable[..., Any], undo: ExitStack) -> Callable[..., Any]:
    """Let every module, class, table and closure of pynested that holds a function hold its replacement."""

    places: list[Callable[[Any], None]] = []
    is_frozen = gc.get_freeze_count() > 0  # frozen objects are not among the referrers
    gc.unfreeze()
    for holder in gc.get_referrers(original):  # no comprehension or closure here: its cell would hold the original too
        places.extend(_places(holder, original))
    if is_frozen:
        gc.freeze()
    if not places:
        raise FaultError(f"nothing of pynested holds {original!r}, so the replacement changes nothing.")
    new = _calling(replacement, original)
    for write in places:
        write(new)
        undo.callback(write, original)
    return new


def _calling(replacement: Callable[..., Any], original: Any) -> Callable[..., Any]:
    """Return a function that looks like the original and calls the replacement."""

    @functools.wraps(original)
    def new(*args: Any, **kwargs: Any) -> Any:
        return replacement(original, *args, **kwargs)

    return new


def _places(holder: Any, value: Any) -> Iterator[Callable[[Any], None]]:
    """Yield a function for each place in which an object holds a value; it writes another value there."""
    if isinstance(holder, CellType):
        yield functools.partial(setattr, holder, "cell_contents")
    elif isinstance(holder, list):
        yield from (functools.partial(holder.__setitem__, i) for i, item in enumerate(holder) if item is value)
    elif isinstance(holder, dict):
        if "__spec__" in holder and not str(holder.get("__name__")).startswith("pynested"):
            return
        owners = [owner for owner in gc.get_referrers(holder) if isinstance(owner, type)]
        for key in [key for key, item in holder.items() if item is value]:
            yield functools.partial(setattr, owners[0], key) if owners else functools.partial(holder.__setitem__, key)
    elif hasattr(holder, "__dict__") and type(holder).__module__.startswith("pynested"):
        for key in [key for key, item in vars(holder).items() if item is value]:
            yield functools.partial(object.__setattr__, holder, key)
