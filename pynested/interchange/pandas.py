"""Exchange with columns of pandas."""

from __future__ import annotations

from typing import Any

from pynested.autograd import Array
from pynested.autograd.call_errors import check_optional_flags
from pynested.autograd.decorators import operator
from pynested.backends.errors import ExchangeError
from pynested.nested.nested_array import NestedArray
from pynested.structure.layout import jagged

from .arrow import from_arrow, to_arrow
from .exchange_checks import check_may_copy, import_optional
from .numpy import from_numpy


@operator
def from_pandas(series: Any, *, copy: bool | None = None) -> NestedArray | Array:
    """Convert a column of lists to ``(B, *)``. The index is not kept.

    A column with an Arrow type shares its memory; it is dense if it holds numbers. A column of objects, which are lists
    or arrays that differ along one dimension, is copied. ExchangeError for a missing entry, and for any other column.

    >>> import pandas  # doctest: +SKIP
    >>> pn.from_pandas(pandas.Series([[1, 2], [3]])).offsets()  # doctest: +SKIP
    array([0, 2, 3])
    """
    check_optional_flags("from_pandas", copy=copy)
    pd = import_optional("from_pandas", "pandas")
    if not isinstance(series, pd.Series):
        raise ExchangeError(f"from_pandas: takes a Series, which is one column, not {type(series).__name__}.")
    if isinstance(series.dtype, pd.ArrowDtype):
        return from_arrow(series.array.__arrow_array__(), copy=copy)
    if series.dtype != object:
        raise ExchangeError(
            f"from_pandas: a column of {series.dtype} holds no lists. Take pn.array(series.to_numpy())."
        )
    if not (is_list := series.map(pd.api.types.is_list_like)).all():
        i = int(is_list.argmin())
        raise ExchangeError(f"from_pandas: entry {i} is {series.iloc[i]!r}, not a list. Drop it, or put a list there.")
    check_may_copy("from_pandas", copy, "the lists of a column of objects lie apart")
    return from_numpy(series.to_numpy(), layout=jagged)


@operator
def to_pandas(x: NestedArray | Array, *, copy: bool | None = None) -> Any:
    """Convert ``(B, *)`` to a column with Arrow's list type, one row for each component; see `to_arrow`.

    >>> pn.to_pandas(pn.nested_array([[1, 2], [3]], layout=pn.jagged)).dtype  # doctest: +SKIP
    large_list<item: int64>[pyarrow]
    """
    check_optional_flags("to_pandas", copy=copy)
    pd = import_optional("to_pandas", "pandas")
    return pd.Series(pd.arrays.ArrowExtensionArray(to_arrow(x, copy=copy)))
