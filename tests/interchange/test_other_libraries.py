"""Arrays as other libraries make them: slices, views, masks and pieces; and refusals, with the place."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import DTypeError, ExchangeError, GradientError, MissingDependency, StructureError
from pynested.interchange.exchange_checks import import_optional

FROM: dict[str, Callable[..., Any]] = {
    "awkward": pn.from_awkward, "jax.numpy": pn.from_jax, "numpy": pn.from_numpy, "pandas": pn.from_pandas,
    "pyarrow": pn.from_arrow, "scipy.sparse": pn.from_csr, "tensorflow": pn.from_tensorflow, "torch": pn.from_torch,
}  # fmt: skip
Make = Callable[[Any], Any]  # of an array, by the module of a library
NAN = float("nan")
pytestmark = pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")


@dataclass
class Capsule:
    """An array of a library that has nothing but Arrow's protocol."""

    array: Any

    def __arrow_c_array__(self, schema: Any = None) -> Any:
        return self.array.__arrow_c_array__(schema)


def shares(a: Any, b: Any) -> bool:
    return bool(np.shares_memory(a.data.data, b))


def objects(component: Any) -> Any:
    array = np.empty(1, object)
    array[0] = component
    return array


def tensors_of_arrow(pa: Any, numbers: list[list[int]], shape: tuple[int, ...]) -> Any:
    storage = pa.array(numbers, pa.list_(pa.int32(), len(numbers[0])))
    return pa.ExtensionArray.from_storage(pa.fixed_shape_tensor(pa.int32(), shape), storage)


def csr_with_spare_capacity(sparse: Any) -> Any:
    matrix = sparse.csr_array([[1, 2], [3, 0]])
    matrix.data, matrix.indices = np.append(matrix.data, [9, 9]), np.append(matrix.indices, [7, 7])
    return matrix


