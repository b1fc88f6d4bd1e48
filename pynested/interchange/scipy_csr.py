"""Exchange with SciPy's sparse matrices in CSR format: component ``i`` is row ``i``, from column 0 on."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.call_errors import check_optional_flags
from pynested.autograd.decorators import operator
from pynested.backends.errors import ExchangeError, ShapeError, named_type
from pynested.construct.from_buffers import nested_array_from_jagged
from pynested.nested.nested_array import NestedArray
from pynested.structure.layout import jagged

from .exchange_checks import (
    TO_CSR,
    check_exportable,
    check_may_copy,
    import_optional,
    values_for_export,
    values_for_import,
)


@operator
def from_csr(matrix: Any, *, copy: bool | None = None) -> NestedArray:
    """Convert the stored entries of each row, in shared memory, to jagged ``(B, *)``.

    Every row must store the columns 0 to n - 1, in order, as the result of `to_csr` does. The column numbers are not
    kept. ExchangeError for a matrix that is not in CSR format, and for a row with other columns, naming the row.

    >>> x = pn.nested_array([[1, 2], [3]], layout=pn.jagged)
    >>> pn.from_csr(pn.to_csr(x)).tolist()
    [[1, 2], [3]]
    """
    check_optional_flags("from_csr", copy=copy)
    if getattr(matrix, "format", None) != "csr":
        raise ExchangeError(
            f"from_csr: takes a matrix in the format csr, not {type(matrix).__name__}. Convert it: a.tocsr()."
        )
    starts = np.asarray(matrix.indptr, np.int64)
    lengths = np.diff(starts)
    data, columns = matrix.data[: starts[-1]], matrix.indices[: starts[-1]]  # without spare capacity
    wrong = np.flatnonzero(columns != np.arange(starts[-1]) - np.repeat(starts[:-1], lengths))
    if wrong.size:
        row = int(np.searchsorted(starts, wrong[0], "right")) - 1
        raise ExchangeError(
            f"from_csr: row {row} has an entry in column {columns[wrong[0]]} instead of column "
            f"{wrong[0] - starts[row]}, so the column numbers would be lost. Use the parts: "
            "pn.nested_array_from_jagged(a.data, a.indptr)."
        )
    return nested_array_from_jagged(Array.from_memory(values_for_import("from_csr", data, copy)), starts)


@operator
def to_csr(x: NestedArray, *, copy: bool | None = None) -> Any:
    """Convert to a sparse matrix in shared memory: ``(B, *) -> (B, max(*))``.

    Elements that do not lie one after another are copied. SciPy counts entries that are not stored as 0. Use the matrix
    for linear algebra, not for a maximum. ShapeError for a dense array, and for other dimensions. DTypeError for
    float16, which scipy.sparse does not support.

    >>> pn.to_csr(pn.nested_array([[1, 2], [3]], layout=pn.jagged)).toarray()
    array([[1, 2],
           [3, 0]])
    """
    check_exportable("to_csr", x, copy)
    sparse = import_optional("to_csr", "scipy.sparse", "scipy")
    if not isinstance(x, NestedArray) or x.ndim != 2:
        raise ShapeError(f"to_csr: takes a nested array of two dimensions, (B, *), not {named_type(x)} of {x.ndim}.")
    packed = x.contiguous().to(layout=jagged)
    if packed.data.storage is not x.data.storage:
        check_may_copy("to_csr", copy, "the elements do not lie one after another")
    lengths = packed.lengths_along(1)
    starts = packed.structure.offsets
    column_numbers = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)
    shape = (len(x), int(lengths.max(initial=0)))
    return sparse.csr_array((values_for_export(TO_CSR, packed.data, copy), column_numbers, starts.copy()), shape=shape)
