"""Lifting: how a function of dense arrays becomes a function of nested arrays.

- ``mapping`` lifts elementwise functions, and functions that are called for each component. ``broadcasting`` aligns
  the operands of elementwise functions.
- ``reduction`` lifts reductions over any dimensions. ``along_dim`` lifts operators along one dimension that keep the
  shape. ``reducers`` has the interface with which formulas of both are written.
- ``result_dtypes`` and ``result_layout`` choose the dtype and the layout of a result.
"""