NESTED: list[tuple[str, Make, Any]] = [
    ("awkward", lambda ak: ak.Array([[1, 2], [], [3, 4, 5]])[:, 1:], [[2], [], [4, 5]]),
    ("awkward", lambda ak: ak.drop_none(ak.Array([[1, None], [3]])), [[1], [3]]),
    ("awkward", lambda ak: ak.fill_none(ak.Array([[1, None], [3]]), 0), [[1, 0], [3]]),
    ("awkward", lambda ak: ak.Array([[], []]), [[], []]),
    ("awkward", lambda ak: ak.Array([[[1, 2, 3], [4, 5, 6]], [[7]], []]), [[[1, 2, 3], [4, 5, 6]], [[7]], []]),
    ("awkward", lambda ak: ak.Array([[[1, 2], [3, 4]], [[5]]])[[1, 0]], [[[5]], [[1, 2], [3, 4]]]),
    ("awkward", lambda ak: ak.to_regular(ak.Array([[[1, 2], [3, 4]], [[5], [6]]]), 1), [[[1, 2], [3, 4]], [[5], [6]]]),
    *(("pyarrow", lambda pa, kind=kind: pa.array([[9], [1, 2], [3]], getattr(pa, kind)(pa.int8()))[1:], [[1, 2], [3]])
      for kind in ("list_", "large_list", "list_view", "large_list_view")),
    ("pyarrow", lambda pa: pa.chunked_array([[[1]], [[2, 3]]]), [[1], [2, 3]]),
    ("pyarrow", lambda pa: pa.array([[True, False], [True]]), [[True, False], [True]]),
    ("pyarrow", lambda pa: pa.array([[[1, 2]], [[3]]], pa.list_view(pa.list_(pa.int8()))), [[[1, 2]], [[3]]]),
    ("pyarrow", lambda pa: Capsule(pa.array([[1], [2, 3]])), [[1], [2, 3]]),
    ("torch", lambda t: t.nested.nested_tensor([t.tensor([[0, 1, 2], [3, 4, 5]]), t.ones(1, 1, dtype=t.int64)])
                        .transpose(1, 2), [[[0, 3], [1, 4], [2, 5]], [[1]]]),
    ("torch", lambda t: t.nested.nested_tensor([t.ones(2, 3), t.ones(1, 3)], layout=t.jagged).transpose(1, 2),
              [[[1, 1]] * 3, [[1]] * 3]),
    ("tensorflow", lambda tf: tf.ragged.constant([[[1, 2], [3, 4]], [[5]]]), [[[1, 2], [3, 4]], [[5]]]),
    ("scipy.sparse", csr_with_spare_capacity, [[1, 2], [3]]),
    *((library, lambda _: [[1, 2], [3]], [[1, 2], [3]]) for library in ("awkward", "pyarrow")),
    ("pyarrow", lambda pa: pa.array([[], []]), [[], []]),
    # A missing value in a gap is in no component.
    ("pyarrow", lambda pa: pa.ListViewArray.from_arrays([2, 0], [1, 1], pa.array([1, None, 3])), [[3], [1]]),
    ("awkward", lambda ak: ak.Array([[1], [None], [3]])[[2, 0]], [[3], [1]]),
    ("numpy", lambda np: objects(np.array([1.0, 2.0], ">f8")), [[1, 2]]),
    ("pandas", lambda pd: pd.Series([[1, 2], [3]]), [[1, 2], [3]]),
    ("pandas", lambda pd: pd.Series([np.ones(1), np.zeros(2)], index=["a", "b"]), [[1], [0, 0]]),
]  # fmt: skip
DENSE: list[tuple[str, Make, Any]] = [
    ("numpy", lambda np: np.array([1.0, 2.0, 3.0], ">f8"), [1, 2, 3]),
    ("awkward", lambda ak: ak.to_regular(ak.Array([[1, 2], [3, 4]])), [[1, 2], [3, 4]]),
    ("pyarrow", lambda pa: pa.array([[9, 9], [1, 2], [3, 4]], pa.list_(pa.int8(), 2))[1:], [[1, 2], [3, 4]]),
    ("pyarrow", lambda pa: tensors_of_arrow(pa, [[1, 2, 3, 4]], (2, 2)), [[[1, 2], [3, 4]]]),
    ("pyarrow", lambda pa: tensors_of_arrow(pa, [[1], [2]], ()), [1, 2]),
    ("pyarrow", lambda pa: pn.to_arrow(pn.array([[[1, 2], [3, 4]]])), [[[1, 2], [3, 4]]]),
    ("tensorflow", lambda tf: tf.constant([[1.0]]), [[1.0]]),
    ("tensorflow", lambda tf: tf.constant(2.0), 2.0),
]
TAKEN = [*((*row, pn.NestedArray) for row in NESTED), *((*row, pn.Array) for row in DENSE)]


@pytest.mark.parametrize(("name", "make", "expected", "kind"), TAKEN)
def test_arrays_are_taken(name: str, make: Make, expected: Any, kind: type) -> None:
    taken = FROM[name](make(pytest.importorskip(name)))
    assert type(taken) is kind and taken.tolist() == expected


def test_lengths_for_jax() -> None:
    jnp = pytest.importorskip("jax.numpy")
    values = jnp.arange(4, dtype=jnp.float32).reshape(4, 1)
    assert pn.from_jax(values, lengths=jnp.array([1, 3])).tolist() == [[[0]], [[1], [2], [3]]]


def test_parts_keep_the_memory() -> None:
    ak = pytest.importorskip("awkward")
    whole = ak.Array([[1.0, 2.0], [], [3.0, 4.0, 5.0], [6.0]])
    values = np.asarray(whole.layout.content.data)
    for part, expected in ((whole[1:3], [[], [3, 4, 5]]), (whole[[2, 0]], [[3, 4, 5], [1, 2]]), (whole[:0], [])):
        taken = pn.from_awkward(part, copy=False)
        assert taken.tolist() == expected and (not expected or shares(taken, values))


