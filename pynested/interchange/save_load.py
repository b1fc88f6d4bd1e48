"""Storage of arrays in files: ``.npz`` of NumPy, ``.arrow`` of pyarrow.

The parts of an array are stored: ``name/values`` and, if it is nested, the arrays of its structure, ``name/offsets``
and so on. The entry ``pynested`` is JSON: the version of the format and, for each array, its layout and shape.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pynested.autograd import Array
from pynested.autograd.arguments.operands import checked_ndarray
from pynested.autograd.decorators import operator
from pynested.backends.errors import ArgumentError, ExchangeError, PynestedError, named_type
from pynested.backends.repeating_views import unbroadcast_view
from pynested.nested.layout_conversion import contiguous
from pynested.nested.nested_array import NestedArray
from pynested.nested.pickling import without_gaps
from pynested.structure import Jagged, Strided

from .exchange_checks import check_exportable, import_optional, values_on_host

AnyArray = Array | NestedArray
Parts = dict[str, NDArray[Any]]
VERSION = 1
_HEADER = "pynested"  # the entry that describes all other entries
_UNNAMED = ""  # the name of an array that was saved without a name


@operator
def save(path: str | os.PathLike[str], arrays: AnyArray | Mapping[str, AnyArray]) -> None:
    """Write one array, or arrays by name, into a file, with their layouts and dtypes.

    Only the elements of each array are written, without gaps. Elements that repeat along a dimension of stride 0 are
    written once. A file that exists is replaced once the new one is complete; arrays that lie in it stay valid.

    Parameters
    ----------
    path : path
        It ends in ``.npz``, a zip file that NumPy reads without pynested, or in ``.arrow``, an Arrow IPC file, which
        needs pyarrow.
    arrays : array, or mapping from names to arrays
        Gradients and history are not written.

    Raises
    ------
    ArgumentError
        For a path with another ending, for a value that is not an array, and for a name that is not a string, or is
        empty, or contains a null character.
    GradientError
        For the result of a recorded operation; ``detach`` it first. A leaf that requires grad can be saved.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "x.npz")
    >>> pn.save(path, {"x": pn.nested_array([[1, 2], [3]], layout=pn.jagged), "w": pn.ones(2)})
    >>> pn.load(path)["x"].tolist()
    [[1, 2], [3]]
    """
    write = _format_of("save", path)[0]
    array_by_name = {_UNNAMED: arrays} if isinstance(arrays, Array | NestedArray) else _checked_arrays(arrays)
    header: dict[str, Any] = {"version": VERSION, "arrays": {}}
    parts: Parts = {}
    for name, x in array_by_name.items():
        if not x.is_leaf:
            check_exportable("save", x)
        header["arrays"][name], array_parts = _split_parts(x.detach())
        parts.update({f"{name}/{part}": values for part, values in array_parts.items()})
    target = Path(path).resolve()
    with TemporaryDirectory(dir=target.parent) as folder:
        write(Path(folder, target.name), json.dumps(header), parts)
        os.replace(Path(folder, target.name), target)


def _checked_arrays(arrays: Any) -> Mapping[str, AnyArray]:
    """Return ``arrays``; raise ArgumentError unless it maps names to arrays."""
    takes = "save: takes an array, or a mapping from names (str) to arrays"
    if not isinstance(arrays, Mapping):
        raise ArgumentError(f"{takes}, not {named_type(arrays)}.")
    for name, x in arrays.items():
        if not isinstance(name, str) or name == _UNNAMED or "\0" in name:
            raise ArgumentError(f"{takes}; {name!r} is no name.")
        if not isinstance(x, Array | NestedArray):
            raise ArgumentError(f"{takes}; {name!r} is {named_type(x)}. Convert it: pn.array(x), pn.nested_array(x).")
    return arrays


def _split_parts(x: AnyArray) -> tuple[dict[str, Any], Parts]:
    """Return the header of an array, with its kind and the shape of its values; and the parts of the array."""
    if isinstance(x, Array):
        values = values_on_host("save", x, None)
        return {"kind": "dense", "shape": values.shape}, {"values": unbroadcast_view(values)}
    x = without_gaps(x)
    header, parts = _split_parts(x.data)
    parts["offsets"] = x.structure.offsets
    if isinstance(x.structure, Jagged):
        return header | {"kind": "jagged", "ragged_dim": x.structure.ragged_dim}, parts
    header |= {"kind": "strided", "regular_sizes": x.regular_sizes}  # which an empty batch has too
    return header, parts | {"sizes": x.structure.sizes, "strides": x.structure.strides}


@operator
def load(path: str | os.PathLike[str]) -> AnyArray | dict[str, AnyArray]:
    """Read a file that `save` wrote: one array, or a dict of arrays by name, on the CPU, without gradients.

    The arrays of a ``.arrow`` file are read-only; ``clone`` them before a write.

    ExchangeError for a file that `save` did not write, that is damaged or incomplete, or that has a newer version.
    StructureError for parts that do not fit each other.

    >>> pn.load("missing.npz")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'missing.npz'
    """
    read = _format_of("load", path)[1]
    try:
        text, parts = read(Path(path))
        header = json.loads(text)
        version, headers = header["version"], header["arrays"]
        arrays = {name: _join_parts(headers[name], name, parts) for name in headers if version == VERSION}
    except (PynestedError, FileNotFoundError, IsADirectoryError, PermissionError):
        raise
    except KeyError as missing:
        raise ExchangeError(
            f"load: the entry {missing.args[0]!r} of {path} is missing. The file is incomplete or was changed."
        ) from None
    except Exception as error:  # the readers raise errors of many classes for damaged files
        raise ExchangeError(f"load: {path} was not written by pynested.save, or it is damaged.") from error
    if version != VERSION:
        raise ExchangeError(
            f"load: {path} has version {version!r}, and this pynested reads version {VERSION}. Use a newer pynested."
        )
    return arrays[_UNNAMED] if set(arrays) == {_UNNAMED} else arrays


def _join_parts(header: Mapping[str, Any], name: str, parts: Parts) -> AnyArray:
    """Return the array of this name; the inverse of `_split_parts`."""
    stored = checked_ndarray("load", parts[f"{name}/values"])
    shape = tuple(header.get("shape", stored.shape))
    values = Array.from_memory(
        stored if stored.shape == shape else np.ascontiguousarray(np.broadcast_to(stored, shape))
    )
    if header["kind"] == "dense":
        return values
    offsets = parts[f"{name}/offsets"]
    if header["kind"] == "jagged":
        return NestedArray(values, Jagged(offsets, parts.get(f"{name}/lengths"), header["ragged_dim"], name="load"))
    sizes, strides = parts[f"{name}/sizes"], parts[f"{name}/strides"]
    structure = Strided(sizes, strides, offsets, values.numel(), header.get("regular_sizes"), name="load")
    return contiguous(NestedArray(values, structure))


# ---- the two formats ------------------------------------------------------------------------------------------------

Write = Callable[[Path, str, Parts], None]
Read = Callable[[Path], tuple[str, Parts]]


def _format_of(name: str, path: str | os.PathLike[str]) -> tuple[Write, Read]:
    """Return the functions that write and read files with the ending of ``path``."""
    if not isinstance(path, str | os.PathLike):
        raise ArgumentError(f"{name}: the first argument must be a path, a str or a Path, not {named_type(path)}.")
    ending = Path(path).suffix
    if ending not in _FORMATS:
        raise ArgumentError(f"{name}: {os.fspath(path)!r} ends in {ending!r}. Use one of {', '.join(_FORMATS)}.")
    return _FORMATS[ending]


def _write_npz(path: Path, header: str, parts: Parts) -> None:
    with open(path, "wb") as file:
        np.savez(file, **{_HEADER: np.frombuffer(header.encode(), np.uint8)}, **parts)  # type: ignore[arg-type]


def _read_npz(path: Path) -> tuple[str, Parts]:
    with open(path, "rb") as binary_file, np.load(binary_file, allow_pickle=False) as file:
        if _HEADER not in file.files:
            return "", {}
        return file[_HEADER].tobytes().decode(), {name: file[name] for name in file.files if name != _HEADER}


def _write_arrow(path: Path, header: str, parts: Parts) -> None:
    """Write a table of one row, with a list of numbers for each part. The metadata holds the header and the shapes."""
    pa = import_optional("save", "pyarrow")
    columns = {
        name: pa.LargeListArray.from_arrays(pa.array([0, part.size]), pa.array(np.ascontiguousarray(part).reshape(-1)))
        for name, part in parts.items()
    }
    shapes = json.dumps({name: part.shape for name, part in parts.items()})
    table = pa.table(columns).replace_schema_metadata({_HEADER: header, "shapes": shapes})
    with pa.OSFile(os.fspath(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


def _read_arrow(path: Path) -> tuple[str, Parts]:
    """Map the file into memory, read-only. Bools are copied, as Arrow packs their bits."""
    pa = import_optional("load", "pyarrow")
    with pa.memory_map(os.fspath(path)) as file:
        table = pa.ipc.open_file(file).read_all()
    table.validate(full=True)  # pyarrow aborts the process at lists that end behind their numbers
    metadata = table.schema.metadata or {}
    if _HEADER.encode() not in metadata:
        return "", {}
    parts = {}
    for name, shape in json.loads(metadata[b"shapes"]).items():
        numbers = table.column(name).chunk(0).flatten()
        parts[name] = numbers.to_numpy(zero_copy_only=False).reshape(shape)
    return metadata[_HEADER.encode()].decode(), parts


_FORMATS: dict[str, tuple[Write, Read]] = {".npz": (_write_npz, _read_npz), ".arrow": (_write_arrow, _read_arrow)}
