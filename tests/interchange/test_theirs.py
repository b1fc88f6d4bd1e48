"""Arrays as other libraries make them: slices, views, masks and pieces; and what is refused, with the place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import (
    ArgumentError,
    DTypeError,
    ExchangeError,
    GradientError,
    LayoutError,
    MissingDependency,
    StructureError,
)
from pynested.interchange.lists import library


def lists(array: Any) -> Any:
    return array.tolist()


def shares(a: Any, b: Any) -> bool:
    return bool(np.shares_memory(a.data.data, b))


class TestAwkward:
    ak = staticmethod(lambda: pytest.importorskip("awkward"))

    def test_parts_keep_the_memory(self) -> None:
        whole = self.ak().Array([[1.0, 2.0], [], [3.0, 4.0, 5.0], [6.0]])
        values = np.asarray(whole.layout.content.data)
        for part, expected in ((whole[1:3], [[], [3, 4, 5]]), (whole[[2, 0]], [[3, 4, 5], [1, 2]]), (whole[:0], [])):
            found = pn.from_awkward(part, copy=False)
            assert lists(found) == expected and (not expected or shares(found, values))
        assert lists(pn.from_awkward(whole[:, 1:])) == [[2], [], [4, 5], []]

    def test_regular_and_optional_without_a_missing_one(self) -> None:
        ak = self.ak()
        regular = ak.to_regular(ak.Array([[1, 2], [3, 4]]))
        dense = pn.from_awkward(regular)
        assert isinstance(dense, pn.Array) and lists(dense) == [[1, 2], [3, 4]]
        optional = ak.Array([[1, None], [3]])
        assert lists(pn.from_awkward(ak.drop_none(optional))) == [[1], [3]]
        assert lists(pn.from_awkward(ak.fill_none(optional, 0))) == [[1, 0], [3]]
        assert lists(pn.from_awkward(ak.Array([[], []]))) == [[], []]

    def test_lists_within_lists(self) -> None:
        ak = self.ak()
        found = pn.from_awkward(ak.Array([[[1, 2, 3], [4, 5, 6]], [[7]], []]))
        assert found.layout == pn.strided and lists(found) == [[[1, 2, 3], [4, 5, 6]], [[7]], []]  # type: ignore[union-attr]
        apart = ak.Array([[[1, 2], [3, 4]], [[5]]])[[1, 0]]
        assert lists(pn.from_awkward(apart)) == [[[5]], [[1, 2], [3, 4]]]
        with pytest.raises(ExchangeError, match="lists within lists do not lie one after another"):
            pn.from_awkward(apart, copy=False)
        with pytest.raises(StructureError, match="component 1 is no rectangle: along dimension 2"):
            pn.from_awkward(ak.Array([[[1]], [[1], [2, 3]]]))
        outer = ak.to_regular(ak.Array([[[1, 2], [3, 4]], [[5], [6]]]), axis=1)
        assert lists(pn.from_awkward(outer)) == [[[1, 2], [3, 4]], [[5], [6]]]

    @pytest.mark.parametrize(
        ("given", "says"),
        [
            ([[1], None], "entry 1 at depth 0 is missing"),
            ([[1, None]], "entry 1 at depth 1 is missing"),
            ([["a"]], "a string holds no numbers"),
            ([{"x": 1}], "a record holds no numbers"),
            ([1, [2]], "a union holds no numbers"),
        ],
    )
    def test_refusals(self, given: Any, says: str) -> None:
        with pytest.raises(ExchangeError, match=says):
            pn.from_awkward(self.ak().Array(given))

    def test_dtypes(self) -> None:
        with pytest.raises(DTypeError, match="uint32"):
            pn.from_awkward(self.ak().Array(np.arange(2, dtype=np.uint32)))


class TestArrow:
    pa = staticmethod(lambda: pytest.importorskip("pyarrow"))

    def test_parts_keep_the_memory_which_is_read_only(self) -> None:
        whole = self.pa().array([[1.0, 2.0], [], [3.0, 4.0, 5.0], [6.0]])
        values = whole.values.to_numpy()
        found = pn.from_arrow(whole.slice(1, 2), copy=False)
        assert lists(found) == [[], [3, 4, 5]] and shares(found, values)
        with pytest.raises(pn.errors.PynestedError):
            found[1][0] = 7.0
        assert whole.to_pylist()[2] == [3, 4, 5]

    def test_types(self) -> None:
        pa = self.pa()
        given = [[1, 2], [3, 4]]
        for list_of in (pa.list_, pa.large_list, pa.list_view, pa.large_list_view):
            kind = list_of(pa.int8())
            assert lists(pn.from_arrow(pa.array([[9], *given], kind)[1:])) == given
        fixed = pn.from_arrow(pa.array([[9, 9], *given], pa.list_(pa.int8(), 2))[1:])
        assert isinstance(fixed, pn.Array) and lists(fixed) == given
        tensors = pa.ExtensionArray.from_storage(
            pa.fixed_shape_tensor(pa.int32(), (2, 2)), pa.array([[1, 2, 3, 4]], pa.list_(pa.int32(), 4))
        )
        assert lists(pn.from_arrow(tensors)) == [[[1, 2], [3, 4]]]
        assert lists(pn.from_arrow(pn.to_arrow(pn.array([[[1, 2], [3, 4]]])))) == [[[1, 2], [3, 4]]]
        assert lists(pn.from_arrow(pa.chunked_array([[[1]], [[2, 3]]]))) == [[1], [2, 3]]
        assert lists(pn.from_arrow(pa.array([[True, False], [True]]))) == [[True, False], [True]]
        views = pa.array([[[1, 2]], [[3]]], pa.list_view(pa.list_(pa.int8())))
        assert lists(pn.from_arrow(views)) == [[[1, 2]], [[3]]]

    def test_holes_are_list_views(self) -> None:
        pa = self.pa()
        x = pn.nested_array_from_jagged(pn.arange(6), offsets=[0, 3, 6], lengths=[2, 3])
        assert pn.to_arrow(x).type == pa.large_list_view(pa.int64())
        assert pn.to_arrow(x).to_pylist() == [[0, 1], [3, 4, 5]]

    def test_what_speaks_the_capsule_is_taken(self) -> None:
        pa = self.pa()

        class Other:
            def __arrow_c_array__(self, schema: Any = None) -> Any:
                return pa.array([[1], [2, 3]]).__arrow_c_array__(schema)

        assert lists(pn.from_arrow(Other())) == [[1], [2, 3]]

    def test_parquet(self, tmp_path: Any) -> None:
        pa = self.pa()
        parquet = pytest.importorskip("pyarrow.parquet")
        x = pn.nested_array([np.ones((2, 3)), np.zeros((1, 3))], layout=pn.jagged)
        parquet.write_table(pa.table({"x": pn.to_arrow(x)}), tmp_path / "x.parquet")
        assert lists(pn.from_arrow(parquet.read_table(tmp_path / "x.parquet")["x"])) == lists(x)

    @pytest.mark.parametrize(
        ("given", "says"),
        [
            ([[1], None], "entry 1 is null"),
            ([[1, None]], "an entry at depth 1, number 1 there, is null"),
            ([["a"]], "string holds no numbers"),
            ([{"x": 1}], "struct<x: int64> holds no numbers"),
        ],
    )
    def test_refusals(self, given: Any, says: str) -> None:
        with pytest.raises(ExchangeError, match=says):
            pn.from_arrow(self.pa().array(given))

    def test_copies_that_may_not_be(self) -> None:
        pa = self.pa()
        with pytest.raises(ExchangeError, match="there are 2 chunks, so the memory cannot be shared"):
            pn.from_arrow(pa.chunked_array([[[1]], [[2]]]), copy=False)
        with pytest.raises(ExchangeError, match="Arrow packs the bits of bools"):
            pn.from_arrow(pa.array([[True]]), copy=False)


class TestTorch:
    torch = staticmethod(lambda: pytest.importorskip("torch"))

    @pytest.mark.filterwarnings("ignore")
    def test_views_keep_the_memory(self) -> None:
        torch = self.torch()
        dense = torch.arange(12.0).reshape(3, 4)
        assert shares(pn.from_torch(dense.T), dense.numpy())
        holes = torch.nested.narrow(dense, 1, torch.tensor([0, 1, 2]), torch.tensor([1, 3, 0]), layout=torch.jagged)
        found = pn.from_torch(holes)
        assert lists(found) == [[0], [5, 6, 7], []] and shares(found, dense.numpy())
        turned = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(1, 3)], layout=torch.jagged).transpose(1, 2)
        assert pn.from_torch(turned).component_sizes().tolist() == [[3, 2], [3, 1]]  # type: ignore[union-attr]
        strided = torch.nested.nested_tensor([torch.arange(6).reshape(2, 3), torch.ones(1, 1, dtype=torch.int64)])
        assert lists(pn.from_torch(strided.transpose(1, 2))) == [[[0, 3], [1, 4], [2, 5]], [[1]]]

    @pytest.mark.filterwarnings("ignore")
    def test_what_we_write_they_see(self) -> None:
        x = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged)
        self.torch()
        out = pn.to_torch(x)
        x.mul_(2)
        assert out.values().tolist() == [2, 4, 6]
        assert (out + 1).values().tolist() == [3, 5, 7]

    def test_refusals(self) -> None:
        torch = self.torch()
        with pytest.raises(GradientError, match=r"Say so: from_torch\(tensor\.detach\(\)\)"):
            pn.from_torch(torch.ones(2, requires_grad=True))
        with pytest.raises(GradientError, match=r"Say so: to_torch\(x\.detach\(\)\)"):
            pn.to_torch(pn.ones(2, requires_grad=True))
        with pytest.raises(ExchangeError, match="list is no tensor of PyTorch"):
            pn.from_torch([1, 2])
        with pytest.raises(DTypeError, match="bfloat16"):
            pn.from_torch(torch.ones(2, dtype=torch.bfloat16))
        with pytest.raises(ExchangeError, match="no strided nested tensor of no components"):
            pn.to_torch(pn.nested_array([], layout=pn.strided))


class TestOthers:
    def test_tensorflow(self) -> None:
        tf = pytest.importorskip("tensorflow")
        ragged = tf.ragged.constant([[[1, 2], [3, 4]], [[5]]])
        assert lists(pn.from_tensorflow(ragged)) == [[[1, 2], [3, 4]], [[5]]]
        assert lists(pn.from_tensorflow(tf.constant([[1.0]]))) == [[1.0]]
        assert pn.from_tensorflow(tf.constant(2.0)).tolist() == 2.0
        assert pn.to_tensorflow(pn.ones(2)).numpy().tolist() == [1, 1]
        with pytest.raises(ExchangeError, match="strings are no numbers"):
            pn.from_tensorflow(tf.ragged.constant([["a"]]))
        with pytest.raises(ExchangeError, match="list is no eager tensor"):
            pn.from_tensorflow([1])

    def test_pandas(self) -> None:
        pd = pytest.importorskip("pandas")
        assert lists(pn.from_pandas(pd.Series([[1, 2], [3]]))) == [[1, 2], [3]]
        assert lists(pn.from_pandas(pd.Series([np.ones(1), np.zeros(2)], index=["a", "b"]))) == [[1], [0, 0]]
        with pytest.raises(ExchangeError, match="component 1 is None"):
            pn.from_pandas(pd.Series([[1], None]))
        with pytest.raises(ExchangeError, match="a column of int64 holds no lists"):
            pn.from_pandas(pd.Series([1, 2]))
        with pytest.raises(ExchangeError, match="takes a Series"):
            pn.from_pandas([[1]])

    def test_csr(self) -> None:
        sparse = pytest.importorskip("scipy.sparse")
        with pytest.raises(ExchangeError, match="row 1 has an entry in column 2 where column 0 is next"):
            pn.from_csr(sparse.csr_array(np.array([[1, 2, 0], [0, 0, 3]])))
        with pytest.raises(ExchangeError, match="no matrix in the format csr"):
            pn.from_csr(np.ones((2, 2)))
        with pytest.raises(pn.errors.ShapeError, match="two dimensions"):
            pn.to_csr(pn.nested_array([[[1.0]]]))

    def test_jax(self) -> None:
        jnp = pytest.importorskip("jax.numpy")
        values = jnp.arange(4, dtype=jnp.float32).reshape(4, 1)
        assert lists(pn.from_jax(values, lengths=jnp.array([1, 3]))) == [[[0]], [[1], [2], [3]]]
        with pytest.raises(LayoutError, match="not jagged along dimension 1"):
            pn.to_jax(pn.nested_array([[1.0]]))

    def test_numpy(self) -> None:
        dense = np.ones(3)
        assert shares(pn.from_numpy(dense), dense)
        for wrong, says in (
            ([1, 2], "list is no array of NumPy"),
            (np.array([[None]]), "one dimension, not 2"),
            (np.array([[1], None], dtype=object), "component 1 is None"),
        ):
            with pytest.raises(ExchangeError, match=says):
                pn.from_numpy(wrong)  # type: ignore[arg-type]
        with pytest.raises(DTypeError):
            pn.from_numpy(np.array(["a"]))


def test_what_is_no_array_of_ours_does_not_go_out() -> None:
    for given in ([[1.0]], np.ones(2), None):
        with pytest.raises(ArgumentError, match="to_numpy: takes an array of pynested, not a"):
            pn.to_numpy(given)  # type: ignore[arg-type]


def test_a_library_that_is_not_there_is_named() -> None:
    with pytest.raises(MissingDependency, match="to_nowhere: not_a_library is not installed.*install x"):
        library("to_nowhere", "not_a_library", "x")


@pytest.mark.parametrize("out", [pn.to_numpy, pn.to_csr])
def test_what_requires_grad_stays(out: Callable[..., Any]) -> None:
    x = pn.nested_array([[1.0]], requires_grad=True)
    with pytest.raises(GradientError, match=rf"{out.__name__}\(x\.detach\(\)\)"):
        out(x)