def test_parts_of_arrow_keep_the_memory_which_is_read_only() -> None:
    whole = pytest.importorskip("pyarrow").array([[1.0, 2.0], [], [3.0, 4.0, 5.0], [6.0]])
    taken = pn.from_arrow(whole.slice(1, 2), copy=False)
    assert taken.tolist() == [[], [3, 4, 5]] and shares(taken, whole.values.to_numpy())
    with pytest.raises(pn.errors.PynestedError):
        taken[1][0] = 7.0
    assert whole.to_pylist()[2] == [3, 4, 5]


def test_views_of_torch_keep_the_memory() -> None:
    torch = pytest.importorskip("torch")
    dense = torch.arange(12.0).reshape(3, 4)
    assert shares(pn.from_torch(dense.T), dense.numpy()) and shares(pn.from_numpy(dense.numpy()), dense.numpy())
    gaps = torch.nested.narrow(dense, 1, torch.tensor([0, 1, 2]), torch.tensor([1, 3, 0]), layout=torch.jagged)
    taken = pn.from_torch(gaps)
    assert taken.tolist() == [[0], [5, 6, 7], []] and shares(taken, dense.numpy())
    x = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged)
    out = pn.to_torch(x)
    x.mul_(2)
    assert out.values().tolist() == [2, 4, 6] and (out + 1).values().tolist() == [3, 5, 7]


def test_arrow_has_list_views_for_gaps_and_files_for_lists(tmp_path: Any) -> None:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    x = pn.nested_array_from_jagged(pn.arange(6), offsets=[0, 3, 6], lengths=[2, 3])
    assert pn.to_arrow(x).type == pa.large_list_view(pa.int64())
    assert pn.to_arrow(x).to_pylist() == [[0, 1], [3, 4, 5]]
    x = pn.nested_array([np.ones((2, 3)), np.zeros((1, 3))], layout=pn.jagged)
    parquet.write_table(pa.table({"x": pn.to_arrow(x)}), tmp_path / "x.parquet")
    assert pn.from_arrow(parquet.read_table(tmp_path / "x.parquet")["x"]).tolist() == x.tolist()


REPEATING: dict[str, Callable[[Any], Any]] = {
    "expanded": lambda t: t.ones(1).expand(3),
    "rows": lambda t: t.ones(3).expand(2, 3),
    "overlapping": lambda t: t.ones(4).as_strided((3, 2), (1, 1)),
}


@pytest.mark.parametrize("tensor", REPEATING.values(), ids=REPEATING)
@pytest.mark.parametrize("way", [pn.from_torch, pn.from_dlpack, lambda tensor: pn.from_numpy(tensor.numpy())])
def test_memory_that_repeats_elements_is_read_only(way: Any, tensor: Any) -> None:
    shared = tensor(pytest.importorskip("torch"))
    for write in (lambda x: x.add_(1), lambda x: x[0].fill_(2), lambda x: x.__setitem__(0, 2)):
        with pytest.raises(GradientError, match="its elements repeat"):
            write(way(shared))
    assert shared.eq(1).all() and pn.array(way(shared)).add_(1).tolist() == (shared + 1).tolist()


def negative(torch: Any) -> Any:
    """Return -1.0 twice, in memory that holds 1.0."""
    return torch.complex(torch.ones(2), torch.ones(2)).conj().imag


def test_negative_views_of_torch_keep_their_sign() -> None:
    torch = pytest.importorskip("torch")
    for copy in (None, True):
        assert pn.from_torch(negative(torch), copy=copy).tolist() == [-1, -1]
        nested = torch.nested.nested_tensor_from_jagged(negative(torch), torch.tensor([0, 1, 2]))
        assert pn.from_torch(nested, copy=copy).tolist() == [[-1], [-1]]
    with pytest.raises(ExchangeError, match=r"negative view of its memory.*x\.resolve_neg\(\)"):
        pn.from_dlpack(negative(torch))


