"""Lifting: how a function of dense arrays becomes a function of nested arrays.

- ``mapping`` lifts elementwise functions, and functions that are called for each component. ``broadcasting`` aligns
  their operands.
- ``reduction`` lifts reductions over any dimensions. ``along_dim`` lifts operators along one dimension that keep the
  shape. Both take formulas that are written with ``reducers``.
- ``result_dtypes`` and ``result_layout`` choose the dtype and the layout of a result.
- ``attention_matrices`` describes operands of attention as matrices.
"""
