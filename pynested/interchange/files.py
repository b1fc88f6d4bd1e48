"""Arrays in files: ``.npz`` of NumPy, ``.arrow`` of pyarrow."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from pynested.autograd import Array
from pynested.autograd.arguments.canonical import own_class
from pynested.autograd.dispatch import operator
from pynested.backends.errors import ArgumentError, ExchangeError, named_type
from pynested.backends.host import stored_once
from pynested.nested.layout_conversion import contiguous, drop_gaps
from pynested.nested.nested_array import NestedArray
from pynested.structure import Jagged, Strided

from .lists import library, untracked
from .receivers import values_on_host

Value = Array | NestedArray
Parts = dict[str, NDArray[Any]]
VERSION = 1
_HEAD = "pynested"  # what says in a file what the other entries are
_ONE = ""  # the name of an array that was saved alone


@operator
def save(path: str | os.PathLike[str], arrays: Value | Mapping[str, Value]) -> None:
    """Write one array, or arrays by name, into a file, with their layouts and dtypes.

    Of each array the elements are written, and no holes; along a dimension of stride 0, where they repeat, once.

    Parameters
    ----------
    path : path
        Ends in ``.npz``, a zip file that NumPy reads without pynested, or ``.arrow``, an IPC file of Arrow, for which
        pyarrow is needed.
    arrays : array, or mapping from names to arrays
        Gradients and history are not written.

    Raises
    ------
    ArgumentError
        For another ending, names that are no strings, and values that are no arrays.
    GradientError
        For an array that is the result of a recorded operation; ``detach`` it. A leaf is saved as it is.

    Notes
    -----
    The entry ``pynested`` of the file is JSON: the version of the format, which is 1, and of every array its layout
    and the shape of its values. The other entries are the parts: ``name/values``, ``name/offsets`` and so on.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "x.npz")
    >>> pn.save(path, {"x": pn.nested_array([[1, 2], [3]], layout=pn.jagged), "w": pn.ones(2)})
    >>> pn.load(path)["x"].tolist()
    [[1, 2], [3]]
    """
    write = _by_ending("save", path)[0]
    named = {_ONE: arrays} if isinstance(arrays, Array | NestedArray) else arrays
    if not isinstance(named, Mapping):
        raise ArgumentError(f"save: takes an array, or a mapping from names (str) to arrays, not {named_type(named)}.")
    for name, one in named.items():
        if not isinstance(name, str):
            raise ArgumentError(f"save: takes an array, or a mapping from names (str) to arrays; {name!r} is no text.")
        if not isinstance(one, Array | NestedArray):
            raise ArgumentError(
                f"save: takes an array, or a mapping from names (str) to arrays; {name!r} is {named_type(one)}. Make "
                "an array of it: pn.array(x), or pn.nested_array(x)."
            )
    head: dict[str, Any] = {"version": VERSION, "arrays": {}}
    parts: Parts = {}
    for name, one in named.items():
        if not one.is_leaf:
            untracked("save", one)
        head["arrays"][name], found = _taken_apart(one.detach())
        parts.update({f"{name}/{part}": value for part, value in found.items()})
    write(Path(path), json.dumps(head), parts)


def _taken_apart(x: Value) -> tuple[dict[str, Any], Parts]:
    """What kind of array it is, with the shape of its values, and its parts."""
    if isinstance(x, Array):
        values = values_on_host("save", x, None)
        return {"kind": "dense", "shape": values.shape}, {"values": stored_once(values)}
    x = drop_gaps(x)
    told, parts = _taken_apart(x.data)
    parts["offsets"] = x.structure.offsets
    if isinstance(x.structure, Jagged):
        return told | {"kind": "jagged", "ragged_dim": x.structure.ragged_dim}, parts
    return told | {"kind": "strided"}, parts | {"sizes": x.structure.sizes, "strides": x.structure.strides}


@operator
def load(path: str | os.PathLike[str]) -> Value | dict[str, Value]:
    """What `save` wrote: one array, or a dict of arrays by name, on the CPU, without gradients.

    Raises
    ------
    ExchangeError
        For a file that `save` did not write, that is damaged, of a newer version, or whose parts are missing.
    StructureError
        For parts that do not fit each other.

    Examples
    --------
    >>> pn.load("missing.npz")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'missing.npz'
    """
    read = _by_ending("load", path)[1]
    try:
        head, parts = read(Path(path))
        told = json.loads(head)
        version, arrays = told["version"], told["arrays"]
    except (ValueError, KeyError, TypeError, EOFError, BadZipFile):
        raise ExchangeError(f"load: {path} was not written by pynested.save, or it is damaged.") from None
    if version != VERSION:
        raise ExchangeError(f"load: {path} has version {version}, and this pynested reads {VERSION}. Take a newer one.")
    try:
        found = {name: _put_together(one, name, parts) for name, one in arrays.items()}
    except KeyError as missing:
        raise ExchangeError(f"load: {path} lacks its entry {missing.args[0]!r}. It was cut off, or changed.") from None
    return found[_ONE] if set(found) == {_ONE} else found


def _put_together(told: Mapping[str, Any], name: str, parts: Parts) -> Value:
    stored = own_class("load", parts[f"{name}/values"])
    shape = tuple(told.get("shape", stored.shape))
    values = Array.over(stored if stored.shape == shape else np.ascontiguousarray(np.broadcast_to(stored, shape)))
    if told["kind"] == "dense":
        return values
    offsets = parts[f"{name}/offsets"]
    if told["kind"] == "jagged":
        return NestedArray(values, Jagged(offsets, parts.get(f"{name}/lengths"), told["ragged_dim"], name="load"))
    sizes, strides = parts[f"{name}/sizes"], parts[f"{name}/strides"]
    return contiguous(NestedArray(values, Strided(sizes, strides, offsets, values.numel(), name="load")))


# ---- the two formats ------------------------------------------------------------------------------------------------

Write = Callable[[Path, str, Parts], None]
Read = Callable[[Path], tuple[str, Parts]]


def _by_ending(name: str, path: str | os.PathLike[str]) -> tuple[Write, Read]:
    if isinstance(path, Array | NestedArray):
        raise ArgumentError(f"{name}: the path comes first, and is text or a Path, not {named_type(path)}.")
    ending = Path(path).suffix
    if ending not in _FORMATS:
        raise ArgumentError(f"{name}: {os.fspath(path)!r} ends in {ending!r}. Take one of {', '.join(_FORMATS)}.")
    return _FORMATS[ending]


def _write_npz(path: Path, head: str, parts: Parts) -> None:
    with open(path, "wb") as file:
        np.savez(file, **{_HEAD: np.frombuffer(head.encode(), np.uint8)}, **parts)  # type: ignore[arg-type]


def _read_npz(path: Path) -> tuple[str, Parts]:
    with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
        if _HEAD not in file.files:
            return "", {}
        return file[_HEAD].tobytes().decode(), {name: file[name] for name in file.files if name != _HEAD}


def _write_arrow(path: Path, head: str, parts: Parts) -> None:
    """One row, with a list of numbers for each part; the shapes are told beside the version."""
    pa = library("save", "pyarrow")
    columns = {
        name: pa.LargeListArray.from_arrays(pa.array([0, part.size]), pa.array(np.ascontiguousarray(part).reshape(-1)))
        for name, part in parts.items()
    }
    shapes = json.dumps({name: part.shape for name, part in parts.items()})
    table = pa.table(columns).replace_schema_metadata({_HEAD: head, "shapes": shapes})
    with pa.OSFile(os.fspath(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


def _read_arrow(path: Path) -> tuple[str, Parts]:
    """The parts lie in the file, which is mapped into memory, read-only; bools, whose bits are packed, are copied."""
    pa = library("load", "pyarrow")
    with pa.memory_map(os.fspath(path)) as file:
        table = pa.ipc.open_file(file).read_all()
    metadata = table.schema.metadata or {}
    if _HEAD.encode() not in metadata:
        return "", {}
    parts = {}
    for name, shape in json.loads(metadata[b"shapes"]).items():
        numbers = table.column(name).chunk(0).flatten()
        parts[name] = numbers.to_numpy(zero_copy_only=False).reshape(shape)
    return metadata[_HEAD.encode()].decode(), parts


_FORMATS: dict[str, tuple[Write, Read]] = {".npz": (_write_npz, _read_npz), ".arrow": (_write_arrow, _read_arrow)}