def test_a_field_of_records_is_copied_for_torch() -> None:
    pytest.importorskip("torch")
    field = np.array([(1, 2), (3, 4)], "f4, i2")["f0"]
    assert pn.to_torch(pn.from_numpy(field)).tolist() == [1, 3] and shares(pn.from_numpy(field), field)
    with pytest.raises(ExchangeError, match="not by whole elements"):
        pn.to_torch(pn.from_numpy(field), copy=False)


# ---- refused ---------------------------------------------------------------------------------------------------------

REFUSED: list[tuple[str, Make, type[Exception], str]] = [
    ("awkward", lambda ak: ak.Array([["a"]]), ExchangeError, "a string holds no numbers"),
    ("awkward", lambda ak: ak.Array([{"x": 1}]), ExchangeError, "a record holds no numbers"),
    ("awkward", lambda ak: ak.Array([1, [2]]), ExchangeError, "a union holds no numbers"),
    ("awkward", lambda ak: ak.Array([[1], None]), ExchangeError, "entry 1 at depth 0 is missing"),
    ("awkward", lambda ak: ak.Array([[1, None]]), ExchangeError, "entry 1 at depth 1 is missing"),
    ("awkward", lambda ak: ak.Array([[[1]], [[1], [2, 3]]]), StructureError, "component 1 is not a rectangle: along"),
    ("awkward", lambda ak: ak.Array(np.arange(2, dtype=np.uint32)), DTypeError, "uint32"),
    ("pyarrow", lambda pa: pa.array([[1], None]), ExchangeError, "entry 1 is null"),
    ("pyarrow", lambda pa: pa.array([[1, None]]), ExchangeError, "entry 1 of all entries at depth 1 is null"),
    ("pyarrow", lambda pa: pa.array([["a"]]), ExchangeError, "string holds no numbers"),
    ("pyarrow", lambda pa: pa.array([{"x": 1}]), ExchangeError, "struct<x: int64> holds no numbers"),
    ("torch", lambda t: t.ones(2, requires_grad=True), GradientError, r"Detach it: from_torch\(tensor\.detach\(\)\)"),
    ("torch", lambda t: t.nested.nested_tensor([]), ExchangeError, "^from_torch: .* has no number of dimensions"),
    ("torch", lambda t: [1, 2], ExchangeError, "takes a tensor of PyTorch, not list"),
    ("torch", lambda t: t.ones(2, dtype=t.bfloat16), DTypeError, "no bfloat16 on the CPU. Convert it to float32"),
    ("jax.numpy", lambda jnp: jnp.ones(2, jnp.bfloat16), DTypeError, "no bfloat16 .*to float32 first"),
    ("tensorflow", lambda tf: tf.ones(2, tf.bfloat16), DTypeError, "no bfloat16 on the CPU.*to float32"),
    ("tensorflow", lambda tf: tf.ragged.constant([["a"]]), ExchangeError, "strings are not numbers"),
    ("tensorflow", lambda tf: [1], ExchangeError, "takes an eager tensor or a ragged tensor, not list"),
    *(("pandas", lambda pd, entry=entry: pd.Series([[1], entry]), ExchangeError, f"entry 1 is {entry!r}, not a list")
      for entry in (None, NAN, 2, "a")),
    ("awkward", lambda ak: "abc", ExchangeError, "a char holds no numbers"),
    ("pandas", lambda pd: pd.Series([1, 2]), ExchangeError, "a column of int64 holds no lists"),
    ("pandas", lambda pd: [[1]], ExchangeError, "takes a Series"),
    ("scipy.sparse", lambda s: s.csr_array([[1, 2, 0], [0, 0, 3]]), ExchangeError, "row 1 has an entry in column 2"),
    ("scipy.sparse", lambda s: np.ones((2, 2)), ExchangeError, "takes a matrix in the format csr, not"),
    ("numpy", lambda np: [1, 2], ExchangeError, "takes an array of NumPy, not list"),
    ("numpy", lambda np: np.array([[None]]), ExchangeError, "must have one dimension, not 2"),
    ("numpy", lambda np: np.array([[1], None], dtype=object), ExchangeError, "component 1 is None"),
    ("numpy", lambda np: np.array(["a"]), DTypeError, "pynested has no <U1"),
    ("numpy", lambda np: np.zeros(2, np.uint16), DTypeError, "no uint16 on the CPU. Convert it to int32"),
    ("numpy", lambda np: np.zeros(2, np.complex64), DTypeError, "no complex64 on the CPU. It has bool, int8"),
    ("numpy", lambda np: objects(pn.ones(1, requires_grad=True)), GradientError, "component 0 requires grad"),
    ("awkward", lambda ak: ak.Record({"x": 1}), ExchangeError, "takes an array of awkward, or lists, not a Record"),
    ("awkward", lambda ak: {"x": [1]}, ExchangeError, "takes an array of awkward, or lists, not a dict"),
    ("pyarrow", lambda pa: pa.table({"x": [1]}), ExchangeError, "a Table is no array of Arrow, or lists of numbers"),
    *((library, lambda _: None, ExchangeError, "NoneType") for library in ("awkward", "pyarrow")),
    ("pyarrow", lambda pa: pa.ListViewArray.from_arrays([0, 1], [1, 1], pa.array([1, None])), ExchangeError, "is null"),
    ("awkward", lambda ak: ak.Array([[1], [None], [3]])[[2, 1]], ExchangeError, "at depth 1 is missing"),
    ("pyarrow", lambda pa: pa.nulls(2), ExchangeError, "entry 0 is null"),
]  # fmt: skip
NO_COPY: list[tuple[str, Make, str]] = [
    ("numpy", lambda np: np.array([1.0], ">f8"), "bytes of its numbers are not in native order, .* copy=False"),
    ("awkward", lambda ak: ak.Array([[[1, 2], [3, 4]], [[5]]])[[1, 0]],
     "lists within lists, or of options, do not lie one after another"),
    ("pyarrow", lambda pa: pa.chunked_array([[[1]], [[2]]]), "there are 2 chunks, so the memory cannot be shared"),
    ("pyarrow", lambda pa: pa.array([[True]]), "Arrow packs the bits of bools"),
    ("pyarrow", lambda pa: [[1, 2], [3]], "a list is no array of Arrow, so the memory cannot be shared"),
    ("awkward", lambda ak: [[1, 2], [3]], "a list is no array of awkward, so the memory cannot be shared"),
    ("torch", lambda t: negative(t), "a negative view of its memory"),
]  # fmt: skip
ALL_REFUSED = [(*row, {}) for row in REFUSED]
ALL_REFUSED += [(name, make, ExchangeError, text, {"copy": False}) for name, make, text in NO_COPY]


