"""Columns of pandas."""

from __future__ import annotations

from typing import Any

from pynested.autograd import Array
from pynested.autograd.call_errors import check_optional_flags
from pynested.autograd.dispatch import operator
from pynested.backends.errors import ExchangeError
from pynested.nested.nested_array import NestedArray
from pynested.structure.layout import jagged

from .arrow import from_arrow, to_arrow
from .lists import library
from .numpy import from_numpy
from .receivers import must_copy


@operator
def from_pandas(series: Any, *, copy: bool | None = None) -> NestedArray | Array:
    """The lists in a column: of Arrow's types in the same memory, of objects copied. The index stays behind.

    Parameters
    ----------
    series : pandas.Series
        Of a list type of Arrow, or of objects: lists or arrays, of which one dimension differs.
    copy : bool, optional
        None shares memory where it can, False refuses to copy, True copies always.

    Raises
    ------
    ExchangeError
        For a missing entry, for other dtypes, and for ``copy=False`` where a copy is needed.

    Examples
    --------
    >>> import pandas  # doctest: +SKIP
    >>> pn.from_pandas(pandas.Series([[1, 2], [3]])).offsets()  # doctest: +SKIP
    array([0, 2, 3])
    """
    check_optional_flags("from_pandas", copy=copy)
    pd = library("from_pandas", "pandas")
    if not isinstance(series, pd.Series):
        raise ExchangeError(f"from_pandas: takes a Series, one column, not {type(series).__name__}.")
    if isinstance(series.dtype, pd.ArrowDtype):
        return from_arrow(series.array.__arrow_array__(), copy=copy)
    if series.dtype != object:
        raise ExchangeError(
            f"from_pandas: a column of {series.dtype} holds no lists. Take pn.array(series.to_numpy())."
        )
    must_copy("from_pandas", copy, "the lists of a column of objects lie apart")
    return from_numpy(series.to_numpy(), layout=jagged)


@operator
def to_pandas(x: NestedArray | Array, *, copy: bool | None = None) -> Any:
    """A column of Arrow's list type in the memory of ``x``, one row for each component; see `to_arrow`.

    Examples
    --------
    >>> pn.to_pandas(pn.nested_array([[1, 2], [3]], layout=pn.jagged)).dtype  # doctest: +SKIP
    large_list<item: int64>[pyarrow]
    """
    check_optional_flags("to_pandas", copy=copy)
    pd = library("to_pandas", "pandas")
    return pd.Series(pd.arrays.ArrowExtensionArray(to_arrow(x, copy=copy)))