@pytest.mark.parametrize(("name", "make", "error", "text", "options"), ALL_REFUSED)
def test_arrays_are_refused(name: str, make: Make, error: type[Exception], text: str, options: dict[str, Any]) -> None:
    with pytest.raises(error, match=text):
        FROM[name](make(pytest.importorskip(name)), **options)


APART: dict[str, Any] = {  # arrays (2, *) whose elements do not lie one after another
    "out of order": pn.nested_array_from_strided(pn.arange(3), [[2], [1]], offsets=[1, 0]),
    "with gaps": pn.nested_array_from_jagged(pn.arange(5), [0, 3, 5], [2, 1]),
    "with steps": pn.nested_array_from_jagged(pn.arange(6)[::2], [0, 2, 3]),
    "in steps": pn.nested_array_from_strided(pn.arange(4), [[2], [1]], [[2], [1]], [0, 1]),
}


@pytest.mark.parametrize("x", APART.values(), ids=APART)
def test_elements_that_lie_apart_are_copied_for_scipy(x: Any) -> None:
    pytest.importorskip("scipy.sparse")
    with pytest.raises(ExchangeError, match="to_csr: the elements do not lie one after another.*copy=False"):
        pn.to_csr(x, copy=False)
    assert pn.from_csr(pn.to_csr(x)).tolist() == x.tolist()
    for together in (x.contiguous(), x.contiguous()[1:]):  # a view with a gap in front is in one piece
        assert np.shares_memory(pn.to_csr(together, copy=False).data, together.data.data)


@pytest.mark.parametrize("copy", [None, False])
def test_arrow_lists_of_no_numbers_are_refused_as_such(copy: Any) -> None:
    pa = pytest.importorskip("pyarrow")
    for kind, value in ((pa.struct([("x", pa.int64())]), {"x": 1}), (pa.map_(pa.int8(), pa.int8()), [(1, 2)])):
        for lists in (pa.list_, pa.large_list, pa.list_view, pa.large_list_view):
            with pytest.raises(ExchangeError, match=f"{re.escape(str(kind))} holds no numbers"):
                pn.from_arrow(pa.array([[value], []], lists(kind)), copy=copy)


RECORDED, EMPTY = pn.nested_array([[1.0]], requires_grad=True), pn.nested_array([], layout=pn.strided)
OUT: list[tuple[str, Callable[..., Any], Any, type[Exception], str]] = [
    ("torch", pn.to_torch, RECORDED, GradientError, r"Detach it: to_torch\(x\.detach\(\)\)"),
    ("scipy", pn.to_csr, RECORDED, GradientError, r"to_csr\(x\.detach\(\)\)"),
    ("numpy", pn.to_numpy, RECORDED, GradientError, r"to_numpy\(x\.detach\(\)\)"),
    ("torch", pn.to_torch, EMPTY, ExchangeError, "no strided nested tensor of no components"),
    ("jax", pn.to_jax, pn.nested_array([[1.0]]), pn.errors.LayoutError, "not jagged along dimension 1"),
    ("scipy", pn.to_csr, pn.nested_array([[[1.0]]]), pn.errors.ShapeError, "two dimensions"),
    ("scipy", pn.to_csr, pn.ones((2, 2)), pn.errors.ShapeError,
     "takes a nested array of two dimensions.*not an Array of 2"),
    *((name, out, EMPTY, ExchangeError, "each component is one number, no list")
      for name, out in (("awkward", pn.to_awkward), ("pyarrow", pn.to_arrow), ("tensorflow", pn.to_tensorflow))),
    ("awkward", pn.to_awkward, pn.array(1.0), ExchangeError, "no array without dimensions"),
    ("pyarrow", pn.to_arrow, pn.array(1.0), ExchangeError, "an array without dimensions is not a column"),
    ("numpy", pn.to_numpy, [[1.0]], pn.errors.ArgumentError, "to_numpy: takes an array of pynested, not a list"),
    ("numpy", pn.to_numpy, np.ones(2), pn.errors.ArgumentError, "to_numpy: takes an array of pynested, not a"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "out", "array", "error", "text"), OUT)
def test_arrays_that_do_not_go_out(name: str, out: Any, array: Any, error: type[Exception], text: str) -> None:
    pytest.importorskip(name)
    with pytest.raises(error, match=text):
        out(array)


def test_a_library_that_is_not_installed_is_named() -> None:
    with pytest.raises(MissingDependency, match="to_nowhere: not_a_library is not installed.*install x"):
        import_optional("to_nowhere", "not_a_library", "x")
    with pytest.raises(MissingDependency, match="to_nowhere: not_a.library is not installed"):
        import_optional("to_nowhere", "not_a.library", "x")


@pytest.mark.parametrize("line", ["import missing_part", "raise ImportError('no libbroken.so')"])
def test_a_library_whose_import_fails_is_not_called_missing(tmp_path: Path, monkeypatch: Any, line: str) -> None:
    (tmp_path / "broken_library.py").write_text(line)
    monkeypatch.syspath_prepend(tmp_path)
    text = "broken_library is installed, but its import fails: .*(part|libbroken)"
    with pytest.raises(MissingDependency, match=text):
        import_optional("to_broken", "broken_library")
